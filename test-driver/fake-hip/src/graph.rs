//! Graphs: launches with the order between them.

use std::sync::Arc;

use crate::execute::Launch;

/// The nodes of a graph. An executable graph has its own.
#[derive(Clone)]
pub(crate) struct Graph {
    pub(crate) device: i32,
    nodes: Vec<Node>,
}

#[derive(Clone)]
struct Node {
    handle: usize,
    launch: Arc<Launch>,
    /// The indices of those that are done when it begins.
    before: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(device: i32) -> Self {
        Self { device, nodes: Vec::new() }
    }

    /// The index of a node; `None` for a handle of something else.
    pub(crate) fn index_of(&self, handle: usize) -> Option<usize> {
        self.nodes.iter().position(|node| node.handle == handle)
    }

    pub(crate) fn add(&mut self, handle: usize, launch: Launch, before: Vec<usize>) {
        self.nodes.push(Node { handle, launch: Arc::new(launch), before });
    }

    /// The launches, in the order in which they were added.
    pub(crate) fn launches(&self) -> impl Iterator<Item = &Launch> {
        self.nodes.iter().map(|node| &*node.launch)
    }

    /// The launches in an order in which they can be done: `pick` chooses among as many as could come next.
    pub(crate) fn ordered(&self, mut pick: impl FnMut(usize) -> usize) -> Vec<&Launch> {
        let mut is_done = vec![false; self.nodes.len()];
        let mut ordered = Vec::with_capacity(self.nodes.len());
        while ordered.len() < self.nodes.len() {
            let is_ready =
                |at: &usize| !is_done[*at] && self.nodes[*at].before.iter().all(|it| is_done[*it]);
            let ready: Vec<_> = (0..self.nodes.len()).filter(is_ready).collect();
            let next = ready[pick(ready.len())];
            is_done[next] = true;
            ordered.push(&*self.nodes[next].launch);
        }
        ordered
    }
}
