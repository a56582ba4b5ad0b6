//! Race detection in shared memory: two threads of a block that access the same granule, at least one
//! of them writing, without a barrier between.
//!
//! Each thread counts the barriers that it has passed (its epoch). Two accesses of the same epoch by
//! different threads are unordered.

use std::collections::BTreeSet;

use kernelmill_artifact::PanicKind;
use kernelmill_compiler::plugin::{
    Failure, Kernel, Task,
    ir::{Builder, IntPredicate, Opcode, Type, Value},
};

use crate::{
    access::{Access, Kind},
    bounds::fail_if,
    intrinsics::{self, dynamic_shared},
    memory::{Root, RootedAccess},
    names::{DYNAMIC, line, quoted},
    options::Options,
    shadow::{Functions, ROLES, Shadow, Shadows, arrays_of},
};

/// The race detection of one kernel.
pub(crate) struct Races<'a, 'c> {
    task: &'a Task<'a, 'c>,
    kernel: &'a Kernel<'c>,
    shadows: &'a Shadows<'c>,
    is_wanted: bool,
    /// The reason for which nothing is checked.
    why_not: Option<&'static str>,
    state: Option<State<'c>>,
}

/// The state of a thread.
struct State<'c> {
    functions: Functions<'c>,
    /// Its linear index in the block.
    thread: Value<'c>,
    /// Stack slots: barriers of the block so far plus one, and barriers of the warp since the last.
    epoch: Value<'c>,
    warp: Value<'c>,
}

/// The messages of a race, by what the other thread did.
struct Messages<'c> {
    written: Value<'c>,
    read: Value<'c>,
}

impl<'a, 'c> Races<'a, 'c> {
    /// Prepares a kernel that uses arrays with shadows: clears the shadows, and counts barriers.
    pub(crate) fn new(
        task: &'a Task<'a, 'c>,
        options: Options,
        kernel: &'a Kernel<'c>,
        shadows: &'a Shadows<'c>,
        accesses: &[RootedAccess<'c>],
        has_unchecked_functions: bool,
    ) -> Self {
        let arrays = arrays_of(accesses).into_iter();
        let mut used: Vec<_> = arrays.filter_map(|array| shadows.of(array)).collect();
        used.extend(shadows.dynamic.filter(|_| uses_dynamic(accesses)));
        let why_not =
            has_unchecked_functions.then_some("a function that is not checked may have barriers");
        let functions = shadows.functions.filter(|_| why_not.is_none() && !used.is_empty());
        let state = functions.map(|functions| prepare(task, kernel, functions, &used));
        Self { task, kernel, shadows, is_wanted: options.races, why_not, state }
    }

    /// Adds the check before an access of a shared array, or of the dynamic shared memory (`None`).
    pub(crate) fn check(&self, access: &Access<'c>, array: Option<Value<'c>>) {
        let shadow = match array {
            Some(array) => self.shadows.of(array),
            None => self.shadows.dynamic,
        };
        let (Some(state), Some(shadow)) = (&self.state, shadow) else { return };
        let builder = self.task.before(access.at);
        let other = self.update(&builder, state, shadow, access, array);
        let wide = other.ty();
        let is_race = builder.compare(IntPredicate::Ne, other, wide.constant(0));
        let messages = self.messages(access, array);
        let place = self.task.place(access.at);
        fail_if(self.task, access.at, is_race, |builder| {
            let bit = builder.and(other, wide.constant(1 << 62));
            let wrote = builder.compare(IntPredicate::Ne, bit, wide.constant(0));
            let thread = builder.binary(Opcode::LShr, other, wide.constant(32));
            let thread = builder.and(thread, wide.constant(0xffff));
            let at = builder.and(other, wide.constant(u64::from(u32::MAX)));
            let message = builder.select(wrote, messages.written, messages.read);
            Failure { kind: PanicKind::Race, message, values: [thread, at], place }
        });
    }

    /// Records an access in its shadow. The result describes a conflicting access of another thread,
    /// or is 0.
    fn update(
        &self,
        builder: &Builder<'c>,
        state: &State<'c>,
        shadow: Shadow<'c>,
        access: &Access<'c>,
        array: Option<Value<'c>>,
    ) -> Value<'c> {
        let context = self.task.context();
        let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
        let number = self.task.place_number(builder, self.task.place(access.at));
        let base = array.unwrap_or_else(|| dynamic_shared(self.task, builder));
        let start = builder.pointer_to_int(base, wide);
        let address = builder.pointer_to_int(access.pointer, wide);
        let offset = builder.binary(Opcode::Sub, address, start);
        let granule = |byte| builder.binary(Opcode::UDiv, byte, wide.constant(shadow.granule));
        let last = builder.add(offset, builder.add(access.bytes, wide.constant(u64::MAX)));
        let kind = match access.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Atomic => 2,
        };
        let arguments = [
            shadow.memory,
            wide.constant(shadow.cells),
            granule(offset),
            granule(last),
            state.thread,
            builder.load(word, state.epoch),
            builder.load(word, state.warp),
            word.constant(kind),
            number,
        ];
        builder.call(state.functions.access, &arguments)
    }

    /// The messages of a race with an access.
    fn messages(&self, access: &Access<'c>, array: Option<Value<'c>>) -> Messages<'c> {
        let what = match array {
            Some(array) => format!("the shared array{}", quoted(array)),
            None => DYNAMIC.to_owned(),
        };
        let message = |verb: &str| {
            self.task.message(format!(
                "data race: {what} is {} here, and {verb} by thread {{u32}} of the block at {{place}}, with no \
                 barrier between",
                access.kind.verb()
            ))
        };
        Messages { written: message("written"), read: message("read") }
    }

    /// Notes the accesses that are not checked.
    pub(crate) fn note(&self, accesses: &[RootedAccess<'c>]) {
        let (arrays, uses_dynamic) = (arrays_of(accesses), uses_dynamic(accesses));
        if !self.is_wanted {
            return;
        }
        let note = |text: &str| self.task.note(&self.kernel.name, text);
        if let Some(why) = self.why_not.filter(|_| uses_dynamic || !arrays.is_empty()) {
            note(&format!("races are not checked: {why}"));
            return;
        }
        for array in arrays.iter().filter(|array| self.shadows.is_too_large(**array)) {
            let text =
                "races are not checked: there is not enough shared memory to remember accesses";
            note(&format!("the shared array{}: {text}", quoted(*array)));
        }
        if uses_dynamic {
            let bytes = self.shadows.dynamic.map_or(0, |shadow| shadow.cells * shadow.granule);
            note(&format!("races in {DYNAMIC} are detected in its first {bytes} bytes only"));
        }
        let is_mixed = |roots: &[Root<'c>]| {
            let shared = roots.iter().any(|it| matches!(it, Root::Shared(_) | Root::Dynamic));
            shared && roots.len() > 1
        };
        let mixed = accesses.iter().filter(|it| is_mixed(&it.roots));
        let lines: BTreeSet<_> = mixed.map(|it| line(it.access.at)).collect();
        if !lines.is_empty() {
            let places: Vec<_> =
                lines.iter().map(|(file, line)| format!("{file}:{line}")).collect();
            note(&format!("races are not checked at {}", places.join(", ")));
        }
    }
}

/// Whether a kernel accesses the dynamic shared memory.
fn uses_dynamic(accesses: &[RootedAccess<'_>]) -> bool {
    accesses.iter().any(|it| it.roots.contains(&Root::Dynamic))
}

fn prepare<'c>(
    task: &Task<'_, 'c>,
    kernel: &Kernel<'c>,
    functions: Functions<'c>,
    used: &[Shadow<'c>],
) -> State<'c> {
    let word = Type::int(task.context(), 32);
    let mut barriers = calls("__kernelmill_barrier", kernel);
    barriers.extend(calls("__kernelmill_grid_barrier", kernel));
    let of_warps = calls("__kernelmill_warp_barrier", kernel);
    let entry = kernel.function.blocks()[0];
    let builder = task.before(entry.first_after_phis().expect("a block has an end"));
    let [epoch, warp] = [1, 0].map(|first| {
        let slot = builder.alloca(word);
        builder.store(word.constant(first), slot);
        slot
    });
    let (thread, threads) = numbers(task, &builder);
    for shadow in used {
        let cells = Type::int(task.context(), 64).constant(shadow.cells * ROLES);
        builder.call(functions.clear, &[shadow.memory, cells, thread, threads]);
    }
    builder.call(intrinsics::declare(task, "barrier"), &[]);
    let count = |call: Value<'c>, slot| {
        let builder = task.before(call);
        builder.store(builder.add(builder.load(word, slot), word.constant(1)), slot);
        builder
    };
    for call in barriers {
        count(call, epoch).store(word.constant(0), warp);
    }
    for call in of_warps {
        count(call, warp);
    }
    State { functions, thread, epoch, warp }
}

/// The calls of a function in a kernel.
fn calls<'c>(name: &str, kernel: &Kernel<'c>) -> Vec<Value<'c>> {
    let is_it = |call: &Value<'c>| call.called_function().is_some_and(|it| it.name() == name);
    kernel.function.calls().into_iter().filter(is_it).collect()
}

/// The linear index of the thread in its block, x first, and the number of threads.
fn numbers<'c>(task: &Task<'_, 'c>, builder: &Builder<'c>) -> (Value<'c>, Value<'c>) {
    let get = |name: &str| builder.call(intrinsics::declare(task, name), &[]);
    let [x, y, z] = ["x", "y", "z"].map(|axis| get(&format!("thread_idx_{axis}")));
    let [width, height, depth] = ["x", "y", "z"].map(|axis| get(&format!("block_dim_{axis}")));
    let row = builder.add(builder.multiply(z, height), y);
    let thread = builder.add(builder.multiply(row, width), x);
    (thread, builder.multiply(builder.multiply(width, height), depth))
}
