//! Attributes of functions and calls.

use inkwell::context::Context;
use llvm_sys::core::*;

use crate::ir::{Type, Value, handle::raw};
use crate::strings;

/// The position of an attribute of a function or call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the function.
    Function,
    /// On the result.
    Result,
    /// On the parameter of this index, from 0.
    Parameter(u32),
}

impl Place {
    fn index(self) -> u32 {
        match self {
            Self::Function => llvm_sys::LLVMAttributeFunctionIndex,
            Self::Result => llvm_sys::LLVMAttributeReturnIndex,
            Self::Parameter(index) => index + 1,
        }
    }
}

/// The kind of an enum attribute, by its name; 0 where LLVM does not know it.
fn attribute_kind(name: &str) -> u32 {
    // SAFETY: the name is given with its length.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

// As in `super`, every call passes handles that are alive.
impl<'c> Value<'c> {
    /// Whether a function or call has an attribute.
    #[must_use]
    pub fn has_attribute(self, place: Place, name: &str) -> bool {
        let (index, kind) = (place.index(), attribute_kind(name));
        // SAFETY: the value is a function or call.
        unsafe {
            if self.is_function() {
                !LLVMGetEnumAttributeAtIndex(self.raw, index, kind).is_null()
            } else {
                !LLVMGetCallSiteEnumAttribute(self.raw, index, kind).is_null()
            }
        }
    }

    /// Adds an attribute with a number, 0 for attributes without one.
    pub fn add_attribute(self, context: &'c Context, place: Place, name: &str, number: u64) {
        let kind = attribute_kind(name);
        assert_ne!(kind, 0, "LLVM knows no attribute {name}");
        // SAFETY: the value is a function or a call; the attribute is one of the same context.
        unsafe {
            let attribute = LLVMCreateEnumAttribute(raw(context), kind, number);
            if self.is_function() {
                LLVMAddAttributeAtIndex(self.raw, place.index(), attribute);
            } else {
                LLVMAddCallSiteAttribute(self.raw, place.index(), attribute);
            }
        }
    }

    /// Adds an attribute that holds a type, such as `byval`.
    pub fn add_type_attribute(self, context: &'c Context, place: Place, name: &str, ty: Type<'c>) {
        let kind = attribute_kind(name);
        assert_ne!(kind, 0, "LLVM knows no attribute {name}");
        // SAFETY: the value is a function; the attribute is one of the same context.
        unsafe {
            let attribute = LLVMCreateTypeAttribute(raw(context), kind, ty.raw);
            LLVMAddAttributeAtIndex(self.raw, place.index(), attribute);
        }
    }

    /// The number that an attribute of a function or a call, such as `align`, holds.
    #[must_use]
    pub fn attribute_number(self, place: Place, name: &str) -> Option<u64> {
        let (place, kind) = (place.index(), attribute_kind(name));
        // SAFETY: the value is a function or a call; LLVM gives null where the attribute is not there.
        unsafe {
            let attribute = if self.is_function() {
                LLVMGetEnumAttributeAtIndex(self.raw, place, kind)
            } else {
                LLVMGetCallSiteEnumAttribute(self.raw, place, kind)
            };
            (!attribute.is_null()).then(|| LLVMGetEnumAttributeValue(attribute))
        }
    }

    /// The type that an attribute of a function, such as `byval`, holds.
    #[must_use]
    pub fn type_attribute(self, place: Place, name: &str) -> Option<Type<'c>> {
        // SAFETY: the value is a function; LLVM gives null where the attribute is not there.
        unsafe {
            let attribute =
                LLVMGetEnumAttributeAtIndex(self.raw, place.index(), attribute_kind(name));
            (!attribute.is_null()).then(|| Type::wrap(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    /// The value of a function's string attribute.
    #[must_use]
    pub fn text_attribute(self, key: &str) -> Option<String> {
        // SAFETY: the value is a function; LLVM gives null where the attribute is not there, and
        // the text with its length.
        unsafe {
            let attribute = LLVMGetStringAttributeAtIndex(
                self.raw,
                Place::Function.index(),
                key.as_ptr().cast(),
                key.len() as u32,
            );
            if attribute.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(attribute, &raw mut length);
            strings::copy(text, length as usize)
        }
    }

    /// Adds a string attribute to a function.
    pub fn add_text_attribute(self, context: &'c Context, key: &str, value: &str) {
        self.add_text_attribute_at(context, Place::Function, key, value);
    }

    /// Adds a string attribute to a function, its result or one of its parameters.
    pub fn add_text_attribute_at(self, context: &'c Context, place: Place, key: &str, value: &str) {
        // SAFETY: the value is a function; both texts are given with their lengths.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                raw(context),
                key.as_ptr().cast(),
                key.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.raw, place.index(), attribute);
        }
    }

    /// Removes an attribute of a function, if it is there.
    pub fn remove_attribute(self, place: Place, name: &str) {
        // SAFETY: the value is a function or call; removing what is not there does nothing.
        unsafe {
            if self.is_function() {
                LLVMRemoveEnumAttributeAtIndex(self.raw, place.index(), attribute_kind(name));
            } else {
                LLVMRemoveCallSiteEnumAttribute(self.raw, place.index(), attribute_kind(name));
            }
        }
    }

    /// Removes a string attribute of a function, if it is there.
    pub fn remove_text_attribute(self, key: &str) {
        // SAFETY: the value is a function; the key is given with its length.
        unsafe {
            LLVMRemoveStringAttributeAtIndex(
                self.raw,
                Place::Function.index(),
                key.as_ptr().cast(),
                key.len() as u32,
            );
        }
    }

    /// Adds the attributes of a function to this function, or those of a call to this call: its own, those of its
    /// result and of its parameters.
    pub fn copy_attributes(self, from: Self) {
        assert_eq!(self.is_function(), from.is_function());
        let count =
            if from.is_function() { from.parameters().len() } else { from.arguments().len() };
        let parameters = (0..count as u32).map(Place::Parameter);
        for index in
            [Place::Function, Place::Result].into_iter().chain(parameters).map(Place::index)
        {
            // SAFETY: both are functions or both calls, and LLVM fills in as many attributes as it says that there are.
            unsafe {
                if from.is_function() {
                    let count = LLVMGetAttributeCountAtIndex(from.raw, index);
                    let mut attributes = vec![std::ptr::null_mut(); count as usize];
                    LLVMGetAttributesAtIndex(from.raw, index, attributes.as_mut_ptr());
                    attributes
                        .into_iter()
                        .for_each(|it| LLVMAddAttributeAtIndex(self.raw, index, it));
                } else {
                    let count = LLVMGetCallSiteAttributeCount(from.raw, index);
                    let mut attributes = vec![std::ptr::null_mut(); count as usize];
                    LLVMGetCallSiteAttributes(from.raw, index, attributes.as_mut_ptr());
                    attributes
                        .into_iter()
                        .for_each(|it| LLVMAddCallSiteAttribute(self.raw, index, it));
                }
            }
        }
    }
}
