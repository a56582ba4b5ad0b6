//! Target machines: passes and code generation for one processor of a target.

use inkwell::{
    OptimizationLevel,
    module::Module,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, RelocMode, Target, TargetData, TargetMachine, TargetTriple},
};

use llvm_sys::{
    target_machine::LLVMTargetMachineRef, transforms::pass_builder::LLVMRunPassesOnFunction,
};

use crate::{
    Error,
    ir::{Type, Value},
};

/// A target machine with its data layout.
#[derive(Debug)]
pub struct Machine {
    machine: TargetMachine,
    triple: TargetTriple,
    triple_text: String,
    processor: String,
    features: String,
    data_layout: String,
}

impl Machine {
    /// A machine for a processor of a target, both named as LLVM names them.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where the library has no such target.
    pub fn new(
        triple: &str,
        processor: &str,
        features: &str,
        position_independent: bool,
    ) -> Result<Self, Error> {
        let parsed = TargetTriple::create(triple);
        let target = Target::from_triple(&parsed).map_err(|reason| {
            // LLVM gives a reason in some of its versions only, and may do no more than to name the triple.
            let reason = reason.to_string();
            let is_telling = !reason.is_empty() && !reason.contains(triple);
            let reason = if is_telling { format!(": {reason}") } else { String::new() };
            Error::Llvm(format!("it has no back end for the triple `{triple}`{reason}"))
        })?;
        let relocation = if position_independent { RelocMode::PIC } else { RelocMode::Default };
        let machine = target
            .create_target_machine(
                &parsed,
                processor,
                features,
                OptimizationLevel::Aggressive,
                relocation,
                CodeModel::Default,
            )
            .ok_or_else(|| {
                Error::Llvm(format!("no target machine for {triple}, processor {processor}"))
            })?;
        let layout = machine.get_target_data().get_data_layout();
        let data_layout = layout.as_str().to_string_lossy().into_owned();
        Ok(Self {
            machine,
            triple: parsed,
            triple_text: triple.to_owned(),
            processor: processor.to_owned(),
            features: features.to_owned(),
            data_layout,
        })
    }

    /// A machine for any processor of a host's architecture, whose code can lie anywhere.
    ///
    /// # Errors
    ///
    /// As [`Machine::new`].
    pub fn of_host(triple: &str) -> Result<Self, Error> {
        let processor = if triple.starts_with("x86_64") { "x86-64" } else { "generic" };
        Self::new(triple, processor, "", true)
    }

    /// The same, for modules whose stack slots lie in another address space than those of the target.
    #[must_use]
    pub fn with_slots_in(mut self, address_space: u32) -> Self {
        self.data_layout = format!("{}-A{address_space}", self.data_layout);
        self
    }

    /// The target triple.
    #[must_use]
    pub fn triple(&self) -> &str {
        &self.triple_text
    }

    /// The data layout, in LLVM's notation.
    #[must_use]
    pub fn data_layout(&self) -> &str {
        &self.data_layout
    }

    /// The triple, the processor, its features and the data layout as text: two machines that say the
    /// same generate the same code.
    #[must_use]
    pub fn description(&self) -> String {
        let Self { triple_text, processor, features, data_layout, .. } = self;
        format!(
            "triple {triple_text}; processor {processor}; features {features}; layout {data_layout}"
        )
    }

    /// The bytes from one element of this type to the next in memory.
    #[must_use]
    pub fn size_of(&self, ty: Type<'_>) -> u64 {
        let data = self.machine.get_target_data();
        // SAFETY: the type is alive and has a size.
        unsafe { llvm_sys::target::LLVMABISizeOfType(data.as_mut_ptr(), ty.raw) }
    }

    /// The alignment in bytes of this type in memory.
    #[must_use]
    pub fn align_of(&self, ty: Type<'_>) -> u64 {
        let data = self.machine.get_target_data();
        // SAFETY: the type is alive and has a size.
        u64::from(unsafe { llvm_sys::target::LLVMABIAlignmentOfType(data.as_mut_ptr(), ty.raw) })
    }

    /// The bytes from the start of a struct to one of its fields.
    #[must_use]
    pub fn offset_of(&self, structure: Type<'_>, field: u32) -> u64 {
        assert!(structure.fields().len() > field as usize, "{structure:?} has no field {field}");
        let data = self.machine.get_target_data();
        // SAFETY: the type is a struct that is alive, and has the field.
        unsafe { llvm_sys::target::LLVMOffsetOfElement(data.as_mut_ptr(), structure.raw, field) }
    }

    /// Sets a module's triple and data layout to those of this machine.
    pub fn adopt(&self, module: &Module<'_>) {
        module.set_triple(&self.triple);
        // By inkwell, which keeps the address of the layout that LLVM replaces.
        module.set_data_layout(&TargetData::create(&self.data_layout).get_data_layout());
    }

    /// Runs a pass pipeline, in the notation of [`opt -passes`](https://llvm.org/docs/NewPassManager.html).
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where LLVM does not know a pass.
    pub fn run(&self, module: &Module<'_>, passes: &str) -> Result<(), Error> {
        self.run_with(module, passes, true)
    }

    /// Runs a pass pipeline, with or without the loop and SLP vectorisers.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where LLVM does not know a pass.
    pub fn run_with(
        &self,
        module: &Module<'_>,
        passes: &str,
        vectorize: bool,
    ) -> Result<(), Error> {
        let options = PassBuilderOptions::create();
        options.set_loop_vectorization(vectorize);
        options.set_loop_slp_vectorization(vectorize);
        options.set_loop_interleaving(vectorize);
        options.set_loop_unrolling(true);
        module.run_passes(passes, &self.machine, options).map_err(Error::llvm)
    }

    /// Runs a pipeline of function passes on one function of a module that was given to
    /// [`Machine::adopt`].
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where LLVM does not know a pass.
    pub fn run_on_function(&self, function: Value<'_>, passes: &str) -> Result<(), Error> {
        run_on_function(function, passes, self.machine.as_mut_ptr())
    }
    /// The module as assembly text.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where code generation fails.
    pub fn assembly(&self, module: &Module<'_>) -> Result<Vec<u8>, Error> {
        let mut text = self.emit(module, FileType::Assembly)?;
        // LLVM ends the text with a zero byte.
        if text.last() == Some(&0) {
            text.pop();
        }
        Ok(text)
    }

    /// The module as an object file.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where code generation fails.
    pub fn object(&self, module: &Module<'_>) -> Result<Vec<u8>, Error> {
        self.emit(module, FileType::Object)
    }

    fn emit(&self, module: &Module<'_>, kind: FileType) -> Result<Vec<u8>, Error> {
        let buffer = self.machine.write_to_memory_buffer(module, kind).map_err(Error::llvm)?;
        Ok(buffer.as_slice().to_vec())
    }
}

/// Runs a pipeline of function passes without the costs of a target, so that what it does depends on the data
/// layout of the module alone.
///
/// # Errors
///
/// [`Error::Llvm`] where LLVM does not know a pass.
pub fn run_on_function_of_any_target(function: Value<'_>, passes: &str) -> Result<(), Error> {
    run_on_function(function, passes, std::ptr::null_mut())
}

/// Runs a pipeline on a function, with the costs of a machine or, where that is null, of none.
fn run_on_function(
    function: Value<'_>,
    passes: &str,
    machine: LLVMTargetMachineRef,
) -> Result<(), Error> {
    assert!(function.is_function() && !function.is_declaration());
    let options = PassBuilderOptions::create();
    let passes = std::ffi::CString::new(passes).map_err(Error::llvm)?;
    // SAFETY: function, machine, which may be null, and options are alive; an error is LLVM's to give and ours to
    // take.
    let error = unsafe {
        let options = options.as_mut_ptr();
        LLVMRunPassesOnFunction(function.raw, passes.as_ptr(), machine, options)
    };
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the error is one that LLVM has just given; taking the message consumes it.
    let text = unsafe {
        let message = llvm_sys::error::LLVMGetErrorMessage(error);
        let text = std::ffi::CStr::from_ptr(message).to_string_lossy().into_owned();
        llvm_sys::error::LLVMDisposeErrorMessage(message);
        text
    };
    Err(Error::Llvm(text))
}
