//! Kernels on the CPU.
//!
//! A kernel becomes a function of the run time's interface (`src/backend/cpu/abi.rs` of
//! `kernelmill`), by one of two roads:
//!
//! - **loop**: a kernel in which threads never wait for each other is called in a loop over the
//!   threads of a block.
//! - **coroutine**: a kernel with barriers or warp operations becomes a coroutine, one a thread,
//!   that gives control back to the run time where it waits. It is right for every kernel: in
//!   divergent loops, and where threads have returned before.
//!
//! What a thread knows of itself (its indices, its block's shared memory) is its *context*.
//! Functions that use it are inlined into the kernel, where it is at hand as values; those that
//! cannot be, because they are recursive or called through pointers, find it in a thread-local
//! variable that the kernel fills in before it calls them.

mod abi;
mod block_loop;
mod body;
mod context;
mod coroutine;
mod inline;
mod operation;
mod out_of_line;
mod shared;
mod uniformity;

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    ir::{Linkage, Value},
    machine::Machine,
};

use crate::{
    Error, entry,
    place::reachable,
    target::{Entry, Unit},
};
use abi::Functions;
use body::Body;
use out_of_line::OutOfLine;

/// Simplifies kernels before they are cut at their barriers, so that little is alive across one.
const SIMPLIFY: &str = "always-inline,cgscc(inline),globaldce,function(sroa<modify-cfg>,\
    early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,\
    loop-mssa(loop-rotate,licm),sroa<modify-cfg>,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg)";

/// Splits coroutines.
const SPLIT: &str = "coro-early,cgscc(coro-split),coro-cleanup";

/// A kernel whose body is complete.
struct Kernel<'a, 'c> {
    signature: &'a Signature,
    symbol: String,
    shared_bytes: u64,
    body: Value<'c>,
    road: Road<'c>,
}

/// How it runs.
enum Road<'c> {
    Loop(Functions<'c>),
    Coroutine { start: Value<'c>, resume: Value<'c> },
}

/// Builds the functions and the constant that the run time finds for each kernel.
pub(crate) fn enter<'c>(unit: &Unit<'_, 'c>, machine: &Machine) -> Result<Vec<Entry>, Error> {
    unit.module.strip_debug_info();
    let shared_bytes = shared::lower(unit)?;
    inline::context_users(unit);
    machine.run(unit.module, SIMPLIFY)?;
    context::let_panics_return(unit);
    let out_of_line = OutOfLine::find(unit)?;

    let kernels: Result<Vec<_>, _> = unit
        .signatures
        .iter()
        .map(|signature| kernel(unit, signature, &out_of_line, shared_bytes))
        .collect();
    let kernels = kernels?;
    out_of_line.lower(unit, shared_bytes);
    machine.run(unit.module, SPLIT)?;
    kernels.into_iter().map(|kernel| finish(unit, kernel)).collect()
}

/// Builds the body of a kernel and the functions around it.
fn kernel<'a, 'c>(
    unit: &Unit<'_, 'c>,
    signature: &'a Signature,
    out_of_line: &OutOfLine<'c>,
    shared_bytes: u64,
) -> Result<Kernel<'a, 'c>, Error> {
    let shim = entry::shim(unit, signature)?;
    let uses_shared =
        reachable(shim).into_iter().any(|value| value.is_function() && context::uses_shared(value));
    let waits = context::suspends(shim);
    let symbol = format!("kernelmill_cpu_{}_{}", unit.name, signature.name);
    let body = Body::new(unit, signature, shim, waits, shared_bytes)?;
    body.lower(unit, out_of_line);
    let jumps = out_of_line.jumps();
    let road = if waits {
        coroutine::split_at_waits(unit, &body);
        let (start, resume) = coroutine::functions(unit, &body, &symbol, jumps);
        Road::Coroutine { start, resume }
    } else {
        Road::Loop(block_loop::functions(unit, &body, &symbol, jumps))
    };
    let shared_bytes = if uses_shared { shared_bytes } else { 0 };
    Ok(Kernel { signature, symbol, shared_bytes, body: body.function, road })
}

/// Exports the constant that describes a kernel.
fn finish<'c>(unit: &Unit<'_, 'c>, kernel: Kernel<'_, 'c>) -> Result<Entry, Error> {
    let functions = match kernel.road {
        Road::Loop(functions) => functions,
        Road::Coroutine { start, resume } => {
            let functions = coroutine::finished(unit, kernel.body, (start, resume))?;
            for function in [start, resume] {
                function.set_linkage(Linkage::LLVMInternalLinkage);
            }
            functions
        }
    };
    abi::export(unit, &kernel.symbol, kernel.shared_bytes, &functions);
    Ok(Entry {
        symbol: kernel.signature.name.to_string(),
        static_shared_bytes: u32::try_from(kernel.shared_bytes).unwrap_or(u32::MAX),
        cpu_symbol: Some(kernel.symbol),
    })
}
