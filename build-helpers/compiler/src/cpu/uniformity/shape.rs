//! How a value differs from one thread of a group to the next.

use kernelmill_llvm::ir::{Opcode, Type, TypeKind, Value};

/// The shape of a value over the threads of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It grows by this much from each thread to the next, modulo the width of its type; by 0
    /// where it is uniform. Only integers and pointers grow.
    Strided(i64),
    /// Nothing is known.
    Varying,
}

impl Shape {
    /// The same in all threads.
    pub(crate) const UNIFORM: Self = Self::Strided(0);

    /// What is known where a value has one shape or the other.
    pub(crate) fn meet(self, other: Self) -> Self {
        if self == other { self } else { Self::Varying }
    }

    pub(crate) fn is_uniform(self) -> bool {
        self == Self::UNIFORM
    }

    fn new(stride: Option<i64>) -> Self {
        stride.filter(|stride| i32::try_from(*stride).is_ok()).map_or(Self::Varying, Self::Strided)
    }
}

/// LLVM's functions whose result depends on their arguments alone and that exist for vectors.
const PURE: &[&str] = &[
    "sqrt",
    "fabs",
    "fma",
    "fmuladd",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "roundeven",
    "minnum",
    "maxnum",
    "minimum",
    "maximum",
    "minimumnum",
    "maximumnum",
    "copysign",
    "smin",
    "smax",
    "umin",
    "umax",
    "abs",
    "ctpop",
    "ctlz",
    "cttz",
    "bswap",
    "bitreverse",
    "fshl",
    "fshr",
    "uadd.sat",
    "sadd.sat",
    "usub.sat",
    "ssub.sat",
    "uadd.with.overflow",
    "sadd.with.overflow",
    "usub.with.overflow",
    "ssub.with.overflow",
    "umul.with.overflow",
    "smul.with.overflow",
    "fptoui.sat",
    "fptosi.sat",
    "is.fpclass",
    "scmp",
    "ucmp",
];

/// The name of an intrinsic without its types, where it is one of [`PURE`]; with the
/// overloads on the result or its arguments that `llvm.` names carry.
pub(crate) fn is_pure_intrinsic(call: Value<'_>) -> Option<String> {
    let name = call.called_function()?.name();
    let rest = name.strip_prefix("llvm.")?;
    let found = PURE.iter().filter(|pure| {
        rest.strip_prefix(**pure).is_some_and(|types| types.starts_with('.') || types.is_empty())
    });
    found.max_by_key(|pure| pure.len()).map(|pure| format!("llvm.{pure}"))
}

/// The shape that an instruction gives its result; `None` where nothing is known of its operands.
pub(super) fn of<'c>(
    instruction: Value<'c>,
    known: &dyn Fn(Value<'c>) -> Option<Shape>,
    size: &dyn Fn(Type<'c>) -> u64,
) -> Option<Shape> {
    let operands = instruction.operands();
    let mut shapes = Vec::new();
    match instruction.opcode() {
        Opcode::LLVMAlloca
        | Opcode::LLVMAtomicRMW
        | Opcode::LLVMAtomicCmpXchg
        | Opcode::LLVMInvoke => return Some(Shape::Varying),
        Opcode::LLVMCall if is_pure_intrinsic(instruction).is_none() => {
            return Some(Shape::Varying);
        }
        Opcode::LLVMCall => {
            for argument in instruction.arguments() {
                shapes.push(known(argument)?);
            }
        }
        _ => {
            for operand in &operands {
                // Blocks are operands of branches.
                if operand.is_instruction() || !operand.is_block() {
                    shapes.push(known(*operand)?);
                }
            }
        }
    }
    if instruction.opcode() == Opcode::LLVMLoad && instruction.is_exact_access() {
        return Some(Shape::Varying);
    }
    if shapes.iter().all(|shape| shape.is_uniform()) {
        return Some(Shape::UNIFORM);
    }
    let strides: Option<Vec<i64>> = shapes
        .iter()
        .map(|shape| match shape {
            Shape::Strided(stride) => Some(*stride),
            Shape::Varying => None,
        })
        .collect();
    let stride = strides.and_then(|strides| stride(instruction, &operands, &strides, size));
    Some(Shape::new(stride))
}

/// The stride of an instruction's result, from those of its operands.
fn stride<'c>(
    instruction: Value<'c>,
    operands: &[Value<'c>],
    strides: &[i64],
    size: &dyn Fn(Type<'c>) -> u64,
) -> Option<i64> {
    match instruction.opcode() {
        Opcode::LLVMOr if instruction.is_disjoint() => strides[0].checked_add(strides[1]),
        Opcode::LLVMAdd => strides[0].checked_add(strides[1]),
        Opcode::LLVMSub => strides[0].checked_sub(strides[1]),
        Opcode::LLVMMul => match (signed(operands[0]), signed(operands[1])) {
            (Some(factor), _) => strides[1].checked_mul(factor),
            (_, Some(factor)) => strides[0].checked_mul(factor),
            _ => None,
        },
        Opcode::LLVMShl if strides[1] == 0 => {
            let by = operands[1].as_u64().filter(|by| *by < 31)?;
            strides[0].checked_mul(1 << by)
        }
        // Extensions: what computes the value checks that nothing wrapped.
        Opcode::LLVMZExt | Opcode::LLVMSExt if operands[0].ty().int_width()? >= 16 => {
            Some(strides[0])
        }
        Opcode::LLVMTrunc if instruction.ty().int_width()? >= 16 => Some(strides[0]),
        Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr | Opcode::LLVMFreeze
            if instruction.ty().is_pointer() || instruction.ty().int_width()? >= 16 =>
        {
            Some(strides[0])
        }
        Opcode::LLVMGetElementPtr => address(instruction, operands, strides, size),
        _ => None,
    }
}

fn address<'c>(
    instruction: Value<'c>,
    operands: &[Value<'c>],
    strides: &[i64],
    size: &dyn Fn(Type<'c>) -> u64,
) -> Option<i64> {
    let mut ty = instruction.element_type();
    let mut stride = strides[0];
    for (place, (operand, step)) in operands.iter().zip(strides).enumerate().skip(1) {
        if place > 1 {
            ty = match ty.kind() {
                TypeKind::LLVMArrayTypeKind => ty.element(),
                TypeKind::LLVMStructTypeKind => ty.fields()[operand.as_u64()? as usize],
                _ => return None,
            };
        }
        if *step != 0 {
            // Narrower indices are extended, which may wrap.
            if operand.ty().int_width()? != 64 {
                return None;
            }
            let bytes = i64::try_from(size(ty)).ok()?;
            stride = stride.checked_add(step.checked_mul(bytes)?)?;
        }
    }
    Some(stride)
}

/// A constant integer, with its sign.
fn signed(value: Value<'_>) -> Option<i64> {
    let bits = value.ty().int_width().filter(|bits| *bits <= 64)?;
    let shift = 64 - bits;
    Some(((value.as_u64()? << shift) as i64) >> shift)
}
