//! What almost every kernel uses, on the CPU and the emulator against plain Rust.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, source};

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
        let expected: Vec<u32> =
            (0..3).flat_map(|b| (0..64).map(move |t| 64 * b + 63 - t)).collect();
        assert_eq!(after[1].words(), expected);
    }
}

#[test]
fn instantiations_of_a_template_are_kernels_of_their_own() {
    let x = [1.0_f32, 2.0, 3.0, 4.0];
    let arguments = [Value::floats(&x), Value::of(0.5_f32)];
    for after in basics().run("scale_float_1", Launch::linear(1, 4), &arguments) {
        assert_eq!(after[0].numbers(), [0.5, 1.0, 1.5, 2.0]);
    }
    let arguments = [Value::floats(&x), Value::of(0.1_f64)];
    for after in basics().run("scale_double_3", Launch::linear(1, 4), &arguments) {
        let expected = x.map(|x| (f64::from(x) * 0.1 * 0.1 * 0.1) as f32);
        assert_eq!(after[0].numbers(), expected);
    }
}

#[test]
fn atomics_lose_nothing() {
    let x: Vec<u32> = (0..5000).map(|i| i * i % 37).collect();
    let arguments = [Value::Words(x.clone()), Value::Words(vec![0; 16]), Value::of(5000_i32)];
    for after in basics().run("histogram", Launch::linear(5, 64), &arguments) {
        let mut expected = vec![0; 16];
        x.iter().for_each(|x| expected[(x % 16) as usize] += 1);
        assert_eq!(after[1].words(), expected);
    }
}

#[test]
fn a_warp_is_reduced_by_shuffles() {
    let x: Vec<f32> = (0..128).map(|i| ((i * 37) % 101) as f32).collect();
    let arguments = [Value::floats(&x), Value::floats(&[0.0; 4]), Value::floats(&[0.0; 4])];
    for after in basics().run("warp_reduce", Launch::linear(2, 64), &arguments) {
        let sums: Vec<f32> = x.chunks(32).map(|warp| warp.iter().sum()).collect();
        let most: Vec<f32> =
            x.chunks(32).map(|warp| warp.iter().copied().fold(0.0, f32::max)).collect();
        assert_eq!((after[1].numbers(), after[2].numbers()), (sums, most));
    }
}

#[test]
fn the_address_of_part_of_a_shared_array_may_be_a_constant() {
    let x: Vec<f32> = (0..128).map(|i| i as f32).collect();
    let launch = Launch { grid: [1; 3], block: [32, 4, 1], shared: 0 };
    for after in basics().run("rows_4", launch, &[Value::floats(&x)]) {
        let expected: Vec<f32> = (0..128).map(|i| (i + 96 + i % 32) as f32).collect();
        assert_eq!(after[0].numbers(), expected);
    }
    for after in basics().run("rows_1", launch, &[Value::floats(&x)]) {
        assert_eq!(after[0].numbers(), x);
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Params {
    weights: [f32; 6],
    offset: i64,
    flag: u8,
    rest: [u8; 7],
}
kernelmill::device_copy!(unsafe Params);

#[test]
fn a_struct_by_value_is_each_threads_own() {
    let params =
        Params { weights: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], offset: 10, flag: 1, rest: [0; 7] };
    let arguments = [Value::of(params), Value::floats(&[0.0; 64])];
    for after in basics().run("weigh", Launch::linear(1, 64), &arguments) {
        let expected: Vec<f32> = (0..64).map(|i| (i % 6 + 11) as f32).collect();
        assert_eq!(after[1].numbers(), expected);
    }
}

#[test]
fn constants_and_variables_of_the_device_have_their_initial_values() {
    let x = [0.0_f32, 1.0, 2.0, -1.5];
    for square in [0_u8, 1] {
        let arguments = [Value::floats(&x), Value::floats(&[0.0; 4]), Value::of(square)];
        for after in basics().run("polynomial", Launch::linear(1, 4), &arguments) {
            let expected = x.map(|x| {
                let v = if square == 1 { x * x } else { x };
                ((4.0 * v - 2.0) * v + 1.5) * v + 0.5 + 3.0
            });
            assert_eq!(after[1].numbers(), expected);
        }
    }
}

#[test]
fn functions_are_called_through_pointers_and_call_themselves() {
    let fibonacci = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34];
    for which in [0_i32, 1] {
        let arguments = [Value::Words((0..32).collect()), Value::of(which)];
        let after = basics().run_on_cpu("calls", Launch::linear(1, 32), &arguments).unwrap();
        let expected: Vec<u32> = (0..32)
            .map(|i| {
                if which == 0 { fibonacci[i % 10] + i as u32 } else { fibonacci[i % 10] * i as u32 }
            })
            .collect();
        assert_eq!(after[0].words(), expected);
    }
}

#[test]
fn every_kind_of_target_takes_them() {
    for target in ["compute_75", "compute_90", "gfx90a", "gfx942", "gfx1100", "cpu"] {
        let artifact = basics().compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), 12, "{target}");
    }
    let Some(_) = cuda_cpp::ptxas() else { return };
    for target in ["sm_75", "sm_80", "sm_90a", "sm_120"] {
        let artifact = basics().compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(artifact.bytes.starts_with(b"\x7fELF"), "{target}");
    }
}

#[test]
fn launch_bounds_and_restrict_reach_the_code() {
    let ptx = String::from_utf8(basics().compile("compute_80").unwrap().bytes).unwrap();
    let entry = |name: &str| ptx.split(&format!(".entry {name}(")).nth(1).unwrap().to_owned();
    assert!(entry("block_sums").split('{').next().unwrap().contains(".maxntid 256"), "{ptx}");
    assert!(entry("saxpy").split(".entry").next().unwrap().contains("ld.global.nc"), "{ptx}");
    assert!(!ptx.contains(", debug") && !ptx.contains(".debug_info"), "no debugger's information");
}
