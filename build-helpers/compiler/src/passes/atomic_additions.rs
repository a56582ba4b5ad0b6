//! Atomic additions to floating-point numbers in Rust, which has them in no stable function: the device library calls a
//! function for each type and order, and here its calls become `atomicrmw fadd`.
//!
//! Needs: nothing of plugins has run. The sanitizer and derivatives see an atomic access as one.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{AtomicOperation, AtomicOrdering, Builder, ModuleExt, Type},
};

use crate::ir::calls_of;

/// What the functions' names start with.
const ADDITION: &str = "__kernelmill_atomic_add_";

const ORDERS: [(&str, AtomicOrdering); 5] = [
    ("relaxed", AtomicOrdering::Monotonic),
    ("acquire", AtomicOrdering::Acquire),
    ("release", AtomicOrdering::Release),
    ("acq_rel", AtomicOrdering::AcquireRelease),
    ("seq_cst", AtomicOrdering::SequentiallyConsistent),
];

/// Makes an instruction of each call. A function of the name that has other types is none of the library's, and stays.
pub(crate) fn expand<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let pointer = Type::pointer(context, 0);
    for (name, float) in [("f32", Type::float(context)), ("f64", Type::double(context))] {
        for (order_name, order) in ORDERS {
            let function = module.function(&format!("{ADDITION}{name}_{order_name}"));
            let of_library = float.function(&[pointer, float]);
            let Some(function) =
                function.filter(|it| it.is_declaration() && it.value_type() == of_library)
            else {
                continue;
            };
            for call in calls_of(function) {
                let arguments = call.arguments();
                builder.before(call);
                builder.take_line(call);
                let add = AtomicOperation::FAdd;
                call.replace_with(builder.atomic(add, arguments[0], arguments[1], order));
                call.erase();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::ir::parse_ir;

    use super::*;
    use crate::base::loaded::open_llvm;

    /// The instruction that a call of the function becomes.
    fn expanded(name: &str, ty: &str, value: &str) -> String {
        open_llvm();
        let context = Context::create();
        let text = format!(
            "declare {ty} @{ADDITION}{name}(ptr, {value})\n\
             define {ty} @use(ptr %p, {value} %v) {{\n  \
             %old = call {ty} @{ADDITION}{name}(ptr %p, {value} %v)\n  ret {ty} %old\n}}\n"
        );
        let module = parse_ir(&context, &text, "", "").expect("valid IR");
        expand(&context, &module);
        module.verify().expect("valid IR after the pass");
        let text = module.to_text();
        let line = text.lines().find(|line| line.starts_with("  %")).expect("an instruction");
        line.split_once(" = ").unwrap().1.to_owned()
    }

    #[test]
    fn each_type_and_order_is_an_instruction() {
        for (name, order) in [
            ("relaxed", "monotonic"),
            ("acquire", "acquire"),
            ("release", "release"),
            ("acq_rel", "acq_rel"),
            ("seq_cst", "seq_cst"),
        ] {
            let single = expanded(&format!("f32_{name}"), "float", "float");
            assert_eq!(single, format!("atomicrmw fadd ptr %p, float %v {order}, align 4"));
            let double = expanded(&format!("f64_{name}"), "double", "double");
            assert_eq!(double, format!("atomicrmw fadd ptr %p, double %v {order}, align 8"));
        }
    }

    #[test]
    fn functions_of_other_names_and_types_stay() {
        for (name, ty, value) in [
            ("f32_weak", "float", "float"),
            ("f32_relaxed", "double", "double"),
            ("f64_relaxed", "double", "float"),
        ] {
            assert!(expanded(name, ty, value).starts_with("call "), "{name}");
        }
    }
}
