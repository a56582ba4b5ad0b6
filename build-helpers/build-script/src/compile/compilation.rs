//! The context of the stage: what all of its steps need.

use super::{
    binary::Binary,
    compiler::{Compile, Failure},
    front_end::{Front, FrontEnd},
    host,
    nvcc::NvccCompiler,
};
use crate::{
    base::{environment::BuildEnvironment, error::Error},
    plan::units::Unit,
    settings::{package::Package, resolved::Settings},
    store::dependency_record::Inputs,
    toolchain,
};
use kernelmill_compiler::frontend::Architecture;
use kernelmill_store::Store;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Opens the compiler for a package.
pub(crate) type Open<'a> = &'a dyn Fn(&Package, &Settings) -> Result<Box<dyn Compile>, Error>;

/// The error of a tool that is missing, and that front ends do without: what these find is reported with it.
#[derive(Default)]
pub(crate) struct Lacking(Mutex<Option<Error>>);

impl Lacking {
    pub(crate) fn set(&self, error: Error) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    /// Whether no unit need be made.
    pub(crate) fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The error, once.
    pub(crate) fn result(&self) -> Result<(), Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// What every step of compiling needs.
pub(crate) struct Compilation<'a> {
    pub(crate) environment: &'a BuildEnvironment,
    pub(crate) package: &'a Package,
    pub(crate) settings: &'a Settings,
    pub(crate) store: &'a Store,
    pub(crate) inputs: &'a Inputs<'a>,
    /// nvcc, where it is needed and there.
    pub(crate) cuda: Option<NvccCompiler<'a>>,
    /// clang, where it is needed and there.
    pub(crate) clang: Option<&'a toolchain::Clang>,
    /// The architectures that clang compiles CUDA C++ and HIP for.
    pub(crate) architectures: Vec<Architecture>,
    /// Whether binaries are left out: the build makes the wrappers that it can.
    pub(crate) is_skipped: bool,
    pub(crate) open: Open<'a>,
    pub(crate) lacking: &'a Lacking,
    pub(crate) compiler: OnceLock<Box<dyn Compile>>,
    /// The sources that a build without binaries has not read, each with the reason, a line each.
    pub(crate) unread: Mutex<Vec<String>>,
}

/// What nvcc has made while the kernels were read.
pub(crate) struct Early {
    /// Of each unit; `None` where nvcc does not make it.
    pub(crate) binaries: Vec<Option<Result<Binary, Failure>>>,
    /// Of each host file.
    pub(crate) objects: Vec<Result<host::Object, Failure>>,
}

/// What came of each source's front end; `None` where it has not run.
pub(crate) type Fronts = Vec<Option<Result<Front, Failure>>>;

impl Compilation<'_> {
    /// The front end, whose compiler is opened by the first who needs it.
    pub(crate) fn front_end(&self) -> Result<FrontEnd<'_>, Error> {
        if self.compiler.get().is_none() {
            // Of two that open at once, one is dropped.
            let _ = self.compiler.set((self.open)(self.package, self.settings)?);
        }
        let compiler = self.compiler.get().map(Box::as_ref);
        let compiler = compiler.ok_or_else(|| Error::Internal("no compiler".to_owned()))?;
        Ok(FrontEnd {
            environment: self.environment,
            package: self.package,
            settings: self.settings,
            compiler,
            store: self.store,
            inputs: self.inputs,
            version: compiler.version(),
            clang: self.clang,
            architectures: &self.architectures,
        })
    }
}

/// Whether a source goes through a front end: all that nvcc, ptxas and naga do not make alone.
pub(crate) fn has_front(units: &[Unit], source: usize) -> bool {
    units.iter().any(|unit| unit.source == source && unit.compiler.has_front())
}
