//! Which memory a pointer leads to: its start and its size.

use std::collections::{HashMap, HashSet};

use kernelmill_compiler::plugin::{
    Kernel, Length, SharedArray, Task,
    ir::{Builder, ModuleExt, Opcode, Type, Value},
};

use crate::kernel::operation;

/// Where a pointer can come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root<'c> {
    /// Memory that the kernel is given, by its place among the buffers.
    Buffer(usize),
    /// A shared array.
    Shared(Value<'c>),
    /// A variable of the thread's own or of the whole module.
    Variable(Value<'c>),
    /// The shared memory that the launch asks for.
    Dynamic,
    /// Memory of the heap, which a call gives.
    Call(Value<'c>),
    /// Nobody knows.
    Unknown,
}

/// The memory that a pointer leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'c> {
    pub(crate) base: Value<'c>,
    /// In bytes, of 64 bits; all ones where it is not known.
    pub(crate) bytes: Value<'c>,
}

/// The size of memory of which nothing is known.
const UNLIMITED: u64 = u64::MAX;

/// The memory of one kernel.
pub(crate) struct Memories<'a, 'c> {
    task: &'a Task<'a, 'c>,
    kernel: &'a Kernel<'c>,
    shared: Vec<SharedArray<'c>>,
    of_phis: HashMap<Value<'c>, Memory<'c>>,
}

impl<'a, 'c> Memories<'a, 'c> {
    pub(crate) fn new(task: &'a Task<'a, 'c>, kernel: &'a Kernel<'c>) -> Self {
        Self { task, kernel, shared: task.shared_arrays(), of_phis: HashMap::new() }
    }

    /// Everything that a pointer can come from.
    pub(crate) fn roots(&self, pointer: Value<'c>) -> Vec<Root<'c>> {
        let (mut roots, mut seen, mut work) = (Vec::new(), HashSet::new(), vec![pointer]);
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            match step(value) {
                Step::From(values) => work.extend(values),
                Step::Root => {
                    let root = self.root(value);
                    roots.extend(root.filter(|root| !roots.contains(root)));
                }
            }
        }
        roots
    }

    /// The root that a value is; `None` for null and what is undefined.
    fn root(&self, value: Value<'c>) -> Option<Root<'c>> {
        if let Some(index) = self.kernel.buffers.iter().position(|it| it.address == value) {
            let is_known = self.kernel.buffers[index].length.is_some();
            return Some(if is_known { Root::Buffer(index) } else { Root::Unknown });
        }
        if value.is_global() {
            let is_shared = self.shared.iter().any(|array| array.global == value);
            let root = if is_shared { Root::Shared(value) } else { Root::Variable(value) };
            return Some(if value.is_declaration() { Root::Unknown } else { root });
        }
        if value.is_instruction() {
            let is_variable =
                value.opcode() == Opcode::Alloca && value.operand(0).as_u64() == Some(1);
            return Some(match value.opcode() {
                _ if is_variable => Root::Variable(value),
                Opcode::Call => match allocation(value) {
                    Some(Allocation::Heap(_)) => Root::Call(value),
                    Some(Allocation::Dynamic) => Root::Dynamic,
                    None => Root::Unknown,
                },
                _ => Root::Unknown,
            });
        }
        (!value.is_undefined() && !value.is_zero()).then_some(Root::Unknown)
    }

    /// The memory of a root.
    fn of_root(&self, root: &Root<'c>) -> Memory<'c> {
        let word = Type::int(self.task.context(), 64);
        match root {
            Root::Buffer(index) => {
                let buffer = &self.kernel.buffers[*index];
                Memory { base: buffer.address, bytes: self.bytes_of_buffer(*index) }
            }
            Root::Shared(base) => {
                let array = self.shared.iter().find(|array| array.global == *base);
                let bytes = array.map_or(UNLIMITED, |array| array.bytes);
                Memory { base: *base, bytes: word.constant(bytes) }
            }
            Root::Variable(base) => {
                let ty = if base.is_global() { base.value_type() } else { base.allocated_type() };
                Memory { base: *base, bytes: word.constant(self.task.size_of(ty)) }
            }
            Root::Dynamic => {
                let builder = self.start();
                let size = operation(self.task, "dynamic_shared_bytes");
                let bytes = builder.zero_extend(builder.call(size, &[]), word);
                Memory { base: dynamic_shared(self.task, &builder), bytes }
            }
            Root::Call(call) => Memory { base: *call, bytes: self.bytes_of_call(*call) },
            Root::Unknown => {
                let null = Type::pointer(self.task.context(), 0).null();
                Memory { base: null, bytes: word.constant(UNLIMITED) }
            }
        }
    }

    fn start(&self) -> Builder<'c> {
        let entry = self.kernel.function.blocks()[0];
        self.task.before(entry.first_after_phis().expect("a block has an end"))
    }

    fn bytes_of_buffer(&self, index: usize) -> Value<'c> {
        let word = Type::int(self.task.context(), 64);
        let buffer = &self.kernel.buffers[index];
        match buffer.length {
            Some(Length::Bytes(bytes)) => bytes,
            Some(Length::Elements(count)) => {
                self.start().multiply(count, word.constant(buffer.element))
            }
            None => word.constant(UNLIMITED),
        }
    }

    fn bytes_of_call(&self, call: Value<'c>) -> Value<'c> {
        let word = Type::int(self.task.context(), 64);
        match allocation(call) {
            Some(Allocation::Heap(bytes)) if bytes.ty() == word => bytes,
            _ => word.constant(UNLIMITED),
        }
    }

    /// The memory that a pointer leads to at run time. Where it comes from several, the code that
    /// tells which is added beside what chooses the pointer.
    pub(crate) fn of(&mut self, pointer: Value<'c>) -> Memory<'c> {
        if let [root] = self.roots(pointer).as_slice() {
            return self.of_root(root);
        }
        if let Some(known) = self.of_phis.get(&pointer) {
            return *known;
        }
        let memory = match step(pointer) {
            Step::Root => {
                let root = self.root(pointer).unwrap_or(Root::Unknown);
                self.of_root(&root)
            }
            Step::From(values) if values.len() == 1 => self.of(values[0]),
            Step::From(values) => return self.of_choice(pointer, &values),
        };
        self.of_phis.insert(pointer, memory);
        memory
    }

    /// The memory of a phi or selection.
    fn of_choice(&mut self, pointer: Value<'c>, values: &[Value<'c>]) -> Memory<'c> {
        let builder = self.task.before(pointer);
        let address = Type::pointer(self.task.context(), 0);
        if pointer.opcode() == Opcode::Select {
            let (yes, no) = (self.of(values[0]), self.of(values[1]));
            let select = |yes, no| builder.select(pointer.operand(0), yes, no);
            let memory =
                Memory { base: select(yes.base, no.base), bytes: select(yes.bytes, no.bytes) };
            self.of_phis.insert(pointer, memory);
            return memory;
        }
        let word = Type::int(self.task.context(), 64);
        let memory = Memory { base: builder.phi(address), bytes: builder.phi(word) };
        self.of_phis.insert(pointer, memory);
        for (index, value) in values.iter().enumerate() {
            let incoming = self.of(*value);
            if let Some(block) = pointer.incoming_block(index as u32) {
                memory.base.add_incoming(incoming.base, block);
                memory.bytes.add_incoming(incoming.bytes, block);
            }
        }
        memory
    }
}

/// The start of the shared memory that the launch asks for.
pub(crate) fn dynamic_shared<'c>(task: &Task<'_, 'c>, builder: &Builder<'c>) -> Value<'c> {
    let address = Type::pointer(task.context(), 0);
    builder.call(task.module().declare(DYNAMIC, address.function(&[])), &[])
}

/// What gives it.
const DYNAMIC: &str = "__kernelmill_dynamic_shared";

/// What an allocation gives.
enum Allocation<'c> {
    Heap(Value<'c>),
    Dynamic,
}

fn allocation(call: Value<'_>) -> Option<Allocation<'_>> {
    match call.called_function()?.name().as_str() {
        "malloc" => Some(Allocation::Heap(call.arguments()[0])),
        DYNAMIC => Some(Allocation::Dynamic),
        _ => None,
    }
}

/// What a pointer is made of.
enum Step<'c> {
    From(Vec<Value<'c>>),
    Root,
}

fn step(value: Value<'_>) -> Step<'_> {
    let opcode = if value.is_constant_expression() {
        value.constant_opcode()
    } else if value.is_instruction() {
        value.opcode()
    } else {
        return Step::Root;
    };
    match opcode {
        Opcode::GetElementPtr | Opcode::BitCast | Opcode::AddrSpaceCast | Opcode::Freeze => {
            Step::From(vec![value.operand(0)])
        }
        Opcode::Phi => Step::From(value.operands()),
        Opcode::Select => Step::From(value.operands().split_off(1)),
        _ => Step::Root,
    }
}
