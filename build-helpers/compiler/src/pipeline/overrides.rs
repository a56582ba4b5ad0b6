//! Overrides: files that stand for a stage of a kernel, put in place of what the stage has made.

use kernelmill_artifact::Target;
use kernelmill_llvm::{
    inkwell::module::Module,
    ir::{Linkage, ModuleExt, Type, parse_ir},
};

use super::session::Session;
use crate::{
    Error,
    base::names::{PANIC_RECORD_PARAMETER, SHIM_PREFIX},
    job::{Override, OverrideCode},
    passes::retarget,
    target::replace_entry,
};

/// Puts kernels of other sources in place of those of the job's own, right behind its front end. `read` reads
/// bitcode for the target.
pub(super) fn link_sources<'c>(
    session: &Session<'_, 'c>,
    read: &dyn Fn(&[u8]) -> Result<Module<'c>, Error>,
) -> Result<(), Error> {
    for it in &session.job.source.lowered.overrides {
        if let OverrideCode::Lowered { modules, symbol } = &it.code {
            for module in modules {
                replace(session, it, symbol, read(module)?)?;
            }
        }
    }
    Ok(())
}

/// Puts kernels in LLVM's IR in place of what the stage has made of theirs.
pub(super) fn link_texts(session: &Session<'_, '_>) -> Result<(), Error> {
    let Session { context, backend, .. } = session;
    for it in &session.job.source.lowered.overrides {
        let OverrideCode::FrontEnd(text) = &it.code else { continue };
        // It may be of another target: this stage is the same for all.
        let is_of_target = |line: &&str| line.starts_with("target ");
        let text: Vec<_> = text.lines().filter(|line| !is_of_target(line)).collect();
        // Without the target's name LLVM does not verify what is read, which is not ready for that.
        let module = parse_ir(context, &text.join("\n"), backend.machine().data_layout(), "");
        let module = module.map_err(|error| it.refuse(&error.to_string()))?;
        backend.machine().adopt(&module);
        retarget::functions(context, &module, backend.is_gpu());
        replace(session, it, &it.kernel, module)?;
    }
    Ok(())
}

/// Puts entries of other texts in place of those of all kernels, or of one that is alone.
pub(super) fn edit_ptx(
    session: &Session<'_, '_>,
    ptx: Vec<u8>,
    alone: Option<usize>,
) -> Result<Vec<u8>, Error> {
    let signatures = &session.job.source.signatures;
    let is_nvidia = matches!(session.job.config.target, Target::Ptx(_) | Target::Cubin(_));
    let mut text = ptx;
    for it in &session.job.source.lowered.overrides {
        let OverrideCode::Ptx(other) = &it.code else { continue };
        let place = signatures.iter().position(|kernel| kernel.symbol == it.kernel);
        if alone.is_some() && alone != place || !is_nvidia {
            continue;
        }
        let entry = place.and_then(|place| session.entries.get(place));
        let entry = entry.ok_or_else(|| Error::Internal(format!("{} has no entry", it.kernel)))?;
        let own = String::from_utf8_lossy(&text);
        let function = session.module.function(&entry.symbol);
        let has_record =
            function.is_some_and(|it| it.text_attribute(PANIC_RECORD_PARAMETER).is_some());
        let edited = replace_entry(&own, other, &entry.symbol, has_record);
        text = edited.map_err(|message| it.refuse(&message))?.into_bytes();
    }
    Ok(text)
}

/// Links a module that has a kernel under another symbol, in place of the kernel of the session.
fn replace<'c>(
    session: &Session<'_, 'c>,
    it: &Override,
    symbol: &str,
    part: Module<'c>,
) -> Result<(), Error> {
    let shim = format!("{SHIM_PREFIX}{}", it.kernel);
    let theirs = format!("{SHIM_PREFIX}{symbol}");
    let found = part.function(&theirs).filter(|function| !function.is_declaration());
    let found = found.ok_or_else(|| {
        it.refuse(&format!(
            "it has no function `{theirs}`; begin with the stage `ir` of the kernel, which \
             `KERNELMILL_DUMP=ir` writes"
        ))
    })?;
    let own = session.module.function(&shim);
    let own = own.ok_or_else(|| Error::Internal(format!("there is no {shim}")))?;
    let (expected, has) = (parameters(own.value_type()), parameters(found.value_type()));
    if expected != has {
        return Err(it.refuse(&format!(
            "its parameters are ({}), and those of the kernel ({})",
            has.join(", "),
            expected.join(", ")
        )));
    }
    for value in part.definitions().into_iter().chain(part.globals()) {
        if !value.is_declaration() && !value.name().starts_with("llvm.") && value != found {
            value.drop_comdat();
            value.set_linkage(Linkage::Internal);
        }
    }
    own.set_name(&format!("{shim}.overridden"));
    own.set_linkage(Linkage::Internal);
    found.set_name(&shim);
    session.module.link(part).map_err(|message| it.refuse(&message.to_string()))
}

/// The types of a function's parameters as text.
fn parameters(function: Type<'_>) -> Vec<String> {
    function.parameters().into_iter().map(|ty| format!("{ty:?}")).collect()
}

impl Override {
    /// The error for a file that cannot stand for its kernel.
    pub(crate) fn refuse(&self, message: &str) -> Error {
        Error::Override {
            file: self.file.clone(),
            kernel: self.kernel.clone(),
            message: message.to_owned(),
        }
    }
}
