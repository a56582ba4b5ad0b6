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
mod body;
mod code_size;
mod context;
mod copy;
mod coroutine;
mod inlining;
mod instructions;
mod interchange;
mod lowering;
mod operation;
mod outlined;
mod processor_levels;
mod promotion;
mod region_formation;
mod shared_memory;
mod source_lines;
mod specialization;
mod thread_loop;
mod undefined_selects;
mod uniformity;
mod vectorize;
mod verify;
mod warp_collectives;
mod wide_integers;
mod workarounds;

use std::collections::HashSet;

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    ir::{Linkage, ModuleExt, Type, Value},
    machine::Machine,
};

use crate::{
    CoroutineReason, Error, Lowering, ScalarReason, Strategy, entry,
    place::reachable,
    target::{Entry, Unit},
};
use abi::Functions;
use body::Body;
use code_size::Sizes;
use outlined::{Jumps, OutOfLine};
use specialization::{BlockSize, Known, Sized};
use vectorize::{Blocks, Run};
pub(crate) use workarounds::store_single_lanes;

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
    strategy: Strategy,
    /// The functions for blocks of one size.
    sized: Vec<Sized<'c>>,
    /// The functions that the vectoriser built.
    vectorized: Vec<Value<'c>>,
}

impl<'c> Kernel<'_, 'c> {
    fn vectorized(&self) -> verify::Built<'_, 'c> {
        verify::Built { kernel: &self.signature.name, functions: self.vectorized.clone() }
    }
}

/// How it runs.
enum Road<'c> {
    Block(Functions<'c>),
    Coroutine { start: Value<'c>, resume: Value<'c> },
}

/// Builds the functions and the constant that the run time finds for each kernel.
pub(crate) fn enter<'c>(unit: &Unit<'_, 'c>, machine: &Machine) -> Result<Vec<Entry>, Error> {
    let shared_bytes = shared_memory::lower(unit)?;
    inlining::context_users(unit);
    context::mark_waits(unit);
    machine.run(unit.module, SIMPLIFY)?;
    wide_integers::split_copies(unit);
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
        source_lines::settle(unit);
        unit.warnings.borrow_mut().extend(source_lines::drop_refused(unit.module, file(unit)));
    }
    let vectorized: Vec<_> = kernels.iter().map(Kernel::vectorized).collect();
    verify::kernels(unit, &vectorized)?;
    let sized: Vec<_> = kernels.iter().flat_map(|kernel| &kernel.sized).collect();
    specialization::finish(unit, machine, &sized)?;
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
    undefined_selects::choose(unit, shim);
    let uses_shared =
        reachable(shim).into_iter().any(|value| value.is_function() && context::uses_shared(value));
    let jumps = out_of_line.jumps(shim);
    let lowering = match (unit.lanes, context::suspends(shim)) {
        (true, _) => lowering::choose(shim, jumps == Jumps::Anywhere, &|ty| machine.size_of(ty)),
        (false, true) => Lowering::Coroutine(CoroutineReason::VectorizationOff),
        (false, false) => Lowering::ThreadLoop,
    };
    let symbol = format!("kernelmill_cpu_{}_{}", unit.name, signature.symbol);
    let waits = matches!(lowering, Lowering::Coroutine(_));
    let own_shared = specialization::has_shared_alone(shim).then_some(shared_bytes);
    let body = Body::new(unit, signature, shim, waits, shared_bytes)?;
    body.lower(unit, out_of_line);
    let shared_bytes = if uses_shared { shared_bytes } else { 0 };
    if waits {
        coroutine::split_at_waits(unit, &body);
        let (start, resume) = coroutine::functions(unit, &body, &symbol, jumps != Jumps::Never);
        let road = Road::Coroutine { start, resume };
        let strategy = Vectorized::default().strategy(lowering);
        let body = body.function;
        return Ok(Kernel {
            signature,
            symbol,
            shared_bytes,
            body,
            road,
            strategy,
            sized: Vec::new(),
            vectorized: Vec::new(),
        });
    }
    let known = BlockSize::of(signature).map(|block| (block, own_shared));
    let others: HashSet<_> = unit.module.functions().into_iter().collect();
    let built = whole_blocks(unit, machine, (&body, known), &symbol, (jumps, sizes))?;
    let (road, strategy) = (Road::Block(built.functions), built.vectorized.strategy(lowering));
    let new = unit.module.definitions().into_iter().filter(|it| !others.contains(it));
    let vectorized = if unit.lanes { new.chain([body.function]).collect() } else { Vec::new() };
    let (body, sized) = (body.function, built.sized);
    Ok(Kernel { signature, symbol, shared_bytes, body, road, strategy, sized, vectorized })
}

/// What the vectoriser made of a kernel.
#[derive(Default)]
struct Vectorized {
    widths: Vec<u32>,
    scalar: Option<ScalarReason>,
    block: Option<[u32; 3]>,
    interchanged_loops: u32,
}

impl Vectorized {
    fn strategy(self, lowering: Lowering) -> Strategy {
        let Self { widths, scalar, block, interchanged_loops } = self;
        Strategy { lowering, widths, scalar, block, interchanged_loops }
    }
}

/// The functions that run a whole block of a kernel, and how.
struct Built<'c> {
    functions: Functions<'c>,
    vectorized: Vectorized,
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
        (false, _) => Some(ScalarReason::VectorizationOff),
        (true, Jumps::Anywhere) => Some(ScalarReason::ExitInOutlinedFunction),
        (true, Jumps::InPanics | Jumps::Never) => sizes.too_large(body.function),
    };
    let in_step = if why.is_none() { interchange::loops(unit, machine, body)? } else { 0 };
    let known = known.filter(|_| why.is_none());
    let known = known.map(|known| Known::new(unit, machine, body, known)).transpose()?.flatten();
    region_formation::at_barriers(unit, body.function);
    region_formation::one_return(unit, body.function);
    let mut run = [None; abi::VARIANTS];
    let (mut thread_bytes, mut lanes, mut all_sized) = (0, Vec::new(), Vec::new());
    for (index, variant) in processor_levels::of(machine.triple()).iter().enumerate() {
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
                vectorize::run(unit, body, symbol, (variant.lanes, blocks), &size).inspect(apply)
            }
        };
        match any {
            Ok(built) => {
                thread_bytes = thread_bytes.max(built.bytes_of_thread);
                run[index] = Some(guarded(unit, built.functions[0], symbol, jumps));
                lanes.extend((variant.lanes > 1).then_some(variant.lanes));
                all_sized.extend(built.is_sized.then(|| Sized::new(built, variant.lanes)));
            }
            Err(reason) => why = Some(reason),
        }
    }
    let Some(why) = why else {
        let vectorized = Vectorized {
            widths: lanes,
            scalar: None,
            block: known.filter(|_| !all_sized.is_empty()).map(|known| known.block.threads),
            interchanged_loops: in_step,
        };
        let functions = Functions::Loop { thread_bytes, run };
        return Ok(Built { functions, vectorized, sized: all_sized });
    };
    let vectorized = Vectorized { scalar: Some(why), ..Vectorized::default() };
    let has_barriers = body.function.calls().into_iter().any(context::is_barrier);
    if !has_barriers {
        let functions = thread_loop::functions(unit, body, symbol, jumps != Jumps::Never);
        return Ok(Built { functions, vectorized, sized: all_sized });
    }
    let built = vectorize::run(unit, body, symbol, (1, Blocks::Any), &size).map_err(|reason| {
        Error::Vectorization { kernel: symbol.to_owned(), message: reason.to_string() }
    })?;
    let run = [Some(guarded(unit, built.functions[0], symbol, jumps)), None, None];
    let functions = Functions::Loop { thread_bytes: built.bytes_of_thread, run };
    Ok(Built { functions, vectorized, sized: all_sized })
}

/// The function, in one that catches threads that jump where they can.
fn guarded<'c>(unit: &Unit<'_, 'c>, run: Value<'c>, symbol: &str, jumps: Jumps) -> Value<'c> {
    match jumps {
        Jumps::Never => run,
        Jumps::InPanics | Jumps::Anywhere => thread_loop::catching(unit, run, symbol),
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
        strategy: Some(kernel.strategy),
    })
}
