//! How a value differs from one thread of a vector to the next.

use std::collections::HashSet;

use kernelmill_llvm::ir::{IntPredicate, Opcode, Type, TypeKind, Value};

use super::bits::{Bits, all, bits};

/// The shape of a value over the threads of a vector.
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

/// What shapes are found from.
pub(super) struct Known<'a, 'c> {
    /// The shape of an operand; `None` where nothing is known yet.
    pub(super) shape: &'a dyn Fn(Value<'c>) -> Option<Shape>,
    /// What is known of the bits of a number from outside.
    pub(super) bits: &'a dyn Fn(Value<'c>) -> Option<Bits>,
    /// The bytes of a type in memory.
    pub(super) size: &'a dyn Fn(Type<'c>) -> u64,
    /// As [`Asked`](super::Asked) has it.
    pub(super) element: &'a dyn Fn(Value<'c>) -> Option<u64>,
    /// The threads of a vector.
    pub(super) lanes: u32,
}

/// The shape that an instruction gives its result; `None` where nothing is known of its operands.
pub(super) fn of<'c>(instruction: Value<'c>, known: &Known<'_, 'c>) -> Option<Shape> {
    let operands = instruction.operands();
    let mut shapes = Vec::new();
    match instruction.opcode() {
        Opcode::Alloca => {
            let element = (known.element)(instruction).and_then(|bytes| i64::try_from(bytes).ok());
            return Some(Shape::new(element));
        }
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg | Opcode::Invoke => {
            return Some(Shape::Varying);
        }
        Opcode::Call if is_pure_intrinsic(instruction).is_none() => {
            return Some(Shape::Varying);
        }
        Opcode::Call => {
            for argument in instruction.arguments() {
                shapes.push((known.shape)(argument)?);
            }
        }
        _ => {
            for operand in &operands {
                // Blocks are operands of branches.
                if operand.is_instruction() || !operand.is_block() {
                    shapes.push((known.shape)(*operand)?);
                }
            }
        }
    }
    if instruction.opcode() == Opcode::Load && instruction.is_exact_access() {
        return Some(Shape::Varying);
    }
    if shapes.iter().all(|shape| shape.is_uniform()) {
        return Some(Shape::UNIFORM);
    }
    if instruction.opcode() == Opcode::Select {
        return Some(chosen(&shapes));
    }
    if let (Opcode::Add, &[Shape::Strided(stride), Shape::Varying]) =
        (instruction.opcode(), &shapes[..])
        && known.chosen_offset(instruction).is_some()
        && stride != 0
    {
        return Some(Shape::Strided(stride));
    }
    let strides: Option<Vec<i64>> = shapes
        .iter()
        .map(|shape| match shape {
            Shape::Strided(stride) => Some(*stride),
            Shape::Varying => None,
        })
        .collect();
    let stride = strides.and_then(|strides| known.stride(instruction, &operands, &strides));
    // What is uniform has nothing else to be where a stride does not hold.
    let stride = stride
        .filter(|stride| *stride != 0 || !operands.iter().any(|operand| known.is_unsure(*operand)));
    Some(Shape::new(stride))
}

/// The shape of a `select`: that of two numbers or addresses with one stride, as those of a neighbour and of the element
/// itself at a border. Unless the condition is uniform, what computes the value checks that all threads choose the same.
fn chosen(shapes: &[Shape]) -> Shape {
    match *shapes {
        [_, Shape::Strided(one), Shape::Strided(other)] if one == other && one != 0 => {
            Shape::Strided(one)
        }
        _ => Shape::Varying,
    }
}

impl<'c> Known<'_, 'c> {
    /// The stride of an instruction's result, from those of its operands.
    fn stride(
        &self,
        instruction: Value<'c>,
        operands: &[Value<'c>],
        strides: &[i64],
    ) -> Option<i64> {
        match instruction.opcode() {
            Opcode::Or if instruction.is_disjoint() => strides[0].checked_add(strides[1]),
            Opcode::And | Opcode::Or | Opcode::Xor => self.masked(instruction, strides),
            Opcode::LShr => {
                let low = self.low_bits(operands[0], strides[0])?;
                (operands[1].as_u64()? >= u64::from(low.count_ones())).then_some(0)
            }
            Opcode::ICmp => self.compared(instruction, strides),
            Opcode::Add => strides[0].checked_add(strides[1]),
            Opcode::Sub => strides[0].checked_sub(strides[1]),
            Opcode::Mul => match (signed(operands[0]), signed(operands[1])) {
                (Some(factor), _) => strides[1].checked_mul(factor),
                (_, Some(factor)) => strides[0].checked_mul(factor),
                _ => None,
            },
            Opcode::Shl if strides[1] == 0 => {
                let by = operands[1].as_u64().filter(|by| *by < 31)?;
                strides[0].checked_mul(1 << by)
            }
            // Extensions: what computes the value checks that nothing wrapped.
            Opcode::ZExt | Opcode::SExt if operands[0].ty().int_width()? >= 16 => Some(strides[0]),
            Opcode::Trunc if instruction.ty().int_width()? >= 16 => Some(strides[0]),
            Opcode::PtrToInt | Opcode::IntToPtr | Opcode::Freeze
                if instruction.ty().is_pointer() || instruction.ty().int_width()? >= 16 =>
            {
                Some(strides[0])
            }
            // Indices there count elements of all lanes.
            Opcode::GetElementPtr if (self.element)(instruction).is_some() => {
                strides[1..].iter().all(|stride| *stride == 0).then_some(strides[0])
            }
            Opcode::GetElementPtr => address(instruction, operands, strides, self.size),
            Opcode::Call => self.clamped(instruction, strides),
            _ => None,
        }
    }

    /// The condition by which threads add one uniform number or another, as LLVM writes a choice between two neighbours.
    fn chosen_offset(&self, add: Value<'c>) -> Option<Value<'c>> {
        let offset = add.operand(1);
        if !offset.is_instruction() {
            return None;
        }
        let is_uniform = |value| (self.shape)(value).is_some_and(Shape::is_uniform);
        let condition = offset.operand(0);
        match offset.opcode() {
            Opcode::Select if is_uniform(offset.operand(1)) && is_uniform(offset.operand(2)) => {
                Some(condition)
            }
            Opcode::SExt | Opcode::ZExt if condition.ty().is_int(1) => Some(condition),
            _ => None,
        }
    }

    /// The stride of the larger or smaller of a strided number and a uniform one, as in the index of a neighbour that
    /// is kept within an image. What computes the value checks that it is the strided one in the whole vector.
    fn clamped(&self, call: Value<'c>, strides: &[i64]) -> Option<i64> {
        clamp_predicate(call)?;
        let &([stride, 0] | [0, stride]) = strides else { return None };
        self.way(stride)?;
        (call.ty().int_width()? >= 32).then_some(stride)
    }

    /// How much larger a number is in the last thread of a vector than in the first, where it grows.
    fn way(&self, stride: i64) -> Option<u64> {
        u64::try_from(stride).ok()?.checked_mul(u64::from(self.lanes.checked_sub(1)?))
    }

    /// The lowest bits in which the threads of a vector differ, as a number with all of them, where the
    /// first thread has none of them.
    fn changing_bits(&self, stride: i64) -> Option<u64> {
        Some(self.way(stride)?.checked_add(1)?.checked_next_power_of_two()? - 1)
    }

    /// The same where a strided value is known to have none of them in the first thread.
    fn low_bits(&self, value: Value<'c>, stride: i64) -> Option<u64> {
        let low = self.changing_bits(stride)?;
        (low.count_ones() <= self.bits_of(value)?.zeros).then_some(low)
    }

    /// What is known of a number where the strides hold that it is computed from.
    fn bits_of(&self, value: Value<'c>) -> Option<Bits> {
        bits(value, &|value| {
            let flips = value.is_instruction()
                && value.opcode() == Opcode::Xor
                && self.is_checked_flip(value);
            let strided = flips.then(|| value.operands().into_iter().find(|it| self.grows(*it)));
            match strided {
                // Where it holds, neither the first thread nor the mask has any of the lowest bits.
                Some(Some(inner)) => {
                    let Some(Shape::Strided(stride)) = (self.shape)(inner) else { return None };
                    let zeros = self.changing_bits(stride)?.count_ones();
                    Some(Bits { zeros, most: all(value.ty().int_width()?) })
                }
                _ => (self.bits)(value),
            }
        })
    }

    /// Whether a value is strided and not uniform.
    fn grows(&self, value: Value<'c>) -> bool {
        matches!((self.shape)(value), Some(Shape::Strided(stride)) if stride != 0)
    }

    /// Whether one operand of an `and` or `xor` grows and nothing is known of the other.
    fn has_unknown_mask(&self, instruction: Value<'c>) -> bool {
        let operands = instruction.operands();
        operands.iter().filter(|it| self.grows(**it)).count() == 1
            && operands.iter().all(|mask| mask.as_u64().is_none())
    }

    /// The stride of an `and`, `or` or `xor` with one strided operand: that of the operand where all of
    /// the lowest bits stay as they are; none are left where an `and` takes them all.
    fn masked(&self, instruction: Value<'c>, strides: &[i64]) -> Option<i64> {
        let (left, right) = (instruction.operand(0), instruction.operand(1));
        let (value, mask, stride) = match strides {
            [stride, 0] => (left, right, *stride),
            [0, stride] => (right, left, *stride),
            _ => return None,
        };
        let is_and = instruction.opcode() == Opcode::And;
        let is_wide = value.ty().int_width()? >= 16;
        let Some(low) = self.low_bits(value, stride) else {
            // What computes the value checks that the first thread and the mask have none of the bits.
            if instruction.opcode() == Opcode::Xor {
                let low = self.changing_bits(stride)?;
                let may_hold = mask.as_u64().is_none_or(|mask| mask & low == 0);
                return (is_wide && may_hold).then_some(stride);
            }
            // A remainder of a power of two: what computes the value checks that it does not start
            // again within the vector.
            let mask = mask.as_u64().filter(|mask| is_and && is_wide && mask & (mask + 1) == 0)?;
            return (self.way(stride)? <= mask).then_some(stride);
        };
        match mask.as_u64().map(|mask| mask & low) {
            Some(kept) if kept == if is_and { low } else { 0 } => Some(stride),
            Some(0) if is_and => Some(0),
            Some(_) => None,
            None if instruction.opcode() == Opcode::Or => {
                (self.bits_of(mask)?.zeros >= low.count_ones()).then_some(stride)
            }
            // What computes the value checks it.
            None => is_wide.then_some(stride),
        }
    }

    /// Whether a `xor` with a uniform mask is strided only where the mask and the first thread have none of the bits in
    /// which the threads differ, and nothing is known of one of them.
    fn is_checked_flip(&self, instruction: Value<'c>) -> bool {
        let operands = instruction.operands();
        let grows = operands.iter().copied().find(|it| self.grows(*it));
        let aligned = grows.and_then(|value| match (self.shape)(value) {
            Some(Shape::Strided(stride)) => self.low_bits(value, stride),
            _ => None,
        });
        self.has_unknown_mask(instruction) || aligned.is_none()
    }

    /// A comparison of a strided number with a uniform one that is the same for the whole vector.
    fn compared(&self, instruction: Value<'c>, strides: &[i64]) -> Option<i64> {
        use IntPredicate::{Uge, Ugt, Ule, Ult};
        let &[stride, 0] = strides else { return None };
        let (value, limit) = (instruction.operand(0), instruction.operand(1));
        let low = self.low_bits(value, stride)?;
        let aligned = match (instruction.int_predicate(), limit.as_u64()) {
            (Ult | Uge, _) => self.bits_of(limit)?.zeros >= low.count_ones(),
            (Ugt | Ule, Some(limit)) => limit & low == low,
            _ => false,
        };
        aligned.then_some(0)
    }

    /// Whether an instruction's stride is only right where what computes it has checked that: an
    /// extension may have wrapped, and what is not known of a mask may take bits that differ.
    pub(super) fn is_checked(&self, instruction: Value<'c>) -> bool {
        if !instruction.is_instruction() || !self.grows(instruction) {
            return false;
        }
        match instruction.opcode() {
            Opcode::ZExt | Opcode::SExt => self.may_wrap(instruction.operand(0)),
            Opcode::Xor => self.is_checked_flip(instruction),
            Opcode::Call => clamp_predicate(instruction).is_some(),
            Opcode::Add => (self.shape)(instruction.operand(1)) == Some(Shape::Varying),
            Opcode::Select => {
                let condition = (self.shape)(instruction.operand(0));
                condition.is_none_or(|shape| !shape.is_uniform())
            }
            Opcode::And => {
                let grows = instruction.operands().into_iter().find(|it| self.grows(*it));
                let stride = grows.map(|value| (value, (self.shape)(value)));
                let Some((value, Some(Shape::Strided(stride)))) = stride else { return true };
                self.has_unknown_mask(instruction) || self.low_bits(value, stride).is_none()
            }
            _ => false,
        }
    }

    /// Whether a strided number may wrap from one thread of a vector to the next.
    fn may_wrap(&self, value: Value<'c>) -> bool {
        let Some(Shape::Strided(stride)) = (self.shape)(value) else { return true };
        let Some(found) = self.bits_of(value) else { return true };
        let half = all(value.ty().int_width().unwrap_or(1) - 1);
        found.most > half || stride.unsigned_abs() > half
    }

    /// Whether a value is computed from one whose stride may not hold.
    pub(super) fn is_unsure(&self, value: Value<'c>) -> bool {
        let (mut seen, mut work) = (HashSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            let strided = value.is_instruction() && self.grows(value);
            if !strided || !seen.insert(value) {
                continue;
            }
            if self.is_checked(value) {
                return true;
            }
            work.extend(value.operands());
        }
        false
    }
}

/// Whether a strided value that is checked is one of two, which one being known where it is computed alone.
pub(crate) fn is_choice(value: Value<'_>) -> bool {
    value.is_call() || matches!(value.opcode(), Opcode::Select | Opcode::Add)
}

/// How the result of `llvm.smax` and the like compares with the operand that it is not: the result is the first one
/// where that compares so with the second.
pub(crate) fn clamp_predicate(call: Value<'_>) -> Option<IntPredicate> {
    match &*is_pure_intrinsic(call)? {
        "llvm.smax" => Some(IntPredicate::Sge),
        "llvm.smin" => Some(IntPredicate::Sle),
        "llvm.umax" => Some(IntPredicate::Uge),
        "llvm.umin" => Some(IntPredicate::Ule),
        _ => None,
    }
}

/// The bits of a `xor`'s or an `and`'s uniform operand that have to be as they are in `want` for its
/// stride to hold, and `want`.
pub(crate) fn wanted_bits(opcode: Opcode, stride: i64, lanes: u32) -> (u64, u64) {
    let way = stride.unsigned_abs() * u64::from(lanes - 1);
    let low = (way + 1).next_power_of_two() - 1;
    (low, if opcode == Opcode::And { low } else { 0 })
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
                TypeKind::Array => ty.element(),
                TypeKind::Struct => ty.fields()[operand.as_u64()? as usize],
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
