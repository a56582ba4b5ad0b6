//! Times of launches on an NVIDIA GPU, between events, for a program that has this as a module.

use std::{error::Error, time::Duration};

use kernelmill::{Buffer, Stream};

/// Launches that are timed at most, and how long they may take together.
const LAUNCHES: u32 = 31;
const BUDGET: Duration = Duration::from_millis(500);

/// Bytes of the copies that keep the device busy while the launches to be timed are queued, and how many there are.
const BUSY_BYTES: usize = 256 << 20;
const BUSY_COPIES: usize = 16;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Times launches on a stream.
pub(crate) struct Timer {
    stream: Stream,
    busy: [Buffer<u8>; 2],
}

impl Timer {
    /// A timer for launches on a stream.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub(crate) fn new(stream: &Stream) -> Outcome<Self> {
        let device = stream.device();
        let busy = [device.zeros(BUSY_BYTES)?, device.zeros(BUSY_BYTES)?];
        Ok(Self { stream: stream.clone(), busy })
    }

    /// The time between two events that have nothing in between: a part of each time of a launch.
    ///
    /// # Errors
    ///
    /// What the driver reports.
    pub(crate) fn of_nothing(&mut self) -> Outcome<Duration> {
        Ok(median(self.times(LAUNCHES, &mut || Ok(()), &mut || Ok(()))?))
    }

    /// The median of the times of many launches on the stream, each after something else there that is not timed.
    ///
    /// # Errors
    ///
    /// What the launches return, and what the driver reports.
    pub(crate) fn median(
        &mut self,
        before: &mut dyn FnMut() -> Outcome,
        launch: &mut dyn FnMut() -> Outcome,
    ) -> Outcome<Duration> {
        let warm = median(self.times(3, before, launch)?).max(Duration::from_nanos(1));
        let launches = (BUDGET.as_nanos() / warm.as_nanos()).clamp(3, LAUNCHES.into());
        Ok(median(self.times(u32::try_from(launches)?, before, launch)?))
    }

    /// The times of launches. All is queued before the first one begins, so that the device does not wait for the host
    /// between two events.
    fn times(
        &mut self,
        launches: u32,
        before: &mut dyn FnMut() -> Outcome,
        launch: &mut dyn FnMut() -> Outcome,
    ) -> Outcome<Vec<Duration>> {
        let Self { stream, busy: [to, from] } = self;
        for _ in 0..BUSY_COPIES {
            to.copy_from_buffer(stream, &from.slice(..))?;
        }
        let mut events = Vec::new();
        for _ in 0..launches {
            before()?;
            let start = stream.record()?;
            launch()?;
            events.push((start, stream.record()?));
        }
        stream.synchronize()?;
        Ok(events.iter().map(|(start, end)| end.elapsed_since(start)).collect::<Result<_, _>>()?)
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
