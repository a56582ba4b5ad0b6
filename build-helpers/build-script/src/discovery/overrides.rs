//! Overrides: files that `KERNELMILL_OVERRIDE_<kernel>` puts in place of one stage of a kernel.

use super::{
    override_file::{Form, KernelOverride},
    source::Source,
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, paths, report::Report},
    settings::{overrides::PREFIX, package::Package, resolved::Settings},
};
use kernelmill_artifact::target::nearest;
use kernelmill_compiler::diagnostic::Code;
use std::fs;

/// Gives the package's own sources the files that stand for their kernels, and warns of each. A file that is not there is a
/// warning too, and the kernel is compiled from its source.
///
/// # Errors
///
/// [`Error::Settings`] with every file of a kind that is not known.
pub(crate) fn attach(
    environment: &BuildEnvironment,
    package: &Package,
    settings: &Settings,
    sources: &mut [Source],
) -> Result<(), Error> {
    let (mut report, mut names) = (Report::default(), Vec::new());
    for source in sources.iter_mut() {
        let mut found = Vec::new();
        for kernel in source.kernels() {
            names.push(kernel.name.to_string());
            let variable = format!("{PREFIX}{}", kernel.name);
            let Some(written) = environment.path(&variable) else { continue };
            let path = paths::normal(&package.root.join(&written));
            let display = written.display().to_string();
            let Some(form) = Form::of(&path) else {
                report.plain(
                    Code::Override,
                    format!(
                        "{variable} is `{display}`, and no stage of a kernel has this extension"
                    ),
                    "name a file that ends in `.ll`, `.cu`, `.cl`, `.wgsl`, `.ptx` or `.spv`",
                );
                continue;
            };
            package.watch(environment, &path);
            let is_text =
                |content: &Vec<u8>| form == Form::Spirv || str::from_utf8(content).is_ok();
            let Some(content) = fs::read(&path).ok().filter(is_text) else {
                environment.cargo.warn(&format!(
                    "{variable} is `{display}`, which cannot be read: the kernel `{}` is compiled from {}",
                    kernel.name, kernel.file
                ));
                continue;
            };
            environment.cargo.warn(&format!(
                "this build has overridden code: `{display}` replaces {} of the kernel `{}` of {}, because {variable} is set",
                form.subject(),
                kernel.name,
                kernel.file
            ));
            let (symbol, name) = (kernel.symbol.to_string(), kernel.name.to_string());
            let content = content.into();
            found.push(KernelOverride { symbol, name, path, display, form, content });
        }
        source.overrides = found;
    }
    let unknown = settings.overrides.keys().filter(|name| !names.contains(name));
    for name in unknown {
        let nearest = nearest(name, names.clone()).unwrap_or_default();
        environment.cargo.warn(&format!(
            "{PREFIX}{name} is set, and the package `{}` has no kernel `{name}`; the nearest is `{nearest}`",
            package.name
        ));
    }
    report.into_result(Error::Settings)
}
