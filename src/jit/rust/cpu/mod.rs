//! Bitcode for the CPU: its object code, and how that becomes a part of this process.
//!
//! Needs: a module that the build has taken through all passes of the CPU, with kernels named by their entries and without
//! thread-local variables. Guaranteed: an object is linked once in a process while somebody holds it, and is removed then; functions
//! that know the size of their blocks are given blocks of no other size.

mod symbols;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError, Weak},
};

use kernelmill_artifact::{CPU_KERNEL_PREFIX, Fingerprint, LaunchLimits};
use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, IntPredicate, ModuleExt, Type, Value, parse_bitcode},
    jit::LinkedObject,
    machine::Machine,
};

use crate::{
    embedded::{
        CpuKernel, HeldCode,
        abi::{Block, Geometry, STRATEGY_COROUTINE},
    },
    jit::program::Made,
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

/// A program that is linked into this process, with its kernels by their entries.
pub(super) struct Linked {
    kernels: HashMap<&'static str, Box<CpuKernel>>,
    _object: LinkedObject,
    made: Arc<Made>,
}

impl Linked {
    /// The lowering strategy of a kernel, as people read it; `None` where there is no such kernel.
    pub(super) fn strategy(&self, entry: &str) -> Option<&'static str> {
        Some(match self.kernels.get(entry)?.strategy {
            STRATEGY_COROUTINE => "coroutine",
            _ => "thread loop or barrier regions",
        })
    }
}

impl HeldCode for Linked {
    fn fingerprint(&self) -> &str {
        self.made.fingerprint()
    }

    fn image(&self) -> &[u8] {
        &[]
    }

    fn kernel(&self, entry: &str) -> Option<*const CpuKernel> {
        self.kernels.get(entry).map(|kernel| std::ptr::from_ref(&**kernel))
    }
}

/// The objects of this process by the key of what they were made of.
type Objects = HashMap<Fingerprint, Weak<Linked>>;

static LINKED: Mutex<Option<Objects>> = Mutex::new(None);

/// The program of a key with an object, once that is linked. `limits` are those of its kernels by their entries.
pub(super) fn link(
    key: Fingerprint,
    made: &Arc<Made>,
    limits: &BTreeMap<&'static str, LaunchLimits>,
) -> Result<Arc<Linked>, String> {
    let mut linked = LINKED.lock().unwrap_or_else(PoisonError::into_inner);
    let linked = linked.get_or_insert_default();
    if let Some(found) = linked.get(&key).and_then(Weak::upgrade) {
        return Ok(found);
    }
    let object = LinkedObject::link(made.bytes(), &symbols::provided());
    let object = object.map_err(|error| error.to_string())?;
    let mut kernels = HashMap::new();
    for (entry, limits) in limits {
        let address = object.address(&format!("{CPU_KERNEL_PREFIX}{entry}"));
        let address = address.map_err(|error| error.to_string())?.cast::<CpuKernel>();
        // SAFETY: kernelmill's compiler has exported it under this name, and the object is there.
        let own = unsafe { &*address };
        let mut kernel = CpuKernel { ..*own };
        // One that knows its block is not run for several blocks as one.
        if limits.block != [0; 3] {
            kernel.joins_blocks = 0;
        }
        kernels.insert(*entry, Box::new(kernel));
    }
    let found = Arc::new(Linked { kernels, _object: object, made: Arc::clone(made) });
    linked.retain(|_, other| other.strong_count() > 0);
    linked.insert(key, Arc::downgrade(&found));
    Ok(found)
}

#[cfg(test)]
mod tests;
