//! Which instructions of kernels were executed.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::OpenOptions,
    io::{self, Write as _},
    path::Path,
    sync::Mutex,
};

use ptx_emulator::{Coverage, Report};

use crate::base::handle::lock;
use crate::config::{Config, config};

/// What was executed, by the name of the kernel.
static EXECUTED: Mutex<BTreeMap<String, Coverage>> = Mutex::new(BTreeMap::new());

/// Adds a launch, where coverage is asked for.
pub(crate) fn add(kernel: &str, report: &Report) {
    if config().is_ok_and(|config| config.coverage.is_some()) {
        lock(&EXECUTED).entry(kernel.to_owned()).or_default().merge(&report.coverage);
    }
}

/// One line an instruction: kernel, PTX line, file and line of the source or `-`, mnemonic, count.
fn table(executed: &BTreeMap<String, Coverage>) -> String {
    let mut text = String::new();
    for (kernel, coverage) in executed {
        for found in coverage.instructions() {
            let source = found.source.as_ref();
            let source = source.map_or("-".to_owned(), |(file, line)| format!("{file}:{line}"));
            let (line, mnemonic, count) = (found.line, &found.mnemonic, found.count);
            // Writing to a string does not fail.
            let _ = writeln!(text, "{kernel}\t{line}\t{source}\t{mnemonic}\t{count}");
        }
    }
    text
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

/// Appends the table to the file that is asked for, when the process exits.
pub(crate) fn write_at_exit(asked: &Config) {
    extern "C" fn write() {
        let Ok(Some(path)) = config().map(|config| config.coverage.as_ref()) else {
            return;
        };
        let text = table(&lock(&EXECUTED));
        if let Err(error) = append(path, &text) {
            eprintln!("fake-cuda: FAKE_CUDA_COVERAGE={}: {error}", path.display());
        }
    }
    if asked.coverage.is_some() {
        // SAFETY: `write` stays loaded until the process exits, or is run before it is unloaded.
        unsafe { libc::atexit(write) };
    }
}
