//! Integers that are wider than a register, split where they are only copied.
//!
//! Needs: simplified kernels, of any target. Guarantees: no wide integer is left that is only copied.
//!
//! LLVM's scalar replacement of aggregates makes one integer of a struct that a kernel loads, chooses
//! and stores as a whole: `i128` of four `f32`, from LLVM 23 on also across a phi. Vectors of such
//! integers are nothing that a processor has. A web of loads, phis, selects and stores of them becomes
//! one of 64-bit words; arithmetic on wide integers is left as it is.

use std::collections::{HashMap, HashSet};

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, ModuleExt, Opcode, Type, Value},
};

/// The bits of a word.
const WORD: u32 = 64;
/// The widest integer that is split.
const WIDEST: u32 = 512;

/// Splits every web of copies in a module; how many.
pub(crate) fn split_copies<'c>(context: &'c Context, module: &Module<'c>) -> u64 {
    let mut count = 0;
    for function in module.definitions() {
        let mut seen = HashSet::new();
        for instruction in function.instructions() {
            if is_wide(instruction) && !seen.contains(&instruction) {
                let web = Web::around(instruction);
                seen.extend(web.values.iter().copied());
                if web.is_copy {
                    web.split(context);
                    count += 1;
                }
            }
        }
    }
    count
}

fn is_wide(value: Value<'_>) -> bool {
    let width = value.ty().int_width();
    width.is_some_and(|bits| bits > WORD && bits <= WIDEST && bits % WORD == 0)
}

/// Values of one wide type that are copied into each other, and the stores of them.
struct Web<'c> {
    /// The instructions that have a value, in the order in which they were found.
    values: Vec<Value<'c>>,
    stores: Vec<Value<'c>>,
    /// Whether nothing is done with them but copying.
    is_copy: bool,
}

impl<'c> Web<'c> {
    fn around(start: Value<'c>) -> Self {
        let mut web = Self { values: Vec::new(), stores: Vec::new(), is_copy: true };
        let (mut work, mut seen) = (vec![start], HashSet::new());
        while let Some(value) = work.pop() {
            if !value.is_instruction() {
                web.is_copy &= value.is_constant();
                continue;
            }
            if !seen.insert(value) {
                continue;
            }
            web.values.push(value);
            match value.opcode() {
                Opcode::Load => web.is_copy &= !value.is_exact_access(),
                Opcode::Phi => work.extend(value.operands()),
                Opcode::Select => {
                    web.is_copy &= value.operand(0).ty().is_int(1);
                    work.extend([value.operand(1), value.operand(2)]);
                }
                _ => web.is_copy = false,
            }
            for user in value.users() {
                match user.opcode() {
                    Opcode::Store if user.operand(0) == value => {
                        web.is_copy &= !user.is_exact_access();
                        web.stores.push(user);
                    }
                    Opcode::Phi | Opcode::Select => work.push(user),
                    _ => web.is_copy = false,
                }
            }
        }
        web
    }

    fn split(self, context: &'c Context) {
        let word = Type::int(context, WORD);
        let count = self.values[0].ty().int_width().unwrap_or(WORD) / WORD;
        let mut words = Words { parts: HashMap::new(), builder: Builder::new(context), word };
        for value in &self.values {
            words.builder.before(*value);
            let part = |index: u32| match value.opcode() {
                Opcode::Phi => words.builder.phi(word),
                _ => {
                    let address = address_of(context, &words.builder, value.operand(0), index);
                    let load = words.builder.load(word, address);
                    load.set_alignment(aligned(value.alignment(), index));
                    load
                }
            };
            if value.opcode() != Opcode::Select {
                let parts = (0..count).map(part).collect();
                words.parts.insert(*value, parts);
            }
        }
        for phi in self.values.iter().filter(|it| it.opcode() == Opcode::Phi) {
            for index in 0..count {
                let part = words.of(*phi, index);
                for (operand, from) in phi.operands().into_iter().zip(0..) {
                    let from = phi.incoming_block(from).expect("phis come from blocks");
                    words.builder.before(from.terminator().expect("blocks are complete"));
                    part.add_incoming(words.of(operand, index), from);
                }
            }
        }
        for store in &self.stores {
            for index in 0..count {
                words.builder.before(*store);
                let value = words.of(store.operand(0), index);
                words.builder.before(*store);
                let address = address_of(context, &words.builder, store.operand(1), index);
                let written = words.builder.store(value, address);
                written.set_alignment(aligned(store.alignment(), index));
            }
        }
        self.stores.into_iter().for_each(Value::erase);
        for value in &self.values {
            value.replace_with(value.ty().poison());
        }
        self.values.into_iter().for_each(Value::erase);
    }
}

/// The words of wide values, the lowest first, as far as they are built.
struct Words<'c> {
    parts: HashMap<Value<'c>, Vec<Value<'c>>>,
    builder: Builder<'c>,
    word: Type<'c>,
}

impl<'c> Words<'c> {
    /// One word of a value. Those of a choice are built where it is, once its operands' are; those of a
    /// constant where the builder stands.
    fn of(&mut self, value: Value<'c>, index: u32) -> Value<'c> {
        if let Some(part) = self.parts.get(&value).and_then(|parts| parts.get(index as usize)) {
            return *part;
        }
        if !value.is_instruction() {
            let by = value.ty().constant(u64::from(index * WORD));
            let shifted = self.builder.binary(Opcode::LShr, value, by);
            return self.builder.truncate(shifted, self.word);
        }
        for index in self.parts.get(&value).map_or(0, |parts| parts.len() as u32)..=index {
            let [yes, no] = [1, 2].map(|operand| {
                self.builder.before(value);
                self.of(value.operand(operand), index)
            });
            self.builder.before(value);
            let part = self.builder.select(value.operand(0), yes, no);
            self.parts.entry(value).or_default().push(part);
        }
        self.of(value, index)
    }
}

/// The address of a word of an integer in memory, the lowest first.
fn address_of<'c>(
    context: &'c Context,
    builder: &Builder<'c>,
    address: Value<'c>,
    index: u32,
) -> Value<'c> {
    match index {
        0 => address,
        _ => builder.offset(context, address, u64::from(index * WORD / 8)),
    }
}

/// The alignment of a word of an integer that is aligned so.
fn aligned(whole: u32, index: u32) -> u32 {
    if index == 0 { whole } else { whole.min(WORD / 8) }
}
