//! Kernels on the CPU.
//!
//! A kernel becomes a function of the run time's interface (`src/embedded/abi.rs` of
//! `kernelmill`), by one of three roads ([`road`] chooses):
//!
//! - **loop**: a kernel in which threads never wait for each other is run in a loop over the
//!   threads of a block, many at once as the lanes of vectors ([`lanes`]).
//! - **regions**: where all barriers and warp operations are proven to be reached by all threads of a
//!   block together ([`uniformity`]), the kernel is cut at them, and each piece is such a loop.
//! - **coroutine**: every other kernel with barriers or warp operations becomes a coroutine, one a
//!   thread, that gives control back to the run time where it waits. It is right for every kernel:
//!   in divergent loops, and where threads have returned before.
//!
//! What a thread knows of itself (its indices, its block's shared memory) is its *context*.
//! Functions that use it are inlined into the kernel, where it is at hand as values; those that
//! cannot be, because they are recursive or called through pointers, find it in a thread-local
//! variable that the kernel fills in before it calls them.

mod abi;
mod block_loop;
mod body;
mod context;
mod copy;
mod coroutine;
mod cut;
mod exchange;
mod in_step;
mod inline;
mod lanes;
mod lines;
mod masked;
mod operation;
mod out_of_line;
mod registers;
mod road;
mod shared;
mod size;
mod sized;
mod undefined;
mod uniformity;
mod variants;
mod wide;

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    ir::{Linkage, ModuleExt, Type, Value},
    machine::Machine,
};

use crate::{
    Error,
    ir::reachable,
    passes::entry::{self, Entry, Unit},
};
use abi::Functions;
use body::Body;
use lanes::{Blocks, Run};
pub(crate) use masked::store_single_lanes;
use out_of_line::{Jumps, OutOfLine};
use road::Choice;
use size::Sizes;
use sized::{BlockSize, Known, Sized};

/// Simplifies kernels before they are cut at their barriers, so that little is alive across one.
const SIMPLIFY: &str = "always-inline,cgscc(inline),globaldce,function(sroa<modify-cfg>,\
    early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,\
    loop-mssa(loop-rotate,licm),loop(indvars,loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg)";

/// Brings control flow into the form that roads are chosen by: branches of two ways, loops with one
/// latch and exits of their own, and values that leave loops through phis.
const CANONICAL: &str = "function(lower-switch,loop-simplify,lcssa)";

/// Leaves of debug information what says of instructions where they are from. Variables are in
/// instructions that the passes here do not carry over.
const LINES_ONLY: &str = "strip-nonlinetable-debuginfo";

/// Splits coroutines.
const SPLIT: &str = "coro-early,cgscc(coro-split),coro-cleanup";

/// A kernel whose body is complete.
struct Kernel<'a, 'c> {
    signature: &'a Signature,
    symbol: String,
    shared_bytes: u64,
    body: Value<'c>,
    road: Road<'c>,
    /// For people.
    why: String,
    /// The functions for blocks of one size.
    sized: Vec<Sized<'c>>,
}

/// How it runs.
enum Road<'c> {
    Block(Functions<'c>),
    Coroutine { start: Value<'c>, resume: Value<'c> },
}

/// Builds the functions and the constant that the run time finds for each kernel.
pub(crate) fn enter<'c>(unit: &Unit<'_, 'c>, machine: &Machine) -> Result<Vec<Entry>, Error> {
    let shared_bytes = shared::lower(unit)?;
    inline::context_users(unit);
    context::mark_waits(unit);
    machine.run(unit.module, SIMPLIFY)?;
    wide::split_copies(unit);
    unit.backtraces.find(unit.context, unit.module);
    machine.run(unit.module, LINES_ONLY)?;
    let has_lines = unit.module.definitions().iter().any(|it| it.has_source_lines());
    context::let_panics_return(unit);
    machine.run(unit.module, CANONICAL)?;
    let out_of_line = OutOfLine::find(unit)?;

    let sizes = Sizes::new(unit)?;
    let kernels: Result<Vec<_>, _> = unit
        .signatures
        .iter()
        .map(|signature| kernel(unit, machine, signature, (&out_of_line, &sizes), shared_bytes))
        .collect();
    let kernels = kernels?;
    out_of_line.lower(unit, shared_bytes);
    if has_lines {
        lines::settle(unit);
        unit.warnings.borrow_mut().extend(lines::drop_refused(unit.module, file(unit)));
    }
    // LLVM's passes crash on what breaks its rules, and name nothing.
    unit.module.verify().map_err(|message| {
        Error::Internal(format!("LLVM refuses the kernels of {}: {message}", unit.name))
    })?;
    let sized: Vec<_> = kernels.iter().flat_map(|kernel| &kernel.sized).collect();
    sized::finish(unit, machine, &sized)?;
    machine.run(unit.module, SPLIT)?;
    kernels.into_iter().map(|kernel| finish(unit, kernel)).collect()
}

/// The file that the source is known by.
fn file<'a>(unit: &Unit<'a, '_>) -> &'a str {
    unit.signatures.first().map_or(unit.name, |kernel| &kernel.file)
}

/// Builds the body of a kernel and the functions around it.
fn kernel<'a, 'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    signature: &'a Signature,
    (out_of_line, sizes): (&OutOfLine<'c>, &Sizes),
    shared_bytes: u64,
) -> Result<Kernel<'a, 'c>, Error> {
    let shim = entry::shim(unit, signature)?;
    undefined::choose(unit, shim);
    let uses_shared =
        reachable(shim).into_iter().any(|value| value.is_function() && context::uses_shared(value));
    let jumps = out_of_line.jumps(shim);
    let choice = match (unit.lanes, context::suspends(shim)) {
        (true, _) => road::choose(shim, jumps == Jumps::Anywhere, &|ty| machine.size_of(ty)),
        (false, true) => Choice::Coroutine("threads wait for each other".to_owned()),
        (false, false) => Choice::Loop,
    };
    let symbol = format!("kernelmill_cpu_{}_{}", unit.name, signature.symbol);
    let waits = matches!(choice, Choice::Coroutine(_));
    let own_shared = sized::has_shared_alone(shim).then_some(shared_bytes);
    let body = Body::new(unit, signature, shim, waits, shared_bytes)?;
    body.lower(unit, out_of_line);
    let mut sized = Vec::new();
    let mut blocks = || -> Result<_, Error> {
        let known = BlockSize::of(signature).map(|block| (block, own_shared));
        let built = whole_blocks(unit, machine, (&body, known), &symbol, (jumps, sizes))?;
        sized = built.sized;
        Ok((built.functions, built.why))
    };
    let (road, why) = match choice {
        Choice::Coroutine(why) => {
            coroutine::split_at_waits(unit, &body);
            let (start, resume) = coroutine::functions(unit, &body, &symbol, jumps != Jumps::Never);
            (Road::Coroutine { start, resume }, format!("coroutine: {why}"))
        }
        Choice::Loop => {
            let (functions, why) = blocks()?;
            (Road::Block(functions), format!("loop: no thread waits for another, {why}"))
        }
        Choice::Regions(waits) => {
            let (functions, why) = blocks()?;
            (Road::Block(functions), format!("regions: {waits}, {why}"))
        }
    };
    let shared_bytes = if uses_shared { shared_bytes } else { 0 };
    Ok(Kernel { signature, symbol, shared_bytes, body: body.function, road, why, sized })
}

/// The functions that run a whole block of a kernel, and how.
struct Built<'c> {
    functions: Functions<'c>,
    why: String,
    sized: Vec<Sized<'c>>,
}

/// Builds the functions that run a whole block of a kernel, one for each kind of processor. What is
/// said of the blocks it is launched with comes with the bytes of shared memory, where nothing else
/// uses that.
fn whole_blocks<'c>(
    unit: &Unit<'_, 'c>,
    machine: &Machine,
    (body, known): (&Body<'c>, Option<(BlockSize, Option<u64>)>),
    symbol: &str,
    (jumps, sizes): (Jumps, &Sizes),
) -> Result<Built<'c>, Error> {
    let size = |ty: Type<'c>| machine.size_of(ty);
    let mut why = match (unit.lanes, jumps) {
        (false, _) => Some("lanes are off".to_owned()),
        (true, Jumps::Anywhere) => {
            Some("a function that can end its thread is not inlined".to_owned())
        }
        (true, Jumps::InPanics | Jumps::Never) => sizes.too_large(body.function),
    };
    let in_step = if why.is_none() { in_step::loops(unit, machine, body)? } else { 0 };
    let known = known.filter(|_| why.is_none());
    let known = known.map(|known| Known::new(unit, machine, body, known)).transpose()?.flatten();
    cut::at_barriers(unit, body.function);
    cut::one_return(unit, body.function);
    let mut run = [None; abi::VARIANTS];
    let (mut thread_bytes, mut lanes, mut all_sized) = (0, Vec::new(), Vec::new());
    for (index, variant) in variants::of(machine.triple()).iter().enumerate() {
        let Some(variant) = variant else { continue };
        if why.is_some() {
            break;
        }
        let sized =
            known.as_ref().and_then(|known| known.run(unit, symbol, (variant.lanes, sizes), &size));
        let apply = |built: &Run<'c>| {
            built.functions.iter().for_each(|function| variant.apply(unit.context, *function));
        };
        sized.iter().for_each(apply);
        let any = match (&known, sized) {
            (Some(known), Some(sized)) if known.block.is_exact => Ok(sized),
            (known, sized) => {
                let blocks = match (known, &sized) {
                    (Some(known), Some(sized)) => {
                        Blocks::AnyBut(known.block.threads, sized.functions[0])
                    }
                    _ => Blocks::Any,
                };
                all_sized.extend(sized.map(|sized| Sized::new(sized, variant.lanes)));
                lanes::run(unit, body, symbol, (variant.lanes, blocks), &size).inspect(apply)
            }
        };
        match any {
            Ok(built) => {
                thread_bytes = thread_bytes.max(built.bytes_of_thread);
                run[index] = Some(guarded(unit, built.functions[0], symbol, jumps));
                lanes.extend((variant.lanes > 1).then(|| variant.lanes.to_string()));
                all_sized.extend(built.is_sized.then(|| Sized::new(built, variant.lanes)));
            }
            Err(reason) => why = Some(reason.to_owned()),
        }
    }
    let Some(why) = why else {
        let mut why = format!("threads in groups of {}", lanes.join(", "));
        if let Some(known) = known.filter(|_| !all_sized.is_empty()) {
            why.push_str(&format!(", made for blocks of {}", known.block));
        }
        match in_step {
            0 => {}
            1 => why.push_str(", a loop in step"),
            _ => why.push_str(&format!(", {in_step} loops in step")),
        }
        let functions = Functions::Loop { thread_bytes, run };
        return Ok(Built { functions, why, sized: all_sized });
    };
    let why = format!("one thread after the other: {why}");
    let has_barriers = body.function.calls().into_iter().any(context::is_barrier);
    if !has_barriers {
        let functions = block_loop::functions(unit, body, symbol, jumps != Jumps::Never);
        return Ok(Built { functions, why, sized: all_sized });
    }
    let built = lanes::run(unit, body, symbol, (1, Blocks::Any), &size)
        .map_err(|reason| Error::Internal(format!("{symbol} cannot be built: {reason}")))?;
    let run = [Some(guarded(unit, built.functions[0], symbol, jumps)), None, None];
    let functions = Functions::Loop { thread_bytes: built.bytes_of_thread, run };
    Ok(Built { functions, why, sized: all_sized })
}

/// The function, in one that catches threads that jump where they can.
fn guarded<'c>(unit: &Unit<'_, 'c>, run: Value<'c>, symbol: &str, jumps: Jumps) -> Value<'c> {
    match jumps {
        Jumps::Never => run,
        Jumps::InPanics | Jumps::Anywhere => block_loop::catching(unit, run, symbol),
    }
}

/// Exports the constant that describes a kernel.
fn finish<'c>(unit: &Unit<'_, 'c>, kernel: Kernel<'_, 'c>) -> Result<Entry, Error> {
    let functions = match kernel.road {
        Road::Block(functions) => functions,
        Road::Coroutine { start, resume } => {
            let functions = coroutine::finished(unit, kernel.body, (start, resume))?;
            for function in [start, resume] {
                function.set_linkage(Linkage::Internal);
            }
            functions
        }
    };
    abi::export(unit, &kernel.symbol, kernel.shared_bytes, &functions);
    Ok(Entry {
        symbol: kernel.signature.symbol.to_string(),
        static_shared_bytes: u32::try_from(kernel.shared_bytes).unwrap_or(u32::MAX),
        cpu_symbol: Some(kernel.symbol),
        road: Some(kernel.why),
    })
}
