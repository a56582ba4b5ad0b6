//! Loops over private arrays: unrolled, each element of the array is a register.
//!
//! Registers have no addresses, so an array that is indexed by a loop's counter is in local memory, which is as far away as
//! global memory is. LLVM's full unrolling stops at a size that does not count these accesses; nvcc's does not.
//!
//! Needs: optimised functions. Guarantees: a loop is marked to be unrolled (`llvm.loop.unroll.full`) only where its trip
//! count is known, all its iterations together are no more than [`INSTRUCTIONS`], and no address in the array depends on anything
//! but constants and the counters of such loops. Which iterations there are, and what each computes, stays.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, IntPredicate, ModuleExt, Opcode, Value},
};

use crate::cpu::{Graph, Loop};

/// The most instructions that the iterations of loops over one array may be, those of inner loops with their own.
const INSTRUCTIONS: u64 = 4096;
/// The most iterations of one loop.
const ITERATIONS: u64 = 64;

/// Passes that unroll what is marked, and make registers of the arrays.
pub(super) const PASSES: &str = "function(loop-simplify,lcssa,loop-unroll,sroa<modify-cfg>,instcombine<no-verify-fixpoint>,\
                                 simplifycfg,gvn,loop-simplify,lcssa,loop-mssa(licm<allowspeculation>),\
                                 instcombine<no-verify-fixpoint>,simplifycfg)";

/// Marks the loops over private arrays; whether there are any.
pub(super) fn mark<'c>(context: &'c Context, module: &Module<'c>) -> bool {
    let mut has_marked = false;
    for function in module.definitions() {
        let is_array = |it: &Value<'c>| it.opcode() == Opcode::Alloca;
        let arrays: Vec<_> = function.instructions().into_iter().filter(is_array).collect();
        if arrays.is_empty() {
            continue;
        }
        let blocks = function.blocks();
        let loops = counted_loops(&blocks);
        let found = arrays.iter().filter_map(|array| loops_over(*array, &loops));
        let found: HashSet<usize> = found.filter(|it| is_small(it, &loops)).flatten().collect();
        for index in &found {
            loops[*index].latch.unroll_loop(context);
        }
        has_marked |= !found.is_empty();
    }
    has_marked
}

/// A loop whose trip count is known.
struct Counted<'c> {
    counter: Value<'c>,
    iterations: u64,
    latch: Block<'c>,
    blocks: HashSet<Block<'c>>,
}

/// The loops of a function whose trip counts are known.
fn counted_loops<'c>(blocks: &[Block<'c>]) -> Vec<Counted<'c>> {
    let number = |of: &Block<'c>| blocks.iter().position(|block| block == of);
    let next = |block: &Block<'c>| block.successors().iter().filter_map(number).collect();
    let graph = Graph::new(blocks.iter().map(next).collect());
    graph.loops(0).iter().filter_map(|found| counted(blocks, &graph, found)).collect()
}

/// The counter and the trip count of a loop that ends in its only latch and nowhere else.
fn counted<'c>(blocks: &[Block<'c>], graph: &Graph, found: &Loop) -> Option<Counted<'c>> {
    let is_inside = |node: &usize| found.nodes.contains(node);
    let mut latches = graph.predecessors[found.header].iter().copied().filter(is_inside);
    let (Some(latch), None) = (latches.next(), latches.next()) else { return None };
    let leaves = |node: &&usize| !graph.successors[**node].iter().all(is_inside);
    if found.nodes.iter().filter(leaves).any(|node| *node != latch) {
        return None;
    }
    let (header, latch) = (blocks[found.header], blocks[latch]);
    let condition = latch.terminator()?.branch_condition()?;
    if !condition.is_instruction() || condition.opcode() != Opcode::ICmp {
        return None;
    }
    // Which of the two it is follows from where the loop goes on.
    let goes_on = if latch.successors()[0] == header { IntPredicate::Ne } else { IntPredicate::Eq };
    if condition.int_predicate() != goes_on {
        return None;
    }
    let (compared, end) = (condition.operand(0), condition.operand(1).as_u64()?);
    let phis = header.instructions().into_iter().filter(|it| it.opcode() == Opcode::Phi);
    for counter in phis {
        let [a, b] = [0, 1].map(|index| (counter.incoming_block(index), counter.operand(index)));
        let (next, start) = if a.0 == Some(latch) { (a.1, b.1) } else { (b.1, a.1) };
        let Some((start, step)) = start.as_u64().zip(step(next, counter)) else { continue };
        let bits = counter.ty().int_width()?;
        let distance = signed(end.wrapping_sub(start), bits);
        let more = match compared {
            it if it == next => 0,
            it if it == counter => 1,
            _ => continue,
        };
        let step = signed(step, bits);
        let is_whole = step != 0 && distance % step == 0 && distance / step >= 0;
        let iterations = if is_whole { (distance / step) as u64 + more } else { 0 };
        if (1..=ITERATIONS).contains(&iterations) {
            let blocks = found.nodes.iter().map(|node| blocks[*node]).collect();
            return Some(Counted { counter, iterations, latch, blocks });
        }
    }
    None
}

/// What a value is more than a counter.
fn step(next: Value<'_>, counter: Value<'_>) -> Option<u64> {
    let is_sum = next.is_instruction() && next.opcode() == Opcode::Add;
    (is_sum && next.operand(0) == counter).then(|| next.operand(1).as_u64())?
}

/// The number of so many bits.
fn signed(number: u64, bits: u32) -> i64 {
    let unused = 64 - bits.min(64);
    (number << unused).cast_signed() >> unused
}

/// The loops by whose counters an array is indexed, by their indices; `None` where one is indexed by anything else, or its
/// address goes anywhere but into accesses, fills and copies.
fn loops_over<'c>(array: Value<'c>, loops: &[Counted<'c>]) -> Option<HashSet<usize>> {
    let (mut found, mut work) = (HashSet::new(), vec![array]);
    while let Some(address) = work.pop() {
        for user in address.users() {
            match user.opcode() {
                Opcode::Load if !user.is_exact_access() => {}
                Opcode::Store if user.operand(0) != address && !user.is_exact_access() => {}
                Opcode::GetElementPtr => {
                    for index in &user.operands()[1..] {
                        counters(*index, user.block(), loops, &mut found)?;
                    }
                    work.push(user);
                }
                Opcode::Call if is_registers(user) => {}
                _ => return None,
            }
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Whether a call is one that LLVM makes registers of: a fill or a copy of so many bytes, or a mark of a lifetime.
fn is_registers(call: Value<'_>) -> bool {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    let is_sized = || call.arguments().get(2).is_some_and(|bytes| bytes.as_u64().is_some());
    name.starts_with("llvm.lifetime.")
        || ((name.starts_with("llvm.memset.") || name.starts_with("llvm.memcpy.")) && is_sized())
}

/// Notes the loops whose counters an index is computed of; `None` where it is computed of anything else.
fn counters<'c>(
    index: Value<'c>,
    at: Block<'c>,
    loops: &[Counted<'c>],
    found: &mut HashSet<usize>,
) -> Option<()> {
    if index.is_constant() {
        return Some(());
    }
    let of_counter = |it: &Counted<'c>| it.counter == index && it.blocks.contains(&at);
    if let Some(of_counter) = loops.iter().position(of_counter) {
        found.insert(of_counter);
        return Some(());
    }
    let is_computed = index.is_instruction()
        && matches!(
            index.opcode(),
            Opcode::Add
                | Opcode::Sub
                | Opcode::Mul
                | Opcode::Shl
                | Opcode::Or
                | Opcode::ZExt
                | Opcode::SExt
                | Opcode::Trunc
        );
    let operands = is_computed.then(|| index.operands())?;
    operands.into_iter().try_for_each(|it| counters(it, at, loops, found))
}

/// Whether the iterations of loops are few enough instructions.
fn is_small(found: &HashSet<usize>, loops: &[Counted<'_>]) -> bool {
    let of_block = |block: &Block<'_>| {
        let around = found.iter().map(|index| &loops[*index]);
        let around = around.filter(|it| it.blocks.contains(block));
        let times = around.fold(1_u64, |times, it| times.saturating_mul(it.iterations));
        times.saturating_mul(block.instructions().len() as u64)
    };
    let blocks: HashSet<_> = found.iter().flat_map(|index| &loops[*index].blocks).collect();
    let instructions = blocks.into_iter().map(of_block).fold(0_u64, u64::saturating_add);
    instructions <= INSTRUCTIONS
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::ir::parse_ir;

    use super::*;
    use crate::base::loaded::open_llvm;

    /// A function with a private array and a loop that indexes it, `for (i = 0; i + 1 != end; i += step)`.
    struct Case {
        start: u32,
        end: &'static str,
        step: u32,
        /// What the array is indexed by.
        index: &'static str,
        /// More instructions of an iteration.
        more: usize,
        /// What else is done with the array.
        also: &'static str,
    }

    const CASE: Case = Case { start: 0, end: "5", step: 1, index: "%i", more: 0, also: "" };

    /// Whether a loop is marked.
    fn is_marked(case: &Case) -> bool {
        let Case { start, end, step, index, more, also } = case;
        let more: String =
            (0..*more).map(|_| "  store volatile float %x, ptr %out\n".to_owned()).collect();
        let text = format!(
            "define void @f(ptr %out, float %x, i64 %n) {{
start:
  %array = alloca [64 x float]
  {also}
  br label %loop
loop:
  %i = phi i64 [ {start}, %start ], [ %next, %loop ]
  %twice = shl i64 %i, 1
  %place = getelementptr [4 x i8], ptr %array, i64 {index}
  store float %x, ptr %place
{more}
  %next = add i64 %i, {step}
  %done = icmp eq i64 %next, {end}
  br i1 %done, label %out2, label %loop
out2:
  %last = load float, ptr %array
  store float %last, ptr %out
  ret void
}}"
        );
        open_llvm();
        let context = Context::create();
        let module = parse_ir(&context, &text, "", "").unwrap();
        let has_marked = mark(&context, &module);
        module.verify().unwrap();
        assert_eq!(module.to_text().contains("llvm.loop.unroll.full"), has_marked);
        has_marked
    }

    #[test]
    fn a_loop_over_an_array_whose_trip_count_is_known_is_marked() {
        assert!(is_marked(&CASE));
        assert!(is_marked(&Case { index: "%twice", ..CASE }));
        assert!(is_marked(&Case { start: 8, end: "20", step: 3, ..CASE }));
        assert!(is_marked(&Case { end: "64", ..CASE }));
    }

    #[test]
    fn a_loop_whose_trip_count_is_not_known_or_too_large_is_not_marked() {
        assert!(!is_marked(&Case { end: "%n", ..CASE }));
        assert!(!is_marked(&Case { end: "65", ..CASE }));
        assert!(!is_marked(&Case { end: "20", step: 3, ..CASE }));
        assert!(!is_marked(&Case { start: 8, end: "4", ..CASE }));
    }

    #[test]
    fn a_loop_of_too_many_instructions_is_not_marked() {
        assert!(is_marked(&Case { end: "64", more: 50, ..CASE }));
        assert!(!is_marked(&Case { end: "64", more: 60, ..CASE }));
    }

    /// Without them in registers there is nothing to gain.
    #[test]
    fn an_array_that_stays_in_memory_has_no_loop_marked() {
        assert!(!is_marked(&Case { index: "%n", ..CASE }));
        assert!(!is_marked(&Case { index: "2", ..CASE }));
        assert!(!is_marked(&Case { also: "store ptr %array, ptr %out", ..CASE }));
        let other = "%o = getelementptr [4 x i8], ptr %array, i64 %n\n  store float %x, ptr %o";
        assert!(!is_marked(&Case { also: other, ..CASE }));
    }
}
