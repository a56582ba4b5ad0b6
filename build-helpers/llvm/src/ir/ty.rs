//! Types: constructors, queries, and their constants.

use inkwell::context::Context;
use llvm_sys::core::*;

use super::{Type, TypeKind, Value, codes, handle::raw};
use crate::strings::take_message;

impl<'c> Type<'c> {
    /// An integer of `bits` bits.
    #[must_use]
    pub fn int(context: &'c Context, bits: u32) -> Self {
        // SAFETY: the context is alive.
        Self::wrap(unsafe { LLVMIntTypeInContext(raw(context), bits) })
    }

    /// A pointer into an address space.
    #[must_use]
    pub fn pointer(context: &'c Context, address_space: u32) -> Self {
        // SAFETY: the context is alive.
        Self::wrap(unsafe { LLVMPointerTypeInContext(raw(context), address_space) })
    }

    /// `void`.
    #[must_use]
    pub fn void(context: &'c Context) -> Self {
        // SAFETY: the context is alive.
        Self::wrap(unsafe { LLVMVoidTypeInContext(raw(context)) })
    }

    /// `float`.
    #[must_use]
    pub fn float(context: &'c Context) -> Self {
        // SAFETY: the context is alive.
        Self::wrap(unsafe { LLVMFloatTypeInContext(raw(context)) })
    }

    /// `double`.
    #[must_use]
    pub fn double(context: &'c Context) -> Self {
        // SAFETY: the context is alive.
        Self::wrap(unsafe { LLVMDoubleTypeInContext(raw(context)) })
    }

    /// The type of tokens.
    #[must_use]
    pub fn token(context: &'c Context) -> Self {
        // SAFETY: the context is alive.
        Self::wrap(unsafe { LLVMTokenTypeInContext(raw(context)) })
    }

    /// An anonymous struct.
    #[must_use]
    pub fn structure(context: &'c Context, fields: &[Self]) -> Self {
        let mut fields: Vec<_> = fields.iter().map(|field| field.raw).collect();
        // SAFETY: the context is alive; the fields are given with their number.
        Self::wrap(unsafe {
            LLVMStructTypeInContext(raw(context), fields.as_mut_ptr(), fields.len() as u32, 0)
        })
    }

    /// An array of `length` elements of this type.
    #[must_use]
    pub fn array(self, length: u64) -> Self {
        // SAFETY: the type is alive.
        Self::wrap(unsafe { LLVMArrayType2(self.raw, length) })
    }

    /// A function from these parameters to this type.
    #[must_use]
    pub fn function(self, parameters: &[Self]) -> Self {
        let mut parameters: Vec<_> = parameters.iter().map(|ty| ty.raw).collect();
        // SAFETY: the types are alive; the parameters are given with their number.
        Self::wrap(unsafe {
            LLVMFunctionType(self.raw, parameters.as_mut_ptr(), parameters.len() as u32, 0)
        })
    }

    /// What kind of type it is.
    #[must_use]
    pub fn kind(self) -> TypeKind {
        // SAFETY: the type is alive.
        TypeKind::from_code(unsafe { codes::LLVMGetTypeKind(self.raw) })
    }

    /// Whether it is an integer of this width.
    #[must_use]
    pub fn is_int(self, bits: u32) -> bool {
        // SAFETY: the type is alive, and an integer where the width is asked for.
        self.kind() == TypeKind::Integer && unsafe { LLVMGetIntTypeWidth(self.raw) } == bits
    }

    /// Whether it is a pointer, of any address space.
    #[must_use]
    pub fn is_pointer(self) -> bool {
        self.kind() == TypeKind::Pointer
    }

    /// The address space of a pointer type.
    #[must_use]
    pub fn address_space(self) -> u32 {
        assert!(self.is_pointer());
        // SAFETY: the type is a pointer.
        unsafe { LLVMGetPointerAddressSpace(self.raw) }
    }

    /// The parameters of a function type.
    #[must_use]
    pub fn parameters(self) -> Vec<Self> {
        assert_eq!(self.kind(), TypeKind::Function);
        // SAFETY: the type is a function; the buffer has room for its parameters.
        unsafe {
            let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.raw) as usize];
            LLVMGetParamTypes(self.raw, types.as_mut_ptr());
            types.into_iter().map(Self::wrap).collect()
        }
    }

    /// The result of a function type.
    #[must_use]
    pub fn result(self) -> Self {
        assert_eq!(self.kind(), TypeKind::Function);
        // SAFETY: the type is a function.
        Self::wrap(unsafe { LLVMGetReturnType(self.raw) })
    }

    /// The fields of a struct type.
    #[must_use]
    pub fn fields(self) -> Vec<Self> {
        assert_eq!(self.kind(), TypeKind::Struct);
        // SAFETY: the type is a struct; the buffer has room for its fields.
        unsafe {
            let mut types =
                vec![std::ptr::null_mut(); LLVMCountStructElementTypes(self.raw) as usize];
            LLVMGetStructElementTypes(self.raw, types.as_mut_ptr());
            types.into_iter().map(Self::wrap).collect()
        }
    }

    /// The length of an array type.
    #[must_use]
    pub fn array_length(self) -> u64 {
        assert_eq!(self.kind(), TypeKind::Array);
        // SAFETY: the type is an array.
        unsafe { LLVMGetArrayLength2(self.raw) }
    }

    /// A constant of an integer type: the low bits of `value`, as many as the type has.
    #[must_use]
    pub fn constant(self, value: u64) -> Value<'c> {
        let width = self.int_width().expect("the type is an integer");
        // LLVM 23 keeps bits that the type does not have, and compares them.
        let value = if width < 64 { value & ((1 << width) - 1) } else { value };
        // SAFETY: the type is an integer, the value one of it.
        Value::wrap(unsafe { LLVMConstInt(self.raw, value, 0) })
    }

    /// Zero, null or an aggregate of zeros.
    #[must_use]
    pub fn null(self) -> Value<'c> {
        // SAFETY: the type is alive.
        Value::wrap(unsafe { LLVMConstNull(self.raw) })
    }

    /// Poison of this type.
    #[must_use]
    pub fn poison(self) -> Value<'c> {
        // SAFETY: the type is alive.
        Value::wrap(unsafe { LLVMGetPoison(self.raw) })
    }

    /// A constant array of this element type.
    #[must_use]
    pub fn constant_array(self, elements: &[Value<'c>]) -> Value<'c> {
        let mut elements: Vec<_> = elements.iter().map(|element| element.raw).collect();
        // SAFETY: the elements are constants of this type, given with their number.
        Value::wrap(unsafe {
            LLVMConstArray2(self.raw, elements.as_mut_ptr(), elements.len() as u64)
        })
    }
}

impl std::fmt::Debug for Type<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: the type is alive; LLVM hands out the text.
        formatter.write_str(&take_message(unsafe { LLVMPrintTypeToString(self.raw) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Library, find_in_sysroot};

    #[test]
    fn constants_have_the_bits_of_their_type_only() {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let sysroot = std::process::Command::new(rustc).args(["--print", "sysroot"]).output();
        let sysroot = String::from_utf8(sysroot.unwrap().stdout).unwrap();
        Library::open(&find_in_sysroot(sysroot.trim().as_ref()).unwrap()).unwrap();
        let context = Context::create();
        for (width, bits) in [(1, 1), (8, 0xf8), (32, 0xffff_fff8), (64, u64::MAX - 7)] {
            let value =
                Type::int(&context, width).constant(if width == 1 { 3 } else { u64::MAX - 7 });
            assert_eq!(value.as_u64(), Some(bits), "{width} bits");
            assert_eq!(value, Type::int(&context, width).constant(bits), "{width} bits");
        }
    }
}
