//! Kernels in files whose host code calls libraries that are not there, and scans of cooperative groups, through clang.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, source, written};

fn libraries() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    SOURCE.get_or_init(|| lower(&source("libraries")).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn host_code_that_calls_libraries_keeps_no_kernel_from_a_target() {
    let kernels: Vec<_> =
        libraries().lowered.kernels.iter().map(|it| &*it.signature.name).collect();
    assert_eq!(kernels, ["scans", "kinds"]);
    assert!(libraries().lowered.unsupported.is_empty(), "{:?}", libraries().lowered.unsupported);
}

#[test]
fn a_kernel_that_calls_a_library_is_an_error_with_the_line() {
    let text = "#include <cublas_v2.h>\n__global__ void bad(cublasHandle_t *handle) {\n  \
                cublasCreate(handle);\n}\n";
    let error = lower(&written("calls", text)).unwrap_err().to_string();
    assert!(error.contains("kernels/calls.cu:3"), "{error}");
    assert!(error.contains("call to __host__ function from __global__ function"), "{error}");
}

/// `isnan` and its like in host code, with and without C++'s header of them.
#[test]
fn questions_about_numbers_are_also_for_the_host() {
    for include in ["", "#include <math.h>\n", "#include <cmath>\nusing std::isnan;\n"] {
        let text = format!(
            "{include}__global__ void k(int *out, float x) {{ *out = isnan(x); }}\n\
             template <class T> bool all(T x) {{ return isnan(x) || !isfinite(x) || isinf(x) || signbit(x); }}\n\
             bool of_host(float x, double y) {{ return all(x) || all(y); }}\n"
        );
        let include = include.lines().next().unwrap_or_default();
        lower(&written("numbers", &text)).unwrap_or_else(|error| panic!("{include}: {error}"));
    }
}

#[test]
fn scans_combine_in_the_order_of_ranks() {
    let numbers: Vec<i32> = (0..32).map(|i| (i * 37) % 23 - 9).collect();
    let words: Vec<u32> = numbers.iter().map(|it| it.cast_unsigned()).collect();
    let arguments = [Value::Words(vec![0; 32 * 5]), Value::Words(words)];
    for after in libraries().run("scans", Launch::linear(1, 32), &arguments) {
        for (lane, found) in after[0].words().as_chunks::<5>().0.iter().enumerate() {
            let first = lane / 16 * 16;
            let before: i32 = numbers[first..lane].iter().sum();
            let greatest = *numbers[first..=lane].iter().max().expect("one at least");
            let of_parity = (first..lane).filter(|it| it % 2 == lane % 2);
            let before_of_parity: i32 = of_parity.map(|it| numbers[it]).sum();
            let own = numbers[lane];
            let expected =
                [before, before + own, greatest, before_of_parity, before_of_parity + own];
            assert_eq!(found.map(u32::cast_signed), expected, "lane {lane}");
        }
    }
}

#[test]
fn a_number_is_of_one_kind() {
    let numbers = [1.5, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -f32::MIN_POSITIVE / 2.0];
    let arguments = [Value::Words(vec![0; numbers.len()]), Value::floats(&numbers)];
    for after in libraries().run("kinds", Launch::linear(1, 6), &arguments) {
        assert_eq!(after[0].words(), [4, 4 + 8, 1, 2, 2 + 8, 4 + 8]);
    }
}
