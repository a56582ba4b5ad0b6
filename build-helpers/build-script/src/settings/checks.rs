//! Checks of single values, wherever they are set. A reader that knows where a value stands reports what is
//! wrong there; what a build script sets is reported without a place.

use super::choices::ArgumentsOf;
use crate::base::{glob::Glob, naming::is_identifier};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{OptionError, Options};

/// What is wrong with a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) help: String,
}

/// Reads a pattern of a setting.
pub(super) fn pattern(setting: &str, text: &str) -> Result<Glob, Fault> {
    Glob::new(text).map_err(|error| Fault {
        code: Code::SettingValue,
        message: format!("`{text}` in the setting `{setting}` is not a valid pattern: {}", error.msg),
        help:
            "`*`, `?` and `[abc]` match within one name, and `**` between two slashes matches any number of folders"
                .to_owned(),
    })
}

/// Checks the name of a definition.
pub(super) fn definition(name: &str) -> Result<(), Fault> {
    if is_identifier(name) {
        return Ok(());
    }
    Err(Fault {
        code: Code::SettingValue,
        message: format!("`{name}` in the setting `define` is not a valid name of a macro"),
        help: "use letters, digits and underscores, and no digit at the start".to_owned(),
    })
}

/// Sets an option of the compiler by its name, in which a hyphen is as good as an underscore.
pub(super) fn set_option(options: &mut Options, name: &str, value: &str) -> Result<(), Fault> {
    options.set(&name.replace('-', "_"), value).map_err(option_fault)
}

/// Checks that nothing of the pipeline is left out.
pub(super) fn complete(options: &Options) -> Result<(), Fault> {
    options.check_complete().map_err(option_fault)?;
    if options.kernel {
        return Ok(());
    }
    Err(Fault {
        code: Code::CompilerArgument,
        message: "the option `kernel` cannot be `false` in a package, whose bindings launch kernels"
            .to_owned(),
        help: "remove it; `kernelmill_compiler::Compiler` compiles functions for callers in other languages".to_owned(),
    })
}

fn option_fault(error: OptionError) -> Fault {
    let help =
        "the documentation of `kernelmill_compiler::Options` lists the options and their values"
            .to_owned();
    Fault { code: Code::CompilerArgument, message: error.to_string(), help }
}

/// Arguments after which rustc does something else than to compile, or to another form than kernelmill reads.
const NOT_FOR_RUSTC: [&str; 16] = [
    "--version",
    "-V",
    "-vV",
    "--help",
    "-h",
    "--print",
    "--explain",
    "--emit",
    "--crate-type",
    "--out-dir",
    "-o",
    "--test",
    "-Whelp",
    "-Chelp",
    "--error-format",
    "--json",
];
/// Options of rustc's code generation that kernelmill sets, and that other values of break.
const SET_FOR_RUSTC: [&str; 7] = [
    "codegen-units",
    "lto",
    "embed-bitcode",
    "panic",
    "incremental",
    "linker-plugin-lto",
    "extra-filename",
];
/// The same for nvcc and clang.
const NOT_FOR_CUDA: [&str; 45] = [
    "--version",
    "-V",
    "--help",
    "-h",
    "--dryrun",
    "-dryrun",
    "-###",
    "-E",
    "-M",
    "-MM",
    "-c",
    "-S",
    "-o",
    "-ptx",
    "-cubin",
    "-fatbin",
    "-dc",
    "-fsyntax-only",
    "--output-file",
    "--preprocess",
    "--generate-dependencies",
    "--generate-nonsystem-dependencies",
    "--compile",
    "--ptx",
    "--cubin",
    "--fatbin",
    "--device-c",
    "-dw",
    "--device-w",
    "-dlink",
    "--device-link",
    "-lib",
    "--lib",
    "-link",
    "--link",
    "-run",
    "--run",
    "-clean",
    "--clean-targets",
    "-optix-ir",
    "--optix-ir",
    "-arch-ls",
    "--list-gpu-arch",
    "-code-ls",
    "--list-gpu-code",
];

/// Checks an argument of compilers, given the one before it: `-C` and its value may be two.
pub(super) fn argument(before: Option<&str>, text: &str) -> Result<(), Fault> {
    let is_for = |whose: ArgumentsOf| whose.is_for(text);
    let own = |text: &str| {
        let own = ArgumentsOf::ALL.iter().find_map(|it| text.strip_prefix(it.prefix()));
        own.unwrap_or(text).to_owned()
    };
    let (written, before) = (own(text), before.map(own));
    let name = written.split('=').next().unwrap_or(&written);
    let code_option = match before.as_deref() {
        Some("-C" | "--codegen") => Some(name),
        _ => name.strip_prefix("-C").or_else(|| written.strip_prefix("--codegen=")),
    };
    // rustc takes a hyphen and an underscore for the same.
    let code_option =
        code_option.map(|option| option.split('=').next().unwrap_or(option).replace('_', "-"));
    // rustc takes a file's name in the same word.
    let breaks_rustc = NOT_FOR_RUSTC.contains(&name)
        || written.starts_with("-o")
        || matches!((before.as_deref(), name), (Some("-W" | "-C"), "help"))
        || code_option.is_some_and(|option| SET_FOR_RUSTC.contains(&&*option));
    if is_input(before.as_deref(), &written) {
        return Err(Fault {
            code: Code::CompilerArgument,
            message: format!("`{text}` in the setting `arguments` is not an option"),
            help: "write options only: kernelmill passes the input files to the compilers"
                .to_owned(),
        });
    }
    let breaks_cuda = NOT_FOR_CUDA.contains(&name);
    let who = match () {
        () if is_for(ArgumentsOf::Rustc) && breaks_rustc => "rustc",
        () if is_for(ArgumentsOf::Cuda) && breaks_cuda => "nvcc and clang",
        () if is_for(ArgumentsOf::OpenCl) && breaks_cuda => "clang",
        () => return Ok(()),
    };
    Err(Fault {
        code: Code::CompilerArgument,
        message: format!("`{text}` in the setting `arguments` cannot be passed to {who}"),
        help: "remove it: kernelmill itself sets what compilers write, and where".to_owned(),
    })
}

/// Whether compilers would take an argument for an input: it begins with no hyphen, and the one before it is no option
/// that it could be the value of.
fn is_input(before: Option<&str>, text: &str) -> bool {
    let may_be_value =
        before.is_some_and(|it| it.starts_with('-') && it.len() > 1 && !it.contains('='));
    text == "-" || !text.starts_with('-') && !may_be_value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_break_a_compiler_are_refused_for_those_it_is_for() {
        let refused = [
            "--version",
            "-Ccodegen-units=16",
            "--codegen=lto",
            "rustc:--emit=asm",
            "rustc:-Cpanic=unwind",
            "--print=sysroot",
            "cuda:-E",
            "-o",
            "cuda:--dryrun",
            "opencl:-E",
            "-Ccodegen_units=16",
            "-Cembed_bitcode",
            "-Cextra-filename=-x",
            "-o/tmp/x",
            "rustc:--codegen=linker_plugin_lto",
            "-Whelp",
            "--json=artifacts",
            "cuda:--ptx",
            "cuda:-run",
            "cuda:--list-gpu-arch",
            "-arch-ls",
            "",
            "-",
            "@arguments.txt",
            "kernels/other.rs",
        ];
        for text in refused {
            let fault = argument(None, text).unwrap_err();
            assert!(fault.message.starts_with(&format!("`{text}` in the setting")), "{fault:?}");
        }
        assert!(argument(Some("-C"), "codegen-units=16").is_err());
        assert!(argument(Some("--codegen"), "codegen_units=4").is_err());
        assert!(argument(Some("-W"), "help").is_err());
        assert!(argument(Some("-Copt-level=1"), "lto").is_err());
        assert!(argument(Some("rustc:-C"), "rustc:lto").is_err());
        let taken = [
            "-Awarnings",
            "-Copt-level=1",
            "rustc:-Ctarget-cpu=native",
            "cuda:-std=c++20",
            "-O2",
            "-ccbin=gcc-12",
            "cuda:--print",
            "rustc:-E",
            "--extended-lambda",
        ];
        for text in taken {
            assert_eq!(argument(None, text), Ok(()), "{text}");
        }
        assert_eq!(argument(Some("-A"), "lto"), Ok(()));
    }
}
