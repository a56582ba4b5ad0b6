//! Tags: lines in the documentation of tests that name points of the acceptance table.
//!
//! A tag is a line `/// Acceptance: S2.1, C22.` with nothing but comments and attributes between it and
//! the test's function. `#[test]` stands below it. The files are read line by line: code that macros
//! make has no tags.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};
use walkdir::WalkDir;

/// What a tag begins with.
const START: &str = "/// Acceptance:";

/// The tags of a workspace.
#[derive(Default)]
pub(super) struct Tags {
    /// The tests of each point, as `package::file::name`.
    pub(super) tests: BTreeMap<String, BTreeSet<String>>,
    /// What is wrong with single tags, with file and line.
    pub(super) faults: Vec<String>,
}

/// Where a file of tests belongs.
pub(super) struct Origin<'a> {
    pub(super) package: &'a str,
    /// Its path in the package.
    pub(super) file: &'a str,
}

/// A tag of which the test has not been read yet.
struct Open {
    line: usize,
    points: Vec<String>,
    is_test: bool,
    is_ignored: bool,
}

impl Tags {
    /// Reads all Rust files of a workspace's packages.
    pub(super) fn read(workspace: &Workspace) -> Result<Self> {
        // A folder `target` beside a `Cargo.toml` is Cargo's; others are modules.
        let is_source = |entry: &walkdir::DirEntry| {
            let name = entry.file_name();
            let is_hidden = name.to_string_lossy().starts_with('.');
            let is_built = name == "target" && entry.path().with_file_name("Cargo.toml").is_file();
            entry.depth() == 0 || !(is_hidden || is_built || name == "templates")
        };
        let mut tags = Self::default();
        let walk = WalkDir::new(&workspace.root).sort_by_file_name();
        for entry in walk.into_iter().filter_entry(is_source) {
            let entry = entry?;
            if entry.path().extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let path = entry.path().display().to_string();
            let text =
                fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?;
            // The innermost folder of a package that the file lies in.
            let packages = workspace.packages().into_iter().filter_map(|package| {
                let folder = package.manifest_path.parent()?;
                let file = entry.path().strip_prefix(folder).ok()?.to_str()?;
                Some(Origin { package: &package.name, file })
            });
            if let Some(origin) = packages.min_by_key(|origin| origin.file.len()) {
                tags.add(&origin, &text);
            }
        }
        Ok(tags)
    }

    /// Reads one file.
    pub(super) fn add(&mut self, origin: &Origin<'_>, text: &str) {
        let mut open: Option<Open> = None;
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if let Some(points) = line.strip_prefix(START) {
                let points = points.trim().trim_end_matches('.').split(',');
                let points = points.map(|point| point.trim().to_owned());
                let open = open.get_or_insert(Open {
                    line: number + 1,
                    points: Vec::new(),
                    is_test: false,
                    is_ignored: false,
                });
                open.points.extend(points);
            } else if let Some(tag) = &mut open {
                if line.starts_with("#[") {
                    tag.is_test |= line == "#[test]";
                    tag.is_ignored |= line.starts_with("#[ignore");
                } else if !line.starts_with("//") {
                    self.close(origin, tag, name(line));
                    open = None;
                }
            }
        }
        if let Some(tag) = &open {
            self.close(origin, tag, None);
        }
    }

    /// Adds a tag with the function below it.
    fn close(&mut self, origin: &Origin<'_>, tag: &Open, function: Option<&str>) {
        let Origin { package, file } = origin;
        let mut fault =
            |what: &str| self.faults.push(format!("{package}::{file}:{}: {what}", tag.line));
        match function {
            Some(_) if tag.is_ignored => fault("the test below the tag is ignored"),
            Some(function) if tag.is_test => {
                for point in &tag.points {
                    let tests = self.tests.entry(point.clone()).or_default();
                    tests.insert(format!("{package}::{file}::{function}"));
                }
            }
            _ => fault("there is no test below the tag"),
        }
    }
}

/// The name of the function that a line declares.
fn name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("fn ")?;
    rest.split(['(', '<']).next()
}
