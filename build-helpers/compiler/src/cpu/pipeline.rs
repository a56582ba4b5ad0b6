//! The pipeline of the CPU's passes, in order.
//!
//! On the module: shared memory, inlining, marks of recursion, simplification, quotients, merged atomics,
//! wide integers, canonicalisation. Then on each
//! kernel: undefined selects, sign extensions, the choice of the lowering, context lowering, and either coroutine lowering or
//! the functions that run a block ([`block_functions`]: private copies, single iterations, loop interchange, specialisation,
//! region formation, vectorisation). Then on the module again: outlined functions, divisors, shift amounts, source lines, verification, promotion of
//! shared memory, splitting of coroutines, stack probes.
//!
//! Each pass is a module whose header says what it needs and what it guarantees. Each adds a
//! [`PassReport`](crate::PassReport).

use std::collections::HashSet;

use kernelmill_artifact::Signature;
use kernelmill_llvm::{
    ir::{Linkage, ModuleExt, Value},
    machine::Machine,
};

use super::{
    abi::{self, Functions},
    block_functions::{self, Vectorized},
    block_shape::BlockShape,
    body::Body,
    code_size::Sizes,
    context, coroutine, divisors, early_exits, inlining, joined_blocks, lockstep, lowering,
    merged_atomics,
    operation::{Operation, operations},
    outlined::{Outlined, OutlinedExits},
    quotients, recursion,
    reports::Reports,
    shared_memory::{self, SharedLayout},
    shift_amounts, sign_extensions, simplification, source_lines,
    specialization::{self, BlockSize, SpecializedFunction},
    stack, undefined_selects, verify, wide_integers,
};
use crate::{
    CoroutineReason, Error, Lowering, Pass, PassFact, PassOutcome, Strategy,
    ir::reachable,
    passes::entry::{self, Entry, Unit},
};

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
    code: Code<'c>,
    strategy: Strategy,
    /// Whether its blocks wait for each other.
    cooperative: bool,
    /// The threads along the axis that neighbouring blocks may be run as one block of; 0 where they may not.
    joins_blocks: u32,
    /// The functions for blocks of one size.
    specialized: Vec<SpecializedFunction<'c>>,
    /// The functions that the vectoriser built.
    vectorized: Vec<Value<'c>>,
}

impl<'c> Kernel<'_, 'c> {
    fn vectorized(&self) -> verify::Built<'_, 'c> {
        verify::Built { kernel: &self.signature.name, functions: self.vectorized.clone() }
    }
}

/// What the lowering of a kernel's body gives.
struct Lowered<'c> {
    code: Code<'c>,
    strategy: Strategy,
    /// The functions for blocks of one size.
    specialized: Vec<SpecializedFunction<'c>>,
    /// The functions that the vectoriser built.
    vectorized: Vec<Value<'c>>,
    /// The threads of its vectors that stand for several; 0 where there are none.
    long_lanes: u32,
}

/// The functions of a kernel.
enum Code<'c> {
    Block(Functions<'c>),
    Coroutine { start: Value<'c>, resume: Value<'c> },
}

/// The module of a source, ready for its kernels to be lowered.
struct Prepared<'p, 'a, 'c> {
    unit: &'p Unit<'a, 'c>,
    machine: &'p Machine,
    reports: Reports<'p>,
    outlined: Outlined<'c>,
    sizes: Sizes,
    /// The shared memory of all kernels.
    shared: SharedLayout,
    has_lines: bool,
}

/// Builds the functions and the constant that the run time finds for each kernel.
pub(crate) fn enter<'c>(unit: &Unit<'_, 'c>, machine: &Machine) -> Result<Vec<Entry>, Error> {
    let prepared = Prepared::new(unit, machine)?;
    let kernels: Result<Vec<_>, _> =
        (0..unit.signatures.len()).map(|index| prepared.kernel(index)).collect();
    let kernels = kernels?;
    prepared.finish(&kernels)?;
    kernels.into_iter().map(|kernel| export(unit, kernel)).collect()
}

impl<'p, 'a, 'c> Prepared<'p, 'a, 'c> {
    /// Runs the passes on the module before those on kernels.
    fn new(unit: &'p Unit<'a, 'c>, machine: &'p Machine) -> Result<Self, Error> {
        let reports = Reports::of_module(unit.passes);
        let shared = shared_memory::lower(unit)?;
        let fact = PassFact::SharedBytes { bytes: shared.bytes };
        reports.add(Pass::SharedMemory, PassOutcome::of(shared.bytes > 0), Some(fact));
        reports.count(Pass::Inlining, inlining::context_users(unit));
        context::mark_waits(unit);
        recursion::mark(unit);
        simplification::simplify(unit, machine, reports)?;
        reports.count(Pass::Quotients, quotients::cancel(unit, machine)?);
        reports.count(Pass::MergedAtomics, merged_atomics::merge(unit, machine)?);
        reports.count(Pass::WideIntegers, wide_integers::split_copies(unit.context, unit.module));
        unit.backtraces.find(unit.context, unit.module);
        machine.run(unit.module, LINES_ONLY)?;
        let has_lines = unit.module.definitions().iter().any(|it| it.has_source_lines());
        context::let_panics_return(unit);
        simplification::canonicalize(unit, machine, reports)?;
        let (outlined, sizes) = (Outlined::find(unit)?, Sizes::new(unit)?);
        Ok(Self { unit, machine, reports, outlined, sizes, shared, has_lines })
    }

    /// Builds the body of the kernel with this place among the signatures, and the functions around it.
    fn kernel(&self, index: usize) -> Result<Kernel<'a, 'c>, Error> {
        let unit = self.unit;
        let signature = &unit.signatures[index];
        let reports = self.reports.of_kernel(&signature.name);
        let shim = entry::shim(unit, signature)?;
        reports.count(Pass::UndefinedSelects, undefined_selects::choose(unit, shim));
        reports.count(Pass::SignExtensions, sign_extensions::restore(unit, shim));
        self.warn_of_lockstep(signature, shim);
        let functions: Vec<_> = reachable(shim).into_iter().filter(|it| it.is_function()).collect();
        let uses = |is_so: &dyn Fn(Value<'c>) -> bool| functions.iter().any(|it| is_so(*it));
        let shared_bytes = if uses(&|it| context::uses_dynamic_shared(it)) {
            self.shared.bytes
        } else if uses(&|it| context::uses_shared(it)) {
            self.shared.of_kernel(index)
        } else {
            0
        };
        let asks_for_y = operations(shim)
            .iter()
            .any(|(call, done)| *done == Operation::ThreadIndex(1) && call.is_used());
        let shape = BlockShape::of(signature, asks_for_y);
        let cooperative = lowering::has_grid_barriers(shim);
        let exits = self.outlined.exits(shim);
        let mut lowering = self.early_exits(shim, self.lowering(shim, exits), reports);
        if let Lowering::BarrierRegions { warp_collectives, .. } = &mut lowering {
            *warp_collectives -= lowering::name_all_lanes(shim);
        }
        let fact = PassFact::Chosen { lowering: lowering.clone() };
        reports.add(Pass::LoweringChoice, PassOutcome::Unchanged, Some(fact));
        let refusals = joined_blocks::refusals(signature, shim, &lowering);
        let symbol = format!("kernelmill_cpu_{}_{}", unit.name, signature.symbol);
        let is_coroutine = matches!(lowering, Lowering::Coroutine(_));
        let own_shared = specialization::has_shared_alone(shim).then_some(shared_bytes);
        let body = Body::new(unit, signature, shim, is_coroutine, self.shared.bytes)?;
        reports.count(Pass::ContextLowering, body.lower(unit, &self.outlined));
        let exits_early = exits != OutlinedExits::Never;
        let built = match lowering {
            Lowering::Coroutine(_) => {
                reports.add(Pass::CoroutineLowering, PassOutcome::Changed, None);
                self.coroutine(&body, &symbol, (lowering, exits_early))
            }
            _ => {
                let (machine, sizes, block) = (self.machine, &self.sizes, BlockSize::of(signature));
                let (body, symbol) = (&body, &*symbol);
                let kernel = block_functions::Kernel {
                    unit,
                    machine,
                    body,
                    symbol,
                    reports,
                    exits,
                    sizes,
                    block,
                    shape,
                    own_shared,
                };
                self.block_functions(&kernel, lowering)?
            }
        };
        let Lowered { code, strategy, specialized, vectorized, long_lanes } = built;
        let joins_blocks = joined_blocks::report(reports, (&strategy, long_lanes), refusals);
        let body = body.function;
        Ok(Kernel {
            signature,
            symbol,
            shared_bytes,
            body,
            code,
            strategy,
            cooperative,
            joins_blocks,
            specialized,
            vectorized,
        })
    }

    /// Warns of a kernel that relies on lanes that run in lockstep.
    fn warn_of_lockstep(&self, kernel: &Signature, shim: Value<'c>) {
        let Some(found) = lockstep::find(shim, &|ty| self.machine.size_of(ty)) else { return };
        let place = |access: Value<'c>| match (access.debug_file(), access.debug_line()) {
            (Some(file), line) if line > 0 => format!("{file}:{line}"),
            _ => file(self.unit).to_owned(),
        };
        self.unit.warnings.borrow_mut().push(format!(
            "{}: kernel `{}` reads shared memory that another thread of the warp writes at {}, with no barrier \
             between: on the CPU, and on NVIDIA's devices since Volta, the threads of a warp do not run in \
             lockstep, so the read may come before the write; write `__syncwarp();` between them",
            place(found.load),
            kernel.name,
            place(found.store)
        ));
    }

    /// Lowers a kernel to a coroutine.
    fn coroutine(
        &self,
        body: &Body<'c>,
        symbol: &str,
        (lowering, exits_early): (Lowering, bool),
    ) -> Lowered<'c> {
        coroutine::split_at_waits(self.unit, body);
        let (start, resume) = coroutine::functions(self.unit, body, symbol, exits_early);
        let (code, strategy) =
            (Code::Coroutine { start, resume }, Vectorized::default().strategy(lowering));
        Lowered { code, strategy, specialized: Vec::new(), vectorized: Vec::new(), long_lanes: 0 }
    }

    /// Lowers a kernel to functions that run a block.
    fn block_functions(
        &self,
        kernel: &block_functions::Kernel<'_, 'a, 'c>,
        lowering: Lowering,
    ) -> Result<Lowered<'c>, Error> {
        let module = self.unit.module;
        let others: HashSet<_> = module.functions().into_iter().collect();
        let built = kernel.build()?;
        let new = module.definitions().into_iter().filter(|it| !others.contains(it));
        let vectorized = match self.unit.vectorize {
            true => new.chain([kernel.body.function]).collect(),
            false => Vec::new(),
        };
        let long_lanes = built.vectorized.long_lanes;
        let strategy = built.vectorized.strategy(lowering);
        Ok(Lowered {
            code: Code::Block(built.functions),
            strategy,
            specialized: built.specialized,
            vectorized,
            long_lanes,
        })
    }

    /// Chooses the lowering of a kernel.
    fn lowering(&self, shim: Value<'c>, exits: OutlinedExits) -> Lowering {
        match (self.unit.vectorize, context::suspends(shim)) {
            (true, _) => lowering::choose(shim, exits == OutlinedExits::Anywhere, &|ty| {
                self.machine.size_of(ty)
            }),
            (false, true) => Lowering::Coroutine(CoroutineReason::VectorizationOff),
            (false, false) => Lowering::ThreadLoop,
        }
    }

    /// Turns early exits of a kernel into exit barriers, and linearises divergent branches, where its barriers or
    /// warp collectives are divergent without; the lowering after that.
    fn early_exits(&self, shim: Value<'c>, found: Lowering, reports: Reports<'_>) -> Lowering {
        use CoroutineReason::{DivergentBarriers, DivergentWarpCollectives};
        let Lowering::Coroutine(DivergentBarriers { .. } | DivergentWarpCollectives { .. }) = found
        else {
            reports.add(Pass::EarlyExits, PassOutcome::Skipped, None);
            reports.add(Pass::Linearization, PassOutcome::Skipped, None);
            return found;
        };
        match early_exits::convert(self.unit, shim, &|ty| self.machine.size_of(ty)) {
            Ok(lowering) => {
                let Lowering::BarrierRegions { early_exits, joins, .. } = lowering else {
                    return lowering;
                };
                reports.count(Pass::EarlyExits, u64::from(early_exits));
                reports.count(Pass::Linearization, u64::from(joins));
                lowering
            }
            Err(early_exits::Refusal { exits: because, branches }) => {
                let fact = Some(PassFact::EarlyExitsKept { because });
                reports.add(Pass::EarlyExits, PassOutcome::Unchanged, fact);
                let fact = Some(PassFact::BranchesKept { because: branches });
                reports.add(Pass::Linearization, PassOutcome::Unchanged, fact);
                found
            }
        }
    }

    /// Runs the passes on the module after those on kernels.
    fn finish(&self, kernels: &[Kernel<'_, 'c>]) -> Result<(), Error> {
        let (unit, reports) = (self.unit, self.reports);
        reports.count(
            Pass::OutlinedFunctions,
            self.outlined.lower(unit, self.machine, self.shared.bytes),
        );
        let divisors = divisors::make_safe(unit, self.machine.triple());
        reports.count(Pass::Divisors, divisors);
        reports.count(Pass::ShiftAmounts, shift_amounts::limit(unit));
        let outcome = if self.has_lines { PassOutcome::Changed } else { PassOutcome::Skipped };
        if self.has_lines {
            source_lines::settle(unit);
            let refused = source_lines::drop_refused(unit.module, file(unit));
            unit.warnings.borrow_mut().extend(refused);
        }
        reports.add(Pass::SourceLines, outcome, None);
        let vectorized: Vec<_> = kernels.iter().map(Kernel::vectorized).collect();
        verify::kernels(unit, &vectorized)?;
        reports.add(Pass::Verification, PassOutcome::Unchanged, None);
        let specialized: Vec<_> = kernels.iter().flat_map(|kernel| &kernel.specialized).collect();
        let promoted = specialization::finish(unit, self.machine, &specialized)?;
        let mut promoted = promoted.into_iter();
        for kernel in kernels {
            let count = promoted.by_ref().take(kernel.specialized.len()).filter(|it| *it).count();
            let reports = reports.of_kernel(&kernel.signature.name);
            match kernel.specialized.is_empty() {
                true => reports.add(Pass::Promotion, PassOutcome::Skipped, None),
                false => reports.count(Pass::Promotion, count as u64),
            }
        }
        self.machine.run(unit.module, SPLIT)?;
        let is_coroutine = |kernel: &&Kernel<'_, '_>| matches!(kernel.code, Code::Coroutine { .. });
        let count = kernels.iter().filter(is_coroutine).count();
        reports.count(Pass::CoroutineSplitting, count as u64);
        let probed = stack::probe(unit.context, unit.module, self.machine.triple());
        reports.count(Pass::StackProbes, probed);
        Ok(())
    }
}

/// The file that the source is known by.
fn file<'a>(unit: &Unit<'a, '_>) -> &'a str {
    unit.signatures.first().map_or(unit.name, |kernel| &kernel.file)
}

/// Exports the constant that describes a kernel.
fn export<'c>(unit: &Unit<'_, 'c>, kernel: Kernel<'_, 'c>) -> Result<Entry, Error> {
    let functions = match kernel.code {
        Code::Block(functions) => functions,
        Code::Coroutine { start, resume } => {
            let functions = coroutine::finished(unit, kernel.body, (start, resume))?;
            for function in [start, resume] {
                function.set_linkage(Linkage::Internal);
            }
            functions
        }
    };
    abi::export(unit, &kernel.symbol, kernel.shared_bytes, &functions, kernel.joins_blocks);
    Ok(Entry {
        symbol: kernel.signature.symbol.to_string(),
        static_shared_bytes: u32::try_from(kernel.shared_bytes).unwrap_or(u32::MAX),
        cooperative: kernel.cooperative,
        cpu_symbol: Some(kernel.symbol),
        strategy: Some(kernel.strategy),
    })
}
