//! The model itself: from characters to how likely each one is to come next.

mod functions;
mod rows;

use functions::{
    HEAD, TOKEN, attention, cross_entropy, embedding, largest, largest_score, neuron, normalize,
};
use kernelmill_device::prelude::*;
use rows::{Linear, own_row, row};

/// A row of `width` numbers for each character. A thread has one number.
#[kernel]
pub fn embed(
    context: u32,
    width: u32,
    text: &[u32],
    characters: &[f32],
    positions: &[f32],
    mut out: DisjointSlice<f32>,
) {
    let (i, context, width) = (thread::index_1d(), context as usize, width as usize);
    let (row, column) = (i.get() / width, i.get() % width);
    if let Some(out) = out.get_mut(i) {
        let (character, position) = (text[row] as usize, row % context);
        let (character, position) = (character * width + column, position * width + column);
        *out = embedding(characters, positions, character, position);
    }
}

/// Rows scaled to the same size. A thread has a row.
#[kernel]
pub fn norm(width: u32, x: &[f32], gain: &[f32], mut y: DisjointSlice<f32>) {
    let (i, width) = (thread::index_1d(), width as usize);
    // SAFETY: `width` is an argument of the kernel.
    if let Some(y) = unsafe { own_row(&mut y, i, width) } {
        normalize(row(x, i.get(), width), gain, y);
    }
}

/// A linear layer. A thread has one neuron for one row.
#[kernel]
pub fn linear(shape: Linear, weights: &[f32], x: &[f32], mut y: DisjointSlice<f32>) {
    let (i, inputs) = (thread::index_1d(), shape.inputs as usize);
    if let Some(y) = y.get_mut(i) {
        let (of, to) = shape.at(i.get());
        *y = neuron(row(weights, to, inputs), row(x, of, inputs));
    }
}

/// A linear layer whose outputs are added to what came before the branch that it ends.
#[kernel]
pub fn linear_added(
    shape: Linear,
    weights: &[f32],
    x: &[f32],
    before: &[f32],
    mut y: DisjointSlice<f32>,
) {
    let (i, inputs) = (thread::index_1d(), shape.inputs as usize);
    if let Some(y) = y.get_mut(i) {
        let (of, to) = shape.at(i.get());
        *y = before[i.get()] + neuron(row(weights, to, inputs), row(x, of, inputs));
    }
}

/// The activation of each number.
#[kernel]
pub fn silu(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = functions::silu(x[i.get()]);
    }
}

/// Causal self-attention. A thread has one head of one character.
#[kernel]
pub fn attend(context: u32, heads: u32, tokens: &[f32], mut out: DisjointSlice<f32>) {
    let (i, context, heads) = (thread::index_1d(), context as usize, heads as usize);
    let (character, head) = (i.get() / heads, i.get() % heads);
    let (sequence, position) = (character / context, character % context);
    // SAFETY: `HEAD` is a constant.
    if let Some(out) = unsafe { own_row(&mut out, i, HEAD) } {
        let all = row(tokens, sequence * heads + head, context * TOKEN);
        let past = &all[..(position + 1) * TOKEN];
        let mut sums = [0.0; HEAD];
        attention(past, largest_score(past), &mut sums);
        out.copy_from_slice(&sums);
    }
}

/// The loss of each character: how unlikely the model has found the one that came. A thread has one.
#[kernel]
pub fn loss(width: u32, logits: &[f32], targets: &[u32], mut losses: DisjointSlice<f32>) {
    let (i, width) = (thread::index_1d(), width as usize);
    if let Some(loss) = losses.get_mut(i) {
        let logits = row(logits, i.get(), width);
        *loss = cross_entropy(logits, largest(logits), targets[i.get()] as usize);
    }
}
