//! Objects that are linked into this process: code that was compiled at run time, by LLVM's [ORC].
//!
//! Needs: an opened [`Library`](crate::Library), and an object for this process's own processor. Guaranteed: code that was
//! linked stays where it is until the process ends; nothing of it runs unless somebody calls it.
//!
//! [ORC]: https://llvm.org/docs/ORCv2.html

use std::{
    ffi::{CStr, c_void},
    ptr::null_mut,
    sync::{Arc, Mutex, PoisonError},
};

use llvm_sys::{
    core::LLVMCreateMemoryBufferWithMemoryRangeCopy,
    error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage},
    orc2::{
        LLVMJITEvaluatedSymbol, LLVMJITSymbolFlags, LLVMJITSymbolGenericFlags,
        LLVMOrcAbsoluteSymbols, LLVMOrcCSymbolMapPair, LLVMOrcExecutionSessionSetErrorReporter,
        LLVMOrcJITDylibDefine,
        lljit::{
            LLVMOrcCreateLLJIT, LLVMOrcDisposeLLJIT, LLVMOrcLLJITAddObjectFile,
            LLVMOrcLLJITGetExecutionSession, LLVMOrcLLJITGetMainJITDylib, LLVMOrcLLJITLookup,
            LLVMOrcLLJITMangleAndIntern, LLVMOrcLLJITRef,
        },
    },
};

use crate::{Error, strings::c_string};

/// A symbol that an object names, and its address in this process.
pub type Provided<'n> = (&'n str, *const c_void);

/// An object that is linked into this process. Dropping it removes it: whoever took addresses of it uses them no more.
#[derive(Debug)]
pub struct LinkedObject {
    jit: LLVMOrcLLJITRef,
    /// What ORC reports, apart from the errors that its functions return. Dropped after the session that writes it.
    said: Arc<Said>,
}

/// Messages of a session of ORC's.
type Said = Mutex<Vec<String>>;

// SAFETY: ORC's sessions may be used from any thread, by several at once: its functions take the session's lock.
unsafe impl Send for LinkedObject {}
// SAFETY: as above.
unsafe impl Sync for LinkedObject {}

impl LinkedObject {
    /// Takes an object file, whose undefined symbols are those of `provided` and those that the libraries of this process
    /// export.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where LLVM has no linker for this processor, or the bytes are no object for it.
    pub fn link(object: &[u8], provided: &[Provided<'_>]) -> Result<Self, Error> {
        let mut jit = null_mut();
        // SAFETY: LLVM is open; without a builder it takes this process's own processor, and writes the pointer.
        check(unsafe { LLVMOrcCreateLLJIT(&raw mut jit, null_mut()) }, None)?;
        let linked = Self { jit, said: Arc::default() };
        // SAFETY: the session is alive, and what the reporter gets outlives it.
        unsafe {
            let session = LLVMOrcLLJITGetExecutionSession(jit);
            let context = Arc::as_ptr(&linked.said).cast_mut().cast::<c_void>();
            LLVMOrcExecutionSessionSetErrorReporter(session, report, context);
        }
        linked.define(provided)?;
        // SAFETY: the bytes are copied, and the buffer is given to the session, which takes it in any case.
        let error = unsafe {
            let (start, length) = (object.as_ptr().cast(), object.len());
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(start, length, c"object".as_ptr());
            LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), buffer)
        };
        check(error, Some(&linked.said))?;
        Ok(linked)
    }

    /// Gives symbols their addresses.
    fn define(&self, provided: &[Provided<'_>]) -> Result<(), Error> {
        let mut pairs: Vec<_> = provided
            .iter()
            .map(|(name, address)| LLVMOrcCSymbolMapPair {
                // SAFETY: session and name are alive. The name is counted for us, and given on below.
                Name: unsafe { LLVMOrcLLJITMangleAndIntern(self.jit, c_string(name).as_ptr()) },
                Sym: LLVMJITEvaluatedSymbol {
                    Address: *address as u64,
                    Flags: LLVMJITSymbolFlags {
                        GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported
                            as u8
                            | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8,
                        TargetFlags: 0,
                    },
                },
            })
            .collect();
        // SAFETY: the pairs are read and the names in them taken; the definition is given to the session's library.
        let error = unsafe {
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(self.jit), unit)
        };
        check(error, Some(&self.said))
    }

    /// The address of a symbol of the object, which holds until the object is dropped. The first call links it.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where the object does not define it, and with the symbols that nothing defines.
    pub fn address(&self, symbol: &str) -> Result<*const c_void, Error> {
        let mut address = 0;
        // SAFETY: session and name are alive, and the address is written where there is no error.
        let error =
            unsafe { LLVMOrcLLJITLookup(self.jit, &raw mut address, c_string(symbol).as_ptr()) };
        check(error, Some(&self.said))?;
        Ok(address as usize as *const c_void)
    }
}

impl Drop for LinkedObject {
    fn drop(&mut self) {
        // SAFETY: the session was made here, and nobody uses addresses of it any more. It frees code and data.
        let error = unsafe { LLVMOrcDisposeLLJIT(self.jit) };
        // Memory that cannot be freed stays: there is nobody to be told.
        drop(message(error));
    }
}

/// What ORC calls for an error that no function of it returns.
extern "C" fn report(context: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: it is what the session was given, which outlives the session.
    let said = unsafe { &*context.cast::<Said>() };
    if let Some(text) = message(error) {
        said.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

/// An error of LLVM's, with what was reported before it.
fn check(error: LLVMErrorRef, said: Option<&Said>) -> Result<(), Error> {
    let Some(text) = message(error) else { return Ok(()) };
    let mut all = match said {
        Some(said) => std::mem::take(&mut *said.lock().unwrap_or_else(PoisonError::into_inner)),
        None => Vec::new(),
    };
    all.push(text);
    Err(Error::Llvm(all.join("; ")))
}

/// The text of an error; `None` where there is none.
fn message(error: LLVMErrorRef) -> Option<String> {
    if error.is_null() {
        return None;
    }
    // SAFETY: it is an error that LLVM has just given; taking the message consumes it.
    Some(unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        text
    })
}
