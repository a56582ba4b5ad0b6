//! Rows of slices, and the shape of a linear layer.

use kernelmill_device::prelude::*;

/// Row `i` of rows of `width` numbers.
pub fn row(rows: &[f32], i: usize, width: usize) -> &[f32] {
    &rows[i * width..(i + 1) * width]
}

/// The row of `width` numbers that belongs to the thread, `None` where there is none.
///
/// # Safety
///
/// All threads of the launch give the same `width`, and reach `rows` through this function alone.
pub unsafe fn own_row<'r>(
    rows: &'r mut DisjointSlice<f32>,
    thread: ThreadIndex,
    width: usize,
) -> Option<&'r mut [f32]> {
    let start = thread.get() * width;
    if start + width > rows.len() {
        return None;
    }
    // SAFETY: in bounds, and rows of different threads do not overlap, as all have the same width.
    Some(unsafe { core::slice::from_raw_parts_mut(rows.as_mut_ptr().add(start), width) })
}

/// The shape of a linear layer, and where its outputs are.
///
/// The neurons are in groups, the heads of the attention, or all in one. The outputs of a group for all characters of a
/// sequence lie together: by sequence, group, position, and neuron of the group.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Linear {
    /// Characters of a sequence.
    pub context: u32,
    /// Inputs of each neuron.
    pub inputs: u32,
    /// Neurons.
    pub outputs: u32,
    /// Groups of neurons.
    pub groups: u32,
}

impl Linear {
    fn sizes(self) -> [usize; 3] {
        [self.context as usize, self.groups as usize, (self.outputs / self.groups) as usize]
    }

    /// The row of inputs, and the neuron, of output `i`.
    pub fn at(self, i: usize) -> (usize, usize) {
        let [context, groups, width] = self.sizes();
        let (column, rest) = (i % width, i / width);
        let (position, rest) = (rest % context, rest / context);
        let (group, sequence) = (rest % groups, rest / groups);
        (sequence * context + position, group * width + column)
    }

    /// The output of a neuron for a row of inputs.
    pub fn output(self, row: usize, neuron: usize) -> usize {
        let [context, groups, width] = self.sizes();
        let (sequence, position) = (row / context, row % context);
        let (group, column) = (neuron / width, neuron % width);
        ((sequence * groups + group) * context + position) * width + column
    }
}
