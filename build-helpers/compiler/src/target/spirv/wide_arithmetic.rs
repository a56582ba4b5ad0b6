//! Arithmetic on integers of 128 bits, which SPIR-V has not: as arithmetic on pairs of words of 64 bits, with the carries
//! of Hacker's Delight, 2nd edition, 2-16 and 8-2.
//!
//! Needs: optimised functions; wide integers that are only copied are split before, by
//! [`split_wide_copies`](crate::cpu::split_wide_copies). Guarantees: in a function that has no other operation of 128 bits
//! than those below, none is left. All other functions are as they were, and are refused. There is no division: it would be
//! a loop, where the source has an operator.

use std::collections::HashMap;

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, IntPredicate, Linkage, ModuleExt, Opcode, Type, Value, parse_ir},
    machine::Machine,
};

use crate::Error;

/// The bits of a word.
const WORD: u32 = 64;

/// What becomes simpler or is not used.
const CLEAN_UP: &str = "function(instsimplify,dce)";

/// How the high word of a product is had.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::target) enum HighWord {
    /// By `mul_hi` of OpenCL C.
    BuiltIn,
    /// By products of halves.
    Function,
}

impl HighWord {
    const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "_Z6mul_himm",
            Self::Function => "__kernelmill_high_word",
        }
    }
}

/// The high word of a product of two words.
const HIGH_WORD: &str = "define i64 @__kernelmill_high_word(i64 %a, i64 %b) nounwind {
  %al = and i64 %a, 4294967295
  %ah = lshr i64 %a, 32
  %bl = and i64 %b, 4294967295
  %bh = lshr i64 %b, 32
  %ll = mul i64 %al, %bl
  %lh = mul i64 %al, %bh
  %hl = mul i64 %ah, %bl
  %hh = mul i64 %ah, %bh
  %carry = lshr i64 %ll, 32
  %middle = add i64 %hl, %carry
  %low = and i64 %middle, 4294967295
  %high = lshr i64 %middle, 32
  %sum = add i64 %lh, %low
  %carried = lshr i64 %sum, 32
  %first = add i64 %hh, %high
  %word = add i64 %first, %carried
  ret i64 %word
}
";

/// Expands the arithmetic of every function that has nothing else of 128 bits.
pub(super) fn expand<'c>(
    context: &'c Context,
    module: &Module<'c>,
    machine: &Machine,
    high_word: HighWord,
) -> Result<(), Error> {
    let mut is_changed = false;
    for function in module.definitions() {
        let wide: Vec<_> = function.instructions().into_iter().filter(|it| is_wide(*it)).collect();
        if !wide.is_empty() && wide.iter().all(|it| is_known(*it)) {
            Words::new(context, module, high_word).expand(&wide);
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(());
    }
    let function = ModuleExt::function(module, high_word.name());
    if high_word == HighWord::Function && function.is_some() {
        let text = parse_ir(context, HIGH_WORD, machine.data_layout(), machine.triple())?;
        module.link(text)?;
        if let Some(function) = ModuleExt::function(module, high_word.name()) {
            function.set_linkage(Linkage::Internal);
        }
    }
    Ok(machine.run(module, CLEAN_UP)?)
}

fn is_pair(ty: Type<'_>) -> bool {
    ty.is_int(2 * WORD)
}

/// Whether an instruction gives or takes an integer of 128 bits.
fn is_wide(instruction: Value<'_>) -> bool {
    is_pair(instruction.ty()) || instruction.operands().iter().any(|it| is_pair(it.ty()))
}

/// Whether an instruction is one of those that are expanded.
fn is_known(instruction: Value<'_>) -> bool {
    let is_value = |it: &Value<'_>| {
        !is_pair(it.ty()) || it.is_instruction() || it.is_constant() && !it.is_constant_expression()
    };
    let operands = instruction.operands();
    let fits = |ty: Type<'_>| ty.int_width().is_some_and(|bits| bits <= WORD);
    operands.iter().all(is_value)
        && match instruction.opcode() {
            Opcode::ZExt | Opcode::SExt => fits(operands[0].ty()),
            Opcode::Trunc => fits(instruction.ty()),
            Opcode::Load | Opcode::Store => !instruction.is_exact_access(),
            Opcode::Select => operands[0].ty().is_int(1),
            Opcode::Add
            | Opcode::Sub
            | Opcode::Mul
            | Opcode::And
            | Opcode::Or
            | Opcode::Xor
            | Opcode::Shl
            | Opcode::LShr
            | Opcode::AShr
            | Opcode::ICmp
            | Opcode::Phi
            | Opcode::Freeze => true,
            _ => false,
        }
}

/// The low and the high word of an integer.
type Pair<'c> = [Value<'c>; 2];

/// The words of the integers of one function, as far as they are built.
struct Words<'m, 'c> {
    context: &'c Context,
    module: &'m Module<'c>,
    high_word: HighWord,
    builder: Builder<'c>,
    word: Type<'c>,
    pairs: HashMap<Value<'c>, Pair<'c>>,
}

impl<'m, 'c> Words<'m, 'c> {
    fn new(context: &'c Context, module: &'m Module<'c>, high_word: HighWord) -> Self {
        let (builder, word) = (Builder::new(context), Type::int(context, WORD));
        Self { context, module, high_word, builder, word, pairs: HashMap::new() }
    }

    /// Builds the words of all that is wide in a function, and removes it.
    fn expand(mut self, wide: &[Value<'c>]) {
        let phis: Vec<_> = wide.iter().copied().filter(|it| it.opcode() == Opcode::Phi).collect();
        for phi in &phis {
            self.builder.before(*phi);
            self.pairs.insert(*phi, [self.builder.phi(self.word), self.builder.phi(self.word)]);
        }
        for instruction in wide {
            if is_pair(instruction.ty()) {
                self.of(*instruction);
            } else {
                self.use_words(*instruction);
            }
        }
        for phi in &phis {
            for (operand, index) in phi.operands().into_iter().zip(0..) {
                let from = phi.incoming_block(index).expect("phis come from blocks");
                self.builder.before(from.terminator().expect("blocks are complete"));
                let incoming = self.of(operand);
                for (part, word) in self.pairs[phi].into_iter().zip(incoming) {
                    part.add_incoming(word, from);
                }
            }
        }
        for instruction in wide.iter().filter(|it| is_pair(it.ty())) {
            instruction.replace_with(instruction.ty().poison());
        }
        wide.iter().for_each(|it| it.erase());
    }

    /// The words of a value. Those of an instruction are built where it is.
    fn of(&mut self, value: Value<'c>) -> Pair<'c> {
        if let Some(pair) = self.pairs.get(&value) {
            return *pair;
        }
        if !value.is_instruction() {
            let by = value.ty().constant(u64::from(WORD));
            let high = self.builder.binary(Opcode::LShr, value, by);
            return [value, high].map(|it| self.builder.truncate(it, self.word));
        }
        let pair = self.build(value);
        self.pairs.insert(value, pair);
        pair
    }

    /// The words of one of an instruction's operands, with the builder at the instruction.
    fn operand(&mut self, instruction: Value<'c>, index: u32) -> Pair<'c> {
        self.builder.before(instruction);
        let pair = self.of(instruction.operand(index));
        self.builder.before(instruction);
        pair
    }

    fn build(&mut self, value: Value<'c>) -> Pair<'c> {
        self.builder.before(value);
        let opcode = value.opcode();
        match opcode {
            Opcode::ZExt | Opcode::SExt => self.extended(value.operand(0), opcode),
            Opcode::Load => {
                let places = self.places(value.operand(0), value.alignment());
                places.map(|(address, alignment)| {
                    let load = self.builder.load(self.word, address);
                    load.set_alignment(alignment);
                    load
                })
            }
            Opcode::Select => {
                let (yes, no) = (self.operand(value, 1), self.operand(value, 2));
                [0, 1].map(|it| self.builder.select(value.operand(0), yes[it], no[it]))
            }
            Opcode::Freeze => self.operand(value, 0).map(|word| self.builder.freeze(word)),
            _ => {
                let (left, right) = (self.operand(value, 0), self.operand(value, 1));
                self.binary(opcode, left, right)
            }
        }
    }

    fn extended(&self, value: Value<'c>, opcode: Opcode) -> Pair<'c> {
        let low = match value.ty().is_int(WORD) {
            true => value,
            false => self.builder.cast(opcode, value, self.word),
        };
        let high = match opcode {
            Opcode::SExt => self.binary_word(Opcode::AShr, low, self.word.constant(63)),
            _ => self.word.null(),
        };
        [low, high]
    }

    fn binary_word(&self, opcode: Opcode, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.builder.binary(opcode, left, right)
    }

    fn binary(&self, opcode: Opcode, left: Pair<'c>, right: Pair<'c>) -> Pair<'c> {
        let of_words = |word: usize| self.binary_word(opcode, left[word], right[word]);
        match opcode {
            Opcode::Add | Opcode::Sub => {
                let low = of_words(0);
                // A sum is below its first number where it has a carry, and a difference is above.
                let carries = match opcode {
                    Opcode::Add => self.builder.compare(IntPredicate::Ult, low, left[0]),
                    _ => self.builder.compare(IntPredicate::Ult, left[0], right[0]),
                };
                let carry = self.builder.zero_extend(carries, self.word);
                [low, self.binary_word(opcode, of_words(1), carry)]
            }
            Opcode::Mul => self.product(left, right),
            Opcode::Shl | Opcode::LShr | Opcode::AShr => self.shifted(opcode, left, right[0]),
            _ => [of_words(0), of_words(1)],
        }
    }

    fn product(&self, left: Pair<'c>, right: Pair<'c>) -> Pair<'c> {
        let function = self.word.function(&[self.word, self.word]);
        let function = self.module.declare(self.high_word.name(), function);
        let mut high = self.builder.call(function, &[left[0], right[0]]);
        for (one, other) in [(left[0], right[1]), (left[1], right[0])] {
            if one.as_u64() != Some(0) && other.as_u64() != Some(0) {
                high = self.builder.add(high, self.builder.multiply(one, other));
            }
        }
        [self.builder.multiply(left[0], right[0]), high]
    }

    /// A number that is shifted by fewer than 128 bits.
    fn shifted(&self, opcode: Opcode, number: Pair<'c>, by: Value<'c>) -> Pair<'c> {
        let most = self.word.constant(63);
        let bits = self.builder.and(by, most);
        let rest = self.binary_word(Opcode::Xor, bits, most);
        let whole = self.builder.and(by, self.word.constant(64));
        let is_whole = self.builder.compare(IntPredicate::Ne, whole, self.word.null());
        // From one word to the other, in two steps: a shift by 64 bits has no result.
        let (from, to, back) = match opcode {
            Opcode::Shl => (number[0], number[1], Opcode::LShr),
            _ => (number[1], number[0], Opcode::Shl),
        };
        let forth = if opcode == Opcode::Shl { Opcode::Shl } else { Opcode::LShr };
        let moved = self.binary_word(opcode, from, bits);
        let carried = self.binary_word(back, from, self.word.constant(1));
        let carried = self.binary_word(back, carried, rest);
        let kept = self.binary_word(forth, to, bits);
        let joined = self.binary_word(Opcode::Or, kept, carried);
        let filled = match opcode {
            Opcode::AShr => self.binary_word(Opcode::AShr, from, most),
            _ => self.word.null(),
        };
        let near = self.builder.select(is_whole, filled, moved);
        let far = self.builder.select(is_whole, moved, joined);
        if opcode == Opcode::Shl { [near, far] } else { [far, near] }
    }

    /// Where the words of an integer in memory are, with their alignments.
    fn places(&self, address: Value<'c>, alignment: u32) -> [(Value<'c>, u32); 2] {
        let bytes = WORD / 8;
        let second = self.builder.offset(self.context, address, u64::from(bytes));
        [(address, alignment), (second, alignment.min(bytes))]
    }

    /// Gives an instruction's words to what it is for: a narrower number, a comparison, memory.
    fn use_words(&mut self, instruction: Value<'c>) {
        let pair = self.operand(instruction, 0);
        match instruction.opcode() {
            Opcode::Store => {
                let places = self.places(instruction.operand(1), instruction.alignment());
                for (word, (address, alignment)) in pair.into_iter().zip(places) {
                    self.builder.store(word, address).set_alignment(alignment);
                }
            }
            Opcode::ICmp => {
                let other = self.operand(instruction, 1);
                instruction.replace_with(self.compared(instruction.int_predicate(), pair, other));
            }
            _ => {
                let low = match instruction.ty().is_int(WORD) {
                    true => pair[0],
                    false => self.builder.truncate(pair[0], instruction.ty()),
                };
                instruction.replace_with(low);
            }
        }
    }

    fn compared(&self, predicate: IntPredicate, left: Pair<'c>, right: Pair<'c>) -> Value<'c> {
        let [low, high] = [0, 1].map(|it| self.binary_word(Opcode::Xor, left[it], right[it]));
        if matches!(predicate, IntPredicate::Eq | IntPredicate::Ne) {
            let either = self.binary_word(Opcode::Or, low, high);
            return self.builder.compare(predicate, either, self.word.null());
        }
        let of_low = match predicate {
            IntPredicate::Slt => IntPredicate::Ult,
            IntPredicate::Sle => IntPredicate::Ule,
            IntPredicate::Sgt => IntPredicate::Ugt,
            IntPredicate::Sge => IntPredicate::Uge,
            unsigned => unsigned,
        };
        let is_same = self.builder.compare(IntPredicate::Eq, high, self.word.null());
        let by_low = self.builder.compare(of_low, left[0], right[0]);
        let by_high = self.builder.compare(predicate, left[1], right[1]);
        self.builder.select(is_same, by_low, by_high)
    }
}
