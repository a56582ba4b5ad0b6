//! Port of a CUDA program: its kernels as they are, settings for them, and a program that launches each.

mod buffers;
mod declared;
mod expression;
mod files;
mod host;
mod instances;
mod macros;
mod main_rs;
mod names;
mod program;
mod scope;
mod settings;
mod text;

use anyhow::{Result, bail, ensure};
use files::Source;
use host::Host;
use macros::Macros;
use program::{Launch, Program};
use std::{cell::RefCell, collections::BTreeMap, path::Path};
use text::{line_of, words};

/// What a port writes and says.
pub(super) struct Ported {
    /// The kernel file and the headers beside it, with their paths in the package.
    pub(super) files: Vec<(String, String)>,
    /// What the manifest gets.
    pub(super) settings: String,
    pub(super) main: String,
    /// What is left to the user.
    pub(super) notes: Vec<String>,
}

/// What host code may use that becomes something else, and what that is.
const LIBRARIES: [(&str, &str); 7] = [
    ("cublas", "the cuBLAS library"),
    ("cufft", "the cuFFT library"),
    ("curand", "the cuRAND library"),
    ("cusparse", "the cuSPARSE library"),
    ("thrust::", "Thrust"),
    ("cudaTextureObject_t", "textures"),
    ("cudaGraphLaunch", "CUDA graphs: see the page of the book on graphs of launches"),
];

pub(super) fn port(file: &Path) -> Result<Ported> {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_cuda = file.extension().is_some_and(|it| it == "cu");
    ensure!(is_cuda, "{}: a CUDA program is a file with the extension .cu", file.display());
    let mut notes = Vec::new();
    let sources = files::read(file, &mut notes)?;
    let program = whole(&sources, &mut notes);
    if program.kernels.is_empty() {
        bail!(
            "{}: no `__global__` function is in it or in the files that it includes{}",
            file.display(),
            notes.iter().map(|note| format!("\n{note}")).collect::<String>()
        );
    }
    let has_std = program.kernels.iter().any(|kernel| kernel.body.contains("std::"));
    let files = sources.iter().map(|it| (it.path.clone(), it.ported(has_std))).collect();
    for (place, source) in sources.iter().enumerate() {
        notes.extend(host_code(source, place == 0));
    }
    for name in &program.constants {
        notes.push(format!(
            "`{name}` is written by `kernels.variables().{name}()?.write(&values)?`"
        ));
    }
    let text: String = sources.iter().map(|source| format!("{}\n", source.text)).collect();
    for (word, what) in LIBRARIES.iter().filter(|(word, _)| text.contains(word)) {
        notes.push(format!("`{word}`: {what} is not taken over"));
    }
    let unread: Vec<_> = sources.iter().flat_map(unread).collect();
    notes.extend(unread.iter().cloned());
    let hosts = sources.iter().enumerate().flat_map(|(place, source)| {
        let functions = source.program.host.iter();
        functions.map(move |(name, range)| Host::new(name, place, range.clone(), &source.code))
    });
    let port = Port {
        text: &text,
        program: &program,
        hosts: hosts.collect(),
        macros: Macros::read(&sources),
        sources: &sources,
        constants: RefCell::default(),
        unread,
    };
    let (settings, main) = (port.settings(), port.main(name, &mut notes));
    Ok(Ported { files, settings, main, notes })
}

/// What the files of a program have together.
fn whole(sources: &[Source], notes: &mut Vec<String>) -> Program {
    let mut whole = Program::default();
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (place, source) in sources.iter().enumerate() {
        let Program { kernels, launches, constants, .. } = &source.program;
        for kernel in kernels {
            let known = whole.kernels.iter().position(|it| it.name == kernel.name);
            let Some(known) = known else {
                whole.kernels.push(kernel.clone());
                places.push((place, kernel.at));
                continue;
            };
            // Of definitions under `#if` the first one is as good as another: their parameters are mostly the same.
            if whole.kernels[known].spaces != kernel.spaces {
                let line = |(place, at): (usize, usize)| {
                    let Source { path, text, .. } = &sources[place];
                    format!("{path}, line {}", line_of(text, at))
                };
                notes.push(format!(
                    "{}: a second kernel is named `{}`, in another namespace than that of {}: the program in src/main.rs launches the first alone",
                    line((place, kernel.at)),
                    kernel.name,
                    line(places[known])
                ));
            }
        }
        let launches = launches.iter().map(|it| Launch { source: place, ..it.clone() });
        whole.launches.extend(launches);
        whole.constants.extend(constants.iter().cloned());
    }
    whole
}

/// What is said of a file's host code: of each function of the program's own file, of the others together.
fn host_code(source: &Source, is_first: bool) -> Vec<String> {
    let Source { path, text, program: Program { host, .. }, .. } = source;
    if is_first {
        let of_function = |(name, range): &(String, std::ops::Range<usize>)| {
            let (from, to) = (line_of(text, range.start), line_of(text, range.end));
            format!(
                "`{name}` (lines {from} to {to}) is host code: it is between `#if 0` and `#endif` in {path}, to be ported and removed"
            )
        };
        return host.iter().map(of_function).collect();
    }
    if host.is_empty() {
        return Vec::new();
    }
    // A file that is included within a function has statements too, which have no names.
    let names = host.iter().filter(|(name, _)| words(name) == [name.as_str()]);
    let names: Vec<_> = names.map(|(name, _)| format!(" `{name}`")).collect();
    let colon = if names.is_empty() { "" } else { ":" };
    vec![format!(
        "{path}: host code is between `#if 0` and `#endif` in it, to be ported and removed{colon}{}",
        names.join(",")
    )]
}

/// What is said of launches that are not read.
fn unread(source: &Source) -> impl Iterator<Item = String> {
    let Source { path, program, .. } = source;
    program
        .unread
        .iter()
        .map(move |(line, what)| format!("{path}, line {line}: {what} is not taken over"))
}

struct Port<'p> {
    text: &'p str,
    sources: &'p [Source],
    program: &'p Program,
    /// The functions of the host.
    hosts: Vec<Host>,
    macros: Macros,
    /// Constants that are used: by their names in C++, those in Rust, and their values.
    constants: RefCell<BTreeMap<String, (String, i64)>>,
    /// What is said of launches that are not read.
    unread: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_kernel_of_one_name_is_said() {
        let twice = "namespace a {\n__global__ void k(int *x) {}\n}\nnamespace b {\n__global__ void k(float *x) {}\n}\n";
        // Of one function under two conditions nothing is said.
        let under_if = "#if X\n__global__ void f() {}\n#else\n__global__ void f() {}\n#endif\n";
        let sources =
            [twice, under_if].map(|text| Source::of_text("kernels/k.cu", text, Vec::new()));
        let mut notes = Vec::new();
        let program = whole(&sources, &mut notes);
        let names: Vec<_> = program.kernels.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["k", "f"]);
        let expected = "kernels/k.cu, line 5: a second kernel is named `k`, in another namespace than that of kernels/k.cu, line 2: \
            the program in src/main.rs launches the first alone";
        assert_eq!(notes, [expected]);
    }
}
