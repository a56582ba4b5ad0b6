//! Diagnostics of compilers, in their own words.

use super::{compiler::Failure, front_end::Front};
use crate::{
    base::{environment::BuildEnvironment, report::Report},
    discovery::{
        place::{place_at, place_of_line, place_of_parameter},
        source::Source,
    },
    settings::{origin::Value, package::Package, resolved::Settings},
};
use kernelmill_artifact::Target;
use kernelmill_compiler::{
    Error as CompileError, HiddenKernel, ParameterSpace,
    diagnostic::{Code, Diagnostic, Message, MessageSeverity},
};
use std::collections::BTreeSet;

/// Kernels that are invalid for their targets. What several targets say alike is reported once.
#[derive(Default)]
pub(super) struct InvalidKernels(Vec<(usize, CompileError)>);

impl InvalidKernels {
    /// Keeps an error that is one of these, and gives back others.
    pub(super) fn add(&mut self, source: usize, error: Failure) -> Option<Failure> {
        let CompileError::Invalid { targets, faults } = &*error else { return Some(error) };
        for (other, known) in &mut self.0 {
            if let CompileError::Invalid { targets: all, faults: known } = known
                && (*other, &*known) == (source, faults)
            {
                all.extend(targets.iter().cloned());
                return None;
            }
        }
        let (targets, faults) = (targets.clone(), faults.clone());
        self.0.push((source, CompileError::Invalid { targets, faults }));
        None
    }

    pub(super) fn report(&self, sources: &[Source], report: &mut Report) {
        for (source, error) in &self.0 {
            report_error(error, &sources[*source].display, report);
        }
    }
}

/// Passes on what the front end found, and what Cargo must watch.
pub(super) fn check_front(
    environment: &BuildEnvironment,
    (package, settings): (&Package, &Settings),
    source: &Source,
    front: &Result<Front, Failure>,
    report: &mut Report,
) {
    match front {
        Ok(front) => {
            for front in front.all() {
                front.inputs.iter().for_each(|input| package.watch(environment, input));
                if source.kind.is_read_by_compiler() {
                    environment.cargo.warn_of(source.kind.compiler_name(), &front.warnings);
                } else {
                    environment.cargo.warn(&front.warnings);
                }
            }
            if source.signatures.is_none() {
                report.plain(
                    Code::OtherTypes,
                    format!("the kernels in `{}` cannot be read: it has syntax that this version of kernelmill does not know", source.display),
                    "update kernelmill-build, or avoid newer syntax in this file",
                );
            }
        }
        Err(error) => report_failure(error, source, (package, settings), report),
    }
}

/// What a front end found, and the arguments that the settings give it where it speaks of no place in a source: it may
/// refuse one of them, and knows nothing of settings.
pub(crate) fn report_failure(
    error: &CompileError,
    source: &Source,
    (package, settings): (&Package, &Settings),
    report: &mut Report,
) {
    match error {
        CompileError::HiddenKernels(hidden) => {
            hidden.iter().for_each(|kernel| report_hidden(kernel, source, report));
        }
        _ => report_error(error, &source.display, report),
    }
    report_absent(error, source, report);
    report_prelude(error, source, report);
    report_crate_paths(error, source, package, report);
    report_arguments(error, source, (package, settings), false, report);
}

/// A kernel that a macro of another crate writes, at the line of the macro's call where the source has it.
fn report_hidden(kernel: &HiddenKernel, source: &Source, report: &mut Report) {
    let placed = kernel.place.as_ref().and_then(|(file, line)| {
        let (_, text) = source.texts.iter().find(|(display, _)| display == file)?;
        Some((file, text.clone(), place_of_line(file, text, *line)))
    });
    let Some((file, text, place)) = placed else {
        return report.message(Code::HiddenKernel, kernel.to_string());
    };
    report.add_text(file, text);
    let message = format!(
        "kernel `{}` is written by a macro of another crate, and the build cannot read its parameters",
        kernel.kernel
    );
    let help =
        "write `#[kernel]` and the function in the source itself, or by a `macro_rules!` of it";
    report.diagnostic(
        Diagnostic::error(Code::HiddenKernel, place, message).kernel(&kernel.kernel).help(help),
    );
}

/// What a module of kernels does not have of its crate, where rustc does not know a name: it cannot say why.
fn report_absent(error: &CompileError, source: &Source, report: &mut Report) {
    const UNKNOWN: [&str; 8] = [
        "[E0405]",
        "[E0412]",
        "[E0425]",
        "[E0432]",
        "[E0433]",
        "cannot find macro",
        "cannot find attribute",
        "cannot find derive macro",
    ];
    let CompileError::Rustc { stderr } = error else { return };
    if source.module.is_none() || !UNKNOWN.iter().any(|text| stderr.contains(text)) {
        return;
    }
    report.plain(
        Code::OutsideModule,
        format!(
            "`{}` is compiled for devices without the rest of its crate, and without the crate's dependencies",
            source.display
        ),
        "move what its kernels need into the module; put `#[cfg(not(kernelmill))]` before what only the host needs, and \
         write a derive of another crate as `#[cfg_attr(not(kernelmill), derive(..))]`",
    );
}

/// What a file of kernels imports, where rustc does not know `#[kernel]`: it cannot say where that is.
fn report_prelude(error: &CompileError, source: &Source, report: &mut Report) {
    let CompileError::Rustc { stderr } = error else { return };
    let is_unknown = ["`kernel`", "`device_fn`"]
        .iter()
        .any(|name| stderr.contains(&format!("cannot find attribute {name} in this scope")));
    if is_unknown && source.texts.iter().all(|(_, text)| !text.contains("kernelmill_device")) {
        let help = format!(
            "help: write `use kernelmill_device::prelude::*;` at the top of {}: it has `#[kernel]`, `DisjointSlice`, \
             `thread` and what else kernels use",
            source.display
        );
        report.verbatim(None, help);
    }
}

/// What the `crate` of a kernel file is, where rustc does not find a module in it that the package's own source has.
fn report_crate_paths(
    error: &CompileError,
    source: &Source,
    package: &Package,
    report: &mut Report,
) {
    let CompileError::Rustc { stderr } = error else { return };
    let is_unknown = ["[E0432]", "[E0433]"].iter().any(|code| stderr.contains(code));
    let file = source.path.strip_prefix(&package.root);
    let (true, None, Ok(file)) = (is_unknown, &source.module, file) else { return };
    let mut names: Vec<_> = stderr
        .split("crate::")
        .skip(1)
        .filter_map(|rest| rest.split(|c: char| c != '_' && !c.is_alphanumeric()).next())
        .collect();
    names.sort_unstable();
    names.dedup();
    let up = "../".repeat(file.components().count() - 1);
    let found = names.into_iter().find_map(|name| {
        let places = [format!("src/{name}.rs"), format!("src/{name}/mod.rs")];
        let place = places.into_iter().find(|place| package.root.join(place).is_file())?;
        Some((name, place))
    });
    if let Some((name, place)) = found {
        let help = format!(
            "help: the root of a kernel file, its `crate`, is the file itself; write `#[cfg(kernelmill)] #[path = \"{up}{place}\"] mod \
             {name};` in {}, and `crate::{name}` is the same file for devices and for the host",
            source.display
        );
        report.verbatim(None, help);
    }
}

/// The arguments of the settings that a compiler may refuse; where it accepted them before, those that it names.
pub(super) fn report_arguments(
    error: &CompileError,
    source: &Source,
    (package, settings): (&Package, &Settings),
    is_accepted: bool,
    report: &mut Report,
) {
    let Some(whose) = source.kind.arguments() else { return };
    let Some((compiler, said)) = without_place(error) else { return };
    let given = source.written_arguments(settings);
    let is_quoted = |part: &str| {
        let quotes = [('`', '`'), ('\'', '\''), ('\u{2018}', '\u{2019}')];
        !part.is_empty()
            && quotes.iter().any(|(left, right)| said.contains(&format!("{left}{part}{right}")))
    };
    let is_named = |written: &&&str| {
        let text = whose.of(written);
        let name = text.split('=').next().unwrap_or(text).trim_start_matches('-');
        let value = text.split_once('=').map_or("", |(_, value)| value);
        let dashless = [text, value].map(|it| it.trim_start_matches('-'));
        let parts = [text, name, name.trim_start_matches('C'), value].into_iter().chain(dashless);
        { parts }.any(is_quoted)
    };
    let mut named: Vec<_> = given.iter().filter(is_named).copied().collect();
    if named.is_empty() && !is_accepted {
        named = given;
    }
    let Some(text) = named.first() else { return };
    let list = named.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
    let message = format!("{compiler} failed, and the setting `arguments` passes {list} to it");
    let help = format!("correct or remove what {compiler} rejects");
    let setting = Value { key: "arguments", text };
    setting.report(Code::CompilerArgument, package, message, &help, report);
}

/// A compiler that failed, and what it says where none of it has a place in a source.
fn without_place(error: &CompileError) -> Option<(String, String)> {
    let (compiler, messages) = match error {
        CompileError::Rustc { stderr } => {
            return (!stderr.contains("--> ")).then(|| ("rustc".to_owned(), stderr.clone()));
        }
        CompileError::NoOutput { program, .. } => {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            return Some((name.into_owned(), String::new()));
        }
        CompileError::Cpp { tool, messages, .. } => (*tool, messages),
        CompileError::Clang { messages, .. }
        | CompileError::Hip { messages, .. }
        | CompileError::OpenCl { messages, .. } => ("clang", messages),
        _ => return None,
    };
    let has_place = messages.iter().any(|message| message.place.is_some());
    let said = || messages.iter().map(|message| format!("{}\n", message.text)).collect();
    (!has_place).then(|| (compiler.to_owned(), said()))
}

/// The includes of headers that are not there, by the places of their lines.
pub(crate) fn missing_headers(error: &CompileError) -> impl Iterator<Item = &(String, u32)> {
    let messages = messages_of(error).iter().filter(|message| message.lacks_header());
    messages.filter_map(|message| message.place.as_ref())
}

/// Whether all that a compiler says is that headers are not there, of which another has said so.
pub(crate) fn says_no_more(error: &CompileError, said: &BTreeSet<(String, u32)>) -> bool {
    let is_said = |message: &&Message| {
        message.lacks_header() && message.place.as_ref().is_some_and(|place| said.contains(place))
    };
    let errors = messages_of(error).iter().filter(|it| it.severity == MessageSeverity::Error);
    let (known, other): (Vec<_>, Vec<_>) = errors.partition(is_said);
    !known.is_empty() && other.is_empty()
}

fn messages_of(error: &CompileError) -> &[Message] {
    match error {
        CompileError::Cpp { messages, .. }
        | CompileError::Clang { messages, .. }
        | CompileError::Hip { messages, .. }
        | CompileError::OpenCl { messages, .. } => messages,
        _ => &[],
    }
}

/// What the compiler found, as it says it where it names its subject itself.
pub(crate) fn report_error(error: &CompileError, subject: &str, report: &mut Report) {
    let Some(code) = error.code() else { return report.verbatim(None, error.to_string()) };
    match error {
        CompileError::Ir { .. }
        | CompileError::Ptx { .. }
        | CompileError::Wgsl { .. }
        | CompileError::Limits { .. }
        | CompileError::Clang { .. }
        | CompileError::Hip { .. }
        | CompileError::OpenCl { .. } => report.verbatim(Some(code), error.to_string()),
        CompileError::Cpp { messages, .. } => {
            // ptxas knows nothing of the source.
            let is_lost = messages.iter().any(|message| message.place.is_none());
            let heading = if is_lost { format!("{subject}:\n") } else { String::new() };
            report.verbatim(Some(code), format!("{heading}{error}"));
        }
        CompileError::NoWgsl { .. }
        | CompileError::NoPtxas { .. }
        | CompileError::NoLinker { .. }
        | CompileError::NoSpirv { .. }
        | CompileError::NoClang { .. }
        | CompileError::Unsupported { .. }
        | CompileError::Layout { .. }
        | CompileError::Types(_)
        | CompileError::HiddenKernels(_)
        | CompileError::ParameterSpace { .. }
        | CompileError::Plugins(_)
        | CompileError::Deferred(_)
        | CompileError::Llvm(_)
        | CompileError::Ended { .. }
        | CompileError::Start { .. } => report.message(code, error.to_string()),
        _ => {
            report.message(code, with_subject(&error.to_string(), subject));
        }
    }
}

/// Kernels whose parameters take more space than their target has, with the size of each large one in the text of the
/// source; false where that text does not have them, as that of a template in C++.
pub(super) fn report_parameter_space(
    error: &CompileError,
    source: &Source,
    report: &mut Report,
) -> bool {
    let CompileError::ParameterSpace { target, limit, faults } = error else { return false };
    let diagnostics: Option<Vec<_>> =
        faults.iter().map(|fault| parameter_space(fault, (target, *limit), source)).collect();
    let Some(diagnostics) = diagnostics else { return false };
    for (file, text) in &source.texts {
        report.add_text(file, text.clone());
    }
    diagnostics.into_iter().for_each(|diagnostic| report.diagnostic(diagnostic));
    true
}

fn parameter_space(
    fault: &ParameterSpace,
    (target, limit): (&Target, u64),
    source: &Source,
) -> Option<Diagnostic> {
    /// What a slice takes, which no other type would make smaller.
    const SLICE: u64 = 16;
    let ParameterSpace { file, line, kernel, bytes, parameters } = fault;
    let (_, text) = source.texts.iter().find(|(display, _)| display == file)?;
    let place = place_at(source, file, *line, kernel);
    let message = format!(
        "the parameters of kernel `{kernel}` take {bytes} bytes, and {target} has space for {limit}"
    );
    let mut diagnostic = Diagnostic::error(Code::ParameterSpace, place.clone(), message)
        .kernel(kernel)
        .help("pass the large ones as slices, which take 16 bytes each");
    for (name, _, size) in parameters.iter().filter(|(_, _, size)| *size > SLICE) {
        let parameter = place_of_parameter(text, &place, name)?;
        diagnostic = diagnostic.label(parameter, format!("{size} bytes"));
    }
    Some(diagnostic)
}

/// An error with its subject: a file, and the target where one is compiled for. What it names itself is not said again.
fn with_subject(text: &str, subject: &str) -> String {
    let (file, target) = subject.split_once(", for ").unwrap_or((subject, ""));
    let Some((_, behind)) = text.lines().next().and_then(|line| line.split_once(file)) else {
        return format!("{subject}: {text}");
    };
    let has_line = behind.starts_with(':') && behind[1..].starts_with(|c: char| c.is_ascii_digit());
    if has_line || behind.contains(target) {
        return text.to_owned();
    }
    text.replacen(file, subject, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{base::cargo::Cargo, discovery::sources, settings::resolve, test_support::Project};

    #[test]
    fn a_file_is_named_once_and_its_target_is_kept() {
        for (text, expected) in [
            ("it fails", "k.cl, for sm_90: it fails"),
            ("clang failed on k.cl:\nwhy", "clang failed on k.cl, for sm_90:\nwhy"),
            ("k.cl: no code for sm_90", "k.cl: no code for sm_90"),
            ("k.cl:5: it fails", "k.cl:5: it fails"),
        ] {
            assert_eq!(with_subject(text, "k.cl, for sm_90"), expected);
        }
        assert_eq!(
            with_subject("rustc wrote nothing for k.rs", "k.rs"),
            "rustc wrote nothing for k.rs"
        );
        assert_eq!(with_subject("it fails", "k.rs"), "k.rs: it fails");
    }

    /// What is said of an error of a source behind what its compiler says.
    fn arguments_behind(arguments: &str, file: (&str, &str), error: &CompileError) -> String {
        let project = Project::new("", &[file]);
        let settings = format!("targets = [\"cpu\"]\narguments = [{arguments}]\n");
        project.write("app/kernelmill.toml", &settings);
        let environment = BuildEnvironment::fixed(
            project.variables.clone(),
            Cargo::to(Box::new(std::io::sink())),
        );
        let package = Package::read(&environment).unwrap();
        let mut settings = resolve::read(&environment, &package, project.builder.clone()).unwrap();
        let found = sources::find(&package, &mut settings).0;
        let [mut whole, mut alone] = [Report::default(), Report::default()];
        report_failure(error, &found.sources[0], (&package, &settings), &mut whole);
        report_error(error, &found.sources[0].display, &mut alone);
        whole.to_string().strip_prefix(&alone.to_string()).unwrap().trim_start().to_owned()
    }

    #[test]
    fn arguments_that_a_compiler_refuses_are_named_with_their_place() {
        const RUST: (&str, &str) = ("kernels/k.rs", "#[kernel] fn k() {}");
        let rustc = |text: &str| CompileError::Rustc { stderr: text.to_owned() };
        let level = "error: optimization level needs to be between 0-3, s or z (instead was `9`)\n";
        let arguments = "\"-Awarnings\", \"rustc:-Copt-level=9\", \"cuda:-O2\"";
        let expected = "error[KM0007]: rustc failed, and the setting `arguments` passes `rustc:-Copt-level=9` to it\n \
            --> kernelmill.toml:2:28";
        let said = arguments_behind(arguments, RUST, &rustc(level));
        assert!(said.starts_with(expected), "{said}");
        assert!(said.ends_with("= help: correct or remove what rustc rejects"), "{said}");
        // What is not named may be any of them.
        let said = arguments_behind(
            arguments,
            RUST,
            &rustc("error: unknown codegen option: `kernels/k.rs`\n"),
        );
        assert!(said.contains("passes `-Awarnings`, `rustc:-Copt-level=9` to it"), "{said}");
        let placed = rustc("error[E0308]: mismatched types\n --> kernels/k.rs:1:1\n");
        assert_eq!(arguments_behind(arguments, RUST, &placed), "");
        assert_eq!(arguments_behind("", RUST, &rustc(level)), "");
        let (program, display) = ("/bin/rustc".into(), "kernels/k.rs".to_owned());
        let nothing = CompileError::NoOutput { program, display };
        let said = arguments_behind("\"-Cllvm-args=-help\"", RUST, &nothing);
        assert!(said.contains("passes `-Cllvm-args=-help` to it"), "{said}");
    }

    /// nvcc and clang read the same source, each with words of its own.
    #[test]
    fn a_header_that_one_compiler_has_missed_is_not_missed_again() {
        let message = |text: &str, line| Message {
            severity: MessageSeverity::Error,
            text: text.to_owned(),
            place: Some(("kernels/two.cu".to_owned(), line)),
            details: Vec::new(),
        };
        let nvcc = CompileError::Cpp {
            tool: "nvcc",
            messages: vec![message("absent.h: No such file or directory", 1)],
            kept: None,
        };
        let said: BTreeSet<_> = missing_headers(&nvcc).cloned().collect();
        assert_eq!(said.len(), 1);
        let absent = || message("'absent.h' file not found", 1);
        let display = "kernels/two.cu".to_owned();
        let clang = |messages| CompileError::Clang { display: display.clone(), messages };
        assert!(says_no_more(&clang(vec![absent()]), &said));
        // Another header, and another fault of the same source, are said.
        assert!(!says_no_more(&clang(vec![message("'other.h' file not found", 2)]), &said));
        assert!(!says_no_more(&clang(vec![message("unknown type name", 2), absent()]), &said));
        assert!(!says_no_more(&clang(Vec::new()), &said));
        assert!(!says_no_more(&CompileError::Rustc { stderr: String::new() }, &said));
    }

    #[test]
    fn a_file_without_the_prelude_is_told_of_it() {
        let unknown = |name: &str| CompileError::Rustc {
            stderr: format!(
                "error: cannot find attribute `{name}` in this scope\n --> kernels/k.rs:1:3\n"
            ),
        };
        let behind = |text, name| arguments_behind("", ("kernels/k.rs", text), &unknown(name));
        let help = "help: write `use kernelmill_device::prelude::*;` at the top of kernels/k.rs: it has `#[kernel]`, \
                    `DisjointSlice`, `thread` and what else kernels use";
        assert_eq!(behind("#[kernel] fn k() {}", "kernel"), help);
        assert_eq!(behind("#[kernel] fn k() {}", "inlin"), "");
        let text = "use kernelmill_device::thread;\n#[kernel] fn k() {}";
        assert_eq!(behind(text, "kernel"), "");
    }

    #[test]
    fn a_path_to_a_module_of_the_package_is_told_how_to_bring_it_in() {
        let said = |file, code: &str, name: &str| {
            let project = Project::new("", &[(file, "#[kernel] fn k() {}")]);
            project.write("app/src/types.rs", "pub struct Particle;");
            let environment = BuildEnvironment::fixed(
                project.variables.clone(),
                Cargo::to(Box::new(std::io::sink())),
            );
            let package = Package::read(&environment).unwrap();
            let mut settings =
                resolve::read(&environment, &package, project.builder.clone()).unwrap();
            let found = sources::find(&package, &mut settings).0;
            let mut report = Report::default();
            let stderr = format!("error[{code}]: unresolved import `crate::{name}`\n");
            let error = CompileError::Rustc { stderr };
            report_crate_paths(&error, &found.sources[0], &package, &mut report);
            report.to_string()
        };
        let help = said("kernels/k.rs", "E0432", "types");
        assert!(
            help.contains("#[cfg(kernelmill)] #[path = \"../src/types.rs\"] mod types;"),
            "{help}"
        );
        let help = said("kernels/deep/k.rs", "E0433", "types");
        assert!(help.contains("#[path = \"../../src/types.rs\"]"), "{help}");
        assert_eq!(said("kernels/k.rs", "E0432", "other"), "");
        assert_eq!(said("kernels/k.rs", "E0308", "types"), "");
    }

    #[test]
    fn large_parameters_are_shown_with_their_places() {
        let text = "// filter(weights: ..)\n#[kernel]\nfn filter(weights: [f32; 16384], x: &[f32], seed: u128) {}\n";
        let project = Project::new("", &[("kernels/k.rs", text)]);
        let environment = BuildEnvironment::fixed(
            project.variables.clone(),
            Cargo::to(Box::new(std::io::sink())),
        );
        let package = Package::read(&environment).unwrap();
        let mut settings = resolve::read(&environment, &package, project.builder.clone()).unwrap();
        let found = sources::find(&package, &mut settings).0;
        let said = |names: [&str; 2]| {
            let parameter = |name: &str, size| (name.to_owned(), String::new(), size);
            let fault = ParameterSpace {
                file: "kernels/k.rs".to_owned(),
                line: 3,
                kernel: "filter".to_owned(),
                bytes: 65568,
                parameters: vec![
                    parameter(names[0], 65536),
                    parameter("x", 16),
                    parameter(names[1], 16),
                ],
            };
            let (target, faults) = ("sm_90".parse().unwrap(), vec![fault]);
            let error = CompileError::ParameterSpace { target, limit: 32752, faults };
            let mut report = Report::default();
            let is_shown = report_parameter_space(&error, &found.sources[0], &mut report);
            assert_eq!(is_shown, !report.is_empty());
            report.to_string()
        };
        assert_eq!(
            said(["weights", "seed"]),
            "error[KM0050]: the parameters of kernel `filter` take 65568 bytes, and sm_90 has space for 32752
 --> kernels/k.rs:3:4
  |
3 | fn filter(weights: [f32; 16384], x: &[f32], seed: u128) {}
  |    ^^^^^^ ------- 65536 bytes
  |
  = help: pass the large ones as slices, which take 16 bytes each"
        );
        // What the text does not have is said without it.
        assert_eq!(said(["other", "seed"]), "");
    }

    #[cfg(feature = "cuda-cpp")]
    #[test]
    fn arguments_that_nvcc_and_clang_refuse_are_named_with_their_place() {
        const CUDA: (&str, &str) = ("kernels/k.cu", "__global__ void k() {}");
        let message = |text: &str, place: Option<(String, u32)>| Message {
            severity: MessageSeverity::Error,
            text: text.to_owned(),
            place,
            details: Vec::new(),
        };
        let cpp = |message| CompileError::Cpp { tool: "nvcc", messages: vec![message], kept: None };
        let arguments = "\"rustc:-g\", \"cuda:-std=c++99\"";
        let refused = cpp(message("Value 'c++99' is not defined for option 'std'", None));
        let said = arguments_behind(arguments, CUDA, &refused);
        assert!(
            said.contains("nvcc failed, and the setting `arguments` passes `cuda:-std=c++99`"),
            "{said}"
        );
        assert!(said.contains("--> kernelmill.toml:2:26"), "{said}");
        let placed = cpp(message("identifier", Some(("kernels/k.cu".to_owned(), 1))));
        assert_eq!(arguments_behind(arguments, CUDA, &placed), "");
        let assembler = cpp(message("Unknown option 'bogus'", None));
        let said = arguments_behind("\"-g\", \"-Xptxas=--bogus\"", CUDA, &assembler);
        assert!(
            said.contains("nvcc failed, and the setting `arguments` passes `-Xptxas=--bogus`"),
            "{said}"
        );
        let clang = CompileError::Clang {
            messages: vec![message("invalid value 'c++99' in '-std=c++99'", None)],
            display: "kernels/k.cu".to_owned(),
        };
        let said = arguments_behind(arguments, CUDA, &clang);
        assert!(
            said.contains("clang failed, and the setting `arguments` passes `cuda:-std=c++99`"),
            "{said}"
        );
    }
}
