//! Warp collectives in a body of barrier regions: each thread stores its value in a table, and after a barrier
//! loads what it is to have. pocl lowers sub-group functions in the same way.
//!
//! Needs: the collectives are uniform ([`super::lowering`]) and for all lanes of a warp. Guarantees: the
//! results of the run time's (`src/backend/cpu/warp.rs` of `kernelmill`). A lane is missing only where
//! the block has no such thread: a shuffle gives the thread's own value there, and a ballot leaves it
//! out.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{
    Block, Builder, IntPredicate, Linkage, ModuleExt, Opcode, Place, Type, Value,
};

use super::operation::{Operation, number, operations};
use crate::{ir::always_inline, passes::entry::Unit};

/// Tables that operations which follow each other take in turns, so that none is written while some
/// thread may still have to read it.
const TABLES: u64 = 4;
/// The threads of a block at most, as the device's limits have it.
const THREADS: u64 = 1024;
/// The lanes of a warp: so many entries are before and after those of threads, where addresses of lanes
/// that there are not lie.
const LANES: u64 = 32;
/// The bytes of a table.
const TABLE_BYTES: u64 = (THREADS + 2 * LANES) * 4;
/// The bytes of all of them.
pub(super) const BYTES: u64 = TABLES * TABLE_BYTES;

/// The function that gives the first lane of a warp the votes of all; the compiler's own.
const VOTE: &str = "__kernelmill_vote";

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
}

/// Builds an operation in place of `call`, where `builder` stands, and gives its result; `barrier`
/// builds one of the block.
pub(super) fn build<'c>(
    unit: &Unit<'_, 'c>,
    builder: &Builder<'c>,
    thread: &Thread<'c>,
    (call, which): (Value<'c>, u64),
    turn: Turn,
    barrier: &dyn Fn(),
) -> Value<'c> {
    let context = unit.context;
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let [index, dims] =
        [thread.index, thread.dims].map(|axes| axes.map(|axis| builder.zero_extend(axis, wide)));
    let row = builder.add(builder.multiply(index[2], dims[1]), index[1]);
    let linear = builder.add(builder.multiply(row, dims[0]), index[0]);
    let count = builder.multiply(builder.multiply(dims[0], dims[1]), dims[2]);
    let start = turn.table * TABLE_BYTES + LANES * 4;
    let table = builder.offset(context, thread.tables, start);
    let own = builder.element(word, table, linear);
    let value = if which == number::ACTIVE_MASK { word.constant(1) } else { call.arguments()[1] };
    builder.store(value, own);
    barrier();
    let lane = builder.and(linear, wide.constant(LANES - 1));
    let first = builder.and(linear, wide.constant(!(LANES - 1)));
    let result = if matches!(which, number::BALLOT | number::ACTIVE_MASK) {
        builder.call(vote(unit), &[table, linear, count]);
        barrier();
        builder.load(word, builder.element(word, table, first))
    } else {
        let argument = builder.zero_extend(call.arguments()[2], wide);
        let by = builder.and(argument, wide.constant(LANES - 1));
        let last = wide.constant(LANES - 1);
        let binary = |opcode, left, right| builder.binary(opcode, left, right);
        let (from, most) = match which {
            number::SHUFFLE => (builder.add(first, by), None),
            number::SHUFFLE_XOR => (binary(Opcode::Xor, linear, by), Some(last)),
            number::SHUFFLE_UP => (binary(Opcode::Sub, linear, by), Some(lane)),
            _ => (builder.add(linear, by), Some(binary(Opcode::Sub, last, lane))),
        };
        let is_thread = builder.compare(IntPredicate::Ult, from, count);
        let there = most.map_or(is_thread, |most| {
            let is_lane = builder.compare(IntPredicate::Ule, argument, most);
            builder.and(is_lane, is_thread)
        });
        let other = builder.load(word, builder.element(word, table, from));
        // From memory: the value itself would have to be kept across the barrier.
        let own = builder.load(word, own);
        builder.select(there, other, own)
    };
    if turn.again {
        barrier();
    }
    result
}

/// `fn(table: *mut u32, linear: u64, count: u64)`: the first thread of a warp puts a bit for each thread
/// of it whose entry is not 0 into its own entry.
fn vote<'c>(unit: &Unit<'_, 'c>) -> Value<'c> {
    if let Some(function) = unit.module.function(VOTE) {
        return function;
    }
    let context = unit.context;
    let (word, wide) = (Type::int(context, 32), Type::int(context, 64));
    let parameters = [Type::pointer(context, 0), wide, wide];
    let function = unit.module.new_function(VOTE, Type::void(context).function(&parameters));
    function.set_linkage(Linkage::Internal);
    function.add_attribute(context, Place::Function, "nounwind", 0);
    always_inline(context, function);
    let [table, linear, count] = function.parameters()[..] else { unreachable!("it has three") };
    let builder = Builder::new(context);
    let [start, first, done] =
        ["start", "first", "done"].map(|it| Block::append(context, function, it));
    builder.at_end(start);
    let lane = builder.and(linear, wide.constant(LANES - 1));
    let is_first = builder.compare(IntPredicate::Eq, lane, wide.constant(0));
    builder.branch_if(is_first, first, done);
    builder.at_end(first);
    let own = builder.element(word, table, linear);
    let values = builder.load(word.vector(LANES as u32), own);
    values.set_alignment(4);
    let zeros = builder.splat(context, word.constant(0), LANES as u32);
    let set = builder.compare(IntPredicate::Ne, values, zeros);
    let numbers: Vec<_> = (0..LANES).map(|lane| wide.constant(lane)).collect();
    let left = builder.binary(Opcode::Sub, count, linear);
    let left = builder.splat(context, left, LANES as u32);
    let numbers = Value::constant_vector(&numbers);
    let there = builder.compare(IntPredicate::Ult, numbers, left);
    let none = builder.splat(context, Type::int(context, 1).constant(0), LANES as u32);
    // Not `and`: what lanes that there are not have in the table is not defined.
    let votes = builder.select(there, set, none);
    builder.store(builder.cast(Opcode::BitCast, votes, word), own);
    builder.branch(done);
    builder.at_end(done);
    builder.ret(None);
    function
}
