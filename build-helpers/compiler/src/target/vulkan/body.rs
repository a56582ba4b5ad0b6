//! The body of a kernel in WGSL: the tree of its control flow, and the names of its values.

use kernelmill_llvm::ir::{Opcode, Value};

use super::{
    kernel::{Kernel, Problem},
    scalars::Scalar,
    structure::Node,
};

impl<'c> Kernel<'_, 'c> {
    pub(super) fn nodes(&mut self, nodes: &[Node], problems: &mut Vec<(Value<'c>, Problem)>) {
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
    pub(super) fn gives(&self, node: &Node) -> bool {
        let Node::Edge(_, to) = node else { return false };
        let first = self.structure.blocks[*to].instructions().into_iter().next();
        first.is_some_and(|it| it.opcode() == Opcode::Phi)
    }

    pub(super) fn block(&mut self, block: usize, problems: &mut Vec<(Value<'c>, Problem)>) {
        for instruction in self.structure.blocks[block].instructions() {
            if let Err(problem) = self.instruction(instruction) {
                problems.push((instruction, problem));
                // What uses it is no problem of its own.
                self.names.insert(instruction, "unknown".to_owned());
            }
        }
    }

    /// Gives the phis of a block their values, all at once.
    pub(super) fn edge(
        &mut self,
        from: usize,
        to: usize,
        problems: &mut Vec<(Value<'c>, Problem)>,
    ) {
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
            if let Some(name) = self.incoming_tags.get(&phi).cloned() {
                given.push((name, self.tag(value)));
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
    pub(super) fn keep_variable(&mut self, expression: &str) -> String {
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
        // A name that there is, is of the same instruction for another memory.
        if let Some(name) = self.names.get(&instruction) {
            let line = format!("{name} = {expression};");
            return self.line(&line);
        }
        let name = self.named(instruction, scalar.wgsl(), expression);
        self.names.insert(instruction, name);
    }

    /// A new name for a value that an instruction has.
    pub(super) fn named(&mut self, instruction: Value<'c>, ty: &str, expression: &str) -> String {
        let name = self.new_name("v");
        match self.hoisted.contains(&instruction) {
            true => {
                self.local(&name, ty);
                self.line(&format!("{name} = {expression};"));
            }
            false => self.line(&format!("let {name} = {expression};")),
        }
        name
    }

    /// Names the fields of the value of an instruction.
    pub(super) fn define_fields(&mut self, instruction: Value<'c>, fields: &[(Scalar, String)]) {
        let known = self.names.get(&instruction).cloned();
        let name = known.clone().unwrap_or_else(|| self.new_name("v"));
        for (index, (scalar, expression)) in fields.iter().enumerate() {
            if known.is_none() {
                self.local(&format!("{name}_{index}"), scalar.wgsl());
            }
            self.line(&format!("{name}_{index} = {expression};"));
        }
        self.names.insert(instruction, name);
    }

    /// A field of a value.
    pub(super) fn field(&self, value: Value<'c>, index: u32) -> Result<String, Problem> {
        let name = self.names.get(&value);
        let name = name.ok_or_else(|| Problem::new("uses a struct as one value"))?;
        Ok(format!("{name}_{index}"))
    }
}
