//! The table of panics: the record that each stream of a context has for each image.
//!
//! Launches of an image on a stream run one after the other, and share a record; launches on two streams
//! never do. So whoever waits for a stream is told of its own launches. Guaranteed: a launch's panic is
//! reported once, and the table keeps no image loaded, no stream, and no context but for its records. What kernels have
//! printed for the host to format is printed then too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{
    calls::Driver,
    image::Image,
    records::{Record, Records, reset_workspace},
    stream_id::StreamId,
};
use crate::{
    embedded::EmbeddedArtifact,
    error::{KernelPanic, Result},
};

/// The most entries of streams that were dropped: beyond that, what they launched is waited for.
const MOST_DROPPED: usize = 1000;

/// An image that was launched on a stream.
struct Entry<D: Driver> {
    stream: StreamId<D>,
    image: Weak<Image<D>>,
    artifact: &'static EmbeddedArtifact,
    panic: Panic<D>,
}

/// Where the panic of an entry is.
enum Panic<D: Driver> {
    /// Launches may write it.
    Recorded(Record),
    /// It was read when no launch could write another.
    Left(Left<D>),
}

/// A panic whose image or stream is gone.
struct Left<D: Driver> {
    panic: KernelPanic,
    /// Once this is gone, nobody waits for its streams any more.
    context: Weak<D::Anchor>,
}

/// The panics of one context of the driver.
pub(in crate::backend) struct Panics<D: Driver> {
    table: Mutex<Table<D>>,
    /// Held while a cooperative launch is queued.
    cooperative: Mutex<()>,
}

struct Table<D: Driver> {
    entries: Vec<Entry<D>>,
    records: Records<D>,
}

/// The entries of streams that are dropped, by the addresses of their records.
pub(in crate::backend) struct Dropped(Vec<u64>);

impl<D: Driver> Default for Panics<D> {
    fn default() -> Self {
        let table = Table { entries: Vec::new(), records: Records::default() };
        Self { table: Mutex::new(table), cooperative: Mutex::new(()) }
    }
}

impl<D: Driver> Panics<D> {
    fn lock(&self) -> MutexGuard<'_, Table<D>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address of the record for a launch of a kernel that can panic. The context is current.
    pub(in crate::backend) fn record(
        &self,
        on: &Arc<D::Stream>,
        image: &Arc<Image<D>>,
    ) -> Result<u64> {
        let mut table = self.lock();
        if let Some(address) = table.find(on, image) {
            return Ok(address);
        }
        if table.dropped().count() > MOST_DROPPED {
            drop(table);
            let dropped = self.dropped();
            image.driver.synchronize()?;
            self.reclaim(dropped, &image.driver);
            table = self.lock();
        }
        // SAFETY: the image is loaded.
        let prints = unsafe { image.driver.prints(image.handle)? };
        let mut record = table.records.take(&image.driver)?;
        if prints && let Err(error) = table.records.add_print_buffer(&mut record, &image.driver) {
            table.records.give_back(record);
            return Err(error);
        }
        let address = record.address();
        table.entries.push(Entry {
            stream: StreamId::of(on),
            image: Arc::downgrade(image),
            artifact: image.artifact,
            panic: Panic::Recorded(record),
        });
        Ok(address)
    }

    /// The address of the workspace for a cooperative launch, made ready for it, and what keeps other launches from coming
    /// between that and the launch. The context is current.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "hip")),
        allow(dead_code, reason = "for drivers, and a build may have none")
    )]
    pub(in crate::backend) fn workspace(
        &self,
        on: &Arc<D::Stream>,
        image: &Arc<Image<D>>,
    ) -> Result<(u64, MutexGuard<'_, ()>)> {
        let record = self.record(on, image)?;
        let alone = self.cooperative.lock().unwrap_or_else(PoisonError::into_inner);
        let workspace = self.lock().workspace(record, &image.driver)?;
        reset_workspace::<D>(workspace, on)?;
        Ok((workspace, alone))
    }

    /// Before a graph is launched whose nodes have these records: `forget`, given addresses of numbers of launches, puts
    /// on the stream that they are those of no launch. A node may have the same number in several launches of its graph, and
    /// what has the number of the last launch that panicked would not be told.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "hip")),
        allow(dead_code, reason = "only there graphs are launched")
    )]
    pub(in crate::backend) fn forget_launches(
        &self,
        records: &[u64],
        forget: impl Fn(u64) -> Result<()>,
    ) -> Result<()> {
        for entry in &mut self.lock().entries {
            if let Panic::Recorded(record) = &mut entry.panic
                && records.contains(&record.address())
            {
                record.forget_launch(&forget)?;
            }
        }
        Ok(())
    }

    /// The entries whose streams take no launches any more.
    pub(in crate::backend) fn dropped(&self) -> Dropped {
        Dropped(self.lock().dropped().collect())
    }

    /// Takes the records of entries back whose launches have been waited for since they were found. A
    /// panic in one of them is kept.
    pub(in crate::backend) fn reclaim(&self, dropped: Dropped, driver: &D) {
        if !dropped.0.is_empty() {
            self.lock().settle(driver, |_, record| dropped.0.contains(&record.address()));
        }
    }

    /// Keeps the panics of an image that is being unloaded, of which nothing runs any more, for whoever
    /// waits for the streams that it was launched on.
    pub(in crate::backend) fn unload(&self, image: &Image<D>) {
        self.lock().settle(&image.driver, |entry, _| std::ptr::eq(entry.as_ptr(), image));
    }

    /// Notes that it is not known whether launches still run.
    pub(in crate::backend) fn lose(&self) {
        self.lock().records.lose();
    }

    /// The first panic of the launches on `stream`, which was waited for.
    pub(in crate::backend) fn report(&self, stream: &Arc<D::Stream>) -> Result<()> {
        self.lock().report(|entry| entry.stream.is(stream))
    }

    /// The first panic of the launches in the context.
    pub(in crate::backend) fn report_all(&self) -> Result<()> {
        self.lock().report(|_| true)
    }
}

impl<D: Driver> Table<D> {
    /// The address of the record that a stream has for an image.
    fn find(&self, on: &Arc<D::Stream>, image: &Arc<Image<D>>) -> Option<u64> {
        self.entries.iter().find_map(|entry| match &entry.panic {
            Panic::Recorded(record)
                if entry.image.as_ptr() == Arc::as_ptr(image) && entry.stream.is(on) =>
            {
                Some(record.address())
            }
            _ => None,
        })
    }

    /// The address of the workspace of the record at an address.
    fn workspace(&mut self, address: u64, driver: &Arc<D>) -> Result<u64> {
        let records = self.entries.iter_mut().filter_map(|entry| match &mut entry.panic {
            Panic::Recorded(record) => Some(record),
            Panic::Left(_) => None,
        });
        let found = { records }.find(|record| record.address() == address);
        self.records.workspace(found.expect("the launch holds its image"), driver)
    }

    /// The records of streams that are dropped.
    fn dropped(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().filter_map(|entry| match &entry.panic {
            Panic::Recorded(record) if entry.stream.is_dropped() => Some(record.address()),
            _ => None,
        })
    }

    /// Takes the records of entries back that no launch uses any more, and keeps their panics.
    fn settle(&mut self, driver: &D, is_over: impl Fn(&Weak<Image<D>>, &Record) -> bool) {
        for mut entry in std::mem::take(&mut self.entries) {
            match entry.panic {
                Panic::Recorded(mut record) if is_over(&entry.image, &record) => {
                    record.print(entry.artifact);
                    let panic = record.take().map(|panic| entry.artifact.panic(&panic));
                    self.records.give_back(record);
                    let Some(panic) = panic else { continue };
                    entry.panic = Panic::Left(Left { panic, context: driver.anchor() });
                    self.entries.push(entry);
                }
                _ => self.entries.push(entry),
            }
        }
    }

    /// Reports the first panic of the entries that are `asked` for. Those of contexts that are gone are
    /// forgotten.
    fn report(&mut self, asked: impl Fn(&Entry<D>) -> bool) -> Result<()> {
        self.entries.retain(|entry| match &entry.panic {
            Panic::Recorded(_) => true,
            Panic::Left(left) => left.context.strong_count() > 0,
        });
        for entry in &mut self.entries {
            if asked(entry)
                && let Panic::Recorded(record) = &mut entry.panic
            {
                record.print(entry.artifact);
            }
        }
        for index in 0..self.entries.len() {
            let entry = &mut self.entries[index];
            if !asked(entry) {
                continue;
            }
            match &mut entry.panic {
                Panic::Recorded(record) => {
                    if let Some(panic) = record.take() {
                        return Err(entry.artifact.panic(&panic).into());
                    }
                }
                Panic::Left(left) => {
                    let panic = left.panic.clone();
                    self.entries.remove(index);
                    return Err(panic.into());
                }
            }
        }
        Ok(())
    }
}
