//! Frames of panics: the source lines that a message names, with their places marked, as compilers draw them.

use std::{
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use kernelmill_artifact::{PanicKind, SourceLocation};

use super::panic::KernelPanic;

/// The largest file that lines are read of.
const MOST_BYTES: u64 = 16 << 20;

/// A place, and what is said of it.
struct Mark<'a> {
    location: SourceLocation<'a>,
    label: &'a str,
}

impl KernelPanic {
    /// The source line of the panic with its place marked, of a data race those of both accesses, as compilers draw them; `None`
    /// where the place is not known, or `folder`, that of the kernel's package, has no such file or line.
    ///
    /// The file is read as it is now. `Debug` of an [`Error`](crate::Error) has the frame where a program runs in the folder
    /// of its package, or Cargo runs it.
    ///
    /// ```no_run
    /// # let device = kernelmill::Device::cpu()?;
    /// if let Err(kernelmill::Error::KernelPanic(panic)) = device.synchronize() {
    ///     println!("{panic}\n{}", panic.frame(".".as_ref()).unwrap_or_default());
    /// }
    /// # Ok::<(), kernelmill::Error>(())
    /// ```
    #[must_use]
    pub fn frame(&self, folder: &Path) -> Option<String> {
        let location = self.location?;
        let marks = match self.other_access() {
            Some((own, other)) => Vec::from([Mark { location, label: own }, other]),
            None => Vec::from([Mark { location, label: "" }]),
        };
        draw(folder, &marks)
    }

    /// The frame by the file in the folder of the package that Cargo runs, or in the current one.
    pub(super) fn frame_of_package(&self) -> Option<String> {
        // Miri ends a program that opens a file, unless it is told not to.
        if cfg!(miri) {
            return None;
        }
        let package = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        package.into_iter().chain([PathBuf::new()]).find_map(|folder| self.frame(&folder))
    }

    /// Of a race what the thread does, and the access of the other thread.
    fn other_access(&self) -> Option<(&str, Mark<'_>)> {
        if self.kind != PanicKind::Race {
            return None;
        }
        let (own, other) = self.message.split_once(" here, and ")?;
        let (label, place) = other.split_once(" at ")?;
        let (place, _) = place.split_once(", with no barrier")?;
        let mut parts = place.rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let location = SourceLocation { file: parts.next()?, line, column };
        let start = own.rfind(" is ")? + " is ".len();
        Some((self.message.get(start..own.len() + " here".len())?, Mark { location, label }))
    }
}

/// The lines of the marks; one that is not there is left out, and the first one has to be.
fn draw(folder: &Path, marks: &[Mark<'_>]) -> Option<String> {
    let lines: Vec<_> = marks.iter().map(|mark| line(folder, &mark.location)).collect();
    lines.first()?.as_ref()?;
    let width = marks.iter().map(|mark| mark.location.line.to_string().len()).max()?;
    let mut text = String::new();
    let mut last: Option<SourceLocation<'_>> = None;
    for (Mark { location, label }, line) in marks.iter().zip(&lines) {
        let Some(line) = line else { continue };
        let is_same_file = last.is_some_and(|last| last.file == location.file);
        if !is_same_file {
            let (before, arrow) = if last.is_none() { ("", "-->") } else { ("\n", ":::") };
            let _ = write!(text, "{before}{:width$}{arrow} {location}\n{:width$} |", "", "");
        } else if last.is_some_and(|last| !(last.line..=last.line + 1).contains(&location.line)) {
            let _ = write!(text, "\n...");
        }
        if !(is_same_file && last.is_some_and(|last| last.line == location.line)) {
            let _ = write!(text, "\n{:>width$} | {}", location.line, line.replace('\t', " "));
        }
        let before = location.column as usize - 1;
        let _ = write!(text, "\n{:width$} | {:before$}^ {label}", "", "");
        text.truncate(text.trim_end().len());
        last = Some(*location);
    }
    Some(text)
}

/// The line of a place, which has its column.
fn line(folder: &Path, location: &SourceLocation<'_>) -> Option<String> {
    let path = folder.join(location.file);
    // A pipe would be waited for.
    let is_read = fs::metadata(&path).is_ok_and(|it| it.is_file() && it.len() <= MOST_BYTES);
    let text = is_read.then(|| fs::read_to_string(path).ok())??;
    let line = text.lines().nth(usize::try_from(location.line).ok()?.checked_sub(1)?)?;
    (1..=line.len()).contains(&(location.column as usize)).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn panic(kind: PanicKind, line: u32, column: u32, message: &str) -> KernelPanic {
        KernelPanic {
            kind,
            message: message.to_owned(),
            location: Some(SourceLocation { file: "src/error/frame.rs", line, column }),
            source: "src/error/frame.rs",
            block: [0; 3],
            thread: [0; 3],
            backtrace: &[],
        }
    }

    #[test]
    fn the_line_is_drawn_with_its_place_where_the_file_has_it() {
        let found = panic(PanicKind::Explicit, 1, 13, "no");
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let expected = " --> src/error/frame.rs:1:13\n  |\n1 | //! Frames of panics: the source lines that a message \
                        names, with their places marked, as compilers draw them.\n  |             ^";
        assert_eq!(found.frame(here).as_deref(), Some(expected));
        // Tests run in the folder of their package.
        let shown = format!("{:?}", Error::from(found.clone()));
        assert!(shown.starts_with(&format!("{found}\n{expected}\n  for more: ")), "{shown}");
        assert!(!found.to_string().contains("-->"), "messages are of one line");
        assert_eq!(found.frame(&here.join("src")), None);
        assert_eq!(panic(PanicKind::Explicit, 1, 500, "no").frame(here), None);
        assert_eq!(panic(PanicKind::Explicit, 2, 1, "no").frame(here), None);
        assert_eq!(panic(PanicKind::Explicit, 100_000, 1, "no").frame(here), None);
    }

    #[test]
    fn both_places_of_a_race_are_drawn() {
        let shown = |other: &str| {
            let message = format!(
                "data race: the shared array `tile` is written here, and read by thread 7 of the block at {other}, with no \
                 barrier between"
            );
            let found = panic(PanicKind::Race, 3, 1, &message);
            let text = found.frame(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
            let (head, rest) = text.split_once("\n3 | use std::{\n").unwrap();
            assert_eq!(head, " --> src/error/frame.rs:3:1\n  |");
            rest.to_owned()
        };
        let label = "read by thread 7 of the block";
        let own = "  | ^ written here";
        assert_eq!(
            shown("src/error/frame.rs:4:5"),
            format!("{own}\n4 |     env,\n  |     ^ {label}")
        );
        assert_eq!(
            shown("src/error/frame.rs:6:5"),
            format!("{own}\n...\n6 |     fs,\n  |     ^ {label}")
        );
        assert_eq!(shown("src/error/frame.rs:3:5"), format!("{own}\n  |     ^ {label}"));
        let elsewhere = shown("src/error/mod.rs:3:1");
        let expected =
            format!("{own}\n ::: src/error/mod.rs:3:1\n  |\n3 | mod code;\n  | ^ {label}");
        assert_eq!(elsewhere, expected);
        assert_eq!(shown("src/error/none.rs:1:1"), own);
    }
}
