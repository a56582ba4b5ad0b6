//! The order that the legacy default stream keeps with the blocking ones.

use std::sync::Arc;

use super::context::Context;
use crate::base::error::{Error, Result};
use crate::base::handle::lock;
use crate::graph::Capture;
use crate::stream::{Kind, Point, Stream};

/// Held while work is queued, so that all work of a context has one order.
pub(crate) struct Order<'a> {
    context: &'a Context,
}

impl Context {
    /// Queues work while nobody else does.
    pub(crate) fn in_order<R>(&self, queue: impl FnOnce(&Order<'_>) -> R) -> R {
        let _alone = lock(&self.order);
        queue(&Order { context: self })
    }

    /// A capture that use of this stream would spoil: the legacy stream cannot be used while a
    /// blocking stream is captured, as it would have to wait for work that is only recorded.
    pub(crate) fn implicit_capture(&self, stream: &Stream) -> Option<Arc<Capture>> {
        if stream.kind != Kind::Legacy {
            return None;
        }
        let others = self.others();
        let blocking = others.iter().filter(|other| other.kind == Kind::Blocking);
        blocking.filter_map(|other| other.capture()).next()
    }

    /// Refuses to use the legacy stream during a capture, which is spoiled then.
    pub(crate) fn refuse_legacy_capture(&self, stream: &Stream) -> Result<()> {
        match self.implicit_capture(stream) {
            None => Ok(()),
            Some(capture) => {
                capture.invalidate();
                Err(Error::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
            }
        }
    }

    /// Whether a stream has done all that it has, and all that it waits for.
    pub(crate) fn is_idle(&self, stream: &Stream) -> bool {
        let before = self.in_order(|order| order.before(stream));
        before.iter().all(Point::query) && stream.queue.now().query()
    }
}

impl Order<'_> {
    /// What new work of a stream has to wait for.
    pub(crate) fn before(&self, stream: &Stream) -> Vec<Point> {
        let unreached = |point: &Point| !point.is_reached();
        match stream.kind {
            Kind::NonBlocking => Vec::new(),
            Kind::Blocking => {
                Some(self.context.legacy().queue.now()).into_iter().filter(unreached).collect()
            }
            Kind::Legacy => {
                let others = self.context.others();
                let blocking = others.iter().filter(|other| other.kind == Kind::Blocking);
                blocking.map(|other| other.queue.now()).filter(unreached).collect()
            }
        }
    }
}
