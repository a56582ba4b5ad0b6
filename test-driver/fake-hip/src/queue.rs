//! Queues: the work of streams that is not done.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use crate::{execute::Launch, graph::Graph};

/// A stream: the device, and the handle, which is 0 for the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StreamKey {
    pub(crate) device: i32,
    pub(crate) handle: usize,
}

/// What a stream does.
pub(crate) enum Work {
    Copy {
        target: usize,
        source: usize,
        bytes: usize,
    },
    Fill {
        target: usize,
        value: u8,
        bytes: usize,
    },
    Launch(Box<Launch>),
    /// The launches of an executable graph.
    Graph(Arc<Graph>),
    /// The block at an address is there from now on.
    Allocate {
        address: usize,
    },
    /// The block at an address is freed.
    Free {
        address: usize,
    },
    /// An event is recorded.
    Record {
        event: usize,
    },
    /// Nothing goes on before the work with this number is done.
    Wait {
        number: u64,
    },
}

pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) work: Work,
}

/// The queues of all streams.
#[derive(Default)]
pub(crate) struct Queues {
    queues: HashMap<StreamKey, VecDeque<Item>>,
    /// The stream of each work that is not done.
    pending: HashMap<u64, StreamKey>,
    last: u64,
}

impl Queues {
    /// Adds work; its number.
    pub(crate) fn push(&mut self, stream: StreamKey, work: Work) -> u64 {
        self.last += 1;
        self.pending.insert(self.last, stream);
        self.queues.entry(stream).or_default().push_back(Item { number: self.last, work });
        self.last
    }

    pub(crate) fn stream_of(&self, number: u64) -> Option<StreamKey> {
        self.pending.get(&number).copied()
    }

    /// The work that the first one of a stream waits for.
    pub(crate) fn awaited(&self, stream: StreamKey) -> Option<u64> {
        match self.queues.get(&stream)?.front()?.work {
            Work::Wait { number } if self.pending.contains_key(&number) => Some(number),
            _ => None,
        }
    }

    /// Takes the first work of a stream.
    pub(crate) fn pop(&mut self, stream: StreamKey) -> Option<Item> {
        let item = self.queues.get_mut(&stream)?.pop_front()?;
        self.pending.remove(&item.number);
        Some(item)
    }

    /// The number of the last work of a stream, if it has any.
    pub(crate) fn last_of(&self, stream: StreamKey) -> Option<u64> {
        self.queues.get(&stream)?.back().map(|item| item.number)
    }

    /// The streams of a device that have work, in order.
    pub(crate) fn busy(&self, device: i32) -> Vec<StreamKey> {
        let with_work = self.queues.iter().filter(|(_, queue)| !queue.is_empty());
        let mut keys: Vec<_> = with_work.map(|(key, _)| *key).collect();
        keys.retain(|key| key.device == device);
        keys.sort_unstable();
        keys
    }

    /// Whether a launch of a module is queued.
    pub(crate) fn uses(&self, module: usize) -> bool {
        let mut items = self.queues.values().flatten();
        items.any(|item| match &item.work {
            Work::Launch(launch) => launch.module == module,
            Work::Graph(graph) => graph.launches().any(|launch| launch.module == module),
            _ => false,
        })
    }
}
