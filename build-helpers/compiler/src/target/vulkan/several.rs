//! Pointers that may be of one buffer or of another: `if c { x } else { y }`. Beside the offset of such a pointer the code has
//! its tag, the number of the memory that it is of, and an access is a `switch` over that, with the access to each memory as a
//! case. A tag of 0 is that of no memory, of a null pointer: what is read there is any value, what is written is lost.
//!
//! Needed: [`memory::of`](super::memory::of) has found all memories of each pointer. Guaranteed: in a case the pointer has one
//! memory, so that the code of accesses knows nothing of this.

use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    kernel::{Kernel, Problem},
    memory::Memory,
};

impl<'c> Kernel<'_, 'c> {
    /// The memory of a pointer that may be of these.
    pub(super) fn one_of(&mut self, found: Vec<Memory<'c>>) -> Memory<'c> {
        match *found {
            [] => Memory::Nowhere,
            [memory] => memory,
            _ => {
                let known = self.several.iter().position(|it| *it == found);
                Memory::Several(known.unwrap_or_else(|| {
                    self.several.push(found);
                    self.several.len() - 1
                }))
            }
        }
    }

    /// The memories that one stands for.
    pub(super) fn all_of(&self, memory: Memory<'c>) -> Vec<Memory<'c>> {
        match memory {
            Memory::Several(list) => self.several[list].clone(),
            memory => vec![memory],
        }
    }

    /// The number of the memory that a pointer is of.
    pub(super) fn tag(&mut self, pointer: Value<'c>) -> String {
        if let Some(name) = self.tags.get(&pointer) {
            return name.clone();
        }
        match self.memory(pointer) {
            Memory::Nowhere => "0u".to_owned(),
            memory => format!("{}u", self.number_of(memory)),
        }
    }

    /// Names the number of the memory that the pointer of an instruction is of, where that may be of several.
    pub(super) fn define_tag(&mut self, it: Value<'c>) -> Result<(), Problem> {
        if !it.ty().is_pointer() || !it.is_used() || !matches!(self.memory(it), Memory::Several(_))
        {
            return Ok(());
        }
        let expression = match it.opcode() {
            Opcode::Phi => self.incoming_tags.get(&it).cloned().unwrap_or_default(),
            Opcode::Select => {
                let condition = self.operand(it.operand(0))?;
                let [yes, no] = [1, 2].map(|at| self.tag(it.operand(at)));
                format!("select({no}, {yes}, {condition})")
            }
            _ => self.tag(it.operand(0)),
        };
        let name = self.named(it, "u32", &expression);
        self.tags.insert(it, name);
        Ok(())
    }

    /// The pointer of an access that may be of several memories.
    pub(super) fn of_several(&self, it: Value<'c>) -> Option<Value<'c>> {
        let pointers = match it.opcode() {
            Opcode::Load | Opcode::AtomicRmw | Opcode::AtomicCmpXchg => vec![it.operand(0)],
            Opcode::Store => vec![it.operand(1)],
            Opcode::Call => it.arguments(),
            _ => return None,
        };
        let mut pointers = pointers.into_iter().filter(|pointer| pointer.ty().is_pointer());
        pointers.find(|pointer| matches!(self.memory(*pointer), Memory::Several(_)))
    }

    /// Writes an access once for each memory that its pointer may be of.
    pub(super) fn for_each_memory(
        &mut self,
        it: Value<'c>,
        pointer: Value<'c>,
    ) -> Result<(), Problem> {
        let (tag, several) = (self.tag(pointer), self.memory(pointer));
        // What one case computes is used behind the switch.
        self.hoisted.insert(it);
        self.line(&format!("switch {tag} {{"));
        let mut written = Ok(());
        for memory in self.all_of(several) {
            self.memories.insert(pointer, memory);
            let number = self.number_of(memory);
            self.line(&format!("case {number}u: {{"));
            written = written.and(self.instruction(it));
            self.line("}");
        }
        self.memories.insert(pointer, several);
        self.line("default: {}");
        self.line("}");
        written
    }
}
