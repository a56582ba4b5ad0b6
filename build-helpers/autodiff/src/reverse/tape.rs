//! The tape: cached items of loops, written at the end of each iteration of the forward sweep and read in
//! reverse order by the reverse sweep.
//!
//! Each loop has a record of fixed size, so the tape is a stack: Griewank and Walther, "Evaluating
//! Derivatives", 2nd edition, section 4.2.

use kernelmill_llvm::ir::{Block, Builder, IntPredicate, ModuleExt, Type, Value};

use super::state::{Cached, Reverse};
use crate::{Tape, TapeLimit, analysis::LoopId};

/// The buffer's header: the number of bytes that the tape needs.
const HEADER: u64 = 8;

/// The largest alignment of numbers and pointers.
const ALIGNMENT: u64 = 16;

/// The record that one iteration of a loop writes.
struct Record<'c> {
    fields: Vec<(Cached<'c>, u64)>,
    bytes: u64,
}

impl<'c> Reverse<'_, 'c> {
    fn wide(&self) -> Type<'c> {
        Type::int(self.unit.context, 64)
    }

    fn record(&self, id: LoopId) -> Record<'c> {
        let mut record = Record { fields: Vec::new(), bytes: 0 };
        let mut cached: Vec<_> =
            self.cache.iter().filter(|cached| cached.level == Some(id)).copied().collect();
        cached.sort_by_key(|cached| std::cmp::Reverse(self.unit.machine.size_of(cached.ty)));
        for cached in cached {
            let size = self.unit.machine.size_of(cached.ty);
            let align = size.next_power_of_two().min(ALIGNMENT);
            let offset = record.bytes.next_multiple_of(align);
            record.fields.push((cached, offset));
            record.bytes = offset + size;
        }
        record.bytes = record.bytes.next_multiple_of(8);
        record
    }

    /// Adds a block to the reverse sweep in which a loop's record will be read.
    pub(super) fn read_record(&mut self, id: LoopId) {
        let context = self.unit.context;
        let read = Block::append(context, self.new, "read");
        let next = Block::append(context, self.new, "edge");
        self.code.branch(read);
        self.code.at_end(read);
        self.code.branch(next);
        self.code.at_end(next);
        self.reads.push((id, read));
        self.seen.clear();
    }

    /// Chooses the memory of the tape, and writes the code that writes and reads it.
    pub(super) fn write_tape(&mut self) -> Tape {
        let tape = self.decide();
        let context = self.unit.context;
        let byte = Type::int(context, 8);
        let header = match tape {
            Tape::Buffer { .. } => HEADER,
            _ => 0,
        };
        self.at_start.store(self.wide().constant(header), self.tape.used);
        match tape {
            Tape::Registers => {}
            Tape::Local { bytes } => {
                let memory = self.at_start.alloca(byte.array(bytes));
                memory.set_alignment(ALIGNMENT as u32);
                self.tape.memory = Some(generic(&self.at_start, memory, self.tape.buffer.ty()));
            }
            Tape::Buffer { .. } => {
                self.tape.memory = Some(self.tape.buffer);
                let ids = (0..self.analysis.loops.all.len()).map(LoopId);
                let largest = ids.map(|id| self.record(id).bytes).max().unwrap_or(0);
                let spare = self.at_start.alloca(byte.array(largest));
                spare.set_alignment(ALIGNMENT as u32);
                self.tape.spare = Some(generic(&self.at_start, spare, self.tape.buffer.ty()));
            }
        }
        self.store_kept();
        self.write_edges();
        for (id, block) in std::mem::take(&mut self.reads) {
            self.write_read(id, block);
        }
        tape
    }

    fn decide(&self) -> Tape {
        let mut bytes = Some(0);
        for number in 0..self.analysis.loops.all.len() {
            let record = self.record(LoopId(number)).bytes;
            if record > 0 {
                let iterations = self.most_iterations(LoopId(number));
                let of_loop = iterations.and_then(|most| most.checked_mul(record));
                bytes =
                    bytes.zip(of_loop).and_then(|(sum, more): (u64, u64)| sum.checked_add(more));
            }
        }
        match (bytes, self.request.tape) {
            (Some(0), _) => Tape::Registers,
            (Some(bytes), TapeLimit::Local(most)) if bytes <= most => Tape::Local { bytes },
            (bytes, _) => Tape::Buffer { bytes: bytes.and_then(|bytes| bytes.checked_add(HEADER)) },
        }
    }

    /// The most iterations of a loop in one call of the function.
    fn most_iterations(&self, id: LoopId) -> Option<u64> {
        let outwards = std::iter::successors(Some(id), |id| self.analysis.loops.get(*id).parent);
        outwards
            .map(|id| self.analysis.inductions.most_iterations(id))
            .try_fold(1, |all, most| u64::checked_mul(all, most?))
    }

    /// Writes a loop's record, in the forward sweep.
    pub(super) fn write_record(&self, builder: &Builder<'c>, id: LoopId) {
        let record = self.record(id);
        let Some(memory) = self.tape.memory.filter(|_| record.bytes > 0) else { return };
        let wide = self.wide();
        let used = builder.load(wide, self.tape.used);
        let next = builder.add(used, wide.constant(record.bytes));
        builder.store(next, self.tape.used);
        let mut at = builder.element(Type::int(self.unit.context, 8), memory, used);
        if let Some(spare) = self.tape.spare {
            let fits = builder.compare(IntPredicate::Ule, next, self.tape.capacity);
            at = builder.select(fits, at, spare);
        }
        for (cached, offset) in record.fields {
            let value = builder.load(cached.ty, cached.slot);
            let field = builder.offset(self.unit.context, at, offset);
            builder.store(value, field).set_alignment(field_alignment(offset));
        }
    }

    /// Reads a loop's record, in the reverse sweep.
    fn write_read(&self, id: LoopId, block: Block<'c>) {
        let record = self.record(id);
        let Some(memory) = self.tape.memory.filter(|_| record.bytes > 0) else { return };
        let Some(last) = block.terminator() else { return };
        let wide = self.wide();
        let builder = Builder::new(self.unit.context);
        builder.before(last);
        let used = builder.load(wide, self.tape.used);
        let opcode = kernelmill_llvm::ir::Opcode::Sub;
        let before = builder.binary(opcode, used, wide.constant(record.bytes));
        builder.store(before, self.tape.used);
        let at = builder.element(Type::int(self.unit.context, 8), memory, before);
        for (cached, offset) in record.fields {
            let field = builder.offset(self.unit.context, at, offset);
            let value = builder.load(cached.ty, field);
            value.set_alignment(field_alignment(offset));
            builder.store(value, cached.slot);
        }
    }

    /// Stores the bytes that are needed in the header; gives whether the buffer is large enough.
    pub(super) fn tape_fits(&self) -> Value<'c> {
        let wide = self.wide();
        let used = self.code.load(wide, self.tape.used);
        // A buffer that is smaller than the header gets none.
        let header = wide.constant(HEADER);
        let has_header = self.code.compare(IntPredicate::Uge, self.tape.capacity, header);
        let spare = generic(&self.at_start, self.new_slot(wide), self.tape.buffer.ty());
        let at = self.code.select(has_header, self.tape.buffer, spare);
        self.code.store(used, at);
        self.code.compare(IntPredicate::Ule, used, self.tape.capacity)
    }

    /// The same function without the parameters of the tape.
    pub(super) fn without_tape(&self) -> Value<'c> {
        let old = self.new;
        let ty = old.value_type();
        let mut parameters = ty.parameters();
        parameters.truncate(parameters.len() - 2);
        let name = old.name();
        old.set_name("");
        let new = self.unit.module.new_function(&name, ty.result().function(&parameters));
        new.add_attribute(self.unit.context, kernelmill_llvm::ir::Place::Function, "nounwind", 0);
        for block in old.blocks() {
            block.move_to(new);
        }
        for (from, to) in old.parameters().into_iter().zip(new.parameters()) {
            from.replace_with(to);
        }
        old.delete_function();
        new
    }
}

/// A pointer in the address space of another: stack slots have one of their own on AMD's devices.
pub(super) fn generic<'c>(builder: &Builder<'c>, pointer: Value<'c>, ty: Type<'c>) -> Value<'c> {
    if pointer.ty() == ty { pointer } else { builder.address_space_cast(pointer, ty) }
}

/// The alignment of a field in a record that lies at a multiple of 8.
fn field_alignment(offset: u64) -> u32 {
    if offset.is_multiple_of(8) { 8 } else { 1 << offset.trailing_zeros() }
}
