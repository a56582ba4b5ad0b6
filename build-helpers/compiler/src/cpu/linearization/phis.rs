//! Phis whose edges are moved.

use std::collections::HashSet;

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, Value},
};

use crate::cpu::instructions::phis;

/// Moves the edges that lead from some blocks to `join`, so that they lead to `to`, an empty block. Gives the phis
/// of `join` without the values of those edges, each with a phi of `to` that has them.
pub(super) fn move_edges<'c>(
    context: &'c Context,
    (from, join): (&HashSet<Block<'c>>, Block<'c>),
    to: Block<'c>,
) -> Vec<(Value<'c>, Value<'c>)> {
    let builder = Builder::new(context);
    let is_moved = |block: &Block<'c>| from.contains(block);
    let old: Vec<_> = phis(join.instructions()).collect();
    builder.at_end(to);
    let mut moved = Vec::new();
    for phi in &old {
        let new = builder.phi(phi.ty());
        for (value, block) in incoming(*phi).into_iter().filter(|(_, block)| is_moved(block)) {
            new.add_incoming(value, block);
        }
        moved.push(new);
    }
    // A phi of the join can be a value of another.
    let rest = old.into_iter().map(|phi| rebuild(context, phi, |block| !is_moved(&block)));
    let rest: Vec<_> = rest.collect();
    for block in from {
        block.redirect(join, to);
    }
    rest.into_iter().zip(moved).collect()
}

/// Says of the phis of a block that control comes to it from `to` where it came from `from`.
pub(super) fn come_from<'c>(
    context: &'c Context,
    block: Block<'c>,
    (from, to): (Block<'c>, Block<'c>),
) {
    let old: Vec<_> = phis(block.instructions()).collect();
    for phi in old {
        let moved = incoming(phi).into_iter().find(|(_, it)| *it == from);
        let Some((value, _)) = moved else { continue };
        let new = rebuild(context, phi, |it| it != from);
        // The value may have been the phi itself.
        new.add_incoming(if value == phi { new } else { value }, to);
    }
}

/// Replaces a phi by one that has the values of those blocks only.
fn rebuild<'c>(
    context: &'c Context,
    phi: Value<'c>,
    keeps: impl Fn(Block<'c>) -> bool,
) -> Value<'c> {
    let builder = Builder::new(context);
    builder.before(phi);
    let new = builder.phi(phi.ty());
    for (value, block) in incoming(phi).into_iter().filter(|(_, block)| keeps(*block)) {
        new.add_incoming(value, block);
    }
    phi.replace_with(new);
    phi.erase();
    new
}

/// The values of a phi with the blocks that they come from.
pub(super) fn incoming<'c>(phi: Value<'c>) -> Vec<(Value<'c>, Block<'c>)> {
    let all = (0..phi.operands().len() as u32)
        .filter_map(|index| Some((phi.operand(index), phi.incoming_block(index)?)));
    all.collect()
}
