//! Conversions of numbers of single precision to integers, as Rust's `as` does them: what is out of range is the nearest number in
//! it, and what is no number is 0.
//!
//! That is what `cvt.rzi` does (PTX ISA, "Data Movement and Conversion Instructions: cvt"), for 32 bits from single precision:
//! elsewhere it makes another number of what is none. LLVM's back end knows no `llvm.fptoui.sat` and
//! compares and selects around the instruction.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Type},
};

use crate::ir::calls_of;

/// The operation of LLVM, and the one of the back end.
const CONVERSIONS: [(&str, &str); 2] = [
    ("llvm.fptoui.sat.i32.f32", "llvm.nvvm.f2ui.rz"),
    ("llvm.fptosi.sat.i32.f32", "llvm.nvvm.f2i.rz"),
];

/// Makes one instruction of each conversion that has one. Needs: optimised code, as passes know more of LLVM's operation.
pub(super) fn make_single<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let (word, single) = (Type::int(context, 32), Type::float(context));
    for (of_llvm, of_back_end) in CONVERSIONS {
        let Some(function) = module.function(of_llvm) else { continue };
        let calls = calls_of(function);
        if calls.is_empty() {
            continue;
        }
        let convert = module.declare(of_back_end, word.function(&[single]));
        for call in calls {
            builder.before(call);
            builder.take_line(call);
            call.replace_with(builder.call(convert, &call.arguments()));
            call.erase();
        }
    }
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::ir::parse_ir;

    use super::*;
    use crate::base::loaded::open_llvm;

    /// The operation that is called for a conversion between these types.
    fn converted(kind: &str, to: &str, from: &str, ty: &str) -> String {
        let name = format!("llvm.fpto{kind}.sat.{to}.{from}");
        let text = format!(
            "declare {to} @{name}({ty})
define {to} @f({ty} %x) {{
  %r = call {to} @{name}({ty} %x)
  ret {to} %r
}}"
        );
        open_llvm();
        let context = Context::create();
        let module = parse_ir(&context, &text, "", "").unwrap();
        make_single(&context, &module);
        let text = module.to_text();
        let call = text.lines().find(|line| line.contains(" = call ")).unwrap();
        let (_, name) = call.split_once('@').unwrap();
        name.split('(').next().unwrap().to_owned()
    }

    #[test]
    fn those_of_single_precision_to_32_bits_are_one_instruction() {
        assert_eq!(converted("ui", "i32", "f32", "float"), "llvm.nvvm.f2ui.rz");
        assert_eq!(converted("si", "i32", "f32", "float"), "llvm.nvvm.f2i.rz");
    }

    /// `cvt.rzi.u64.f32` and `cvt.rzi.u32.f64` make the highest bit alone of what is no number.
    #[test]
    fn others_stay_as_they_are() {
        for (to, from, ty) in
            [("i64", "f32", "float"), ("i32", "f64", "double"), ("i8", "f32", "float")]
        {
            for kind in ["ui", "si"] {
                let name = format!("llvm.fpto{kind}.sat.{to}.{from}");
                assert_eq!(converted(kind, to, from, ty), name);
            }
        }
    }
}
