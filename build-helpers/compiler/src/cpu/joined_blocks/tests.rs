//! How indices are put together, in small functions: `%t`, `%b`, `%d` and `%g` are the index of the thread and of the block
//! and the sizes of a block and of the grid along x, `%n` is a number.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_ir},
    machine::Machine,
};

use super::*;
use crate::base::loaded::open_llvm;

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// What is against joined blocks of a function with this body.
fn refusal_of(body: &str) -> Option<JoinRefusal> {
    open_llvm();
    let context = Context::create();
    let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
    let places = ["thread_idx", "block_idx", "block_dim", "grid_dim"];
    let declared: String =
        places.iter().map(|it| format!("declare i32 @__kernelmill_{it}_x()\n")).collect();
    let read: String = places
        .iter()
        .zip(["t", "b", "d", "g"])
        .map(|(place, name)| format!("%{name} = call i32 @__kernelmill_{place}_x()\n"))
        .collect();
    let text = format!(
        "{declared}declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
         define void @take(i64 %x) noinline {{\nret void\n}}\n\
         define void @f(ptr %p, i32 %n, i64 %w) {{\nstart:\n{read}{body}\nret void\n}}\n"
    );
    let module = parse_ir(&context, &text, machine.data_layout(), TRIPLE).unwrap();
    module.verify().unwrap();
    let function = module.function("f").unwrap();
    of_code(function).or_else(|| of_indices(function, 0))
}

/// Whether blocks are joined where `%i`, of so many bits, is all that a function uses.
fn is_whole(bits: u32, body: &str) -> bool {
    let used = format!("{body}\nstore i{bits} %i, ptr %p");
    let refusal = refusal_of(&used);
    assert!(matches!(refusal, None | Some(JoinRefusal::Indices { axis: 0 })), "{refusal:?}");
    refusal.is_none()
}

#[test]
fn the_place_in_the_grid_and_its_size_are_whole() {
    for (bits, body) in [
        (32, "%s = mul i32 %b, %d\n%i = add i32 %s, %t"),
        (32, "%s = mul nsw i32 %d, %b\n%i = add nuw nsw i32 %t, %s"),
        (32, "%i = mul i32 %d, %g"),
        (64, "%s = mul i32 %b, %d\n%i0 = add i32 %s, %t\n%i = sext i32 %i0 to i64"),
        (
            64,
            "%wb = zext i32 %b to i64\n%wd = sext i32 %d to i64\n%wt = zext i32 %t to i64\n\
             %s = mul i64 %wb, %wd\n%i = add i64 %s, %wt",
        ),
        (
            64,
            "%s = mul i32 %b, %d\n%ws = sext i32 %s to i64\n%wt = zext i32 %t to i64\n%i = add i64 %ws, %wt",
        ),
        (
            32,
            "%wb = zext i32 %b to i64\n%wd = zext i32 %d to i64\n%ws = mul i64 %wb, %wd\n\
             %s = trunc i64 %ws to i32\n%i = add i32 %s, %t",
        ),
        (32, "%s = mul i32 %b, %d\n%i0 = add i32 %s, %t\n%i = mul i32 %i0, %n"),
    ] {
        assert!(is_whole(bits, body), "{body}");
    }
}

/// The number of a block is not what it was, nor is that of a thread, nor what is put together otherwise.
#[test]
fn parts_are_torn() {
    for (bits, body) in [
        (32, "%i = add i32 %t, 0"),
        (32, "%i = mul i32 %b, 1"),
        (32, "%i = add i32 %d, %n"),
        (32, "%i = add i32 %g, %n"),
        (32, "%s = mul i32 %b, %d\n%i = add i32 %s, %n"),
        (32, "%s = mul i32 %b, 16\n%i = add i32 %s, %t"),
        (32, "%s = mul i32 %b, %g\n%i = add i32 %s, %t"),
        (32, "%s = mul i32 %t, %d\n%i = add i32 %s, %b"),
        (32, "%s = mul i32 %b, %b\n%i = add i32 %s, %t"),
        (32, "%s = mul i32 %b, %d\n%i = sub i32 %s, %t"),
        (32, "%s = mul i32 %b, %d\n%i = sub i32 %n, %s"),
        (32, "%s = mul i32 %b, %d\n%i = add i32 %s, %s"),
        (32, "%s = mul i32 %b, %d\n%s2 = mul i32 %s, 2\n%i = add i32 %s2, %t"),
        (32, "%i = and i32 %t, 7"),
        (32, "%c = icmp eq i32 %t, 0\n%i = select i1 %c, i32 %n, i32 1"),
        (32, "%f = freeze i32 %t\n%s = mul i32 %b, %d\n%i = add i32 %s, %f"),
        // Products that wrap at another width than the exact one.
        (
            16,
            "%nb = trunc i32 %b to i16\n%nd = trunc i32 %d to i16\n%nt = trunc i32 %t to i16\n%s = mul i16 %nb, %nd\n%i = add i16 %s, %nt",
        ),
        (
            48,
            "%wb = zext i32 %b to i48\n%wd = zext i32 %d to i48\n%wt = zext i32 %t to i48\n%s = mul i48 %wb, %wd\n%i = add i48 %s, %wt",
        ),
    ] {
        assert!(!is_whole(bits, body), "{body}");
    }
}

/// What is added in between is another number in the joined launch: where a flag says that a sum does not wrap, or where it
/// is extended, it may wrap there and not in the launch.
#[test]
fn sums_in_between_keep_what_is_known_of_them() {
    let of = |body: &str| is_whole(32, &format!("%s = mul i32 %b, %d\n{body}"));
    for body in [
        "%a = add i32 %s, %n\n%i = add i32 %a, %t",
        "%a = add nsw i32 %s, %n\n%i = add nsw i32 %t, %a",
        "%a = add nuw i32 %s, %n\n%i = add nuw i32 %a, %t",
        "%a = add nuw nsw i32 %s, %n\n%i = add nsw i32 %a, %t",
        "%a = sub nsw i32 %s, %n\n%i = add nsw i32 %a, %t",
        "%a = sub i32 %s, %n\n%i = add i32 %a, %t",
        "%a = add i32 %t, %n\n%i = add i32 %a, %s",
    ] {
        assert!(of(body), "{body}");
    }
    for body in [
        "%a = add i32 %s, %n\n%i = add nsw i32 %a, %t",
        "%a = add i32 %s, %n\n%i = add nuw i32 %a, %t",
        "%a = add nuw i32 %s, %n\n%i = add nsw i32 %a, %t",
        "%a = sub nuw i32 %s, %n\n%i = add i32 %a, %t",
        "%a = sub nsw i32 %s, %n\n%i = add nuw i32 %a, %t",
        "%a = add nsw i32 %t, %n\n%i = add i32 %a, %s",
        "%a = add nuw i32 %t, %n\n%i = add i32 %a, %s",
        "%a = add i32 %t, %n\n%i = add nsw i32 %a, %s",
        "%a = add i32 %t, %n\n%i = add nuw i32 %a, %s",
        "%a = sub i32 %t, %n\n%i = add i32 %a, %s",
        "%a = add i32 %s, %n\n%i = add i32 %a, 1",
        "%a = add i32 %s, %n\n%c = add i32 %a, %n\n%i = add i32 %c, %t",
        "%a = add i32 %s, %n\n%c = add i32 %t, %n\n%i = add i32 %a, %c",
    ] {
        assert!(!of(body), "{body}");
    }
    for extend in ["sext", "zext"] {
        for part in ["s", "t"] {
            let rest = if part == "s" { "t" } else { "s" };
            let body = format!(
                "%s = mul i32 %b, %d\n%a = add i32 %{part}, %n\n%wa = {extend} i32 %a to i64\n\
                 %wr = zext i32 %{rest} to i64\n%i = add i64 %wa, %wr"
            );
            assert!(!is_whole(64, &body), "{body}");
        }
    }
}

#[test]
fn what_others_may_wait_for_is_refused() {
    for (body, refusal) in [
        ("store i32 %n, ptr %p", None),
        ("%a = atomicrmw add ptr %p, i32 %n monotonic", None),
        (
            "%a = atomicrmw add ptr %p, i32 %n monotonic\nstore i32 %a, ptr %p",
            Some(JoinRefusal::MemoryOrder),
        ),
        ("%a = cmpxchg ptr %p, i32 0, i32 %n monotonic monotonic", Some(JoinRefusal::MemoryOrder)),
        ("%a = load volatile i32, ptr %p", Some(JoinRefusal::MemoryOrder)),
        ("store atomic i32 %n, ptr %p release, align 4", Some(JoinRefusal::MemoryOrder)),
        ("fence release", Some(JoinRefusal::MemoryOrder)),
        ("call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %w, i1 false)", None),
        (
            "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %w, i1 true)",
            Some(JoinRefusal::MemoryOrder),
        ),
        ("call void @take(i64 %w)", None),
        ("call void %p(i64 %w)", Some(JoinRefusal::UnknownCall)),
        ("call void asm sideeffect \"nop\", \"\"()", Some(JoinRefusal::UnknownCall)),
    ] {
        assert_eq!(refusal_of(body), refusal, "{body}");
    }
}
