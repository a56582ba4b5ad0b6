//! Copies and fills of a length that is not known: loops over their bytes. SPIR-V's `OpCopyMemorySized` takes a constant, and
//! LLVM makes such copies of loops in the source
//! ([loop idioms](https://llvm.org/docs/Passes.html#loop-idiom-recognize-loop-idioms)).

use std::collections::BTreeMap;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Value, parse_ir},
    machine::Machine,
};

use crate::Error;

/// A copy or fill, by the spaces of its pointers and the bits of its length.
struct Transfer {
    to: u32,
    /// `None` for a fill.
    from: Option<u32>,
    bits: u32,
}

/// Replaces copies and fills of unknown lengths by calls of functions with their loops.
pub(super) fn expand<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
) -> Result<(), Error> {
    let builder = Builder::new(context);
    let mut texts = BTreeMap::new();
    for call in module.definitions().into_iter().flat_map(Value::calls) {
        let Some(transfer) = Transfer::of(call) else { continue };
        let arguments = [call.operand(0), call.operand(1), call.operand(2)];
        let function = call.ty().function(&arguments.map(Value::ty));
        builder.before(call);
        builder.call(module.declare(&transfer.name(), function), &arguments);
        call.erase();
        texts.insert(transfer.name(), transfer.text());
    }
    if texts.is_empty() {
        return Ok(());
    }
    let text: String = texts.values().map(String::as_str).collect();
    module.link(parse_ir(context, &text, machine.data_layout(), machine.triple())?)?;
    let defined = texts.keys().filter_map(|name| ModuleExt::function(module, name));
    defined.for_each(|function| function.set_linkage(Linkage::Internal));
    Ok(())
}

impl Transfer {
    fn of(call: Value<'_>) -> Option<Self> {
        let name = call.called_function().filter(|it| it.is_intrinsic())?.name();
        let is_copy = name.starts_with("llvm.memcpy.");
        let is_fill = name.starts_with("llvm.memset.");
        let is_known = || call.operand(2).as_u64().is_some();
        if !is_copy && !is_fill || is_known() {
            return None;
        }
        let space = |index| call.operand(index).ty().address_space();
        let bits = call.operand(2).ty().int_width()?;
        Some(Self { to: space(0), from: is_copy.then(|| space(1)), bits })
    }

    fn name(&self) -> String {
        let Self { to, from, bits } = self;
        match from {
            Some(from) => format!("__kernelmill_copy_{to}_{from}_{bits}"),
            None => format!("__kernelmill_fill_{to}_{bits}"),
        }
    }

    fn text(&self) -> String {
        const TEXT: &str = "define void @NAME(TO %to, FROM %from, LENGTH %length) nounwind {
start:
  %any = icmp ne LENGTH %length, 0
  br i1 %any, label %one, label %end
one:
  %at = phi LENGTH [ 0, %start ], [ %next, %one ]
  %target = getelementptr i8, TO %to, LENGTH %at
READ  store i8 %byte, TO %target, align 1
  %next = add LENGTH %at, 1
  %more = icmp ne LENGTH %next, %length
  br i1 %more, label %one, label %end
end:
  ret void
}
";
        const READ: &str = "  %source = getelementptr i8, FROM %from, LENGTH %at
  %byte = load i8, FROM %source, align 1
";
        let pointer = |space| format!("ptr addrspace({space})");
        let text = match self.from {
            Some(from) => TEXT.replace("READ", READ).replace("FROM", &pointer(from)),
            None => TEXT.replace("READ", "").replace("FROM %from", "i8 %byte"),
        };
        let text = text.replace("TO", &pointer(self.to)).replace("NAME", &self.name());
        text.replace("LENGTH", &format!("i{}", self.bits))
    }
}
