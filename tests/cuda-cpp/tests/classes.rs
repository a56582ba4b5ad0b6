//! Classes with constructors and base classes as parameters, on the CPU and the emulator.

use cuda_cpp::{Launch, Value, lower, source};

#[test]
fn classes_with_constructors_and_bases_cross_by_value() {
    let classes = lower(&source("classes")).unwrap_or_else(|error| panic!("{error}"));
    // Every second element from the fourth on: an address, 24 lengths, the shift, and four bytes that are nothing.
    let mut from = vec![0; 8];
    from.extend((0..24_i64).flat_map(|i| {
        if i == 0 {
            2
        } else if i == 23 {
            1
        } else {
            0_i64
        }
        .to_le_bytes()
    }));
    from.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(from.len(), 208);
    let x: Vec<f32> = (0..40).map(|i| i as f32).collect();
    let arguments = [
        Value::Bytes(from),
        Value::floats(&x),
        Value::of(0.5_f32),
        Value::Words(vec![0; 16]),
        Value::of(16_i32),
    ];
    for after in classes.run("by_value", Launch::linear(1, 32), &arguments) {
        let expected: Vec<f32> = (0..16).map(|i| 0.5 * (2 * (i + 1) + 1) as f32).collect();
        assert_eq!(after[3].numbers(), expected);
    }
}
