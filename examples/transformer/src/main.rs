//! Trains a small transformer on the device, character by character, draws its loss, and lets it write.
//!
//! `transformer [--steps N] [--batch N] [--sample N] [loss.svg]`

mod kernels;
mod model;
mod random;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use kernelmill::{Backend, Device};
use model::{Model, Sizes, State};
use random::Random;
use std::{error::Error, time::Instant};
use text::Text;

/// What weights, batches and samples are made of.
const SEED: u64 = 2;
/// How far a weight goes in a step of Adam.
const RATE: f32 = 0.01;
/// After how many sequences the model has to know more than how frequent each character is.
const ENOUGH: usize = 1600;
/// How many steps are done on the CPU too, where the device is another.
const COMPARED: usize = 3;
/// By how much the losses of these may differ.
const TOLERANCE: f32 = 1e-4;

/// What the command line asks for.
struct Options {
    steps: usize,
    batch: usize,
    sample: usize,
    chart: String,
}

impl Options {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut options = Self { steps: 600, batch: 16, sample: 240, chart: "loss.svg".to_owned() };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let number = match &*argument {
                "--steps" => &mut options.steps,
                "--batch" => &mut options.batch,
                "--sample" => &mut options.sample,
                _ if argument.starts_with('-') => {
                    return Err(
                        "transformer [--steps N] [--batch N] [--sample N] [loss.svg]".into()
                    );
                }
                _ => {
                    options.chart = argument;
                    continue;
                }
            };
            let value = arguments.next().ok_or_else(|| format!("{argument} of what?"))?;
            *number = value.parse().map_err(|error| format!("{argument} {value}: {error}"))?;
        }
        if options.steps == 0 || options.batch == 0 {
            return Err("no steps, or batches of nothing".into());
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let (device, text) = (Device::best()?, Text::load());
    let (alphabet, batch) = (text.alphabet.len(), options.batch);
    let sizes = Sizes { alphabet, context: 32, heads: 2, hidden: 64, layers: 2, batch };
    let (chance, frequencies) = (text.loss_of_alphabet(), text.loss_of_frequencies());
    let mut training = Training::new(&device, &text, sizes)?;
    println!(
        "transformer: {} weights, {} characters of {alphabet}, on {}",
        training.model.len(),
        text.characters.len(),
        device.name()
    );
    println!("transformer: loss {chance:.3} by chance, {frequencies:.3} by frequencies");
    let start = Instant::now();
    let mut losses = Vec::new();
    for step in 1..=options.steps {
        // The steps get smaller towards the end.
        let done = step as f32 / options.steps as f32;
        losses.push(training.step(RATE * (1.0 - 0.9 * done))?);
        if step % options.steps.div_ceil(10) == 0 || step == 1 || step == options.steps {
            println!("transformer: step {step}, loss {:.3}", losses[step - 1]);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("transformer: {:.1} ms a step", 1e3 * seconds / options.steps as f64);
    if device.backend() != Backend::Cpu {
        compare(&text, sizes, &losses, options.steps)?;
    }
    let last = &losses[losses.len() - losses.len().div_ceil(20)..];
    let last = last.iter().sum::<f32>() / last.len() as f32;
    let is_short = options.steps * options.batch < ENOUGH;
    // A few steps shall make nothing worse.
    let bound = if is_short { losses[0] + 0.05 } else { 0.75 * frequencies };
    if last.is_nan() || last >= bound {
        return Err(format!("transformer: loss {last} at the end, not below {bound}").into());
    }
    let lines = [(chance, "chance"), (frequencies, "frequencies of characters")];
    std::fs::write(&options.chart, svg::chart(&losses, &lines))?;
    println!("transformer: loss {last:.3} at the end; {} shows it", options.chart);
    if options.sample > 0 {
        println!(
            "transformer: it writes\n{}",
            sample(&device, &text, &training.model, options.sample)?
        );
    }
    Ok(())
}

/// A model that learns.
struct Training<'t> {
    text: &'t Text,
    sizes: Sizes,
    random: Random,
    model: Model,
    state: State,
}

impl<'t> Training<'t> {
    fn new(device: &Device, text: &'t Text, sizes: Sizes) -> kernelmill::Result<Self> {
        let (model, state) = (Model::new(device, sizes, SEED)?, State::new(device, sizes)?);
        Ok(Self { text, sizes, random: Random::new(SEED), model, state })
    }

    /// The loss of a batch, after which the weights get better.
    fn step(&mut self, rate: f32) -> kernelmill::Result<f32> {
        let Sizes { batch, context, .. } = self.sizes;
        let (text, targets) = self.text.batch(&mut self.random, batch, context);
        self.state.read(&text, &targets)?;
        self.model.forward(&mut self.state)?;
        self.model.backward(&mut self.state)?;
        self.model.descend(rate)?;
        self.state.loss()
    }
}

/// The first steps on the CPU have these losses too.
fn compare(text: &Text, sizes: Sizes, losses: &[f32], steps: usize) -> Result<(), Box<dyn Error>> {
    let mut training = Training::new(&Device::cpu()?, text, sizes)?;
    let compared = losses.len().min(COMPARED);
    for (step, found) in losses[..compared].iter().enumerate() {
        let done = (step + 1) as f32 / steps as f32;
        let expected = training.step(RATE * (1.0 - 0.9 * done))?;
        let difference = (found - expected).abs();
        if difference.is_nan() || difference > TOLERANCE {
            return Err(format!("transformer: loss {found} and on the CPU {expected}").into());
        }
    }
    println!("transformer: the first {compared} steps are as on the CPU");
    Ok(())
}

/// What the model writes after a full stop.
fn sample(device: &Device, text: &Text, model: &Model, count: usize) -> kernelmill::Result<String> {
    let mut random = Random::new(SEED);
    let sizes = Sizes { batch: 1, ..model.sizes() };
    let mut state = State::new(device, sizes)?;
    let stop = text.alphabet.iter().position(|it| *it == '\n').unwrap_or_default() as u32;
    let mut written = vec![stop];
    for _ in 0..count {
        let window = &written[written.len().saturating_sub(sizes.context)..];
        let mut padded = window.to_vec();
        padded.resize(sizes.context, stop);
        state.read(&padded, &vec![0; sizes.context])?;
        model.forward(&mut state)?;
        let logits = state.logits(window.len() - 1)?;
        let most = logits.iter().copied().fold(f32::MIN, f32::max);
        // Probable characters are preferred a little.
        let shares: Vec<f32> = logits.iter().map(|it| ((it - most) / 0.7).exp()).collect();
        let mut left = random.unit() * shares.iter().sum::<f32>();
        let chosen = shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        written.push(chosen.unwrap_or(shares.len() - 1) as u32);
    }
    Ok(written[1..].iter().map(|it| text.alphabet[*it as usize]).collect())
}
