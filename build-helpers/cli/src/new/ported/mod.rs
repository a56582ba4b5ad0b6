//! Port of a CUDA program: its kernels as they are, settings for them, and a program that launches each.

mod files;
mod instances;
mod main_rs;
mod names;
mod program;
mod settings;

use anyhow::{Context as _, Result, ensure};
use files::{headers, without_host};
use program::{Program, line_of};
use std::{fs, path::Path};

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
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_cuda = file.extension().is_some_and(|it| it == "cu");
    ensure!(is_cuda, "{}: a CUDA program is a file with the extension .cu", file.display());
    let program = Program::read(&text);
    ensure!(!program.kernels.is_empty(), "{}: no `__global__` function is in it", file.display());
    let mut notes = Vec::new();
    let path = format!("kernels/{name}");
    let mut files = vec![(path.clone(), without_host(&text, &program))];
    headers(file.parent().unwrap_or(Path::new("")), &text, &mut files, &mut notes);
    for (name, range) in &program.host {
        let (from, to) = (line_of(&text, range.start), line_of(&text, range.end));
        notes.push(format!(
            "`{name}` (lines {from} to {to}) is host code: it is between `#if 0` and `#endif` in {path}, to be ported and removed"
        ));
    }
    for name in &program.constants {
        notes.push(format!(
            "`{name}` is written by `kernels.variables().{name}()?.write(&values)?`"
        ));
    }
    for (word, what) in LIBRARIES.iter().filter(|(word, _)| text.contains(word)) {
        notes.push(format!("`{word}`: {what} is not taken over"));
    }
    let port = Port { text: &text, program: &program };
    let (settings, main) = (port.settings(), port.main(name, &mut notes));
    Ok(Ported { files, settings, main, notes })
}

struct Port<'p> {
    text: &'p str,
    program: &'p Program,
}
