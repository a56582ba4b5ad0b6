//! Unroll-and-jam of the loop over the rows of a block: a body for several threads along y at once.
//!
//! Needs: a lowered body without barriers. Guarantees: a body that does for the threads of neighbouring rows what the
//! kernel's body does for each of them, where these rows agree on some conditions. The method is
//! [unroll-and-jam](https://doi.org/10.1145/197320.197366): the loop over rows is unrolled, and the copies of the loops
//! in it become one loop.
//!
//! ```text
//! for y { for k { sum += a[y][k] * b[k][x] } }
//!
//! for y in steps of 4 { for k { row = b[k][x]; sum0 += a[y][k] * row; sum1 += a[y + 1][k] * row; .. } }
//! ```
//!
//! What does not depend on the row is computed and read once for all of them, and the sums of the rows do not wait for each
//! other. Threads of a block run in any order, as no thread waits for another: it is right to let those of several rows take each
//! instruction together, if all of them come to it. Every branch must be decided alike in the rows: by what does not
//! depend on the row at all, or by comparisons that can be made before, for each row ([`Jammed::agreed`]). Where rows do not
//! agree, each of them has the kernel's body.

mod analysis;
mod build;

use kernelmill_llvm::ir::Value;

use crate::passes::entry::Unit;
use analysis::Analysis;

/// A body for several rows.
pub(super) struct Jammed<'c> {
    /// As the kernel's body, for the thread that it is given and those that follow along y.
    pub(super) function: Value<'c>,
    /// How many they are.
    pub(super) rows: u32,
    /// The comparisons of the kernel's body that have to have the same result in each row. They are computed from
    /// parameters other than the index along x alone, and may be poison in a thread that does not come to them.
    pub(super) agreed: Vec<Value<'c>>,
}

/// Makes a body for several rows of one for a single thread; `None` where that is not right, or not expected to pay.
pub(super) fn jam<'c>(
    unit: &Unit<'_, 'c>,
    function: Value<'c>,
    thread: [Value<'c>; 3],
) -> Option<Jammed<'c>> {
    let analysis = Analysis::new(function, thread);
    let rows = analysis.rows()?;
    let agreed = analysis.agreed()?;
    let function = build::rows(unit, function, thread[1], (&analysis.dependent, rows));
    Some(Jammed { function, rows, agreed })
}
