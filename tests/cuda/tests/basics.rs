//! What almost every kernel uses, on the CPU and the emulator against plain Rust.

use std::sync::OnceLock;

use cuda_everywhere::{Launch, Source, Value, lower, source};

fn basics() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("basics")).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn saxpy_with_a_tail() {
    let (x, y): (Vec<f32>, Vec<f32>) = (0..1000).map(|i| (i as f32, 0.5 * i as f32)).unzip();
    let arguments = [Value::of(1000_i32), Value::of(3.0_f32), Value::floats(&x), Value::floats(&y)];
    for after in basics().run("saxpy", Launch::linear(4, 256), &arguments) {
        let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.0_f32.mul_add(*x, *y)).collect();
        assert_eq!(after[3].numbers(), expected);
    }
}

#[test]
fn a_block_is_summed_in_shared_memory() {
    let x: Vec<f32> = (0..600).map(|i| (i % 7) as f32).collect();
    let arguments = [Value::floats(&x), Value::floats(&[0.0; 3]), Value::of(600_i32)];
    for after in basics().run("block_sums", Launch::linear(3, 256), &arguments) {
        let expected: Vec<f32> = x.chunks(256).map(|block| block.iter().sum()).collect();
        assert_eq!(after[1].numbers(), expected);
    }
}

#[test]
fn dynamic_shared_memory_has_the_size_of_the_launch() {
    let x: Vec<u32> = (0..192).collect();
    let arguments = [Value::Words(x), Value::Words(vec![0; 192])];
    let launch = Launch { shared: 64 * 4, ..Launch::linear(3, 64) };
    for after in basics().run("reverse", launch, &arguments) {
        let expected: Vec<u32> = (0..3).flat_map(|b| (0..64).map(move |t| 64 * b + 63 - t)).collect();
        assert_eq!(after[1].words(), expected);
    }
}
