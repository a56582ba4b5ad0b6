//! The cycles in a graph of imports, each shown by a shortest one of its files.

use super::{imports::Imports, modules::Crate};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

/// Files that import each other.
pub(super) struct Cycle {
    /// How many there are, directly and through others.
    pub(super) files: usize,
    /// A shortest way around.
    pub(super) steps: Vec<Step>,
}

/// One import on the way.
pub(super) struct Step {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    pub(super) line: usize,
    /// The path that stands there.
    pub(super) path: String,
}

impl Cycle {
    /// The cycle as text, with files as they are seen from a folder.
    pub(super) fn report(&self, folder: &Path) -> String {
        let seen = |path: &PathBuf| path.strip_prefix(folder).unwrap_or(path).display().to_string();
        let line = |step: &Step| {
            let Step { from, to, line, path } = step;
            format!("\n  {}:{line}: `{path}` -> {}", seen(from), seen(to))
        };
        let steps: String = self.steps.iter().map(line).collect();
        format!("{} files import each other in a cycle:{steps}", self.files)
    }
}

/// The cycles of a crate, one for each group of files that all reach each other.
pub(super) fn find(tree: &Crate, imports: &Imports) -> Vec<Cycle> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        next.entry(*from).or_default().push(*to);
    }
    let files = 0..tree.files.len();
    let reached: Vec<BTreeSet<usize>> =
        files.clone().map(|file| ways(&next, file).into_keys().collect()).collect();
    let mut done = BTreeSet::new();
    let mut cycles = Vec::new();
    for file in files {
        if !reached[file].contains(&file) || !done.insert(file) {
            continue;
        }
        let group: Vec<_> =
            reached[file].iter().copied().filter(|other| reached[*other].contains(&file)).collect();
        done.extend(&group);
        let around = group.iter().map(|start| around(&ways(&next, *start), *start));
        let shortest = around.min_by_key(Vec::len).unwrap_or_default();
        let steps = shortest.windows(2).filter_map(|pair| step(tree, imports, pair[0], pair[1]));
        cycles.push(Cycle { files: group.len(), steps: steps.collect() });
    }
    cycles
}

fn step(tree: &Crate, imports: &Imports, from: usize, to: usize) -> Option<Step> {
    let (line, path) = imports.get(&(from, to))?.clone();
    Some(Step { from: tree.files[from].clone(), to: tree.files[to].clone(), line, path })
}

/// The files that one reaches, each with the file before it on a shortest way.
fn ways(next: &BTreeMap<usize, Vec<usize>>, start: usize) -> BTreeMap<usize, usize> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(file) = waiting.pop_front() {
        for other in next.get(&file).into_iter().flatten() {
            if !before.contains_key(other) {
                before.insert(*other, file);
                waiting.push_back(*other);
            }
        }
    }
    before
}

/// The way from a file back to itself, both ends in it.
fn around(before: &BTreeMap<usize, usize>, start: usize) -> Vec<usize> {
    let mut way = vec![start];
    let mut file = start;
    while let Some(previous) = before.get(&file) {
        way.push(*previous);
        file = *previous;
        if file == start {
            break;
        }
    }
    way.reverse();
    way
}
