//! Jobs of many sources on two threads of one process, with parts of the pipeline switched off: each gives
//! what it gives alone, and none ends the process.

mod common;

use std::{
    fs,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use common::{compiler, job, lower};
use kernelmill_compiler::{Config, Lowered, RustSource};
use test_support::InFolder;

/// The stages that are switched off together, for a target.
const OFF: [(&str, &[&str]); 4] = [
    ("compute_75", &["optimize", "cleanup", "validate"]),
    ("cpu", &["optimize", "cleanup", "libraries", "validate", "toplevel"]),
    ("gfx1100", &["optimize", "libraries", "validate"]),
    ("compute_90", &[]),
];

/// Every how many sources one is compiled: all of them take minutes.
const EACH: usize = 3;

/// A source that was lowered.
struct Source {
    name: String,
    source: InFolder<RustSource>,
    lowered: Lowered,
}

/// Some of the sources of the package `conformance`.
fn sources() -> Vec<Source> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/kernels");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "rs"));
    paths.sort();
    let texts = paths.iter().map(|path| (path, fs::read_to_string(path).unwrap()));
    let alone = texts.filter(|(_, text)| !text.contains("\nmod "));
    let lowered = alone.step_by(EACH).map(|(path, text)| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let (source, lowered) = lower(&name, &text);
        Source { name, source, lowered }
    });
    lowered.collect()
}

impl Source {
    /// The module and, where nothing is switched off, the assembly.
    fn result(&self, target: &str, off: &[&str]) -> Vec<String> {
        let mut config = Config::new(target.parse().unwrap());
        off.iter().for_each(|name| config.options.set(name, "false").unwrap());
        let job = job(&self.name, &self.source, &self.lowered, &config);
        let module = compiler().inspect(&job);
        let assembly = off.is_empty().then(|| compiler().assembly(&job));
        let texts = [module].into_iter().chain(assembly);
        texts.map(|it| it.unwrap_or_else(|error| panic!("{}: {error}", self.name))).collect()
    }
}

#[test]
fn jobs_on_two_threads_do_not_disturb_each_other() {
    let sources = sources();
    assert!(sources.len() > 4, "{}", sources.len());
    let jobs: Vec<_> =
        sources.iter().flat_map(|source| OFF.map(|(target, off)| (source, target, off))).collect();
    // Each job twice, the second time beside others than the first.
    let (next, results) = (AtomicUsize::new(0), Mutex::new(vec![Vec::new(); jobs.len()]));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= 2 * jobs.len() {
                        break;
                    }
                    let index = if index < jobs.len() { index } else { 2 * jobs.len() - 1 - index };
                    let (source, target, off) = jobs[index];
                    let result = source.result(target, off);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results[index].push(result);
                }
            });
        }
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((source, target, off), results) in jobs.iter().zip(&results) {
        assert_eq!(results.len(), 2);
        assert!(results[0] == results[1], "{} for {target} without {off:?}", source.name);
    }
}
