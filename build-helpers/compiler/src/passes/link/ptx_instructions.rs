//! Single instructions of PTX in sources' inline assembly, on targets other than NVIDIA's: each becomes a call of a function in
//! LLVM IR that has its result.
//!
//! What is replaced is an assembly of one instruction, without predicate, whose operands are the numbers of the result and of
//! all arguments, in their order, and integers. Everything else stays, and is an unsupported feature of its kernel: with several
//! instructions there are registers, and flags, that other assemblies may read.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, Linkage, ModuleExt, Type, TypeKind, Value, parse_ir},
};

/// The functions in place of instructions.
const TEXT: &str = concat!(
    include_str!("ptx_floats.ll"),
    include_str!("ptx_integers.ll"),
    include_str!("ptx_fields.ll")
);

/// What the functions' names start with.
const PREFIX: &str = "ptx.";

/// The functions, of which a call can be one.
pub(crate) struct Instructions<'c> {
    module: Module<'c>,
}

impl<'c> Instructions<'c> {
    /// Reads the functions.
    pub(crate) fn new(context: &'c Context) -> Self {
        let module = parse_ir(context, TEXT, "", "").expect("the text is valid");
        Self { module }
    }

    /// Whether an instruction is assembly that there is a function for.
    pub(crate) fn have(&self, call: Value<'c>) -> bool {
        replacement(&self.module, call).is_some()
    }
}

/// Replaces the assemblies that there are functions for.
pub(crate) fn replace<'c>(context: &'c Context, module: &Module<'c>) {
    let calls = module.definitions().into_iter().flat_map(Value::calls);
    let calls: Vec<_> = calls.filter(|it| it.inline_assembly().is_some()).collect();
    if calls.is_empty() {
        return;
    }
    let Instructions { module: functions } = Instructions::new(context);
    let replaced = |call: &Value<'c>| {
        let (function, arguments) = replacement(&functions, *call)?;
        Some((*call, function.name(), arguments))
    };
    let found: Vec<_> = calls.iter().filter_map(replaced).collect();
    if found.is_empty() || module.link(functions).is_err() {
        return;
    }
    let builder = Builder::new(context);
    for (call, name, arguments) in found {
        let Some(function) = module.function(&name) else { continue };
        builder.before(call);
        builder.take_line(call);
        let as_declared = |(value, ty): (Value<'c>, Type<'c>)| match value.ty() == ty {
            true => value,
            false => builder.pointer_to_int(value, ty),
        };
        let parameters = function.value_type().parameters();
        let arguments: Vec<_> = arguments.into_iter().zip(parameters).map(as_declared).collect();
        let result = builder.call(function, &arguments);
        if call.is_used() {
            call.replace_with(result);
        }
        call.erase();
    }
    for function in module.definitions().into_iter().filter(|it| it.name().starts_with(PREFIX)) {
        match function.is_used() {
            true => function.set_linkage(Linkage::Internal),
            false => function.delete_function(),
        }
    }
}

/// The function that has the result of a call of assembly, and its arguments.
fn replacement<'c>(functions: &Module<'c>, call: Value<'c>) -> Option<(Value<'c>, Vec<Value<'c>>)> {
    let text = call.inline_assembly()?;
    let (name, operands) = read(&text)?;
    let function = functions.function(&format!("{PREFIX}{name}"))?;
    let ty = function.value_type();
    // Results are the first operands.
    let results = match call.ty().kind() {
        TypeKind::Void => 0,
        _ if name.ends_with(UNPACK) => 2,
        _ => 1,
    };
    let (results, operands) = operands.split_at_checked(results)?;
    if results.iter().any(|it| *it != Operand::Number) {
        return None;
    }
    let parameters = ty.parameters();
    if call.ty() != ty.result() || operands.len() != parameters.len() {
        return None;
    }
    let mut given = call.arguments().into_iter();
    let argument = |(operand, ty): (&Operand, &Type<'c>)| match operand {
        // An address is given as one.
        Operand::Number => {
            given.next().filter(|it| it.ty() == *ty || it.ty().is_pointer() && ty.is_int(64))
        }
        Operand::Literal(literal) => ty.int_width().map(|_| ty.constant(*literal)),
    };
    let arguments: Vec<_> = operands.iter().zip(&parameters).map_while(argument).collect();
    (arguments.len() == parameters.len() && given.next().is_none()).then_some((function, arguments))
}

/// What follows the name of an instruction that puts several operands, in braces, into one.
const PACK: &str = ".pack";

/// What follows the name of an instruction that takes one apart.
const UNPACK: &str = ".unpack";

/// What an instruction is given.
#[derive(Debug, PartialEq, Eq)]
enum Operand {
    /// The next operand of the assembly.
    Number,
    /// An integer.
    Literal(u64),
}

/// The name of the function for an assembly of one instruction, and its operands; `None` for other assemblies.
fn read(text: &str) -> Option<(String, Vec<Operand>)> {
    let text = text.trim();
    let text = text.strip_prefix('{').map_or(Some(text), |inner| inner.strip_suffix('}'))?.trim();
    let text = text.strip_suffix(';')?.trim_end();
    let (instruction, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let mut name = named(instruction);
    let (rest, suffix) = without_braces(rest)?;
    name.push_str(suffix);
    let mut operands = Vec::new();
    for word in rest.split(',').map(str::trim).filter(|_| !rest.trim().is_empty()) {
        if let Some(register) = word.strip_prefix('%') {
            name = format!("{name}.%{register}");
            continue;
        }
        let word = word.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(word);
        if let Some(number) = word.strip_prefix('$') {
            // One that comes twice, or out of its turn, is another's too.
            let numbers = operands.iter().filter(|it| **it == Operand::Number).count();
            if number.parse() != Ok(numbers) {
                return None;
            }
            operands.push(Operand::Number);
            continue;
        }
        let literal = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        operands.push(Operand::Literal(literal.ok()?));
    }
    Some((name, operands))
}

/// Operands without the braces around some of them, and what that makes of the instruction's name.
fn without_braces(operands: &str) -> Option<(String, &'static str)> {
    let Some((before, rest)) = operands.split_once('{') else {
        return Some((operands.to_owned(), ""));
    };
    let (inner, after) = rest.split_once('}')?;
    let suffix = if before.trim().is_empty() { UNPACK } else { PACK };
    (!after.contains('{')).then(|| (format!("{before}{inner}{after}"), suffix))
}

/// An instruction without what makes no difference to its result: subnormal numbers are kept, as everywhere.
fn named(instruction: &str) -> String {
    let plain = instruction.replace(".ftz", "");
    let (base, rest) = plain.split_once('.').unwrap_or((&plain, ""));
    let is_sum = ["add", "sub", "mul"].contains(&base);
    let rest = rest.strip_prefix("rn.").filter(|_| is_sum).unwrap_or(rest);
    let is_low = ["add.s", "sub.s", "mul.lo.s", "mad.lo.s"].iter().any(|it| plain.starts_with(it));
    match rest {
        "" => plain,
        _ if is_low => format!("{base}.{}", rest.replace('s', "u")),
        "b32" | "b64" if base == "shr" => format!("shr.{}", rest.replace('b', "u")),
        _ => format!("{base}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::loaded::open_llvm;

    /// What becomes of an assembly with these constraints, in a function of two words that gives one.
    fn replaced(assembly: &str, constraints: &str, arguments: &str) -> String {
        open_llvm();
        let context = Context::create();
        let text = format!(
            "define i32 @use(i32 %a, i32 %b, i64 %p) {{\n  \
             %r = call i32 asm \"{assembly}\", \"{constraints}\"({arguments})\n  ret i32 %r\n}}\n"
        );
        let module = parse_ir(&context, &text, "", "").expect("valid IR");
        let has = Instructions::new(&context);
        let call = module.function("use").expect("it is there").calls()[0];
        let is_known = has.have(call);
        drop(has);
        replace(&context, &module);
        module.verify().expect("valid IR after the pass");
        let text = module.to_text();
        let line = text.lines().find(|line| line.contains("call")).expect("a call");
        assert_eq!(is_known, !line.contains("asm"), "{line}");
        line.trim().to_owned()
    }

    #[test]
    fn an_instruction_becomes_a_call() {
        for (assembly, name) in [
            ("add.s32 $0, $1, $2;", "add.u32"),
            ("{ mul.hi.u32 $0,$1,$2; }\\0A", "mul.hi.u32"),
            ("fma.rn.f16x2 $0, $1, 3, $2;", "fma.rn.f16x2"),
            ("shr.b32 $0, $1, $2;", "shr.u32"),
            ("prmt.b32 $0, $1, 3, $2;", "prmt.b32"),
        ] {
            let literal = if assembly.contains(" 3,") { "i32 3, " } else { "" };
            let line = replaced(assembly, "=r,r,r", "i32 %a, i32 %b");
            let expected = format!("call i32 @ptx.{name}(i32 %a, {literal}i32 %b)");
            assert!(line.ends_with(&expected), "{line}");
        }
        assert!(replaced("mov.u32 $0, %laneid;", "=r", "").ends_with("@\"ptx.mov.u32.%laneid\"()"));
    }

    /// Each of these has another meaning than its instruction with its operands in their order, or none that is known.
    #[test]
    fn other_assemblies_stay() {
        for assembly in [
            "add.u32 $0, $1, $2; add.u32 $0, $0, $2;",
            "add.cc.u32 $0, $1, $2;",
            "addc.u32 $0, $1, $2;",
            "@p add.u32 $0, $1, $2;",
            "sub.u32 $0, $2, $1;",
            "sub.u32 $0, $1, $1;",
            "sub.u32 $1, $0, $2;",
            "add.u32 $0, $1, -2, $2;",
            "add.u32 $0, $1;",
            "add.f32 $0, $1, $2;",
            "add.u64 $0, $1, $2;",
            "add.sat.s32 $0, $1, $2;",
            "mul.wide.u32 $0, $1, $2;",
            "add.u32 3, $0, $1;",
            "mov.b64 $0, {$1, $2};",
            "mov.b32 {$0, $1}, $2;",
            "mov.b32 {$0, {$1}}, $2;",
            "{ .reg .u32 t; add.u32 $0, $1, $2; }",
        ] {
            assert!(replaced(assembly, "=r,r,r", "i32 %a, i32 %b").contains("asm"), "{assembly}");
        }
        // What the assembly reads and writes is among its arguments without a number of its own.
        assert!(
            replaced("add.u32 $0, $1, $2;", "=r,r,r,0", "i32 %a, i32 %b, i32 %a").contains("asm")
        );
        assert!(replaced("add.u32 $0, $1, $2;", "=r,r,l", "i32 %a, i64 %p").contains("asm"));
    }

    #[test]
    fn every_function_is_one_that_a_name_can_ask_for() {
        open_llvm();
        let context = Context::create();
        let Instructions { module } = Instructions::new(&context);
        for function in module.definitions() {
            let name = function.name();
            let name = name.strip_prefix(PREFIX).expect("all of them have it");
            let instruction = name.split_once(".%").map_or(name, |(instruction, _)| instruction);
            assert_eq!(named(instruction), instruction);
        }
    }
}
