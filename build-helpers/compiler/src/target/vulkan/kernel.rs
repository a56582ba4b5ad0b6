//! A kernel as text in WGSL: its variables, and its body by the tree of its control flow.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use kernelmill_llvm::{
    ir::{Opcode, Value},
    machine::Machine,
};

use super::{
    memory::{self, Memory, Parameters, Unknown},
    operations,
    scalars::Scalar,
    structure::Structure,
};

/// What WGSL has no code for: the instruction, and what the kernel does there.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) what: String,
}

impl Problem {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into() }
    }
}

impl From<Unknown> for Problem {
    fn from(unknown: Unknown) -> Self {
        Self::new(unknown.describe())
    }
}

/// A parameter of the kernel's signature, as the run time binds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// A buffer, with its number of elements or without.
    Buffer,
    /// So many bytes.
    Value(u64),
}

/// What a parameter of the function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The address of the buffer with this number.
    Address(usize),
    /// Its number of elements.
    Length(usize),
    /// A value: in memory, or by itself.
    Value(usize),
    /// The address of the panic record.
    Record,
    /// The address of dynamic shared memory.
    Dynamic,
    /// Its bytes.
    DynamicBytes,
    /// The address of the program's variables.
    Program,
}

/// What is written of a kernel.
pub(super) struct Kernel<'a, 'c> {
    pub(super) function: Value<'c>,
    pub(super) number: usize,
    pub(super) parameters: Parameters,
    pub(super) roles: &'a [Role],
    pub(super) bindings: &'a [Binding],
    pub(super) structure: &'a Structure<'c>,
    pub(super) machine: &'a Machine,
    pub(super) memories: HashMap<Value<'c>, Memory<'c>>,
    /// The memories of pointers that may be of several, and the names of the numbers that say of which one is.
    pub(super) several: Vec<Vec<Memory<'c>>>,
    pub(super) tags: HashMap<Value<'c>, String>,
    pub(super) incoming_tags: HashMap<Value<'c>, String>,
    pub(super) atomic: HashSet<Memory<'c>>,
    /// Those of them whose words have 64 bits.
    pub(super) wide: HashSet<Memory<'c>>,
    /// Names of values, of arrays, and of what phis are given.
    pub(super) names: HashMap<Value<'c>, String>,
    pub(super) arrays: HashMap<Memory<'c>, String>,
    pub(super) incoming: HashMap<Value<'c>, String>,
    /// Of memories whose addresses are compared, or which a pointer may be of beside others.
    pub(super) numbers: HashMap<Memory<'c>, usize>,
    /// Values that are used outside of the part that they are in.
    pub(super) hoisted: HashSet<Value<'c>>,
    pub(super) next: usize,
    /// Variables of the module, of the function, and the body.
    pub(super) globals: BTreeMap<String, String>,
    pub(super) locals: String,
    pub(super) body: String,
    pub(super) depth: usize,
}

/// The offset that stands for a null pointer: no buffer is so large.
pub(super) const NULL: u32 = u32::MAX;

/// A kernel to be written.
pub(super) struct Source<'a, 'c> {
    pub(super) function: Value<'c>,
    /// Its number in the module.
    pub(super) number: usize,
    pub(super) roles: &'a [Role],
    pub(super) bindings: &'a [Binding],
    pub(super) structure: &'a Structure<'c>,
    pub(super) machine: &'a Machine,
}

/// The parameters of a function whose parameters have these roles.
pub(super) fn parameters_of(function: Value<'_>, roles: &[Role]) -> Parameters {
    let of_function = function.parameters();
    let by_value = roles.iter().zip(&of_function);
    let by_value =
        by_value.map(|(role, it)| matches!(role, Role::Value(_)) && it.ty().is_pointer()).collect();
    let record = roles.iter().position(|role| *role == Role::Record);
    let dynamic = roles.iter().position(|role| *role == Role::Dynamic);
    let program = roles.iter().position(|role| *role == Role::Program);
    Parameters { by_value, record, dynamic, program }
}

/// The name of a kernel's function in WGSL.
pub(super) fn entry_name(number: usize) -> String {
    format!("kernel{number}")
}

impl<'a, 'c> Kernel<'a, 'c> {
    /// The text of a kernel.
    pub(super) fn text_of(
        source: &Source<'a, 'c>,
        problems: &mut Vec<(Value<'c>, Problem)>,
    ) -> String {
        let Source { function, number, roles, bindings, structure, machine } = *source;
        let parameters = parameters_of(function, roles);
        let mut kernel = Self {
            function,
            number,
            parameters,
            roles,
            bindings,
            structure,
            machine,
            memories: HashMap::new(),
            several: Vec::new(),
            tags: HashMap::new(),
            incoming_tags: HashMap::new(),
            atomic: HashSet::new(),
            wide: HashSet::new(),
            names: HashMap::new(),
            arrays: HashMap::new(),
            incoming: HashMap::new(),
            numbers: HashMap::new(),
            hoisted: HashSet::new(),
            next: 0,
            globals: BTreeMap::new(),
            locals: String::new(),
            body: String::new(),
            depth: 1,
        };
        kernel.find_memories(problems);
        kernel.find_hoisted();
        kernel.declare_phis(problems);
        if problems.is_empty() {
            kernel.start();
            kernel.nodes(&structure.body, problems);
        }
        kernel.text()
    }

    fn text(self) -> String {
        let mut text: String = self.globals.into_values().map(|line| line + "\n").collect();
        let _ = write!(
            text,
            "@compute @workgroup_size(1, 1, 1)\nfn {}(@builtin(local_invocation_id) thread: vec3<u32>, \
             @builtin(workgroup_id) block: vec3<u32>, @builtin(num_workgroups) blocks: vec3<u32>) {{\n{}{}}}\n",
            entry_name(self.number),
            self.locals,
            self.body
        );
        text
    }

    /// Finds the memory of each pointer, and the memories with atomic operations.
    fn find_memories(&mut self, problems: &mut Vec<(Value<'c>, Problem)>) {
        for instruction in self.function.instructions() {
            let is_pointer = instruction.ty().is_pointer();
            let used = instruction
                .operands()
                .into_iter()
                .filter(|it| it.ty().is_pointer() && !it.is_function() && !it.is_block());
            for pointer in used.chain(is_pointer.then_some(instruction)) {
                if self.memories.contains_key(&pointer) {
                    continue;
                }
                match memory::of(self.function, &self.parameters, pointer) {
                    Ok(found) => {
                        let memory = self.one_of(found);
                        self.memories.insert(pointer, memory);
                    }
                    Err(unknown) => {
                        problems.push((instruction, unknown.into()));
                        self.memories.insert(pointer, Memory::Nowhere);
                    }
                }
            }
            self.note_atomic(instruction);
        }
        if self.parameters.record.is_some() {
            self.atomic.insert(Memory::Record);
        }
    }

    /// Notes the memory of an access that makes its words atomic.
    fn note_atomic(&mut self, instruction: Value<'c>) {
        let pointer = match instruction.opcode() {
            Opcode::AtomicRmw | Opcode::AtomicCmpXchg => instruction.operand(0),
            Opcode::Call if operations::is_atomic_access(instruction) => instruction.operand(0),
            Opcode::Store => {
                let (value, pointer) = (instruction.operand(0), instruction.operand(1));
                let bytes = Scalar::of(value.ty()).map_or(4, Scalar::bytes);
                if bytes >= 4 && instruction.alignment() >= 4 {
                    return;
                }
                pointer
            }
            // Bytes of one may be written behind the last word.
            Opcode::Call if operations::is_transfer(instruction) => instruction.operand(0),
            _ => return,
        };
        let Some(memory) = self.memories.get(&pointer).copied() else { return };
        let is_wide = instruction.opcode() != Opcode::Store
            && operations::atomic_bits(instruction) == Some(64);
        for memory in self.all_of(memory) {
            if matches!(memory, Memory::Slot(_) | Memory::Bytes(_) | Memory::Table(_)) {
                continue;
            }
            self.atomic.insert(memory);
            if is_wide {
                self.wide.insert(memory);
            }
        }
    }

    /// Whether the words of a memory are of 64 bits, for atomic operations.
    pub(super) fn is_wide(&self, memory: Memory<'c>) -> bool {
        self.wide.contains(&memory)
    }

    pub(super) fn is_atomic(&self, memory: Memory<'c>) -> bool {
        self.atomic.contains(&memory)
    }

    /// Finds the values that are used outside of the part of the function that they are computed in.
    fn find_hoisted(&mut self) {
        let Structure { numbers, scopes, .. } = self.structure;
        for instruction in self.function.instructions() {
            let own = &scopes[numbers[&instruction.block()]];
            let is_outside = |user: &Value<'c>| {
                let mut blocks = vec![user.block()];
                if user.opcode() == Opcode::Phi {
                    let count = user.operands().len() as u32;
                    let uses = (0..count).filter(|&at| user.operand(at) == instruction);
                    blocks = uses.filter_map(|at| user.incoming_block(at)).collect();
                }
                !blocks.iter().all(|block| scopes[numbers[block]].starts_with(own))
            };
            if instruction.users().iter().any(is_outside) {
                self.hoisted.insert(instruction);
            }
        }
    }

    /// Declares a variable for what each phi is given.
    fn declare_phis(&mut self, problems: &mut Vec<(Value<'c>, Problem)>) {
        for phi in self.function.instructions() {
            if phi.opcode() != Opcode::Phi {
                continue;
            }
            let name = self.new_name("p");
            match Scalar::of(phi.ty()) {
                Some(scalar) => self.local(&name, scalar.wgsl()),
                None => problems.push((phi, self.of_type(phi.ty()))),
            }
            self.incoming.insert(phi, name);
            if matches!(self.memory(phi), Memory::Several(_)) && phi.ty().is_pointer() {
                let name = self.new_name("g");
                self.local(&name, "u32");
                self.incoming_tags.insert(phi, name);
            }
        }
    }

    /// Computes what the parameters are.
    fn start(&mut self) {
        let of_function = self.function.parameters();
        for (role, parameter) in self.roles.iter().zip(&of_function) {
            let expression = match *role {
                Role::Address(number) => format!("{}[{}u].z", self.launch(), number + 1),
                Role::Length(number) => {
                    let launch = self.launch();
                    format!("long_of({launch}[{0}u].x, {launch}[{0}u].y)", number + 1)
                }
                Role::Record | Role::Dynamic | Role::Program => continue,
                Role::DynamicBytes => format!("{}[0u].w", self.launch()),
                Role::Value(_) if parameter.ty().is_pointer() => continue,
                Role::Value(number) => self.value(number, parameter.ty()),
            };
            if parameter.is_used() {
                let name = self.new_name("a");
                self.line(&format!("let {name} = {expression};"));
                self.names.insert(*parameter, name);
            }
        }
    }

    pub(super) fn new_name(&mut self, start: &str) -> String {
        self.next += 1;
        format!("{start}{}", self.next)
    }

    pub(super) fn line(&mut self, text: &str) {
        if text.starts_with('}') {
            self.depth -= 1;
        }
        let _ = writeln!(self.body, "{:1$}{text}", "", 4 * self.depth);
        if text.ends_with('{') {
            self.depth += 1;
        }
    }

    /// An expression under a name, so that it is computed here and once.
    pub(super) fn keep(&mut self, expression: &str) -> String {
        if expression.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_') {
            return expression.to_owned();
        }
        let name = self.new_name("t");
        self.line(&format!("let {name} = {expression};"));
        name
    }
}
