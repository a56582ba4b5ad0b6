//! Inputs of the kernels, and what may differ between two that compute the same.

use anyhow::{Result, ensure};

/// An argument as both sides take it.
pub(super) enum Argument {
    /// The bytes of a value.
    Value(Vec<u8>),
    /// Elements in device memory: an address and a number.
    Slice { bytes: Vec<u8>, length: u64 },
}

/// What an output consists of.
#[derive(Clone, Copy)]
enum Output {
    /// Numbers of single precision, which may differ by rounding.
    Floats,
    /// Numbers that are the same.
    Integers,
    /// Pixels of four channels. One in a hundred of those of a fractal may differ by more than rounding.
    Pixels { outliers: bool },
}

/// A launch of a kernel.
pub(super) struct Case {
    pub(super) kernel: &'static str,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) arguments: Vec<Argument>,
    /// Which of the arguments the kernel writes.
    pub(super) output: usize,
    kind: Output,
}

impl Case {
    /// The threads of the launch.
    pub(super) fn threads(&self) -> u64 {
        self.grid.iter().chain(&self.block).map(|extent| u64::from(*extent)).product()
    }

    /// Compares what two sides have written.
    pub(super) fn compare(&self, ours: &[u8], theirs: &[u8]) -> Result<()> {
        let words = |bytes: &[u8]| bytes.as_chunks::<4>().0.to_vec();
        let (ours, theirs) = (words(ours), words(theirs));
        let pairs = || ours.iter().zip(&theirs);
        let wrong = match self.kind {
            Output::Integers => pairs().filter(|(a, b)| a != b).count(),
            Output::Floats => pairs().filter(|(a, b)| !is_near(**a, **b)).count(),
            Output::Pixels { outliers } => {
                let wrong = pairs().filter(|(a, b)| !is_same_colour(**a, **b)).count();
                let allowed = if outliers { ours.len() / 100 } else { 0 };
                wrong.saturating_sub(allowed)
            }
        };
        ensure!(wrong == 0, "{}: {wrong} of {} elements differ", self.kernel, ours.len());
        Ok(())
    }
}

fn is_near(a: [u8; 4], b: [u8; 4]) -> bool {
    let (a, b) = (f32::from_le_bytes(a), f32::from_le_bytes(b));
    (a - b).abs() <= 1e-5 + 1e-4 * b.abs()
}

fn is_same_colour(a: [u8; 4], b: [u8; 4]) -> bool {
    a.iter().zip(&b).all(|(a, b)| a.abs_diff(*b) <= 1)
}

/// The launch of a kernel.
pub(super) fn case(kernel: &str) -> Option<Case> {
    Some(match kernel {
        "saxpy" => saxpy(),
        "mandelbrot" => mandelbrot(),
        "blur_rows" => picture("blur_rows", [128, 1], true),
        "blur_columns" => picture("blur_columns", [16, 16], true),
        "sobel" => picture("sobel", [16, 16], false),
        "reduce" => reduce(),
        "matmul" => matmul(),
        "accelerate" => accelerate(),
        "histogram" => histogram(),
        "transpose" => transpose(),
        _ => return None,
    })
}

fn saxpy() -> Case {
    let length = 10_003_u32;
    Case {
        kernel: "saxpy",
        grid: [length.div_ceil(256), 1, 1],
        block: [256, 1, 1],
        arguments: vec![
            value(0.75_f32.to_le_bytes()),
            floats(1, length as usize),
            floats(2, length as usize),
        ],
        output: 2,
        kind: Output::Floats,
    }
}

fn mandelbrot() -> Case {
    let (width, height) = (67_u32, 41_u32);
    let view = [(-2.2_f32).to_bits(), (-0.8_f32).to_bits(), (1.6 / width as f32).to_bits(), 2, 50];
    let view = view.iter().flat_map(|word| word.to_le_bytes()).collect();
    Case {
        kernel: "mandelbrot",
        grid: [width.div_ceil(16), height.div_ceil(16), 1],
        block: [16, 16, 1],
        arguments: vec![value(width.to_le_bytes()), Argument::Value(view), zeros(width * height)],
        output: 2,
        kind: Output::Pixels { outliers: true },
    }
}

/// A filter of a picture whose sides are no multiples of a block's.
fn picture(kernel: &'static str, [x, y]: [u32; 2], has_weights: bool) -> Case {
    let (width, height) = (211_u32, 37_u32);
    let pixels = numbers(3, (width * height) as usize);
    let pixels: Vec<u32> = pixels.map(|it| 0xff00_0000 | it.to_bits() >> 4).collect();
    let bell = |distance: i32| (-0.03 * (distance * distance) as f32).exp();
    let total: f32 = (-12..=12).map(bell).sum();
    let weights: Vec<u32> = (0..=12).map(|distance| (bell(distance) / total).to_bits()).collect();
    let mut arguments = vec![value(width.to_le_bytes())];
    if has_weights {
        arguments.push(words(&weights));
    }
    arguments.extend([words(&pixels), zeros(width * height)]);
    Case {
        kernel,
        grid: [width.div_ceil(x), height.div_ceil(y), 1],
        block: [x, y, 1],
        output: arguments.len() - 1,
        arguments,
        kind: Output::Pixels { outliers: false },
    }
}

fn reduce() -> Case {
    let blocks = 8;
    Case {
        kernel: "reduce",
        grid: [blocks, 1, 1],
        block: [256, 1, 1],
        arguments: vec![floats(4, 50_001), zeros(blocks)],
        output: 1,
        kind: Output::Floats,
    }
}

fn matmul() -> Case {
    let (m, k, n) = (50_u32, 70_u32, 43_u32);
    Case {
        kernel: "matmul",
        grid: [n.div_ceil(16), m.div_ceil(16), 1],
        block: [16, 16, 1],
        arguments: vec![
            value(n.to_le_bytes()),
            value(k.to_le_bytes()),
            floats(5, (m * k) as usize),
            floats(6, (k * n) as usize),
            zeros(m * n),
        ],
        output: 4,
        kind: Output::Floats,
    }
}

fn accelerate() -> Case {
    let bodies = 600_u32;
    let (places, speeds) = (numbers(7, 4 * bodies as usize), numbers(8, 3 * bodies as usize));
    Case {
        kernel: "accelerate",
        grid: [bodies.div_ceil(256), 1, 1],
        block: [256, 1, 1],
        arguments: vec![
            value(0.01_f32.to_le_bytes()),
            value(0.05_f32.to_le_bytes()),
            elements(places.map(f32::to_bits), bodies),
            elements(speeds.map(f32::to_bits), bodies),
        ],
        output: 3,
        kind: Output::Floats,
    }
}

fn histogram() -> Case {
    let values: Vec<u32> = numbers(9, 10_003).map(f32::to_bits).collect();
    Case {
        kernel: "histogram",
        grid: [(values.len() as u32).div_ceil(256), 1, 1],
        block: [256, 1, 1],
        arguments: vec![words(&values), zeros(64)],
        output: 1,
        kind: Output::Integers,
    }
}

fn transpose() -> Case {
    let (columns, rows) = (96_u32, 64_u32);
    Case {
        kernel: "transpose",
        grid: [columns / 16, rows / 16, 1],
        block: [16, 16, 1],
        arguments: vec![
            value(columns.to_le_bytes()),
            floats(10, (columns * rows) as usize),
            zeros(columns * rows),
        ],
        output: 2,
        kind: Output::Integers,
    }
}

fn value(bytes: [u8; 4]) -> Argument {
    Argument::Value(bytes.to_vec())
}

/// Elements of several words each.
fn elements(words: impl Iterator<Item = u32>, length: u32) -> Argument {
    Argument::Slice { bytes: words.flat_map(u32::to_le_bytes).collect(), length: length.into() }
}

fn words(words: &[u32]) -> Argument {
    elements(words.iter().copied(), words.len() as u32)
}

fn zeros(length: u32) -> Argument {
    Argument::Slice { bytes: vec![0; 4 * length as usize], length: length.into() }
}

fn floats(seed: u32, length: usize) -> Argument {
    elements(numbers(seed, length).map(f32::to_bits), length as u32)
}

/// Numbers between -1 and 1 that look random and are the same each time.
fn numbers(seed: u32, count: usize) -> impl Iterator<Item = f32> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::code::KERNELS;

    #[test]
    fn every_kernel_that_is_compared_has_inputs() {
        for (kernel, _) in KERNELS {
            let case = case(kernel).unwrap();
            let output = &case.arguments[case.output];
            assert!(case.kernel == kernel && matches!(output, Argument::Slice { .. }), "{kernel}");
        }
    }

    /// A comparison that passes everything would make every count worthless.
    #[test]
    fn what_differs_by_more_than_rounding_is_refused() {
        let bytes =
            |values: &[f32]| values.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
        let case = saxpy();
        assert!(case.compare(&bytes(&[1.0, 2.0]), &bytes(&[1.0, 2.0001])).is_ok());
        assert!(case.compare(&bytes(&[1.0, 2.0]), &bytes(&[1.0, 2.001])).is_err());
        let (case, pixel) = (picture("sobel", [16, 16], false), [10, 20, 30, 255]);
        assert!(case.compare(&pixel, &[10, 21, 30, 255]).is_ok());
        assert!(case.compare(&pixel, &[10, 22, 30, 255]).is_err());
        assert!(histogram().compare(&[1, 0, 0, 0], &[2, 0, 0, 0]).is_err());
    }
}
