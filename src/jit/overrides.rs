//! Files that `KERNELMILL_OVERRIDE_<kernel>` puts in the place of kernels, as it does in a build. The variables are read
//! when a program is compiled.
//!
//! What stands for a kernel is a program of its own, so it needs no assembler, whatever form the program has.

use std::{
    collections::BTreeSet,
    env,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use super::{
    kernel::Kernel,
    program::{Overrides, Program, function_name},
    source::Source,
};
use crate::error::{Error, Result};

/// Compiles a source as the program was, but for these instances.
type Compile<'a> = &'a dyn Fn(&Source, Vec<String>) -> Result<Program>;

/// How the names of the variables begin; the name of the kernel's function follows.
pub(super) const PREFIX: &str = "KERNELMILL_OVERRIDE_";

/// What a file is, by its ending.
#[derive(Clone, Copy)]
enum Form {
    Cuda,
    Ptx,
}

/// The files by the names of kernels, which may be those of other programs or of builds.
pub(super) fn named() -> Vec<(String, PathBuf)> {
    let of = |(name, file): (std::ffi::OsString, std::ffi::OsString)| {
        let kernel = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
        (!file.is_empty()).then(|| (kernel, PathBuf::from(file)))
    };
    let mut found: Vec<_> = env::vars_os().filter_map(of).collect();
    found.sort();
    found
}

/// The name of the function that an expression of an instance names: of `math::fill<int, 4>` `fill`.
fn function_of(expression: &str) -> &str {
    let path = expression.split('<').next().unwrap_or_default();
    path.rsplit("::").next().unwrap_or_default().trim()
}

/// Compiles and loads the files that stand for kernels of a program.
///
/// # Errors
///
/// Those of compiling and loading a file; [`Error::NoKernel`] where it has no such kernel, and [`Error::Arguments`] where
/// its parameters have other sizes.
pub(super) fn of(source: &Source, program: &Program, compile: Compile<'_>) -> Result<Overrides> {
    let mut found = Overrides::default();
    for (name, path) in named() {
        let instances: Vec<_> =
            program.instances().filter(|(expression, _)| function_of(expression) == name).collect();
        let is_it = |symbol: &&str| {
            *symbol == name
                || function_name(symbol) == Some(&*name)
                || instances.iter().any(|(_, of_instance)| of_instance == symbol)
        };
        let places: Vec<_> =
            program.kernels().enumerate().filter(|(_, symbol)| is_it(symbol)).collect();
        if places.is_empty() {
            continue;
        }
        let (variable, file) = (format!("{PREFIX}{name}"), path.display().to_string());
        let form = match path.extension().and_then(|ending| ending.to_str()) {
            Some("cu") => Form::Cuda,
            Some("ptx") => Form::Ptx,
            _ => {
                say(
                    &mut found.log,
                    format!(
                        "{variable} is `{file}`, which cannot override a kernel that is compiled at run time: the \
                         kernel `{name}` of {} is not overridden; name a file that ends in `.cu` or `.ptx`",
                        source.name
                    ),
                );
                continue;
            }
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                say(
                    &mut found.log,
                    format!(
                        "{variable} is `{file}`, which cannot be read ({error}): the kernel `{name}` of {} is not overridden",
                        source.name
                    ),
                );
                continue;
            }
        };
        let expressions = instances.iter().map(|(expression, _)| (*expression).to_owned());
        let (file_source, stage) = match form {
            Form::Cuda => (Source::cuda(&*file, text), "source"),
            Form::Ptx => (Source::ptx(&*file, text), "PTX"),
        };
        let other = compile(&file_source, expressions.collect())?;
        say(
            &mut found.log,
            format!(
                "this program has overridden code: `{file}` stands for the kernel `{name}` of {}, for its {stage}, because \
             {variable} is set",
                source.name
            ),
        );
        for (place, symbol) in places {
            let kernel = in_file(&other, (&name, symbol))?;
            let (has, expected) = (kernel.parameters(), program.parameters(place));
            if has != expected {
                let list =
                    |sizes: &[u64]| sizes.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                let reason = format!(
                    "`{file}` cannot override the kernel: the sizes of its parameters are ({}) bytes, those of the \
                     kernel are ({})",
                    list(has),
                    list(expected)
                );
                return Err(Error::Arguments { kernel: name, reason });
            }
            found.kernels.insert(place, kernel);
        }
    }
    if !found.log.is_empty() {
        found.log.insert_str(0, program.log());
    }
    Ok(found)
}

/// The kernel in a file that stands for one of this name and symbol: the only one, or that of the symbol or the name.
fn in_file(program: &Program, (name, symbol): (&str, &str)) -> Result<Kernel> {
    let mut all = program.kernels();
    if let (Some(one), None) = (all.next(), all.next()) {
        return program.kernel(one);
    }
    match program.kernels().any(|it| it == symbol) {
        true => program.kernel(symbol),
        false => program.kernel(name),
    }
}

/// Tells the user something: once in a process, and in the program's log.
pub(super) fn say(log: &mut String, line: String) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    log.push_str(&line);
    log.push('\n');
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if !said.contains(&line) {
        eprintln!("kernelmill: {line}");
        said.insert(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_instances_name_functions() {
        for (expression, function) in
            [("math::fill<int, 4>", "fill"), ("fill<a::b>", "fill"), ("fill", "fill")]
        {
            assert_eq!(function_of(expression), function);
        }
    }
}
