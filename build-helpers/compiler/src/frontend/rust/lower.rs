//! From a kernel file in Rust to bitcode, by one call of rustc.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    device::DeviceCrate,
    identity::check_types,
    layout,
    mirror::Written,
    rustc::{FULL_DEBUG, extern_argument, instances_variable, run_rustc, rustc, write_into},
    source::RustSource,
};
use crate::{
    Error,
    job::Lowered,
    toolchain::{TemporaryFolder, Toolchain, read_output},
};

/// Compiles a kernel file to bitcode.
pub(crate) fn lower(
    toolchain: &Toolchain,
    device: &DeviceCrate,
    source: &RustSource,
) -> Result<Lowered, Error> {
    let folder = TemporaryFolder::new(&toolchain.scratch, &source.display)?;
    let mirror = source.mirror.as_ref();
    let mirror = mirror.map(|it| Written::new(it, &folder.path.join("crate"))).transpose()?;
    let output = |extension: &str| folder.path.join(crate_name(source) + extension);
    let (bitcode, dependencies) = (output(".bc"), output(".d"));
    let mut command = command(toolchain, device, source, mirror.as_ref());
    write_into(&mut command, &folder.path, "llvm-bc,dep-info");
    let warnings = run_rustc(command, toolchain, &source.display)?;
    let written = |path: &Path| read_output(path, &toolchain.rustc, &source.display);
    let (inputs, variables) = dependencies_in(&written(&dependencies)?, &source.package_root);
    let inputs = mirror.as_ref().map_or(inputs.clone(), |mirror| mirror.originals(inputs));
    let module = written(&bitcode)?;
    if !is_bitcode(&module) {
        let (rustc, display) = (toolchain.rustc.clone(), source.display.clone());
        return Err(Error::NotBitcode { rustc, display });
    }
    check_identity(toolchain, device, (source, mirror.as_ref()), &folder)?;
    let modules = vec![module];
    let lowered = Lowered { modules, inputs, variables, warnings, ..Lowered::default() };
    layout::check(&lowered.modules, &source.signatures)?;
    Ok(lowered)
}

/// Has rustc describe the types of parameters, and compares them with those that were read.
fn check_identity(
    toolchain: &Toolchain,
    device: &DeviceCrate,
    (source, mirror): (&RustSource, Option<&Written<'_>>),
    folder: &TemporaryFolder,
) -> Result<(), Error> {
    let text = folder.path.join(crate_name(source) + ".ll");
    let mut command = command(toolchain, device, source, mirror);
    command.args(["-C", FULL_DEBUG]);
    write_into(&mut command, &folder.path, "llvm-ir");
    run_rustc(command, toolchain, &source.display)?;
    let text = read_output(&text, &toolchain.rustc, &source.display)?;
    check_types(&String::from_utf8_lossy(&text), &source.signatures, &source.functions)
}

/// rustc, told what to compile and not what to write.
fn command(
    toolchain: &Toolchain,
    device: &DeviceCrate,
    source: &RustSource,
    mirror: Option<&Written<'_>>,
) -> Command {
    let mut command = rustc(toolchain, &source.edition);
    command.current_dir(&source.package_root).args(["--crate-type", "rlib"]);
    command.args(["--crate-name", &crate_name(source)]);
    // It has `half`'s types, for a file that has no dependencies.
    for name in ["kernelmill_device", "half"] {
        command.arg("--extern").arg(extern_argument(name, &device.metadata));
    }
    command.arg("-L").arg(extern_argument("dependency", &device.folder));
    for cfg in &source.cfgs {
        command.args(["--cfg", cfg]);
    }
    command.args(&source.arguments).arg(input(source, mirror));
    let (name, value) = instances_variable(&source.instances);
    command.env(name, value);
    match mirror {
        Some(mirror) => remap_mirror(&mut command, source, mirror),
        None => remap_paths(&mut command, source),
    }
    command
}

/// Has rustc name the files of a mirror as they are called outside, those of the package from its folder on. Its lints are
/// for the build of the whole crate, where more is used.
fn remap_mirror(command: &mut Command, source: &RustSource, mirror: &Written<'_>) {
    command.args(["--cap-lints", "allow"]);
    let (all, own) = (mirror.folder(), mirror.of(&source.package_root));
    // The last one that fits counts.
    for (from, to) in [(&*source.package_root, ""), (all, ""), (&*own, "")] {
        command.arg("--remap-path-prefix").arg(remapping(from, Path::new(to)));
    }
}

/// Keeps the paths of a checkout out of what rustc writes about source lines.
fn remap_paths(command: &mut Command, source: &RustSource) {
    if !source.path.starts_with(&source.package_root) {
        let (from, to) = (source.path.parent(), Path::new(&source.display).parent());
        let from = from.unwrap_or(&source.path);
        let to = to.unwrap_or(Path::new(""));
        command.arg("--remap-path-prefix").arg(remapping(from, to));
    }
    // The folder that rustc runs in is part of source lines too.
    let root = remapping(&source.package_root, Path::new(""));
    command.arg("--remap-path-prefix").arg(root);
}

/// `from=to`.
fn remapping(from: &Path, to: &Path) -> OsString {
    let mut text = from.as_os_str().to_owned();
    text.push("=");
    text.push(to);
    text
}

/// The file as rustc is given it: relative to the package where it lies in it, so that no path of
/// a checkout gets into the code.
fn input(source: &RustSource, mirror: Option<&Written<'_>>) -> PathBuf {
    if let Some(mirror) = mirror {
        return mirror.of(&source.path);
    }
    match source.path.strip_prefix(&source.package_root) {
        Ok(relative) => relative.to_owned(),
        Err(_) => source.path.clone(),
    }
}

/// Bitcode is raw or, for Apple's systems, in a wrapper.
fn is_bitcode(content: &[u8]) -> bool {
    content.starts_with(b"BC\xc0\xde") || content.starts_with(&0x0b17_c0de_u32.to_le_bytes())
}

/// A crate name from the file's name, or from that of the module.
fn crate_name(source: &RustSource) -> String {
    match source.display.rsplit_once("::") {
        Some((_, module)) if source.mirror.is_some() => name_of_crate(Path::new(module)),
        _ => name_of_crate(&source.path),
    }
}

fn name_of_crate(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("kernel_{name}") } else { name }
}

/// The files that a dependency file in make's notation names, absolute, and the environment
/// variables.
fn dependencies_in(file: &[u8], base: &Path) -> (Vec<PathBuf>, Vec<String>) {
    let text = String::from_utf8_lossy(file);
    // rustc writes one rule for the output and then an empty one for each input.
    let mut inputs: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| line.strip_suffix(':'))
        .map(|name| base.join(name.replace("\\ ", " ")))
        .collect();
    inputs.sort();
    inputs.dedup();
    let variables = text.lines().filter_map(|line| line.strip_prefix("# env-dep:"));
    let variables = variables
        .map(|variable| variable.split('=').next().unwrap_or(variable).to_owned())
        .collect();
    (inputs, variables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_crate_names() {
        assert_eq!(name_of_crate(Path::new("kernels/my-kernel.v2.rs")), "my_kernel_v2");
        assert_eq!(name_of_crate(Path::new("3d.rs")), "kernel_3d");
    }

    #[test]
    fn dependency_files_are_read() {
        let text = "/x/k.bc: kernels/a.rs kernels/b\\ c.rs\n\nkernels/a.rs:\nkernels/b\\ c.rs:\n\n# env-dep:SIZE=4\n# env-dep:OTHER\n";
        let (inputs, variables) = dependencies_in(text.as_bytes(), Path::new("/p"));
        assert_eq!(variables, ["SIZE", "OTHER"]);
        assert_eq!(inputs, [Path::new("/p/kernels/a.rs"), Path::new("/p/kernels/b c.rs")]);
    }
}
