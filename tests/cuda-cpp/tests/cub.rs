//! CUB's collectives of blocks and warps on every target, through clang.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, source, written};

fn cub() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("cub")).unwrap_or_else(|error| panic!("{error}")))
}

/// Numbers of both signs, among them equal ones.
fn numbers(count: i32) -> Vec<i32> {
    (0..count).map(|i| (i * 7919 + 3) % 61 - 30).collect()
}

fn words(numbers: &[i32]) -> Value {
    Value::Words(numbers.iter().map(|it| it.cast_unsigned()).collect())
}

/// What a kernel leaves of so many words, on each road.
fn results(kernel: &str, launch: Launch, count: usize, rest: &[Value]) -> Vec<Vec<i32>> {
    let arguments = [&[Value::Words(vec![0x5a5a_5a5a; count])], rest].concat();
    let after = cub().run(kernel, launch, &arguments);
    let signed = |it: &Vec<Value>| it[0].words().iter().map(|it| it.cast_signed()).collect();
    after.iter().map(signed).collect()
}

#[test]
fn reductions_are_of_the_threads_that_count_in_their_order() {
    for (threads, count) in [(96, 70), (96, 96), (96, 1), (50, 33), (50, 32)] {
        let numbers = numbers(threads);
        let sum: i32 = numbers.iter().sum();
        let greatest = numbers[..count].iter().max().expect("one at least");
        let least = numbers.iter().min().expect("one at least");
        let place = numbers.iter().position(|it| it == least).expect("it is there");
        let place = i32::try_from(place).expect("a small number");
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        let expected = [sum, *greatest, -sum, first, last, place, *least];
        let launch = Launch::linear(1, threads.cast_unsigned());
        let count = Value::of(i32::try_from(count).expect("a small number"));
        for found in results("reductions", launch, 7, &[words(&numbers), count]) {
            assert_eq!(found, expected, "{threads} threads");
        }
    }
}

#[test]
fn values_may_have_constructors_and_blocks_two_dimensions() {
    let numbers = numbers(64);
    let sum: i64 = numbers.iter().map(|it| i64::from(*it)).sum();
    let tag = numbers.iter().fold(0, |tag, it| tag ^ (it & 7));
    let launch = Launch { grid: [1; 3], block: [16, 4, 1], shared: 0 };
    for found in results("wide", launch, 6, &[words(&numbers)]) {
        let (pairs, rest) = found.as_chunks::<2>();
        assert!(rest.is_empty());
        let wide = |[low, high]: [i32; 2]| i64::from(high) << 32 | i64::from(low.cast_unsigned());
        let found: Vec<_> = pairs.iter().map(|it| wide(*it)).collect();
        assert_eq!(found, [sum, -sum, i64::from(tag)]);
    }
}

#[test]
fn scans_have_what_stands_before() {
    let numbers = numbers(80);
    let total: i32 = numbers.iter().sum();
    for found in results("scans", Launch::linear(1, 80), 80 * 9, &[words(&numbers)]) {
        for (thread, found) in found.as_chunks::<9>().0.iter().enumerate() {
            let (own, before) = (numbers[thread], &numbers[..thread]);
            let sum: i32 = before.iter().sum();
            let of_three = 3 * (sum + i32::try_from(thread).expect("a small number"));
            let expected = [
                sum + own,
                total,
                sum,
                before.iter().copied().fold(5, i32::max),
                1000 + sum,
                1000 + total + sum + own,
                of_three,
                of_three + 2 * own + 1,
                sum + own + i32::try_from(thread).expect("a small number") + 1,
            ];
            assert_eq!(*found, expected, "thread {thread}");
        }
    }
}

#[test]
fn warps_and_their_parts_are_each_for_themselves() {
    let numbers = numbers(64);
    for found in results("warps", Launch::linear(1, 64), 64 * 5, &[words(&numbers)]) {
        for (thread, found) in found.as_chunks::<5>().0.iter().enumerate() {
            let part = &numbers[thread / 8 * 8..][..8];
            let warp = &numbers[thread / 32 * 32..][..32];
            let before = &warp[..thread % 32];
            let is_first = thread % 8 == 0;
            let of_first = |value: i32| if is_first { value } else { 0 };
            let expected = [
                of_first(part.iter().sum()),
                of_first(*part[..3].iter().max().expect("three")),
                before.iter().sum(),
                warp.iter().sum(),
                *warp[..=thread % 32].iter().min().expect("one at least"),
            ];
            assert_eq!(*found, expected, "thread {thread}");
        }
    }
}

#[test]
fn arrays_of_threads_are_loaded_and_stored_up_to_where_values_end() {
    let numbers = numbers(120);
    for count in [120, 100, 1] {
        let rest = [words(&numbers), Value::of(i32::try_from(count).expect("a small number"))];
        for found in results("copies", Launch::linear(1, 40), 240, &rest) {
            for (index, found) in found.iter().enumerate() {
                let (place, is_striped) = (index % 120, index >= 120);
                let item = if is_striped { place / 40 } else { place % 3 };
                let item = i32::try_from(item).expect("a small number");
                let is_stored = place < count - 1;
                let expected = if is_stored { numbers[place] * 10 + item } else { 0x5a5a_5a5a };
                assert_eq!(*found, expected, "{index} of {count}");
            }
        }
    }
}

#[test]
fn exchanges_move_values_to_the_places_that_they_name() {
    let numbers = numbers(144);
    for found in results("exchanges", Launch::linear(1, 48), 576, &[words(&numbers)]) {
        for thread in 0..48 {
            for item in 0..3 {
                let place = thread * 3 + item;
                assert_eq!(found[place], numbers[item * 48 + thread], "striped {place}");
                assert_eq!(found[144 + place], numbers[place], "back {place}");
                let (first, lanes) = if thread < 32 { (0, 32) } else { (32, 16) };
                let of_warp = first * 3 + item * lanes + thread - first;
                assert_eq!(found[288 + place], numbers[of_warp], "of a warp {place}");
                assert_eq!(found[432 + item * 48 + thread], numbers[143 - place], "ranks {place}");
            }
        }
    }
}

#[test]
fn keys_are_in_the_order_of_values() {
    let numbers = [0.0_f32, -0.0, 1.5, -1.5, f32::INFINITY, f32::NEG_INFINITY, 3.0e-39, -7.0e8];
    let words: Vec<u32> = numbers.iter().map(|it| it.to_bits()).collect();
    for found in results("keys", Launch::linear(1, 8), 48, &[Value::Words(words.clone())]) {
        let found: Vec<_> = found.iter().map(|it| it.cast_unsigned()).collect();
        let found = found.as_chunks::<6>().0;
        for (one, a) in found.iter().enumerate() {
            assert_eq!([a[1], a[3], a[5]], [1; 3], "{}", numbers[one]);
            assert_eq!(a[4], words[one]);
            for (other, b) in found.iter().enumerate() {
                let of_floats = numbers[one].total_cmp(&numbers[other]);
                let of_integers = words[one].cast_signed().cmp(&words[other].cast_signed());
                assert_eq!([a[0].cmp(&b[0]), a[2].cmp(&b[2])], [of_floats, of_integers]);
            }
        }
    }
}

#[test]
fn every_target_has_them() {
    let kernels = ["reductions", "wide", "scans", "warps", "copies", "exchanges", "keys"];
    for target in ["cpu", "compute_80", "gfx90a", "gfx1100"] {
        let artifact = cub().compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), kernels.len(), "{target}");
    }
    assert!(cub().lowered.unsupported.is_empty(), "{:?}", cub().lowered.unsupported);
}

/// Each part of it is a header of the toolkit, too.
#[test]
fn parts_have_their_own_headers() {
    let text = "#include <cub/block/block_reduce.cuh>\n#include <cub/warp/warp_scan.cuh>\n\
                __global__ void k(float *x) {\n  \
                __shared__ cub::BlockReduce<float, 32>::TempStorage storage;\n  \
                x[0] = cub::BlockReduce<float, 32>(storage).Sum(x[threadIdx.x]);\n}\n";
    lower(&written("part", text)).unwrap_or_else(|error| panic!("{error}"));
    let text = "#include <cub/block/block_radix_sort.cuh>\n__global__ void k() {}\n";
    let error = lower(&written("missing", text)).unwrap_err().to_string();
    assert!(error.starts_with("error: 'cub/block/block_radix_sort.cuh' file not found"), "{error}");
}
