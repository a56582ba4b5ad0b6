//! Emission: expressions of the rules as instructions.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, FloatPredicate, IntPredicate, ModuleExt, Opcode, Place, Type, TypeKind, Value},
};

use super::{
    expression::{Comparison, Condition, Expression, Partial},
    lookup::Flow,
    names::MATH_PREFIX,
    table::FUNCTIONS,
};

/// An operand or the result of the operation that is differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    Argument(u32),
    Result,
}

/// Writes expressions at its builder's position.
pub(crate) struct Emitter<'a, 'c> {
    pub(crate) context: &'c Context,
    pub(crate) module: &'a Module<'c>,
    pub(crate) builder: &'a Builder<'c>,
    /// The type of the operation's result.
    pub(crate) ty: Type<'c>,
}

/// Gives the values of operands and result.
type Source<'s, 'c> = &'s mut dyn FnMut(Operand) -> Value<'c>;

impl<'c> Emitter<'_, 'c> {
    /// A tangent or adjoint times a partial derivative; `None` for zero. `arguments` is the number of
    /// the operation's operands.
    pub(crate) fn flow(
        &self,
        flow: &Flow<'_>,
        change: Value<'c>,
        arguments: u32,
        source: Source<'_, 'c>,
    ) -> Option<Value<'c>> {
        match flow {
            Flow::Partial(Partial::Zero) | Flow::Custom("") => None,
            Flow::Partial(Partial::One) => Some(change),
            Flow::Partial(Partial::MinusOne) => Some(self.builder.negate_float(change)),
            Flow::Partial(Partial::Times(factor)) => {
                let factor = self.expression(factor, source);
                Some(self.builder.binary(Opcode::FMul, change, factor))
            }
            Flow::Partial(Partial::When(condition)) => {
                let holds = self.condition(condition, source);
                Some(self.builder.select(holds, change, self.ty.null()))
            }
            Flow::Custom(name) => {
                let values: Vec<_> =
                    (0..arguments).map(|index| source(Operand::Argument(index))).collect();
                let function = self.module.function(name)?;
                let factor = self.builder.call(function, &values);
                Some(self.builder.binary(Opcode::FMul, change, factor))
            }
        }
    }

    fn expression(&self, expression: &Expression, source: Source<'_, 'c>) -> Value<'c> {
        let mut pair = |opcode, left, right| {
            let (left, right) = (self.expression(left, source), self.expression(right, source));
            self.builder.binary(opcode, left, right)
        };
        match *expression {
            Expression::Argument(index) => source(Operand::Argument(index)),
            Expression::Result => source(Operand::Result),
            Expression::Number(value) => self.ty.float_constant(value),
            Expression::Negate(value) => self.builder.negate_float(self.expression(value, source)),
            Expression::Add(left, right) => pair(Opcode::FAdd, left, right),
            Expression::Subtract(left, right) => pair(Opcode::FSub, left, right),
            Expression::Multiply(left, right) => pair(Opcode::FMul, left, right),
            Expression::Divide(left, right) => pair(Opcode::FDiv, left, right),
            Expression::Call(name, arguments) => {
                let values: Vec<_> =
                    arguments.iter().map(|argument| self.expression(argument, source)).collect();
                self.call(name, &values)
            }
            Expression::Where(ref condition, yes, no) => {
                let holds = self.condition(condition, source);
                let (yes, no) = (self.expression(yes, source), self.expression(no, source));
                self.builder.select(holds, yes, no)
            }
            Expression::PowerRule => self.power_rule(source),
        }
    }

    fn condition(&self, condition: &Condition, source: Source<'_, 'c>) -> Value<'c> {
        let left = self.expression(condition.left, source);
        let right = self.expression(condition.right, source);
        let predicate = match condition.comparison {
            Comparison::Greater => FloatPredicate::Ogt,
            Comparison::AtMost => FloatPredicate::Ole,
            Comparison::NotAtMost => FloatPredicate::Ugt,
            Comparison::AtLeast => FloatPredicate::Oge,
            Comparison::NotAtLeast => FloatPredicate::Ult,
        };
        self.builder.compare_floats(predicate, left, right)
    }

    /// `n * x^(n-1)`, and 0 for an exponent of 0 whatever `x` is.
    fn power_rule(&self, source: Source<'_, 'c>) -> Value<'c> {
        let (x, n) = (source(Operand::Argument(0)), source(Operand::Argument(1)));
        let lower = self.builder.binary(Opcode::Sub, n, n.ty().constant(1));
        let function = self.module.intrinsic("llvm.powi", &[self.ty, n.ty()]);
        let power = self.builder.call(function, &[x, lower]);
        let factor = self.builder.cast(Opcode::SIToFP, n, self.ty);
        let product = self.builder.binary(Opcode::FMul, factor, power);
        let is_zero = self.builder.compare(IntPredicate::Eq, n, n.ty().constant(0));
        self.builder.select(is_zero, self.ty.null(), product)
    }

    /// Calls a function of the table.
    fn call(&self, name: &str, values: &[Value<'c>]) -> Value<'c> {
        let rule = FUNCTIONS.iter().find(|rule| rule.name == name);
        let rule = rule.unwrap_or_else(|| panic!("the table of rules has no function {name}"));
        if let Some(intrinsic) = rule.intrinsic {
            return self.builder.call(self.module.intrinsic(intrinsic, &[self.ty]), values);
        }
        let ty = match self.ty.kind() {
            TypeKind::Float => "f32",
            _ => "f64",
        };
        let parameters: Vec<_> = values.iter().map(|value| value.ty()).collect();
        let symbol = format!("{MATH_PREFIX}{name}_{ty}");
        let function = self.module.declare(&symbol, self.ty.function(&parameters));
        let call = self.builder.call(function, values);
        mark_pure(self.context, call);
        call
    }
}

/// Marks a call as pure, so that LLVM removes it where its result is not used.
pub(crate) fn mark_pure<'c>(context: &'c Context, call: Value<'c>) {
    /// LLVM's number for `memory(none)`.
    const NONE: u64 = 0;
    call.add_attribute(context, Place::Function, "memory", NONE);
    for name in ["nounwind", "willreturn"] {
        call.add_attribute(context, Place::Function, name, 0);
    }
    call.remove_attribute(Place::Function, "convergent");
}
