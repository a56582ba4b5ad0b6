//! Steps of a program that queue copies between pinned memory and its buffers.

use super::{
    BUFFERS, Program, STREAMS,
    values::{elements, range},
};

impl Program {
    /// Queues a copy to a part of a buffer; its source is written, dropped or leaked at once.
    pub(super) fn copy_from_pinned(&mut self) {
        let index = self.random.below(BUFFERS);
        self.define(index);
        let stream = &self.streams[self.random.below(STREAMS)];
        let cell = &mut self.cells[index];
        let range = range(&mut self.random, cell.len());
        let new = elements(&mut self.random, range.len());
        let mut source = self.device.pinned_from(&new).expect("memory");
        let copied = self
            .panics
            .tolerated(|| cell.buffer.slice_mut(range.clone()).copy_from_async(stream, &source));
        copied.expect("a copy");
        cell.expected.as_mut().expect("defined before")[range].copy_from_slice(&new);
        let may_leak = self.may_leak();
        match self.random.below(3) {
            0 => self.panics.tolerate(|| source.as_mut_slice().map(|host| host.fill(0xdead))),
            1 if may_leak => std::mem::forget(source),
            _ => drop(source),
        }
    }

    /// Queues a copy of a part of a buffer, which is written or dropped at once; the target is read, leaked, or
    /// dropped.
    pub(super) fn copy_to_pinned(&mut self) {
        let index = self.random.below(BUFFERS);
        let stream = &self.streams[self.random.below(STREAMS)];
        let cell = &self.cells[index];
        let range = range(&mut self.random, cell.len());
        let mut target = self.device.pinned_zeros::<u32>(range.len()).expect("memory");
        let copied = self
            .panics
            .tolerated(|| cell.buffer.slice(range.clone()).copy_to_async(stream, &mut target));
        copied.expect("a copy");
        let expected = cell.expected.as_ref().map(|all| all[range].to_vec());
        match self.random.below(3) {
            0 => self.define_again(index),
            1 => self.cells[index] = super::Cell::new(&self.device, &mut self.random),
            _ => {}
        }
        let may_leak = self.may_leak();
        match (self.random.below(4), expected) {
            (0, _) if may_leak => std::mem::forget(target),
            (0 | 1, _) => drop(target),
            (_, Some(expected)) => {
                let found = self.panics.tolerated(|| target.as_slice().map(<[u32]>::to_vec));
                assert_eq!(found.expect("a copy"), expected, "pinned memory");
            }
            (_, None) => self.panics.tolerate(|| target.as_slice().map(drop)),
        }
    }

    /// Gives a buffer new elements.
    fn define_again(&mut self, index: usize) {
        self.cells[index].expected = None;
        self.define(index);
    }
}
