//! SPIR-V for OpenCL devices: kernels of every language that has a module of LLVM's.
//!
//! rustc's LLVM has no back end for [SPIR-V](https://llvm.org/docs/SPIRVUsage.html), so the module goes to a clang
//! that has one, as text, which other versions of LLVM read as well. Until then it is one for NVIDIA's processors, whose
//! layout of data is the same and whose pointers without a space are generic too; clang is given it with the numbers
//! that OpenCL has for address spaces ([`text`]). What that back end gets wrong, or would pass on as it is, is replaced
//! before ([`atomics`], [`expansions`]) or refused ([`limits`]).

mod atomics;
pub(super) mod barriers;
mod divisions;
mod dynamic_shared;
mod early_exits;
pub(super) mod expansions;
mod joins;
pub(super) mod limits;
mod panics;
mod reductions;
mod slice;
pub(super) mod spaces;
mod switches;
mod text;
mod transfers;
pub(super) mod uniformity;
mod updates;
pub(super) mod variables;
mod wide_arithmetic;

use std::{mem::offset_of, process::Command};

use kernelmill_artifact::{ArtifactKind, PanicRecord, Target};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{ModuleExt, TypeKind, Value, calling_convention},
    machine::Machine,
};

pub(super) use atomics::make_record_relaxed as record_atomics;
use spaces::{GLOBAL, PRIVATE, SHARED};
pub(super) use wide_arithmetic::HighWord;

use super::backend::{Backend, Edit, Emitted};
use crate::{
    Error,
    cpu::split_wide_copies,
    diagnostic::Fault,
    frontend::opencl::repair,
    passes::{
        address_spaces,
        call_chains::CallChains,
        check::ValidModule,
        entry::{self, Entry, GpuAbi, Unit},
    },
    target_info::{AddressSpaces, TargetInfo},
    toolchain::{KeptRun, TemporaryFolder, Toolchain, read, write},
};

/// SPIR-V.
pub(crate) struct Spirv {
    machine: Machine,
}

/// The version of SPIR-V, which devices of OpenCL 2.2 and 3.0 read.
const TRIPLE: &str = "spirv64v1.2-unknown-unknown";

/// How clang says that a back end has failed.
const BACKEND: &str = "fatal error: error in backend: ";

/// Passes that find the spaces of what was moved to the thread's own memory late.
const INFER_SPACES: &str = "function(infer-address-spaces,instcombine<no-verify-fixpoint>)";

impl Spirv {
    pub(crate) fn new() -> Result<Self, Error> {
        let machine = Machine::new("nvptx64-nvidia-cuda", "sm_70", "", false)?;
        Ok(Self { machine: machine.with_slots_in(PRIVATE) })
    }

    /// Replaces what LLVM's back end for SPIR-V has no code for, or wrong code.
    pub(super) fn work_around_llvm_with<'c>(
        &self,
        context: &'c Context,
        module: &Module<'c>,
        high_word: HighWord,
    ) {
        split_wide_copies(context, module);
        let expanded = wide_arithmetic::expand(context, module, &self.machine, high_word);
        debug_assert!(expanded.is_ok(), "{expanded:?}");
        reductions::expand(context, module);
        // Tables that the optimiser has made of branches.
        self.address_spaces()
            .into_iter()
            .for_each(|spaces| address_spaces::move_globals(context, module, spaces));
        address_spaces::move_allocations(context, module, PRIVATE);
        // The names of passes are known to every LLVM.
        let inferred = self.machine.run(module, INFER_SPACES);
        debug_assert!(inferred.is_ok(), "{inferred:?}");
        atomics::make_relaxed(context, module);
        let expanded = updates::expand(context, module, &self.machine);
        debug_assert!(expanded.is_ok(), "{expanded:?}");
        let expanded = transfers::expand(context, module, &self.machine);
        debug_assert!(expanded.is_ok(), "{expanded:?}");
        let lowered = switches::lower(module, &self.machine);
        debug_assert!(lowered.is_ok(), "{lowered:?}");
        variables::drop_unused(module);
        drop_hints(module);
        let joined = joins::join(context, module, &self.machine);
        debug_assert!(joined.is_ok(), "{joined:?}");
    }

    /// Runs clang on the text of a module.
    fn translate(toolchain: &Toolchain, text: &str, name: &str) -> Result<Vec<u8>, Error> {
        let target = Target::Spirv64;
        let Some(clang) = &toolchain.spirv else { return Err(Error::NoSpirv { target }) };
        let folder = TemporaryFolder::new(&toolchain.scratch, "spirv")?;
        let (input, output) =
            (write(&folder, "kernel.ll", text.as_bytes())?, folder.path.join("kernel.spv"));
        let mut command = Command::new(clang);
        command.env("TMPDIR", &folder.path).arg(format!("--target={TRIPLE}"));
        command.args(["-O0", "-Xclang", "-disable-llvm-passes", "-Wno-override-module"]);
        command.args(["-fno-color-diagnostics", "-fno-crash-diagnostics", "-x", "ir", "-c"]);
        command.arg("-o").arg(&output).arg(&input);
        let subject = format!("{name} for {target}");
        let (limits, scratch) = (toolchain.limits, &*toolchain.scratch);
        let kept = KeptRun { limits, scratch, name: &subject, folder: &folder, root: None };
        let result = kept.output(&mut command)?;
        if !result.status.success() {
            let said = String::from_utf8_lossy(&result.stderr).into_owned();
            let stderr = said.lines().find_map(|line| line.strip_prefix(BACKEND));
            let stderr = stderr.map_or(said.clone(), str::to_owned) + HELP;
            let kept = kept.keep(&command);
            return Err(Error::Tool { tool: "clang", subject, stderr, kept });
        }
        let module = read(&output)?;
        repair(&module)
            .ok_or_else(|| Error::Internal(format!("clang wrote no SPIR-V for {subject}")))
    }
}

/// Intrinsics that only tell the optimiser something.
const HINTS: [&str; 3] = ["llvm.lifetime.", "llvm.assume", "llvm.experimental.noalias.scope.decl"];

/// Removes what only tells the optimiser something.
fn drop_hints(module: &Module<'_>) {
    let is_hint = |it: &Value<'_>| {
        let name = it.called_function().map(Value::name).unwrap_or_default();
        HINTS.iter().any(|hint| name.starts_with(hint))
    };
    for function in module.definitions() {
        function.calls().into_iter().filter(is_hint).for_each(Value::erase);
    }
}

/// What to do where clang does not take the module.
const HELP: &str = "\nhelp: leave the target `spirv64` out for this source, or set `clang` (KERNELMILL_CLANG) to \
                    a newer clang: the code is LLVM IR of the version of rustc's LLVM";

impl TargetInfo for Spirv {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn is_gpu(&self) -> bool {
        true
    }

    fn ends_group(&self) -> Option<&'static str> {
        Some(limits::END)
    }

    fn operations(&self) -> String {
        let launch = offset_of!(PanicRecord, launch).to_string();
        let printed = offset_of!(PanicRecord, printed).to_string();
        [
            include_str!("../numeric.ll"),
            include_str!("../half_soft.ll"),
            include_str!("../rsqrt.ll"),
            include_str!("../memory.ll"),
            &include_str!("operations.ll").replace("LAUNCH", &launch).replace("PRINTED", &printed),
            include_str!("../copy_plain.ll"),
            include_str!("../tma_none.ll"),
            include_str!("../wgmma_none.ll"),
            include_str!("../tensor_none.ll"),
        ]
        .concat()
    }

    fn device_scope(&self) -> &'static str {
        "device"
    }

    fn address_spaces(&self) -> Option<AddressSpaces> {
        // A pointer to constant memory of OpenCL's is never generic.
        Some(AddressSpaces {
            global: GLOBAL,
            shared: SHARED,
            constant: GLOBAL,
            constant_variables: GLOBAL,
            private: PRIVATE,
            shared_align: 1,
        })
    }

    fn panic_record_space(&self) -> u32 {
        GLOBAL
    }

    fn sends_lines(&self) -> bool {
        true
    }

    fn counts_arguments(&self) -> bool {
        true
    }

    fn provides(&self, function: &str) -> bool {
        limits::BUILT_IN.contains(&function) || atomics::is_built_in(function)
    }

    fn missing_operation(&self, operation: &str) -> Option<&'static str> {
        limits::missing(operation)
    }

    fn faults<'c>(&self, module: &Module<'c>, call_chains: &CallChains<'c>) -> Vec<Fault> {
        limits::find(module, call_chains)
    }

    fn lacks(&self, kind: TypeKind) -> bool {
        let small = [TypeKind::Half, TypeKind::BFloat];
        let wide = [TypeKind::Fp128, TypeKind::X86Fp80, TypeKind::PpcFp128, TypeKind::X86Amx];
        small.contains(&kind) || wide.contains(&kind)
    }

    fn calls_pointers(&self) -> bool {
        false
    }

    fn processors(&self) -> &'static [&'static str] {
        &[]
    }
}

impl Backend for Spirv {
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error> {
        variables::inline_users(unit.context, unit.module);
        let faults: Vec<_> = { unit.signatures.iter() }
            .filter_map(|it| limits::of_parameters(&Target::Spirv64, it))
            .collect();
        if !faults.is_empty() {
            return Err(Error::Invalid { targets: vec![Target::Spirv64], faults });
        }
        let abi = GpuAbi {
            convention: calling_convention::SPIR_KERNEL,
            by_value: "byval",
            in_struct: true,
            constant: None,
            parameter_space: PRIVATE,
            pointer_space: GLOBAL,
            shared_argument: Some(SHARED),
            memory_argument: Some(GLOBAL),
            machine: &self.machine,
            decorate: &|_, _, _| {},
        };
        let entries = entry::gpu(unit, &abi)?;
        Ok(entries)
    }

    fn lead_panics<'c>(
        &self,
        context: &'c Context,
        module: &Module<'c>,
        kernels: &[Value<'c>],
    ) -> Result<(), Error> {
        variables::place(context, module, &self.machine)?;
        kernels.iter().try_for_each(|kernel| {
            dynamic_shared::pass(context, *kernel);
            early_exits::mask(context, module, &self.machine, *kernel)?;
            panics::lead(context, module, &self.machine, *kernel)
        })
    }

    fn work_around_llvm<'c>(&self, context: &'c Context, module: &Module<'c>) {
        self.work_around_llvm_with(context, module, HighWord::BuiltIn);
    }

    fn emit(
        &self,
        toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
        _edit: Edit<'_>,
    ) -> Result<Emitted, Error> {
        let (module, name) = (module.module(), module.name());
        module.strip_debug_info();
        let text = text::for_clang(&module.to_text(), text::contracts(module));
        let mut bytes = Self::translate(toolchain, &text, name)?;
        if let Some(memory) = variables::memory(module) {
            let written = memory.write(&bytes);
            bytes = written
                .ok_or_else(|| Error::Internal(format!("{name} has a variable without a place")))?;
        }
        Ok(Emitted::new(ArtifactKind::Spirv, bytes))
    }
}
