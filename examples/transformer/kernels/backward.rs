//! The gradients, by the derivatives that `autodiff!` declares in `functions.rs`, and the optimiser.
//!
//! Gradients of weights have one part for each sequence of the batch. A thread adds up what it has alone, in the order of the
//! text, and the optimiser adds the parts: no atomics, and the same sums on every run.

mod functions;
mod rows;

use functions::{
    HEAD, TOKEN, attention_gradient, cross_entropy_gradient, embedding_gradient, largest,
    largest_score, neuron_by_inputs, neuron_by_weights, normalize_gradient, silu_gradient,
};
use kernelmill_device::prelude::*;
use rows::{Linear, own_row, row};

/// Of the mean loss with respect to the logits. A thread has the logits of one character.
#[kernel]
pub fn loss_backward(width: u32, logits: &[f32], targets: &[u32], mut d_logits: DisjointSlice<f32>) {
    let (i, width) = (thread::index_1d(), width as usize);
    // SAFETY: `width` is an argument of the kernel.
    if let Some(d_logits) = unsafe { own_row(&mut d_logits, i, width) } {
        d_logits.fill(0.0);
        let (logits, target) = (row(logits, i.get(), width), targets[i.get()] as usize);
        let seed = 1.0 / targets.len() as f32;
        cross_entropy_gradient(logits, d_logits, largest(logits), target, seed);
    }
}

/// Of a linear layer with respect to its inputs. A thread has a row of them.
#[kernel]
pub fn linear_backward_inputs(
    shape: Linear,
    weights: &[f32],
    x: &[f32],
    d_y: &[f32],
    mut d_x: DisjointSlice<f32>,
) {
    let (i, inputs) = (thread::index_1d(), shape.inputs as usize);
    // SAFETY: `shape` is an argument of the kernel.
    if let Some(d_x) = unsafe { own_row(&mut d_x, i, inputs) } {
        d_x.fill(0.0);
        let x = row(x, i.get(), inputs);
        for neuron in 0..shape.outputs as usize {
            let seed = d_y[shape.output(i.get(), neuron)];
            neuron_by_inputs(row(weights, neuron, inputs), x, d_x, seed);
        }
    }
}

/// Of a linear layer with respect to its weights. A thread has those of one neuron, in one sequence.
#[kernel]
pub fn linear_backward_weights(
    shape: Linear,
    weights: &[f32],
    x: &[f32],
    d_y: &[f32],
    mut d_weights: DisjointSlice<f32>,
) {
    let (i, inputs) = (thread::index_1d(), shape.inputs as usize);
    let (context, outputs) = (shape.context as usize, shape.outputs as usize);
    let (sequence, neuron) = (i.get() / outputs, i.get() % outputs);
    // SAFETY: `shape` is an argument of the kernel.
    if let Some(d_weights) = unsafe { own_row(&mut d_weights, i, inputs) } {
        d_weights.fill(0.0);
        let weights = row(weights, neuron, inputs);
        for character in sequence * context..(sequence + 1) * context {
            let seed = d_y[shape.output(character, neuron)];
            neuron_by_weights(weights, d_weights, row(x, character, inputs), seed);
        }
    }
}

/// Of scaled rows with respect to the rows, added to `d_x`, and to the gain. A thread has a sequence. Clears `d_y`.
#[kernel]
pub fn norm_backward(
    context: u32,
    x: &[f32],
    gain: &[f32],
    mut y: DisjointSlice<f32>,
    mut d_y: DisjointSlice<f32>,
    mut d_x: DisjointSlice<f32>,
    mut d_gain: DisjointSlice<f32>,
) {
    let (i, context, width) = (thread::index_1d(), context as usize, gain.len());
    let size = context * width;
    // SAFETY: the sizes are arguments of the kernel.
    let own = unsafe {
        (
            own_row(&mut y, i, size),
            own_row(&mut d_y, i, size),
            own_row(&mut d_x, i, size),
            own_row(&mut d_gain, i, width),
        )
    };
    if let (Some(y), Some(d_y), Some(d_x), Some(d_gain)) = own {
        d_gain.fill(0.0);
        for position in 0..context {
            let x = row(x, i.get() * context + position, width);
            let own = position * width..(position + 1) * width;
            let (y, d_y) = (&mut y[own.clone()], &mut d_y[own.clone()]);
            normalize_gradient(x, &mut d_x[own], gain, d_gain, y, d_y);
        }
    }
}

/// Clears gradients that others are added to.
#[kernel]
pub fn clear(mut gradients: DisjointSlice<f32>) {
    if let Some(gradient) = gradients.get_mut(thread::index_1d()) {
        *gradient = 0.0;
    }
}

/// Of the activation: the gradient of its result becomes that of its argument.
#[kernel]
pub fn silu_backward(x: &[f32], mut d: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(d) = d.get_mut(i) {
        *d = silu_gradient(x[i.get()], *d);
    }
}

/// Of the attention with respect to all queries, keys and values. A thread has one head of one sequence.
#[kernel]
pub fn attend_backward(
    context: u32,
    heads: u32,
    tokens: &[f32],
    d_out: &[f32],
    mut d_tokens: DisjointSlice<f32>,
) {
    let (i, context, heads) = (thread::index_1d(), context as usize, heads as usize);
    let (sequence, head) = (i.get() / heads, i.get() % heads);
    // SAFETY: `context` is an argument of the kernel.
    if let Some(d_tokens) = unsafe { own_row(&mut d_tokens, i, context * TOKEN) } {
        d_tokens.fill(0.0);
        let tokens = row(tokens, i.get(), context * TOKEN);
        for position in 0..context {
            let end = (position + 1) * TOKEN;
            let character = sequence * context + position;
            let (mut out, mut d) = ([0.0; HEAD], [0.0; HEAD]);
            d.copy_from_slice(row(d_out, character * heads + head, HEAD));
            let shift = largest_score(&tokens[..end]);
            attention_gradient(&tokens[..end], &mut d_tokens[..end], shift, &mut out, &mut d);
        }
    }
}

/// Of the embedding with respect to both tables. A thread has a sequence.
#[kernel]
pub fn embed_backward(
    text: &[u32],
    characters: &[f32],
    positions: &[f32],
    context: u32,
    d_out: &[f32],
    mut d_characters: DisjointSlice<f32>,
    mut d_positions: DisjointSlice<f32>,
) {
    let (i, context) = (thread::index_1d(), context as usize);
    let width = positions.len() / context;
    // SAFETY: the sizes are arguments of the kernel.
    let own = unsafe {
        (
            own_row(&mut d_characters, i, characters.len()),
            own_row(&mut d_positions, i, positions.len()),
        )
    };
    if let (Some(d_characters), Some(d_positions)) = own {
        d_characters.fill(0.0);
        d_positions.fill(0.0);
        for place in 0..context * width {
            let (position, column) = (place / width, place % width);
            let of = i.get() * context + position;
            let character = text[of] as usize * width + column;
            embedding_gradient(
                characters,
                d_characters,
                positions,
                d_positions,
                character,
                place,
                d_out[of * width + column],
            );
        }
    }
}

/// What Adam needs to know of a step.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Adam {
    /// How far a weight goes.
    pub rate: f32,
    /// What of the mean gradient stays in a step.
    pub keep: f32,
    /// What of the mean square stays in a step.
    pub keep_square: f32,
    /// What the mean gradient is multiplied by, as it began at 0.
    pub correction: f32,
    /// What the mean square is multiplied by.
    pub correction_square: f32,
}

/// A step of Adam. A thread has a weight, and adds the parts of its gradient.
#[kernel]
pub fn adam(
    settings: Adam,
    parts: &[f32],
    mut weights: DisjointSlice<f32>,
    mut mean: DisjointSlice<f32>,
    mut square: DisjointSlice<f32>,
) {
    let (i, count) = (thread::index_1d(), weights.len());
    if let (Some(weight), Some(mean), Some(square)) =
        (weights.get_mut(i), mean.get_mut(i), square.get_mut(i))
    {
        let mut gradient = 0.0;
        let mut part = i.get();
        while part < parts.len() {
            gradient += parts[part];
            part += count;
        }
        *mean += (1.0 - settings.keep) * (gradient - *mean);
        *square += (1.0 - settings.keep_square) * (gradient * gradient - *square);
        let size = (*square * settings.correction_square).sqrt() + 1e-8;
        *weight -= settings.rate * *mean * settings.correction / size;
    }
}
