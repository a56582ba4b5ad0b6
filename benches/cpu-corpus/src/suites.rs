//! The rows of all suites.

use crate::{
    hecbench, polybench, rodinia,
    row::{Outcome, Table},
};

/// Runs the rows that are wanted.
///
/// # Errors
///
/// What a row reports.
pub(crate) fn rows(mut table: Table) -> Outcome {
    polybench::rows(&mut table)?;
    rodinia::rows(&mut table)?;
    hecbench::rows(&mut table)?;
    table.finish()
}
