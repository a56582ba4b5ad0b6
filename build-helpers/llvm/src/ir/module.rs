//! Modules: reading, walking, and writing them.

use inkwell::{context::Context, memory_buffer::MemoryBuffer, module::Module};
use std::mem::ManuallyDrop;

#[expect(deprecated, reason = "its successor is not in LLVM 20 and 21")]
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::{core::*, linker::LLVMLinkModules2};

use super::{FloatPredicate, IntPredicate, Opcode, Type, Value, handle::raw};
use crate::{
    Diagnostics, Error, Version,
    strings::{c_string, take_message},
};

/// Reads a module from bitcode.
///
/// # Errors
///
/// [`Error::Llvm`] where the bytes are no bitcode, or that of a newer LLVM;
/// [`Error::UnknownInstruction`] where the library reads an instruction that this crate does not know.
pub fn parse_bitcode<'c>(
    context: &'c Context,
    bitcode: &[u8],
    name: &str,
) -> Result<Module<'c>, Error> {
    let name = c_string(name);
    // SAFETY: LLVM copies the bytes, which are given with their length; the buffer is owned by
    // the wrapper. (inkwell's own copying constructor cuts the last byte off.)
    let buffer = unsafe {
        MemoryBuffer::new(LLVMCreateMemoryBufferWithMemoryRangeCopy(
            bitcode.as_ptr().cast(),
            bitcode.len(),
            name.as_ptr(),
        ))
    };
    let module = Module::parse_bitcode_from_buffer(&buffer, context).map_err(Error::llvm)?;
    refuse_unknown(&module)?;
    Ok(module)
}

/// Refuses instructions that a newer LLVM has added: passes that look at opcodes would mistake them
/// for others.
fn refuse_unknown(module: &Module<'_>) -> Result<(), Error> {
    for instruction in module.definitions().into_iter().flat_map(Value::instructions) {
        let is_unknown = match instruction.opcode() {
            Opcode::Unknown(_) => true,
            Opcode::ICmp => matches!(instruction.int_predicate(), IntPredicate::Unknown(_)),
            Opcode::FCmp => matches!(instruction.float_predicate(), FloatPredicate::Unknown(_)),
            _ => false,
        };
        if is_unknown {
            let function = instruction.block().function().name();
            return Err(Error::UnknownInstruction {
                instruction: format!("{instruction:?}"),
                function,
                version: Version::opened(),
            });
        }
    }
    Ok(())
}

/// Reads a module from LLVM's textual form. The data layout is put in front of the text, so that
/// default alignments are those of the target.
///
/// # Errors
///
/// [`Error::Llvm`] with LLVM's message where the text does not parse.
pub fn parse_ir<'c>(
    context: &'c Context,
    text: &str,
    data_layout: &str,
    triple: &str,
) -> Result<Module<'c>, Error> {
    let text =
        format!("target datalayout = \"{data_layout}\"\ntarget triple = \"{triple}\"\n{text}\n\0");
    let mut module = std::ptr::null_mut();
    let mut message = std::ptr::null_mut();
    #[expect(deprecated, reason = "its successor is not in LLVM 20 and 21")]
    // SAFETY: LLVM copies the text, which ends with a zero, and owns the buffer; it writes the module,
    // or a message that is ours to free. (inkwell calls a function that only LLVM 22 has.)
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            text.as_ptr().cast(),
            text.len() - 1,
            c"kernelmill".as_ptr(),
        );
        let failed = LLVMParseIRInContext(raw(context), buffer, &raw mut module, &raw mut message);
        if failed != 0 {
            return Err(Error::Llvm(take_message(message)));
        }
        Ok(Module::new(module))
    }
}

/// Reads a module that somebody else wrote, as text or as bitcode, and verifies it. LLVM's messages begin
/// with `name`, the line and the column, where it is text.
///
/// # Errors
///
/// [`Error::Llvm`] with LLVM's message where it does not parse, or is not valid;
/// [`Error::UnknownInstruction`] as [`parse_bitcode`].
pub fn parse_any<'c>(context: &'c Context, bytes: &[u8], name: &str) -> Result<Module<'c>, Error> {
    let name = c_string(&name.replace('\0', ""));
    let bytes = [bytes, b"\0"].concat();
    let mut module = std::ptr::null_mut();
    let mut message = std::ptr::null_mut();
    #[expect(deprecated, reason = "its successor is not in LLVM 20 and 21")]
    // SAFETY: LLVM copies the bytes, which end with a zero, and owns the buffer; it writes the module,
    // or a message that is ours to free.
    let module = unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            bytes.as_ptr().cast(),
            bytes.len() - 1,
            name.as_ptr(),
        );
        let failed = LLVMParseIRInContext(raw(context), buffer, &raw mut module, &raw mut message);
        if failed != 0 {
            return Err(Error::Llvm(take_message(message)));
        }
        Module::new(module)
    };
    if let Err(message) = module.verify() {
        let wrong = module.definitions().into_iter().find(|function| !function.is_valid());
        let place =
            wrong.map_or_else(String::new, |it| format!(" in the function `{}`", it.name()));
        let message = message.to_string_lossy();
        return Err(Error::Llvm(format!("the code{place} is not valid: {}", message.trim_end())));
    }
    refuse_unknown(&module)?;
    Ok(module)
}

/// Methods of modules beyond those of inkwell.
pub trait ModuleExt<'c> {
    /// Links another module into this one.
    ///
    /// inkwell's `link_in_module` leaves a handler of diagnostics in the context that writes to its own stack
    /// frame, which is gone: any later error of LLVM's overwrites other memory.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] with LLVM's messages, where both define the same symbol for one.
    fn link(&self, other: Module<'c>) -> Result<(), Error>;
    /// The functions, declared and defined.
    fn functions(&self) -> Vec<Value<'c>>;
    /// The functions with a body.
    fn definitions(&self) -> Vec<Value<'c>>;
    /// The global variables.
    fn globals(&self) -> Vec<Value<'c>>;
    /// The function of this name.
    fn function(&self, name: &str) -> Option<Value<'c>>;
    /// The global variable of this name.
    fn global(&self, name: &str) -> Option<Value<'c>>;
    /// A new function; LLVM adds a suffix where the name is taken.
    fn new_function(&self, name: &str, ty: Type<'c>) -> Value<'c>;
    /// The function of this name, declared where it is not there.
    fn declare(&self, name: &str, ty: Type<'c>) -> Value<'c>;
    /// A new global variable.
    fn new_global(&self, name: &str, ty: Type<'c>, address_space: u32) -> Value<'c>;
    /// One of LLVM's own functions; `overloads` are the types that are part of its name.
    fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c>;
    /// Removes all debug information.
    fn strip_debug_info(&self);
    /// The module as bitcode.
    fn to_bitcode(&self) -> Vec<u8>;
    /// The module in LLVM's textual form.
    fn to_text(&self) -> String;
}

impl<'c> ModuleExt<'c> for Module<'c> {
    fn link(&self, other: Module<'c>) -> Result<(), Error> {
        let diagnostics = Diagnostics::of_module(self);
        // SAFETY: both modules are alive and of one context; LLVM takes the other, so it is not dropped.
        let failed = unsafe {
            LLVMLinkModules2(self.as_mut_ptr(), ManuallyDrop::new(other).as_mut_ptr()) != 0
        };
        match failed {
            true => Err(Error::Llvm(diagnostics.take().join("; "))),
            false => Ok(()),
        }
    }

    fn functions(&self) -> Vec<Value<'c>> {
        // SAFETY: the module is alive, and walking it changes nothing.
        unsafe {
            let first = Value::from_raw(LLVMGetFirstFunction(self.as_mut_ptr()));
            std::iter::successors(first, |function| {
                Value::from_raw(LLVMGetNextFunction(function.raw))
            })
            .collect()
        }
    }

    fn definitions(&self) -> Vec<Value<'c>> {
        let mut functions = self.functions();
        functions.retain(|function| !function.is_declaration());
        functions
    }

    fn globals(&self) -> Vec<Value<'c>> {
        // SAFETY: the module is alive, and walking it changes nothing.
        unsafe {
            let first = Value::from_raw(LLVMGetFirstGlobal(self.as_mut_ptr()));
            std::iter::successors(first, |global| Value::from_raw(LLVMGetNextGlobal(global.raw)))
                .collect()
        }
    }

    fn function(&self, name: &str) -> Option<Value<'c>> {
        let name = c_string(name);
        // SAFETY: the module is alive.
        Value::from_raw(unsafe { LLVMGetNamedFunction(self.as_mut_ptr(), name.as_ptr()) })
    }

    fn global(&self, name: &str) -> Option<Value<'c>> {
        let name = c_string(name);
        // SAFETY: the module is alive.
        Value::from_raw(unsafe { LLVMGetNamedGlobal(self.as_mut_ptr(), name.as_ptr()) })
    }

    fn new_function(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        let name = c_string(name);
        // SAFETY: module and type are alive and of one context.
        Value::wrap(unsafe { LLVMAddFunction(self.as_mut_ptr(), name.as_ptr(), ty.raw) })
    }

    fn declare(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        ModuleExt::function(self, name).unwrap_or_else(|| self.new_function(name, ty))
    }

    fn new_global(&self, name: &str, ty: Type<'c>, address_space: u32) -> Value<'c> {
        let name = c_string(name);
        // SAFETY: module and type are alive and of one context.
        Value::wrap(unsafe {
            LLVMAddGlobalInAddressSpace(self.as_mut_ptr(), ty.raw, name.as_ptr(), address_space)
        })
    }

    fn intrinsic(&self, name: &str, overloads: &[Type<'c>]) -> Value<'c> {
        let mut types: Vec<_> = overloads.iter().map(|ty| ty.raw).collect();
        // SAFETY: name and types are given with their lengths.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            assert_ne!(id, 0, "LLVM has no intrinsic {name}");
            Value::wrap(LLVMGetIntrinsicDeclaration(
                self.as_mut_ptr(),
                id,
                types.as_mut_ptr(),
                types.len(),
            ))
        }
    }

    fn strip_debug_info(&self) {
        // SAFETY: the module is alive.
        unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(self.as_mut_ptr()) };
    }

    fn to_bitcode(&self) -> Vec<u8> {
        // SAFETY: the module is alive; the buffer is owned by the wrapper.
        let buffer = unsafe {
            MemoryBuffer::new(llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer(
                self.as_mut_ptr(),
            ))
        };
        buffer.as_slice().to_vec()
    }

    fn to_text(&self) -> String {
        self.print_to_string().to_string()
    }
}
