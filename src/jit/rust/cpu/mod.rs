//! Bitcode for the CPU: its object code, and how that becomes a part of this process.
//!
//! Needs: a module that the build has taken through all passes of the CPU, with kernels named by their entries and without
//! thread-local variables. Guaranteed: an object is linked once in a process, for as long as it runs; functions that know the
//! size of their blocks are given blocks of no other size.

mod symbols;

use std::{
    collections::{BTreeMap, HashMap},
    ffi::c_void,
    sync::{Mutex, PoisonError},
};

use kernelmill_artifact::{CPU_KERNEL_PREFIX, Fingerprint, LaunchLimits};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, IntPredicate, ModuleExt, Type, Value, parse_bitcode},
    jit::LinkedObject,
    machine::Machine,
};

use crate::embedded::{
    CpuEntry, CpuKernel,
    abi::{Block, Geometry, STRATEGY_COROUTINE},
};

/// Where the addresses of the functions for whole blocks are among the fields of a kernel's constant.
const RUN: std::ops::Range<usize> = 8..11;

/// The machine that the build has compiled a module for.
pub(super) fn machine(bitcode: &[u8]) -> Result<Machine, String> {
    let context = Context::create();
    let module = parse_bitcode(&context, bitcode, "module").map_err(|error| error.to_string())?;
    let triple = module.get_triple();
    Machine::of_host(&triple.as_str().to_string_lossy()).map_err(|error| error.to_string())
}

/// Tells the functions that run whole blocks of a kernel how large these are. A coroutine is not told.
pub(super) fn assume_block<'c>(
    context: &'c Context,
    module: &Module<'c>,
    entry: &str,
    block: [u32; 3],
) -> Result<(), String> {
    let symbol = format!("{CPU_KERNEL_PREFIX}{entry}");
    let described = module.global(&symbol).and_then(Value::initializer);
    let described = described.ok_or_else(|| {
        format!(
            "internal error of kernelmill: the bitcode has no symbol `{symbol}`; please report it"
        )
    })?;
    let (pointer, word) = (Type::pointer(context, 0), Type::int(context, 32));
    let assume = module.intrinsic("llvm.assume", &[]);
    let fields = described.operands();
    for function in fields.get(RUN).unwrap_or_default().iter().filter(|it| it.is_function()) {
        let start = function.blocks().first().and_then(|it| it.first_after_phis());
        let Some(start) = start else { continue };
        let builder = Builder::new(context);
        builder.before(start);
        let own = function.parameters()[1];
        let at = std::mem::offset_of!(Block, geometry) as u64;
        let geometry = builder.load(pointer, builder.offset(context, own, at));
        for (axis, threads) in (0_u64..).zip(block) {
            let at = std::mem::offset_of!(Geometry, block) as u64 + 4 * axis;
            let size = builder.load(word, builder.offset(context, geometry, at));
            let same = builder.compare(IntPredicate::Eq, size, word.constant(u64::from(threads)));
            builder.call(assume, &[same]);
        }
    }
    Ok(())
}

/// The objects of this process by the key of what they were made of.
static LINKED: Mutex<Option<HashMap<Fingerprint, &'static LinkedObject>>> = Mutex::new(None);

/// The kernels of an object by their entries, once it is linked.
pub(super) fn link(
    key: Fingerprint,
    object: &[u8],
    limits: &BTreeMap<&'static str, LaunchLimits>,
) -> Result<HashMap<&'static str, CpuEntry>, String> {
    let mut linked = LINKED.lock().unwrap_or_else(PoisonError::into_inner);
    let linked = linked.get_or_insert_default();
    let object = match linked.get(&key) {
        Some(object) => *object,
        None => {
            let made = LinkedObject::link(object, &symbols::provided());
            let made: &'static _ = Box::leak(Box::new(made.map_err(|error| error.to_string())?));
            linked.entry(key).or_insert(made)
        }
    };
    let mut kernels = HashMap::new();
    for (entry, limits) in limits {
        let address = object.address(&format!("{CPU_KERNEL_PREFIX}{entry}"));
        let address = address.map_err(|error| error.to_string())?;
        kernels.insert(*entry, kernel(address, limits.block != [0; 3]));
    }
    Ok(kernels)
}

/// The kernel that a linked object has at an address. One that knows its block is not run for several blocks as one.
fn kernel(address: *const c_void, knows_block: bool) -> CpuEntry {
    // SAFETY: kernelmill's compiler has exported it under this name, and linked objects stay as they are for ever.
    let own: &'static CpuKernel = unsafe { &*address.cast() };
    let kernel = match knows_block {
        true => Box::leak(Box::new(CpuKernel { joins_blocks: 0, ..*own })),
        false => own,
    };
    let strategy = match kernel.strategy {
        STRATEGY_COROUTINE => "coroutine",
        _ => "thread loop or barrier regions",
    };
    // SAFETY: it is that constant or the copy of it, which is never freed.
    unsafe { CpuEntry::new(kernel) }.with_strategy(strategy)
}

#[cfg(test)]
mod tests;
