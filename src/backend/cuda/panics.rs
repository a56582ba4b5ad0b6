//! The table of panics: which images may have panicked on which streams of a context.
//!
//! Each image has one record, which is read when a stream is waited for. Which launch of a module
//! panicked is not known, so whoever waits first for a stream that the module was launched on is told.
//! A module that is unloaded before that leaves its panic here. Guaranteed: a panic is reported once,
//! and the table keeps nothing loaded.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream};

use super::image::Image;
use crate::error::{KernelPanic, Result};

/// An image whose record was not read since a launch on a stream.
struct Expected {
    stream: usize,
    image: Weak<Image>,
    /// What the record said when the module was unloaded.
    left: Option<Left>,
}

/// A panic whose image is gone.
struct Left {
    panic: KernelPanic,
    /// Once this is gone, nobody waits for its streams any more.
    context: Weak<CudaContext>,
}

/// The panics of one context of the driver.
///
/// Nothing here keeps an image or a context alive: a program that waits by other means than this
/// crate's would never get rid of them.
#[derive(Default)]
pub(super) struct Panics {
    expected: Mutex<Vec<Expected>>,
}

/// The identity of a stream in its context.
fn handle(stream: &CudaStream) -> usize {
    stream.cu_stream() as usize
}

impl Panics {
    fn lock(&self) -> MutexGuard<'_, Vec<Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a kernel which can panic was launched.
    pub(super) fn expect(&self, on: &CudaStream, image: &Arc<Image>) {
        let (stream, image) = (handle(on), Arc::downgrade(image));
        let mut expected = self.lock();
        let is = |other: &Expected| other.stream == stream && other.image.ptr_eq(&image);
        if !expected.iter().any(is) {
            expected.push(Expected { stream, image, left: None });
        }
    }

    /// Keeps the panic of an image that is being unloaded, of which nothing runs any more, for whoever
    /// waits for a stream that it was launched on.
    pub(super) fn unload(&self, image: &Image) {
        let is = |entry: &Expected| std::ptr::eq(entry.image.as_ptr(), image);
        if !self.lock().iter().any(is) {
            return;
        }
        let read = || image.read_panic(&image.driver.stream);
        let panic = read().or_else(|_| read()).unwrap_or_else(|error| {
            image.driver.keep(Err(error));
            None
        });
        let mut expected = self.lock();
        for entry in expected.iter_mut().filter(|entry| is(entry)) {
            let context = Arc::downgrade(&image.driver.cuda);
            entry.left = panic.clone().map(|panic| Left { panic, context });
        }
        expected.retain(|entry| !is(entry) || entry.left.is_some());
    }

    /// The first panic of the images that were launched on `stream`, which was waited for.
    pub(super) fn report(&self, stream: &CudaStream) -> Result<()> {
        let number = handle(stream);
        self.check(stream, |other| other.stream == number, |_| true)
    }

    /// The first panic of the images that were launched in the context, where `stream` was waited
    /// for; `everything` was, or this stream and what it waits for.
    pub(super) fn report_all(&self, stream: &CudaStream, everything: bool) -> Result<()> {
        let number = handle(stream);
        self.check(stream, |_| true, |other| everything || other.stream == number)
    }

    /// Reads the record of each image that is `asked` for, until one has a panic. Entries that are
    /// `done`, of which nothing can still run, are removed before their record is read: a launch after
    /// that makes a new one.
    fn check(
        &self,
        stream: &CudaStream,
        asked: impl Fn(&Expected) -> bool,
        done: impl Fn(&Expected) -> bool,
    ) -> Result<()> {
        let mut seen: Vec<Arc<Image>> = Vec::new();
        loop {
            let mut expected = self.lock();
            if let Some(panic) = take_left(&mut expected, &asked) {
                return Err(panic.into());
            }
            let is_seen = |image: &Arc<Image>| seen.iter().any(|seen| Arc::ptr_eq(seen, image));
            // An image that is gone cannot be had any more; it has left its panic here.
            let mut images = expected
                .iter()
                .filter(|entry| asked(entry))
                .filter_map(|entry| entry.image.upgrade());
            let Some(image) = images.find(|image| !is_seen(image)) else {
                return Ok(());
            };
            drop(images);
            let is = |entry: &Expected| std::ptr::eq(entry.image.as_ptr(), &*image);
            let is_over = |entry: &mut Expected| asked(entry) && done(entry) && is(entry);
            let over: Vec<Expected> = expected.extract_if(.., is_over).collect();
            drop(expected);
            match image.take_panic(stream) {
                Ok(None) => seen.push(image),
                Ok(Some(panic)) => return Err(panic.into()),
                Err(error) => {
                    // It stays to be read.
                    self.lock().extend(over);
                    return Err(error);
                }
            }
        }
    }
}

/// The first panic that was left by an image which is `asked` for; those of contexts that are gone
/// are forgotten.
fn take_left(
    expected: &mut Vec<Expected>,
    asked: impl Fn(&Expected) -> bool,
) -> Option<KernelPanic> {
    let is_alive = |left: &Left| left.context.strong_count() > 0;
    expected.retain(|entry| entry.left.as_ref().is_none_or(is_alive));
    let found = expected.iter().position(|entry| entry.left.is_some() && asked(entry))?;
    let found = expected.swap_remove(found);
    expected.retain(|entry| !entry.image.ptr_eq(&found.image));
    found.left.map(|left| left.panic)
}
