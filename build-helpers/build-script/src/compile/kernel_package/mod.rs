//! Compilation of kernel packages: folders with a `Cargo.toml`, whose kernels may use other crates.
//!
//! Cargo builds them, for the host, with the options that leave bitcode in every library.

mod call;

pub(crate) use call::options;

use self::call::Call;
use super::{compiler::Failure, outer_cargo};
use crate::{
    base::{
        environment::BuildEnvironment,
        files::{Access, write},
        paths,
    },
    discovery::source::Source,
    settings::package::Package,
};
use cargo_metadata::{CompilerMessage, Message, diagnostic::DiagnosticLevel};
use kernelmill_compiler::{
    Error, Lowered,
    frontend::rust::{FULL_DEBUG, check_all_read, check_types},
};
use kernelmill_store::digest;
use object::read::archive::ArchiveFile;
use std::{
    ffi::OsString,
    fs,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    process::Command,
};

/// Builds a kernel package and collects the bitcode of its library and of all it depends on.
///
/// # Errors
///
/// [`Error::Rustc`] with what cargo and rustc said, [`Error::Types`] where a parameter has another type
/// than was read, [`Error::HiddenKernels`] where a macro of another crate writes a kernel, [`Error::Io`], and [`Error::Tool`] where the
/// libraries hold no bitcode.
pub(crate) fn lower(
    environment: &BuildEnvironment,
    package: &Package,
    source: &Source,
    debug: Option<&str>,
) -> Result<Lowered, Failure> {
    let name = crate::base::naming::identifier(&source.display);
    let folder = package.out_dir.join("kernelmill").join(name);
    let known = folder.join(INPUTS);
    if is_stale(&known) {
        // Cargo compares times; without its fingerprints it builds everything.
        let fingerprints = folder.join(&package.target).join("release/.fingerprint");
        let _ = fs::remove_dir_all(fingerprints);
    }
    let outer = outer_cargo::options();
    let call = Call { environment, package, source, debug, folder: &folder, outer };
    let mut built = run(call.cargo("build", &[]), package, source)?;
    built.libraries.retain(|library| library.starts_with(folder.join(&package.target)));
    // Cargo names a package after all that it depends on; it comes first here.
    built.libraries.reverse();
    let mut lowered = Lowered { warnings: built.rendered, ..Lowered::default() };
    for library in &built.libraries {
        add_bitcode(library, &mut lowered.modules)?;
    }
    check_identity(&call)?;
    lowered.inputs = inputs(built.libraries.first(), source);
    // Without the list the next build that Cargo takes for fresh is believed, as it was before.
    let _ = write(&known, digests(&lowered.inputs).as_bytes(), Access::AsUsual);
    Ok(lowered)
}

/// Has cargo compile the package alone once more, for rustc to describe the types of parameters, and
/// compares them with those that were read.
fn check_identity(call: &Call<'_>) -> Result<(), Failure> {
    let mut text = call.folder.join("types.ll");
    let mut emit = OsString::from("--emit=llvm-ir");
    // In rustc's list of outputs a comma would end the path.
    let is_named = !text.to_string_lossy().contains(',');
    if is_named {
        emit.push("=");
        emit.push(&text);
    }
    let arguments = ["--".into(), format!("-C{FULL_DEBUG}").into(), emit];
    let built = run(call.cargo("rustc", &arguments), call.package, call.source)?;
    if !is_named {
        text = beside_metadata(&built, &text);
    }
    let bytes =
        fs::read(&text).map_err(|source| Error::Io { action: "read", path: text, source })?;
    let module = String::from_utf8_lossy(&bytes);
    let kernels = call.source.kernels();
    check_types(&module, kernels, &call.source.functions)?;
    check_all_read(&module, kernels, &call.source.display).map_err(|mut error| {
        if let Error::HiddenKernels(hidden) = &mut error {
            for (file, _) in hidden.iter_mut().filter_map(|it| it.place.as_mut()) {
                *file = paths::relative(&call.package.root, Path::new(file));
            }
        }
        error.into()
    })
}

/// The text that rustc has written beside the metadata of a library, where it chose the place.
fn beside_metadata(built: &Built, other: &Path) -> PathBuf {
    let text = |path: &PathBuf| {
        let name = path.file_stem()?.to_str()?;
        Some(path.with_file_name(format!("{}.ll", name.strip_prefix("lib").unwrap_or(name))))
    };
    built.metadata.last().and_then(text).unwrap_or_else(|| other.to_owned())
}

/// The file beside what cargo builds, with the digests of what that was built of.
const INPUTS: &str = "kernelmill-inputs.txt";

/// The digests and paths of files, a file a line.
fn digests(files: &[PathBuf]) -> String {
    let line = |path: &PathBuf| {
        let content = digest(&fs::read(path).unwrap_or_default());
        format!("{content} {}\n", path.display())
    };
    files.iter().map(line).collect()
}

/// Whether a file has another content than when cargo built, and an older time than that build: then cargo
/// takes what it built for fresh, and it is not. Archives and backups bring such files back.
fn is_stale(known: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let (Ok(text), Some(built)) = (fs::read_to_string(known), time(known)) else { return false };
    let entries = text.lines().filter_map(|line| line.split_once(' '));
    let mut old = entries.filter(|(_, path)| time(Path::new(path)).is_none_or(|it| it <= built));
    old.any(|(content, path)| {
        fs::read(path).is_ok_and(|bytes| digest(&bytes).to_string() != content)
    })
}

/// What cargo says of a build that succeeds.
struct Built {
    /// Every library, in the order in which they were built.
    libraries: Vec<PathBuf>,
    /// The metadata of every library, likewise.
    metadata: Vec<PathBuf>,
    /// rustc's messages.
    rendered: String,
}

impl Built {
    /// Records a message of cargo.
    fn record(&mut self, message: Message, own: &Path) {
        match message {
            Message::CompilerArtifact(artifact) => {
                let files = artifact.filenames.into_iter().map(PathBuf::from);
                for file in files {
                    match file.extension().and_then(|it| it.to_str()) {
                        Some("rlib") => self.libraries.push(file),
                        Some("rmeta") => self.metadata.push(file),
                        _ => {}
                    }
                }
            }
            Message::CompilerMessage(CompilerMessage { target, message, .. }) => {
                // Warnings about what the package depends on are for those who write that.
                let is_own = target.src_path.as_std_path().starts_with(own);
                if is_own || message.level == DiagnosticLevel::Error {
                    self.rendered.push_str(message.rendered.as_deref().unwrap_or_default());
                }
            }
            _ => {}
        }
    }
}

fn run(mut command: Command, package: &Package, source: &Source) -> Result<Built, Failure> {
    let failed = |error| Error::Start { program: package.cargo.clone(), source: error };
    package.limits.apply(&mut command);
    let mut child = command.spawn().map_err(failed)?;
    let watch = package.limits.watch(&child);
    let stderr = child.stderr.take();
    let reader = std::thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        // What cannot be read is only missing from a message.
        let _ = stderr.map(|mut pipe| pipe.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let stderr = match reader {
        Ok(reader) => reader,
        Err(error) => {
            // Nobody would read what it says.
            let _ = (child.kill(), child.wait());
            return Err(failed(error).into());
        }
    };
    let mut built = Built { libraries: Vec::new(), metadata: Vec::new(), rendered: String::new() };
    // A line that is no message, which a build script or a procedural macro printed, is a message
    // of its own kind.
    let messages = child.stdout.take().map(|out| Message::parse_stream(BufReader::new(out)));
    for message in messages.into_iter().flatten().map_while(Result::ok) {
        built.record(message, &source.path);
    }
    let status = child.wait();
    let was_idle = watch.finish();
    let status = status.map_err(failed)?;
    let said = stderr.join().unwrap_or_default();
    if status.success() {
        return Ok(built);
    }
    let reason = package.limits.reason(status, was_idle, &format!("{said}\n{}", built.rendered));
    let stderr = if built.rendered.is_empty() { said } else { built.rendered };
    if let Some(reason) = reason {
        let (program, subject) = (package.cargo.clone(), source.display.clone());
        return Err(Error::Ended { program, subject, reason, stderr, kept: None }.into());
    }
    Err(Error::Rustc { stderr }.into())
}

/// Appends the bitcode modules of a library.
fn add_bitcode(library: &Path, modules: &mut Vec<Vec<u8>>) -> Result<(), Failure> {
    let io = |source| Error::Io { action: "read", path: library.to_owned(), source };
    let bytes = fs::read(library).map_err(io)?;
    let failed = |text: String| Error::Tool {
        tool: "cargo",
        subject: library.display().to_string(),
        stderr: text,
        kept: None,
    };
    let archive = ArchiveFile::parse(&*bytes).map_err(|error| failed(error.to_string()))?;
    for member in archive.members() {
        let member = member.map_err(|error| failed(error.to_string()))?;
        let content = member.data(&*bytes).map_err(|error| failed(error.to_string()))?;
        if is_bitcode(content) {
            modules.push(content.to_vec());
        } else if !member.name().starts_with(b"lib.rmeta") {
            // `lib.rmeta`, and since Rust 1.99 `lib.rmeta-link`, is what rustc keeps for itself.
            let name = String::from_utf8_lossy(member.name()).into_owned();
            return Err(failed(format!(
                "the member `{name}` of the library is not LLVM bitcode, which kernels are made of: it is \
                 native code that a dependency or a build script links; leave that out of the kernel package"
            ))
            .into());
        }
    }
    Ok(())
}

/// Bitcode is raw or, for Apple's systems, in a wrapper.
fn is_bitcode(content: &[u8]) -> bool {
    content.starts_with(b"BC\xc0\xde") || content.starts_with(&0x0b17_c0de_u32.to_le_bytes())
}

/// The files that cargo says the library was made of, and those that choose its dependencies.
fn inputs(library: Option<&PathBuf>, source: &Source) -> Vec<PathBuf> {
    let rule = library
        .and_then(|library| fs::read_to_string(library.with_extension("d")).ok())
        .unwrap_or_default();
    let names = rule.split_once(": ").map_or("", |(_, names)| names);
    let mut inputs: Vec<PathBuf> = names
        .replace("\\ ", "\u{0}")
        .split_whitespace()
        .map(|name| PathBuf::from(name.replace('\u{0}', " ")))
        .collect();
    inputs.extend(["Cargo.toml", "Cargo.lock"].map(|name| source.path.join(name)));
    inputs.retain(|path| path.is_file());
    inputs.sort();
    inputs.dedup();
    inputs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        base::{cargo::Cargo, report::Report},
        compile::diagnostics::report_failure,
        discovery::{candidate::Candidate, includes::Headers, read::read, source::SourceKind},
        settings::resolve,
        test_support::Project,
    };

    /// The package of kernels in `kernels/pack`.
    pub(super) fn pack(package: &Package) -> Source {
        let candidate = Candidate {
            path: package.root.join("kernels/pack"),
            display: "kernels/pack".to_owned(),
            kind: SourceKind::Package,
            is_named: false,
        };
        let mut report = Report::default();
        read(candidate, &[], &[], &Headers::default(), &mut Vec::new(), &mut report)
            .unwrap_or_else(|| panic!("{report}"))
    }

    /// The entry point is what `#[kernel]` makes of the kernel.
    #[test]
    fn types_of_a_package_are_those_that_rustc_compiles() {
        let text = "use other::kernel;\n\
            #[cfg(not(windows))] type T = f32;\n#[cfg(windows)] type T = u32;\n\
            #[kernel] pub fn k(x: T) { let _ = x; }\n\
            #[unsafe(no_mangle)] pub extern \"C\" fn __kernelmill_entry_k(x: T) { k(x) }\n";
        let files = [("kernels/pack/src/lib.rs", text)];
        let project = Project::new("", &[&files[..], &PACKAGES].concat());
        let mut variables = project.variables.clone();
        variables.insert("TARGET".into(), host().into());
        let environment = BuildEnvironment::fixed(variables, Cargo::to(Box::new(std::io::sink())));
        let package = Package::read(&environment).unwrap();
        let source = pack(&package);
        assert_eq!(source.kernels().len(), 1);
        let error = lower(&environment, &package, &source, None).map(drop).unwrap_err();
        let message = error.to_string();
        let expected = "parameter `x` of kernel `k` is read as `u32`, and rustc compiles `f32`: ";
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn kernels_that_macros_of_other_crates_write_are_told() {
        let text = "#![no_std]\nuse other::kernel;\n#[kernel] pub fn k(x: u32) { let _ = x; }\n\
            #[unsafe(no_mangle)] pub extern \"C\" fn __kernelmill_entry_k(x: u32) { k(x) }\nother::kernels!();\n";
        let files = [("kernels/pack/src/lib.rs", text)];
        let mut packages = PACKAGES;
        let with_macro = format!(
            "{}\n#[proc_macro]\npub fn kernels(_: TokenStream) -> TokenStream {{ \
             \"#[unsafe(no_mangle)] pub extern \\\"C\\\" fn __kernelmill_entry_far(_: u32) {{}}\".parse().unwrap() }}\n",
            packages[2].1
        );
        packages[2].1 = &with_macro;
        let project = Project::new("", &[&files[..], &packages].concat());
        let mut variables = project.variables.clone();
        variables.insert("TARGET".into(), host().into());
        let environment = BuildEnvironment::fixed(variables, Cargo::to(Box::new(std::io::sink())));
        let package = Package::read(&environment).unwrap();
        let source = pack(&package);
        let error = lower(&environment, &package, &source, None).map(drop).unwrap_err();
        let settings = resolve::read(&environment, &package, project.builder.clone()).unwrap();
        let mut report = Report::default();
        report_failure(&error, &source, (&package, &settings), &mut report);
        // That which is read is not among them.
        let expected = "\
error[KM0044]: kernel `far` is written by a macro of another crate, and the build cannot read its parameters
 --> kernels/pack/src/lib.rs:5:1
  |
5 | other::kernels!();
  | ^^^^^^^^^^^^^^^^^^
  |
  = help: write `#[kernel]` and the function in the source itself, or by a `macro_rules!` of it";
        assert_eq!(report.to_string(), expected);
    }

    /// A package of kernels without its sources, and a crate with an attribute that does nothing.
    const PACKAGES: [(&str, &str); 3] = [
        (
            "kernels/pack/Cargo.toml",
            "[package]\nname = \"pack\"\nedition = \"2024\"\n\
             [dependencies]\nother = { path = \"../../other\" }\n[workspace]\n",
        ),
        (
            "other/Cargo.toml",
            "[package]\nname = \"other\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n[workspace]\n",
        ),
        (
            "other/src/lib.rs",
            "use proc_macro::TokenStream;\n#[proc_macro_attribute]\npub fn kernel(_: TokenStream, it: TokenStream) -> TokenStream { it }",
        ),
    ];

    /// The triple of this machine.
    fn host() -> String {
        let output = Command::new("rustc").arg("-vV").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
    }

    /// rustc is given lists, which commas separate.
    #[test]
    fn a_comma_in_the_path_of_a_package_ends_no_path() {
        let text = "#![no_std]\nuse other::kernel;\n#[kernel] pub fn k(x: u32) { let _ = x; }\n\
            #[unsafe(no_mangle)] pub extern \"C\" fn __kernelmill_entry_k(x: u32) { k(x) }\n";
        let files = [("kernels/pack/src/lib.rs", text)];
        let project = Project::new("", &[&files[..], &PACKAGES].concat());
        let mut variables = project.variables.clone();
        variables.insert("TARGET".into(), host().into());
        variables.insert("OUT_DIR".into(), project.folder.path().join("a,b=c/out").into());
        let environment = BuildEnvironment::fixed(variables, Cargo::to(Box::new(std::io::sink())));
        let package = Package::read(&environment).unwrap();
        for _ in 0..2 {
            // The second time cargo has nothing to do.
            let lowered =
                lower(&environment, &package, &pack(&package), None).map_err(|it| it.to_string());
            assert_eq!(lowered.unwrap().modules.len(), 1);
        }
        let other = text.replace("entry_k(x: u32) { k(x)", "entry_k(x: f32) { k(x as u32)");
        project.write("app/kernels/pack/src/lib.rs", &other);
        let error = lower(&environment, &package, &pack(&package), None).map(drop).unwrap_err();
        assert!(error.to_string().contains("rustc compiles `f32`"), "{error}");
    }

    #[test]
    fn cargo_builds_a_package_and_everything_in_it_is_bitcode() {
        let files = [
            (
                "kernels/pack/src/lib.rs",
                "#![no_std]\nmod a;\nuse other::kernel;\n#[kernel] pub fn k(x: u32) { a::f(x); }",
            ),
            ("kernels/pack/src/a.rs", "pub fn f(x: u32) -> u32 { x + cfg!(kernelmill) as u32 }"),
        ];
        let project = Project::new("", &[&files[..], &PACKAGES].concat());
        let mut variables = project.variables.clone();
        variables.insert("TARGET".into(), host().into());
        let environment = BuildEnvironment::fixed(variables, Cargo::to(Box::new(std::io::sink())));
        let package = Package::read(&environment).unwrap();
        let source = pack(&package);
        let lowered = lower(&environment, &package, &source, None).unwrap();
        assert_eq!(lowered.modules.len(), 1);
        assert!(lowered.modules.iter().all(|module| is_bitcode(module)));
        let inputs: Vec<_> = lowered
            .inputs
            .iter()
            .map(|path| crate::base::paths::relative(&package.root, path))
            .collect();
        for name in ["kernels/pack/Cargo.toml", "kernels/pack/src/a.rs", "other/src/lib.rs"] {
            assert!(inputs.iter().any(|input| input == name), "{name} in {inputs:?}");
        }
        // A file is restored with its old time, long before the build.
        let file = project.folder.path().join("app/kernels/pack/src/a.rs");
        project.write("app/kernels/pack/src/a.rs", "pub fn f(x: u32) -> u32 { x * 77 }");
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
        fs::File::options().append(true).open(&file).unwrap().set_modified(long_ago).unwrap();
        let changed = lower(&environment, &package, &source, None).unwrap();
        assert_ne!(changed.modules, lowered.modules, "what cargo had built before");
        project.write("app/kernels/pack/src/a.rs", "pub fn f(x: u32) -> u32 { y }");
        let error = lower(&environment, &package, &source, None).unwrap_err().to_string();
        assert!(error.contains("cannot find value `y`"), "{error}");
        assert!(error.contains("--> kernels/pack/src/a.rs:1:27"), "{error}");
    }
}
