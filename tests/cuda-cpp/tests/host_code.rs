//! Kernels in files with code for the host, through clang.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, source};

fn host_code() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("host_code")).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn code_for_the_host_is_read_and_nothing_of_it_is_compiled() {
    let kernels: Vec<_> =
        host_code().lowered.kernels.iter().map(|it| &*it.signature.name).collect();
    for name in ["positives", "odd_lanes", "any_groups", "exchanged", "ordered"] {
        assert!(kernels.contains(&name), "{kernels:?}");
    }
    assert!(host_code().lowered.unsupported.is_empty(), "{:?}", host_code().lowered.unsupported);
}

#[test]
fn threads_that_run_together_are_a_group() {
    let numbers: Vec<i32> = (0..300).map(|i| (i * 37) % 101 - 50).collect();
    let words =
        |numbers: &[i32]| Value::Words(numbers.iter().map(|it| it.cast_unsigned()).collect());
    let arguments =
        [words(&[0; 300]), words(&numbers), words(&[0]), words(&[0]), Value::of(300_i32)];
    let mut expected: Vec<i32> =
        numbers.iter().filter(|it| **it > 0).map(|it| 2 * it + 3).collect();
    expected.sort_unstable();
    let sum: i32 = numbers.iter().filter(|it| **it > 0).sum();
    for after in host_code().run("positives", Launch::linear(4, 96), &arguments) {
        let count = after[2].words()[0] as usize;
        let mut found: Vec<i32> =
            after[0].words()[..count].iter().map(|it| it.cast_signed()).collect();
        found.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(after[3].words(), [sum.cast_unsigned()]);
    }
}

#[test]
fn lanes_of_a_group_are_numbered_by_rank() {
    for after in host_code().run("odd_lanes", Launch::linear(1, 32), &[Value::Words(vec![9; 32])]) {
        let expected: Vec<u32> =
            (0..32).map(|lane| if lane % 2 == 1 { 1 } else { u32::MAX }).collect();
        assert_eq!(after[0].words(), expected);
    }
}

#[test]
fn a_function_takes_any_group() {
    let out = [Value::Words(vec![0; 2 * 64 * 6])];
    for after in host_code().run("any_groups", Launch::linear(2, 64), &out) {
        for (index, found) in after[0].words().as_chunks::<6>().0.iter().enumerate() {
            let thread = u32::try_from(index % 64).expect("a small number");
            let first = thread / 16 * 16;
            let tile = (first..first + 16).sum();
            let warp: u32 = (thread / 32 * 32..thread / 32 * 32 + 32).sum();
            let part = thread % 4 + 40 + 100;
            let nested = thread % 32 / 8 + 10 * 4;
            assert_eq!(
                *found,
                [tile, 63 * 32, part, thread / 32 + 10 * 2, nested, warp + 8],
                "thread {thread}"
            );
        }
    }
}

#[test]
fn values_of_any_size_are_exchanged_and_groups_are_parted() {
    let arguments = [Value::Words(vec![0; 64 * 8]), Value::Words(vec![0; 2])];
    for after in host_code().run("exchanged", Launch::linear(1, 64), &arguments) {
        for (index, found) in after[0].words().as_chunks::<8>().0.iter().enumerate() {
            let lane = u32::try_from(index % 32).expect("a small number");
            let two_before = if lane < 2 { lane } else { lane - 2 };
            let four_behind = if lane < 28 { lane + 4 } else { lane };
            let group = lane / 5;
            let expected = [
                4 * (lane ^ 1) + 600,
                8 * two_before,
                !two_before,
                10 + four_behind,
                1600 + lane / 2,
                (32 - 5 * group).min(5) * 100 + lane % 5,
                5 * group,
                // Of the even lanes 5 are below 9, of the odd ones 4.
                if lane < 9 { 5 - lane % 2 } else { 11 + lane % 2 },
            ];
            assert_eq!(*found, expected, "lane {lane}");
        }
        // 64 turns of ten numbers each, upwards and downwards.
        assert_eq!(after[1].words(), [64 % 10, 6]);
    }
}

#[test]
fn atomic_functions_take_an_order_and_a_scope() {
    let arguments = [Value::Words(vec![0; 4]), Value::Words(vec![0; 64])];
    for after in host_code().run("ordered", Launch::linear(1, 64), &arguments) {
        assert_eq!(after[0].words(), [128, 63, 255, 7]);
        assert_eq!(after[1].words(), [14; 64]);
    }
}
