//! Builds the examples of every error code: the first fails with the code, the later ones build.

use error_examples::{Around, Package, blocks, codes};
use kernelmill_build::Code;
use test_support::tool;

/// The codes whose examples are not built, each with the reason. They are not in [`around`].
const NOT_BUILT: [(Code, &str); 6] = [
    (Code::MissingFeature, "the features of `kernelmill-build` are those of this test"),
    (
        Code::OtherTypes,
        "a build reads the `#[cfg]`s that rustc has, and no plain source is known that differs",
    ),
    (Code::LaunchState, "no plugin of the workspace adds state of launches"),
    (Code::LargeData, "its bytes are more than a gigabyte, which rustc would have to write"),
    (Code::Files, "root may write everywhere, and tests may run as root"),
    (Code::Internal, "it is an error of kernelmill"),
];

const PTX: Around = Around {
    settings: "targets = [\"compute_75\"]",
    files: &[],
    variables: &[],
    programs: &[],
    is_bare: false,
    written_out: None,
    before: "",
};
const CPU: Around = Around { settings: "targets = [\"cpu\"]", ..PTX };

const KERNEL: &str = "use kernelmill_device::prelude::*;

#[kernel]
pub fn spread(mut y: DisjointSlice<f32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = 1.0;
    }
}
";
const WITH_STRUCT: &str = "use kernelmill_device::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Params {
    pub width: u32,
}

#[kernel]
pub fn fill(params: Params, mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = params.width;
    }
}
";
const WIDE: &str = "use kernelmill_device::prelude::*;

#[kernel]
pub fn wide(x: &[f32], mut y: DisjointSlice<[f32; 64]>) {
    let mut sums = [0.0f32; 64];
    for x in x {
        for (place, sum) in sums.iter_mut().enumerate() {
            *sum += *x * place as f32;
        }
    }
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = sums;
    }
}
";
const SAXPY: &str = "use kernelmill_device::prelude::*;

#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out += a * x[i.get()];
    }
}
";
const HELPERS: &str = "pub fn twice(x: f32) -> f32 {\n    2.0 * x\n}\n";
const NOISE: &str =
    "#[unsafe(no_mangle)]\npub extern \"C\" fn noise(x: f32) -> f32 {\n    x * 16807.0\n}\n";
const OPENCL: &str = "kernel void fill(global float *x) { x[get_global_id(0)] = 1.0f; }\n";
/// A kernel in PTX whose parameters do not say what they are.
const SCALE: &str = ".version 8.0\n.target sm_75\n.address_size 64\n\
                     .visible .entry scale(.param .u64 x, .param .u32 n)\n{\n  ret;\n}\n";
const TEMPLATES: &str = "namespace filters {
template <typename T, int N> __global__ void scale(T *x, int n) { x[threadIdx.x] *= N * n; }
}
";
/// A clang whose bitcode is of another LLVM.
const CLANG_99: &str = "#!/bin/sh
case \"$*\" in *--version*) echo 'clang version 99.0.0'; exit ;; esac
while [ $# -gt 0 ]; do
  [ \"$1\" != -o ] || out=$2
  shift
done
printf 'BC\\300\\336of another LLVM' > \"$out\"
echo 'k.bc: kernels/fill.cl' > \"${out%.bc}.d\"
";
/// A rustc that answers, and compiles nothing.
const SILENT: &str = "#!/bin/sh
case \"$*\" in *--emit*) exit ;; esac
PATH=${PATH#*:} exec rustc \"$@\"
";

fn parameters() -> String {
    (0..100).map(|number| format!("p{number}: f32, ")).collect()
}

/// What the machine needs for the examples of a code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Clang,
    Ptxas,
    Nvcc,
}

/// What stands around the examples of a code; `None` for those that are not built.
fn around(code: Code) -> Option<(Around, Needs)> {
    let around = match code {
        Code::DeclaredParameters => {
            Around { files: &[("kernels/scale.ptx", SCALE), ("kernels/spread.rs", KERNEL)], ..PTX }
        }
        Code::Variants => Around { files: &[("kernels/spread.rs", KERNEL)], ..PTX },
        Code::MappedType => Around { files: &[("kernels/fill.rs", WITH_STRUCT)], ..PTX },
        Code::NoKernelSource => {
            Around { files: &[("kernels/helpers.rs", HELPERS), ("kernels/saxpy.rs", SAXPY)], ..PTX }
        }
        Code::UnreadableFile => Around { files: &[("kernels/spread.rs", KERNEL)], ..PTX },
        // The file has a hole, and takes no space.
        Code::LargeSource => {
            Around { before: "mkdir kernels\ntruncate -s 10G kernels/ten_gigabytes.bin", ..PTX }
        }
        Code::Override => Around {
            files: &[("kernels/saxpy.rs", SAXPY), ("saxpy.txt", "")],
            before: "cargo build\ncp \"$OUT_DIR/saxpy.compute_75.ptx\" saxpy.ptx",
            ..PTX
        },
        Code::Dependency => Around { files: &[("kernels/noise.rs", NOISE)], ..PTX },
        Code::DeviceFunction => Around { files: &[("kernels/spread.rs", KERNEL)], ..PTX },
        Code::TooManyArguments => {
            Around { written_out: Some(("/* .. and a hundred more */", parameters)), ..PTX }
        }
        Code::Instances => {
            let around = Around { files: &[("kernels/filters.cu", TEMPLATES)], ..PTX };
            return Some((around, Needs::Clang));
        }
        Code::MissingTool => Around { is_bare: true, ..PTX },
        Code::VendorMath => Around { is_bare: true, ..PTX },
        Code::ToolVersion => {
            let around = Around {
                files: &[("kernels/fill.cl", OPENCL)],
                programs: &[("clang-99", CLANG_99)],
                ..CPU
            };
            return Some((around, Needs::Clang));
        }
        Code::DeviceLibrary => {
            let around = Around { before: "mkdir lib\nar rc lib/libnoise.a", ..PTX };
            return Some((around, Needs::Nvcc));
        }
        Code::HostCode => {
            let around = Around {
                files: &[
                    ("src/launch.cu", "extern \"C\" int launch() { return 0; }\n"),
                    ("kernels/spread.rs", KERNEL),
                ],
                ..PTX
            };
            return Some((around, Needs::Nvcc));
        }
        Code::ToolFailed => {
            return Some((Around { settings: "targets = [\"sm_90\"]", ..PTX }, Needs::Ptxas));
        }
        // Another build may have left the code of the same source.
        Code::ToolEnded => Around { variables: &[("KERNELMILL_CACHE", "off")], ..PTX },
        Code::NoBitcode => Around {
            variables: &[("KERNELMILL_CACHE", "off")],
            programs: &[("wrapper-that-writes-nothing", SILENT)],
            ..PTX
        },
        Code::CompilerMessage | Code::CppFeature => return Some((CPU, Needs::Clang)),
        Code::Ptx => Around { settings: "targets = [\"compute_80\"]", ..PTX },
        Code::Wgsl => Around { settings: "targets = [\"vulkan\"]", ..PTX },
        Code::Generation => Around {
            settings: "targets = [\"compute_75\"]\nkernels.clock.parameters = [\"y: *mut i64\"]",
            ..PTX
        },
        Code::LlvmEnded => Around {
            settings: "targets = [\"compute_75\"]\nkernels.lanes.parameters = [\"y: *mut u64\"]",
            ..PTX
        },
        Code::Threshold => Around {
            settings: "targets = [\"gfx1100\"]",
            files: &[("kernels/wide.rs", WIDE)],
            ..PTX
        },
        Code::Heap => Around { settings: "targets = [\"gfx1100\"]", ..PTX },
        Code::Stack | Code::Barrier => CPU,
        Code::Store => Around { variables: &[("HOME", "FOLDER")], ..PTX },
        _ if NOT_BUILT.iter().any(|(listed, _)| *listed == code) => return None,
        _ => PTX,
    };
    Some((around, Needs::Nothing))
}

/// Whether the machine has it; a message where it has not.
fn has(needs: Needs) -> bool {
    match needs {
        Needs::Nothing => true,
        Needs::Clang => tool::clang().is_some(),
        Needs::Ptxas => tool::nvidia("ptxas").is_some(),
        Needs::Nvcc => tool::nvidia("nvcc").is_some() && tool::nvidia("nvlink").is_some(),
    }
}

/// What is wrong with the examples of a code.
fn faults(package: &mut Package, code: Code) -> Vec<String> {
    let Some((around, needs)) = around(code) else { return Vec::new() };
    if !has(needs) {
        return Vec::new();
    }
    package.start(around);
    let mut faults = Vec::new();
    for (index, block) in blocks(code).iter().enumerate() {
        let said = package.build(block, index == 0).unwrap_or_default();
        let found = codes(&said);
        let is_right = match index {
            // The error of a kernel that its targets cannot compile has the code `KM0100`, and each finding its own.
            0 => {
                found == [code]
                    || found == [Code::Unsupported, code]
                    || code == Code::Unsupported && found.contains(&code)
            }
            _ => said.is_empty(),
        };
        if !is_right {
            let expected = if index == 0 { "fails with its code" } else { "builds" };
            faults.push(format!(
                "block {} of {code} does not say that it {expected}, but:\n{said}",
                index + 1
            ));
        }
        if std::env::var_os("SHOW").is_some() {
            println!("{code} {index} {found:?}");
        }
    }
    faults
}

/// Builds the examples of the codes from one number to another.
#[track_caller]
fn check(first: &str, last: &str) {
    let mut package = Package::new(env!("CARGO_BIN_EXE_error-examples"));
    let codes = Code::ALL.iter().filter(|code| (first..=last).contains(&code.number()));
    let found: Vec<_> = codes.flat_map(|code| faults(&mut package, *code)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn examples_of_settings() {
    check("KM0001", "KM0019");
}

#[test]
fn examples_of_sources() {
    check("KM0020", "KM0059");
}

#[test]
fn examples_of_tools_and_other_languages() {
    check("KM0060", "KM0099");
}

#[test]
fn examples_of_what_kernels_must_not_do() {
    check("KM0100", "KM9999");
}

/// A code is on the list only as long as its example does not give it.
#[test]
fn codes_are_listed_only_where_their_examples_do_not_give_them() {
    let mut package = Package::new(env!("CARGO_BIN_EXE_error-examples"));
    for (code, why) in NOT_BUILT {
        assert!(
            around(code).is_none(),
            "{code} is listed ({why}), and has what stands around its examples"
        );
        if let Some(block) = blocks(code).first() {
            package.start(PTX);
            let said = package.build(block, true).unwrap_or_default();
            assert!(
                !codes(&said).contains(&code),
                "{code} is listed ({why}), and its example gives it:\n{said}"
            );
        }
    }
}
