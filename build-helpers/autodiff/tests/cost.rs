//! Derivatives of real kernels in both modes: they agree with each other, and `--nocapture` prints what
//! they cost, in times of the kernels themselves. Times are not asserted: they are the machine's.

mod common;

use std::time::Instant;

use common::{
    module_of,
    native::{Entry, Native, add_entry},
};
use kernelmill_autodiff::{Activity, Mode, Request, Rules, Session, Tape};
use kernelmill_llvm::inkwell::context::Context;

const SOURCE: &str = include_str!("functions/gradients.rs");

/// Seconds of one run: the shortest of many, in turns with the others so that all meet the same
/// machine.
fn shortest<const N: usize>(mut runs: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    for _ in 0..30 {
        for (run, best) in runs.iter_mut().zip(&mut best) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

struct Loaded {
    native: Native,
    symbols: Vec<String>,
}

impl Loaded {
    fn entry(&self, index: usize) -> Entry {
        self.native.entry(&self.symbols[index])
    }
}

/// A function, its forward derivative and its reverse one.
fn load(function: &str, forward: &[Activity], reverse: &[Activity]) -> Loaded {
    let machine = common::machine();
    let context = Context::create();
    let module = module_of(&context, &machine, &format!("cost_{function}.rs"), SOURCE);
    let rules = Rules::default();
    let mut symbols = vec![function.to_owned()];
    {
        let session = Session::new(&context, &module, &machine, &rules);
        for (mode, activities) in [(Mode::Forward, forward), (Mode::Reverse, reverse)] {
            let mut request = Request::new(function, mode, activities);
            request.distinct_pointers = true;
            let derivative = session.differentiate(&request).unwrap();
            assert_eq!(derivative.tape, Tape::Registers);
            symbols.push(derivative.symbol);
        }
    }
    for symbol in &symbols {
        add_entry(&context, &module, symbol);
    }
    let native = Native::load(&context, &machine, &module, &format!("cost_{function}"));
    Loaded { native, symbols }
}

/// Prints what the derivatives cost, in times of the function.
fn report(name: &str, [primal, forward, reverse]: [f64; 3]) {
    let (forward, reverse) = (forward / primal, reverse / primal);
    println!("{name}: forward {forward:.2}, reverse {reverse:.2} times the function");
}

/// Calls an entry with these cells.
fn run(entry: Entry, cells: &[u64]) {
    let mut results = [0_u64; 8];
    // SAFETY: the cells are those of the function's parameters, and what they point to is alive.
    unsafe { entry(cells.as_ptr(), results.as_mut_ptr()) };
}

#[test]
fn derivatives_of_option_prices_agree_in_both_modes() {
    use Activity::{Constant, Duplicated};
    const N: usize = 4096;
    let activities = [Duplicated, Constant, Duplicated, Constant];
    let loaded = load("prices_f64", &activities, &activities);
    let (price, tangent, gradient) = (loaded.entry(0), loaded.entry(1), loaded.entry(2));
    let option = |i: usize| {
        let t = i as f64 / N as f64;
        [80.0 + 40.0 * t, 100.0, 0.5 + t, 0.02, 0.2 + 0.1 * (7.0 * t).sin()]
    };
    let options: Vec<f64> = (0..N).flat_map(option).collect();
    let direction: Vec<f64> = (0..5 * N).map(|i| ((i * 31 % 17) as f64) * 0.1 - 0.8).collect();
    let (mut prices, mut changes, mut gradients) =
        (vec![0.0; N], vec![0.0; N], vec![0.0_f64; 5 * N]);
    let (mut forward_out, mut reverse_out) = (vec![0.0; N], vec![0.0; N]);
    let mut seeds = vec![1.0_f64; N];
    let address = |slice: &[f64]| slice.as_ptr() as u64;
    let (count, length) = (N as u64, 5 * N as u64);
    let reverse = |gradients: &mut [f64], out: &mut [f64], seeds: &mut [f64]| {
        let of_options = gradients.as_mut_ptr() as u64;
        let out = [out.as_mut_ptr() as u64, seeds.as_mut_ptr() as u64];
        run(gradient, &[address(&options), of_options, length, out[0], out[1], count]);
    };
    let times = shortest([
        &mut || run(price, &[address(&options), length, prices.as_mut_ptr() as u64, count]),
        &mut || {
            let out = [forward_out.as_mut_ptr() as u64, changes.as_mut_ptr() as u64];
            run(tangent, &[address(&options), address(&direction), length, out[0], out[1], count]);
        },
        // Gradients add up over the runs, and seeds are 0 after the first.
        &mut || reverse(&mut gradients, &mut reverse_out, &mut seeds),
    ]);
    gradients.fill(0.0);
    seeds.fill(1.0);
    reverse(&mut gradients, &mut reverse_out, &mut seeds);
    assert_eq!((&prices, &prices), (&forward_out, &reverse_out));
    for ((gradient, direction), change) in
        gradients.chunks(5).zip(direction.chunks(5)).zip(&changes)
    {
        let sum: f64 = gradient.iter().zip(direction).map(|(g, d)| g * d).sum();
        assert!((sum - change).abs() < 1e-9 * sum.abs().max(1.0), "{sum} {change}");
    }
    // Deltas against differences of prices; the approximation of the normal distribution has a kink.
    let mut moved = options.clone();
    moved.iter_mut().step_by(5).for_each(|s| *s += 1e-3);
    let mut higher = vec![0.0; N];
    run(price, &[address(&moved), length, higher.as_mut_ptr() as u64, count]);
    let slopes = higher.iter().zip(&prices).map(|(high, low)| (high - low) / 1e-3);
    let far = slopes.zip(gradients.chunks(5)).filter(|(slope, g)| (slope - g[0]).abs() > 1e-4);
    assert!(far.count() <= 2);
    report("black_scholes", times);
}

#[test]
fn derivatives_of_gravity_agree_in_both_modes() {
    use Activity::{Constant, Duplicated};
    const N: usize = 2048;
    let activities = [Duplicated, Constant, Duplicated, Duplicated];
    let loaded = load("gravity_f32", &activities, &activities);
    let (force, tangent, gradient) = (loaded.entry(0), loaded.entry(1), loaded.entry(2));
    let bodies: Vec<f32> = (0..4 * N).map(|i| ((i * 7919 % 1000) as f32) * 2e-3 - 1.0).collect();
    let of = [0.1_f32, 0.2, -0.3];
    let direction: Vec<f32> = (0..4 * N).map(|i| ((i * 31 % 17) as f32) * 0.1 - 0.8).collect();
    let (mut out, mut change) = ([0.0_f32; 3], [0.0_f32; 3]);
    let (mut of_bodies, mut of_place) = (vec![0.0_f32; 4 * N], [0.0_f32; 3]);
    let (mut forward_out, mut reverse_out) = ([0.0_f32; 3], [0.0_f32; 3]);
    let seed = [1.0_f32, -0.5, 0.25];
    let mut shadow = seed;
    let zero = [0.0_f32; 3];
    let length = (4 * N) as u64;
    let address = |slice: &[f32]| slice.as_ptr() as u64;
    let reverse = |bodies_of: &mut [f32], place: &mut [f32], out: &mut [f32], seeds: &mut [f32]| {
        let cells = [
            address(&bodies),
            bodies_of.as_mut_ptr() as u64,
            length,
            address(&of),
            place.as_mut_ptr() as u64,
            out.as_mut_ptr() as u64,
            seeds.as_mut_ptr() as u64,
        ];
        run(gradient, &cells);
    };
    let times = shortest([
        &mut || run(force, &[address(&bodies), length, address(&of), out.as_mut_ptr() as u64]),
        &mut || {
            let cells = [
                address(&bodies),
                address(&direction),
                length,
                address(&of),
                address(&zero),
                forward_out.as_mut_ptr() as u64,
                change.as_mut_ptr() as u64,
            ];
            run(tangent, &cells);
        },
        &mut || reverse(&mut of_bodies, &mut of_place, &mut reverse_out, &mut shadow),
    ]);
    (of_place, shadow) = (zero, seed);
    of_bodies.fill(0.0);
    reverse(&mut of_bodies, &mut of_place, &mut reverse_out, &mut shadow);
    let forward: f32 = change.iter().zip(seed).map(|(change, seed)| change * seed).sum();
    let reverse: f32 = of_bodies.iter().zip(&direction).map(|(g, d)| g * d).sum();
    assert!((forward - reverse).abs() < 1e-3 * forward.abs(), "{forward} {reverse}");
    for same in [forward_out, reverse_out] {
        assert!(
            out.iter().zip(same).all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs()),
            "{out:?} {same:?}"
        );
    }
    assert_eq!(shadow, zero, "what was overwritten has no gradient left");
    report("gravity", times);
}
