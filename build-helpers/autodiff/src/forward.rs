//! Forward mode (tangent mode): beside each instruction, the tangent of its result.
//!
//! Source: Griewank and Walther, "Evaluating Derivatives", 2nd edition (2008), section 3.1.

use std::collections::HashMap;

use kernelmill_llvm::ir::{Opcode, Value};

use crate::{
    Activity, Derivative, Error, Mode, Request, TapeLimit,
    analysis::{Analysis, Root, holds_floats, transfer},
    rules::{Emitter, Operand, flows},
    shadow::Shadows,
    signature::return_all,
    unit::Unit,
};

/// Writes the derivative into an empty function. `derive` gives the derivatives of functions that are
/// called.
pub(crate) fn write<'c>(
    unit: &Unit<'_, 'c>,
    request: &Request,
    analysis: &Analysis<'c>,
    new: Value<'c>,
    derive: &dyn Fn(&Request) -> Result<Derivative, Error>,
) -> Result<(), Error> {
    let (shadows, _) = Shadows::new(unit, analysis, request, new);
    let mut forward = Forward { shadows, request, called: HashMap::new() };
    // The derivatives of callees come first, while no function is incomplete.
    for call in analysis.cfg.instructions().filter(|instruction| instruction.is_call()) {
        if forward.calls_derivative(call) {
            let derivative = derive(&forward.request_for(call))?;
            forward.called.insert(call, derivative.symbol);
        }
    }
    for block in forward.shadows.copier.order.clone() {
        forward.shadows.copier.builder.at_end(forward.shadows.copier.blocks[&block]);
        for instruction in block.instructions() {
            forward.instruction(instruction);
        }
    }
    forward.shadows.finish_phis();
    Ok(())
}

struct Forward<'a, 'c> {
    shadows: Shadows<'a, 'c>,
    request: &'a Request,
    /// Calls that become calls of a derivative, with the derivative's symbol.
    called: HashMap<Value<'c>, String>,
}

impl<'c> Forward<'_, 'c> {
    fn instruction(&mut self, instruction: Value<'c>) {
        if instruction.opcode() == Opcode::Ret {
            self.finish(instruction);
            return;
        }
        if let Some(symbol) = self.called.get(&instruction).cloned() {
            self.call(instruction, &symbol);
            return;
        }
        self.shadows.copier.instruction(instruction);
        if !self.shadows.returns(instruction) {
            return;
        }
        let shadows = &mut self.shadows;
        if instruction.ty().is_pointer() {
            if shadows.is_shadowed(instruction) {
                shadows.pointer(instruction);
            }
            return;
        }
        match instruction.opcode() {
            Opcode::Store if shadows.is_shadowed(instruction.operand(1)) => {
                let value = instruction.operand(0);
                if holds_floats(value.ty()) || value.ty().is_pointer() {
                    let builder = &shadows.copier.builder;
                    let at = shadows.of(instruction.operand(1));
                    builder.store(shadows.of(value), at).set_alignment(instruction.alignment());
                }
            }
            Opcode::Call
                if transfer(instruction).is_some()
                    && shadows.is_shadowed(instruction.operand(0)) =>
            {
                shadows.transfer(instruction);
            }
            _ if shadows.analysis.activities.is_active(instruction) => self.tangent(instruction),
            _ => {}
        }
    }

    /// Whether a call becomes a call of a derivative.
    fn calls_derivative(&self, call: Value<'c>) -> bool {
        let shadows = &self.shadows;
        let defined = call.called_function().is_some_and(|callee| !callee.is_declaration());
        let carries = |value: &Value<'c>| {
            shadows.analysis.activities.is_varied(*value)
                || value.ty().is_pointer() && shadows.is_shadowed(*value)
        };
        defined
            && shadows.returns(call)
            && flows(shadows.unit.rules, call).is_none()
            && call.arguments().iter().any(carries)
    }

    fn activity_of(&self, argument: Value<'c>) -> Activity {
        if argument.ty().is_pointer() && self.shadows.is_shadowed(argument) {
            Activity::Duplicated
        } else if self.shadows.analysis.activities.is_varied(argument) {
            Activity::Active
        } else {
            Activity::Constant
        }
    }

    /// The request for the derivative of a call's function.
    fn request_for(&self, call: Value<'c>) -> Request {
        let arguments = call.arguments().into_iter();
        Request {
            function: call.called_function().map(Value::name).unwrap_or_default(),
            mode: Mode::Forward,
            activities: arguments.map(|argument| self.activity_of(argument)).collect(),
            keep_result: true,
            distinct_pointers: self.request.distinct_pointers,
            plain_shadows: self.request.plain_shadows && self.passes_memory(call),
            tape: TapeLimit::Local(0),
        }
    }

    /// Whether a call passes memory with a shadow that is not the function's own.
    fn passes_memory(&self, call: Value<'c>) -> bool {
        let memory = &self.shadows.analysis.memory;
        let is_own = |argument: &Value<'c>| {
            memory.roots(*argument).iter().all(|root| matches!(root, Root::Slot(_)))
        };
        let mut pointers = call.arguments().into_iter().filter(|it| it.ty().is_pointer());
        pointers.any(|argument| self.shadows.is_shadowed(argument) && !is_own(&argument))
    }

    /// Calls a derivative instead of the function.
    fn call(&mut self, call: Value<'c>, symbol: &str) {
        let mut arguments = Vec::new();
        for argument in call.arguments() {
            arguments.push(self.shadows.copier.value(argument));
            if self.activity_of(argument) != Activity::Constant {
                arguments.push(self.shadows.of(argument));
            }
        }
        let shadows = &mut self.shadows;
        let function = shadows.unit.function(symbol);
        let builder = &shadows.copier.builder;
        let result = builder.call(function, &arguments);
        if holds_floats(call.ty()) {
            let (value, tangent) = (builder.extract(result, 0), builder.extract(result, 1));
            shadows.copier.values.insert(call, value);
            shadows.shadows.insert(call, tangent);
        } else {
            shadows.copier.values.insert(call, result);
        }
    }

    /// Writes the tangent of a number.
    fn tangent(&mut self, instruction: Value<'c>) {
        let shadows = &mut self.shadows;
        if flows(shadows.unit.rules, instruction).is_some() {
            self.by_rule(instruction);
            return;
        }
        let builder = &shadows.copier.builder;
        let tangent = match instruction.opcode() {
            Opcode::Phi => {
                shadows.phi(instruction);
                return;
            }
            Opcode::Load => {
                let tangent = builder.load(instruction.ty(), shadows.of(instruction.operand(0)));
                tangent.set_alignment(instruction.alignment());
                tangent
            }
            Opcode::Select => builder.select(
                shadows.copier.value(instruction.operand(0)),
                shadows.of(instruction.operand(1)),
                shadows.of(instruction.operand(2)),
            ),
            // Linear operations: the same operation on the tangents of the operands.
            _ => {
                let copy = builder.copy(shadows.copier.values[&instruction]);
                for (index, operand) in instruction.operands().into_iter().enumerate() {
                    if holds_floats(operand.ty()) {
                        copy.set_operand(index as u32, shadows.of(operand));
                    }
                }
                copy
            }
        };
        shadows.shadows.insert(instruction, tangent);
    }

    /// The tangent of a quotient `f = x / y`, by one division: `(dx - f * dy) / y`.
    fn quotient(&mut self, division: Value<'c>) {
        let shadows = &mut self.shadows;
        let [x, y] = [0, 1].map(|index| division.operand(index));
        let is_varied = |value| shadows.analysis.activities.is_varied(value);
        let (of_x, of_y) = (is_varied(x), is_varied(y));
        let result = shadows.copier.values[&division];
        let above = if of_y {
            let product = shadows.copier.builder.binary(Opcode::FMul, result, shadows.of(y));
            if of_x {
                let change = shadows.of(x);
                shadows.copier.builder.binary(Opcode::FSub, change, product)
            } else {
                shadows.copier.builder.negate_float(product)
            }
        } else {
            shadows.of(x)
        };
        let below = shadows.copier.value(y);
        let change = shadows.copier.builder.binary(Opcode::FDiv, above, below);
        shadows.shadows.insert(division, change);
    }

    /// The sum of the operands' tangents times the partial derivatives of the rule.
    fn by_rule(&mut self, instruction: Value<'c>) {
        if instruction.opcode() == Opcode::FDiv {
            return self.quotient(instruction);
        }
        let shadows = &mut self.shadows;
        let Some(flows) = flows(shadows.unit.rules, instruction) else { return };
        let emitter = Emitter {
            context: shadows.unit.context,
            module: shadows.unit.module,
            builder: &shadows.copier.builder,
            ty: instruction.ty(),
        };
        let result = shadows.copier.values[&instruction];
        let mut source = |operand| match operand {
            Operand::Argument(index) => shadows.copier.value(instruction.operand(index)),
            Operand::Result => result,
        };
        let arguments = flows.len() as u32;
        let mut sum: Option<Value<'c>> = None;
        for (index, flow) in flows.iter().enumerate() {
            let operand = instruction.operand(index as u32);
            if !shadows.analysis.activities.is_varied(operand) {
                continue;
            }
            let change = shadows.of(operand);
            let Some(term) = emitter.flow(flow, change, arguments, &mut source) else { continue };
            sum = Some(match sum {
                Some(sum) => shadows.copier.builder.binary(Opcode::FAdd, sum, term),
                None => term,
            });
        }
        if let Some(sum) = sum {
            shadows.shadows.insert(instruction, sum);
        }
    }

    /// Writes the return of the result and its tangent.
    fn finish(&mut self, ret: Value<'c>) {
        let shadows = &self.shadows;
        let mut results = Vec::new();
        if let [value] = ret.operands()[..] {
            if self.request.keep_result {
                results.push(shadows.copier.value(value));
            }
            if holds_floats(value.ty()) {
                results.push(shadows.of(value));
            }
        }
        return_all(shadows.unit.context, &shadows.copier.builder, &results);
    }
}
