//! The pass on small kernels. `t` is the thread, `n` and `p` are parameters.

use std::cell::RefCell;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, Opcode, parse_ir},
    machine::Machine,
};

use super::*;
use crate::{
    base::loaded::open_llvm,
    cpu::operation::Operation,
    passes::{entry::KernelsSharing, locations::Backtraces},
};

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// What became of a kernel.
#[derive(Debug, PartialEq, Eq)]
struct Converted {
    /// The early exits, or why there are none.
    exits: Result<u32, EarlyExitRefusal>,
    /// The stores before a thread exits, on the way out alone.
    stores_on_path: usize,
    is_unchanged: bool,
}

/// Converts `define void @f(i32 %n, ptr %p) { %t = ..; body }`.
fn convert_body(body: &str) -> Converted {
    open_llvm();
    let context = Context::create();
    let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
    let text = format!(
        "declare void @__kernelmill_barrier()\n\
         declare i32 @__kernelmill_thread_idx_x()\n\
         declare i32 @__kernelmill_warp_shuffle(i32, i32, i32)\n\
         declare void @__kernelmill_panic(i32)\n\
         define void @f(i32 %n, ptr %p) {{\n\
         start:\n  %t = call i32 @__kernelmill_thread_idx_x()\n\
         %mine = getelementptr i32, ptr %p, i32 %t\n  br label %body\n\
         {body}\n}}\n"
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
    let kernel = module.function("f").unwrap();
    let before = kernel.instructions().len();
    let exits = convert(&unit, kernel, &|ty| machine.size_of(ty)).map(|lowering| match lowering {
        Lowering::BarrierRegions { early_exits, .. } => early_exits,
        other => panic!("{other}"),
    });
    let exits = exits.map_err(|refusal| refusal.exits);
    module.verify().unwrap();
    assert_eq!(module.definitions(), [kernel], "the copy is gone");
    let turns = |block: &Block<'_>| block.successors().contains(block);
    let empty = kernel.blocks().into_iter().filter(turns).find(|it| it.instructions().len() == 1);
    assert!(empty.is_none(), "a loop has lost what it does");
    let exiting = operations(kernel).into_iter().filter(|(_, it)| *it == Operation::EarlyExit);
    let stores = exiting.map(|(call, _)| {
        let all = call.block().instructions();
        all.iter().filter(|it| it.opcode() == Opcode::Store).count()
    });
    let stores_on_path = stores.sum();
    Converted { exits, stores_on_path, is_unchanged: kernel.instructions().len() == before }
}

fn converted(exits: u32, stores_on_path: usize) -> Converted {
    Converted { exits: Ok(exits), stores_on_path, is_unchanged: false }
}

fn refused(why: EarlyExitRefusal) -> Converted {
    Converted { exits: Err(why), stores_on_path: 0, is_unchanged: true }
}

#[test]
fn a_return_before_a_barrier_is_an_exit() {
    let body = "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %stay
         leave:
           ret void
         stay:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), converted(1, 0));
}

#[test]
fn what_is_done_on_the_way_out_is_copied_before_the_exit_barrier() {
    let body = "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %tail, label %stay
         stay:
           call void @__kernelmill_barrier()
           %read = load i32, ptr %p
           br label %tail
         tail:
           %value = phi i32 [ 7, %body ], [ %read, %stay ]
           store i32 %value, ptr %mine
           ret void";
    assert_eq!(convert_body(body), converted(1, 1));
}

/// The way out goes round a loop whose first block has a phi.
#[test]
fn a_loop_on_the_way_out_is_copied() {
    let body = "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %head, label %stay
         head:
           %i = phi i32 [ 0, %body ], [ %next, %head ]
           %next = add i32 %i, 1
           store i32 %next, ptr %mine
           %more = icmp ult i32 %next, %t
           br i1 %more, label %head, label %done
         done:
           ret void
         stay:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), converted(1, 0));
}

#[test]
fn exits_in_a_row_and_of_a_loop_are_found_together() {
    let body = "body:
           %first = icmp ult i32 %t, 3
           br i1 %first, label %end, label %head
         head:
           %i = phi i32 [ 0, %body ], [ %next, %latch ]
           call void @__kernelmill_barrier()
           %value = load i32, ptr %mine
           %out = icmp eq i32 %value, %i
           br i1 %out, label %end, label %latch
         latch:
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %n
           br i1 %more, label %head, label %end
         end:
           ret void";
    assert_eq!(convert_body(body), converted(2, 0));
}

#[test]
fn a_loop_that_threads_only_leave_at_the_end_of_the_kernel_is_one_of_exits() {
    let body = "body:
           br label %head
         head:
           %i = phi i32 [ 0, %body ], [ %next, %join ]
           call void @__kernelmill_barrier()
           %next = add i32 %i, 1
           %odd = icmp ult i32 %t, %next
           br i1 %odd, label %some, label %join
         some:
           store i32 %i, ptr %mine
           br label %join
         join:
           %more = icmp ult i32 %next, %t
           br i1 %more, label %head, label %end
         end:
           ret void";
    assert_eq!(convert_body(body), converted(1, 0));
}

/// Splitting the block of such a loop moves the start of the loop.
#[test]
fn a_loop_of_one_block_is_an_exit() {
    let counted = "body:
           br label %loop
         loop:
           %i = phi i32 [ 0, %body ], [ %next, %loop ]
           call void @__kernelmill_barrier()
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %t
           br i1 %more, label %loop, label %end
         end:
           store i32 %next, ptr %mine
           ret void";
    assert_eq!(convert_body(counted), converted(1, 1));
}

#[test]
fn a_loop_of_one_block_without_a_phi_goes_on_as_a_loop() {
    let body = "body:
           br label %loop
         loop:
           call void @__kernelmill_barrier()
           %value = load i32, ptr %mine
           %done = icmp ugt i32 %value, %n
           br i1 %done, label %end, label %loop
         end:
           ret void";
    assert_eq!(convert_body(body), converted(1, 0));
}

#[test]
fn shuffles_of_lanes_that_are_left_count_as_barriers_do() {
    let body = "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %stay
         leave:
           ret void
         stay:
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           store i32 %x, ptr %mine
           ret void";
    assert_eq!(convert_body(body), converted(1, 0));
}

/// What threads read from memory that differs decides over a barrier of those that are left.
#[test]
fn a_barrier_that_depends_on_memory_of_the_thread_stays_divergent() {
    let body = "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %stay
         leave:
           ret void
         stay:
           %value = load i32, ptr %mine
           %wait = icmp ugt i32 %value, 5
           br i1 %wait, label %waits, label %join
         waits:
           call void @__kernelmill_barrier()
           br label %join
         join:
           call void @__kernelmill_barrier()
           ret void";
    let why = EarlyExitRefusal::StillDivergent { exits: 1 };
    assert_eq!(convert_body(body), refused(why));
}

/// Not all threads come to the branch, so a barrier there would be one too many.
#[test]
fn an_exit_under_a_divergent_branch_or_in_a_divergent_loop_is_left_alone() {
    let under = "body:
           %low = icmp ult i32 %t, 9
           br i1 %low, label %inner, label %join
         inner:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %join
         leave:
           store i32 1, ptr %mine
           ret void
         join:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(under), refused(EarlyExitRefusal::NoExit));
    let looped = "body:
           br label %head
         head:
           %i = phi i32 [ 0, %body ], [ %next, %latch ]
           %place = getelementptr i32, ptr %mine, i32 %i
           %value = load i32, ptr %place
           %out = icmp eq i32 %value, 0
           br i1 %out, label %leave, label %latch
         leave:
           ret void
         latch:
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %t
           br i1 %more, label %head, label %join
         join:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(looped), refused(EarlyExitRefusal::NoExit));
}

#[test]
fn two_barriers_of_different_threads_are_no_exits() {
    let body = "body:
           %low = icmp ult i32 %t, %n
           br i1 %low, label %one, label %other
         one:
           call void @__kernelmill_barrier()
           ret void
         other:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), refused(EarlyExitRefusal::NoExit));
}

#[test]
fn a_long_way_out_is_not_copied() {
    let stores = "store volatile i32 1, ptr %mine\n".repeat(PATH);
    let body = format!(
        "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %stay
         leave:
           {stores}
           ret void
         stay:
           call void @__kernelmill_barrier()
           ret void"
    );
    let (instructions, limit) = (PATH as u64 + 1, PATH as u64);
    assert_eq!(convert_body(&body), refused(EarlyExitRefusal::LongPath { instructions, limit }));
}

/// A panic ends the launch, so it needs no exit barrier; one on a way out stays one.
#[test]
fn a_panic_is_no_exit() {
    let body = "body:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %stay
         leave:
           %bad = icmp eq i32 %n, 4
           br i1 %bad, label %panics, label %done
         panics:
           call void @__kernelmill_panic(i32 1)
           ret void
         done:
           store i32 1, ptr %mine
           ret void
         stay:
           %wrong = icmp eq i32 %t, 2
           br i1 %wrong, label %panics, label %go
         go:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), converted(1, 1));
}
