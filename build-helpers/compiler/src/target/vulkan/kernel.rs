//! A kernel as text in WGSL: its variables, and its body by the tree of its control flow.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt::Write as _,
};

use kernelmill_artifact::DYNAMIC_SHARED_WORDS;
use kernelmill_llvm::{
    ir::{Opcode, Type, TypeKind, Value},
    machine::Machine,
};

use super::{
    access::Place,
    calls,
    memory::{self, Memory, Parameters, Unknown},
    scalars::{Scalar, constant, low_word},
    structure::{Node, Structure},
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
    function: Value<'c>,
    number: usize,
    parameters: Parameters,
    roles: &'a [Role],
    bindings: &'a [Binding],
    structure: &'a Structure<'c>,
    machine: &'a Machine,
    memories: HashMap<Value<'c>, Memory<'c>>,
    atomic: HashSet<Memory<'c>>,
    /// Those of them whose words have 64 bits.
    wide: HashSet<Memory<'c>>,
    /// Names of values, of arrays, and of what phis are given.
    names: HashMap<Value<'c>, String>,
    arrays: HashMap<Memory<'c>, String>,
    incoming: HashMap<Value<'c>, String>,
    /// Of memories whose addresses are compared.
    numbers: HashMap<Memory<'c>, usize>,
    /// Values that are used outside of the part that they are in.
    hoisted: HashSet<Value<'c>>,
    next: usize,
    /// Variables of the module, of the function, and the body.
    globals: BTreeMap<String, String>,
    locals: String,
    body: String,
    depth: usize,
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
                    Ok(memory) => drop(self.memories.insert(pointer, memory)),
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
            Opcode::Call if calls::is_atomic_access(instruction) => instruction.operand(0),
            Opcode::Store => {
                let (value, pointer) = (instruction.operand(0), instruction.operand(1));
                let bytes = Scalar::of(value.ty()).map_or(4, Scalar::bytes);
                if bytes >= 4 && instruction.alignment() >= 4 {
                    return;
                }
                pointer
            }
            // Bytes of one may be written behind the last word.
            Opcode::Call if calls::is_transfer(instruction) => instruction.operand(0),
            _ => return,
        };
        let Some(memory) = self.memories.get(&pointer).copied() else { return };
        let is_own = matches!(memory, Memory::Slot(_) | Memory::Bytes(_) | Memory::Table(_));
        if !is_own {
            self.atomic.insert(memory);
            if instruction.opcode() != Opcode::Store && calls::atomic_bits(instruction) == Some(64)
            {
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

    /// A value that is passed by itself: the first of the bytes that the binding has.
    fn value(&mut self, number: usize, ty: Type<'c>) -> String {
        let name = self.bytes(number);
        let scalar = Scalar::of(ty).unwrap_or(Scalar::Word(32));
        let bits = match scalar.bytes() {
            8 => format!("long_of({name}[0u][0u], {name}[0u][1u])"),
            4 => format!("{name}[0u][0u]"),
            _ => format!("({name}[0u][0u] & {}u)", scalar.mask()),
        };
        scalar.of_bits(&bits)
    }

    /// The variable with what the launch says of blocks and buffers.
    pub(super) fn launch(&mut self) -> String {
        let (name, count) = (format!("launch{}", self.number), self.bindings.len());
        let ty = format!("array<vec4<u32>, {}>", count + 1);
        self.global(&name, &format!("@group(0) @binding({count}) var<uniform> {name}: {ty};"));
        name
    }

    fn bytes(&mut self, number: usize) -> String {
        let name = format!("value{}_{number}", self.number);
        let bytes = match self.bindings[number] {
            Binding::Value(bytes) => bytes,
            Binding::Buffer => 0,
        };
        let vectors = bytes.div_ceil(16).max(1);
        let ty = format!("array<vec4<u32>, {vectors}>");
        self.global(&name, &format!("@group(0) @binding({number}) var<uniform> {name}: {ty};"));
        name
    }

    /// The array of a memory.
    pub(super) fn array(&mut self, memory: Memory<'c>) -> String {
        if let Some(name) = self.arrays.get(&memory) {
            return name.clone();
        }
        let word = match (self.is_atomic(memory), self.is_wide(memory)) {
            (_, true) => "atomic<u64>",
            (true, _) => "atomic<u32>",
            _ => "u32",
        };
        let bytes = if self.is_wide(memory) { 8 } else { 4 };
        let name = match memory {
            Memory::Buffer(parameter) => {
                let number = match self.roles[parameter] {
                    Role::Address(number) => number,
                    _ => parameter,
                };
                let name = format!("buffer{}_{number}", self.number);
                let variable = format!("var<storage, read_write> {name}: array<{word}>;");
                self.global(&name, &format!("@group(0) @binding({number}) {variable}"));
                name
            }
            Memory::Bytes(parameter) => match self.roles[parameter] {
                Role::Value(number) => self.bytes(number),
                _ => "0u".to_owned(),
            },
            Memory::Record | Memory::Program => {
                let (name, place) = match memory {
                    Memory::Record => ("record", 1),
                    _ => ("program", 2),
                };
                let (name, number) =
                    (format!("{name}{}", self.number), self.bindings.len() + place);
                let variable = format!("var<storage, read_write> {name}: array<{word}>;");
                self.global(&name, &format!("@group(0) @binding({number}) {variable}"));
                name
            }
            Memory::Dynamic => {
                let name = format!("dynamic{}", self.number);
                let ty = format!("array<{word}, {DYNAMIC_SHARED_WORDS}>");
                self.global(&name, &format!("var<workgroup> {name}: {ty};"));
                name
            }
            Memory::Slot(slot) => {
                let name = self.new_name("slot");
                let words = self.machine.size_of(slot.allocated_type()).div_ceil(4).max(1);
                self.local(&name, &format!("array<u32, {words}>"));
                name
            }
            Memory::Shared(shared) => {
                let name = self.new_name(&format!("shared{}_", self.number));
                let words = self.machine.size_of(shared.value_type()).div_ceil(bytes).max(1);
                let ty = format!("array<{word}, {words}>");
                self.global(&name, &format!("var<workgroup> {name}: {ty};"));
                name
            }
            Memory::Table(table) => {
                let name = self.new_name(&format!("table{}_", self.number));
                let words = super::tables::words(self.machine, table).unwrap_or_default();
                let ty = format!("array<u32, {}>", words.len());
                let words: Vec<_> = words.iter().map(|word| format!("{word}u")).collect();
                let value = format!("{ty}({})", words.join(", "));
                self.global(&name, &format!("var<private> {name}: {ty} = {value};"));
                name
            }
            Memory::Nowhere => "nowhere".to_owned(),
        };
        self.arrays.insert(memory, name.clone());
        name
    }

    /// A number of a memory, from 1 on.
    pub(super) fn number_of(&mut self, memory: Memory<'c>) -> usize {
        let next = self.numbers.len() + 1;
        *self.numbers.entry(memory).or_insert(next)
    }

    fn global(&mut self, name: &str, line: &str) {
        self.globals.entry(name.to_owned()).or_insert_with(|| line.to_owned());
    }

    pub(super) fn local(&mut self, name: &str, ty: &str) {
        let _ = writeln!(self.locals, "    var {name}: {ty};");
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

    fn nodes(&mut self, nodes: &[Node], problems: &mut Vec<(Value<'c>, Problem)>) {
        for node in nodes {
            match node {
                Node::Block(block) => self.block(*block, problems),
                Node::Edge(from, to) => self.edge(*from, *to, problems),
                Node::If { block, yes, no } => {
                    let condition = self.structure.blocks[*block].terminator();
                    let condition = condition.and_then(Value::branch_condition);
                    let condition = condition.and_then(|it| self.operand(it).ok());
                    self.line(&format!("if {} {{", condition.unwrap_or_default()));
                    self.nodes(yes, problems);
                    if no.iter().any(|it| !matches!(it, Node::Edge(..)) || self.gives(it)) {
                        self.line("} else {");
                        self.nodes(no, problems);
                    }
                    self.line("}");
                }
                Node::Loop(body) => {
                    self.line("loop {");
                    self.nodes(body, problems);
                    self.line("}");
                }
                Node::Break => self.line("break;"),
                Node::Continue => self.line("continue;"),
                Node::Return => self.line("return;"),
            }
        }
    }

    /// Whether phis are given something on an edge.
    fn gives(&self, node: &Node) -> bool {
        let Node::Edge(_, to) = node else { return false };
        let first = self.structure.blocks[*to].instructions().into_iter().next();
        first.is_some_and(|it| it.opcode() == Opcode::Phi)
    }

    fn block(&mut self, block: usize, problems: &mut Vec<(Value<'c>, Problem)>) {
        for instruction in self.structure.blocks[block].instructions() {
            if let Err(problem) = self.instruction(instruction) {
                problems.push((instruction, problem));
                // What uses it is no problem of its own.
                self.names.insert(instruction, "unknown".to_owned());
            }
        }
    }

    /// Gives the phis of a block their values, all at once.
    fn edge(&mut self, from: usize, to: usize, problems: &mut Vec<(Value<'c>, Problem)>) {
        let [from, to] = [from, to].map(|block| self.structure.blocks[block]);
        let phis = to.instructions().into_iter().take_while(|it| it.opcode() == Opcode::Phi);
        let mut given = Vec::new();
        for phi in phis {
            let count = phi.operands().len() as u32;
            let at = (0..count).find(|&at| phi.incoming_block(at) == Some(from));
            let Some(value) = at.map(|at| phi.operand(at)).filter(|it| !it.is_undefined()) else {
                continue;
            };
            match self.operand(value) {
                Ok(text) => given.push((self.incoming[&phi].clone(), text)),
                Err(problem) => problems.push((phi, problem)),
            }
        }
        if let [(name, value)] = &*given {
            return self.line(&format!("{name} = {value};"));
        }
        let kept: Vec<_> = given.iter().map(|(_, value)| self.keep_variable(value)).collect();
        for ((name, _), value) in given.iter().zip(kept) {
            self.line(&format!("{name} = {value};"));
        }
    }

    /// The value that an expression has now. A name of a variable may stand for another soon.
    fn keep_variable(&mut self, expression: &str) -> String {
        if expression.ends_with('u') && expression.as_bytes()[0].is_ascii_digit() {
            return expression.to_owned();
        }
        let name = self.new_name("t");
        self.line(&format!("let {name} = {expression};"));
        name
    }

    /// What a phi has been given.
    pub(super) fn given(&self, phi: Value<'c>) -> String {
        self.incoming.get(&phi).cloned().unwrap_or_default()
    }

    /// Names the value of an instruction.
    pub(super) fn define(&mut self, instruction: Value<'c>, expression: &str) {
        let Some(scalar) = Scalar::of(instruction.ty()) else { return };
        if !instruction.is_used() {
            return;
        }
        let name = self.new_name("v");
        match self.hoisted.contains(&instruction) {
            true => {
                self.local(&name, scalar.wgsl());
                self.line(&format!("{name} = {expression};"));
            }
            false => self.line(&format!("let {name} = {expression};")),
        }
        self.names.insert(instruction, name);
    }

    /// Names the fields of the value of an instruction.
    pub(super) fn define_fields(&mut self, instruction: Value<'c>, fields: &[(Scalar, String)]) {
        let name = self.new_name("v");
        for (index, (scalar, expression)) in fields.iter().enumerate() {
            self.local(&format!("{name}_{index}"), scalar.wgsl());
            self.line(&format!("{name}_{index} = {expression};"));
        }
        self.names.insert(instruction, name);
    }

    /// A field of a value.
    pub(super) fn field(&self, value: Value<'c>, index: u32) -> Result<String, Problem> {
        let name = self.names.get(&value);
        let name = name.ok_or_else(|| Problem::new("computes with a struct in one piece"))?;
        Ok(format!("{name}_{index}"))
    }

    /// An operand.
    pub(super) fn operand(&mut self, value: Value<'c>) -> Result<String, Problem> {
        if let Some(name) = self.names.get(&value) {
            return Ok(name.clone());
        }
        if value.ty().is_pointer() {
            return self.offset(value);
        }
        if value.is_constant_expression() {
            return self.expression(value);
        }
        match constant(value) {
            Some(text) => Ok(text),
            None if Scalar::of(value.ty()).is_none() => Err(self.of_type(value.ty())),
            None => Err(Problem::new("uses a value that is not known when it is compiled")),
        }
    }

    /// A number that is made of addresses.
    fn expression(&mut self, value: Value<'c>) -> Result<String, Problem> {
        let scalar = Scalar::of(value.ty()).ok_or_else(|| self.of_type(value.ty()))?;
        let sign = match value.constant_opcode() {
            Opcode::PtrToInt | Opcode::PtrToAddr if scalar == Scalar::Long => {
                return self.address(value.operand(0));
            }
            Opcode::Add => '+',
            Opcode::Sub => '-',
            _ => return Err(Problem::new("computes with an address when it is compiled")),
        };
        let (a, b) = (self.operand(value.operand(0))?, self.operand(value.operand(1))?);
        Ok(scalar.cut(&format!("{a} {sign} {b}")))
    }

    /// What a type is that WGSL has not.
    pub(super) fn of_type(&self, ty: Type<'c>) -> Problem {
        Problem::new(format!("computes with values of LLVM's type `{ty:?}`"))
    }

    /// The memory of a pointer.
    pub(super) fn memory(&self, pointer: Value<'c>) -> Memory<'c> {
        let of_constant = || memory::of(self.function, &self.parameters, pointer).ok();
        let known = self.memories.get(&pointer).copied();
        known.or_else(of_constant).unwrap_or(Memory::Nowhere)
    }

    /// The place of an access.
    pub(super) fn place(&mut self, pointer: Value<'c>, align: u64) -> Result<Place<'c>, Problem> {
        let (memory, offset) = (self.memory(pointer), self.operand(pointer)?);
        Ok(Place { memory, offset, align })
    }

    /// The offset of a pointer that has no name.
    fn offset(&mut self, pointer: Value<'c>) -> Result<String, Problem> {
        let is_expression = pointer.is_constant_expression();
        match () {
            () if is_expression && pointer.constant_opcode() == Opcode::GetElementPtr => {
                self.element(pointer)
            }
            () if is_expression => self.operand(pointer.operand(0)),
            () if pointer.is_zero() => Ok(format!("{NULL}u")),
            () => Ok("0u".to_owned()),
        }
    }

    /// The offset of an element.
    pub(super) fn element(&mut self, pointer: Value<'c>) -> Result<String, Problem> {
        let operands = pointer.operands();
        let mut ty = pointer.element_type();
        let (mut known, mut parts) = (0_u64, Vec::new());
        let base = self.operand(operands[0])?;
        if base != "0u" {
            parts.push(base);
        }
        for (place, index) in operands[1..].iter().enumerate() {
            if place > 0 && ty.kind() == TypeKind::Struct {
                let field = index.as_u64().unwrap_or(0) as u32;
                known = known.wrapping_add(self.machine.offset_of(ty, field));
                ty = ty.fields()[field as usize];
                continue;
            }
            if place > 0 {
                ty = ty.element();
            }
            let bytes = self.machine.size_of(ty);
            match index.as_u64() {
                Some(number) => {
                    let number = sign_extended(number, index.ty().int_width().unwrap_or(64));
                    known = known.wrapping_add(number.wrapping_mul(bytes));
                }
                None => {
                    let scalar = Scalar::of(index.ty()).unwrap_or(Scalar::Long);
                    let index = self.operand(*index)?;
                    let index = match scalar {
                        Scalar::Long => low_word(&index),
                        Scalar::Word(32) => index,
                        _ => format!("bitcast<u32>({})", scalar.signed(&index)),
                    };
                    parts.push(if bytes == 1 {
                        index
                    } else {
                        format!("{index} * {}u", bytes as u32)
                    });
                }
            }
        }
        if known as u32 != 0 || parts.is_empty() {
            parts.push(format!("{}u", known as u32));
        }
        Ok(match parts.len() {
            1 => parts.remove(0),
            _ => format!("({})", parts.join(" + ")),
        })
    }
}

fn sign_extended(number: u64, bits: u32) -> u64 {
    let unused = 64 - bits.min(64);
    ((number << unused).cast_signed() >> unused).cast_unsigned()
}
