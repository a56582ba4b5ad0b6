//! Decoding of a module: declarations, bodies, kernels, contents of variables.

use super::context::ModuleContext;
use super::function::{self, Body};
use super::globals;
use super::layout::lay_out;
use crate::program::{Kernel, Program, Unsupported};
use crate::ptx::{self, Ast, Function, ParseErrors, Statement};

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
    let mut context = ModuleContext::default();
    context.program.files = tree.files.iter().map(|&(n, path)| (n, path.into())).collect();
    globals::declare(tree, &mut context);
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
            if bytes > MOST_PARAMETER_BYTES {
                let message = format!(
                    "{bytes} bytes of parameters, at most {MOST_PARAMETER_BYTES} are allowed"
                );
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

/// Most bytes of the parameters of a kernel (PTX ISA, "Kernel Function Parameters").
const MOST_PARAMETER_BYTES: u32 = 32_764;

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
