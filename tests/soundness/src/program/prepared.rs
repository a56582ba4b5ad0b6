//! Steps of a program that prepare its launches.

use std::thread;

use kernelmill::PreparedLaunch;

use super::{BUFFERS, Call, Program, STREAMS, values::range};
use crate::kernels::Kernels;

/// The most times that a prepared launch is made.
const MOST: usize = 4;

impl Program {
    /// Prepares a launch on parts of two buffers, makes it several times on several streams and threads, and drops
    /// or leaks it. Its kernels are dropped before.
    pub(super) fn prepared(&mut self) {
        let written = self.random.below(BUFFERS);
        let read = (written + 1 + self.random.below(BUFFERS - 1)) % BUFFERS;
        self.define(written);
        self.define(read);
        let (call, times) = (Call::new(&mut self.random), self.random.below(MOST + 1));
        let on: Vec<_> = (0..times).map(|_| self.random.below(STREAMS + 1)).collect();
        let (is_leaked, is_waited) = (self.may_leak(), self.random.below(3) == 0);
        let Self { random, device, streams, cells, panics, launches, .. } = self;
        let [y, x] = cells.get_disjoint_mut([written, read]).expect("two buffers");
        let (to, from) = (range(random, y.len()), range(random, x.len()));
        let (source, mut part) = (x.buffer.slice(from.clone()), y.buffer.slice_mut(to.clone()));
        let kernels = Kernels::load(device).expect("kernels for the device");
        let prepared = (call.case.prepare)(&kernels, call.launch(), call.a, &source, &mut part);
        drop(kernels);
        let mut prepared = prepared.expect("the launch is within the limits");
        for stream in on {
            match streams.get(stream) {
                Some(stream) => prepared.launch(stream).expect("a stream of the device"),
                None => launch_elsewhere(&mut prepared),
            }
            *launches += 1;
        }
        match is_leaked {
            true => std::mem::forget(prepared),
            false => drop(prepared),
        }
        let x = x.expected.as_ref().expect("defined before")[from].to_vec();
        for _ in 0..times {
            if y.expected.is_some() {
                y.update(|y| call.case.apply(call.shape, call.a, &x, &mut y[to.clone()]), panics);
            } else {
                // What is undefined may be an element for which the kernel panics.
                panics.launched();
            }
        }
        if is_waited {
            panics.tolerate(|| device.synchronize());
        }
    }
}

/// Makes a launch on a stream of another thread, which is gone at once.
fn launch_elsewhere(prepared: &mut PreparedLaunch<'_>) {
    thread::scope(|scope| {
        scope.spawn(|| {
            let stream = prepared.device().new_stream().expect("a stream");
            prepared.launch(&stream).expect("a stream of the device");
        });
    });
}
