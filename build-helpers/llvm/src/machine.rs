//! Target machines: what code is generated for.

use inkwell::{
    OptimizationLevel,
    module::Module,
    passes::PassBuilderOptions,
    targets::{CodeModel, FileType, RelocMode, Target, TargetMachine, TargetTriple},
};

use crate::{Error, ir::Type};

/// A target machine with its data layout.
#[derive(Debug)]
pub struct Machine {
    machine: TargetMachine,
    triple: TargetTriple,
    triple_text: String,
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
        let target = Target::from_triple(&parsed).map_err(Error::llvm)?;
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
        Ok(Self { machine, triple: parsed, triple_text: triple.to_owned(), data_layout })
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

    /// Makes a module one for this machine.
    pub fn adopt(&self, module: &Module<'_>) {
        module.set_triple(&self.triple);
        module.set_data_layout(&self.machine.get_target_data().get_data_layout());
    }

    /// Runs passes, named in LLVM's notation.
    ///
    /// # Errors
    ///
    /// [`Error::Llvm`] where LLVM does not know a pass.
    pub fn run(&self, module: &Module<'_>, passes: &str) -> Result<(), Error> {
        self.run_with(module, passes, true)
    }

    /// Runs passes, with vectorisation of loops and straight code or without.
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
