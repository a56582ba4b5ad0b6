//! LLVM's passes over kernels before they are lowered.
//!
//! Needs: functions that are to be inlined are marked. Guarantees: kernels have no calls of such
//! functions, little is live across a barrier, and control flow is canonical: branches of two ways,
//! loops with one latch and exits of their own ([LLVM's loop
//! terminology](https://llvm.org/docs/LoopTerminology.html)), and values that leave loops through phis
//! (LCSSA).

use kernelmill_llvm::{ir::ModuleExt, machine::Machine};

use super::{code_size::instructions, reports::Reports};
use crate::{Error, Pass, PassFact, PassOutcome, passes::entry::Unit};

/// Simplifies kernels before they are split at their barriers. Functions lose their stack slots before they are inlined:
/// once for each, and not in each of their copies in one long function, where it takes time that grows with the square
/// of its length. Control flow waits until then, as calls of functions with barriers are not marked as such.
const SIMPLIFY: &str = "function(sroa<preserve-cfg>,early-cse),always-inline,cgscc(inline),globaldce,function(sroa<modify-cfg>,\
    early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-simplify,lcssa,\
    loop-mssa(loop-rotate,licm),loop(indvars,loop-unroll-full),sroa<modify-cfg>,early-cse<memssa>,\
    instcombine<no-verify-fixpoint>,simplifycfg)";

/// Brings control flow into its canonical form.
const CANONICAL: &str = "function(lower-switch,loop-simplify,lcssa)";

/// Simplifies all functions of a module.
pub(super) fn simplify(
    unit: &Unit<'_, '_>,
    machine: &Machine,
    reports: Reports<'_>,
) -> Result<(), Error> {
    run(unit, machine, SIMPLIFY, (Pass::Simplification, reports))
}

/// Makes the control flow of all functions of a module canonical.
pub(super) fn canonicalize(
    unit: &Unit<'_, '_>,
    machine: &Machine,
    reports: Reports<'_>,
) -> Result<(), Error> {
    run(unit, machine, CANONICAL, (Pass::Canonicalization, reports))
}

fn run(
    unit: &Unit<'_, '_>,
    machine: &Machine,
    passes: &str,
    (pass, reports): (Pass, Reports<'_>),
) -> Result<(), Error> {
    let count = || -> u64 {
        unit.module.definitions().into_iter().map(|function| instructions(function) as u64).sum()
    };
    let before = count();
    machine.run(unit.module, passes)?;
    let after = count();
    let fact = PassFact::Instructions { before, after };
    reports.add(pass, PassOutcome::of(before != after), Some(fact));
    Ok(())
}
