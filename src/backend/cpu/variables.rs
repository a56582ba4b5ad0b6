//! Variables on the CPU: memory of the application that kernels read, and the order between both.
//!
//! Launches of sources with variables are counted while they run. Who reads or writes a variable waits until none runs, and
//! those that begin meanwhile wait for the copy. So a launch waits for nothing but a copy, and may begin inside of another
//! one: on a thread of rayon's pool that works for both.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::{
    embedded::{CpuVariable, EmbeddedArtifact},
    error::{Error, Result},
    hal::VariablePlace,
};

/// The order between launches and accesses of variables.
struct Order {
    running: Mutex<Running>,
    ended: Condvar,
}

/// The launches that run.
struct Running {
    launches: usize,
    /// Whether a launch was given up whose threads still run.
    is_lost: bool,
}

/// That of the program.
static ORDER: Order = Order::new();

impl Order {
    const fn new() -> Self {
        let running = Running { launches: 0, is_lost: false };
        Self { running: Mutex::new(running), ended: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `copy` while no launch runs; `None` where that would wait for ever.
    fn alone(&self, copy: impl FnOnce()) -> Option<()> {
        let mut running = self.lock();
        while running.launches > 0 {
            // A thread of the pool may be one that the launch waits for.
            if rayon::current_thread_index().is_some() {
                return None;
            }
            running = self.ended.wait(running).unwrap_or_else(PoisonError::into_inner);
        }
        if running.is_lost {
            return None;
        }
        copy();
        Some(())
    }
}

/// A launch that runs, of a source with variables.
pub(super) struct Reader(&'static Order);

impl Reader {
    /// Begins a launch of a binary; `None` where that has no variables.
    pub(super) fn begin(artifact: &EmbeddedArtifact) -> Option<Self> {
        (!artifact.variables.is_empty()).then(|| Self::of(&ORDER))
    }

    fn of(order: &'static Order) -> Self {
        order.lock().launches += 1;
        Self(order)
    }

    /// The launch is given up, and runs on for nobody knows how long.
    pub(super) fn lose(self) {
        self.0.lock().is_lost = true;
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.lock().launches -= 1;
        self.0.ended.notify_all();
    }
}

/// Copies from a variable of a binary; false where it has none of that name.
///
/// # Errors
///
/// [`Error::VariableInUse`] where that would wait for ever.
///
/// # Safety
///
/// The bytes are within the variable, and can be written at `target`.
pub(in crate::backend) unsafe fn read(
    artifact: &EmbeddedArtifact,
    place: VariablePlace<'_>,
    target: *mut u8,
    bytes: usize,
) -> Result<bool> {
    // SAFETY: promised; nothing else uses the variable.
    with(artifact, place, bytes, |address| unsafe { target.copy_from(address, bytes) })
}

/// Copies to a variable of a binary; false where it has none of that name.
///
/// # Errors
///
/// [`Error::VariableInUse`] where that would wait for ever.
///
/// # Safety
///
/// The bytes are within the variable, and can be read at `source`.
pub(in crate::backend) unsafe fn write(
    artifact: &EmbeddedArtifact,
    place: VariablePlace<'_>,
    source: *const u8,
    bytes: usize,
) -> Result<bool> {
    // SAFETY: promised; nothing else uses the variable.
    with(artifact, place, bytes, |address| unsafe { address.copy_from(source, bytes) })
}

/// Calls `copy` with an address while nothing else uses the variable.
fn with(
    artifact: &EmbeddedArtifact,
    place: VariablePlace<'_>,
    bytes: usize,
    copy: impl FnOnce(*mut u8),
) -> Result<bool> {
    let Some(variable) = artifact.variable(place.symbol) else { return Ok(false) };
    let CpuVariable { symbol, .. } = variable;
    assert!(place.offset + bytes <= variable.bytes(), "the bytes of `{symbol}`");
    // It is within the variable.
    let address = variable.address().wrapping_add(place.offset);
    ORDER.alone(|| copy(address)).ok_or(Error::VariableInUse { variable: symbol })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    #[test]
    fn an_access_waits_for_the_launches_that_run() {
        static ORDER: Order = Order::new();
        let order = &ORDER;
        let launches = [Reader::of(order), Reader::of(order)];
        let (sender, receiver) = mpsc::channel();
        let access = thread::spawn(move || order.alone(|| sender.send(()).unwrap()));
        for launch in launches {
            assert_eq!(receiver.try_recv(), Err(mpsc::TryRecvError::Empty));
            drop(launch);
        }
        assert_eq!((receiver.recv(), access.join().unwrap()), (Ok(()), Some(())));
    }

    #[test]
    fn a_launch_may_begin_inside_of_another_while_an_access_waits() {
        static ORDER: Order = Order::new();
        let order = &ORDER;
        let outer = Reader::of(order);
        let access = thread::spawn(move || order.alone(|| ()));
        drop((Reader::of(order), outer));
        assert_eq!(access.join().unwrap(), Some(()));
    }

    #[test]
    fn a_thread_that_launches_may_need_does_not_wait() {
        static ORDER: Order = Order::new();
        let order = &ORDER;
        let launch = Reader::of(order);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| order.alone(|| ())), None);
        drop(launch);
        assert_eq!(pool.install(|| order.alone(|| ())), Some(()));
    }

    #[test]
    fn what_a_launch_that_was_given_up_may_read_is_never_written() {
        static ORDER: Order = Order::new();
        let order = &ORDER;
        Reader::of(order).lose();
        assert_eq!(order.alone(|| ()), None);
    }
}
