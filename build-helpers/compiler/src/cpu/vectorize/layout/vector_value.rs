//! Values of the scalar code as vector code holds them: once where uniform, as a start and a step where
//! strided, else as a vector.

use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{Builder, Opcode, Type, TypeKind, Value},
};

use crate::cpu::instructions::resize;

/// The value of one lane or of all of a vector.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu::vectorize) struct VectorValue<'c> {
    /// The value in the first lane, which need not be active.
    pub(in crate::cpu::vectorize) first: Option<Value<'c>>,
    /// How much it grows from lane to lane; 0 where it is uniform.
    pub(in crate::cpu::vectorize) step: i64,
    /// How much it grows where only the launch knows that; of an address, in bytes.
    pub(in crate::cpu::vectorize) slope: Option<Value<'c>>,
    /// The bit that says whether `first` and `step` hold, where an extension may have wrapped;
    /// then there is a vector too.
    pub(in crate::cpu::vectorize) holds: Option<Value<'c>>,
    /// All lanes.
    pub(in crate::cpu::vectorize) vector: Option<Value<'c>>,
}

impl<'c> VectorValue<'c> {
    pub(in crate::cpu::vectorize) fn uniform(value: Value<'c>) -> Self {
        Self { first: Some(value), step: 0, slope: None, holds: None, vector: None }
    }

    pub(in crate::cpu::vectorize) fn strided(first: Value<'c>, step: i64) -> Self {
        Self { first: Some(first), step, slope: None, holds: None, vector: None }
    }

    pub(in crate::cpu::vectorize) fn varying(vector: Value<'c>) -> Self {
        Self { first: None, step: 0, slope: None, holds: None, vector: Some(vector) }
    }

    pub(in crate::cpu::vectorize) fn is_uniform(&self) -> bool {
        let is_one = self.first.is_some() && self.step == 0 && self.slope.is_none();
        is_one && self.holds.is_none()
    }

    /// The value where it is uniform.
    pub(in crate::cpu::vectorize) fn once(&self) -> Value<'c> {
        assert!(self.is_uniform(), "{self:?} differs between lanes");
        self.first.expect("checked above")
    }
}

/// Vectors of a number of lanes.
#[derive(Clone, Copy)]
pub(in crate::cpu::vectorize) struct Vectors<'c> {
    pub(in crate::cpu::vectorize) context: &'c Context,
    pub(in crate::cpu::vectorize) lanes: u32,
}

impl<'c> Vectors<'c> {
    /// The type that holds a value of `ty` for every lane: structs are split by fields.
    pub(in crate::cpu::vectorize) fn widen(self, ty: Type<'c>) -> Type<'c> {
        if ty.kind() == TypeKind::Struct {
            let fields: Vec<_> = ty.fields().into_iter().map(|field| self.widen(field)).collect();
            return Type::structure(self.context, &fields);
        }
        ty.vector(self.lanes)
    }

    /// The value in every lane.
    pub(in crate::cpu::vectorize) fn splat(
        self,
        builder: &Builder<'c>,
        value: Value<'c>,
    ) -> Value<'c> {
        let ty = value.ty();
        if ty.kind() != TypeKind::Struct {
            return builder.splat(self.context, value, self.lanes);
        }
        let fields = 0..ty.fields().len() as u32;
        fields.fold(self.widen(ty).poison(), |all, index| {
            let field = self.splat(builder, builder.extract(value, index));
            builder.insert(all, field, index)
        })
    }

    /// All lanes of a value.
    pub(in crate::cpu::vectorize) fn all(
        self,
        builder: &Builder<'c>,
        widened: VectorValue<'c>,
    ) -> Value<'c> {
        if let Some(vector) = widened.vector {
            return vector;
        }
        let first = widened.first.expect("a value that is no vector has a first lane");
        let ty = first.ty();
        let wide = if ty.is_pointer() { Type::int(self.context, 64) } else { ty };
        let row = |step: i64| {
            let lanes = 0..i64::from(self.lanes);
            let steps: Vec<_> = lanes.map(|lane| wide.constant((lane * step) as u64)).collect();
            Value::constant_vector(&steps)
        };
        let steps = match widened.slope {
            Some(slope) => builder.multiply(self.splat(builder, slope), row(1)),
            None if widened.step == 0 => return self.splat(builder, first),
            None => row(widened.step),
        };
        if ty.is_pointer() {
            return builder.elements(Type::int(self.context, 8), first, &[steps]);
        }
        builder.add(self.splat(builder, first), steps)
    }

    /// The value in one lane.
    pub(in crate::cpu::vectorize) fn one(
        self,
        builder: &Builder<'c>,
        widened: VectorValue<'c>,
        lane: Value<'c>,
    ) -> Value<'c> {
        if widened.is_uniform() {
            return widened.once();
        }
        match widened.vector {
            Some(vector) => self.lane_of(builder, vector, lane),
            None => {
                let first = widened.first.expect("a value that is no vector has a first lane");
                let ty = first.ty();
                let wide = if ty.is_pointer() { Type::int(self.context, 64) } else { ty };
                let lane = resize(builder, lane, wide);
                let step = widened.slope.unwrap_or_else(|| wide.constant(widened.step as u64));
                let offset = builder.multiply(lane, step);
                if ty.is_pointer() {
                    builder.elements(Type::int(self.context, 8), first, &[offset])
                } else {
                    builder.add(first, offset)
                }
            }
        }
    }

    fn lane_of(self, builder: &Builder<'c>, vector: Value<'c>, lane: Value<'c>) -> Value<'c> {
        let ty = vector.ty();
        if ty.kind() != TypeKind::Struct {
            return builder.lane(vector, lane);
        }
        let fields = ty.fields();
        let types: Vec<_> = fields.iter().map(|field| narrow(self.context, *field)).collect();
        let empty = Type::structure(self.context, &types).poison();
        (0..fields.len() as u32).fold(empty, |all, index| {
            let field = self.lane_of(builder, builder.extract(vector, index), lane);
            builder.insert(all, field, index)
        })
    }

    /// `yes` in the lanes of the mask, `no` in the others.
    pub(in crate::cpu::vectorize) fn blend(
        self,
        builder: &Builder<'c>,
        mask: Value<'c>,
        yes: Value<'c>,
        no: Value<'c>,
    ) -> Value<'c> {
        let ty = yes.ty();
        if ty.kind() != TypeKind::Struct {
            return builder.select(mask, yes, no);
        }
        (0..ty.fields().len() as u32).fold(no, |all, index| {
            let (yes, no) = (builder.extract(yes, index), builder.extract(no, index));
            builder.insert(all, self.blend(builder, mask, yes, no), index)
        })
    }

    /// The type of masks.
    pub(in crate::cpu::vectorize) fn mask(self) -> Type<'c> {
        Type::int(self.context, 1).vector(self.lanes)
    }

    /// A mask of all lanes.
    pub(in crate::cpu::vectorize) fn every(self) -> Value<'c> {
        let one = Type::int(self.context, 1).constant(1);
        Value::constant_vector(&vec![one; self.lanes as usize])
    }

    /// The mask as a number, lane 0 the lowest bit.
    pub(in crate::cpu::vectorize) fn bits(
        self,
        builder: &Builder<'c>,
        mask: Value<'c>,
    ) -> Value<'c> {
        builder.cast(Opcode::BitCast, mask, Type::int(self.context, self.lanes))
    }

    /// Whether any lane is in the mask.
    pub(in crate::cpu::vectorize) fn any(
        self,
        builder: &Builder<'c>,
        mask: Value<'c>,
    ) -> Value<'c> {
        use kernelmill_llvm::ir::IntPredicate::Ne;
        let none = Type::int(self.context, self.lanes).constant(0);
        builder.compare(Ne, self.bits(builder, mask), none)
    }

    /// The lanes of the mask in which the condition holds. What it is in others does not matter,
    /// so this is no `and`.
    pub(in crate::cpu::vectorize) fn where_holds(
        self,
        builder: &Builder<'c>,
        mask: Option<Value<'c>>,
        condition: Value<'c>,
    ) -> Value<'c> {
        match mask {
            Some(mask) => builder.select(mask, condition, self.mask().null()),
            None => condition,
        }
    }

    /// The negated condition.
    pub(in crate::cpu::vectorize) fn not(
        self,
        builder: &Builder<'c>,
        condition: Value<'c>,
    ) -> Value<'c> {
        let every = if condition.ty() == self.mask() {
            self.every()
        } else {
            Type::int(self.context, 1).constant(1)
        };
        builder.binary(Opcode::Xor, condition, every)
    }
}

/// The type of one lane.
fn narrow<'c>(context: &'c Context, ty: Type<'c>) -> Type<'c> {
    if ty.kind() != TypeKind::Struct {
        return ty.element();
    }
    let fields: Vec<_> = ty.fields().into_iter().map(|field| narrow(context, field)).collect();
    Type::structure(context, &fields)
}
