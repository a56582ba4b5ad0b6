//! One call of clang for a file in OpenCL C.

use std::{path::Path, process::Command};

use kernelmill_artifact::LaunchLimits;
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Linkage, ModuleExt, Place, parse_bitcode, parse_ir},
    machine::Machine,
};

use super::{arguments, flatten::flatten, shims};
use crate::{
    Error,
    frontend::cuda::{
        CudaKernel, CudaSource,
        clang::{
            Clang, CudaLowered, UnsupportedFeature, headers,
            lower::{self, ARCHITECTURE, Compiled, PTX, Signatures},
            module,
            unsupported::{self, Language},
        },
    },
    job::Lowered,
    toolchain::Toolchain,
};

/// Optional features of OpenCL C that every target has.
const FEATURES: [&str; 9] = [
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_subgroups",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_atomic_scope_device",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_subgroups",
    "__opencl_c_work_group_collective_functions",
];

/// What makes a pointer to another type a warning, as it is for the compilers of OpenCL devices, which come from older
/// versions of clang.
pub(super) const POINTER_TYPES: &str = "-Wno-error=incompatible-pointer-types";

/// What clang calls the body of a kernel that other kernels may call.
const BODY: &str = "__clang_ocl_kern_imp_";

/// Compiles a file to bitcode, and reads its kernels. LLVM must be open.
pub(crate) fn lower(
    toolchain: &Toolchain,
    clang: &Clang,
    source: &CudaSource,
) -> Result<CudaLowered, Error> {
    let command = |headers: &Path| Ok(command(clang, source, headers));
    let Compiled { bitcode, inputs, messages } =
        lower::compile(toolchain, source, &headers::OPENCL, command).map_err(refused)?;
    let machine = Machine::new("nvptx64-nvidia-cuda", ARCHITECTURE, PTX, false)?;
    let Signatures { mut kernels, functions, .. } =
        lower::signatures(&machine, clang, source, &bitcode)?;
    let context = Context::create();
    let module = lower::parse(&context, clang, source, &bitcode)?;
    let text = module.to_text();
    for kernel in &mut kernels {
        describe(kernel, &module, &text);
    }
    lower::check_limits(&kernels)?;
    let mut unsupported = unsupported::find(&context, &module, source, Language::OpenCl);
    unsupported.iter_mut().for_each(name_kernel);
    let warnings = messages.iter().filter(|message| message.is_warning());
    let mut warnings: String = warnings.map(|message| message.line() + "\n").collect();
    for function in module.definitions() {
        if function.name().starts_with(BODY) {
            function.remove_attribute(Place::Function, "noinline");
            function.set_linkage(Linkage::Internal);
        }
    }
    let bitcode = module::adapt(&context, &machine, &module, source, &[], &mut warnings)?;
    let lowered = Lowered {
        modules: vec![flat(&machine, &bitcode, &kernels)?],
        inputs,
        warnings,
        ..Lowered::default()
    };
    Ok(CudaLowered { lowered, kernels, unsupported, functions, ..CudaLowered::default() })
}

/// What clang refused, with what to do in OpenCL C.
fn refused(error: Error) -> Error {
    match error {
        Error::Clang { messages, display } => Error::OpenCl { messages, display },
        other => other,
    }
}

/// Names the kernel on the way to an unsupported feature as people write it: what they wrote is its body.
fn name_kernel(feature: &mut UnsupportedFeature) {
    feature.frames.retain(|frame| frame.function != feature.symbol);
    for frame in &mut feature.frames {
        if let Some(name) = frame.function.strip_prefix(BODY) {
            frame.function = name.to_owned();
        }
    }
}

/// The module in one address space, with shims where parameters cross in another form.
fn flat(machine: &Machine, bitcode: &[u8], kernels: &[CudaKernel]) -> Result<Vec<u8>, Error> {
    let context = Context::create();
    let text = parse_bitcode(&context, bitcode, "OpenCL C")?.to_text();
    let context = Context::create();
    let module = parse_ir(&context, &flatten(&text), machine.data_layout(), machine.triple())?;
    for kernel in kernels {
        shims::add(&context, &module, &kernel.signature);
    }
    Ok(module.to_bitcode())
}

/// Adds to a kernel what its debug information does not say: shared memory, and the block that it is
/// made for.
fn describe(kernel: &mut CudaKernel, module: &Module<'_>, text: &str) {
    let signature = &mut kernel.signature;
    let Some(function) = ModuleExt::function(module, &signature.symbol) else { return };
    if kernel.unsupported.is_empty() {
        shims::mark(signature, function);
    }
    if let Some(block) = required_block(text, &signature.symbol) {
        signature.limits = signature.limits.or(LaunchLimits { block, ..LaunchLimits::NONE });
    }
}

/// The block of `reqd_work_group_size`, which is metadata of the kernel.
pub(crate) fn required_block(text: &str, symbol: &str) -> Option<[u32; 3]> {
    let head = text
        .lines()
        .find(|line| line.starts_with("define ") && line.contains(&format!(" @{symbol}(")))?;
    let (_, number) = head.split_once("!reqd_work_group_size ")?;
    let number = number.split_whitespace().next()?;
    let node = text.lines().find_map(|line| line.strip_prefix(&format!("{number} = !{{")))?;
    let sizes = node.trim_end_matches('}').split(", ");
    let sizes: Vec<u32> = sizes.filter_map(|it| it.strip_prefix("i32 ")?.parse().ok()).collect();
    sizes.try_into().ok()
}

/// clang with everything but the names of files that it writes.
fn command(clang: &Clang, source: &CudaSource, headers: &Path) -> Command {
    let mut command = Command::new(&clang.program);
    command.current_dir(&source.package_root);
    command.args(["-x", "cl", "--target=nvptx64-nvidia-cuda", "-nogpulib"]);
    command.arg(format!("-march={ARCHITECTURE}"));
    command.args(["-Xclang", "-target-feature", "-Xclang", PTX]);
    // As for CUDA C++: attributes of optimised code, and nothing done.
    command.args(["-O2", "-Xclang", "-disable-llvm-passes", "-g", "-emit-llvm", "-c"]);
    command.args(["-Xclang", "-debug-info-kind=standalone", "-cl-kernel-arg-info"]);
    let features = FEATURES.map(|feature| format!("+{feature}")).join(",");
    command.args(["-Xclang", &format!("-cl-ext={features}")]);
    command.args([
        "-cl-std=CL3.0",
        "-fno-math-errno",
        "-ffp-contract=off",
        "-fno-color-diagnostics",
        POINTER_TYPES,
    ]);
    lower::add_files(&mut command, source, headers, &headers::OPENCL);
    command.args(arguments::translate(&source.arguments));
    command
}
