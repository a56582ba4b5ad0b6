//! Readers of signatures from PTX with debug information.

use super::{classes, debug::Debug, found::Found, ptx, reader::Reader, slots::EntrySlots};
use crate::{diagnostic::SignatureError, frontend::cuda::source::CudaKernel};
use kernelmill_artifact::{DeviceFunction, VariableDeclaration};

/// Reads the kernels of a file from PTX with debug information, in the order of the source.
///
/// `display` is the file as people know it; kernels of headers have the header's path as the
/// compiler knows it.
///
/// # Errors
///
/// [`SignatureError`] where there is no debug information or it is damaged. A kernel whose
/// parameters cannot cross is no error: its [unsupported types](CudaKernel::unsupported) say why.
pub fn read(ptx: &str, display: &str) -> Result<Vec<CudaKernel>, SignatureError> {
    Ok(find(ptx, display)?.into_iter().map(|found| found.kernel).collect())
}

/// As [`read`], for a compiler whose debug information does not say which classes have constructors,
/// which nvcc's does not. `compile` gets C++ to put behind the source, and compiles both as the source
/// was compiled; it is called where a kernel has a struct that it matters for. Where it gives
/// nothing, nothing is lost but the answer.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_with_classes(
    ptx: &str,
    display: &str,
    compile: impl FnOnce(&str) -> Option<String>,
) -> Result<Vec<CudaKernel>, SignatureError> {
    let mut found = find(ptx, display)?;
    if let Some(probe) = classes::probe(&found)
        && let Some(answer) = compile(&probe)
    {
        classes::apply(&mut found, &answer);
    }
    Ok(found.into_iter().map(|found| found.kernel).collect())
}

/// Reads the functions that the host can give to kernels from PTX with debug information, in the order
/// of the source. Their package is left empty.
///
/// # Errors
///
/// [`SignatureError`] where the debug information is damaged, and
/// [`SignatureError::Functions`] with every function that takes or returns what it cannot.
pub fn read_functions(ptx: &str, display: &str) -> Result<Vec<DeviceFunction>, SignatureError> {
    let malformed = |reason: String| SignatureError::Malformed { file: display.to_owned(), reason };
    let ptx = ptx::parse(ptx).map_err(malformed)?;
    let debug = Debug::read(&ptx.sections).map_err(|error| malformed(error.to_string()))?;
    let functions = Reader::new(&ptx, &debug, display).device_functions();
    functions.map_err(SignatureError::Functions)
}

/// Reads the variables that the host can read and write from PTX with debug information, in the order of the source: those
/// in global memory, and those in constant memory that have no value. One of a type that has no counterpart in Rust is not
/// among them.
///
/// # Errors
///
/// [`SignatureError::Malformed`] where the debug information is damaged.
pub fn read_variables(
    ptx: &str,
    display: &str,
) -> Result<Vec<VariableDeclaration>, SignatureError> {
    if !ptx::has_variables(ptx) {
        return Ok(Vec::new());
    }
    let malformed = |reason: String| SignatureError::Malformed { file: display.to_owned(), reason };
    let ptx = ptx::parse(ptx).map_err(malformed)?;
    let debug = Debug::read(&ptx.sections).map_err(|error| malformed(error.to_string()))?;
    Ok(Reader::new(&ptx, &debug, display).variables())
}

fn find(ptx: &str, display: &str) -> Result<Vec<Found>, SignatureError> {
    let file = || display.to_owned();
    let malformed = |reason: String| SignatureError::Malformed { file: file(), reason };
    let ptx = ptx::parse(ptx).map_err(malformed)?;
    if ptx.entries.is_empty() {
        return Ok(Vec::new());
    }
    if ptx.sections.get(".debug_info").is_empty() {
        return Err(SignatureError::NoDebugInformation { file: file() });
    }
    let debug = Debug::read(&ptx.sections).map_err(|error| malformed(error.to_string()))?;
    Ok(Reader::new(&ptx, &debug, display).kernels())
}

/// The kernels of PTX, as its text describes them: the bytes of parameters, and limits of launches.
///
/// # Errors
///
/// [`SignatureError::Malformed`] where a section cannot be read.
pub(crate) fn read_entries(ptx: &str, display: &str) -> Result<Vec<EntrySlots>, SignatureError> {
    let malformed = |reason: String| SignatureError::Malformed { file: display.to_owned(), reason };
    let ptx = ptx::parse(ptx).map_err(malformed)?;
    let entries = ptx.entries.into_iter();
    let entries = entries.map(|ptx::Entry { symbol, parameters, limits }| EntrySlots {
        symbol,
        parameters: parameters.into_iter().map(|slot| (slot.size, slot.align)).collect(),
        limits,
    });
    Ok(entries.collect())
}
