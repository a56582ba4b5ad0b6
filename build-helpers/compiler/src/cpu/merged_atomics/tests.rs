//! The pass on small functions. `p` is an address, `n` a number, `x` memory that nothing else changes.

use std::cell::RefCell;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, parse_ir},
    machine::Machine,
};

use super::*;
use crate::{
    base::loaded::open_llvm,
    passes::{entry::KernelsSharing, locations::Backtraces},
};

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// What became of a function.
#[derive(Debug, PartialEq, Eq)]
struct Merged {
    count: u64,
    /// The atomic operations that are left, and those of them that are in loops.
    atomics: [usize; 2],
}

/// Merges those of `define void @f(ptr %p, i32 %n, ptr noalias readonly %x, ptr %y) { body }`, and gives the text.
fn merge_body(body: &str) -> (Merged, String) {
    open_llvm();
    let context = Context::create();
    let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
    let text = format!(
        "declare void @other()\ndeclare i32 @__kernelmill_thread_idx_x()\n\
         define void @f(ptr %p, i32 %n, ptr noalias readonly %x, ptr %y) {{\nstart:\n{body}\n}}\n"
    );
    let module = parse_ir(&context, &text, machine.data_layout(), TRIPLE).unwrap();
    let backtraces = Backtraces::new(false);
    let (warnings, passes) = (RefCell::default(), RefCell::default());
    let unit = Unit {
        context: &context,
        module: &module,
        signatures: &[],
        name: "unit",
        vectorize: true,
        sharing: &KernelsSharing::new(),
        backtraces: &backtraces,
        warnings: &warnings,
        passes: &passes,
    };
    let count = merge(&unit, &machine).unwrap();
    module.verify().unwrap();
    let function = module.function("f").unwrap();
    let flow = Flow::new(function, |_| false);
    let is_atomic = |it: &Value<'_>| it.opcode() == Opcode::AtomicRmw;
    let all: Vec<_> = function.instructions().into_iter().filter(is_atomic).collect();
    let is_inside = |it: &&Value<'_>| {
        flow.loops.iter().any(|found| found.nodes.contains(&flow.number(it.block())))
    };
    let inside = all.iter().filter(is_inside).count();
    (Merged { count, atomics: [all.len(), inside] }, module.to_text())
}

/// A loop that counts `i` from 0 to below `n` around some instructions; `next` is the sum and `more` the comparison.
fn counted(next: &str, more: &str, inside: &str) -> String {
    format!(
        "br label %body\nbody:\n%i = phi i32 [ 0, %start ], [ %next, %body ]\n{inside}\n\
         %next = {next}\n%more = {more}\nbr i1 %more, label %body, label %end\nend:\nret void"
    )
}

const NEXT: &str = "add i32 %i, 1";
const MORE: &str = "icmp ult i32 %next, %n";
const ADD: &str = "%old = atomicrmw add ptr %p, i32 %i monotonic";

#[track_caller]
fn is_merged(body: &str, count: u64, left: usize) {
    let (found, text) = merge_body(body);
    assert_eq!(found, Merged { count, atomics: [left, 0] }, "{body}\n{text}");
}

#[track_caller]
fn is_kept(body: &str) {
    let before = body.matches("atomicrmw").count();
    let (found, text) = merge_body(body);
    assert_eq!((found.count, found.atomics[0]), (0, before), "{body}\n{text}");
}

#[test]
fn operations_of_a_loop_become_one() {
    for operation in ["add", "sub", "and", "or", "xor", "max", "min", "umax", "umin"] {
        for ty in ["i8", "i32", "i64"] {
            let atomic = format!("%old = atomicrmw {operation} ptr %p, {ty} %value monotonic");
            let value = match ty {
                "i8" => "%value = trunc i32 %i to i8",
                "i32" => "%value = xor i32 %i, 5",
                _ => "%value = zext i32 %i to i64",
            };
            is_merged(&counted(NEXT, MORE, &format!("{value}\n{atomic}")), 1, 1);
        }
    }
    // Two of one kind, a load of what nothing changes, and what only computes.
    let second = "%again = atomicrmw add ptr %p, i32 7 monotonic";
    let load = "%at = getelementptr i32, ptr %x, i32 %i\n%value = load i32, ptr %at";
    let own = "%t = call i32 @__kernelmill_thread_idx_x()";
    is_merged(&counted(NEXT, MORE, &format!("{ADD}\n{load}\n{own}\n{second}")), 2, 1);
}

/// What is in memory is touched where the loop comes to an operation, and not where it does not.
#[test]
fn an_operation_that_is_not_always_done_stays_so() {
    let body = "br label %head\nhead:\n%i = phi i32 [ 0, %start ], [ %next, %tail ]\n\
                %more = icmp ult i32 %i, %n\nbr i1 %more, label %body, label %end\nbody:\n\
                %low = and i32 %i, 3\n%some = icmp eq i32 %low, 3\nbr i1 %some, label %add, label %tail\n\
                add:\n%old = atomicrmw umax ptr %p, i32 %i monotonic\nbr label %tail\ntail:\n\
                %next = add i32 %i, 1\nbr label %head\nend:\nret void";
    is_merged(body, 1, 1);
    let text = merge_body(body).1;
    let line = |part: &str| text.lines().position(|line| line.contains(part)).unwrap();
    let branches = text.lines().filter(|line| line.trim_start().starts_with("br i1")).count();
    assert!(branches >= 2 && line("atomicrmw") > line("phi i1"), "{text}");
    // It is done for sure where the last iteration has done it.
    let always = merge_body(&counted(NEXT, MORE, ADD)).1;
    assert!(!always.contains("phi i1"), "{always}");
}

#[test]
fn nested_loops_become_one_operation() {
    let inner = |step: &str| {
        format!(
            "br label %outer\nouter:\n%i = phi i32 [ 0, %start ], [ %next, %latch ]\nbr label %inner\n\
             inner:\n%j = phi i32 [ 0, %outer ], [ %above, %inner ]\n\
             %old = atomicrmw add ptr %p, i32 %j monotonic\n%above = add {step}\n\
             %again = icmp ule i32 %above, %n\nbr i1 %again, label %inner, label %latch\n\
             latch:\n%next = add i32 %i, 1\n%more = icmp ult i32 %next, %n\n\
             br i1 %more, label %outer, label %end\nend:\nret void"
        )
    };
    is_merged(&inner("nuw i32 %j, 1"), 2, 1);
    // The inner loop may never end, so that the outer one does not either.
    is_kept(&inner("i32 %j, 1"));
}

/// Each exit has the operation.
#[test]
fn a_loop_that_is_left_in_two_places() {
    let body = "br label %body\nbody:\n%i = phi i32 [ 0, %start ], [ %next, %tail ]\n\
                %old = atomicrmw add ptr %p, i32 %i monotonic\n%low = urem i32 %i, 77\n\
                %out = icmp eq i32 %low, 76\nbr i1 %out, label %early, label %tail\n\
                tail:\n%next = add i32 %i, 1\n%more = icmp ne i32 %next, %n\n\
                br i1 %more, label %body, label %end\n\
                early:\nstore i32 1, ptr %y\nret void\nend:\nret void";
    is_merged(body, 1, 2);
}

#[test]
fn loops_that_may_never_end_keep_their_operations() {
    let bodies = [
        // A bound that is the largest number, a step that passes over it, and one of none.
        ("add i32 %i, 1", "icmp ule i32 %next, %n"),
        ("add i32 %i, 2", "icmp ult i32 %next, %n"),
        ("add i32 %i, 2", "icmp ne i32 %next, %n"),
        ("add i32 %i, %n", "icmp slt i32 %next, 100"),
        ("xor i32 %i, %n", "icmp ult i32 %next, %n"),
        // Another comparison than one of what is counted.
        ("add i32 %i, 1", "icmp ne i32 %n, 7"),
        ("add i32 %i, 1", "icmp ult i32 %next, %i"),
        ("add i32 %i, 1", "icmp eq i1 true, true"),
    ];
    for (next, more) in bodies {
        is_kept(&counted(next, more, ADD));
    }
    for (next, more) in [
        ("add nuw i32 %i, 1", "icmp ule i32 %next, %n"),
        ("add nsw i32 %i, 2", "icmp slt i32 %next, %n"),
        ("add i32 %i, 3", "icmp ne i32 %next, %n"),
        ("add i32 %i, -1", "icmp sgt i32 %next, %n"),
        ("add i32 %i, 1", "icmp ugt i32 %n, %i"),
    ] {
        is_merged(&counted(next, more, ADD), 1, 1);
    }
    // The comparison is not made in each iteration.
    let some = "br label %body\nbody:\n%i = phi i32 [ 0, %start ], [ %next, %tail ]\n\
                %old = atomicrmw add ptr %p, i32 %i monotonic\n%low = and i32 %n, 1\n\
                %odd = icmp eq i32 %low, 1\nbr i1 %odd, label %look, label %tail\n\
                look:\n%twice = mul i32 %i, 3\n%out = icmp eq i32 %i, 50\nbr i1 %out, label %end, label %tail\n\
                tail:\n%next = add i32 %i, 1\nbr label %body\nend:\nret void";
    is_kept(some);
}

#[test]
fn operations_that_others_must_see_are_kept() {
    for atomic in [
        "%old = atomicrmw volatile add ptr %p, i32 %i monotonic",
        "%old = atomicrmw add ptr %p, i32 %i acq_rel",
        "%old = atomicrmw add ptr %p, i32 %i release",
        "%old = atomicrmw add ptr %p, i32 %i seq_cst",
        "%old = atomicrmw xchg ptr %p, i32 %i monotonic",
        "%old = atomicrmw nand ptr %p, i32 %i monotonic",
        "%value = sitofp i32 %i to float\n%old = atomicrmw fadd ptr %p, float %value monotonic",
        "%old = atomicrmw add ptr %p, i32 %i monotonic\n%seen = add i32 %old, 3",
        "%at = getelementptr i32, ptr %p, i32 %i\n%old = atomicrmw add ptr %at, i32 %i monotonic",
    ] {
        is_kept(&counted(NEXT, MORE, atomic));
    }
}

#[test]
fn other_accesses_in_the_loop_keep_them() {
    for other in [
        "%value = load i32, ptr %y",
        "%value = load volatile i32, ptr %x",
        "%value = load atomic i32, ptr %x monotonic, align 4",
        "store i32 %i, ptr %y",
        "fence seq_cst",
        "call void @other()",
        "%pair = cmpxchg ptr %y, i32 0, i32 1 monotonic monotonic",
        "%twin = atomicrmw sub ptr %p, i32 1 monotonic",
        "%twin = atomicrmw add ptr %y, i32 1 monotonic",
        "%twin = atomicrmw add ptr %p, i64 1 monotonic",
        "%twin = atomicrmw add ptr %p, i32 1 syncscope(\"singlethread\") monotonic",
    ] {
        is_kept(&counted(NEXT, MORE, &format!("{ADD}\n{other}")));
    }
    // The promise is of other memory than its own, and of an address that may be it.
    let own = "%value = load i32, ptr %x\n%old = atomicrmw add ptr %x, i32 %value monotonic";
    is_kept(&counted(NEXT, MORE, own));
    let chosen = format!(
        "%some = icmp eq i32 %n, 9\n%at = select i1 %some, ptr %x, ptr %p\n{}",
        counted(
            NEXT,
            MORE,
            "%value = load i32, ptr %x\n%old = atomicrmw add ptr %at, i32 %value monotonic"
        )
    );
    is_kept(&chosen);
}

/// As in the iterations of a loop that was unrolled.
#[test]
fn operations_in_a_row_become_one() {
    let all = |between: &str| {
        format!(
            "%a = atomicrmw xor ptr %p, i32 1 monotonic\n{between}\n\
             %b = atomicrmw xor ptr %p, i32 2 monotonic\nret void"
        )
    };
    is_merged(&all("%m = add i32 %n, 1"), 1, 1);
    is_merged(&all("%value = load i32, ptr %x"), 1, 1);
    let text = merge_body(&all("")).1;
    assert!(text.contains("atomicrmw xor ptr %p, i32 3 monotonic"), "{text}");
    for between in [
        "%value = load i32, ptr %p",
        "store i32 0, ptr %y",
        "fence acquire",
        "call void @other()",
        "%other = atomicrmw xor ptr %y, i32 2 monotonic",
        "%other = atomicrmw or ptr %p, i32 2 monotonic",
        "%other = atomicrmw volatile xor ptr %p, i32 2 monotonic",
    ] {
        is_kept(&all(between));
    }
}
