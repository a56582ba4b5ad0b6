//! The analysis on small functions. The parameter `t` is the thread, everything else is uniform.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, Value, parse_ir},
    machine::Machine,
};

use super::{Asked, Flow, Shape, Uniformity};
use crate::base::loaded::open_llvm;

const TRIPLE: &str = "x86_64-unknown-linux-gnu";

/// Analyses `define void @f(i32 %t, i32 %n, ptr %p) { ... }` and gives what `check` makes of it.
fn analyse<R>(
    body: &str,
    check: impl for<'c> FnOnce(&Flow<'c>, &Uniformity<'c>, &dyn Fn(&str) -> Value<'c>) -> R,
) -> R {
    open_llvm();
    let context = Context::create();
    let machine = Machine::new(TRIPLE, "x86-64", "", true).unwrap();
    let text = format!(
        "declare void @use(i32)\ndeclare void @barrier()\ndeclare void @panic()\n\
         define void @f(i32 %t, i32 %n, ptr %p) {{\n{body}\n}}\n"
    );
    let module = parse_ir(&context, &text, machine.data_layout(), TRIPLE).unwrap();
    let function = module.function("f").unwrap();
    let flow = Flow::new(function, |block| {
        block
            .instructions()
            .iter()
            .any(|call| call.called_function().is_some_and(|callee| callee.name() == "panic"))
    });
    let source = |value: Value<'_>| (value.name() == "t").then_some(Shape::Strided(1));
    let size = |ty| machine.size_of(ty);
    let asked = Asked { lanes: 16, source: &source, size: &size, element: &|_| None };
    let found = Uniformity::new(function, &flow, &asked);
    let named = |name: &str| {
        let mut all = function.instructions().into_iter();
        all.find(|value| value.name() == name).unwrap_or_else(|| panic!("no {name}"))
    };
    check(&flow, &found, &named)
}

fn shapes(body: &str, names: &[&str]) -> Vec<Shape> {
    analyse(body, |_, found, named| names.iter().map(|name| found.shape(named(name))).collect())
}

/// Whether the block of `call void @barrier()` is reached by all threads together.
fn barrier_is_uniform(body: &str) -> bool {
    analyse(body, |flow, found, _| {
        let barrier = flow.blocks.iter().position(|block| {
            block
                .instructions()
                .iter()
                .any(|call| call.called_function().is_some_and(|callee| callee.name() == "barrier"))
        });
        found.is_reached_together(barrier.unwrap())
    })
}

const VARYING: Shape = Shape::Varying;
const UNIFORM: Shape = Shape::UNIFORM;

#[test]
fn arithmetic_keeps_strides_and_loses_them() {
    let body = "
        %twice = shl i32 %t, 1
        %back = sub i32 %n, %twice
        %flat = add i32 %back, %twice
        %product = mul i32 %t, %n
        %low = and i32 %t, 7
        %wide = zext i32 %t to i64
        %address = getelementptr inbounds {float, float}, ptr %p, i64 %wide, i32 1
        %mine = load float, ptr %address
        %ours = load float, ptr %p
        %exact = load volatile i32, ptr %p
        %own = alloca i32
        ret void";
    let names = [
        "twice", "back", "flat", "product", "low", "wide", "address", "mine", "ours", "exact",
        "own",
    ];
    let expected = [
        Shape::Strided(2),
        Shape::Strided(-2),
        UNIFORM,
        VARYING,
        VARYING,
        Shape::Strided(1),
        Shape::Strided(8),
        VARYING,
        UNIFORM,
        VARYING,
        VARYING,
    ];
    assert_eq!(shapes(body, &names), expected);
}

/// The first thread of a vector of 16 has an index that is a multiple of 16.
#[test]
fn low_bits_that_stay_as_they_are_keep_the_stride() {
    let body = "
        %row = and i32 %t, 31
        %wide = zext i32 %row to i64
        %moved = shl i64 %wide, 2
        %tile = and i64 %moved, 255
        %rows = or i32 %row, 64
        %other = xor i32 %row, 32
        %within = and i32 %t, 7
        %short = and i64 %moved, 31
        %back = xor i32 %row, 3
        %over = or i32 %row, 8
        %shifted = add i32 %t, 1
        %unaligned = and i32 %shifted, 7
        ret void";
    let names = [
        "row",
        "wide",
        "moved",
        "tile",
        "rows",
        "other",
        "within",
        "short",
        "back",
        "over",
        "unaligned",
    ];
    let expected = [
        Shape::Strided(1),
        Shape::Strided(1),
        Shape::Strided(4),
        Shape::Strided(4),
        Shape::Strided(1),
        Shape::Strided(1),
        VARYING,
        VARYING,
        VARYING,
        VARYING,
        VARYING,
    ];
    assert_eq!(shapes(body, &names), expected);
}

#[test]
fn what_lies_above_the_low_bits_is_uniform_for_the_group() {
    let body = "
        %warp = lshr i32 %t, 5
        %start = and i32 %t, -16
        %first = icmp ult i32 %t, 32
        %tiles = shl i32 %n, 4
        %before = icmp uge i32 %t, %tiles
        %after = icmp ugt i32 %t, 63
        %half = lshr i32 %t, 3
        %pairs = and i32 %t, -8
        %few = icmp ult i32 %t, 40
        %some = icmp ult i32 %t, %n
        %past = icmp ugt i32 %t, 64
        ret void";
    let uniform = ["warp", "start", "first", "before", "after"];
    assert_eq!(shapes(body, &uniform), [UNIFORM; 5]);
    assert_eq!(shapes(body, &["half", "pairs", "few", "some", "past"]), [VARYING; 5]);
}

/// `t & (stride - 1)` and `t ^ stride` of a sorting network, for any stride.
#[test]
fn a_mask_that_is_not_known_is_checked_where_it_is_used() {
    let body = "
        %mask = sub i32 %n, 1
        %low = and i32 %t, %mask
        %pair = xor i32 %t, %n
        %place = sub i32 %pair, %low
        %twice = add i32 %low, %t
        %sure = and i32 %t, 31
        %next = add i32 %t, %n
        %ring = and i32 %next, 31
        %other = and i32 %pair, 31
        ret void";
    let names = ["low", "pair", "place", "twice", "sure", "ring", "other"];
    let one = Shape::Strided(1);
    assert_eq!(shapes(body, &names), [one, one, VARYING, Shape::Strided(2), one, one, one]);
    let unsure = analyse(body, |_, found, named| names.map(|name| found.is_unsure(named(name))));
    assert_eq!(unsure, [true, true, false, true, false, true, true]);
    let checked = |name| analyse(body, |_, found, named| found.checked.contains(&named(name)));
    assert_eq!(
        ["low", "pair", "ring", "other", "sure"].map(checked),
        [true, true, true, false, false]
    );
}

/// The index of a neighbour that is kept within an image, and of a partner where nothing is known of the block's size.
#[test]
fn what_is_strided_but_at_a_border_is_checked_where_it_is_used() {
    let body = "
        %left = sub i32 %t, 1
        %low = call i32 @llvm.smax.i32(i32 %left, i32 0)
        %high = call i32 @llvm.umin.i32(i32 %n, i32 %t)
        %both = call i32 @llvm.smin.i32(i32 %low, i32 %n)
        %two = call i32 @llvm.smax.i32(i32 %left, i32 %t)
        %inside = icmp sgt i32 %t, 0
        %chosen = select i1 %inside, i32 %left, i32 %t
        %apart = select i1 %inside, i32 %t, i32 %n
        %flag = icmp eq i32 %n, 0
        %same = select i1 %flag, i32 %left, i32 %t
        %next = add i32 %t, %n
        %pair = xor i32 %next, 64
        %odd = xor i32 %next, 5
        %one = sext i1 %inside to i32
        %before = add i32 %t, %one
        %some = select i1 %inside, i32 %n, i32 0
        %back = add i32 %t, %some
        %own = select i1 %inside, i32 %t, i32 0
        %more = add i32 %t, %own
        ret void";
    let strided = ["low", "high", "both", "chosen", "same", "pair", "before", "back"];
    assert_eq!(shapes(body, &strided), [Shape::Strided(1); 8]);
    assert_eq!(shapes(body, &["two", "apart", "odd", "one", "more"]), [VARYING; 5]);
    let unsure = analyse(body, |_, found, named| strided.map(|name| found.is_unsure(named(name))));
    assert_eq!(unsure, [true, true, true, true, false, true, true, true]);
}

#[test]
fn an_extension_is_checked_unless_the_number_is_small() {
    let body = "
        %small = and i32 %t, 255
        %sum = add i32 %small, 4096
        %sure = zext i32 %sum to i64
        %any = add i32 %t, %n
        %unsure = zext i32 %any to i64
        %index = sext i32 %t to i64
        ret void";
    let names = ["sure", "unsure", "index"];
    assert_eq!(shapes(body, &names), [Shape::Strided(1); 3]);
    let unsure = analyse(body, |_, found, named| names.map(|name| found.is_unsure(named(name))));
    assert_eq!(unsure, [false, true, false]);
}

#[test]
fn a_value_varies_where_divergent_ways_meet_and_not_where_uniform_ones_do() {
    let body = |condition: &str| {
        format!(
            "start:
               %c = icmp ult i32 {condition}, 3
               br i1 %c, label %yes, label %no
             yes:
               br label %met
             no:
               br label %met
             met:
               %either = phi i32 [1, %yes], [2, %no]
               %same = phi i32 [%n, %yes], [%n, %no]
               ret void"
        )
    };
    assert_eq!(shapes(&body("%t"), &["either", "same"]), [VARYING, UNIFORM]);
    assert_eq!(shapes(&body("%n"), &["either", "same"]), [UNIFORM, UNIFORM]);
}

#[test]
fn a_uniform_loop_inside_a_divergent_branch_stays_uniform() {
    let body = "start:
           %c = icmp ult i32 %t, %n
           br i1 %c, label %head, label %end
         head:
           %i = phi i32 [0, %start], [%next, %head]
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %n
           br i1 %more, label %head, label %after
         after:
           %last = phi i32 [%next, %head]
           br label %end
         end:
           ret void";
    assert_eq!(shapes(body, &["i", "more", "last"]), [UNIFORM; 3]);
}

#[test]
fn a_counter_varies_outside_of_a_loop_that_threads_leave_in_different_iterations() {
    let body = "start:
           br label %head
         head:
           %i = phi i32 [0, %start], [%next, %head]
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %t
           br i1 %more, label %head, label %after
         after:
           %last = phi i32 [%next, %head]
           ret void";
    assert_eq!(shapes(body, &["i", "next", "last"]), [UNIFORM, UNIFORM, VARYING]);
}

/// Threads go back by `again` different numbers of times before they meet in `on`, though both
/// are parts of one natural loop.
#[test]
fn a_cycle_inside_a_loop_of_the_same_header_counts() {
    let body = "start:
           br label %head
         head:
           %i = phi i32 [0, %start], [%inner, %again], [0, %on]
           %inner = add i32 %i, 1
           %c = icmp ult i32 %inner, %t
           br i1 %c, label %again, label %on
         again:
           br label %head
         on:
           %seen = phi i32 [%inner, %head]
           %more = icmp ult i32 %n, 9
           br i1 %more, label %head, label %end
         end:
           ret void";
    assert_eq!(shapes(body, &["seen"]), [VARYING]);
}

/// The way back to the inner loop through the outer one is none of its own: what the inner loop
/// counts varies in both of its exits.
#[test]
fn a_counter_varies_in_every_exit_of_a_loop_within_a_uniform_loop() {
    let body = "start:
           br label %outer
         outer:
           %round = phi i32 [0, %start], [%next.round, %met]
           br label %head
         head:
           %i = phi i32 [0, %outer], [%next, %latch]
           %end = icmp eq i32 %i, %n
           br i1 %end, label %counted, label %latch
         latch:
           %next = add i32 %i, 1
           %stop = icmp ugt i32 %next, %t
           br i1 %stop, label %broken, label %head
         counted:
           %all = phi i32 [%i, %head]
           br label %met
         broken:
           %some = phi i32 [%next, %latch]
           br label %met
         met:
           %last = phi i32 [%all, %counted], [%some, %broken]
           %next.round = add i32 %round, 1
           %more = icmp ult i32 %next.round, %n
           br i1 %more, label %outer, label %done
         done:
           ret void";
    let expected = [UNIFORM, VARYING, VARYING, VARYING, UNIFORM];
    assert_eq!(shapes(body, &["i", "all", "some", "last", "round"]), expected);
}

/// `continue` and `break` of an outer loop from an inner one: threads that go on with the outer
/// loop have left the inner one in different iterations, although all of them come to it again.
#[test]
fn what_an_inner_loop_counts_varies_where_threads_go_on_with_the_outer_one() {
    let body = "start:
           br label %outer
         outer:
           %round = phi i32 [0, %start], [%next.round, %on]
           br label %head
         head:
           %i = phi i32 [0, %outer], [%next, %latch]
           %next = add i32 %i, 1
           %c = icmp ugt i32 %next, %t
           br i1 %c, label %on, label %latch
         latch:
           %d = icmp ugt i32 %round, %t
           br i1 %d, label %done, label %head
         on:
           %seen = phi i32 [%next, %head]
           %next.round = add i32 %round, 1
           br label %outer
         done:
           ret void";
    assert_eq!(shapes(body, &["i", "seen", "round"]), [UNIFORM, VARYING, UNIFORM]);
}

#[test]
fn a_break_in_the_middle_makes_both_exits_meet_in_a_join() {
    let body = "start:
           br label %head
         head:
           %i = phi i32 [0, %start], [%next, %latch]
           %stop = icmp eq i32 %i, %t
           br i1 %stop, label %out, label %latch
         latch:
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %n
           br i1 %more, label %head, label %out
         out:
           %how = phi i32 [1, %head], [2, %latch]
           ret void";
    assert_eq!(shapes(body, &["how", "next"]), [VARYING, UNIFORM]);
}

#[test]
fn a_barrier_is_uniform_in_a_uniform_loop_and_after_a_branch_has_met() {
    assert!(barrier_is_uniform(
        "start:
           br label %head
         head:
           %i = phi i32 [0, %start], [%next, %latch]
           %mine = icmp ult i32 %t, %i
           br i1 %mine, label %work, label %latch
         work:
           call void @use(i32 %t)
           br label %latch
         latch:
           call void @barrier()
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %n
           br i1 %more, label %head, label %end
         end:
           ret void"
    ));
}

#[test]
fn a_barrier_after_an_early_exit_or_under_a_divergent_branch_or_loop_is_not() {
    let early = "start:
           %out = icmp uge i32 %t, %n
           br i1 %out, label %leave, label %stay
         leave:
           ret void
         stay:
           call void @barrier()
           ret void";
    assert!(!barrier_is_uniform(early));
    let under = "start:
           %c = icmp uge i32 %t, %n
           br i1 %c, label %in, label %end
         in:
           call void @barrier()
           br label %end
         end:
           ret void";
    assert!(!barrier_is_uniform(under));
    let looped = "start:
           br label %head
         head:
           %i = phi i32 [0, %start], [%next, %head]
           call void @barrier()
           %next = add i32 %i, 1
           %more = icmp ult i32 %next, %t
           br i1 %more, label %head, label %end
         end:
           ret void";
    assert!(!barrier_is_uniform(looped));
}

#[test]
fn a_panic_before_a_barrier_does_not_make_it_divergent() {
    assert!(barrier_is_uniform(
        "start:
           %bad = icmp uge i32 %t, %n
           br i1 %bad, label %out, label %go
         out:
           call void @panic()
           ret void
         go:
           call void @barrier()
           ret void"
    ));
}
