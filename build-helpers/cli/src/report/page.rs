//! The report as one page of HTML that needs no network: for each binary a table with bars, the curves of occupancy,
//! and the code of each kernel beside its source lines.

use super::{
    charts::{occupancy, share},
    facts::{BinaryFacts, KernelFacts},
    listing::{Sources, pieces},
    usage::{driver, text},
};
use crate::{assembly, package::Built};
use anyhow::Result;
use kernelmill_build::{dump::kernel_of, manifest::BinaryKind};
use minijinja::{Environment, Value, context};
use std::path::Path;

const PAGE: &str = include_str!("../../templates/pages/report.html");
const STYLE: &str = include_str!("../../templates/pages/style.css");

/// The name of each column, its unit, and its number of a kernel.
type Column = (&'static str, &'static str, fn(&KernelFacts<'_>) -> Option<u64>);

const COLUMNS: [Column; 9] = [
    ("registers", "", |it| it.usage.resources.registers.map(u64::from)),
    ("scalar registers", "", |it| it.usage.resources.scalar_registers.map(u64::from)),
    ("spill stores", "bytes", |it| it.usage.resources.spill_stores.map(u64::from)),
    ("spill loads", "bytes", |it| it.usage.resources.spill_loads.map(u64::from)),
    ("spilled registers", "", |it| it.usage.resources.spilled_registers.map(u64::from)),
    ("stack", "bytes", |it| it.usage.resources.stack_bytes.map(u64::from)),
    ("shared", "bytes", |it| it.usage.resources.static_shared_bytes.map(u64::from)),
    ("constant", "bytes", |it| it.usage.resources.constant_bytes.map(u64::from)),
    ("instructions", "", |it| it.usage.instructions.map(|count| count as u64)),
];

/// Renders the page. `root` is the folder that the names of sources begin in.
pub(super) fn render(built: &Built, binaries: &[BinaryFacts<'_>], root: &Path) -> Result<String> {
    let mut sources = Sources::new(root);
    let largest = binaries.iter().map(|it| it.binary.bytes).max().unwrap_or_default();
    let sections: Vec<_> = binaries
        .iter()
        .map(|facts| section(built, facts, largest, &mut sources))
        .collect::<Result<_>>()?;
    let kernels = built.manifest.kernels.iter().map(|kernel| {
        context! { name => kernel.name.clone(), signature => kernel.signature.clone(), place => format!("{}:{}", kernel.file, kernel.line) }
    });
    let values = context! {
        title => format!("Kernels of {}", built.name),
        style => Value::from_safe_string(STYLE.to_owned()),
        version => built.manifest.kernelmill.clone(),
        kernels => kernels.collect::<Vec<_>>(),
        sections,
    };
    Ok(Environment::new().render_named_str("report.html", PAGE, values)?)
}

/// What the page shows of a binary.
fn section(
    built: &Built,
    facts: &BinaryFacts<'_>,
    largest: u64,
    sources: &mut Sources,
) -> Result<Value> {
    let columns: Vec<_> = COLUMNS
        .into_iter()
        .filter(|(_, _, number)| facts.kernels.iter().any(|kernel| number(kernel).is_some()))
        .collect();
    // The bar of one kernel alone would say nothing.
    let is_alone = facts.kernels.len() == 1;
    let most = |number: fn(&KernelFacts<'_>) -> Option<u64>| {
        let numbers = facts.kernels.iter().filter_map(number);
        if is_alone { 0 } else { numbers.max().unwrap_or_default() }
    };
    let row = |kernel: &KernelFacts<'_>| {
        let cells: Vec<_> = columns
            .iter()
            .map(|(_, _, number)| {
                let value = number(kernel);
                context! { text => text(value), share => share(value.unwrap_or_default(), most(*number)) }
            })
            .collect();
        let strategy = kernel.compiled.strategy.as_ref().map(ToString::to_string);
        context! { name => kernel.name.clone(), cells, strategy }
    };
    let rows: Vec<_> = facts.kernels.iter().map(row).collect();
    let columns: Vec<_> =
        columns.iter().map(|(name, unit, _)| context! { name => *name, unit => *unit }).collect();
    let binary = facts.binary;
    let driver = driver(binary);
    Ok(context! {
        file => binary.file.clone(), target => binary.target.clone(), source => binary.source.clone(), bytes => binary.bytes,
        share => share(binary.bytes, largest), columns, rows, driver,
        has_strategy => facts.kernels.iter().any(|kernel| kernel.compiled.strategy.is_some()),
        chart => occupancy(&facts.kernels).map(Value::from_safe_string),
        listings => listings(built, facts, sources)?,
    })
}

/// The code of each kernel beside its source lines.
fn listings(built: &Built, facts: &BinaryFacts<'_>, sources: &mut Sources) -> Result<Vec<Value>> {
    let text = match facts.binary.kind {
        BinaryKind::Ptx => facts.text.clone(),
        BinaryKind::Cubin => Some(assembly::with_lines(&built.path(&facts.binary.file))?),
        _ => None,
    };
    let Some(text) = text else { return Ok(Vec::new()) };
    let listing = |kernel: &KernelFacts<'_>| {
        let code = kernel_of(&text, &kernel.compiled.entry)?;
        let pieces: Vec<_> = pieces(code, &text, sources)
            .into_iter()
            .map(|it| context! { place => it.place, source => it.source, code => it.code })
            .collect();
        Some(context! { name => kernel.name.clone(), pieces })
    };
    Ok(facts.kernels.iter().filter_map(listing).collect())
}
