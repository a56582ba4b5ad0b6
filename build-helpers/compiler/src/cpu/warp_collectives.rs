//! Warp collectives in a body of barrier regions: each thread stores its value in a table, and after a barrier
//! loads what it is to have. pocl lowers sub-group functions in the same way.
//!
//! Needs: the collectives are uniform ([`super::lowering`]) and for all lanes of a warp. Guarantees: the
//! results of the run time's (`src/backend/cpu/warp.rs` of `kernelmill`). A lane is missing where the block
//! has no such thread, and where the thread has exited ([`super::early_exits`]) or is absent
//! ([`super::linearization`]): a shuffle gives the thread's own value there, and a ballot leaves it out.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode, Place, Type, Value},
};

use super::{
    exit_flags::{self, LANES, THREADS},
    operation::{Operation, number, operations},
};
use crate::{ir::always_inline, passes::entry::Unit};

/// Tables that operations which follow each other take in turns, so that none is written while some
/// thread may still have to read it.
const TABLES: u64 = 4;
/// The bytes of a table.
const TABLE_BYTES: u64 = (THREADS + 2 * LANES) * 4;
/// The bytes of all of them, with the flags of threads that have exited before.
pub(super) const BYTES: u64 = exit_flags::BYTES + TABLES * TABLE_BYTES;

/// The function that gives the first lane of a warp the votes of all; the compiler's own.
const VOTE: &str = "__kernelmill_vote";

/// The same, where lanes may have exited.
const VOTE_OF_REST: &str = "__kernelmill_vote_of_rest";

/// How a warp collective uses the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    table: u64,
    /// Whether the same table may be written next, so that threads wait once more.
    again: bool,
}

/// The turns of the operations of a body.
pub(super) fn turns<'c>(body: Value<'c>) -> HashMap<Value<'c>, Turn> {
    let waits: Vec<_> = operations(body).into_iter().filter(|(_, what)| what.waits()).collect();
    let all: HashSet<_> = waits.iter().map(|(call, _)| *call).collect();
    let uses_table = |what: Operation| match what {
        Operation::Warp(which) => which != number::BARRIER,
        _ => false,
    };
    let followers: HashMap<_, _> = waits
        .iter()
        .filter(|(_, what)| uses_table(*what))
        .map(|(call, _)| (*call, next_of(*call, &all)))
        .collect();
    let mut tables: HashMap<Value<'c>, u64> = HashMap::new();
    for (call, what) in &waits {
        if !uses_table(*what) {
            continue;
        }
        let is_near =
            |other: &Value<'c>| followers[call].contains(other) || followers[other].contains(call);
        let taken: HashSet<_> =
            tables.iter().filter(|(other, _)| is_near(other)).map(|(_, table)| *table).collect();
        let free = (0..TABLES).find(|table| !taken.contains(table));
        tables.insert(*call, free.unwrap_or(0));
    }
    let again = |call: &Value<'c>, table: u64| {
        followers[call].iter().any(|next| tables.get(next) == Some(&table))
    };
    tables.iter().map(|(call, &table)| (*call, Turn { table, again: again(call, table) })).collect()
}

/// The calls among `waits` that control can come to next after one of them.
fn next_of<'c>(call: Value<'c>, waits: &HashSet<Value<'c>>) -> HashSet<Value<'c>> {
    let mut found = HashSet::new();
    let mut seen: HashSet<Block<'c>> = HashSet::new();
    let mut work = vec![(call.block(), call.next_instruction())];
    while let Some((block, first)) = work.pop() {
        let mut instructions = std::iter::successors(first, |it| it.next_instruction());
        if let Some(next) = instructions.find(|instruction| waits.contains(instruction)) {
            found.insert(next);
            continue;
        }
        for next in block.successors() {
            if seen.insert(next) {
                work.push((next, next.instructions().first().copied()));
            }
        }
    }
    found
}

/// What a thread knows of its place.
pub(super) struct Thread<'c> {
    pub(super) index: [Value<'c>; 3],
    pub(super) dims: [Value<'c>; 3],
    /// The address of the tables.
    pub(super) tables: Value<'c>,
    /// Whether threads of the block may have exited.
    pub(super) can_exit: bool,
}

impl<'c> Thread<'c> {
    /// Its number in the block.
    pub(super) fn linear(&self, context: &'c Context, builder: &Builder<'c>) -> Value<'c> {
        let wide = Type::int(context, 64);
        let [index, dims] =
            [self.index, self.dims].map(|axes| axes.map(|axis| builder.zero_extend(axis, wide)));
        let row = builder.add(builder.multiply(index[2], dims[1]), index[1]);
        builder.add(builder.multiply(row, dims[0]), index[0])
    }

    /// The threads of the block.
    fn count(&self, context: &'c Context, builder: &Builder<'c>) -> Value<'c> {
        let dims = self.dims.map(|axis| builder.zero_extend(axis, Type::int(context, 64)));
        builder.multiply(builder.multiply(dims[0], dims[1]), dims[2])
    }
}

/// What builds the barriers of a collective.
pub(super) struct Barriers<'b> {
    /// The first one, once each thread has written its value.
    pub(super) arrive: &'b dyn Fn(),
    /// Any other.
    pub(super) wait: &'b dyn Fn(),
}

/// Builds an operation in place of `call`, where `builder` stands, and gives its result.
pub(super) fn build<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    thread: &Thread<'c>,
    (call, which): (Value<'c>, u64),
    turn: Turn,
    barriers: &Barriers<'_>,
) -> Value<'c> {
    let context = unit.context;
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let (linear, count) = (thread.linear(context, builder), thread.count(context, builder));
    let start = exit_flags::BYTES + turn.table * TABLE_BYTES + LANES * 4;
    let table = builder.offset(context, thread.tables, start);
    let own = builder.element(word, table, linear);
    let value = if which == number::ACTIVE_MASK { word.constant(1) } else { call.arguments()[1] };
    builder.store(value, own);
    (barriers.arrive)();
    let first = builder.and(linear, wide.constant(!(LANES - 1)));
    let result = if matches!(which, number::BALLOT | number::ACTIVE_MASK) {
        if thread.can_exit {
            builder.call(vote_of_rest(unit), &[table, linear, count, thread.tables]);
        } else {
            builder.call(vote(unit), &[table, linear, count]);
        }
        (barriers.wait)();
        builder.load(word, builder.element(word, table, first))
    } else {
        let argument = call.arguments()[2];
        let by = builder.and(builder.zero_extend(argument, wide), wide.constant(LANES - 1));
        // Which lanes there are is found in numbers of 32 bits: as many of them as a vector has lanes fit in a register.
        let lane = builder.and(builder.truncate(linear, word), word.constant(LANES - 1));
        let last = word.constant(LANES - 1);
        let binary = |opcode, left, right| builder.binary(opcode, left, right);
        let (from, most) = match which {
            number::SHUFFLE => (builder.add(first, by), None),
            number::SHUFFLE_XOR => (binary(Opcode::Xor, linear, by), Some(last)),
            number::SHUFFLE_UP => (binary(Opcode::Sub, linear, by), Some(lane)),
            _ => (builder.add(linear, by), Some(binary(Opcode::Sub, last, lane))),
        };
        let [narrow, count] = [from, count].map(|it| builder.truncate(it, word));
        let is_thread = builder.compare(IntPredicate::Ult, narrow, count);
        let there = most.map_or(is_thread, |most| {
            let is_lane = builder.compare(IntPredicate::Ule, argument, most);
            builder.and(is_lane, is_thread)
        });
        let there = if thread.can_exit {
            let stays = exit_flags::stays(context, builder, thread.tables, from);
            // Not `and`: there may be no such thread, and no flag.
            builder.select(there, stays, Type::int(context, 1).constant(0))
        } else {
            there
        };
        let other = builder.load(word, builder.element(word, table, from));
        // From memory: the value itself would have to be kept across the barrier.
        let own = builder.load(word, own);
        builder.select(there, other, own)
    };
    if turn.again {
        (barriers.wait)();
    }
    result
}

/// `fn(table: *mut u32, linear: u64, count: u64)`: the first thread of a warp puts a bit for each thread
/// of it whose entry is not 0 into its own entry.
fn vote<'c>(unit: &Unit<'_, 'c>) -> Value<'c> {
    voting(unit, VOTE, |builder, voter| {
        let lane = builder.and(voter.linear, voter.linear.ty().constant(LANES - 1));
        let is_first = builder.compare(IntPredicate::Eq, lane, lane.ty().constant(0));
        voter.only_if(builder, is_first);
        voter.write(builder, voter.there(builder));
    })
}

/// `fn(table: *mut u32, linear: u64, count: u64, tables: *const u8)`: the first thread of a warp that has not
/// exited puts a bit for each such thread of it whose entry is not 0 into the entry of the first.
fn vote_of_rest<'c>(unit: &Unit<'_, 'c>) -> Value<'c> {
    voting(unit, VOTE_OF_REST, |builder, voter| {
        let context = unit.context;
        let word = Type::int(context, 32);
        let first = voter.first(builder);
        let stays = exit_flags::staying(context, builder, voter.tables, first, LANES as u32);
        let stays = voter.among(builder, voter.there(builder), stays);
        let bits = builder.cast(Opcode::BitCast, stays, word);
        let yes = Type::int(context, 1).constant(1);
        let leader = builder.call(unit.module.intrinsic("llvm.cttz", &[word]), &[bits, yes]);
        let lane = builder.truncate(voter.linear, word);
        let lane = builder.and(lane, word.constant(LANES - 1));
        let is_leader = builder.compare(IntPredicate::Eq, lane, leader);
        voter.only_if(builder, is_leader);
        voter.write(builder, stays);
    })
}

/// What a function knows that assembles a ballot.
struct Voter<'c> {
    context: &'c Context,
    function: Value<'c>,
    done: Block<'c>,
    table: Value<'c>,
    linear: Value<'c>,
    count: Value<'c>,
    /// The address of all tables, where lanes may have exited.
    tables: Value<'c>,
}

impl<'c> Voter<'c> {
    /// The number of the warp's first thread.
    fn first(&self, builder: &Builder<'c>) -> Value<'c> {
        builder.and(self.linear, self.linear.ty().constant(!(LANES - 1)))
    }

    /// Goes on where the condition holds.
    fn only_if(&self, builder: &Builder<'c>, condition: Value<'c>) {
        let go = Block::append(self.context, self.function, "go");
        builder.branch_if(condition, go, self.done);
        builder.at_end(go);
    }

    /// `these` in the lanes of the mask, and none in the others. Not `and`: what lanes that there are not
    /// have in the table is not defined.
    fn among(&self, builder: &Builder<'c>, mask: Value<'c>, these: Value<'c>) -> Value<'c> {
        let none = Type::int(self.context, 1).constant(0);
        builder.select(mask, these, builder.splat(self.context, none, LANES as u32))
    }

    /// The lanes that the block has.
    fn there(&self, builder: &Builder<'c>) -> Value<'c> {
        let wide = self.linear.ty();
        let numbers: Vec<_> = (0..LANES).map(|lane| wide.constant(lane)).collect();
        let left = builder.binary(Opcode::Sub, self.count, self.first(builder));
        let left = builder.splat(self.context, left, LANES as u32);
        builder.compare(IntPredicate::Ult, Value::constant_vector(&numbers), left)
    }

    /// Writes the votes of the lanes of the mask to the entry of the warp's first thread.
    fn write(&self, builder: &Builder<'c>, mask: Value<'c>) {
        let word = Type::int(self.context, 32);
        let entry = builder.element(word, self.table, self.first(builder));
        let values = builder.load(word.vector(LANES as u32), entry);
        values.set_alignment(4);
        let zeros = builder.splat(self.context, word.constant(0), LANES as u32);
        let set = builder.compare(IntPredicate::Ne, values, zeros);
        let votes = self.among(builder, mask, set);
        builder.store(builder.cast(Opcode::BitCast, votes, word), entry);
    }
}

/// The function of this name, with what `build` builds.
fn voting<'c>(
    unit: &Unit<'_, 'c>,
    name: &str,
    build: impl FnOnce(&Builder<'c>, &Voter<'c>),
) -> Value<'c> {
    if let Some(function) = unit.module.function(name) {
        return function;
    }
    let context = unit.context;
    let (pointer, wide) = (Type::pointer(context, 0), Type::int(context, 64));
    let mut parameters = vec![pointer, wide, wide];
    parameters.extend((name == VOTE_OF_REST).then_some(pointer));
    let function = unit.module.new_function(name, Type::void(context).function(&parameters));
    function.set_linkage(Linkage::Internal);
    function.add_attribute(context, Place::Function, "nounwind", 0);
    always_inline(unit.context, function);
    let parameters = function.parameters();
    let [table, linear, count] = parameters[..3] else { unreachable!("it has three at least") };
    let tables = parameters.get(3).copied().unwrap_or_else(|| pointer.null());
    let builder = Builder::new(context);
    let [start, done] = ["start", "done"].map(|it| Block::append(context, function, it));
    builder.at_end(start);
    build(&builder, &Voter { context, function, done, table, linear, count, tables });
    builder.branch(done);
    builder.at_end(done);
    builder.ret(None);
    function
}
