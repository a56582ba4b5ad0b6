//! Decoding of a module: declarations, bodies, kernels, contents of variables.

use super::context::ModuleContext;
use super::function::{self, Body};
use super::globals;
use super::layout::lay_out;
use crate::program::{Kernel, Program, Unsupported};
use crate::ptx::{self, Ast, Function, ParseErrors, StateSpace, Statement};

/// A decoded module.
pub(crate) struct Decoded {
    pub(crate) program: Program,
    /// Of each function of the program.
    pub(crate) bodies: Vec<Body>,
    pub(crate) kernels: Vec<Kernel>,
    pub(crate) unsupported: Vec<Unsupported>,
}

/// Decodes a module.
pub(crate) fn decode(tree: &Ast<'_>) -> Result<Decoded, ParseErrors> {
    let mut context = ModuleContext {
        version: tree.version,
        capability: tree.target.0,
        specific: tree.target.1.is_some(),
        ..ModuleContext::default()
    };
    context.program.files = tree.files.iter().map(|&(n, path)| (n, path.into())).collect();
    globals::declare(tree, &mut context);
    check_constants(tree, &mut context);
    let mut bodies: Vec<Body> = Vec::new();
    bodies.resize_with(context.program.functions.len(), Body::default);
    let mut kernels = Vec::new();
    for function in &tree.functions {
        let Some(&index) = context.symbols.functions.get(function.name) else { continue };
        if function.body.is_some() {
            bodies[index] = function::decode(function, &mut context);
        }
    }
    for function in &tree.functions {
        if let (true, Some(_)) = (function.entry, &function.body)
            && let Some(&index) = context.symbols.functions.get(function.name)
        {
            let kernel = kernel(function, index, &context.program);
            let last = kernel.parameters.last();
            let bytes = last.map_or(0, |last| last.offset.saturating_add(last.size));
            let most = most_parameter_bytes(tree.version);
            if bytes > most {
                let message = format!("{bytes} bytes of parameters, at most {most} are allowed");
                context.error(function.line, message);
            }
            kernels.push(kernel);
        }
    }
    globals::initialise(tree, &mut context);
    if !context.errors.is_empty() {
        context.errors.sort_by_key(|error| error.line);
        return Err(ParseErrors(context.errors));
    }
    context.unsupported.sort_by_key(|found| found.line);
    Ok(Decoded { program: context.program, bodies, kernels, unsupported: context.unsupported })
}

/// Most bytes of the parameters of a kernel in a version of PTX (PTX ISA, "Kernel Function Parameters"). Below 8.1
/// `ptxas` takes more than the 4096 that the ISA has.
fn most_parameter_bytes(version: (u32, u32)) -> u32 {
    if version >= (8, 1) { 32_764 } else { 4352 }
}

/// Most bytes of the variables in constant memory.
const CONSTANT_BYTES: u64 = 64 << 10;

/// Refuses more variables in constant memory than it has room for.
fn check_constants(tree: &Ast<'_>, context: &mut ModuleContext<'_>) {
    let mut bytes = 0_u64;
    for variable in tree.variables.iter().filter(|it| it.home == StateSpace::Const) {
        bytes = bytes.next_multiple_of(u64::from(variable.align.max(1)));
        bytes = bytes.saturating_add(variable.bytes.unwrap_or(0));
        if bytes > CONSTANT_BYTES {
            let message = format!("more than the {CONSTANT_BYTES} bytes of constant memory");
            return context.error(variable.line, message);
        }
    }
}

fn kernel(function: &Function<'_>, index: usize, program: &Program) -> Kernel {
    let bound = function.required_block.or(function.max_block);
    Kernel {
        name: function.name.to_string(),
        parameters: lay_out(&function.parameters, 0),
        static_shared_bytes: program.shared_layout(index).bytes,
        max_threads: bound.map(|[x, y, z]| x.saturating_mul(y).saturating_mul(z)),
        required_block: function.required_block,
        registers: registers(function.body.as_deref().unwrap_or(&[])).min(255),
        local_bytes: program.functions[index].frame_bytes,
        function: index,
    }
}

/// Registers declared are many more than are alive at once; the device has few.
fn registers(body: &[Statement<'_>]) -> u32 {
    let words = body.iter().map(|statement| match statement {
        Statement::Registers(ptx::Registers { ty, lanes, count, .. }) => {
            count.unwrap_or(1).saturating_mul(lanes * ty.bytes().div_ceil(4)) / 4
        }
        Statement::Block(inner) => registers(inner),
        _ => 0,
    });
    words.fold(0, u32::saturating_add).clamp(16, 255)
}
