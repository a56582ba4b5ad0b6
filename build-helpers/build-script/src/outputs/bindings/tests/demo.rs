//! The bindings that the tests of the run time use, against `snapshots/demo.rs`: those of a package
//! with two sources in Rust and one in CUDA C++. The run time has the compiled code, by hand.

use super::*;
use kernelmill_artifact::{
    Access, Dimension, LaunchLimits, Parameter, ParameterKind, Safety, Scalar, ValueType,
};
use kernelmill_compiler::{Location, frontend::rust::signature::read};

const SAXPY: &str = "use kernelmill_device::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {}
";

const FILL: &str = "use kernelmill_device::prelude::*;

#[repr(C)]
pub struct Params { pub width: u32, pub step: u64 }

#[kernel(dim = 2)]
pub fn fill(params: Params, mut out: DisjointSlice<u64>) {}
";

/// `__global__ void scale(float *out, const float *in, int n)`.
fn scale() -> Signature {
    let pointer = |access| {
        let element = ValueType::Scalar(Scalar::F32);
        ParameterKind::Pointer { element, access }
    };
    Signature {
        name: "scale".into(),
        symbol: "_Z5scalePfPKfi".into(),
        dimension: Dimension::Any,
        safety: Safety::Unsafe,
        limits: LaunchLimits::NONE,
        parameters: vec![
            Parameter::borrowed("out", pointer(Access::Write)),
            Parameter::borrowed("in", pointer(Access::Read)),
            Parameter::borrowed("n", ParameterKind::Value(ValueType::Scalar(Scalar::I32))),
        ]
        .into(),
        file: "kernels/scale.cu".into(),
        line: 1,
    }
}

/// A binary of the source with this place, whose fingerprint no other one has.
fn binary_of(source: usize, target: &str, kernel: &Signature, fingerprint: u8) -> Binary {
    let mut binary = binary(target, std::slice::from_ref(kernel), |_| true);
    (binary.source, binary.fingerprint) = (source, Fingerprint([fingerprint; 32]));
    let compiled = &mut binary.artifact.kernels[0];
    compiled.cpu_symbol =
        compiled.cpu_symbol.take().map(|_| format!("kernelmill_cpu_demo_{}", kernel.name));
    if kernel.name == "saxpy" {
        compiled.panics = true;
        let file = kernel.file.to_string();
        let location = Location { file, line: 6, column: 5, frames: Vec::new() };
        binary.artifact.locations.push(location);
    }
    binary
}

#[test]
fn the_bindings_that_the_run_time_is_tested_with_are_as_before() {
    let rust = |text, display| read(text, display).unwrap_or_else(|error| panic!("{error:?}"));
    let sources = [
        source_of("kernels/saxpy.rs", rust(SAXPY, "kernels/saxpy.rs")),
        source_of("kernels/fill.rs", rust(FILL, "kernels/fill.rs")),
        source_of("kernels/scale.cu", vec![scale()]),
    ];
    let interface =
        Interface::of(&sources, &settings_of(""), "demo").unwrap_or_else(|error| panic!("{error}"));
    let kernel = |source: usize| &sources[source].signatures.as_ref().unwrap()[0];
    let binaries = [(0, "cpu"), (0, "compute_75"), (1, "cpu"), (2, "cpu")];
    let binaries: Vec<_> = (1..)
        .zip(binaries)
        .map(|(number, (source, target))| binary_of(source, target, kernel(source), number))
        .collect();
    let embedded: Vec<_> = binaries
        .iter()
        .map(|binary| Embedded {
            binary,
            target: binary.artifact.target.to_string(),
            file: "saxpy.ptx".to_owned(),
            source: &sources[binary.source].display,
            builds: plain(binary),
        })
        .collect();
    check("demo.rs", &render("demo", &interface, &embedded, &[]));
}
