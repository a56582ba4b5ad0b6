//! Half precision in a kernel file that has no dependencies, against the crate `half`.

use crate::{checks::On, kernels::Halves};
use half::{bf16, f16};
use kernelmill::{Launch, Result};

/// The bits of half precision from a number of its own for each thread.
fn spread(i: u16) -> u16 {
    i.wrapping_mul(40_503) ^ i >> 3
}

const LENGTH: u16 = 2000;

pub(crate) fn halves(on: &On<'_>) -> Result<()> {
    let x: Vec<f16> = (0..LENGTH).map(|i| f16::from_bits(spread(i))).collect();
    let by = Halves { half: f16::from_f32(0.7), brain: bf16::from_f32(-9.5) };
    let zero = Halves { half: f16::ZERO, brain: bf16::ZERO };
    let input = on.device.upload(&x)?;
    let mut output = on.device.upload(&vec![zero; x.len()])?;
    on.kernels.halves(&on.stream, Launch::linear(x.len()), by, &input, &mut output)?;
    for (x, found) in x.into_iter().zip(output.download()?) {
        let half = (x * by.half).max(-x) + f16::ONE;
        let brain = bf16::from_f32(x.to_f32()) - by.brain / bf16::from_f32(3.0);
        assert!(is_same(found.half, half), "{x}: {} instead of {half}", found.half);
        assert!(is_same(found.brain, brain), "{x}: {} instead of {brain}", found.brain);
    }
    Ok(())
}

fn is_same<T: PartialEq>(found: T, expected: T) -> bool {
    // One that is no number differs from itself.
    #[expect(clippy::eq_op, reason = "NaN")]
    let both_nan = found != found && expected != expected;
    both_nan || found == expected
}

pub(crate) fn narrowed(on: &On<'_>) -> Result<()> {
    // Beside the middle between two numbers, by less than an `f32` shows.
    let step = 2f64.powi(-40);
    let number = |i: u16| {
        f16::from_bits(spread(i)).to_f64()
            * (1.0 + 2f64.powi(-11))
            * (1.0 + f64::from(i % 3) * step - step)
    };
    let mut x: Vec<f64> = (0..LENGTH).map(number).filter(|x| x.is_finite()).collect();
    x.extend([0.0, -0.0, 1e-9, 65_519.99, 65_520.0, 1e30, -1e-42, f64::INFINITY, f64::NAN]);
    let input = on.device.upload(&x)?;
    let mut output = on.device.zeros::<[f32; 4]>(x.len())?;
    on.kernels.narrowed(&on.stream, Launch::linear(x.len()), &input, &mut output)?;
    for (x, found) in x.into_iter().zip(output.download()?) {
        let single = x as f32;
        let expected = [
            f16::from_f64(x).to_f32(),
            f16::from_f32(single).to_f32(),
            bf16::from_f64(x).to_f32(),
            bf16::from_f32(single).to_f32(),
        ];
        let same = found.iter().zip(&expected).all(|(found, expected)| is_same(found, expected));
        assert!(same, "{x}: {found:?} instead of {expected:?}");
    }
    Ok(())
}
