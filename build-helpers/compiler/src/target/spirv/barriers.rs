//! Barriers of a block, and words of shared memory that all of its threads read behind one.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Block, Builder, Linkage, ModuleExt, Type, Value},
};

use super::spaces::SHARED;

/// The function that is a barrier.
pub(super) const BARRIER: &str = "_Z7barrierj";

/// The words of shared memory that threads write so that, behind a barrier, what all of the block compare with them is the
/// same: [`panics`](super::panics) and [`early_exits`](super::early_exits) write them.
pub(super) const PHASE: &str = "__kernelmill_panic_phase";
pub(super) const ALIVE: &str = "__kernelmill_alive";

const LOAD: &str = "_Z18__spirv_AtomicLoadPU3AS3iii";
const STORE: &str = "_Z19__spirv_AtomicStorePU3AS3iiii";

/// Values of several blocks in memory, and back.
pub(super) const TO_MEMORY: &str = "reg2mem";
pub(super) const FROM_MEMORY: &str = "mem2reg";

pub(in crate::target) fn is_barrier(instruction: &Value<'_>) -> bool {
    instruction.called_function().is_some_and(|it| it.name() == BARRIER)
}

/// Whether an instruction reads one of the words.
pub(super) fn reads_word(instruction: Value<'_>) -> bool {
    [PHASE, ALIVE].contains(&&*instruction.operand(0).name())
}

/// Whether an instruction tells the other threads that its own has panicked. 0 is what the word is before.
pub(super) fn writes_phase(instruction: Value<'_>) -> bool {
    let is_store = instruction.called_function().is_some_and(|it| it.name() == STORE);
    is_store && instruction.operand(0).name() == PHASE && instruction.operand(3).as_u64() != Some(0)
}

/// Puts an instruction into a block of its own. Gives that block, and the one of what comes behind.
pub(super) fn isolate<'c>(context: &'c Context, instruction: Value<'c>) -> (Block<'c>, Block<'c>) {
    let builder = Builder::new(context);
    let rest = instruction.block();
    let head = rest.split_before(context, instruction, "before");
    builder.at_end(head);
    builder.branch(rest);
    let next = instruction.next_instruction().expect("a block ends with a terminator");
    let own = rest.split_before(context, next, "barrier");
    builder.at_end(own);
    builder.branch(rest);
    (own, rest)
}

/// What writes barriers, and the words, into a kernel.
pub(super) struct Writer<'a, 'c> {
    pub(super) context: &'c Context,
    pub(super) module: &'a Module<'c>,
    pub(super) builder: Builder<'c>,
    pub(super) word: Type<'c>,
}

impl<'a, 'c> Writer<'a, 'c> {
    pub(super) fn new(context: &'c Context, module: &'a Module<'c>) -> Self {
        let (builder, word) = (Builder::new(context), Type::int(context, 32));
        Self { context, module, builder, word }
    }

    /// One of the words.
    pub(super) fn shared_word(&self, name: &str) -> Value<'c> {
        self.module.global(name).unwrap_or_else(|| {
            let shared = self.module.new_global(name, self.word, SHARED);
            shared.set_alignment(4);
            shared.set_linkage(Linkage::Internal);
            shared.set_initializer(self.word.poison());
            shared
        })
    }

    pub(super) fn read(&self, shared: Value<'c>) -> Value<'c> {
        let word = self.word;
        let load = self.module.declare(LOAD, word.function(&[shared.ty(), word, word]));
        self.builder.call(load, &[shared, word.constant(1), word.constant(0)])
    }

    pub(super) fn write(&self, shared: Value<'c>, value: Value<'c>) {
        let word = self.word;
        let ty = Type::void(self.context).function(&[shared.ty(), word, word, word]);
        let store = self.module.declare(STORE, ty);
        self.builder.call(store, &[shared, word.constant(1), word.constant(0), value]);
    }

    pub(super) fn barrier(&self) -> Value<'c> {
        let ty = Type::void(self.context).function(&[self.word]);
        let barrier = self.module.declare(BARRIER, ty);
        self.builder.call(barrier, &[self.word.constant(3)])
    }

    /// A stack slot of a word, with a number in it.
    pub(super) fn counter(&self, number: u64) -> Value<'c> {
        let slot = self.builder.alloca(self.word);
        slot.set_alignment(4);
        self.builder.store(self.word.constant(number), slot);
        slot
    }
}
