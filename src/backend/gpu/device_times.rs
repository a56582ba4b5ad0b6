//! Device times: how long launches and copies take on the device, for traces.
//!
//! Events with a time are recorded before and after a call that is traced. Nothing waits for them: what is done is written
//! when the next call is traced, at synchronisations and downloads, and when the context is dropped, which waits for the
//! rest.
//!
//! A driver tells the time between two events, and not when that was for the host. So the clocks are aligned as
//! [Cristian's algorithm](https://en.wikipedia.org/wiki/Cristian%27s_algorithm) does it, by what must hold: no call has begun
//! on the device before the host made it, and none was done after the host found it to be done.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kernelmill_artifact::TraceTrack;

use super::{calls::Driver, event::Event, stream_id::StreamId};
use crate::{
    error::Result,
    trace::{self, About},
};

/// The times of a context.
pub(in crate::backend) struct DeviceTimes<D: Driver>(Mutex<State<D>>);

struct State<D: Driver> {
    streams: Vec<Stream<D>>,
    clock: Clock<Arc<Event<D>>>,
    /// The streams beside the default one that had calls so far.
    numbered: usize,
}

/// A stream with its track.
struct Stream<D: Driver> {
    id: StreamId<D>,
    track: TraceTrack,
    /// In their order on the stream.
    pending: VecDeque<Call<D>>,
}

/// A call that was queued.
struct Call<D: Driver> {
    about: Arc<About>,
    /// Before it was queued.
    queued: Instant,
    start: Arc<Event<D>>,
    end: Arc<Event<D>>,
}

/// The device's clock by that of the host.
struct Clock<E> {
    /// What the nanoseconds are counted from.
    epoch: Instant,
    reference: Option<Reference<E>>,
}

/// A moment of the device, and when it was for the host, as far as is known: never later than it can have been, and
/// moved to later times by what shows that it was later.
struct Reference<E> {
    event: E,
    at: i64,
}

/// A call by the device's clock, in nanoseconds since the reference.
#[derive(Clone, Copy)]
struct Span {
    start: i64,
    end: i64,
}

/// How far a call may be from the reference, in nanoseconds. Drivers tell times in `f32`, whose steps grow.
const FARTHEST: i64 = 100_000_000;

impl<D: Driver> Default for DeviceTimes<D> {
    fn default() -> Self {
        let clock = Clock { epoch: Instant::now(), reference: None };
        Self(Mutex::new(State { streams: Vec::new(), clock, numbered: 0 }))
    }
}

impl<D: Driver> DeviceTimes<D> {
    fn lock(&self) -> MutexGuard<'_, State<D>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does `work`, which puts one call on a stream, and takes its time.
    #[cold]
    pub(super) fn time<T>(
        &self,
        driver: &Arc<D>,
        stream: &Arc<D::Stream>,
        about: Arc<About>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let (queued, start) = (Instant::now(), record(driver, stream));
        let done = work()?;
        if let Some((start, end)) = start.zip(record(driver, stream)) {
            let mut state = self.lock();
            state.push(stream, Call { about, queued, start, end });
            state.collect(driver);
        }
        Ok(done)
    }

    /// Writes the times of what is done.
    pub(super) fn collect(&self, driver: &D) {
        self.lock().collect(driver);
    }
}

/// Records an event; `None` where there are no times. An error is kept for the next call that can return one: it may be
/// of a launch, and is told once.
fn record<D: Driver>(driver: &Arc<D>, stream: &Arc<D::Stream>) -> Option<Arc<Event<D>>> {
    if !driver.has_times() {
        return None;
    }
    let recorded = Event::timed(driver).and_then(|event| event.record(stream).map(|()| event));
    recorded.map(Arc::new).map_err(|error| driver.keep(Err(error))).ok()
}

impl<D: Driver> State<D> {
    fn push(&mut self, stream: &Arc<D::Stream>, call: Call<D>) {
        let index = match self.streams.iter().position(|known| known.id.is(stream)) {
            Some(index) => index,
            None => {
                self.streams.retain(|known| !known.id.is_dropped() || !known.pending.is_empty());
                let id = StreamId::of(stream);
                let device = call.about.arguments.iter().find(|(key, _)| *key == "device");
                let device = device.map_or("a device", |(_, device)| device);
                let name = match id {
                    StreamId::Default => format!("{device}, default stream"),
                    StreamId::Thread(_) | StreamId::Other(_) => {
                        self.numbered += 1;
                        format!("{device}, stream {}", self.numbered)
                    }
                };
                let Some(track) = trace::track(&name) else { return };
                self.streams.push(Stream { id, track, pending: VecDeque::new() });
                self.streams.len() - 1
            }
        };
        self.streams[index].pending.push_back(call);
    }

    /// Writes what is done.
    fn collect(&mut self, driver: &D) {
        let Self { streams, clock, .. } = self;
        for stream in streams {
            while let Some(call) = stream.pending.front() {
                match call.end.query() {
                    Ok(false) => break,
                    Ok(true) => driver.keep(call.write(stream.track, clock)),
                    Err(error) => driver.keep(Err(error)),
                }
                stream.pending.pop_front();
            }
        }
    }
}

impl<D: Driver> Drop for DeviceTimes<D> {
    fn drop(&mut self) {
        let State { streams, clock, .. } = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for stream in streams {
            for call in stream.pending.drain(..) {
                let current = call.end.driver().make_current();
                // Nobody is left who could be told of an error.
                let _ = current
                    .and_then(|()| call.end.synchronize())
                    .and_then(|()| call.write(stream.track, clock));
            }
        }
    }
}

impl<D: Driver> Call<D> {
    /// Writes the event of a call that is done.
    fn write(&self, track: TraceTrack, clock: &mut Clock<Arc<Event<D>>>) -> Result<()> {
        let observed = Instant::now();
        let reference = clock.reference(&self.start, self.queued);
        let start = self.start.milliseconds_since(reference)?;
        let took = self.end.milliseconds_since(&self.start)?;
        let (Some(start), Some(took)) = (start, took) else { return Ok(()) };
        let start = nanoseconds(start);
        let span = Span { start, end: start + nanoseconds(took).max(0) };
        let begun = clock.align(span, (self.queued, observed), &self.end);
        let took = Duration::from_nanos((span.end - span.start).unsigned_abs());
        trace::write_on(track, &self.about, begun, took);
        Ok(())
    }
}

fn nanoseconds(milliseconds: f32) -> i64 {
    (f64::from(milliseconds) * 1e6) as i64
}

impl<E: Clone> Clock<E> {
    /// The reference; the first call is one.
    fn reference(&mut self, start: &E, queued: Instant) -> &E {
        let at = self.nanoseconds(queued);
        &self.reference.get_or_insert_with(|| Reference { event: start.clone(), at }).event
    }

    /// When a call began for the host, which made it and found it to be done at these times.
    fn align(&mut self, span: Span, (queued, observed): (Instant, Instant), end: &E) -> Instant {
        let (queued, observed) = (self.nanoseconds(queued), self.nanoseconds(observed));
        let reference = self.reference.as_mut().expect("somebody has asked for it");
        reference.at = reference.at.max(queued - span.start).min(observed - span.end);
        let begun = reference.at + span.start;
        if span.start.abs() > FARTHEST {
            *reference = Reference { event: end.clone(), at: reference.at + span.end };
        }
        let distance = Duration::from_nanos(begun.unsigned_abs());
        let moment = if begun < 0 {
            self.epoch.checked_sub(distance)
        } else {
            self.epoch.checked_add(distance)
        };
        moment.unwrap_or(self.epoch)
    }

    /// A moment of the host as nanoseconds.
    fn nanoseconds(&self, moment: Instant) -> i64 {
        let since = |later: Instant, earlier: Instant| {
            i64::try_from(later.saturating_duration_since(earlier).as_nanos()).unwrap_or(i64::MAX)
        };
        since(moment, self.epoch) - since(self.epoch, moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device whose clock is `offset` ahead of the host's, in microseconds.
    struct Device {
        clock: Clock<i64>,
        offset: i64,
    }

    impl Device {
        fn new(offset: i64) -> Self {
            Self { clock: Clock { epoch: Instant::now(), reference: None }, offset }
        }

        /// When a call began by the trace, in microseconds of the host.
        fn call(&mut self, queued: i64, begun: i64, ended: i64, observed: i64) -> i64 {
            let epoch = self.clock.epoch;
            let host = |at: i64| epoch + Duration::from_micros(at.unsigned_abs());
            let [start, end] = [begun, ended].map(|at| at + self.offset);
            let reference = *self.clock.reference(&start, host(queued));
            let [from, to] = [start, end].map(|at| (at - reference) * 1000);
            let span = Span { start: from, end: to };
            let begun = self.clock.align(span, (host(queued), host(observed)), &end);
            begun.duration_since(epoch).as_micros() as i64
        }
    }

    #[test]
    fn a_call_begins_no_earlier_than_it_was_made() {
        let mut device = Device::new(5_000_000);
        // It waited for 400 for the device to wake up, which nobody can know.
        assert_eq!(device.call(100, 500, 600, 10_000), 100);
        // The next one shows it: had the clock been right, it would have begun before it was made.
        assert_eq!(device.call(650, 660, 700, 10_000), 650);
        // From here on the clock is known to 10, whatever is in the queue.
        assert_eq!(device.call(655, 700, 800, 10_000), 690);
        assert_eq!(device.call(656, 5_000, 5_001, 10_000), 4_990);
    }

    #[test]
    fn a_call_ends_no_later_than_it_was_found_to_be_done() {
        let mut device = Device::new(-3_000);
        assert_eq!(device.call(100, 100, 200, 300), 100);
        // The clock of the device has gained 50 in a second.
        device.offset += 50;
        assert_eq!(device.call(1_000_000, 1_000_010, 1_000_020, 1_000_025), 1_000_015);
    }

    #[test]
    fn the_reference_moves_along() {
        let mut device = Device::new(7);
        for second in 0..5 {
            let at = second * 1_000_000;
            assert_eq!(device.call(at, at, at + 10, at + 20), at);
            let reference = device.clock.reference.as_ref().unwrap().event - device.offset;
            assert!((at - reference).abs() <= FARTHEST / 1000, "{reference} at {at}");
        }
    }
}
