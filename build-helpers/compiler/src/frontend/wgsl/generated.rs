//! SPIR-V of WGSL that the compiler has written for kernels in other languages. Their code checks its indices itself, or
//! promises them, so that naga adds no checks.

use std::collections::BTreeMap;

use naga::{
    Barrier, Block, Function, Handle, Module, Statement,
    back::spv::{self, Capability, WriterFlags, ZeroInitializeWorkgroupMemoryMode},
    front::wgsl,
    proc::{BoundsCheckPolicies, BoundsCheckPolicy},
    valid::{Capabilities, ValidationFlags, Validator},
};

use super::{fence::FENCE, spirv::VERSION};
use crate::Error;

/// The SPIR-V of a text, whose entry points get the names that they have here.
///
/// # Errors
///
/// [`Error::Internal`] for a text that is not valid.
pub(crate) fn spirv_of_kernels(
    file: &str,
    text: &str,
    names: &BTreeMap<String, String>,
) -> Result<Vec<u8>, Error> {
    let wrong = |what: String| Error::Internal(format!("{file}: the WGSL of its kernels: {what}"));
    let mut module =
        wgsl::parse_str(text).map_err(|error| wrong(error.emit_to_string_with_path(text, file)))?;
    let has = Capabilities::SHADER_INT64
        | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS
        | Capabilities::FLOAT64;
    make_fences(&mut module);
    let info = Validator::new(ValidationFlags::all(), has)
        .validate(&module)
        .map_err(|error| wrong(error.emit_to_string_with_path(text, file)))?;
    for entry in &mut module.entry_points {
        if let Some(name) = names.get(&entry.name) {
            entry.name.clone_from(name);
        }
    }
    let unchecked = BoundsCheckPolicy::Unchecked;
    let capabilities =
        [Capability::Shader, Capability::Int64, Capability::Int64Atomics, Capability::Float64];
    let options = spv::Options {
        lang_version: VERSION,
        flags: WriterFlags::empty(),
        capabilities: Some(capabilities.into_iter().collect()),
        bounds_check_policies: BoundsCheckPolicies {
            index: unchecked,
            buffer: unchecked,
            image_load: unchecked,
            binding_array: unchecked,
        },
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ..spv::Options::default()
    };
    let words =
        spv::write_vec(&module, &info, &options, None).map_err(|error| wrong(error.to_string()))?;
    Ok(exact(&words).iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// The words before the first instruction.
const HEADER: usize = 5;

/// The operations of floating-point numbers that a compiler may join, by their numbers: `OpFAdd`, `OpFSub` and `OpFMul`.
const ARITHMETIC: [u32; 3] = [129, 131, 133];
const OP_DECORATE: u32 = 71;
const OP_TYPE_VOID: u32 = 19;
const NO_CONTRACTION: u32 = 42;

/// A module whose floating-point operations are done one by one, each with its own rounding
/// ([SPIR-V, "NoContraction"](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Decoration)).
fn exact(words: &[u32]) -> Vec<u32> {
    let (mut decorations, mut place, mut at) = (Vec::new(), None, HEADER);
    while let Some(first) = words.get(at) {
        let (code, length) = (first & 0xffff, (first >> 16) as usize);
        if code == OP_DECORATE || code == OP_TYPE_VOID {
            place.get_or_insert(at);
        }
        if ARITHMETIC.contains(&code)
            && let Some(result) = words.get(at + 2)
        {
            decorations.extend([3 << 16 | OP_DECORATE, *result, NO_CONTRACTION]);
        }
        at += length.max(1);
    }
    let (head, tail) = words.split_at(place.unwrap_or(HEADER));
    [head, &*decorations, tail].concat()
}

/// Puts fences where the function is called that stands for them.
fn make_fences(module: &mut Module) {
    let named =
        |(_, function): &(Handle<Function>, &Function)| function.name.as_deref() == Some(FENCE);
    let Some((fence, _)) = module.functions.iter().find(named) else { return };
    for entry in &mut module.entry_points {
        make_fences_of(&mut entry.function.body, fence);
    }
}

fn make_fences_of(block: &mut Block, fence: Handle<Function>) {
    for statement in block.iter_mut() {
        match statement {
            Statement::Call { function, .. } if *function == fence => {
                *statement = Statement::MemoryBarrier(Barrier::STORAGE | Barrier::WORK_GROUP);
            }
            Statement::Block(body) => make_fences_of(body, fence),
            Statement::If { accept, reject, .. } => {
                make_fences_of(accept, fence);
                make_fences_of(reject, fence);
            }
            Statement::Loop { body, continuing, .. } => {
                make_fences_of(body, fence);
                make_fences_of(continuing, fence);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| make_fences_of(&mut case.body, fence));
            }
            _ => {}
        }
    }
}
