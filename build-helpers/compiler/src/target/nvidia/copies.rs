//! Copies of a few bytes by the widest accesses.
//!
//! A structure of 16 aligned bytes is copied by `llvm.memcpy`. LLVM's back end makes it accesses of 8 bytes each, as its
//! widest integer has 64 bits; a vector of four words is one access (PTX ISA, "Vectors").
//!
//! Needs: optimised code, as passes know more of LLVM's operation. Guarantees: no copy of at most [`BYTES`] bytes, both of
//! whose addresses are multiples of 16, is left to the back end.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Place, Type, Value},
};

/// The bytes of one access.
const WIDTH: u64 = 16;
/// The most bytes that are copied in this way: all of them are in registers at once.
const BYTES: u64 = 64;

/// Makes loads and stores of vectors of such copies.
pub(super) fn widen<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    let vector = Type::int(context, 32).vector(4);
    let calls = module.definitions().into_iter().flat_map(Value::calls);
    for call in calls.filter(|call| is_wide(*call)).collect::<Vec<_>>() {
        let [to, from, bytes, ..] = call.arguments()[..] else { continue };
        builder.before(call);
        builder.take_line(call);
        let places = (0..bytes.as_u64().unwrap_or_default()).step_by(WIDTH as usize);
        // All is read before any of it is written, as both may be the same memory.
        let at = |start: Value<'c>, place| match place {
            0 => start,
            _ => builder.offset(context, start, place),
        };
        let read: Vec<_> = places
            .map(|place| {
                let value = builder.load(vector, at(from, place));
                value.set_alignment(WIDTH as u32);
                (place, value)
            })
            .collect();
        for (place, value) in read {
            builder.store(value, at(to, place)).set_alignment(WIDTH as u32);
        }
        call.erase();
    }
}

/// Whether a call copies a few times 16 bytes between multiples of 16.
fn is_wide(call: Value<'_>) -> bool {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    let [_, _, bytes, is_volatile] = call.arguments()[..] else { return false };
    let is_aligned = |index: u32| {
        let align = call.attribute_number(Place::Parameter(index), "align");
        align.is_some_and(|align| align >= WIDTH)
    };
    name.starts_with("llvm.memcpy.")
        && is_volatile.as_u64() == Some(0)
        && bytes.as_u64().is_some_and(|it| (WIDTH..=BYTES).contains(&it) && it % WIDTH == 0)
        && is_aligned(0)
        && is_aligned(1)
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::ir::parse_ir;

    use super::*;
    use crate::base::loaded::open_llvm;

    /// The lines of a function that copies, after the pass.
    fn copied(to: u32, from: u32, bytes: &str, volatile: bool) -> Vec<String> {
        let text = format!(
            "declare void @llvm.memcpy.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
define void @f(ptr addrspace(1) %to, ptr addrspace(1) %from, i64 %n) {{
  call void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) align {to} %to, ptr addrspace(1) align {from} %from, i64 {bytes}, i1 {volatile})
  ret void
}}"
        );
        open_llvm();
        let context = Context::create();
        let module = parse_ir(&context, &text, "", "").unwrap();
        widen(&context, &module);
        module.verify().unwrap();
        let text = module.to_text();
        let lines = text.lines().skip_while(|line| !line.starts_with("define")).skip(1);
        lines.take_while(|line| *line != "}").map(|line| line.trim().to_owned()).collect()
    }

    #[test]
    fn all_of_a_copy_is_read_by_wide_accesses_before_it_is_written() {
        for (bytes, count) in [("16", 1), ("48", 3), ("64", 4)] {
            let lines = copied(16, 32, bytes, false);
            let place = |what: &str| {
                let found = lines.iter().enumerate().filter(|(_, line)| line.contains(what));
                found.map(|(place, _)| place).collect::<Vec<_>>()
            };
            let reads = place("= load <4 x i32>, ptr addrspace(1) ");
            let writes = place("store <4 x i32> ");
            assert_eq!((reads.len(), writes.len()), (count, count), "{lines:#?}");
            assert!(reads.last() < writes.first(), "{lines:#?}");
            let wide = lines.iter().filter(|line| line.ends_with(", align 16"));
            assert_eq!(wide.count(), 2 * count, "{lines:#?}");
            assert!(place("@llvm.memcpy").is_empty(), "{lines:#?}");
        }
    }

    /// An address that is less aligned, bytes that are no multiple, too many or not known, and a volatile copy.
    #[test]
    fn other_copies_stay() {
        let copies = [
            (8, 16, "16", false),
            (16, 8, "16", false),
            (16, 16, "24", false),
            (16, 16, "0", false),
            (16, 16, "80", false),
            (16, 16, "%n", false),
            (16, 16, "16", true),
        ];
        for (to, from, bytes, volatile) in copies {
            let lines = copied(to, from, bytes, volatile);
            assert!(lines[0].contains("@llvm.memcpy"), "{lines:#?}");
            assert_eq!(lines.len(), 2, "{lines:#?}");
        }
    }
}
