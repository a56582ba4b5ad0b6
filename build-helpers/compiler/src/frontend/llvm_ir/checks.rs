//! What keeps a module from having one address space, and what no target has.

use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{ModuleExt, Opcode, Type, Value},
};

use super::{operations, origin::Origin, source::IrSource};

/// The address spaces of memory that a block shares, and of a thread's own.
const NARROW: [u32; 2] = [3, 5];

/// Where something stands in the text of a file; nothing for bitcode.
pub(super) struct Lines<'t>(pub(super) Option<&'t str>);

impl Lines<'_> {
    /// The line, from 1, of the first that `is_it` holds for; 0 where there is none.
    pub(super) fn find(&self, is_it: impl Fn(&str) -> bool) -> u32 {
        let place = self.0.and_then(|text| text.lines().position(is_it));
        place.map_or(0, |place| place as u32 + 1)
    }

    /// The line of a name's first use, or definition.
    pub(super) fn of_name(&self, start: &str, name: &str) -> u32 {
        let plain = format!("@{name}");
        let quoted = format!("@\"{name}\"");
        self.find(|line| {
            let ends = |at: usize| {
                let next = line[at + plain.len()..].chars().next().unwrap_or(' ');
                !(next.is_ascii_alphanumeric() || "._$-".contains(next))
            };
            line.trim_start().starts_with(start)
                && (line.contains(&quoted) || line.match_indices(&plain).any(|(at, _)| ends(at)))
        })
    }
}

/// A text about a place of a file, as compilers write it.
pub(super) fn fault(source: &IrSource, line: u32, message: &str) -> String {
    let place = match line {
        0 => source.display.clone(),
        line => format!("{}:{line}", source.display),
    };
    format!("{place}: error: {message}")
}

/// Everything that keeps a module from being compiled at all.
pub(super) fn faults(
    module: &Module<'_>,
    text: &str,
    origin: Origin,
    (source, lines): (&IrSource, &Lines<'_>),
) -> Vec<String> {
    let mut found = Vec::new();
    // From LLVM 23 on properties may stand behind it, in parentheses.
    let is_assembly = |line: &str| line.starts_with("module asm");
    if text.lines().any(is_assembly) {
        let line = lines.find(is_assembly);
        let message = "assembly at the level of a module (`module asm`) is not supported on devices: remove it";
        found.push(fault(source, line, message));
    }
    for word in ["alias", "ifunc"] {
        let is_it = |line: &str| line.starts_with('@') && line.split(' ').any(|it| it == word);
        if text.lines().any(is_it) {
            let message = format!(
                "`{word}` is not supported: write the name of the function or variable itself where it is used"
            );
            found.push(fault(source, lines.find(is_it), &message));
        }
    }
    for value in module.functions().into_iter().chain(module.globals()) {
        if value.name().contains('\0') {
            let message = "a name has a zero byte in it: give it another one";
            found.push(fault(source, 0, message));
        }
    }
    for function in module.functions() {
        if let Some(message) = intrinsic(function) {
            found.push(fault(source, lines.of_name("", &function.name()), &message));
        }
        if !function.is_declaration() {
            found.extend(of_function(function, origin, source, lines));
        }
    }
    found
}

/// Why an intrinsic cannot be called without address spaces.
fn intrinsic(function: Value<'_>) -> Option<String> {
    let name = function.name();
    let is_of_vendor = name.starts_with("llvm.nvvm.") || name.starts_with("llvm.amdgcn.");
    if !is_of_vendor || operations::gives_memory(&name) {
        return None;
    }
    let ty = function.value_type();
    let in_space = |ty: &Type<'_>| ty.is_pointer() && ty.address_space() != 0;
    let is_bound = ty.parameters().iter().any(in_space) || in_space(&ty.result());
    is_bound.then(|| {
        format!(
            "`{name}` takes or returns a pointer into a specific address space, which kernelmill's pipeline does \
             not keep: write this kernel in PTX or CUDA C++"
        )
    })
}

/// What is wrong with the pointers of a function, the first of it.
fn of_function(
    function: Value<'_>,
    origin: Origin,
    source: &IrSource,
    lines: &Lines<'_>,
) -> Option<String> {
    for instruction in function.instructions() {
        let Some(message) = of_instruction(instruction, origin) else { continue };
        let name = function.name();
        let line = lines.of_name("define", &name);
        return Some(fault(source, line, &format!("in the function `{name}`: {message}")));
    }
    None
}

fn of_instruction(instruction: Value<'_>, origin: Origin) -> Option<String> {
    let short = |ty: Type<'_>| ty.is_pointer() && origin.is_short(ty.address_space());
    let moved = match instruction.opcode() {
        Opcode::Load => Some(instruction.ty()),
        Opcode::Store => Some(instruction.operand(0).ty()),
        _ => None,
    };
    if moved.is_some_and(short) {
        return Some(
            "a pointer of 32 bits is loaded or stored, and kernelmill puts all memory into one address space \
             whose pointers have 64 bits: optimise the module before it is written (`-O1` or more), or store \
             pointers of 64 bits"
                .to_owned(),
        );
    }
    let is_number = instruction.opcode() == Opcode::PtrToInt && narrow(instruction.operand(0).ty())
        || instruction.opcode() == Opcode::IntToPtr && narrow(instruction.ty())
        || instruction.operands().into_iter().any(has_number);
    is_number.then(|| {
        "the address of shared memory or of a thread's own memory is converted to or from an integer, whose value \
         differs in kernelmill's single address space: use pointers"
            .to_owned()
    })
}

fn narrow(ty: Type<'_>) -> bool {
    ty.is_pointer() && NARROW.contains(&ty.address_space())
}

/// Whether a constant has such an address as a number in it.
fn has_number(value: Value<'_>) -> bool {
    if !value.is_constant_expression() {
        return false;
    }
    value.constant_opcode() == Opcode::PtrToInt && narrow(value.operand(0).ty())
        || value.constant_opcode() == Opcode::IntToPtr && narrow(value.ty())
        || value.operands().into_iter().any(has_number)
}
