//! Reader of sources. Kernels in Rust are read from the text; of other languages the text only says
//! whether there may be one.

use super::{
    candidate::{Candidate, read_bytes},
    included_files::{self, TextFile},
    includes::Headers,
    kernel_package,
    language::Language,
    modules, nesting,
    source::{Source, SourceKind},
};
use crate::{
    base::{encoding, report::Report},
    settings::kernel::is_generic,
};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::frontend::rust::signature::{
    Cfgs, ListedInstances, Reading, SourceText, read_crate_with,
};
use kernelmill_compiler::{frontend::generic::GenericKernel, limit_behind};
use kernelmill_store::digest;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Reads a candidate, of which `cfgs` decide what is compiled, with the instances that the settings list; `None` where it is no source, or where the report says why not.
pub(crate) fn read(
    candidate: Candidate,
    cfgs: &[String],
    listed: &[ListedInstances],
    headers: &Headers,
    watched: &mut Vec<PathBuf>,
    report: &mut Report,
) -> Option<Source> {
    if candidate.kind == SourceKind::File {
        match Language::of(&candidate.path) {
            Some(Language::Rust) | None => {}
            Some(language) => {
                return read_other(candidate, language, headers, watched, report);
            }
        }
    }
    // The features of a package of kernels are its own.
    let (cfgs, texts) = match candidate.kind {
        SourceKind::Package => (Cfgs::default(), kernel_package::texts(&candidate, report)?),
        _ => {
            let cfgs = Cfgs::new(cfgs.iter().cloned());
            let own = read_file(&candidate, report)?;
            let root = root(&candidate);
            let modules = modules::texts(&candidate.path, &own.1, &root, &cfgs, watched, report);
            (cfgs, [vec![(Vec::new(), own)], modules].concat())
        }
    };
    // A kernel in a module's file is one of that file, which is a source too.
    let is_package = candidate.kind == SourceKind::Package;
    let files: Vec<_> = texts
        .iter()
        .map(|(module, (display, text))| SourceText {
            module,
            text,
            display,
            has_kernels: is_package || module.is_empty(),
        })
        .collect();
    for SourceText { text, display, .. } in &files {
        if let Some(line) = nesting::too_deep_at(text) {
            report.plain(
                Code::Nesting,
                format!("`{display}` is nested too deeply to be read, at line {line}"),
                "move inner blocks and expressions to functions of their own",
            );
            return None;
        }
    }
    let known = report.len();
    check_included(&candidate, &files, report);
    if report.len() > known {
        return None;
    }
    let reading = match nesting::on_deep_stack(|| read_crate_with(&files, &cfgs, listed)) {
        Ok(reading) => reading,
        Err(error) => {
            report.message(
                Code::Files,
                format!(
                    "cannot start the thread that reads `{}`: {error}{}",
                    candidate.display,
                    limit_behind(&error)
                ),
            );
            return None;
        }
    };
    let (signatures, functions, generics, variants, warnings) = match reading {
        Reading::Kernels(kernels, ..)
            if kernels.is_empty()
                && !files.iter().any(|file| file.has_kernels && exports(file.text)) =>
        {
            without_kernels(&candidate, report);
            return None;
        }
        Reading::Kernels(kernels, functions, generics, variants, warnings) => {
            (Some(kernels), functions, generics, variants, warnings)
        }
        Reading::NotRust => {
            let has_marker = |text: &str| text.contains("#[kernel") || text.contains("::kernel");
            if !files.iter().any(|file| has_marker(file.text)) {
                without_kernels(&candidate, report);
                return None;
            }
            (None, Vec::new(), Vec::new(), Vec::new(), Vec::new())
        }
        Reading::Rejected(diagnostics) => {
            for (display, text) in texts.into_iter().map(|(_, text)| text) {
                report.add_text(&display, text);
            }
            for diagnostic in diagnostics {
                report.diagnostic(diagnostic);
            }
            return None;
        }
    };
    let Candidate { path, display, kind, .. } = candidate;
    let texts = texts.into_iter().map(|(_, text)| text).collect();
    let instances = instances(&generics, listed);
    Some(Source {
        path,
        display,
        kind,
        signatures,
        functions,
        generics,
        instances,
        templates: Vec::new(),
        weight: 0,
        texts,
        overrides: Vec::new(),
        states: Vec::new(),
        variables: Vec::new(),
        module: None,
        defines: BTreeMap::new(),
        defined: Vec::new(),
        warnings,
        variants,
    })
}

/// Reports what the texts of a candidate take in and is no file. The first text of a file is its own.
fn check_included(candidate: &Candidate, files: &[SourceText<'_>], report: &mut Report) {
    let (root, is_package) = (root(candidate), candidate.kind == SourceKind::Package);
    let file = |(index, file): (usize, &SourceText<'_>)| {
        let in_package = file.display.strip_prefix(&*candidate.display);
        let in_package = in_package.and_then(|rest| rest.strip_prefix('/'));
        let path = match in_package.filter(|_| is_package) {
            Some(name) => candidate.path.join(name),
            None if index == 0 => candidate.path.clone(),
            None => root.join(file.display),
        };
        TextFile { path, display: file.display.to_owned(), text: file.text.into() }
    };
    let files = files.iter().enumerate().map(file).collect();
    let package = if is_package { &candidate.path } else { &root };
    included_files::check(files, (package, &root), report);
}

/// The instances that the settings list of generic kernels, each with the name of its kernel.
pub(super) fn instances(
    generics: &[GenericKernel],
    listed: &[ListedInstances],
) -> Vec<(String, String)> {
    let of = |kernel: &GenericKernel| {
        let meant = listed.iter().filter(|it| is_generic(&it.key, &kernel.name, &kernel.file));
        let texts = meant.flat_map(|it| &it.instances);
        texts.map(|(text, _)| (kernel.name.clone(), text.clone())).collect::<Vec<_>>()
    };
    generics.iter().flat_map(of).collect()
}

/// Reads a file in a language other than Rust.
fn read_other(
    candidate: Candidate,
    language: Language,
    headers: &Headers,
    watched: &mut Vec<PathBuf>,
    report: &mut Report,
) -> Option<Source> {
    let Candidate { path, display, .. } = &candidate;
    let bytes = read_bytes(path, display, report)?;
    if reports_utf16(&bytes, display, &|text| language.may_hold_kernel(text), report) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    let is_source = language.may_hold_kernel(&text)
        || language.has_includes() && headers.may_bring_kernel(language, path, &text, watched);
    if !is_source {
        without_kernels(&candidate, report);
        return None;
    }
    let kind = match language {
        Language::Cuda => SourceKind::Cuda,
        Language::Hip => SourceKind::Hip,
        Language::OpenCl => SourceKind::OpenCl,
        Language::LlvmIr => SourceKind::LlvmIr,
        Language::Ptx => SourceKind::Ptx,
        Language::Wgsl => SourceKind::Wgsl,
        Language::Rust => return None,
    };
    let (feature, is_enabled) = match kind {
        SourceKind::Wgsl => ("wgsl", cfg!(feature = "wgsl")),
        _ => ("cuda-cpp", cfg!(feature = "cuda-cpp")),
    };
    if !is_enabled {
        let name = language.name();
        report.plain(
            Code::MissingFeature, format!("`{display}` is in {name}, and kernelmill-build was built without support for it"),
            format!(
                "enable the feature `{feature}` of kernelmill-build in Cargo.toml: `features = [\"{feature}\"]`"
            ),
        );
        return None;
    }
    // Keys are made of texts, and bitcode is none.
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => Arc::from(text),
        Err(_) if kind == SourceKind::Ptx => {
            report.plain(
                Code::UnreadableFile,
                format!("`{display}` is not UTF-8"),
                "save it as ASCII, the encoding of PTX",
            );
            return None;
        }
        Err(_) if kind == SourceKind::Wgsl => {
            report.plain(
                Code::UnreadableFile,
                format!("`{display}` is not UTF-8"),
                "save it as UTF-8, the encoding of WGSL",
            );
            return None;
        }
        Err(_) => Arc::from(digest(&bytes).to_string()),
    };
    let texts = vec![(display.clone(), text)];
    let Candidate { path, display, .. } = candidate;
    let functions = Vec::new();
    Some(Source {
        path,
        display,
        kind,
        signatures: None,
        functions,
        generics: Vec::new(),
        instances: Vec::new(),
        templates: Vec::new(),
        weight: 0,
        texts,
        overrides: Vec::new(),
        states: Vec::new(),
        variables: Vec::new(),
        module: None,
        defines: BTreeMap::new(),
        defined: Vec::new(),
        warnings: Vec::new(),
        variants: Vec::new(),
    })
}

/// The folder that the names of files are relative to: the package's.
fn root(candidate: &Candidate) -> PathBuf {
    let depth = Path::new(&candidate.display).components().count();
    let above = candidate
        .path
        .ancestors()
        .nth(depth)
        .filter(|root| root.join(&candidate.display) == candidate.path);
    let folder = || candidate.path.parent().map(Path::to_owned).unwrap_or_default();
    above.map_or_else(folder, Path::to_owned)
}

/// Whether a text in Rust may have functions that kernels of other sources can name.
pub(super) fn exports(text: &str) -> bool {
    text.contains("no_mangle") && text.contains("extern \"C\" fn") || text.contains("device_fn")
}

/// The text of a Rust file that may hold a kernel, or functions for others.
fn read_file(candidate: &Candidate, report: &mut Report) -> Option<(String, Arc<str>)> {
    let display = &candidate.display;
    let Some(language) = Language::of(&candidate.path) else {
        report.plain(
            Code::NoKernelSource,
            format!("`{display}` is not a kernel source"),
            "name a file with the extension .rs, .cu, .hip, .cl, .ll, .bc, .ptx or .wgsl",
        );
        return None;
    };
    let bytes = read_bytes(&candidate.path, display, report)?;
    let is_source = |text: &str| language.may_hold_kernel(text) || exports(text);
    if reports_utf16(&bytes, display, &is_source, report) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    if !language.may_hold_kernel(&text) && !exports(&text) {
        without_kernels(candidate, report);
        return None;
    }
    if let Ok(text) = String::from_utf8(bytes) {
        Some((display.clone(), text.into()))
    } else {
        report.plain(Code::UnreadableFile, format!("`{display}` is not UTF-8"), "save it as UTF-8");
        None
    }
}

/// Whether a file is UTF-16, which is reported then: one with the mark of it, and one without that would be a source.
fn reports_utf16(
    bytes: &[u8],
    display: &str,
    is_source: &dyn Fn(&str) -> bool,
    report: &mut Report,
) -> bool {
    let is_marked = encoding::name(bytes).is_some();
    let is_it = is_marked || encoding::utf16(bytes).is_some_and(|text| is_source(&text));
    if is_it {
        report.plain(Code::UnreadableFile, format!("`{display}` is UTF-16"), "save it as UTF-8");
    }
    is_it
}

/// A file without kernels is there for others to include, unless it was named as a source.
fn without_kernels(candidate: &Candidate, report: &mut Report) {
    if candidate.is_named {
        report.plain(
            Code::NoKernelSource,
            format!("`{}` is named as a source and has no kernel", candidate.display),
            "mark a function with `#[kernel]`, or leave the file out",
        );
    }
}
