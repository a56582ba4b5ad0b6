//! Real kernels, from nvcc and from rustc, in several orders, whole and with barriers deleted.

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::{CASES, Case};
use common::{Argument, Bench};
use ptx_emulator::{
    FaultKind, Launch, Mutation, Options, Order, Properties, explore, explore_with,
};

fn orders() -> Vec<Options> {
    let random = (0..4).map(Order::Random);
    let orders = [Order::Forward, Order::Reverse].into_iter().chain(random);
    let checked = |order| Options {
        order,
        detect_races: true,
        step_budget: Some(50_000_000),
        ..Options::default()
    };
    orders.map(checked).collect()
}

#[test]
fn every_kernel_is_right_in_every_order() {
    for case in CASES {
        for options in orders() {
            let result = (case.check)(case.text, &options);
            assert_eq!(result, Ok(()), "{} in {:?}", case.name, options.order);
        }
    }
}

#[test]
fn blocks_on_several_cores_give_the_same() {
    for case in CASES {
        let options = Options { threads: 4, ..Options::default() };
        assert_eq!((case.check)(case.text, &options), Ok(()), "{}", case.name);
    }
}

/// The text without the barrier that stands in one line.
fn without_line(text: &str, deleted: usize) -> String {
    Mutation::DeletedBarrier.apply(text, deleted).expect("a barrier in that line")
}

/// The lines of barriers, from 1.
fn barriers(case: &Case) -> Vec<usize> {
    let lines = 1..=case.text.lines().count();
    lines.filter(|&line| Mutation::DeletedBarrier.apply(case.text, line).is_some()).collect()
}

/// In kernels that check the length of a slice first, some barriers stand in code that never runs.
fn runs(case: &Case, line: usize) -> bool {
    let trapped: Vec<String> = case
        .text
        .lines()
        .enumerate()
        .map(|(at, text)| if at + 1 == line { "trap;".to_string() } else { text.to_string() })
        .collect();
    (case.check)(&trapped.join("\n"), &Options::default()).is_err()
}

/// A barrier that nothing needs. After the last step of an unrolled tree, thread 0 reads what it
/// wrote itself.
fn is_needless(case: &Case, number: usize, count: usize) -> bool {
    case.name == "rust_reduce" && number + 1 == count
}

#[test]
fn every_deleted_barrier_is_caught() {
    let (mut kernels, mut deleted) = (0, 0);
    for case in CASES {
        let places = barriers(case);
        let mut here = 0;
        for (number, &place) in places.iter().enumerate() {
            if !runs(case, place) || is_needless(case, number, places.len()) {
                continue;
            }
            let text = without_line(case.text, place);
            for options in orders() {
                let result = (case.check)(&text, &options);
                assert!(result.is_err(), "{} line {} {:?}", case.name, place, options.order);
            }
            here += 1;
        }
        kernels += usize::from(here > 0);
        deleted += here;
    }
    assert!(kernels >= 8 && deleted >= 15, "{deleted} barriers in {kernels} kernels");
}

#[test]
fn exploring_finds_a_seed_without_the_race_detector() {
    let case = CASES.iter().find(|case| case.name == "block_sum").unwrap();
    let place = barriers(case)[0];
    let text = without_line(case.text, place);
    let plain = Options { poison: false, ..Options::default() };
    let found = explore_with(&plain, 0..50, |options| (case.check)(&text, options));
    let (seed, _) = found.unwrap_err();
    let again = Options { order: Order::Random(seed), ..plain };
    assert!((case.check)(&text, &again).is_err());
}

#[test]
fn exploring_launches_gives_the_seed_and_its_fault() {
    let text = without_line(cases_text("block_sum"), {
        let case = CASES.iter().find(|case| case.name == "block_sum").unwrap();
        barriers(case)[0]
    });
    let bench = Bench::new(&text);
    let input = bench.buffer(&[1f32; 256]).to_le_bytes();
    let out = bench.buffer(&[0f32]).to_le_bytes();
    let count = 256u32.to_le_bytes();
    let arguments: [&[u8]; 3] = [&input, &out, &count];
    let launch = Launch { block: [256, 1, 1], arguments: &arguments, ..Launch::default() };
    let options = Options::default();
    let failure =
        explore(&bench.device, &bench.loaded, "block_sum", &launch, &options, 0..50).unwrap_err();
    assert!(matches!(failure.fault.kind, FaultKind::UninitializedShared { .. }), "{failure}");
}

fn cases_text(name: &str) -> &'static str {
    CASES.iter().find(|case| case.name == name).map_or("", |case| case.text)
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    let bench = Bench::new(include_str!("ptx/grid_sync.ptx"));
    for order in [Order::Forward, Order::Reverse, Order::Random(3)] {
        let data = bench.buffer(&[0u32; 256]);
        let bytes = data.to_le_bytes();
        let launch = Launch {
            grid: [4, 1, 1],
            block: [64, 1, 1],
            arguments: &[&bytes],
            cooperative: true,
            ..Launch::default()
        };
        let options = Options { order, detect_races: true, ..Options::default() };
        bench.device.launch(&bench.loaded, "grid_sync", &launch, &options).unwrap();
        let expected: Vec<u32> = (0..256).map(|i| (i + 64) % 256).collect();
        assert_eq!(bench.values::<u32>(data, 256), expected);
    }
}

#[test]
fn messages_are_printed_and_assertions_are_faults() {
    let bench = Bench::new(include_str!("ptx/messages.ptx"));
    let options = Options::default();
    let report = bench.launch("messages", 1, 32, &[Argument::U32(3)], &options).unwrap();
    assert_eq!(
        report.printed,
        "thread 0:  4.50|7   |ff 25769803776 z%\nthread 1:  4.50|7   |ff 25769803776 z%\n"
    );
    let fault = bench.launch("messages", 1, 32, &[Argument::U32(4)], &options).unwrap_err();
    let FaultKind::Assertion { expression, file, line } = fault.kind else { panic!("{fault}") };
    assert_eq!((expression.as_str(), file.as_str(), line), ("n == 3", "messages.cu", 8));
}

#[test]
fn the_mathematical_library_of_cuda_is_right() {
    let bench = Bench::new(include_str!("ptx/math.ptx"));
    let x: Vec<f32> = (0..64).map(|i| (i as f32 - 31.5) * 0.7).collect();
    let d: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let (out, o) = (bench.buffer(&[0f32; 256]), bench.buffer(&[0f64; 128]));
    let arguments = [bench.buffer(&x), out, bench.buffer(&d), o].map(Argument::Buffer);
    bench.launch("math", 1, 64, &arguments, &Options::default()).unwrap();
    let close = |found: f64, expected: f64, tolerance: f64| {
        assert!(
            (found - expected).abs() <= tolerance * expected.abs().max(1.0),
            "{found} {expected}"
        );
    };
    let (out, o) = (bench.values::<f32>(out, 256), bench.values::<f64>(o, 128));
    for (i, &x) in d.iter().enumerate() {
        let expected = [
            x.sin() + (x * f64::from(0.1f32)).exp(),
            (x.abs() + 0.5).powf(1.7),
            1.0 / (x.abs() + 1.0).sqrt() + x.tanh(),
            (x.abs() + 1e-3).ln() + x.cbrt(),
        ];
        (0..4).for_each(|part| close(f64::from(out[i * 4 + part]), expected[part], 2e-6));
        close(o[i * 2], x.sin() + (x * 0.1).exp(), 1e-14);
        close(o[i * 2 + 1], (x.abs() + 1e-3).ln() / (x.abs() + 1.0).sqrt(), 1e-14);
    }
}

#[test]
fn nothing_in_the_kernels_is_unsupported() {
    for case in CASES {
        let bench = Bench::new(case.text);
        assert_eq!(bench.loaded.module().unsupported(), [], "{}", case.name);
    }
    assert_eq!(Properties::of_capability(90).compute_capability, (9, 0));
}
