//! Conversions of numbers of single precision to integers, as Rust's `as` does them: what is out of range is the nearest number in
//! it, and what is no number is 0.
//!
//! That is what `cvt.rzi` does (PTX ISA, "Data Movement and Conversion Instructions: cvt"), for 32 bits from single precision:
//! elsewhere it makes another number of what is none. LLVM's back end knows no `llvm.fptoui.sat` and
//! compares and selects around the instruction.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Opcode, Type, Value},
};

use crate::ir::calls_of;

/// The operation that puts bytes of two words together.
const PERMUTE: &str = "llvm.nvvm.prmt";
/// Which bytes of a word and of 0: the lowest of the word, and three of 0.
const LOWEST: u64 = 0x4440;

/// Takes bytes of words that become numbers of single precision by `prmt`.
///
/// Of `bfe`, which LLVM's back end selects for a shift and a mask, ptxas makes a conversion of a byte of a register
/// (`I2F.U8`), for which an H200 takes so much longer that a blur of pixels had 1.3 times its time. A word that is 8 bits
/// long is converted at the full rate. The lowest byte stays as it is: then both units have work.
///
/// Needs: optimised code. Guarantees: the same numbers.
pub(super) fn permute_bytes<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let word = Type::int(context, 32);
    for conversion in module.definitions().into_iter().flat_map(Value::instructions) {
        let is_single = || conversion.ty() == Type::float(context);
        if conversion.opcode() != Opcode::UIToFP || !is_single() {
            continue;
        }
        let Some((of, byte)) = byte_of(conversion.operand(0)) else { continue };
        let permute = module.declare(PERMUTE, word.function(&[word; 3]));
        builder.before(conversion);
        builder.take_line(conversion);
        let chosen = word.constant(LOWEST + byte);
        let byte = builder.call(permute, &[of, word.constant(0), chosen]);
        conversion.set_operand(0, byte);
    }
}

/// The word of 32 bits and the byte of it, counted from the lowest, 0, that a value is; not for the lowest.
fn byte_of(value: Value<'_>) -> Option<(Value<'_>, u64)> {
    let is = |it: Value<'_>, opcode| it.is_instruction() && it.opcode() == opcode;
    if value.ty().int_width() != Some(32) {
        return None;
    }
    let is_masked = is(value, Opcode::And) && value.operand(1).as_u64() == Some(0xff);
    let shifted = if is_masked { value.operand(0) } else { value };
    let shift = is(shifted, Opcode::LShr).then(|| shifted.operand(1).as_u64())??;
    // Without a mask only the highest byte is left of a word.
    let is_byte = matches!((is_masked, shift), (true, 8 | 16) | (_, 24));
    is_byte.then(|| (shifted.operand(0), shift / 8))
}

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

    /// The bytes that are chosen for a conversion of a value.
    fn chosen(value: &str, convert: &str) -> Option<String> {
        let text = format!(
            "define float @f(i32 %x, i32 %n) {{
  %a = lshr i32 %x, 8
  %b = lshr i32 %x, 16
  %c = lshr i32 %x, 24
  %odd = lshr i32 %x, 4
  %any = lshr i32 %x, %n
  %y = {value}
  %f = {convert}
  ret float %f
}}"
        );
        open_llvm();
        let context = Context::create();
        let module = parse_ir(&context, &text, "", "").unwrap();
        permute_bytes(&context, &module);
        module.verify().unwrap();
        let text = module.to_text();
        let call = text.lines().find(|line| line.contains("call i32 @llvm.nvvm.prmt("))?;
        assert!(call.contains("(i32 %x, i32 0, i32 "), "{call}");
        assert!(!text.contains("float %y") && !text.contains("i32 %y to"), "{text}");
        Some(call.rsplit("i32 ").next().unwrap().trim_end_matches(')').to_owned())
    }

    const UNSIGNED: &str = "uitofp nneg i32 %y to float";

    #[test]
    fn bytes_above_the_lowest_that_become_numbers_are_permuted() {
        let expected = |byte: u64| Some((0x4440 + byte).to_string());
        assert_eq!(chosen("and i32 %a, 255", UNSIGNED), expected(1));
        assert_eq!(chosen("and i32 %b, 255", UNSIGNED), expected(2));
        assert_eq!(chosen("and i32 %c, 255", UNSIGNED), expected(3));
        assert_eq!(chosen("lshr i32 %x, 24", UNSIGNED), expected(3));
    }

    /// The lowest byte, one that is none, another mask, what is not masked, and another conversion.
    #[test]
    fn what_is_no_byte_above_the_lowest_stays() {
        for value in [
            "and i32 %x, 255",
            "and i32 %odd, 255",
            "and i32 %any, 255",
            "and i32 %a, 127",
            "and i32 %a, 511",
            "lshr i32 %x, 16",
            "lshr i32 %x, 8",
        ] {
            assert_eq!(chosen(value, UNSIGNED), None, "{value}");
        }
        assert_eq!(chosen("and i32 %a, 255", "sitofp i32 %y to float"), None);
    }

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
