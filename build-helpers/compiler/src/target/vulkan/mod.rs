//! SPIR-V for Vulkan, of kernels in every language that has a module of LLVM's: written as WGSL, which naga compiles.
//!
//! A shader of Vulkan's has no pointers. Its buffers are variables with a number each, and their elements are named by
//! an index; so the module is that of [`Spirv`], for OpenCL, until each pointer is replaced by the
//! buffer that it points into, which has to be known or one of several that are ([`several`]), and an offset ([`memory`]). Buffers are arrays of words, since LLVM does
//! not say what a buffer's elements are. Control flow becomes structured by LLVM's own passes ([`structure`]).
//!
//! The host gives every kernel, in group 0, a buffer for each parameter of its signature, by the parameter's number; then
//! a uniform buffer of vectors of four words: the block's sizes and its bytes of dynamic shared memory, and for each parameter the number of elements (two words)
//! and the offset of the first in its buffer, in bytes, or `u32::MAX` for a null pointer; then the launch's panic record; then
//! the memory of the program's variables. The workgroup has one thread: the host writes the sizes of the launch's blocks into the module (`OpExecutionMode`).

mod access;
mod arrays;
mod body;
mod calls;
mod fused;
mod helpers;
mod instructions;
mod kernel;
mod memory;
mod operands;
mod operations;
mod scalars;
mod several;
mod structure;
mod tables;
mod vectors;

use std::collections::{BTreeMap, HashSet};

use kernelmill_artifact::{ArtifactKind, ParameterKind, ProgramMemory, Signature, Target};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Opcode, TypeKind, Value, calling_convention, parse_ir},
    machine::Machine,
};

use super::{
    backend::{Backend, Edit, Emitted},
    spirv::{
        HighWord, Spirv, barriers::is_barrier, expansions, limits, record_atomics, spaces,
        uniformity, variables,
    },
};
use crate::{
    Error,
    base::names::{
        DYNAMIC_SHARED_PARAMETERS, PANIC_RECORD_PARAMETER, PRINTS, PROGRAM_MEMORY_PARAMETER,
    },
    diagnostic::Fault,
    frontend::wgsl,
    ir::always_inline,
    passes::{
        call_chains::CallChains,
        check::ValidModule,
        entry::{Entry, Unit},
        lengths,
    },
    target_info::{AddressSpaces, TargetInfo},
    toolchain::Toolchain,
};
use kernel::{Binding, Kernel, Problem, Role, Source};
use structure::Structure;

/// SPIR-V for Vulkan.
pub(crate) struct Vulkan {
    spirv: Spirv,
}

/// The attribute of a kernel with what its parameters are.
const ROLES: &str = "kernelmill-bindings";

/// What the argument of a barrier has that not all threads reach together, below the line where they part.
const DIVERGENT: u64 = 1 << 8;
const LINE_SHIFT: u32 = 9;

/// Inlines what is left, and makes scalars of vectors: without passes that would make intrinsics of it again.
const SIMPLIFY: &str =
    "always-inline,globaldce,function(mem2reg,early-cse,scalarizer<load-store>,dce)";

impl Vulkan {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self { spirv: Spirv::new()? })
    }

    /// The text of a module, and what WGSL has no code for.
    fn text<'c>(&self, module: &Module<'c>) -> (String, Vec<String>, Vec<(Value<'c>, Problem)>) {
        let (mut texts, mut names, mut problems) = (String::new(), Vec::new(), Vec::new());
        for function in kernels(module) {
            let Some((roles, bindings)) = roles_of(function) else { continue };
            let mut own = Vec::new();
            match Structure::of(function) {
                _ if function.text_attribute(PRINTS).is_some() => {
                    own.push((function, Problem::new("prints")));
                }
                None => own.push((
                    function,
                    Problem::new("has unstructured control flow, with branches that are neither `if` nor `loop`"),
                )),
                Some(structure) => {
                    let (roles, bindings, machine) = (&*roles, &*bindings, self.spirv.machine());
                    let (structure, number) = (&structure, names.len());
                    let source = Source { function, number, roles, bindings, structure, machine };
                    texts.push_str(&Kernel::text_of(&source, &mut own));
                }
            }
            names.push(function.name());
            // One instruction after the other uses a pointer.
            let mut said = HashSet::new();
            own.retain(|(_, problem): &(_, Problem)| said.insert(problem.what.clone()));
            problems.append(&mut own);
        }
        let all = fused::used_by(&texts) + &texts;
        let all = helpers::used_by(&all) + &all;
        (all, names, problems)
    }
}

/// The kernels of a module.
fn kernels<'c>(module: &Module<'c>) -> Vec<Value<'c>> {
    let is_kernel = |it: &Value<'c>| it.calling_convention() == calling_convention::SPIR_KERNEL;
    module.definitions().into_iter().filter(is_kernel).collect()
}

/// What the parameters of a kernel are, as its attribute has it.
fn describe(signature: &Signature, record: Option<usize>) -> String {
    let mut words = Vec::new();
    for (number, parameter) in signature.parameters().iter().enumerate() {
        match &parameter.kind {
            ParameterKind::Slice { .. } => {
                words.extend([format!("a{number}"), format!("l{number}")])
            }
            ParameterKind::Pointer { .. } => words.push(format!("a{number}")),
            ParameterKind::Value(value) => words.push(format!("v{number}:{}", value.size())),
            ParameterKind::Shared { .. } => words.push(format!("s{number}")),
            // Refused.
            ParameterKind::TensorMap { .. } => words.push(format!("v{number}:0")),
        }
    }
    if let Some(record) = record {
        words.insert(record, "r".to_owned());
    }
    words.join(" ")
}

/// What the parameters of a kernel are, and what the host binds.
fn roles_of(kernel: Value<'_>) -> Option<(Vec<Role>, Vec<Binding>)> {
    let (mut roles, mut bindings) = (Vec::new(), Vec::new());
    for word in kernel.text_attribute(ROLES)?.split_whitespace() {
        let (kind, rest) = word.split_at(1);
        let (number, bytes) = rest.split_once(':').unwrap_or((rest, "0"));
        let number = number.parse::<usize>().unwrap_or(0);
        roles.push(match kind {
            "a" => {
                bindings.push(Binding::Buffer);
                Role::Address(number)
            }
            "l" => Role::Length(number),
            "s" => {
                bindings.push(Binding::Buffer);
                Role::Length(number)
            }
            "r" => Role::Record,
            "d" => Role::Dynamic,
            "m" => Role::Program,
            "n" => Role::DynamicBytes,
            _ => {
                bindings.push(Binding::Value(bytes.parse().unwrap_or(0)));
                Role::Value(number)
            }
        });
    }
    Some((roles, bindings))
}

/// Replaces intrinsics by functions of plain instructions.
fn expand<'c>(context: &'c Context, module: &Module<'c>, machine: &Machine) -> Result<(), Error> {
    let mut texts = BTreeMap::new();
    let builder = Builder::new(context);
    for call in module.definitions().into_iter().flat_map(Value::calls) {
        let Some(callee) = call.called_function().filter(|it| it.is_intrinsic()) else { continue };
        let Some(name) = expansions::name(&callee.name()) else { continue };
        texts.entry(name.clone()).or_insert_with(|| expansions::definition(&callee.name()));
        let arguments = call.arguments();
        builder.before(call);
        let function = module.declare(&name, callee.value_type());
        call.replace_with(builder.call(function, &arguments));
        call.erase();
    }
    if texts.is_empty() {
        return Ok(());
    }
    let text: String = texts.values().map(String::as_str).collect();
    let text = text.replace("define internal", "define") + expansions::DECLARATIONS;
    module.link(parse_ir(context, &text, machine.data_layout(), machine.triple())?)?;
    Ok(())
}

impl TargetInfo for Vulkan {
    fn machine(&self) -> &Machine {
        self.spirv.machine()
    }

    fn is_gpu(&self) -> bool {
        true
    }

    fn ends_group(&self) -> Option<&'static str> {
        self.spirv.ends_group()
    }

    fn operations(&self) -> String {
        self.spirv.operations()
    }

    fn device_scope(&self) -> &'static str {
        self.spirv.device_scope()
    }

    fn address_spaces(&self) -> Option<AddressSpaces> {
        self.spirv.address_spaces()
    }

    fn panic_record_space(&self) -> u32 {
        self.spirv.panic_record_space()
    }

    fn counts_arguments(&self) -> bool {
        true
    }

    fn provides(&self, function: &str) -> bool {
        self.spirv.provides(function)
    }

    fn missing_operation(&self, operation: &str) -> Option<&'static str> {
        limits::missing(operation)
    }

    fn faults<'c>(&self, module: &Module<'c>, call_chains: &CallChains<'c>) -> Vec<Fault> {
        let mut faults = limits::of_functions(&Target::Vulkan, module, call_chains);
        for barrier in module.definitions().into_iter().flat_map(Value::calls) {
            let flags = Some(barrier).filter(is_barrier).and_then(|it| it.operand(0).as_u64());
            let Some(flags) = flags.filter(|flags| flags & DIVERGENT != 0) else { continue };
            let line = Some((flags >> LINE_SHIFT) as u32).filter(|line| *line > 0);
            faults.push(limits::divergent_barrier(call_chains.to(barrier), line));
        }
        let (.., problems) = self.text(module);
        faults.extend(problems.into_iter().map(|(place, problem)| {
            let frames = match place.is_function() {
                true => call_chains.to_start_of(place),
                false => call_chains.to(place),
            };
            limits::fault(&Target::Vulkan, problem.what, frames)
        }));
        faults
    }

    fn lacks(&self, kind: TypeKind) -> bool {
        self.spirv.lacks(kind)
    }

    fn calls_pointers(&self) -> bool {
        false
    }

    fn processors(&self) -> &'static [&'static str] {
        &[]
    }
}

impl Backend for Vulkan {
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error> {
        let faults: Vec<_> = { unit.signatures.iter() }
            .filter_map(|it| limits::of_parameters(&Target::Vulkan, it))
            .collect();
        if !faults.is_empty() {
            return Err(Error::Invalid { targets: vec![Target::Vulkan], faults });
        }
        let entries = self.spirv.enter(unit)?;
        for (signature, entry) in unit.signatures.iter().zip(&entries) {
            let Some(kernel) = unit.module.function(&entry.symbol) else { continue };
            if lengths::lengths_of(signature) > 0 {
                let what = format!("kernel `{}` has lengths of its buffers", signature.name);
                return Err(Error::Internal(what));
            }
            let record = kernel.text_attribute(PANIC_RECORD_PARAMETER);
            let record = record.and_then(|index| index.parse().ok());
            let mut roles = describe(signature, record);
            if kernel.text_attribute(PROGRAM_MEMORY_PARAMETER).is_some() {
                roles.push_str(" m");
            }
            if kernel.text_attribute(DYNAMIC_SHARED_PARAMETERS).is_some() {
                roles.push_str(" d n");
            }
            kernel.add_text_attribute(unit.context, ROLES, &roles);
        }
        Ok(entries)
    }

    fn lead_panics<'c>(
        &self,
        context: &'c Context,
        module: &Module<'c>,
        kernels: &[Value<'c>],
    ) -> Result<(), Error> {
        self.spirv.lead_panics(context, module, kernels)?;
        if let Some(start) = module.function(ProgramMemory::START) {
            start.add_text_attribute(context, ROLES, "m");
        }
        Ok(())
    }

    fn work_around_llvm<'c>(&self, context: &'c Context, module: &Module<'c>) {
        record_atomics(module);
        for atomic in module.definitions().into_iter().flat_map(Value::instructions) {
            if matches!(atomic.opcode(), Opcode::AtomicRmw | Opcode::AtomicCmpXchg) {
                atomic.make_not_volatile();
            }
        }
        self.spirv.work_around_llvm_with(context, module, HighWord::Function);
        let machine = self.spirv.machine();
        let expanded = expand(context, module, machine);
        debug_assert!(expanded.is_ok(), "{expanded:?}");
        for function in module.definitions() {
            if function.calling_convention() != calling_convention::SPIR_KERNEL {
                always_inline(context, function);
            }
        }
        let simplified = machine.run_with(module, SIMPLIFY, false);
        debug_assert!(simplified.is_ok(), "{simplified:?}");
        for kernel in kernels(module) {
            // Structured control flow has other branches.
            for (barrier, branch) in uniformity::divergent_barriers(kernel) {
                let flags = DIVERGENT | u64::from(branch.debug_line()) << LINE_SHIFT;
                barrier.set_operand(0, barrier.operand(0).ty().constant(flags));
            }
            structure::join_returns(context, kernel);
        }
        let structured = machine.run_with(module, structure::PASSES, false);
        debug_assert!(structured.is_ok(), "{structured:?}");
    }

    fn wgsl(&self, module: &Module<'_>) -> Option<String> {
        Some(self.text(module).0)
    }

    fn emit(
        &self,
        _toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
        _edit: Edit<'_>,
    ) -> Result<Emitted, Error> {
        let (text, names, problems) = self.text(module.module());
        if let Some((_, problem)) = problems.first() {
            return Err(Error::Internal(format!("{} {}", module.name(), problem.what)));
        }
        let entries = names.iter().enumerate();
        let entries = entries.map(|(number, name)| (kernel::entry_name(number), name.clone()));
        let entries = entries.chain(fused::entries());
        let bytes = wgsl::spirv_of_kernels(module.name(), &text, &entries.collect())?;
        let bytes = match variables::memory(module.module()) {
            Some(memory) => memory.write(&bytes).ok_or_else(|| {
                Error::Internal(format!("{} has a variable without a place", module.name()))
            })?,
            None => bytes,
        };
        Ok(Emitted::new(ArtifactKind::Spirv, bytes))
    }
}
