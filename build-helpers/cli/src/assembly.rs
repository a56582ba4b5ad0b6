//! Assembly text of binaries, cut into kernels: PTX, and SASS as nvdisasm prints it.

use crate::tools;
use anyhow::{Context as _, Result};
use kernelmill_build::{
    manifest::{Binary, BinaryKind},
    toolchain::Machine,
};
use std::{env, fs, path::Path};

/// Whether a binary can be printed as text.
pub(crate) fn is_printable(binary: &Binary) -> bool {
    matches!(binary.kind, BinaryKind::Ptx | BinaryKind::Cubin)
}

/// PTX as it is, a cubin as nvdisasm prints it.
pub(crate) fn text(kind: BinaryKind, path: &Path) -> Result<String> {
    if kind == BinaryKind::Ptx {
        return fs::read_to_string(path).with_context(|| path.display().to_string());
    }
    let nvdisasm = Machine::at(env::current_dir()?).cuda_tool("nvdisasm").with_context(|| {
        format!("nvdisasm is not there: `{}` installs it", Machine::cuda_command())
    })?;
    let file = path.display().to_string();
    tools::output(&nvdisasm, &["-c", &file]).with_context(|| format!("nvdisasm refuses {file}"))
}

/// From where a kernel begins to where the next one does, or to the end. Kernels are known by their
/// entry points in the binary.
pub(crate) fn kernel<'a>(text: &'a str, entry: &str) -> Option<&'a str> {
    let mut following = entries(text).skip_while(|(_, name)| *name != entry);
    let (start, _) = following.next()?;
    let end = following.next().map_or(text.len(), |(end, _)| end);
    Some(text[start..end].trim_end())
}

/// Where functions begin, with their names: `.visible .entry saxpy(` in PTX, `.text.saxpy:` in SASS.
fn entries(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let place = start;
        start += line.len();
        let name = match line.split_once(".entry ") {
            Some((_, rest)) => rest.split('(').next(),
            None => line.trim().strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')),
        };
        name.map(|name| (place, name.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::kernel;

    const PTX: &str =
        ".version 8.0\n.visible .entry first(\n a\n)\n{\n}\n.visible .entry second(\n)\n{ ret; }\n";

    #[test]
    fn kernels_of_ptx() {
        assert_eq!(kernel(PTX, "first"), Some(".visible .entry first(\n a\n)\n{\n}"));
        assert_eq!(kernel(PTX, "second"), Some(".visible .entry second(\n)\n{ ret; }"));
        assert_eq!(kernel(PTX, "fir"), None);
    }

    #[test]
    fn kernels_of_sass() {
        let sass = "x\n.text.first:\n  EXIT ;\n.text.second:\n  NOP;\n";
        assert_eq!(kernel(sass, "first"), Some(".text.first:\n  EXIT ;"));
    }
}
