//! Reductions of vectors, as LLVM's optimiser makes them of loops over a few elements: as operations on the elements.
//!
//! Needs: optimised functions. Guarantees: no reduction of a vector, and no comparison of as many bits as a vector has
//! conditions, where those are no integer that SPIR-V has, `bitcast <4 x i1> %v to i4`.

use kernelmill_llvm::{
    inkwell::{context::Context, module::Module},
    ir::{Builder, IntPredicate, ModuleExt, Opcode, Type, TypeKind, Value},
};

/// What the names of reductions begin with.
const REDUCE: &str = "llvm.vector.reduce.";

/// Expands reductions and the comparisons of conditions.
pub(super) fn expand<'c>(context: &'c Context, module: &Module<'c>) {
    let builder = Builder::new(context);
    for function in module.definitions() {
        for call in function.calls() {
            let name = call.called_function().map(Value::name).unwrap_or_default();
            if let Some(reduction) = name.strip_prefix(REDUCE).and_then(Reduction::of) {
                builder.before(call);
                call.replace_with(reduction.build(context, &builder, call));
                call.erase();
            }
        }
        for cast in function.instructions().into_iter().filter(|it| is_compared(*it)) {
            builder.before(cast);
            let number = number(context, &builder, cast.operand(0));
            for comparison in cast.users() {
                builder.before(comparison);
                let sides = [0, 1].map(|it| match comparison.operand(it) {
                    side if side == cast => number,
                    constant => builder.zero_extend(constant, number.ty()),
                });
                let [left, right] = sides;
                let result = builder.compare(comparison.int_predicate(), left, right);
                comparison.replace_with(result);
                comparison.erase();
            }
            cast.erase();
        }
    }
}

/// How two elements become one.
enum Reduction {
    Integers(Opcode),
    /// The one for which a comparison with the other holds.
    Chosen(IntPredicate),
    /// In the order of the elements, after a first number, which is an operand.
    Floats(Opcode),
}

impl Reduction {
    fn of(name: &str) -> Option<Self> {
        let (kind, _) = name.split_once('.')?;
        Some(match kind {
            "add" => Self::Integers(Opcode::Add),
            "mul" => Self::Integers(Opcode::Mul),
            "and" => Self::Integers(Opcode::And),
            "or" => Self::Integers(Opcode::Or),
            "xor" => Self::Integers(Opcode::Xor),
            "smin" => Self::Chosen(IntPredicate::Slt),
            "smax" => Self::Chosen(IntPredicate::Sgt),
            "umin" => Self::Chosen(IntPredicate::Ult),
            "umax" => Self::Chosen(IntPredicate::Ugt),
            "fadd" => Self::Floats(Opcode::FAdd),
            "fmul" => Self::Floats(Opcode::FMul),
            _ => return None,
        })
    }

    fn build<'c>(&self, context: &'c Context, builder: &Builder<'c>, call: Value<'c>) -> Value<'c> {
        let (first, vector) = match self {
            Self::Floats(_) => (Some(call.operand(0)), call.operand(1)),
            _ => (None, call.operand(0)),
        };
        let lanes = vector.ty().lanes().unwrap_or_default();
        let lane = |at: u32| Type::int(context, 32).constant(u64::from(at));
        let elements = (0..lanes).map(|at| builder.lane(vector, lane(at)));
        let join = |one: Value<'c>, other: Value<'c>| match *self {
            Self::Integers(opcode) | Self::Floats(opcode) => builder.binary(opcode, one, other),
            Self::Chosen(predicate) => {
                builder.select(builder.compare(predicate, one, other), one, other)
            }
        };
        let all = first.into_iter().chain(elements);
        all.reduce(join).unwrap_or_else(|| call.ty().poison())
    }
}

/// Whether an instruction makes an integer of conditions that is only compared with constants, without a sign.
fn is_compared(cast: Value<'_>) -> bool {
    let is_cast = cast.opcode() == Opcode::BitCast
        && matches!(cast.ty().int_width(), Some(bits) if bits < 32 && !matches!(bits, 1 | 8 | 16))
        && cast.operand(0).ty().kind() == TypeKind::Vector;
    let is_comparison = |user: Value<'_>| {
        use IntPredicate::{Sge, Sgt, Sle, Slt};
        user.opcode() == Opcode::ICmp
            && user.operands().into_iter().all(|it| it == cast || it.as_u64().is_some())
            && !matches!(user.int_predicate(), Slt | Sle | Sgt | Sge)
    };
    is_cast && cast.operand(0).ty().element().is_int(1) && {
        let users = cast.users();
        users.into_iter().all(is_comparison)
    }
}

/// The number whose bits are the conditions of a vector, the first the lowest.
fn number<'c>(context: &'c Context, builder: &Builder<'c>, conditions: Value<'c>) -> Value<'c> {
    let word = Type::int(context, 32);
    let lanes = conditions.ty().lanes().unwrap_or_default();
    (0..lanes).fold(word.null(), |number, lane| {
        let condition = builder.lane(conditions, word.constant(u64::from(lane)));
        let bit = builder.zero_extend(condition, word);
        let bit = builder.binary(Opcode::Shl, bit, word.constant(u64::from(lane)));
        builder.binary(Opcode::Or, number, bit)
    })
}
