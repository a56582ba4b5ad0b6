//! Cargo directives. This is the only module that prints for Cargo; each directive is printed once.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    io::{self, Write},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Where directives go.
pub(crate) struct Cargo {
    inner: Mutex<Inner>,
}

struct Inner {
    out: Box<dyn Write + Send>,
    /// What is to be watched and which names are known, until it is said whether the build went well; `None` where it is printed at
    /// once.
    watched: Option<Vec<String>>,
    said: BTreeSet<String>,
    /// Which compiler has warned of a line of a file, by `file:line`.
    warned: BTreeMap<String, &'static str>,
}

impl Cargo {
    /// Cargo itself, which reads the build script's standard output.
    ///
    /// What is to be watched, and names of `#[cfg(..)]`, are held back until [`release`](Self::release): Cargo runs a build script
    /// that failed again whatever it printed, and shows these lines in front of its errors.
    pub(crate) fn stdout() -> Self {
        let cargo = Self::to(Box::new(io::stdout()));
        cargo.lock().watched = Some(Vec::new());
        cargo
    }

    /// Prints what has been held back, and all else from now on at once.
    pub(crate) fn release(&self) {
        let watched = self.lock().watched.take();
        watched.into_iter().flatten().for_each(|line| self.print(&line));
    }

    pub(crate) fn to(out: Box<dyn Write + Send>) -> Self {
        let (said, warned) = (BTreeSet::new(), BTreeMap::new());
        Self { inner: Mutex::new(Inner { out, watched: None, said, warned }) }
    }

    /// Runs the build script again when this file, or anything in this folder, changes.
    pub(crate) fn watch(&self, path: &Path) {
        self.say(&format!("cargo::rerun-if-changed={}", path.display()));
    }

    /// Runs the build script again when this variable changes.
    pub(crate) fn watch_variable(&self, name: &str) {
        self.say(&format!("cargo::rerun-if-env-changed={name}"));
    }

    /// Has rustc know a name that `#[cfg(..)]` asks for.
    pub(crate) fn know_cfg(&self, name: &str) {
        self.say(&format!("cargo::rustc-check-cfg=cfg({name})"));
    }

    /// Has rustc see an environment variable, the path of a file, in what it compiles of the package.
    pub(crate) fn set_variable(&self, name: &str, path: &Path) {
        self.say(&format!("cargo::rustc-env={name}={}", path.display()));
    }

    /// Shows a warning, every line of it, to the user; the same one only once.
    pub(crate) fn warn(&self, text: &dyn Display) {
        if !self.lock().said.insert(text.to_string()) {
            return;
        }
        for line in text.to_string().lines().filter(|line| !line.trim().is_empty()) {
            self.print(&format!("cargo::warning={line}"));
        }
    }

    /// Shows what a compiler warned of, one warning a line. Of a line in a file only the first
    /// compiler that warned of it is shown: another would say the same in its own words.
    pub(crate) fn warn_of(&self, compiler: &'static str, warnings: &str) {
        for line in warnings.lines() {
            let is_told = place(line).is_some_and(|place| {
                *self.lock().warned.entry(place.to_owned()).or_insert(compiler) != compiler
            });
            if !is_told {
                self.warn(&line);
            }
        }
    }

    /// Links the static library `name` in `folder` into whatever the package builds.
    ///
    /// Cargo hands `rustc-link-lib` to the library of a package that has one, and to nothing
    /// else; the argument reaches its binaries, tests and examples, which may hold the bindings
    /// as well. Members of an archive that are there already are not linked twice.
    pub(crate) fn link(&self, folder: &Path, name: &str, archive: &Path) {
        self.say(&format!("cargo::rustc-link-search=native={}", folder.display()));
        self.say(&format!("cargo::rustc-link-lib=static={name}"));
        self.say(&format!("cargo::rustc-link-arg={}", archive.display()));
    }

    /// Links libraries of the system after a static library that was linked before, given as rustc
    /// takes them: `dylib=stdc++`, `static:-bundle=cudart_static`, found in `folder` where there is
    /// one. `arguments` are the same for the linker itself.
    pub(crate) fn link_after(&self, folder: Option<&Path>, names: &[&str], arguments: &[String]) {
        if let Some(folder) = folder {
            self.say(&format!("cargo::rustc-link-search=native={}", folder.display()));
        }
        for name in names {
            self.say(&format!("cargo::rustc-link-lib={name}"));
        }
        for argument in arguments {
            self.say(&format!("cargo::rustc-link-arg={argument}"));
        }
    }

    /// Tells the build scripts of packages that depend on this one, where it has `links`.
    pub(crate) fn tell_dependents(&self, key: &str, path: &Path) {
        self.say(&format!("cargo::metadata={key}={}", path.display()));
    }

    /// Prints a line for people (`cargo build -vv` shows it) and for tools.
    pub(crate) fn note(&self, text: &dyn Display) {
        self.print(&text.to_string());
    }

    /// Prints a directive that has not been printed yet. What has a line break, in a path, would be two.
    fn say(&self, line: &str) {
        if line.contains(['\n', '\r']) {
            self.warn(&format!("the directive {line:?} has a line break and is not passed to Cargo: rename the file or folder in it"));
            return;
        }
        let mut inner = self.lock();
        if !inner.said.insert(line.to_owned()) {
            return;
        }
        if let Some(watched) = &mut inner.watched
            && (line.starts_with("cargo::rerun-if-") || line.starts_with("cargo::rustc-check-cfg"))
        {
            watched.push(line.to_owned());
            return;
        }
        drop(inner);
        self.print(line);
    }

    /// Prints a line. A closed pipe means that Cargo has gone: then nobody is left to tell.
    fn print(&self, line: &str) {
        let _ = writeln!(self.lock().out, "{line}");
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The `file:line` in front of a compiler's message.
fn place(line: &str) -> Option<&str> {
    let (place, _) = line.split_once(": ")?;
    let (_, number) = place.rsplit_once(':')?;
    number.parse::<u32>().is_ok().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Shared;

    #[test]
    fn what_is_watched_can_be_held_back() {
        let written = Shared::default();
        let cargo = Cargo::to(Box::new(written.clone()));
        cargo.lock().watched = Some(Vec::new());
        let shown = || String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        cargo.watch_variable("A");
        cargo.know_cfg("b");
        cargo.warn(&"c");
        assert_eq!(shown(), "cargo::warning=c\n");
        cargo.release();
        cargo.watch_variable("A");
        cargo.watch_variable("C");
        let expected = "cargo::warning=c\ncargo::rerun-if-env-changed=A\ncargo::rustc-check-cfg=cfg(b)\n\
                        cargo::rerun-if-env-changed=C\n";
        assert_eq!(shown(), expected);
    }

    #[test]
    fn a_line_that_two_compilers_warn_of_is_shown_in_the_words_of_the_first() {
        let written = Shared::default();
        let cargo = Cargo::to(Box::new(written.clone()));
        cargo.warn_of(
            "nvcc",
            "k/a.cu:3: \"n\" is unused\nk/a.cu:3: \"m\" is unused\nno place: one\n",
        );
        cargo.warn_of(
            "clang",
            "k/a.cu:3: unused variable 'n'\nk/a.cu:4: empty body\nno place: two\n",
        );
        cargo.warn_of("nvcc", "k/a.cu:3: \"n\" is unused\nk/a.cu:4: the body is empty\n");
        let shown = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let shown: Vec<_> =
            shown.lines().map(|it| it.trim_start_matches("cargo::warning=")).collect();
        assert_eq!(
            shown,
            [
                "k/a.cu:3: \"n\" is unused",
                "k/a.cu:3: \"m\" is unused",
                "no place: one",
                "k/a.cu:4: empty body",
                "no place: two",
            ]
        );
    }

    #[test]
    fn what_has_a_line_break_is_no_directive_and_a_warning() {
        let shared = crate::test_support::Shared::default();
        let cargo = Cargo::to(Box::new(shared.clone()));
        cargo.watch(Path::new("kernels/a\ncargo::rustc-env=X=1"));
        cargo.watch(Path::new("kernels/b"));
        let said = String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].starts_with("cargo::warning=the directive \"cargo::rerun-if-changed="));
        assert_eq!(lines[1], "cargo::rerun-if-changed=kernels/b");
    }
}
