//! The pass on small kernels. `t` is the thread, `n` and `p` are parameters.

use std::cell::RefCell;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, Value, parse_ir},
    machine::Machine,
};

use super::{
    absences::{barriers, numbers},
    *,
};
use crate::{
    LinearizationRefusal, Lowering,
    base::loaded::open_llvm,
    cpu::{
        early_exits::convert,
        operation::{Operation, operations},
    },
    passes::{
        entry::{KernelsSharing, Unit},
        locations::Backtraces,
    },
};

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// What became of a kernel.
#[derive(Debug, PartialEq, Eq)]
struct Converted {
    /// The early exits and the joins, or why there are none.
    found: Result<(u32, u32), LinearizationRefusal>,
    /// The numbers of the barriers at which threads leave, exit or come back, in order of the code.
    barriers: Vec<[usize; 2]>,
    /// The collectives whose lanes are checked.
    checked: usize,
}

/// Runs `see` on `define void @f(i32 %n, ptr %p) { %t = ..; body }`.
fn with_kernel<R>(
    body: &str,
    see: impl for<'c> FnOnce(&Unit<'_, 'c>, Value<'c>, &Machine) -> R,
) -> R {
    open_llvm();
    let context = Context::create();
    let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
    let text = format!(
        "declare void @__kernelmill_barrier()\n\
         declare i32 @__kernelmill_thread_idx_x()\n\
         declare i32 @__kernelmill_warp_shuffle(i32, i32, i32)\n\
         declare i32 @__kernelmill_active_mask()\n\
         declare void @__kernelmill_leave(i32)\n\
         declare void @__kernelmill_absence_barrier(i32, i32)\n\
         define void @f(i32 %n, ptr %p) {{\n\
         start:\n  %t = call i32 @__kernelmill_thread_idx_x()\n  %w = lshr i32 %t, 5\n\
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
    let result = see(&unit, module.function("f").unwrap(), &machine);
    module.verify().unwrap();
    result
}

fn convert_body(body: &str) -> Converted {
    with_kernel(body, |unit, kernel, machine| {
        let before = kernel.instructions().len();
        let found = convert(unit, kernel, &|ty| machine.size_of(ty));
        let found = found.map_err(|refusal| refusal.branches).map(|lowering| match lowering {
            Lowering::BarrierRegions { early_exits, joins, .. } => (early_exits, joins),
            other => panic!("{other}"),
        });
        assert_eq!(unit.module.definitions(), [kernel], "the copy is gone");
        assert_eq!(found.is_err(), kernel.instructions().len() == before, "{found:?}");
        let barriers = kernel.blocks().into_iter().flat_map(barriers).map(numbers).collect();
        let all = operations(kernel);
        let checked = all.iter().filter(|(_, what)| *what == Operation::AllLanes).count();
        Converted { found, barriers, checked }
    })
}

fn refused(why: LinearizationRefusal) -> Converted {
    Converted { found: Err(why), barriers: Vec::new(), checked: 0 }
}

#[test]
fn threads_of_the_other_way_are_absent_until_the_join() {
    let body = "body:
           %first = icmp eq i32 %w, 0
           br i1 %first, label %sums, label %join
         sums:
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           br label %join
         join:
           %value = phi i32 [ %n, %body ], [ %x, %sums ]
           call void @__kernelmill_barrier()
           store i32 %value, ptr %mine
           ret void";
    let expected = Converted { found: Ok((0, 1)), barriers: vec![[0, 1], [1, 0]], checked: 1 };
    assert_eq!(convert_body(body), expected);
}

#[test]
fn one_way_follows_the_other_where_both_have_collectives() {
    let body = "body:
           %first = icmp eq i32 %w, 0
           br i1 %first, label %one, label %other
         one:
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           br label %join
         other:
           %y = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 4)
           br label %join
         join:
           %value = phi i32 [ %x, %one ], [ %y, %other ]
           call void @__kernelmill_barrier()
           store i32 %value, ptr %mine
           ret void";
    let barriers = vec![[0, 2], [2, 1], [1, 0]];
    assert_eq!(convert_body(body), Converted { found: Ok((0, 2)), barriers, checked: 2 });
}

/// The value that a thread has when it leaves is used behind.
#[test]
fn threads_that_leave_a_loop_are_absent_until_all_have() {
    let body = "body:
           br label %loop
         loop:
           %i = phi i32 [ 0, %body ], [ %next, %loop ]
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           %next = add i32 %i, %x
           %more = icmp ult i32 %next, %w
           br i1 %more, label %loop, label %end
         end:
           call void @__kernelmill_barrier()
           store i32 %next, ptr %mine
           ret void";
    let expected = Converted { found: Ok((0, 1)), barriers: vec![[0, 1], [1, 0]], checked: 1 };
    assert_eq!(convert_body(body), expected);
}

/// Where no thread is present any more after an exit, the block goes on where the others come back.
#[test]
fn an_exit_under_a_branch_leads_on_to_its_join() {
    let body = "body:
           %first = icmp eq i32 %w, 0
           br i1 %first, label %sums, label %join
         sums:
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           %out = icmp eq i32 %x, %n
           br i1 %out, label %leave, label %more
         leave:
           store i32 1, ptr %mine
           ret void
         more:
           %y = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %x, i32 3)
           br label %join
         join:
           %value = phi i32 [ %n, %body ], [ %y, %more ]
           call void @__kernelmill_barrier()
           store i32 %value, ptr %mine
           ret void";
    let converted = convert_body(body);
    assert_eq!((converted.found, converted.checked), (Ok((1, 1)), 2));
    let mut barriers = converted.barriers;
    barriers.sort_unstable();
    assert_eq!(barriers, [[0, 1], [0, 1], [1, 0]]);
}

/// The lanes that are absent end, so the collective is for those that are there.
#[test]
fn lanes_that_come_to_no_other_collective_are_not_waited_for() {
    let stores = "store volatile i32 1, ptr %mine\n".repeat(3);
    let body = format!(
        "body:
           %mask = call i32 @__kernelmill_active_mask()
           %first = icmp eq i32 %mask, %t
           br i1 %first, label %some, label %join
         some:
           %here = call i32 @__kernelmill_active_mask()
           %x = call i32 @__kernelmill_warp_shuffle(i32 %here, i32 %t, i32 3)
           br label %join
         join:
           %value = phi i32 [ %n, %body ], [ %x, %some ]
           {stores}
           call void @__kernelmill_barrier()
           store i32 %value, ptr %mine
           ret void"
    );
    let expected = Converted { found: Ok((0, 1)), barriers: vec![[0, 1], [1, 0]], checked: 0 };
    assert_eq!(convert_body(&body), expected);
}

#[test]
fn a_barrier_of_the_block_under_a_branch_stays_divergent() {
    let body = "body:
           %first = icmp eq i32 %w, 0
           br i1 %first, label %sums, label %join
         sums:
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           call void @__kernelmill_barrier()
           br label %join
         join:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), refused(LinearizationRefusal::BarrierUnderBranch));
}

#[test]
fn a_loop_that_may_wait_for_absent_threads_is_left_alone() {
    let body = "body:
           br label %loop
         loop:
           %seen = load volatile i32, ptr %p
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %seen, i32 3)
           %more = icmp ult i32 %x, %w
           br i1 %more, label %loop, label %end
         end:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), refused(LinearizationRefusal::WaitsForMemory));
}

#[test]
fn lanes_that_are_known_to_part_meet_as_coroutines() {
    for condition in ["icmp ult i32 %t, 16", "icmp eq i32 %t, 0", "icmp ugt i32 %t, 30"] {
        let body = format!(
            "body:
               %some = {condition}
               br i1 %some, label %one, label %join
             one:
               %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
               br label %join
             join:
               call void @__kernelmill_barrier()
               ret void"
        );
        assert_eq!(convert_body(&body), refused(LinearizationRefusal::SplitsWarps), "{condition}");
        let whole = body.replace("16", "32").replace("eq i32 %t, 0", "ult i32 %t, 64");
        let whole = whole.replace("30", "31");
        assert_eq!(convert_body(&whole).found, Ok((0, 1)), "{condition}");
    }
}

#[test]
fn ways_that_share_code_are_left_alone() {
    let body = "body:
           %first = icmp eq i32 %w, 0
           br i1 %first, label %one, label %other
         one:
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           %even = icmp eq i32 %w, %n
           br i1 %even, label %other, label %join
         other:
           %y = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 4)
           br label %join
         join:
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(convert_body(body), refused(LinearizationRefusal::Irregular));
}

/// The check itself, of functions that no search has made.
#[test]
fn threads_neither_end_nor_wait_while_others_are_absent() {
    let check_body = |body: &str| {
        with_kernel(body, |_, kernel, _| {
            let mut absences = Absences::new();
            absences.open(0);
            check(kernel, &absences)
        })
    };
    let right = "body:
           call void @__kernelmill_leave(i32 1)
           call void @__kernelmill_absence_barrier(i32 0, i32 1)
           %x = call i32 @__kernelmill_warp_shuffle(i32 -1, i32 %t, i32 3)
           br label %back
         back:
           call void @__kernelmill_absence_barrier(i32 1, i32 0)
           call void @__kernelmill_barrier()
           ret void";
    assert_eq!(check_body(right), Ok(()));
    let wait = right.replace("%x = call", "call void @__kernelmill_barrier()\n %x = call");
    let end = right.replace(
        "br label %back",
        "%z = icmp eq i32 %n, 0\n br i1 %z, label %back, label %end\n end:\n ret void",
    );
    let elsewhere = right.replace("(i32 1, i32 0)", "(i32 1, i32 1)");
    let never_back = right.replace("(i32 1, i32 0)", "(i32 0, i32 0)");
    for wrong in [wait, end, elsewhere, never_back] {
        assert_eq!(check_body(&wrong), Err(LinearizationRefusal::Irregular), "{wrong}");
    }
}
