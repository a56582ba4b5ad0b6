//! Gradients of many functions, in both modes, against finite differences in `f64`; those in `f32`
//! against the ones in `f64`; and some against derivatives found by hand.

mod call;
mod cases;
#[path = "../common/mod.rs"]
mod common;
mod derivatives;
mod parameter;
mod targets;

use cases::CASES;
use common::random::Random;
use derivatives::{derivatives, loaded};
use parameter::Width;

/// The points at which each function is tried.
const POINTS: usize = 200;

/// Which parameters' derivatives are checked at one point: all, or six of many.
fn parts(random: &mut Random, count: usize) -> Vec<usize> {
    if count <= 6 {
        return (0..count).collect();
    }
    (0..6).map(|_| random.next() as usize % count).collect()
}

/// A derivative by five-point differences; `None` where a kink is near.
fn difference(loss: impl Fn(f64) -> f64) -> Option<f64> {
    let at = |h: f64| (8.0 * (loss(h) - loss(-h)) - (loss(2.0 * h) - loss(-2.0 * h))) / (12.0 * h);
    let (coarse, fine) = (at(1e-3), at(5e-4));
    ((coarse - fine).abs() <= 2e-7 * fine.abs().max(1e-3)).then_some(fine)
}

#[test]
fn gradients_agree_with_finite_differences_in_f64_and_those_in_f32_with_them() {
    let (wide, wide_symbols) = derivatives(Width::F64);
    let (narrow, narrow_symbols) = derivatives(Width::F32);
    let mut wrong = Vec::new();
    for ((case, wide_symbols), narrow_symbols) in
        CASES.iter().zip(&wide_symbols).zip(&narrow_symbols)
    {
        let f64s = loaded(&wide, case, wide_symbols, Width::F64);
        let f32s = loaded(&narrow, case, narrow_symbols, Width::F32);
        let (mut worst, mut worst_forward, mut worst_by_hand) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut worst_narrow, mut compared, mut skipped) = (0.0_f64, 0, 0);
        let mut random = Random::new(case.name);
        for _ in 0..POINTS {
            let mut x = Vec::new();
            for parameter in case.parameters {
                let (count, low, high) = parameter.range();
                x.extend((0..count).map(|_| f64::from(random.between(low, high) as f32)));
            }
            let weights: Vec<f64> = (0..64).map(|_| random.between(0.5, 1.5)).collect();
            let gradient = f64s.reverse(case, Width::F64, &x, &weights);
            let scale = gradient.iter().fold(1e-2_f64, |scale, part| scale.max(part.abs()));
            for index in parts(&mut random, x.len()) {
                let loss = |h: f64| {
                    let mut moved = x.clone();
                    moved[index] += h;
                    f64s.loss(case, Width::F64, &moved, &weights)
                };
                let Some(expected) = difference(loss) else {
                    skipped += 1;
                    continue;
                };
                compared += 1;
                let error = (gradient[index] - expected).abs() / expected.abs().max(scale * 1e-2);
                worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
            }
            if let Some(by_hand) = case.by_hand {
                for (found, expected) in gradient.iter().zip(by_hand(&x)) {
                    let expected = expected * weights[0];
                    let error = (found - expected).abs() / expected.abs().max(1e-3);
                    worst_by_hand =
                        worst_by_hand.max(if error.is_nan() { f64::INFINITY } else { error });
                }
            }
            // Forward mode in a random direction is the gradient in that direction.
            let direction: Vec<f64> = x.iter().map(|_| random.between(-1.0, 1.0)).collect();
            let forward = f64s.forward(case, Width::F64, &x, &direction, &weights);
            let terms: Vec<f64> = gradient.iter().zip(&direction).map(|(a, b)| a * b).collect();
            let size = terms.iter().map(|term| term.abs()).sum::<f64>().max(1e-3);
            let error = (forward - terms.iter().sum::<f64>()).abs() / size;
            worst_forward = worst_forward.max(if error.is_nan() { f64::INFINITY } else { error });

            let narrow = f32s.reverse(case, Width::F32, &x, &weights);
            for (found, expected) in narrow.iter().zip(&gradient) {
                let error = (found - expected).abs() / expected.abs().max(scale);
                worst_narrow = worst_narrow.max(if error.is_nan() { f64::INFINITY } else { error });
            }
        }
        println!(
            "{:24} f64 {worst:.1e}  by hand {worst_by_hand:.1e}  forward {worst_forward:.1e}  f32 \
             {worst_narrow:.1e}  compared {compared}, near kinks {skipped}",
            case.name
        );
        let worst = worst.max(worst_forward).max(worst_by_hand);
        if worst > 1e-6 || worst_narrow > 1e-3 || compared < 5 * skipped {
            wrong.push(case.name);
        }
    }
    assert!(wrong.is_empty(), "wrong gradients: {wrong:?}");
    let names: std::collections::BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
    assert!(names.len() >= 40, "{}", names.len());
}
