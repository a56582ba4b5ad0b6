//! The model: its weights, and what it computes on the way to the loss and back.

use crate::{
    kernels::{Adam, Kernels, Linear},
    random::Random,
};
use kernelmill::{Buffer, Device, Launch, Result, Stream};

/// Numbers of a query, a key or a value: `HEAD` of the kernels.
const HEAD: usize = 16;

/// The sizes of a model.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    /// Characters that it knows.
    pub(crate) alphabet: usize,
    /// Characters that it looks back at, itself included.
    pub(crate) context: usize,
    /// Heads of the attention.
    pub(crate) heads: usize,
    /// Numbers of a row between the layers of a perceptron.
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    /// Sequences of a batch.
    pub(crate) batch: usize,
}

impl Sizes {
    /// Numbers of a row.
    pub(crate) fn width(self) -> usize {
        self.heads * HEAD
    }

    /// Characters of a batch.
    pub(crate) fn rows(self) -> usize {
        self.batch * self.context
    }

    fn linear(self, inputs: usize, outputs: usize, groups: usize) -> Linear {
        let [context, inputs, outputs, groups] =
            [self.context, inputs, outputs, groups].map(|it| it as u32);
        Linear { context, inputs, outputs, groups }
    }
}

/// Weights, with their gradient in parts, one for each sequence, and what the optimiser remembers.
pub(crate) struct Weights {
    pub(crate) values: Buffer<f32>,
    pub(crate) parts: Buffer<f32>,
    mean: Buffer<f32>,
    square: Buffer<f32>,
}

impl Weights {
    fn new(device: &Device, batch: usize, values: &[f32]) -> Result<Self> {
        let count = values.len();
        Ok(Self {
            values: device.upload(values)?,
            parts: device.zeros(batch * count)?,
            mean: device.zeros(count)?,
            square: device.zeros(count)?,
        })
    }

    /// The gradient.
    #[cfg(test)]
    pub(crate) fn gradient(&self) -> Result<Vec<f32>> {
        let (parts, count) = (self.parts.download()?, self.values.len());
        Ok((0..count).map(|i| parts.iter().skip(i).step_by(count).sum()).collect())
    }
}

/// The weights of a layer: attention and a perceptron, each with a norm before it.
struct Layer {
    gain_of_attention: Weights,
    tokens: Weights,
    mix: Weights,
    gain_of_perceptron: Weights,
    widen: Weights,
    narrow: Weights,
}

/// All that a model learns.
pub(crate) struct AllWeights {
    characters: Weights,
    positions: Weights,
    layers: Vec<Layer>,
    gain: Weights,
    logits: Weights,
}

impl AllWeights {
    /// All of them, in an order that is always the same.
    pub(crate) fn each(&mut self) -> Vec<&mut Weights> {
        let mut all = vec![&mut self.characters, &mut self.positions];
        for layer in &mut self.layers {
            all.extend([&mut layer.gain_of_attention, &mut layer.tokens, &mut layer.mix]);
            all.extend([&mut layer.gain_of_perceptron, &mut layer.widen, &mut layer.narrow]);
        }
        all.extend([&mut self.gain, &mut self.logits]);
        all
    }
}

/// What a layer computes.
struct LayerState {
    normed: Buffer<f32>,
    tokens: Buffer<f32>,
    attended: Buffer<f32>,
    middle: Buffer<f32>,
    normed_middle: Buffer<f32>,
    wide: Buffer<f32>,
    active: Buffer<f32>,
    out: Buffer<f32>,
}

/// What a model computes of one batch.
pub(crate) struct State {
    batch: usize,
    text: Buffer<u32>,
    targets: Buffer<u32>,
    embedded: Buffer<f32>,
    layers: Vec<LayerState>,
    normed: Buffer<f32>,
    logits: Buffer<f32>,
    losses: Buffer<f32>,
}

impl State {
    pub(crate) fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let zeros = |width: usize| device.zeros::<f32>(sizes.rows() * width);
        let (width, hidden) = (sizes.width(), sizes.hidden);
        let layer = |_| {
            Ok(LayerState {
                normed: zeros(width)?,
                tokens: zeros(3 * width)?,
                attended: zeros(width)?,
                middle: zeros(width)?,
                normed_middle: zeros(width)?,
                wide: zeros(hidden)?,
                active: zeros(hidden)?,
                out: zeros(width)?,
            })
        };
        Ok(Self {
            batch: sizes.batch,
            text: device.zeros(sizes.rows())?,
            targets: device.zeros(sizes.rows())?,
            embedded: zeros(width)?,
            layers: (0..sizes.layers).map(layer).collect::<Result<_>>()?,
            normed: zeros(width)?,
            logits: zeros(sizes.alphabet)?,
            losses: zeros(1)?,
        })
    }

    /// Copies a text to the device, and what comes after each of its characters.
    pub(crate) fn read(&mut self, text: &[u32], targets: &[u32]) -> Result<()> {
        self.text.copy_from(text)?;
        self.targets.copy_from(targets)
    }

    /// The mean loss of all characters.
    pub(crate) fn loss(&self) -> Result<f32> {
        let losses = self.losses.download()?;
        Ok(losses.iter().sum::<f32>() / losses.len() as f32)
    }

    /// The logits of what comes after the character at `position` of the first sequence.
    pub(crate) fn logits(&self, position: usize) -> Result<Vec<f32>> {
        let width = self.logits.len() / self.losses.len();
        Ok(self.logits.download()?[position * width..(position + 1) * width].to_vec())
    }
}

/// Gradients of what a model computes. Each is used for all layers.
struct Gradients {
    rows: Buffer<f32>,
    branch: Buffer<f32>,
    tokens: Buffer<f32>,
    wide: Buffer<f32>,
    logits: Buffer<f32>,
}

/// A transformer on a device.
pub(crate) struct Model {
    kernels: Kernels,
    stream: Stream,
    sizes: Sizes,
    pub(crate) weights: AllWeights,
    gradients: Gradients,
    steps: i32,
}

/// Threads of a block where a thread has a row, or the weights of a neuron.
const ROWS: u32 = 32;
/// Threads of a block where a thread has a whole sequence.
const SEQUENCES: u32 = 8;

impl Model {
    /// A model with weights of a seed.
    pub(crate) fn new(device: &Device, sizes: Sizes, seed: u64) -> Result<Self> {
        let random = &mut Random::new(seed);
        let (width, hidden) = (sizes.width(), sizes.hidden);
        let mut weights =
            |count, size| Weights::new(device, sizes.batch, &random.numbers(count, size));
        let gain = || Weights::new(device, sizes.batch, &vec![1.0; width]);
        let of = |inputs: usize| (3.0 / inputs as f32).sqrt();
        // The branches of all layers are added.
        let branch = |inputs| of(inputs) / (2.0 * sizes.layers as f32).sqrt();
        let characters = weights(sizes.alphabet * width, 0.5)?;
        let positions = weights(sizes.context * width, 0.5)?;
        let mut layers = Vec::new();
        for _ in 0..sizes.layers {
            layers.push(Layer {
                gain_of_attention: gain()?,
                tokens: weights(3 * width * width, of(width))?,
                mix: weights(width * width, branch(width))?,
                gain_of_perceptron: gain()?,
                widen: weights(width * hidden, of(width))?,
                narrow: weights(hidden * width, branch(hidden))?,
            });
        }
        let logits = weights(width * sizes.alphabet, 0.1 * of(width))?;
        let zeros = |width: usize| device.zeros::<f32>(sizes.rows() * width);
        Ok(Self {
            kernels: Kernels::load(device)?,
            stream: device.stream(),
            sizes,
            weights: AllWeights { characters, positions, layers, gain: gain()?, logits },
            gradients: Gradients {
                rows: zeros(width)?,
                branch: zeros(width)?,
                tokens: zeros(3 * width)?,
                wide: zeros(hidden)?,
                logits: zeros(sizes.alphabet)?,
            },
            steps: 0,
        })
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// How many numbers the model learns.
    pub(crate) fn len(&mut self) -> usize {
        self.weights.each().iter().map(|it| it.values.len()).sum()
    }

    /// From the text to the losses.
    pub(crate) fn forward(&self, state: &mut State) -> Result<()> {
        let (kernels, stream, sizes) = (&self.kernels, &self.stream, self.sizes);
        let (width, hidden, rows) = (sizes.width(), sizes.hidden, state.batch * sizes.context);
        let [context, heads, row] = [sizes.context, sizes.heads, width].map(|it| it as u32);
        let each = |width: usize| Launch::linear(rows * width);
        let (by_row, plain) = (Launch::linear_in_blocks(rows, ROWS), sizes.linear(width, width, 1));
        let (text, embedded) = (&state.text, &mut state.embedded);
        let (characters, positions) =
            (&self.weights.characters.values, &self.weights.positions.values);
        kernels.embed(stream, each(width), context, row, text, characters, positions, embedded)?;
        let mut x = &state.embedded;
        for (layer, it) in self.weights.layers.iter().zip(&mut state.layers) {
            kernels.norm(
                stream,
                by_row,
                row,
                x,
                &layer.gain_of_attention.values,
                &mut it.normed,
            )?;
            let shape = sizes.linear(width, 3 * width, sizes.heads);
            let launch = each(3 * width);
            kernels.linear(
                stream,
                launch,
                shape,
                &layer.tokens.values,
                &it.normed,
                &mut it.tokens,
            )?;
            let launch = Launch::linear_in_blocks(rows * sizes.heads, ROWS);
            kernels.attend(stream, launch, context, heads, &it.tokens, &mut it.attended)?;
            let (mix, middle) = (&layer.mix.values, &mut it.middle);
            kernels.linear_added(stream, each(width), plain, mix, &it.attended, x, middle)?;

            let (gain, normed) = (&layer.gain_of_perceptron.values, &mut it.normed_middle);
            kernels.norm(stream, by_row, row, &it.middle, gain, normed)?;
            let normed = &it.normed_middle;
            let shape = sizes.linear(width, hidden, 1);
            kernels.linear(
                stream,
                each(hidden),
                shape,
                &layer.widen.values,
                normed,
                &mut it.wide,
            )?;
            kernels.silu(stream, each(hidden), &it.wide, &mut it.active)?;
            let (shape, narrow) = (sizes.linear(hidden, width, 1), &layer.narrow.values);
            let launch = each(width);
            let out = &mut it.out;
            kernels.linear_added(stream, launch, shape, narrow, &it.active, &it.middle, out)?;
            x = &it.out;
        }
        kernels.norm(stream, by_row, row, x, &self.weights.gain.values, &mut state.normed)?;
        let (shape, logits) = (sizes.linear(width, sizes.alphabet, 1), &mut state.logits);
        let launch = each(sizes.alphabet);
        kernels.linear(
            stream,
            launch,
            shape,
            &self.weights.logits.values,
            &state.normed,
            logits,
        )?;
        let (alphabet, targets) = (sizes.alphabet as u32, &state.targets);
        kernels.loss(stream, by_row, alphabet, &state.logits, targets, &mut state.losses)
    }

    /// From the losses to the gradients of all weights.
    pub(crate) fn backward(&mut self, state: &mut State) -> Result<()> {
        let (kernels, stream, sizes) = (&self.kernels, &self.stream, self.sizes);
        let pass = Pass { kernels, stream, sizes };
        let (width, hidden) = (sizes.width(), sizes.hidden);
        let [context, heads, alphabet] =
            [sizes.context, sizes.heads, sizes.alphabet].map(|it| it as u32);
        let Gradients { rows, branch, tokens, wide, logits } = &mut self.gradients;
        let by_row = Launch::linear_in_blocks(sizes.rows(), ROWS);
        kernels.loss_backward(
            stream,
            by_row,
            alphabet,
            &state.logits,
            &state.targets,
            &mut *logits,
        )?;
        let shape = sizes.linear(width, sizes.alphabet, 1);
        pass.linear(shape, &mut self.weights.logits, &state.normed, logits, branch)?;
        // What follows adds to the gradient of the rows.
        kernels.clear(stream, Launch::linear(rows.len()), &mut *rows)?;
        let x = state.layers.last().map_or(&state.embedded, |last| &last.out);
        pass.norm(x, &mut self.weights.gain, &mut state.normed, branch, rows)?;
        for i in (0..sizes.layers).rev() {
            let (before, rest) = state.layers.split_at_mut(i);
            let (layer, it) = (&mut self.weights.layers[i], &mut rest[0]);
            let x = before.last().map_or(&state.embedded, |last| &last.out);
            pass.linear(sizes.linear(hidden, width, 1), &mut layer.narrow, &it.active, rows, wide)?;
            kernels.silu_backward(stream, Launch::linear(wide.len()), &it.wide, &mut *wide)?;
            let shape = sizes.linear(width, hidden, 1);
            pass.linear(shape, &mut layer.widen, &it.normed_middle, wide, branch)?;
            let gain = &mut layer.gain_of_perceptron;
            pass.norm(&it.middle, gain, &mut it.normed_middle, branch, rows)?;

            let shape = sizes.linear(width, width, 1);
            pass.linear(shape, &mut layer.mix, &it.attended, rows, branch)?;
            let launch = Launch::linear_in_blocks(sizes.batch * sizes.heads, SEQUENCES);
            kernels.attend_backward(
                stream,
                launch,
                context,
                heads,
                &it.tokens,
                &*branch,
                &mut *tokens,
            )?;
            let shape = sizes.linear(width, 3 * width, sizes.heads);
            pass.linear(shape, &mut layer.tokens, &it.normed, tokens, branch)?;
            pass.norm(x, &mut layer.gain_of_attention, &mut it.normed, branch, rows)?;
        }
        kernels.embed_backward(
            stream,
            Launch::linear_in_blocks(sizes.batch, SEQUENCES),
            &state.text,
            &self.weights.characters.values,
            &self.weights.positions.values,
            context,
            &*rows,
            &mut self.weights.characters.parts,
            &mut self.weights.positions.parts,
        )
    }

    /// A step of Adam with the gradients that are there.
    pub(crate) fn descend(&mut self, rate: f32) -> Result<()> {
        self.steps += 1;
        let (keep, keep_square) = (0.9_f32, 0.99_f32);
        let correction = |keep: f32| 1.0 / (1.0 - keep.powi(self.steps));
        let settings = Adam {
            rate,
            keep,
            keep_square,
            correction: correction(keep),
            correction_square: correction(keep_square),
        };
        for Weights { values, parts, mean, square } in self.weights.each() {
            let (launch, parts) = (Launch::linear(values.len()), &*parts);
            self.kernels.adam(&self.stream, launch, settings, parts, values, mean, square)?;
        }
        Ok(())
    }
}

/// What the steps of the way back have in common.
struct Pass<'m> {
    kernels: &'m Kernels,
    stream: &'m Stream,
    sizes: Sizes,
}

impl Pass<'_> {
    fn linear(
        &self,
        shape: Linear,
        weights: &mut Weights,
        x: &Buffer<f32>,
        d_y: &Buffer<f32>,
        d_x: &mut Buffer<f32>,
    ) -> Result<()> {
        let (kernels, stream) = (self.kernels, self.stream);
        let (values, parts) = (&weights.values, &mut weights.parts);
        let launch = Launch::linear_in_blocks(self.sizes.batch * shape.outputs as usize, ROWS);
        kernels.linear_backward_weights(stream, launch, shape, values, x, d_y, parts)?;
        let launch = Launch::linear_in_blocks(self.sizes.rows(), ROWS);
        kernels.linear_backward_inputs(stream, launch, shape, values, x, d_y, d_x)
    }

    fn norm(
        &self,
        x: &Buffer<f32>,
        gain: &mut Weights,
        y: &mut Buffer<f32>,
        d_y: &mut Buffer<f32>,
        d_x: &mut Buffer<f32>,
    ) -> Result<()> {
        let context = self.sizes.context as u32;
        let (values, parts) = (&gain.values, &mut gain.parts);
        let launch = Launch::linear_in_blocks(self.sizes.batch, SEQUENCES);
        self.kernels.norm_backward(self.stream, launch, context, x, values, y, d_y, d_x, parts)
    }
}
