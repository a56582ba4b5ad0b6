//! nvlink, NVIDIA's linker of device code. A relocatable cubin is linked with libraries of device code
//! only where something is undefined after the compiler's own linking.

use std::{collections::BTreeSet, path::Path, process::Command};

use kernelmill_artifact::NvidiaArch;

use super::{
    ToolLimits,
    failed::KeptRun,
    scratch::{TemporaryFolder, read},
};
use crate::{Error, job::DeviceLink};

/// A relocatable cubin.
pub(crate) struct Relocatable<'a> {
    pub(crate) cubin: &'a Path,
    pub(crate) arch: NvidiaArch,
    /// The source, for messages.
    pub(crate) name: &'a str,
    /// What nvlink may take.
    pub(crate) limits: ToolLimits,
    /// The folder below which the files of a failed run are kept.
    pub(crate) scratch: &'a Path,
}

/// What came of a device link.
pub(crate) enum Linked {
    Cubin(Vec<u8>),
    /// The names that are defined nowhere.
    Undefined(BTreeSet<String>),
    /// A name that a library defines with other types.
    OtherTypes(String),
}

impl DeviceLink {
    /// The error where libraries define a function with different types.
    pub(crate) fn clash(&self, name: &str, arch: NvidiaArch) -> Error {
        let stderr = format!("`{name}` is defined with different types");
        let subject = format!("{} for sm_{arch}", self.names());
        Error::Tool { tool: "nvlink", subject, stderr, kept: None }
    }

    /// Links a relocatable cubin with what it needs of the libraries.
    ///
    /// # Errors
    ///
    /// [`Error::Tool`] with what nvlink says, where names that are defined nowhere are not all of it.
    pub(crate) fn link(
        &self,
        object: &Relocatable<'_>,
        folder: &TemporaryFolder,
    ) -> Result<Linked, Error> {
        let Relocatable { cubin, arch, name, limits, scratch } = *object;
        let nvlink = self.nvlink.as_ref();
        let nvlink = nvlink.ok_or_else(|| Error::Internal("no nvlink for a cubin".to_owned()))?;
        let output = folder.path.join("linked.cubin");
        let mut command = Command::new(nvlink);
        command
            .arg(format!("-arch=sm_{arch}"))
            // What host code in the libraries refers to says nothing of our kernels.
            .arg("--ignore-host-info")
            .arg(cubin)
            .args(self.libraries.iter().map(|library| &library.path))
            .arg("-o")
            .arg(&output);
        let subject = format!("{name} for sm_{arch}");
        let kept = KeptRun { limits, scratch, name: &subject, folder, root: None };
        let result = kept.output(&mut command)?;
        if result.status.success() {
            return Ok(Linked::Cubin(read(&output)?));
        }
        let said = String::from_utf8_lossy(&[result.stdout, result.stderr].concat()).into_owned();
        let cubin = cubin.to_string_lossy();
        match (undefined(&said, &cubin), other_types(&said)) {
            (Some(names), _) => Ok(Linked::Undefined(names)),
            (_, Some(name)) => Ok(Linked::OtherTypes(name)),
            (None, None) => {
                let stderr = said.replace(&*cubin, name);
                let subject = format!("{name} for sm_{arch} with {}", self.names());
                let kept = kept.keep(&command);
                Err(Error::Tool { tool: "nvlink", subject, stderr, kept })
            }
        }
    }
}

/// The names that nvlink misses in an object, where it complains of nothing else.
fn undefined(said: &str, object: &str) -> Option<BTreeSet<String>> {
    let errors = said.lines().filter(|line| line.starts_with("nvlink error"));
    let names = errors.map(|line| {
        let (_, rest) = line.split_once("Undefined reference to '")?;
        let (name, place) = rest.split_once('\'')?;
        place.contains(object).then(|| name.to_owned())
    });
    let names: BTreeSet<_> = names.collect::<Option<_>>()?;
    (!names.is_empty()).then_some(names)
}

/// The name of a function that a library defines with other types, which is the first that nvlink says.
fn other_types(said: &str) -> Option<String> {
    let (_, rest) = said.split_once("Prototype doesn't match for '")?;
    Some(rest.split_once('\'')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_names_are_read_where_nothing_else_is_wrong() {
        let one = "nvlink error   : Undefined reference to 'scalde' in '/t/k.cubin'\n";
        let names = undefined(one, "/t/k.cubin").unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["scalde"]);
        let two = format!("{one}nvlink error   : Undefined reference to 'x' in 'l.a:o'\n");
        assert_eq!(undefined(&two, "/t/k.cubin"), None, "a library misses something itself");
        let types = "nvlink error   : Prototype doesn't match for 'scaled' in 'l.a:o', first defined in 'l.a:o'\n";
        assert_eq!((undefined(types, "k"), other_types(types).as_deref()), (None, Some("scaled")));
        assert_eq!(undefined("nvlink fatal   : Could not open input file 'l.a'\n", "k"), None);
    }
}
