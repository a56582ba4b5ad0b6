//! The body for several rows: a copy of what depends on the row for each of them, one of all else.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::ir::{Block, Builder, Linkage, ModuleExt, Opcode, Place, Type, Value};

use crate::passes::entry::Unit;

/// What is promised of addresses that a body is given.
const PROMISES: [&str; 3] = ["noalias", "nonnull", "readonly"];

/// Builds the body for `rows` threads along y from that for one, whose index along y is `y`.
pub(super) fn rows<'c>(
    unit: &Unit<'_, 'c>,
    from: Value<'c>,
    y: Value<'c>,
    (dependent, rows): (&HashSet<Value<'c>>, u32),
) -> Value<'c> {
    let context = unit.context;
    let name = format!("{}.rows{rows}", from.name());
    let function = unit.module.new_function(&name, from.value_type());
    function.set_linkage(Linkage::Internal);
    function.add_attribute(context, Place::Function, "nounwind", 0);
    let parameters = function.parameters();
    for place in (0..parameters.len() as u32).map(Place::Parameter) {
        for promise in PROMISES.into_iter().filter(|it| from.has_attribute(place, it)) {
            function.add_attribute(context, place, promise, 0);
        }
    }
    let append = |old: Block<'c>| (old, Block::append(context, function, ""));
    let blocks: HashMap<_, _> = from.blocks().into_iter().map(append).collect();
    let shared = from.parameters().into_iter().zip(parameters).collect();
    let mut copies = Copies { dependent, shared, of_row: vec![HashMap::new(); rows as usize] };
    let builder = Builder::new(context);
    for old in from.blocks() {
        builder.at_end(blocks[&old]);
        if old == from.blocks()[0] {
            copies.number_rows(&builder, y, Type::int(context, 32));
        }
        for instruction in old.instructions() {
            copies.copy(&builder, instruction);
        }
    }
    for instruction in from.instructions() {
        copies.connect(instruction, &blocks);
    }
    // In order: the order of a block's predecessors is that in which they came to be.
    for old in from.blocks() {
        for next in old.successors() {
            blocks[&old].redirect(next, blocks[&next]);
        }
    }
    function
}

/// What became of the values of the body for one thread.
struct Copies<'d, 'c> {
    dependent: &'d HashSet<Value<'c>>,
    /// Of those that are the same in all rows.
    shared: HashMap<Value<'c>, Value<'c>>,
    /// Of others, for each row.
    of_row: Vec<HashMap<Value<'c>, Value<'c>>>,
}

impl<'c> Copies<'_, 'c> {
    /// Gives each row its index along y.
    fn number_rows(&mut self, builder: &Builder<'c>, y: Value<'c>, word: Type<'c>) {
        let first = self.shared[&y];
        for (row, values) in (0..).zip(&mut self.of_row) {
            let own = match row {
                0 => first,
                _ => builder.add_no_wrap(first, word.constant(row)),
            };
            values.insert(y, own);
        }
    }

    fn copy(&mut self, builder: &Builder<'c>, instruction: Value<'c>) {
        let new = || match instruction.opcode() {
            Opcode::Phi => builder.phi(instruction.ty()),
            _ => builder.copy(instruction),
        };
        // All rows go the way of the first.
        if is_end(instruction) || !self.dependent.contains(&instruction) {
            self.shared.insert(instruction, new());
            return;
        }
        for values in &mut self.of_row {
            values.insert(instruction, new());
        }
    }

    /// Gives the copies of an instruction their operands.
    fn connect(&self, instruction: Value<'c>, blocks: &HashMap<Block<'c>, Block<'c>>) {
        let is_shared = self.shared.contains_key(&instruction);
        for row in 0..if is_shared { 1 } else { self.of_row.len() } {
            let read = |value: &Value<'c>| {
                self.of_row[row].get(value).or_else(|| self.shared.get(value)).copied()
            };
            let new = read(&instruction).expect("it was copied");
            for (index, operand) in instruction.operands().into_iter().enumerate() {
                let value = read(&operand);
                if let Some(came) = instruction.incoming_block(index as u32) {
                    new.add_incoming(value.unwrap_or(operand), blocks[&came]);
                } else if let Some(value) = value {
                    new.set_operand(index as u32, value);
                }
            }
        }
    }
}

/// Whether an instruction ends its block.
fn is_end(instruction: Value<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::Br | Opcode::CondBr | Opcode::Ret)
}
