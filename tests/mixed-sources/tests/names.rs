//! Names of the functions of kernels in C and C++ on the CPU. Those of kernels in Rust are in the tests of the compiler.

use std::fs;

use test_support::{Package, tool};

/// Whether a file in `OUT_DIR` has a symbol, with a zero before and behind it.
fn has(package: &Package, name: &str, symbol: &str) -> bool {
    let bytes = fs::read(package.path("target/out").join(name)).expect("a binary of the build");
    bytes.split(|byte| *byte == 0).any(|it| it == symbol.as_bytes())
}

/// Symbols of C++ have the path and the types already, and a name that is chosen by `extern "C"` stays.
///
/// Acceptance: S0.5.
#[test]
fn functions_of_kernels_in_c_have_their_symbols_on_the_cpu() {
    if tool::clang().is_none() {
        return;
    }
    let cuda = "namespace math { __global__ void scale(float *x, float by) { x[threadIdx.x] *= by; } }\n\
                extern \"C\" __global__ void plain(float *x) { x[threadIdx.x] += 1; }\n";
    let opencl = "kernel void add(global float *x) { x[get_global_id(0)] += 1; }\n";
    let files = [("kernels/a.cu", cuda), ("kernels/b.cl", opencl)];
    let settings = "targets = [\"cpu\"]\n";
    let package = Package::new(env!("CARGO_BIN_EXE_build_mixed_package"), settings, &files);
    assert_eq!(package.summary(), "kernelmill: compiled 2 cached 0");
    for symbol in ["_ZN4math5scaleEPff.run1", "_ZN4math5scaleEPff.run8", "plain.run8"] {
        assert!(has(&package, "a.cpu.o", symbol), "{symbol}");
    }
    assert!(has(&package, "b.cpu.o", "add.run8"));
}
