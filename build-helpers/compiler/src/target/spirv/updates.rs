//! Atomic operations on floating-point numbers: loops that compare their bits and exchange them, as LLVM [expands] them for
//! processors without instructions for them. OpenCL has such operations as optional extensions alone.
//!
//! [expands]: https://llvm.org/docs/Atomics.html#atomics-and-codegen

use std::collections::BTreeMap;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{AtomicOperation, Builder, Linkage, ModuleExt, Opcode, TypeKind, Value, parse_ir},
    machine::Machine,
};

use super::spaces::{GLOBAL, SHARED};
use crate::Error;

/// What an operation makes of the old number and the operand, and the type's name, the word's and its bytes.
struct Update {
    new: &'static str,
    float: &'static str,
    word: &'static str,
    bytes: u32,
    space: u32,
}

/// What the functions call.
const DECLARATIONS: &str = "declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minnum.f64(double, double)
";

/// Whether an instruction is such an operation, in whatever memory.
pub(super) fn is_update(instruction: Value<'_>) -> bool {
    Update::of(instruction).is_some()
}

/// Replaces those operations whose memory is known to be local or global by calls of functions with their loops.
pub(super) fn expand<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    let builder = Builder::new(context);
    let mut texts = BTreeMap::new();
    for atomic in module.definitions().into_iter().flat_map(Value::instructions) {
        let update = Update::of(atomic).filter(|it| matches!(it.space, GLOBAL | SHARED));
        let Some(update) = update else { continue };
        let arguments = [atomic.operand(0), atomic.operand(1)];
        let function = atomic.ty().function(&arguments.map(Value::ty));
        builder.before(atomic);
        atomic.replace_with(builder.call(module.declare(&update.name(), function), &arguments));
        atomic.erase();
        texts.insert(update.name(), update.text());
    }
    if texts.is_empty() {
        return Ok(());
    }
    let text: String =
        [DECLARATIONS].into_iter().chain(texts.values().map(String::as_str)).collect();
    module.link(parse_ir(context, &text, machine.data_layout(), machine.triple())?)?;
    let defined = texts.keys().filter_map(|name| ModuleExt::function(module, name));
    defined.for_each(|function| function.set_linkage(Linkage::Internal));
    Ok(())
}

impl Update {
    fn of(instruction: Value<'_>) -> Option<Self> {
        let operation = match instruction.opcode() {
            Opcode::AtomicRmw => instruction.atomic_operation()?,
            _ => return None,
        };
        let new = match operation {
            AtomicOperation::FAdd => "fadd FLOAT %x, %value",
            AtomicOperation::FSub => "fsub FLOAT %x, %value",
            AtomicOperation::FMax => "call FLOAT @llvm.maxnum.BITS(FLOAT %x, FLOAT %value)",
            AtomicOperation::FMin => "call FLOAT @llvm.minnum.BITS(FLOAT %x, FLOAT %value)",
            _ => return None,
        };
        let (float, word, bytes) = match instruction.ty().kind() {
            TypeKind::Float => ("float", "i32", 4),
            TypeKind::Double => ("double", "i64", 8),
            _ => return None,
        };
        let space = instruction.operand(0).ty().address_space();
        Some(Self { new, float, word, bytes, space })
    }

    fn name(&self) -> String {
        let operation = self.new.trim_start_matches("call FLOAT @llvm.");
        let operation: String = operation.chars().take_while(char::is_ascii_lowercase).collect();
        format!("__kernelmill_atomic_{operation}_{}_{}", self.float, self.space)
    }

    /// The function. What it reads first is a guess, which need not be an atomic access: the exchange compares it.
    fn text(&self) -> String {
        const TEXT: &str = "define FLOAT @NAME(PLACE %place, FLOAT %value) nounwind {
start:
  %guess = load volatile WORD, PLACE %place, align BYTES
  br label %try
try:
  %old = phi WORD [ %guess, %start ], [ %found, %try ]
  %x = bitcast WORD %old to FLOAT
  %y = NEW
  %new = bitcast FLOAT %y to WORD
  %pair = cmpxchg PLACE %place, WORD %old, WORD %new monotonic monotonic, align BYTES
  %found = extractvalue { WORD, i1 } %pair, 0
  %done = extractvalue { WORD, i1 } %pair, 1
  br i1 %done, label %end, label %try
end:
  ret FLOAT %x
}
";
        let bits = format!("f{}", 8 * self.bytes);
        let text = TEXT.replace("NEW", self.new).replace("NAME", &self.name());
        let text = text.replace("PLACE", &format!("ptr addrspace({})", self.space));
        let text = text.replace("FLOAT", self.float).replace("BITS", &bits);
        text.replace("WORD", self.word).replace("BYTES", &self.bytes.to_string())
    }
}
