//! Values on edges: what a phi is given from a branch is known by the branch's condition.
//!
//! A loop over a range comes out of the optimiser as `next = i + zext(i < end)`, and goes on where `i < end`. On that edge `next`
//! is `i + 1`. LLVM's [CorrelatedValuePropagation] puts constants in the place of values on edges, and this is none. Without it
//! [ScalarEvolution] sees no induction variable, and what goes by those is left out: peeling, unrolling, strength reduction.
//!
//! An iterator with two ends, as of `take` or `zip`, advances its address by `select(more, size, 0)`, and goes on where both
//! conditions hold.
//!
//! Needs: optimised functions. Guarantees: no phi has a value from a branch that depends on its condition, as a select or as a sum
//! with the condition.
//!
//! [CorrelatedValuePropagation]: https://llvm.org/docs/Passes.html
//! [ScalarEvolution]: https://llvm.org/docs/Passes.html#scalar-evolution-scalar-evolution-analysis

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, ModuleExt, Opcode, Value},
};

/// Gives phis what their values are on the edges that they come by; whether there were any.
pub(crate) fn settle<'c>(context: &'c Context, module: &Module<'c>) -> bool {
    let mut has_changed = false;
    for function in module.definitions() {
        let phis = function.instructions().into_iter().filter(|it| it.opcode() == Opcode::Phi);
        for phi in phis.collect::<Vec<_>>() {
            for index in 0..phi.operands().len() as u32 {
                if let Some(value) = on_edge(context, phi, index) {
                    phi.set_operand(index, value);
                    has_changed = true;
                }
            }
        }
    }
    has_changed
}

/// What an operand of a phi is on its edge, where that is something else.
fn on_edge<'c>(context: &'c Context, phi: Value<'c>, index: u32) -> Option<Value<'c>> {
    let (value, from) = (phi.operand(index), phi.incoming_block(index)?);
    let (condition, holds) = condition(from, phi.block())?;
    if !value.is_instruction() {
        return None;
    }
    match value.opcode() {
        Opcode::Select if value.operand(0) == condition => {
            Some(value.operand(if holds { 1 } else { 2 }))
        }
        Opcode::Add => {
            let is_extended = |it: &u32| is_extended(value.operand(*it), condition);
            let extended = [0, 1].into_iter().find(is_extended)?;
            let other = value.operand(1 - extended);
            if !holds {
                return Some(other);
            }
            let builder = Builder::new(context);
            builder.before(from.terminator()?);
            builder.take_line(value);
            Some(builder.add(other, value.ty().constant(1)))
        }
        Opcode::GetElementPtr => {
            let [base, index] = value.operands()[..] else { return None };
            let is_chosen = index.is_instruction()
                && index.opcode() == Opcode::Select
                && index.operand(0) == condition;
            let chosen = is_chosen.then(|| index.operand(if holds { 1 } else { 2 }))?;
            let builder = Builder::new(context);
            builder.before(from.terminator()?);
            builder.take_line(value);
            Some(builder.elements(value.element_type(), base, &[chosen]))
        }
        _ => None,
    }
}

/// The condition of a branch from one block to another, and whether it holds there.
fn condition<'c>(from: Block<'c>, to: Block<'c>) -> Option<(Value<'c>, bool)> {
    let end = from.terminator()?;
    let [yes, no] = from.successors()[..] else { return None };
    // With one block for both, nothing is known there.
    (yes != no).then(|| end.branch_condition().map(|condition| (condition, to == yes)))?
}

/// Whether a value is a condition as the number 1 or 0.
fn is_extended<'c>(value: Value<'c>, condition: Value<'c>) -> bool {
    value.is_instruction() && value.opcode() == Opcode::ZExt && value.operand(0) == condition
}

#[cfg(test)]
mod tests {
    use kernelmill_llvm::ir::parse_ir;

    use super::*;
    use crate::base::loaded::open_llvm;

    /// The phi of a loop after the pass, and whether something has changed. The loop goes on where `%more` is `goes_on`.
    fn phi(next: &str, branch: &str) -> (String, bool) {
        let text = format!(
            "define i64 @f(i64 %end) {{
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %more = icmp ult i64 %i, %end
  %other = icmp ult i64 %i, 9
  %one = zext i1 %more to i64
  %next = {next}
  br i1 {branch}
out:
  ret i64 %next
}}"
        );
        open_llvm();
        let context = Context::create();
        let module = parse_ir(&context, &text, "", "").unwrap();
        let has_changed = settle(&context, &module);
        let text = module.to_text();
        let line = text.lines().find(|line| line.contains("%i = phi")).unwrap().trim().to_owned();
        let sum = line.split("], [ ").nth(1).unwrap().split(',').next().unwrap();
        let start = format!("{sum} = ");
        let made = text.lines().find_map(|line| line.trim().strip_prefix(&start));
        let sum = made.filter(|it| !it.starts_with("phi")).unwrap_or(sum);
        (sum.to_owned(), has_changed)
    }

    const ON: &str = "%more, label %loop, label %out";

    #[test]
    fn a_sum_with_the_condition_is_one_more_where_it_holds() {
        let (next, has_changed) = phi("add i64 %i, %one", ON);
        assert_eq!((&*next, has_changed), ("add i64 %i, 1", true));
        let (next, _) = phi("add i64 %one, %i", ON);
        assert_eq!(next, "add i64 %i, 1");
    }

    #[test]
    fn a_sum_with_the_condition_is_the_other_number_where_it_does_not_hold() {
        let (next, _) = phi("add i64 %i, %one", "%more, label %out, label %loop");
        assert_eq!(next, "%i");
    }

    #[test]
    fn a_select_by_the_condition_is_what_it_chooses() {
        assert_eq!(phi("select i1 %more, i64 5, i64 %end", ON).0, "5");
        let other = phi("select i1 %more, i64 5, i64 %end", "%more, label %out, label %loop");
        assert_eq!(other.0, "%end");
    }

    /// Another condition, the same block on both sides, and what is no sum.
    #[test]
    fn what_the_condition_does_not_decide_stays() {
        let stays =
            |next: &str, branch: &str| assert_eq!(phi(next, branch), (next.to_owned(), false));
        stays("add i64 %i, %one", "%other, label %loop, label %out");
        stays("select i1 %other, i64 5, i64 %end", ON);
        stays("sub i64 %i, %one", ON);
    }

    /// A loop over an iterator with two ends, `left` and an address, after the pass.
    fn iterator(condition: &str) -> String {
        let text = format!(
            "define float @f(ptr %x, ptr %end, i64 %n) {{
start:
  br label %loop
loop:
  %at = phi ptr [ %x, %start ], [ %next, %loop ]
  %left = phi i64 [ %n, %start ], [ %less, %loop ]
  %value = load float, ptr %at
  %less = add i64 %left, -1
  %a = icmp ne i64 %less, 0
  %b = icmp ne ptr %at, %end
  %both = select i1 %a, i1 %b, i1 false
  %size = select i1 {condition}, i64 4, i64 0
  %next = getelementptr i8, ptr %at, i64 %size
  br i1 {condition}, label %loop, label %out
out:
  ret float %value
}}"
        );
        open_llvm();
        let context = Context::create();
        let module = parse_ir(&context, &text, "", "").unwrap();
        assert!(settle(&context, &module));
        module.verify().unwrap();
        module.to_text()
    }

    #[test]
    fn an_address_that_advances_where_the_condition_holds_advances_by_a_constant() {
        let text = iterator("%both");
        assert!(text.contains(" = getelementptr i8, ptr %at, i64 4"), "{text}");
        assert!(!text.contains("[ %next, %loop ]"), "{text}");
    }

    #[test]
    fn a_branch_to_one_block_on_both_sides_decides_nothing() {
        open_llvm();
        let context = Context::create();
        let text = "define i64 @f(i1 %c, i64 %x, i64 %y) {
start:
  %v = select i1 %c, i64 %x, i64 %y
  br i1 %c, label %out, label %out
out:
  %r = phi i64 [ %v, %start ], [ %v, %start ]
  ret i64 %r
}";
        let module = parse_ir(&context, text, "", "").unwrap();
        assert!(!settle(&context, &module));
    }
}
