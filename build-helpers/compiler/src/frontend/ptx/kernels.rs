//! Kernels of a file in PTX, with their parameters.

use std::fmt::Write as _;

use kernelmill_artifact::{
    Dimension, Parameter, PtxEntry, PtxParameter, Safety, Signature, ptx_entries,
};

use super::{
    header::Header,
    parameters,
    source::{PtxSource, fault},
};
use crate::{
    Error,
    frontend::{
        cuda::{CudaKernel, clang::lower::check_limits, signature},
        llvm_ir::DeclaredKernel,
    },
};

/// Reads the kernels of a file: no tool is needed for that.
///
/// ```
/// use kernelmill_compiler::frontend::ptx::{PtxSource, kernels};
/// let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
///             .entry k(.param .u64 .ptr .global x, .param .f32 a) { ret; }\n";
/// let source = PtxSource {
///     path: "kernels/k.ptx".into(),
///     display: "kernels/k.ptx".to_owned(),
///     package_root: ".".into(),
///     text: text.to_owned(),
///     declared: Vec::new(),
/// };
/// assert_eq!(kernels(&source)?[0].signature.to_string(), "unsafe fn k(x: *mut u8, a: f32)");
/// # Ok::<(), kernelmill_compiler::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::Ptx`] with every fault: a head that is missing, no kernel, parameters that are declared in another way than
/// the file has them, or that neither says. [`Error::Limits`] where launches cannot be.
pub fn kernels(source: &PtxSource) -> Result<Vec<CudaKernel>, Error> {
    let PtxSource { display, text, declared, .. } = source;
    let mut faults = match Header::read(text, display) {
        Ok(_) => String::new(),
        Err(Error::Ptx { text }) => text,
        Err(error) => return Err(error),
    };
    let entries = ptx_entries(text);
    if entries.is_empty() {
        let why = "it has no kernel: no `.entry` with a body\n  help: write one, or leave the file out \
                   with `exclude`";
        return Err(Error::Ptx { text: faults + &fault(display, 0, why) });
    }
    let mut kernels = Vec::new();
    for entry in &entries {
        let declared = declared.iter().find(|it| it.is(display, entry.name));
        match parameters_of(entry, declared) {
            Ok(parameters) => kernels.push(kernel(display, entry, parameters)),
            Err(texts) => texts.iter().for_each(|text| {
                let text = format!("the kernel `{}`: {text}", entry.name);
                let _ = writeln!(faults, "{}", fault(display, entry.line, &text));
            }),
        }
    }
    if !faults.is_empty() {
        return Err(Error::Ptx { text: faults });
    }
    check_limits(&kernels)?;
    Ok(kernels)
}

fn parameters_of(
    entry: &PtxEntry<'_>,
    declared: Option<&DeclaredKernel>,
) -> Result<Vec<Parameter>, Vec<String>> {
    let faults: Vec<_> = entry.parameters.iter().filter_map(other_memory).collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    if let Some(declared) = declared {
        return parameters::declared(&declared.parameters, &entry.parameters);
    }
    parameters::known(&entry.parameters).ok_or_else(|| {
        let key = signature::wrapper_name(entry.name);
        let suggestion = parameters::suggestion(&entry.parameters);
        vec![format!(
            "the types of its parameters are not known: a `.param` of bits, of `.u64` without `.ptr` or of several \
             elements does not say what it is\n  help: declare them, for example `[kernels.{key}] parameters = \
             [{suggestion}]`"
        )]
    })
}

/// What is wrong with a pointer into other memory than a buffer's.
fn other_memory(param: &PtxParameter<'_>) -> Option<String> {
    let space = param.pointer.flatten().filter(|space| *space != ".global")?;
    Some(format!(
        "the parameter `{}` is a pointer into `{space}` memory, which a launch cannot pass\n  help: pass global \
         memory, and declare other memory in the kernel",
        param.name
    ))
}

fn kernel(display: &str, entry: &PtxEntry<'_>, parameters: Vec<Parameter>) -> CudaKernel {
    CudaKernel {
        signature: Signature {
            name: signature::wrapper_name(entry.name).into(),
            symbol: entry.name.to_owned().into(),
            dimension: Dimension::Any,
            safety: Safety::Unsafe,
            limits: entry.limits,
            parameters: parameters.into(),
            file: display.to_owned().into(),
            line: entry.line,
        },
        full_name: signature::full_name(entry.name),
        unsupported: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pointer_into_other_memory_is_reported() {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n\
                    .entry k(.param .u64 .ptr .shared .align 4 x, .param .u64 .ptr .global .align 4 y,\n\
                    .param .u64 .ptr .local .align 4 z) { ret; }\n";
        let source = PtxSource {
            path: "kernels/k.ptx".into(),
            display: "kernels/k.ptx".to_owned(),
            package_root: ".".into(),
            text: text.to_owned(),
            declared: Vec::new(),
        };
        let error = kernels(&source).unwrap_err().to_string();
        let found: Vec<_> = error.lines().filter(|line| !line.starts_with("  help: ")).collect();
        let fault = |name: &str, space: &str| {
            format!(
                "kernels/k.ptx:4: error: the kernel `k`: the parameter `{name}` is a pointer into `{space}` memory, \
                 which a launch cannot pass"
            )
        };
        assert_eq!(found, [fault("x", ".shared"), fault("z", ".local")]);
    }
}
