//! The gradients that the backward kernels give, against differences of what the forward kernels give.

use crate::{
    Training,
    kernels::{Adam, Kernels, Linear},
    model::{Model, Sizes, State},
    random::Random,
    text::Text,
};
use kernelmill::{Buffer, Device, Launch, Stream};

/// Numbers of a head's query, key or value.
const HEAD: usize = 16;
/// Sequences, and their characters.
const BATCH: usize = 2;
const CONTEXT: usize = 5;
const ROWS: usize = BATCH * CONTEXT;

/// The kernels on the CPU.
struct Bench {
    device: Device,
    kernels: Kernels,
    stream: Stream,
}

impl Bench {
    fn new() -> Self {
        let device = Device::cpu().unwrap();
        Self { kernels: Kernels::load(&device).unwrap(), stream: device.stream(), device }
    }

    fn upload(&self, numbers: &[f32]) -> Buffer<f32> {
        self.device.upload(numbers).unwrap()
    }

    fn zeros(&self, count: usize) -> Buffer<f32> {
        self.device.zeros(count).unwrap()
    }

    /// What a kernel writes into so many numbers.
    fn run(
        &self,
        count: usize,
        kernel: impl FnOnce(&Kernels, &Stream, &mut Buffer<f32>) -> kernelmill::Result<()>,
    ) -> Vec<f32> {
        // No kernel may rely on what is there before.
        let mut out = self.upload(&vec![7.0; count]);
        kernel(&self.kernels, &self.stream, &mut out).unwrap();
        out.download().unwrap()
    }
}

/// Numbers that differ from test to test.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    Random::new(seed).numbers(count, 1.0)
}

/// The parts of a gradient, added.
fn total(parts: &[f32], count: usize) -> Vec<f32> {
    assert_eq!(parts.len(), BATCH * count);
    (0..count).map(|i| parts.iter().skip(i).step_by(count).sum()).collect()
}

/// Compares a gradient with differences of `function` in each direction. `function` gives the scalar product of what a kernel
/// computes with the gradient of its result.
#[track_caller]
fn check(at: &[f32], gradient: &[f32], function: impl Fn(&[f32]) -> f64) {
    assert_eq!(at.len(), gradient.len());
    let largest = gradient.iter().fold(0.0, |largest: f32, it| largest.max(it.abs()));
    assert!(largest > 1e-3, "a gradient of nothing: {gradient:?}");
    let step = 1e-2;
    for (i, found) in gradient.iter().enumerate() {
        let moved = |by: f32| {
            let mut at = at.to_vec();
            at[i] += by;
            function(&at)
        };
        let expected = ((moved(step) - moved(-step)) / (2.0 * f64::from(step))) as f32;
        let differs = (found - expected).abs() > 2e-3 * largest;
        assert!(!differs, "direction {i}: {found} and by differences {expected}");
    }
}

/// The scalar product.
fn dot(x: &[f32], y: &[f32]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
}

#[test]
fn both_tables_of_the_embedding_have_their_gradients() {
    let (bench, width, alphabet) = (Bench::new(), 3, 4);
    // A character that is there several times, and one that is not.
    let text = bench.device.upload(&[0_u32, 2, 2, 0, 2, 1, 2, 0, 0, 1]).unwrap();
    let (characters, positions) = (numbers(1, alphabet * width), numbers(2, CONTEXT * width));
    let seed = numbers(3, ROWS * width);
    let forward = |characters: &[f32], positions: &[f32]| {
        let (characters, positions) = (bench.upload(characters), bench.upload(positions));
        let out = bench.run(seed.len(), |kernels, stream, out| {
            let (launch, context, width) =
                (Launch::linear(seed.len()), CONTEXT as u32, width as u32);
            kernels.embed(stream, launch, context, width, &text, &characters, &positions, out)
        });
        dot(&out, &seed)
    };
    let mut of_positions = bench.upload(&vec![7.0; BATCH * positions.len()]);
    let of_characters = bench.run(BATCH * characters.len(), |kernels, stream, out| {
        kernels.embed_backward(
            stream,
            Launch::linear(BATCH),
            &text,
            &bench.upload(&characters),
            &bench.upload(&positions),
            CONTEXT as u32,
            &bench.upload(&seed),
            out,
            &mut of_positions,
        )
    });
    let gradient = total(&of_characters, characters.len());
    check(&characters, &gradient, |characters| forward(characters, &positions));
    let gradient = total(&of_positions.download().unwrap(), positions.len());
    check(&positions, &gradient, |positions| forward(&characters, positions));
}

#[test]
fn the_norm_has_gradients_of_its_rows_and_of_its_gain() {
    let (bench, width) = (Bench::new(), 6);
    let (x, gain, seed) = (numbers(4, ROWS * width), numbers(5, width), numbers(6, ROWS * width));
    let forward = |x: &[f32], gain: &[f32]| {
        bench.run(x.len(), |kernels, stream, y| {
            let (x, gain) = (bench.upload(x), bench.upload(gain));
            kernels.norm(stream, Launch::linear(ROWS), width as u32, &x, &gain, y)
        })
    };
    let y = forward(&x, &gain);
    let [row, scaled] = [&x[..width], &y[..width]];
    let mean = dot(row, row) / width as f64;
    for i in 0..width {
        let expected = f64::from(row[i] * gain[i]) / (mean + 1e-5).sqrt();
        assert!((f64::from(scaled[i]) - expected).abs() < 1e-5, "{scaled:?}");
    }
    // What is added to.
    let before = numbers(7, x.len());
    let (mut d_x, mut d_y) = (bench.upload(&before), bench.upload(&seed));
    let mut written = bench.zeros(x.len());
    let of_gain = bench.run(BATCH * width, |kernels, stream, d_gain| {
        let (launch, x, gain) = (Launch::linear(BATCH), bench.upload(&x), bench.upload(&gain));
        let (y, d_y, d_x) = (&mut written, &mut d_y, &mut d_x);
        kernels.norm_backward(stream, launch, CONTEXT as u32, &x, &gain, y, d_y, d_x, d_gain)
    });
    assert_eq!(written.download().unwrap(), y);
    let d_x = d_x.download().unwrap();
    let added: Vec<f32> = d_x.iter().zip(&before).map(|(after, before)| after - before).collect();
    check(&x, &added, |x| dot(&forward(x, &gain), &seed));
    check(&gain, &total(&of_gain, width), |gain| dot(&forward(&x, gain), &seed));
}

#[test]
fn a_linear_layer_has_gradients_of_its_inputs_and_of_its_weights_in_groups_too() {
    let (bench, inputs, outputs) = (Bench::new(), 3, 4);
    for groups in [1, 2] {
        let [context, wide_inputs, wide_outputs] =
            [CONTEXT, inputs, outputs].map(|size| size as u32);
        let shape = Linear { context, inputs: wide_inputs, outputs: wide_outputs, groups };
        let (weights, x) = (numbers(8, inputs * outputs), numbers(9, ROWS * inputs));
        let seed = numbers(10, ROWS * outputs);
        let forward = |weights: &[f32], x: &[f32]| {
            bench.run(seed.len(), |kernels, stream, y| {
                let (launch, weights) = (Launch::linear(seed.len()), bench.upload(weights));
                kernels.linear(stream, launch, shape, &weights, &bench.upload(x), y)
            })
        };
        let added = bench.run(seed.len(), |kernels, stream, y| {
            let (launch, weights) = (Launch::linear(seed.len()), bench.upload(&weights));
            let (x, before) = (bench.upload(&x), bench.upload(&seed));
            kernels.linear_added(stream, launch, shape, &weights, &x, &before, y)
        });
        let plain = forward(&weights, &x);
        let sums: Vec<f32> = plain.iter().zip(&seed).map(|(y, before)| before + y).collect();
        assert_eq!(added, sums);

        let [w, d_y, rows] = [&weights, &seed, &x].map(|it| bench.upload(it));
        let of_weights = bench.run(BATCH * weights.len(), |kernels, stream, out| {
            let launch = Launch::linear(BATCH * outputs);
            kernels.linear_backward_weights(stream, launch, shape, &w, &rows, &d_y, out)
        });
        let gradient = total(&of_weights, weights.len());
        check(&weights, &gradient, |weights| dot(&forward(weights, &x), &seed));
        let of_x = bench.run(x.len(), |kernels, stream, out| {
            let launch = Launch::linear(ROWS);
            kernels.linear_backward_inputs(stream, launch, shape, &w, &rows, &d_y, out)
        });
        check(&x, &of_x, |x| dot(&forward(&weights, x), &seed));
    }
}

#[test]
fn the_outputs_of_a_group_lie_together() {
    let bench = Bench::new();
    let shape = Linear { context: CONTEXT as u32, inputs: 1, outputs: 4, groups: 2 };
    // Neuron `n` gives `n` times the number of the row, from 1.
    let rows: Vec<f32> = (1..=ROWS).map(|row| row as f32).collect();
    let y = bench.run(ROWS * 4, |kernels, stream, y| {
        let weights = bench.upload(&[0.0, 1.0, 2.0, 3.0]);
        let launch = Launch::linear(ROWS * 4);
        kernels.linear(stream, launch, shape, &weights, &bench.upload(&rows), y)
    });
    let expected = (0..BATCH).flat_map(|sequence| {
        (0..2).flat_map(move |group| {
            (0..CONTEXT).flat_map(move |position| {
                let row = (sequence * CONTEXT + position + 1) as f32;
                [2 * group, 2 * group + 1].map(|neuron| neuron as f32 * row)
            })
        })
    });
    assert_eq!(y, expected.collect::<Vec<_>>());
}

#[test]
fn the_activation_has_its_slope() {
    let (bench, x) = (Bench::new(), Random::new(11).numbers(40, 6.0));
    let seed = numbers(12, x.len());
    let launch = Launch::linear(x.len());
    let mut d = bench.upload(&seed);
    bench.kernels.silu_backward(&bench.stream, launch, &bench.upload(&x), &mut d).unwrap();
    check(&x, &d.download().unwrap(), |x| {
        let y = bench
            .run(x.len(), |kernels, stream, y| kernels.silu(stream, launch, &bench.upload(x), y));
        dot(&y, &seed)
    });
}

/// What each of two heads takes of the values of what came before.
fn attended(bench: &Bench, tokens: &[f32]) -> Vec<f32> {
    bench.run(ROWS * 2 * HEAD, |kernels, stream, out| {
        let launch = Launch::linear(ROWS * 2);
        kernels.attend(stream, launch, CONTEXT as u32, 2, &bench.upload(tokens), out)
    })
}

#[test]
fn attention_has_gradients_of_queries_keys_and_values() {
    let bench = Bench::new();
    let tokens = numbers(13, ROWS * 2 * 3 * HEAD);
    let seed = numbers(14, ROWS * 2 * HEAD);
    let gradient = bench.run(tokens.len(), |kernels, stream, out| {
        let (launch, d_out) = (Launch::linear(BATCH * 2), bench.upload(&seed));
        let tokens = bench.upload(&tokens);
        kernels.attend_backward(stream, launch, CONTEXT as u32, 2, &tokens, &d_out, out)
    });
    check(&tokens, &gradient, |tokens| dot(&attended(&bench, tokens), &seed));
}

#[test]
fn attention_is_a_softmax_of_products_and_takes_values_by_it() {
    let bench = Bench::new();
    let tokens = numbers(18, ROWS * 2 * 3 * HEAD);
    let found = attended(&bench, &tokens);
    for (place, found) in found.chunks(HEAD).enumerate() {
        let (row, head) = (place / 2, place % 2);
        let start = (row / CONTEXT * 2 + head) * CONTEXT * 3 * HEAD;
        let past: Vec<_> = tokens[start..].chunks(3 * HEAD).take(row % CONTEXT + 1).collect();
        let query = &past[past.len() - 1][..HEAD];
        let scores = past.iter().map(|it| dot(query, &it[HEAD..2 * HEAD]) / (HEAD as f64).sqrt());
        let shares: Vec<f64> = scores.map(f64::exp).collect();
        let sum: f64 = shares.iter().sum();
        for (i, found) in found.iter().enumerate() {
            let values = past.iter().map(|it| f64::from(it[2 * HEAD + i]));
            let expected =
                values.zip(&shares).map(|(value, share)| value * share / sum).sum::<f64>();
            assert!(
                (f64::from(*found) - expected).abs() < 1e-5,
                "{row} {head}: {found} {expected}"
            );
        }
    }
}

#[test]
fn attention_sees_nothing_of_what_comes_later() {
    let bench = Bench::new();
    let mut tokens = numbers(15, ROWS * 2 * 3 * HEAD);
    let before = attended(&bench, &tokens);
    // All of the last characters of the first head of the second sequence.
    let start = (2 * CONTEXT + 3) * 3 * HEAD;
    for number in &mut tokens[start..start + 2 * 3 * HEAD] {
        *number += 1.0;
    }
    let after = attended(&bench, &tokens);
    for (i, (before, after)) in before.iter().zip(&after).enumerate() {
        let (row, head) = (i / (2 * HEAD), i / HEAD % 2);
        assert_eq!(before != after, row >= CONTEXT + 3 && head == 0, "row {row}, head {head}");
    }
}

#[test]
fn the_loss_is_that_of_a_softmax_and_has_its_gradient() {
    let (bench, width) = (Bench::new(), 7);
    let logits = Random::new(16).numbers(ROWS * width, 3.0);
    let targets: Vec<u32> = (0..ROWS).map(|row| (row * 3 % width) as u32).collect();
    let on_device = bench.device.upload(&targets).unwrap();
    let forward = |logits: &[f32]| {
        bench.run(ROWS, |kernels, stream, losses| {
            let (launch, logits) = (Launch::linear(ROWS), bench.upload(logits));
            kernels.loss(stream, launch, width as u32, &logits, &on_device, losses)
        })
    };
    for ((row, target), loss) in logits.chunks(width).zip(&targets).zip(forward(&logits)) {
        let sum: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
        let expected = sum.ln() - f64::from(row[*target as usize]);
        assert!((f64::from(loss) - expected).abs() < 1e-5, "{loss} and {expected}");
    }
    let gradient = bench.run(logits.len(), |kernels, stream, out| {
        let (launch, logits) = (Launch::linear(ROWS), bench.upload(&logits));
        kernels.loss_backward(stream, launch, width as u32, &logits, &on_device, out)
    });
    let mean = [1.0 / ROWS as f32; ROWS];
    check(&logits, &gradient, |logits| dot(&forward(logits), &mean));
}

#[test]
fn adam_steps_as_it_is_written() {
    let (bench, parts) = (Bench::new(), numbers(17, BATCH * 3));
    let gradient = total(&parts, 3);
    let start = [0.5_f32, -0.25, 0.0];
    let (mut weights, mut mean, mut square) =
        (bench.upload(&start), bench.zeros(3), bench.zeros(3));
    let (mut expected, mut means, mut squares) = (start.map(f64::from), [0.0_f64; 3], [0.0_f64; 3]);
    for step in 1..=3 {
        let correction = |keep: f32| 1.0 / (1.0 - keep.powi(step));
        let settings = Adam {
            rate: 0.1,
            keep: 0.9,
            keep_square: 0.99,
            correction: correction(0.9),
            correction_square: correction(0.99),
        };
        let (parts, launch) = (bench.upload(&parts), Launch::linear(3));
        let (weights, mean, square) = (&mut weights, &mut mean, &mut square);
        bench.kernels.adam(&bench.stream, launch, settings, &parts, weights, mean, square).unwrap();
        for i in 0..3 {
            let gradient = f64::from(gradient[i]);
            means[i] = 0.9 * means[i] + 0.1 * gradient;
            squares[i] = 0.99 * squares[i] + 0.01 * gradient * gradient;
            let mean = means[i] / (1.0 - 0.9_f64.powi(step));
            let square = squares[i] / (1.0 - 0.99_f64.powi(step));
            expected[i] -= 0.1 * mean / (square.sqrt() + 1e-8);
        }
    }
    for (found, expected) in weights.download().unwrap().into_iter().zip(expected) {
        assert!((f64::from(found) - expected).abs() < 1e-5, "{found} and {expected}");
    }
}

const SMALL: Sizes =
    Sizes { alphabet: 5, context: CONTEXT, heads: 2, hidden: 8, layers: 2, batch: BATCH };

#[test]
fn the_whole_model_has_the_gradient_of_its_loss() {
    let device = Device::cpu().unwrap();
    let mut model = Model::new(&device, SMALL, 3).unwrap();
    let mut state = State::new(&device, SMALL).unwrap();
    let text: Vec<u32> = (0..ROWS).map(|i| (i * i % 5) as u32).collect();
    let targets: Vec<u32> = (0..ROWS).map(|i| (i * 3 % 5) as u32).collect();
    state.read(&text, &targets).unwrap();
    model.forward(&mut state).unwrap();
    model.backward(&mut state).unwrap();
    let count = model.weights.each().len();
    assert_eq!(count, 4 + 6 * SMALL.layers);
    for number in 0..count {
        let weights = &model.weights.each()[number];
        let (gradient, values) = (weights.gradient().unwrap(), weights.values.download().unwrap());
        let largest = gradient.iter().fold(0.0, |largest: f32, it| largest.max(it.abs()));
        assert!(largest > 1e-4, "weights {number} have no gradient");
        for i in (0..values.len()).step_by(values.len().div_ceil(9)) {
            let step = 2e-2;
            let mut loss = |by: f32| {
                let mut moved = values.clone();
                moved[i] += by;
                model.weights.each()[number].values.copy_from(&moved).unwrap();
                model.forward(&mut state).unwrap();
                state.loss().unwrap()
            };
            let expected = (loss(step) - loss(-step)) / (2.0 * step);
            loss(0.0);
            let differs = (gradient[i] - expected).abs() > 1e-4 + 1e-2 * largest;
            assert!(!differs, "weights {number}, {i}: {} and {expected}", gradient[i]);
        }
    }
}

#[test]
fn training_gives_the_same_losses_each_time() {
    let text = Text::load();
    let sizes = Sizes { alphabet: text.alphabet.len(), context: 8, ..SMALL };
    let losses = || {
        let mut training = Training::new(&Device::cpu().unwrap(), &text, sizes).unwrap();
        (0..20).map(|_| training.step(0.01).unwrap()).collect::<Vec<_>>()
    };
    let first = losses();
    assert_eq!(first, losses());
    assert!(first[19] < first[0] - 0.1, "{first:?}");
}
