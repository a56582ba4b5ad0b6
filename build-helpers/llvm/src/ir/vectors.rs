//! Vectorisation of scalar code: copies of instructions, operations by opcode, and vectors.

use inkwell::context::Context;
use llvm_sys::core::*;

use super::{
    AtomicOperation, AtomicOrdering, Builder, FloatPredicate, IntPredicate, Opcode, Type, TypeKind,
    Value, codes,
};

// As in `builder`, every call passes handles that are alive, to a builder that stands in a block.
impl<'c> Builder<'c> {
    /// A copy of an instruction with the same operands, inserted here.
    #[must_use]
    pub fn copy(&self, instruction: Value<'c>) -> Value<'c> {
        // SAFETY: the copy is in no block until it is inserted.
        unsafe {
            let copy = LLVMInstructionClone(instruction.raw);
            LLVMInsertIntoBuilderWithName(self.raw(), copy, c"".as_ptr());
            Value::wrap(copy)
        }
    }

    /// An operation on two numbers or vectors of them.
    #[must_use]
    pub fn binary(&self, opcode: Opcode, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        // SAFETY: see above; LLVM's verifier checks the types.
        Value::wrap(unsafe {
            codes::LLVMBuildBinOp(self.raw(), opcode.code(), left.raw, right.raw, c"".as_ptr())
        })
    }

    /// A conversion.
    #[must_use]
    pub fn cast(&self, opcode: Opcode, value: Value<'c>, ty: Type<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            codes::LLVMBuildCast(self.raw(), opcode.code(), value.raw, ty.raw, c"".as_ptr())
        })
    }

    /// The negation of a floating-point number.
    #[must_use]
    pub fn negate_float(&self, value: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildFNeg(self.raw(), value.raw, c"".as_ptr()) })
    }

    /// The value, some value where it is poison.
    #[must_use]
    pub fn freeze(&self, value: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe { LLVMBuildFreeze(self.raw(), value.raw, c"".as_ptr()) })
    }

    /// Compares two floating-point numbers.
    #[must_use]
    pub fn compare_floats(
        &self,
        predicate: FloatPredicate,
        left: Value<'c>,
        right: Value<'c>,
    ) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            codes::LLVMBuildFCmp(self.raw(), predicate.code(), left.raw, right.raw, c"".as_ptr())
        })
    }

    /// `yes` where the condition holds, else `no`.
    #[must_use]
    pub fn select(&self, condition: Value<'c>, yes: Value<'c>, no: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            LLVMBuildSelect(self.raw(), condition.raw, yes.raw, no.raw, c"".as_ptr())
        })
    }

    /// A struct value with one field replaced.
    #[must_use]
    pub fn insert(&self, aggregate: Value<'c>, value: Value<'c>, index: u32) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            LLVMBuildInsertValue(self.raw(), aggregate.raw, value.raw, index, c"".as_ptr())
        })
    }

    /// A vector whose lanes all have this value.
    #[must_use]
    pub fn splat(&self, context: &'c Context, value: Value<'c>, lanes: u32) -> Value<'c> {
        let word = Type::int(context, 32);
        let vector = value.ty().vector(lanes);
        let name = c"".as_ptr();
        // SAFETY: see above; the mask has an index below the number of lanes for each lane.
        Value::wrap(unsafe {
            let first = LLVMBuildInsertElement(
                self.raw(),
                vector.poison().raw,
                value.raw,
                word.constant(0).raw,
                name,
            );
            let mask = word.vector(lanes).null();
            LLVMBuildShuffleVector(self.raw(), first, vector.poison().raw, mask.raw, name)
        })
    }

    /// A `shufflevector` of two vectors of one type, whose lanes are numbered consecutively; `None` for
    /// a lane of any value.
    #[must_use]
    pub fn shuffle(
        &self,
        context: &'c Context,
        left: Value<'c>,
        right: Value<'c>,
        lanes: &[Option<u32>],
    ) -> Value<'c> {
        let word = Type::int(context, 32);
        let lane = |lane: &Option<u32>| {
            lane.map_or_else(|| word.poison(), |lane| word.constant(u64::from(lane)))
        };
        let mask = Value::constant_vector(&lanes.iter().map(lane).collect::<Vec<_>>());
        // SAFETY: see above; the mask is a constant.
        Value::wrap(unsafe {
            LLVMBuildShuffleVector(self.raw(), left.raw, right.raw, mask.raw, c"".as_ptr())
        })
    }

    /// One lane of a vector.
    #[must_use]
    pub fn lane(&self, vector: Value<'c>, lane: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            LLVMBuildExtractElement(self.raw(), vector.raw, lane.raw, c"".as_ptr())
        })
    }

    /// A vector with one lane replaced.
    #[must_use]
    pub fn set_lane(&self, vector: Value<'c>, value: Value<'c>, lane: Value<'c>) -> Value<'c> {
        // SAFETY: see above.
        Value::wrap(unsafe {
            LLVMBuildInsertElement(self.raw(), vector.raw, value.raw, lane.raw, c"".as_ptr())
        })
    }
}

// As in `value`, every call passes handles that are alive.
impl<'c> Value<'c> {
    /// The predicate of a comparison of integers or pointers.
    #[must_use]
    pub fn int_predicate(self) -> IntPredicate {
        assert_eq!(self.opcode(), Opcode::ICmp);
        // SAFETY: the value is such a comparison.
        IntPredicate::from_code(unsafe { codes::LLVMGetICmpPredicate(self.raw) })
    }

    /// The predicate of a comparison of floating-point numbers.
    #[must_use]
    pub fn float_predicate(self) -> FloatPredicate {
        assert_eq!(self.opcode(), Opcode::FCmp);
        // SAFETY: the value is such a comparison.
        FloatPredicate::from_code(unsafe { codes::LLVMGetFCmpPredicate(self.raw) })
    }

    /// Copies the fast-math flags of another operation.
    pub fn copy_float_flags(self, from: Self) {
        // SAFETY: flags are read and written only where the instruction can have them.
        unsafe {
            if LLVMIsAInstruction(self.raw) == self.raw
                && LLVMCanValueUseFastMathFlags(from.raw) != 0
                && LLVMCanValueUseFastMathFlags(self.raw) != 0
            {
                LLVMSetFastMathFlags(self.raw, LLVMGetFastMathFlags(from.raw));
            }
        }
    }

    /// Whether a load or store is volatile or atomic.
    #[must_use]
    pub fn is_exact_access(self) -> bool {
        assert!(matches!(self.opcode(), Opcode::Load | Opcode::Store));
        // SAFETY: the value is a load or store.
        unsafe { LLVMGetVolatile(self.raw) != 0 || self.ordering() != AtomicOrdering::NotAtomic }
    }

    /// The memory ordering of a load, store, fence or `atomicrmw`; of a `cmpxchg`, that of its success.
    #[must_use]
    pub fn ordering(self) -> AtomicOrdering {
        // SAFETY: the value is an access to memory or a fence.
        AtomicOrdering::from_code(unsafe {
            if self.opcode() == Opcode::AtomicCmpXchg {
                codes::LLVMGetCmpXchgSuccessOrdering(self.raw)
            } else {
                codes::LLVMGetOrdering(self.raw)
            }
        })
    }

    /// The memory ordering of a `cmpxchg` that fails.
    #[must_use]
    pub fn failure_ordering(self) -> AtomicOrdering {
        assert_eq!(self.opcode(), Opcode::AtomicCmpXchg);
        // SAFETY: the value is a `cmpxchg`.
        AtomicOrdering::from_code(unsafe { codes::LLVMGetCmpXchgFailureOrdering(self.raw) })
    }

    /// Makes an atomic access one without an order (`monotonic`).
    pub fn make_monotonic(self) {
        let monotonic = AtomicOrdering::Monotonic.code();
        // SAFETY: the setters are called for the instruction that they are for.
        unsafe {
            if self.opcode() == Opcode::AtomicCmpXchg {
                codes::LLVMSetCmpXchgSuccessOrdering(self.raw, monotonic);
                codes::LLVMSetCmpXchgFailureOrdering(self.raw, monotonic);
            } else {
                assert!(self.ordering() != AtomicOrdering::NotAtomic);
                codes::LLVMSetOrdering(self.raw, monotonic);
            }
        }
    }

    /// The operation of an `atomicrmw` that is not volatile; `None` for anything else.
    #[must_use]
    pub fn atomic_operation(self) -> Option<AtomicOperation> {
        // SAFETY: the value is an instruction, and then one that has an operation.
        unsafe {
            (self.is_instruction()
                && self.opcode() == Opcode::AtomicRmw
                && LLVMGetVolatile(self.raw) == 0)
                .then(|| AtomicOperation::from_code(codes::LLVMGetAtomicRMWBinOp(self.raw)))
        }
    }

    /// Whether an atomic access orders only what its own thread of the processor does (`syncscope("singlethread")`).
    #[must_use]
    pub fn is_of_one_thread(self) -> bool {
        // SAFETY: the value is asked only where it can be atomic.
        self.opcode() == Opcode::AtomicRmw && unsafe { LLVMIsAtomicSingleThread(self.raw) != 0 }
    }

    /// Makes a load or store volatile.
    pub fn make_volatile(self) {
        // SAFETY: the value is a load or store.
        unsafe { LLVMSetVolatile(self.raw, 1) }
    }

    /// Makes an access to memory one that is not volatile.
    pub fn make_not_volatile(self) {
        // SAFETY: the value is an access to memory.
        unsafe { LLVMSetVolatile(self.raw, 0) }
    }

    /// Whether it is a block, as the operand of a branch.
    #[must_use]
    pub fn is_block(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { LLVMValueIsBasicBlock(self.raw) != 0 }
    }

    /// Whether an `or` has the flag `disjoint`: its operands share no bit, so it is an addition.
    #[must_use]
    pub fn is_disjoint(self) -> bool {
        // SAFETY: the value is an `or` where the flag is asked for.
        self.opcode() == Opcode::Or && unsafe { LLVMGetIsDisjoint(self.raw) != 0 }
    }

    /// Whether an `add`, `sub`, `mul` or `shl` has the flag `nsw`: it does not overflow as a signed number.
    #[must_use]
    pub fn has_no_signed_wrap(self) -> bool {
        // SAFETY: the value is an instruction that can have the flag where it is asked for.
        self.can_wrap() && unsafe { LLVMGetNSW(self.raw) != 0 }
    }

    /// Whether an `add`, `sub`, `mul` or `shl` has the flag `nuw`: it does not overflow as an unsigned number.
    #[must_use]
    pub fn has_no_unsigned_wrap(self) -> bool {
        // SAFETY: as above.
        self.can_wrap() && unsafe { LLVMGetNUW(self.raw) != 0 }
    }

    fn can_wrap(self) -> bool {
        matches!(self.opcode(), Opcode::Add | Opcode::Sub | Opcode::Mul | Opcode::Shl)
    }

    /// The constant indices of an `extractvalue` or `insertvalue`.
    #[must_use]
    pub fn indices(self) -> Vec<u32> {
        assert!(matches!(self.opcode(), Opcode::ExtractValue | Opcode::InsertValue));
        // SAFETY: the instruction has that many indices.
        unsafe {
            let count = LLVMGetNumIndices(self.raw) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.raw), count).to_vec()
        }
    }

    /// The lanes that a `shufflevector` takes from its operands, one after the other; -1 for any.
    #[must_use]
    pub fn shuffle_mask(self) -> Vec<i32> {
        assert_eq!(self.opcode(), Opcode::ShuffleVector);
        // SAFETY: the instruction has that many elements in its mask.
        unsafe {
            (0..LLVMGetNumMaskElements(self.raw))
                .map(|index| LLVMGetMaskValue(self.raw, index))
                .collect()
        }
    }

    /// A constant vector of these lanes.
    #[must_use]
    pub fn constant_vector(lanes: &[Self]) -> Self {
        let mut lanes: Vec<_> = lanes.iter().map(|lane| lane.raw).collect();
        // SAFETY: the lanes are constants of one type, given with their number.
        Self::wrap(unsafe { LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32) })
    }
}

impl<'c> Type<'c> {
    /// A vector of this type.
    #[must_use]
    pub fn vector(self, lanes: u32) -> Self {
        // SAFETY: the type is alive, and one that vectors can have.
        Self::wrap(unsafe { LLVMVectorType(self.raw, lanes) })
    }

    /// The width of an integer type.
    #[must_use]
    pub fn int_width(self) -> Option<u32> {
        (self.kind() == TypeKind::Integer)
            // SAFETY: the type is an integer.
            .then(|| unsafe { LLVMGetIntTypeWidth(self.raw) })
    }

    /// The type of an array's or vector's elements.
    #[must_use]
    pub fn element(self) -> Self {
        assert!(matches!(self.kind(), TypeKind::Array | TypeKind::Vector));
        // SAFETY: the type has elements.
        Self::wrap(unsafe { LLVMGetElementType(self.raw) })
    }
}
