//! The functions that the model consists of, each for one number or one row, and their derivatives.

use kernelmill_device::prelude::*;

/// Numbers of a query, a key or a value.
pub const HEAD: usize = 16;
/// Numbers of a character in a head: its query, its key and its value.
pub const TOKEN: usize = 3 * HEAD;

/// A number of what stands for a character: of the character itself, and of its position.
pub fn embedding(characters: &[f32], positions: &[f32], character: usize, position: usize) -> f32 {
    characters[character] + positions[position]
}

/// The row `x` scaled so that the mean of its squares is 1, times `gain`.
pub fn normalize(x: &[f32], gain: &[f32], y: &mut [f32]) {
    let mut squares = 0.0;
    for x in x {
        squares += x * x;
    }
    let scale = 1.0 / (squares / x.len() as f32 + 1e-5).sqrt();
    for ((y, x), gain) in y.iter_mut().zip(x).zip(gain) {
        *y = x * scale * gain;
    }
}

/// A neuron of a linear layer: the sum of its inputs, each times its weight.
pub fn neuron(weights: &[f32], x: &[f32]) -> f32 {
    let mut sum = 0.0;
    for (weight, x) in weights.iter().zip(x) {
        sum += weight * x;
    }
    sum
}

/// The activation `x * sigmoid(x)`.
pub fn silu(x: f32) -> f32 {
    x / (1.0 + (-x).exp())
}

/// How much a query asks for a key.
fn score(query: &[f32], key: &[f32]) -> f32 {
    neuron(query, key) * (1.0 / 4.0)
}

/// The largest score of the query of the last character.
pub fn largest_score(past: &[f32]) -> f32 {
    let (past, _) = past.as_chunks::<TOKEN>();
    let mut largest = f32::MIN;
    if let Some(own) = past.last() {
        for token in past {
            largest = largest.max(score(&own[..HEAD], &token[HEAD..2 * HEAD]));
        }
    }
    largest
}

/// The mean of the values of all characters up to the last one, weighted by the exponentials of the scores that the last
/// one's query gives their keys. `shift` is subtracted from every score, which changes nothing but the range of numbers.
pub fn attention(past: &[f32], shift: f32, out: &mut [f32; HEAD]) {
    let (past, _) = past.as_chunks::<TOKEN>();
    let own = &past[past.len() - 1];
    let mut sum = 0.0;
    for token in past {
        sum += (score(&own[..HEAD], &token[HEAD..2 * HEAD]) - shift).exp();
    }
    for out in out.iter_mut() {
        *out = 0.0;
    }
    for token in past {
        let share = (score(&own[..HEAD], &token[HEAD..2 * HEAD]) - shift).exp() / sum;
        for (out, value) in out.iter_mut().zip(&token[2 * HEAD..]) {
            *out += share * value;
        }
    }
}

/// The largest number of a row.
pub fn largest(row: &[f32]) -> f32 {
    row.iter().fold(f32::MIN, |largest, x| largest.max(*x))
}

/// The negative logarithm of the probability that `logits` give to `target`; `shift` as in [`attention`].
pub fn cross_entropy(logits: &[f32], shift: f32, target: usize) -> f32 {
    let mut sum = 0.0;
    for logit in logits {
        sum += (logit - shift).exp();
    }
    sum.ln() + shift - logits[target]
}

autodiff! {
    /// Adds `seed` to the gradients of the two numbers.
    pub fn embedding_gradient(
        characters: &[f32], d_characters: &mut [f32], positions: &[f32], d_positions: &mut [f32],
        character: usize, position: usize, seed: f32,
    ) = reverse embedding(duplicated, duplicated, constant, constant);

    /// Adds to the gradients of `x` and `gain`; clears that of `y`, whose content is written anew.
    pub fn normalize_gradient(
        x: &[f32], d_x: &mut [f32], gain: &[f32], d_gain: &mut [f32], y: &mut [f32], d_y: &mut [f32],
    ) = reverse normalize(duplicated, duplicated, duplicated);

    /// Adds to the gradient of the weights.
    pub fn neuron_by_weights(weights: &[f32], d_weights: &mut [f32], x: &[f32], seed: f32)
        = reverse neuron(duplicated, constant);

    /// Adds to the gradient of the inputs.
    pub fn neuron_by_inputs(weights: &[f32], x: &[f32], d_x: &mut [f32], seed: f32)
        = reverse neuron(constant, duplicated);

    /// The slope times `seed`.
    pub fn silu_gradient(x: f32, seed: f32) -> f32 = reverse silu(active);

    /// Adds to the gradient of all queries, keys and values; clears that of `out`.
    pub fn attention_gradient(
        past: &[f32], d_past: &mut [f32], shift: f32, out: &mut [f32; HEAD], d_out: &mut [f32; HEAD],
    ) = reverse attention(duplicated, constant, duplicated);

    /// Adds to the gradient of the logits.
    pub fn cross_entropy_gradient(
        logits: &[f32], d_logits: &mut [f32], shift: f32, target: usize, seed: f32,
    ) = reverse cross_entropy(duplicated, constant, constant);
}
