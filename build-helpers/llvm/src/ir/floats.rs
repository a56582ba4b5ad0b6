//! Floating-point types and constants.

use llvm_sys::core::*;

use super::{Type, TypeKind, Value, codes::fast_math};

// As in `value`, every call passes handles that are alive.
impl<'c> Type<'c> {
    /// Whether it is a floating-point number of any width.
    #[must_use]
    pub fn is_floating(self) -> bool {
        matches!(
            self.kind(),
            TypeKind::Half
                | TypeKind::BFloat
                | TypeKind::Float
                | TypeKind::Double
                | TypeKind::Fp128
        )
    }

    /// The number of lanes of a vector of fixed length.
    #[must_use]
    pub fn lanes(self) -> Option<u32> {
        (self.kind() == TypeKind::Vector)
            // SAFETY: the type is a vector of fixed length.
            .then(|| unsafe { LLVMGetVectorSize(self.raw) })
    }

    /// A constant of a floating-point type, or of a vector of such, rounded to the type.
    #[must_use]
    pub fn float_constant(self, value: f64) -> Value<'c> {
        if let Some(lanes) = self.lanes() {
            let lane = self.element().float_constant(value);
            return Value::constant_vector(&vec![lane; lanes as usize]);
        }
        assert!(self.is_floating(), "{self:?} is no floating-point type");
        // SAFETY: the type is a floating-point type.
        Value::wrap(unsafe { LLVMConstReal(self.raw, value) })
    }
}

impl Value<'_> {
    /// Whether it is the constant whose bits are all zero.
    #[must_use]
    pub fn is_zero(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { LLVMIsNull(self.raw) != 0 }
    }

    /// The value of a floating-point constant. A wider one is rounded, and of a NaN the payload is lost.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        let mut rounded = 0;
        // SAFETY: the value is a floating-point constant where its number is asked for.
        unsafe {
            (!LLVMIsAConstantFP(self.raw).is_null())
                .then(|| LLVMConstRealGetDouble(self.raw, &raw mut rounded))
        }
    }

    /// Sets the fast-math flag `nsz` on a floating-point operation, so that adding zero changes nothing.
    pub fn ignore_sign_of_zero(self) {
        // SAFETY: flags are set on instructions only, and only on those that can have them.
        unsafe {
            if self.is_instruction() && LLVMCanValueUseFastMathFlags(self.raw) != 0 {
                LLVMSetFastMathFlags(
                    self.raw,
                    LLVMGetFastMathFlags(self.raw) | fast_math::NO_SIGNED_ZEROS,
                );
            }
        }
    }

    /// Whether the operation has the fast-math flag `contract`.
    #[must_use]
    pub fn allows_contraction(self) -> bool {
        // SAFETY: the flags are read of instructions that can have them.
        unsafe {
            self.is_instruction()
                && LLVMCanValueUseFastMathFlags(self.raw) != 0
                && LLVMGetFastMathFlags(self.raw) & fast_math::CONTRACT != 0
        }
    }

    /// Whether it is undefined or poison.
    #[must_use]
    pub fn is_undefined(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { LLVMIsUndef(self.raw) != 0 }
    }
}
