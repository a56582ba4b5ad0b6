//! Blocks with affine values, built twice: once for vectors in which quotients and remainders are affine, of which scalar code
//! computes the first lane and by how much the lanes differ, and once for any vector, as without. Loop versioning
//! ([LLVM](https://llvm.org/docs/Vectorizers.html#runtime-checks-of-pointers)) at the level of blocks and vectors.
//!
//! Needs: [`Affine`](super::super::analysis::affine::Affine). Guarantees: the same results. A quotient is computed in doubles, which
//! no processor traps on, so that it does not matter whether the first lane is there; where its divisor is zero or it is not
//! exact, and where a multiple of the divisor lies within the vector, control goes on to the other version, and nothing that
//! others can see has been done.

use kernelmill_llvm::ir::{Block, IntPredicate, Opcode, Type, Value};

use super::{
    super::layout::vector_value::VectorValue,
    code::{AffineSlots, Code, Mask, Slots},
    emitter::Emitter,
    reciprocal::{LIMIT, Reciprocal, is_quotient, is_signed},
    values::Values,
};
use crate::ScalarReason;

/// The first lane of a value, and how much it grows from lane to lane: of an address, in bytes.
#[derive(Clone, Copy)]
struct Line<'c> {
    first: Value<'c>,
    slope: Value<'c>,
}

impl<'c> Line<'c> {
    fn held(self) -> VectorValue<'c> {
        VectorValue { slope: Some(self.slope), ..VectorValue::uniform(self.first) }
    }
}

/// The largest slope of 64 bits that quotients are looked at for.
const SLOPE: u64 = 1 << 30;

impl<'c> Emitter<'_, 'c> {
    /// Builds a block but for its end, twice where it has affine values.
    pub(in crate::cpu::vectorize) fn versions(
        &mut self,
        block: usize,
        mask: Mask<'c>,
    ) -> Result<(), ScalarReason> {
        if !(self.values.has_affine && self.values.plan.affine.is_in(block)) {
            return self.instructions(block, mask);
        }
        self.exits.changed = false;
        if self.values.plan.is_long {
            return self.only_version(block, mask);
        }
        let (any, after) = (self.values.code.edge_block(), self.values.code.edge_block());
        self.version(block, mask, any)?;
        self.values.code.builder.branch(after);
        self.values.code.builder.at_end(any);
        self.instructions(block, mask)?;
        self.values.code.builder.branch(after);
        self.values.code.builder.at_end(after);
        // What is known in one version is not in the other.
        self.values.cached.clear();
        self.rows.clear();
        Ok(())
    }

    /// Builds a block of a long vector, which has no other version: it is left to its vectors where a value is not affine.
    fn only_version(&mut self, block: usize, mask: Mask<'c>) -> Result<(), ScalarReason> {
        const APART: ScalarReason = ScalarReason::SpeculationInDivergentCode;
        if let Some(other) = self.exits.restart(&mut self.values, block, mask) {
            return self.version(block, mask, other);
        }
        if self.values.plan.affine.is_asked_in(block) {
            return Err(APART);
        }
        // What the block reads is affine, or the vector would have been left.
        let nowhere = self.values.code.edge_block();
        self.version(block, mask, nowhere)?;
        let built = self.values.code.builder.block();
        self.values.code.builder.at_end(nowhere);
        self.values.code.builder.unreachable();
        self.values.code.builder.at_end(built);
        Ok(())
    }

    /// Builds a block for vectors with affine values; the others go to `any`.
    fn version(
        &mut self,
        block: usize,
        mask: Mask<'c>,
        any: Block<'c>,
    ) -> Result<(), ScalarReason> {
        self.values.otherwise = Some(any);
        let built = self.instructions(block, mask);
        self.values.otherwise = None;
        built
    }
}

impl<'c> Values<'_, 'c> {
    /// An affine value, in the version for these; `any` is the other one.
    pub(super) fn affine(
        &mut self,
        block: usize,
        instruction: Value<'c>,
        any: Block<'c>,
    ) -> VectorValue<'c> {
        use Opcode::{GetElementPtr, SDiv, SExt, SRem, Select, UDiv, URem, ZExt};
        let line = match instruction.opcode() {
            UDiv | SDiv | URem | SRem => self.affine_division(block, instruction, any),
            GetElementPtr => self.affine_address(block, instruction, any),
            SExt | ZExt => self.affine_extension(block, instruction, any),
            Select => {
                let condition = self.read(instruction.operand(0), block).once();
                let [yes, no] = [1, 2].map(|it| self.line(instruction.operand(it), block, any));
                let choose = |yes, no| self.code.builder.select(condition, yes, no);
                Line { first: choose(yes.first, no.first), slope: choose(yes.slope, no.slope) }
            }
            _ => self.affine_sum(block, instruction, any),
        };
        line.held()
    }

    /// A sum, or what is computed of one number in a way that keeps it affine.
    fn affine_sum(&mut self, block: usize, sum: Value<'c>, any: Block<'c>) -> Line<'c> {
        let (opcode, ty) = (sum.opcode(), sum.ty());
        let left = self.line(sum.operand(0), block, any);
        let each = |change: &dyn Fn(Value<'c>) -> Value<'c>| Line {
            first: change(left.first),
            slope: change(left.slope),
        };
        match opcode {
            Opcode::Freeze => return each(&|it| self.code.builder.freeze(it)),
            Opcode::Trunc => return each(&|it| self.code.builder.truncate(it, ty)),
            Opcode::Shl => return each(&|it| self.code.builder.binary(opcode, it, sum.operand(1))),
            Opcode::Xor => {
                let builder = &self.code.builder;
                let first = builder.binary(opcode, left.first, sum.operand(1));
                return Line { first, slope: builder.binary(Opcode::Sub, ty.null(), left.slope) };
            }
            _ => {}
        }
        let right = self.line(sum.operand(1), block, any);
        if opcode == Opcode::Mul {
            let is_factor = self.read(sum.operand(1), block).is_uniform();
            let (of, by) = if is_factor { (left, right) } else { (right, left) };
            let times = |it| self.code.builder.multiply(it, by.first);
            return Line { first: times(of.first), slope: times(of.slope) };
        }
        // A disjoint `or` is a sum.
        let opcode = if opcode == Opcode::Sub { opcode } else { Opcode::Add };
        let both = |left, right| self.code.builder.binary(opcode, left, right);
        Line { first: both(left.first, right.first), slope: both(left.slope, right.slope) }
    }

    /// The first lane and the slope of an operand; `any` is gone to where it has none.
    fn line(&mut self, value: Value<'c>, block: usize, any: Block<'c>) -> Line<'c> {
        let widened = self.read(value, block);
        let no = Type::int(self.code.unit.context, 1).constant(0);
        let (first, slope) = match widened.first {
            Some(first) => {
                if let Some(holds) = widened.holds {
                    self.code.go_on_if(self.code.builder.freeze(holds), any);
                }
                (first, self.code.slope_of(&widened, first))
            }
            // Of what another region has spilled nothing is known.
            None => {
                self.code.go_on_if(no, any);
                (value.ty().null(), self.code.slope_type(value.ty()).null())
            }
        };
        Line { first, slope }
    }

    fn affine_address(&mut self, block: usize, address: Value<'c>, any: Block<'c>) -> Line<'c> {
        let [base, index] = [0, 1].map(|it| self.line(address.operand(it), block, any));
        let (ty, builder) = (address.element_type(), &self.code.builder);
        let bytes = index.slope.ty().constant((self.code.size)(ty));
        let first = builder.elements(ty, base.first, &[index.first]);
        let slope = builder.add(base.slope, builder.multiply(index.slope, bytes));
        Line { first, slope }
    }

    /// An extension, where no lane wraps before it.
    fn affine_extension(&mut self, block: usize, extension: Value<'c>, any: Block<'c>) -> Line<'c> {
        let (opcode, ty) = (extension.opcode(), extension.ty());
        let of = self.line(extension.operand(0), block, any);
        let builder = &self.code.builder;
        let first = builder.cast(opcode, of.first, ty);
        let slope = builder.cast(Opcode::SExt, of.slope, ty);
        let fits = self.code.fits_in_words(self.code.last(first, slope), opcode == Opcode::SExt);
        self.code.go_on_if(builder.freeze(fits), any);
        Line { first, slope }
    }

    /// A quotient or a remainder by a number that all lanes share, where no multiple of that lies within the vector or it is 1.
    fn affine_division(&mut self, block: usize, division: Value<'c>, any: Block<'c>) -> Line<'c> {
        let opcode = division.opcode();
        let of = self.line(division.operand(0), block, any);
        let by = self.read(division.operand(1), block).once();
        let code = &self.code;
        let (builder, ty) = (&code.builder, division.ty());
        let quotient = Reciprocal::new(code, opcode, by).divide_first(code, of.first);
        let rest = builder.binary(Opcode::Sub, of.first, builder.multiply(quotient, by));
        let is_one = builder.compare(IntPredicate::Eq, by, ty.constant(1));
        let is_within = code.is_within(opcode, of, by, rest);
        let holds = builder.binary(Opcode::Or, is_one, is_within);
        code.go_on_if(builder.freeze(holds), any);
        let (builder, zero) = (&self.code.builder, ty.null());
        let choose = |one, other| builder.select(is_one, one, other);
        match is_quotient(opcode) {
            true => Line { first: choose(of.first, quotient), slope: choose(of.slope, zero) },
            false => Line { first: choose(zero, rest), slope: choose(zero, of.slope) },
        }
    }
}

impl<'c> Code<'_, 'c> {
    /// Goes on where a bit is set, and else to a block.
    pub(super) fn go_on_if(&self, holds: Value<'c>, otherwise: Block<'c>) {
        let go = self.edge_block();
        self.builder.branch_if(holds, go, otherwise);
        self.builder.at_end(go);
    }

    /// The type of the slopes of values of a type.
    pub(super) fn slope_type(&self, ty: Type<'c>) -> Type<'c> {
        if ty.is_pointer() { Type::int(self.unit.context, 64) } else { ty }
    }

    /// How much a value grows that is affine, strided or uniform.
    fn slope_of(&self, widened: &VectorValue<'c>, first: Value<'c>) -> Value<'c> {
        let known = || self.slope_type(first.ty()).constant(widened.step as u64);
        widened.slope.unwrap_or_else(known)
    }

    /// What the last lane has of a number of 64 bits.
    fn last(&self, first: Value<'c>, slope: Value<'c>) -> Value<'c> {
        let ty = first.ty();
        let lanes = ty.constant(u64::from(self.vectors.lanes - 1));
        self.builder.add(first, self.builder.multiply(slope, lanes))
    }

    /// Whether a number of 64 bits is one of 32 bits, signed or not.
    fn fits_in_words(&self, number: Value<'c>, is_signed: bool) -> Value<'c> {
        let ty = number.ty();
        let number = match is_signed {
            true => self.builder.add(number, ty.constant(1 << 31)),
            false => number,
        };
        self.builder.compare(IntPredicate::Ult, number, ty.constant(1 << 32))
    }

    /// Whether the quotient of the first lane, which leaves `rest`, is that of all lanes: all of these lie between the same two
    /// multiples of the divisor, as it does where the first and the last one do. Numbers below zero, and those that doubles do
    /// not hold, are not looked at.
    fn is_within(&self, opcode: Opcode, of: Line<'c>, by: Value<'c>, rest: Value<'c>) -> Value<'c> {
        use IntPredicate::{Sge, Ult};
        let (builder, signed) = (&self.builder, is_signed(opcode));
        let wide = Type::int(self.unit.context, 64);
        let is_wide = of.first.ty() == wide;
        let extension = if signed { Opcode::SExt } else { Opcode::ZExt };
        let extend = |value, how| if is_wide { value } else { builder.cast(how, value, wide) };
        let [first, by, rest] = [of.first, by, rest].map(|it| extend(it, extension));
        let slope = extend(of.slope, Opcode::SExt);
        let mut all = vec![builder.compare(Ult, self.last(rest, slope), by)];
        if signed {
            all.push(builder.compare(Sge, by, wide.null()));
        }
        if is_wide {
            all.push(builder.compare(Ult, first, wide.constant(LIMIT)));
            let moved = builder.add(slope, wide.constant(SLOPE));
            all.push(builder.compare(Ult, moved, wide.constant(2 * SLOPE)));
        } else {
            if signed {
                all.push(builder.compare(Sge, first, wide.null()));
            }
            all.push(self.fits_in_words(self.last(first, slope), signed));
        }
        all.into_iter().reduce(|all, one| builder.and(all, one)).expect("there is one")
    }

    /// Stores an affine value, or notes that a value is none; whether it is.
    pub(super) fn store_affine(&self, slots: AffineSlots<'c>, widened: &VectorValue<'c>) -> bool {
        let bit = Type::int(self.unit.context, 1);
        let first = widened.first.filter(|_| widened.holds.is_none());
        if let Some(first) = first {
            self.builder.store(first, slots.first);
            self.builder.store(self.slope_of(widened, first), slots.slope);
        }
        self.builder.store(bit.constant(u64::from(first.is_some())), slots.holds);
        first.is_some()
    }

    /// Copies an affine value as it is held, affine or not.
    pub(super) fn copy_affine(&self, from: (Type<'c>, Slots<'c>), to: Slots<'c>) -> bool {
        let (ty, from) = from;
        let (Some(one), Some(other)) = (from.affine, to.affine) else { return false };
        let (Some(all), Some(place)) = (from.vector, to.vector) else { return false };
        let bit = Type::int(self.unit.context, 1);
        let copy = |ty, from, to| self.builder.store(self.builder.load(ty, from), to);
        copy(ty, one.first, other.first);
        copy(self.slope_type(ty), one.slope, other.slope);
        copy(bit, one.holds, other.holds);
        copy(self.vectors.widen(ty), all, place);
        true
    }

    /// Loads an affine value: in the version for these as such, or else, with `otherwise`, control goes there; in the other one as
    /// a vector.
    pub(super) fn load_affine(
        &self,
        ty: Type<'c>,
        slots: (AffineSlots<'c>, Value<'c>),
        otherwise: Option<Block<'c>>,
    ) -> VectorValue<'c> {
        let (slots, vector) = slots;
        let holds = self.builder.load(Type::int(self.unit.context, 1), slots.holds);
        if let Some(any) = otherwise {
            self.go_on_if(holds, any);
        }
        let first = self.builder.load(ty, slots.first);
        let slope = self.builder.load(self.slope_type(ty), slots.slope);
        let line = Line { first, slope }.held();
        if otherwise.is_some() {
            return line;
        }
        let all = self.vectors.all(&self.builder, line);
        let vector = self.builder.load(self.vectors.widen(ty), vector);
        VectorValue::varying(self.builder.select(holds, all, vector))
    }

    /// Reads from an affine address: a row, forwards or backwards, or one element for all lanes, or else each lane's.
    pub(super) fn gather_affine(
        &mut self,
        (address, slope): (VectorValue<'c>, Value<'c>),
        ty: Type<'c>,
        align: u32,
        mask: Mask<'c>,
    ) -> Value<'c> {
        let first = address.first.expect("an affine address has a first lane");
        let bytes = (self.size)(ty);
        if !self.lies_in_rows(ty) {
            return self.gather(address, ty, align, mask);
        }
        let slot = self.slots.alloca(ty.vector(self.vectors.lanes));
        let gather = |code: &Self| {
            code.builder.store(code.gather(address, ty, align, mask), slot);
        };
        let is_at = |code: &Self, step: u64| {
            code.builder.compare(IntPredicate::Eq, slope, slope.ty().constant(step))
        };
        self.either(
            is_at(self, bytes),
            |code| {
                let all = code.load_at_once(first, ty, align, mask);
                code.builder.store(all, slot);
            },
            |code| {
                let is_one = is_at(code, 0);
                // There need be no lane that has the first one's address.
                let is_one = match mask {
                    Some(mask) => {
                        let any = code.vectors.any(&code.builder, code.builder.freeze(mask));
                        code.builder.and(is_one, any)
                    }
                    None => is_one,
                };
                code.either(
                    is_one,
                    |code| {
                        let one = code.builder.load(ty, first);
                        one.set_alignment(align);
                        code.builder.store(code.vectors.splat(&code.builder, one), slot);
                    },
                    |code| {
                        // A mask takes long to reverse.
                        if mask.is_some() {
                            return gather(code);
                        }
                        code.either(
                            is_at(code, bytes.wrapping_neg()),
                            |code| {
                                let all = code.load_backwards(first, ty, align);
                                code.builder.store(all, slot);
                            },
                            |code| gather(code),
                        );
                    },
                );
            },
        );
        self.builder.load(ty.vector(self.vectors.lanes), slot)
    }

    /// Writes to an affine address.
    pub(super) fn scatter_affine(
        &mut self,
        all: Value<'c>,
        (address, slope): (VectorValue<'c>, Value<'c>),
        align: u32,
        mask: Mask<'c>,
    ) {
        let first = address.first.expect("an affine address has a first lane");
        let ty = all.ty().element();
        if !self.lies_in_rows(ty) {
            return self.scatter(all, address, align, mask);
        }
        let bytes = slope.ty().constant((self.size)(ty));
        let is_row = self.builder.compare(IntPredicate::Eq, slope, bytes);
        self.either(
            is_row,
            |code| code.store_at_once(all, first, align, mask),
            |code| code.scatter(all, address, align, mask),
        );
    }
}
