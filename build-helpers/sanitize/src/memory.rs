//! Provenance of pointers: the memory that a pointer is derived from, with its start and size.
//!
//! LLVM calls it the underlying object of a pointer.

use std::collections::{HashMap, HashSet};

use kernelmill_compiler::plugin::{
    Kernel, Length, SharedArray, Task,
    ir::{Builder, Opcode, Type, Value},
};

use crate::{
    access::{self, Access},
    intrinsics::{self, DYNAMIC_SHARED, dynamic_shared},
};

/// The memory object that a pointer is derived from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root<'c> {
    /// A buffer that the kernel is passed, by its index.
    Buffer(usize),
    /// A shared array.
    Shared(Value<'c>),
    /// A variable of the thread's own or of the whole module.
    Variable(Value<'c>),
    /// The dynamic shared memory of a launch.
    Dynamic,
    /// A heap allocation, by its call.
    Call(Value<'c>),
    /// Memory that is not known.
    Unknown,
}

/// An access, with the objects that its pointer can be derived from.
#[derive(Clone, Debug)]
pub(crate) struct RootedAccess<'c> {
    pub(crate) access: Access<'c>,
    pub(crate) roots: Vec<Root<'c>>,
}

impl<'c> RootedAccess<'c> {
    /// All accesses of a kernel.
    pub(crate) fn all(task: &Task<'_, 'c>, kernel: &Kernel<'c>) -> Vec<Self> {
        let memories = Memories::new(task, kernel);
        let instructions = kernel.function.instructions().into_iter();
        let found = instructions.flat_map(|at| access::of(task, at));
        found.map(|access| Self { access, roots: memories.roots(access.pointer) }).collect()
    }
}

/// The range of memory that a pointer may access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory<'c> {
    pub(crate) base: Value<'c>,
    /// In bytes, of 64 bits; all ones where it is not known.
    pub(crate) bytes: Value<'c>,
}

/// The size of memory that is not known.
const UNLIMITED: u64 = u64::MAX;

/// The memory objects of one kernel.
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

    /// All objects that a pointer can be derived from.
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

    /// The object that a value is the address of; `None` for null and undefined values.
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
                let size = intrinsics::declare(self.task, "dynamic_shared_bytes");
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

    /// The range of a pointer at run time. For a pointer that can be derived from several objects, phis
    /// and selects of the ranges are added beside those of the pointer.
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

    /// The range of a phi or select.
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

/// An allocation by a call.
enum Allocation<'c> {
    Heap(Value<'c>),
    Dynamic,
}

fn allocation(call: Value<'_>) -> Option<Allocation<'_>> {
    match call.called_function()?.name().as_str() {
        "malloc" => Some(Allocation::Heap(call.arguments()[0])),
        DYNAMIC_SHARED => Some(Allocation::Dynamic),
        _ => None,
    }
}

/// One step from a pointer towards its object.
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
