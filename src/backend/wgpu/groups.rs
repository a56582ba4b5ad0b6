//! Bind groups of launches, and the uniform buffers in them, which the next launch with the same buffers gets again.
//!
//! Needed: who launches writes the values into the uniform buffer by the queue, and gives the group back once the launch is
//! submitted. Guaranteed: a group is of one launch at a time until then; and as the queue writes a buffer after all that was
//! submitted before and before all that follows, values of a launch that has not begun yet are not overwritten. A group is
//! forgotten with a buffer in it or with its kernel, so that neither stays for it.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use wgpu::{BindGroup, Buffer, ComputePass};

/// Groups that are kept, of all kernels of a device: those that were used last.
const KEPT: usize = 64;

/// What a launch binds to a number of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) group: u32,
    pub(super) binding: u32,
    pub(super) resource: Resource,
}

/// A part of a buffer that is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    /// Of the launch's uniform buffer.
    Uniform { offset: u64, bytes: u64 },
    /// To its end where the number of bytes is `None`.
    Storage { buffer: Buffer, offset: u64, bytes: Option<u64> },
    /// A buffer that nobody uses.
    Nothing,
}

/// A kernel that is loaded, as its groups know it: no other has this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(u64);

impl Owner {
    /// That of a kernel that is being loaded.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The bind groups of a launch.
pub(super) struct Group {
    pub(super) owner: Owner,
    pub(super) bound: Vec<Bound>,
    pub(super) uniform: Option<Buffer>,
    /// What the uniform buffer has.
    pub(super) written: Vec<u8>,
    pub(super) groups: Vec<(u32, BindGroup)>,
}

impl Group {
    /// Binds them for what a pass does next.
    pub(super) fn bind(&self, pass: &mut ComputePass<'_>) {
        for (number, group) in &self.groups {
            pass.set_bind_group(*number, group, &[]);
        }
    }

    fn has(&self, wanted: &Buffer) -> bool {
        self.bound
            .iter()
            .any(|it| matches!(&it.resource, Resource::Storage { buffer, .. } if buffer == wanted))
    }
}

/// The groups of a device that no launch has now, those that were used last at the end.
#[derive(Default)]
pub(super) struct Groups(Mutex<Vec<Group>>);

impl Groups {
    /// The groups of an earlier launch of a kernel that has bound this.
    pub(super) fn take(&self, owner: Owner, bound: &[Bound]) -> Option<Group> {
        self.change(|kept| {
            let is_same = |it: &Group| it.owner == owner && it.bound == bound;
            kept.iter().rposition(is_same).map(|at| kept.remove(at))
        })
    }

    /// Takes the groups of a launch that is submitted.
    pub(super) fn give_back(&self, group: Group) {
        let first = self.change(|kept| {
            kept.push(group);
            (kept.len() > KEPT).then(|| kept.remove(0))
        });
        drop(first);
    }

    /// Forgets the groups that a buffer is in.
    pub(super) fn forget_buffer(&self, buffer: &Buffer) {
        self.forget(|group| group.has(buffer));
    }

    /// Forgets those of a kernel.
    pub(super) fn forget_owner(&self, owner: Owner) {
        self.forget(|group| group.owner == owner);
    }

    /// Dropped without the lock: wgpu may free buffers then.
    fn forget(&self, is_meant: impl Fn(&Group) -> bool) {
        let forgotten: Vec<_> =
            self.change(|kept| kept.extract_if(.., |group| is_meant(group)).collect());
        drop(forgotten);
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<Group>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
