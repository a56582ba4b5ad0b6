//! Accesses: the launches and copies that use a block of memory and may not be done yet.
//!
//! The hazards of tasks on driver memory (read after write, write after read, write after write), as
//! the ordering of [OpenCL command queues](https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_API.html#_event_objects)
//! by events has them: a read waits for the last write, a write for the last write and for *all* reads
//! since. Each stream that reads has an event of its own, which its next read on that stream records
//! again, so that readers do not wait for each other, and a launch like the one before allocates
//! nothing and waits for nothing.
//!
//! While only the default stream is used, nothing is recorded: its accesses are `Lazy`, and recorded
//! when another stream has to wait for them.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::{calls::Driver, event::Event, stream_id::StreamId};
use crate::error::Result;

/// Readers that are kept apart; beyond that, one that reads waits for an earlier one.
const MAX_READERS: usize = 16;

/// The accesses of a block of memory of a driver.
pub(in crate::backend) struct Accesses<D: Driver> {
    driver: Arc<D>,
    open: Mutex<Open<D>>,
    /// A lazy read is among the open ones, so that another need not be written down. Nobody takes it away who has not the
    /// memory for himself, and so takes this back.
    is_lazily_read: AtomicBool,
}

/// Whether an access is put on record when it is queued.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::backend) enum Recording {
    /// Not before somebody has to wait for it: it is of the default stream, and there is no other.
    Lazy,
    Now,
}

/// Accesses that may not be done.
struct Open<D: Driver> {
    /// The last write.
    write: Option<Access<D>>,
    /// The reads since, one a stream.
    reads: Vec<Access<D>>,
    /// Events that nothing waits for any more.
    spare: Vec<Event<D>>,
    /// There is an access that is on no record: only the whole context can be waited for.
    unrecorded: bool,
}

struct Access<D: Driver> {
    on: StreamId<D>,
    state: State,
    /// Recorded after the access, where its state says so.
    event: Option<Event<D>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not queued yet, and recorded when it is.
    Held,
    /// Of the default stream, and to be recorded when somebody has to wait. It may not be queued yet: who has to wait for
    /// it has borrowed the memory after it was.
    Lazy,
    Recorded,
}

/// An access that is about to be queued; recorded when this is dropped.
pub(in crate::backend) struct Queued<'a, D: Driver> {
    accesses: &'a Accesses<D>,
    stream: &'a Arc<D::Stream>,
    writes: bool,
}

impl<D: Driver> Accesses<D> {
    /// Those of memory that the default stream has just allocated.
    pub(in crate::backend) fn new(driver: &Arc<D>) -> Self {
        let write = Access { on: StreamId::Default, state: State::Lazy, event: None };
        Self::with(driver, Open { write: Some(write), ..Open::default() })
    }

    /// Those of memory that nothing has used yet: of the host, or of the program's own.
    pub(in crate::backend) fn of_program(driver: &Arc<D>) -> Self {
        Self::with(driver, Open::default())
    }

    fn with(driver: &Arc<D>, open: Open<D>) -> Self {
        let (driver, open) = (Arc::clone(driver), Mutex::new(open));
        Self { driver, open, is_lazily_read: AtomicBool::new(false) }
    }

    /// The accesses, for who has the memory for himself and may take lazy reads away.
    fn alone(&mut self) -> (&mut Open<D>, &Arc<D>) {
        *self.is_lazily_read.get_mut() = false;
        (self.open.get_mut().unwrap_or_else(PoisonError::into_inner), &self.driver)
    }

    fn lock(&self) -> MutexGuard<'_, Open<D>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a read is queued on `stream`, which waits for the last write. `None`: it need not be recorded.
    #[inline]
    pub(in crate::backend) fn read<'a>(
        &'a self,
        stream: &'a Arc<D::Stream>,
        recording: Recording,
    ) -> Result<Option<Queued<'a, D>>> {
        if recording == Recording::Lazy && self.is_lazily_read.load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.note_read(stream, recording)
    }

    /// As [`Accesses::read`], of a read that is not noted yet.
    fn note_read<'a>(
        &'a self,
        stream: &'a Arc<D::Stream>,
        recording: Recording,
    ) -> Result<Option<Queued<'a, D>>> {
        let mut open = self.lock();
        open.settle(&self.driver)?;
        if recording == Recording::Lazy {
            open.note_lazy_read();
            self.is_lazily_read.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        // A stream that has read since the last write has waited for it.
        if let Some(index) = open.reads.iter().position(|read| read.is_recorded_on(stream)) {
            open.prepare(&self.driver, stream, Some(index))?;
        } else {
            open.wait_for_write(&self.driver, stream)?;
            open.make_room(stream)?;
            open.prepare(&self.driver, stream, None)?;
        }
        Ok(Some(Queued { accesses: self, stream, writes: false }))
    }

    /// Before a write is queued on `stream`, which waits for all other accesses. `None`: it need not be recorded.
    #[inline]
    pub(in crate::backend) fn write<'a>(
        &'a mut self,
        stream: &'a Arc<D::Stream>,
        recording: Recording,
    ) -> Result<Option<Queued<'a, D>>> {
        if recording == Recording::Lazy && self.alone().0.is_lazily_written() {
            return Ok(None);
        }
        self.note_write(stream, recording)
    }

    /// As [`Accesses::write`], of a write that is not noted yet.
    fn note_write<'a>(
        &'a mut self,
        stream: &'a Arc<D::Stream>,
        recording: Recording,
    ) -> Result<Option<Queued<'a, D>>> {
        let is_lazy = recording == Recording::Lazy;
        let (open, driver) = self.alone();
        open.wait_for_all(driver, stream)?;
        let event = if is_lazy { None } else { Some(open.event(driver)?) };
        let state = if is_lazy { State::Lazy } else { State::Held };
        open.clear();
        open.write = Some(Access { on: StreamId::of(stream), state, event });
        // Not `then_some`: one that is made is recorded when it is dropped, before the launch.
        Ok((!is_lazy).then(|| Queued { accesses: self, stream, writes: true }))
    }

    /// Lets `stream` wait for the last write, for a read that is waited for at once.
    pub(in crate::backend) fn wait_for_write(&self, stream: &Arc<D::Stream>) -> Result<()> {
        let mut open = self.lock();
        open.settle(&self.driver)?;
        open.wait_for_write(&self.driver, stream)
    }

    /// Lets `stream` wait for all accesses, for a write that is waited for at once, or for the end.
    pub(in crate::backend) fn wait_for_all(&mut self, stream: &Arc<D::Stream>) -> Result<()> {
        let (open, driver) = self.alone();
        open.wait_for_all(driver, stream)
    }

    /// Waits for the last write, on the host; whether there was one.
    pub(in crate::backend) fn finish_write(&self) -> Result<bool> {
        let mut open = self.lock();
        let was_written = open.write.is_some();
        open.settle(&self.driver)?;
        let Open { write, spare, .. } = &mut *open;
        if let Some(access) = write {
            access.finish(&self.driver, spare)?;
        }
        let done = write.take();
        spare.extend(done.and_then(|access| access.event));
        Ok(was_written)
    }

    /// Waits for all accesses, on the host; whether there was a write.
    pub(in crate::backend) fn finish_all(&mut self) -> Result<bool> {
        let was_written = self.finish_write()?;
        let (open, driver) = self.alone();
        let Open { reads, spare, .. } = &mut *open;
        for read in reads {
            read.finish(driver, spare)?;
        }
        open.clear();
        Ok(was_written)
    }

    /// All accesses are done.
    pub(in crate::backend) fn done(&mut self) {
        self.alone().0.clear();
    }

    /// An access may be going on of which nothing is known.
    pub(in crate::backend) fn lose(&self) {
        self.lock().unrecorded = true;
    }
}

impl<D: Driver> Default for Open<D> {
    fn default() -> Self {
        Self { write: None, reads: Vec::new(), spare: Vec::new(), unrecorded: false }
    }
}

impl<D: Driver> Open<D> {
    /// Waits for everything where an access is on no record.
    fn settle(&mut self, driver: &D) -> Result<()> {
        if self.unrecorded {
            driver.synchronize()?;
            self.unrecorded = false;
            // Others may be about to queue a read: their entries stay.
            self.write = None;
            self.reads.retain(|read| read.state != State::Recorded);
        }
        Ok(())
    }

    fn wait_for_write(&mut self, driver: &Arc<D>, stream: &Arc<D::Stream>) -> Result<()> {
        match &mut self.write {
            Some(write) if !write.on.is(stream) => write.before(driver, &mut self.spare, stream),
            _ => Ok(()),
        }
    }

    fn wait_for_all(&mut self, driver: &Arc<D>, stream: &Arc<D::Stream>) -> Result<()> {
        // The memory is borrowed for writing: whoever holds a read has forgotten to let go of it.
        self.unrecorded |= self.reads.iter().chain(&self.write).any(|it| it.state == State::Held);
        if self.unrecorded {
            // They are as good as recorded: nobody else is about to queue one, and all are waited for.
            self.reads.iter_mut().for_each(|read| read.state = State::Recorded);
        }
        self.settle(driver)?;
        self.wait_for_write(driver, stream)?;
        for read in &mut self.reads {
            if !read.on.is(stream) {
                read.before(driver, &mut self.spare, stream)?;
            }
        }
        Ok(())
    }

    /// Whether the one access is a write of the default stream that nobody has had to wait for.
    fn is_lazily_written(&self) -> bool {
        let is_lazy =
            |write: &Access<D>| write.state == State::Lazy && matches!(write.on, StreamId::Default);
        !self.unrecorded && self.reads.is_empty() && self.write.as_ref().is_some_and(is_lazy)
    }

    /// Notes a read of the default stream that need not be recorded. There are no streams beside that one, so the last
    /// write is of it too.
    fn note_lazy_read(&mut self) {
        if !self.reads.iter().any(|read| read.state == State::Lazy) {
            self.reads.push(Access { on: StreamId::Default, state: State::Lazy, event: None });
        }
    }

    /// Makes an entry for a read, or the one at `index`, ready to be recorded.
    fn prepare(
        &mut self,
        driver: &Arc<D>,
        stream: &Arc<D::Stream>,
        index: Option<usize>,
    ) -> Result<()> {
        let has_event = index.is_some_and(|index| self.reads[index].event.is_some());
        let event = if has_event { None } else { Some(self.event(driver)?) };
        match index {
            Some(index) => {
                let read = &mut self.reads[index];
                read.event = read.event.take().or(event);
                read.state = State::Held;
            }
            None => {
                let on = StreamId::of(stream);
                self.reads.push(Access { on, state: State::Held, event });
            }
        }
        Ok(())
    }

    /// An event for an access.
    fn event(&mut self, driver: &Arc<D>) -> Result<Event<D>> {
        self.spare.pop().map_or_else(|| Event::new(driver), Ok)
    }

    /// Keeps the list of readers short: forgets those that are done, or lets `stream` wait for one,
    /// whose part its own record then has.
    fn make_room(&mut self, stream: &Arc<D::Stream>) -> Result<()> {
        if self.reads.len() < MAX_READERS {
            return Ok(());
        }
        let recorded = |read: &Access<D>| read.state == State::Recorded;
        let is_done = |read: &mut Access<D>| recorded(read) && read.is_done();
        let done: Vec<Access<D>> = self.reads.extract_if(.., is_done).collect();
        self.spare.extend(done.into_iter().filter_map(|read| read.event));
        if self.reads.len() >= MAX_READERS
            && let Some(index) = self.reads.iter().position(recorded)
        {
            if let Some(event) = &self.reads[index].event {
                event.wait(stream)?;
            }
            self.spare.extend(self.reads.swap_remove(index).event);
        }
        Ok(())
    }

    /// Forgets all accesses, and keeps their events for others.
    fn clear(&mut self) {
        let gone = self.write.take().into_iter().chain(self.reads.drain(..));
        self.spare.extend(gone.filter_map(|access| access.event));
        self.spare.truncate(MAX_READERS + 1);
    }
}

impl<D: Driver> Access<D> {
    /// Lets `stream` wait for the access.
    fn before(
        &mut self,
        driver: &Arc<D>,
        spare: &mut Vec<Event<D>>,
        stream: &D::Stream,
    ) -> Result<()> {
        self.put_on_record(driver, spare)?;
        self.event.as_ref().map_or(Ok(()), |event| event.wait(stream))
    }

    /// Waits for the access on the host.
    fn finish(&mut self, driver: &Arc<D>, spare: &mut Vec<Event<D>>) -> Result<()> {
        self.put_on_record(driver, spare)?;
        self.event.as_ref().map_or(Ok(()), Event::synchronize)
    }

    /// Records the default stream's access, unless it is on record.
    fn put_on_record(&mut self, driver: &Arc<D>, spare: &mut Vec<Event<D>>) -> Result<()> {
        if self.state == State::Lazy {
            let event = match self.event.take().or_else(|| spare.pop()) {
                Some(event) => event,
                None => Event::new(driver)?,
            };
            event.record(driver.default_stream())?;
            self.event = Some(event);
            self.state = State::Recorded;
        }
        Ok(())
    }

    /// Whether reads on `stream` are recorded here. A lazy one is apart: were it recorded with others, it might be queued
    /// after that.
    fn is_recorded_on(&self, stream: &Arc<D::Stream>) -> bool {
        self.state != State::Lazy && self.on.is(stream)
    }

    fn is_done(&self) -> bool {
        self.event.as_ref().is_some_and(Event::is_done)
    }
}

impl<D: Driver> Queued<'_, D> {
    /// Puts the access on record.
    fn record(&self, open: &mut Open<D>) -> Result<()> {
        let found = match &mut open.write {
            Some(write) if self.writes => Some(write),
            _ => open.reads.iter_mut().find(|read| read.is_recorded_on(self.stream)),
        };
        let access = match found {
            Some(access) => access,
            // Another thread's read on the same stream was recorded, and forgotten since.
            None => {
                open.prepare(&self.accesses.driver, self.stream, None)?;
                open.reads.last_mut().expect("it was added just now")
            }
        };
        access.event.as_ref().map_or(Ok(()), |event| event.record(self.stream))?;
        access.state = State::Recorded;
        Ok(())
    }
}

impl<D: Driver> Drop for Queued<'_, D> {
    fn drop(&mut self) {
        let driver = &self.accesses.driver;
        let mut open = self.accesses.lock();
        let Err(error) = self.record(&mut open) else { return };
        // What is on no record is waited for here, or by whoever uses the memory next.
        if driver.wait_for(self.stream).is_err() {
            open.unrecorded = true;
            driver.keep(Err(error));
        } else if self.writes {
            open.write = None;
        } else {
            // An event that was recorded earlier, or never, is as good as one of now.
            let own = open.reads.iter_mut().find(|read| read.is_recorded_on(self.stream));
            own.into_iter().for_each(|read| read.state = State::Recorded);
        }
    }
}
