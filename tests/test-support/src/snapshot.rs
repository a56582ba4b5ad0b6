//! Snapshots: files that have the text that a test expects. `cargo xtask bless` rewrites them, by
//! `KERNELMILL_TEST_BLESS=1`, and nothing else does. Where two tests of a run give different texts for one file, it is left as
//! the first one has it, and the second fails.

use std::{
    collections::BTreeSet,
    env, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

/// Compares a text with a file.
///
/// # Panics
///
/// When they differ and the snapshot is not rewritten.
#[track_caller]
pub fn check(path: impl AsRef<Path>, actual: &str) {
    let path = path.as_ref();
    if is_blessed()
        && let Err(reason) = agree(&records(), path, actual)
    {
        panic!("{}: {reason}", path.display());
    }
    accept(path, |_| Ok(actual.to_owned()));
}

/// Whether files are rewritten.
fn is_blessed() -> bool {
    env::var_os("KERNELMILL_TEST_BLESS").is_some_and(|value| value == "1")
}

/// The folder with what the tests of this run have given so far. The run is that of whoever has started the tests.
fn records() -> PathBuf {
    let run = env::var("NEXTEST_RUN_ID").unwrap_or_else(|_| parent().to_string());
    env::temp_dir().join(format!("kernelmill-blessed-{run}"))
}

#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Without the number of the parent only the tests of one process are compared.
#[cfg(not(unix))]
fn parent() -> u32 {
    std::process::id()
}

/// Refuses a text where another test of the run has given another one for the same file: the last one would win, and the
/// others would fail later. Records of a run that is long over are those of another with the same number.
fn agree(records: &Path, path: &Path, actual: &str) -> Result<(), String> {
    const LONG: Duration = Duration::from_secs(2 * 60 * 60);
    let mut name = DefaultHasher::new();
    let whole = path.canonicalize().or_else(|_| std::path::absolute(path));
    whole.unwrap_or_else(|_| path.to_owned()).hash(&mut name);
    let record = records.join(format!("{:016x}", name.finish()));
    let written = fs::metadata(&record).and_then(|it| it.modified()).ok();
    let is_recent = written.and_then(|it| it.elapsed().ok()).is_some_and(|age| age < LONG);
    match fs::read_to_string(&record) {
        Ok(earlier) if is_recent => match difference(&earlier, actual) {
            None => Ok(()),
            Some(difference) => Err(format!(
                "two tests give different texts for it, of which only one can be kept: the second {difference}"
            )),
        },
        _ => write(&record, actual),
    }
}

/// The lines before and after a part of a file.
#[derive(Clone, Copy, Debug)]
pub struct Markers<'t> {
    /// The text before the part.
    pub start: &'t str,
    /// The first text after it.
    pub end: &'t str,
}

/// Compares a text with the part of a file between two markers.
///
/// # Panics
///
/// When they differ and the snapshot is not rewritten, and when the file lacks a marker.
#[track_caller]
pub fn check_part(path: impl AsRef<Path>, markers: Markers<'_>, actual: &str) {
    accept(path.as_ref(), |expected| replace_part(expected, markers, actual));
}

/// Compares a file with what it should be, which is made of what it is; rewrites it where that is asked
/// for.
#[track_caller]
fn accept(path: &Path, wanted: impl FnOnce(&str) -> Result<String, String>) {
    let is_blessed = is_blessed();
    let expected = fs::read_to_string(path).unwrap_or_default();
    let result = wanted(&expected).and_then(|actual| match difference(&expected, &actual) {
        Some(_) if is_blessed => write(path, &actual),
        Some(difference) => Err(difference),
        None => Ok(()),
    });
    if let Err(reason) = result {
        panic!("{}: {reason}", path.display());
    }
}

/// Writes a file whole: other tests may read it at the same time.
fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().expect("a snapshot lies in a folder");
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        if let Ok(old) = fs::metadata(path) {
            file.as_file().set_permissions(old.permissions())?;
        }
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    write().map_err(|error: std::io::Error| format!("cannot be written: {error}"))
}

/// How a text differs from what is expected: the first line that does, and all lines of one alone.
fn difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let same = expected.lines().zip(actual.lines()).take_while(|(was, is)| was == is).count();
    let [was, is] = [expected, actual].map(|text| text.lines().collect::<BTreeSet<_>>());
    let list = |sign: char, lines: BTreeSet<&str>| -> String {
        lines.iter().map(|line| format!("\n{sign} {line}")).collect()
    };
    Some(format!(
        "differs from line {} on (`cargo xtask bless` accepts it){}{}\n-- the text is:\n{actual}",
        same + 1,
        list('-', &was - &is),
        list('+', &is - &was)
    ))
}

fn replace_part(text: &str, markers: Markers<'_>, part: &str) -> Result<String, String> {
    let Markers { start, end } = markers;
    let (before, rest) = text.split_once(start).ok_or(format!("has no `{}`", start.trim()))?;
    let (_, after) = rest.split_once(end).ok_or(format!("has no `{}`", end.trim()))?;
    Ok([before, start, part, end, after].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_its_first_line() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let text = difference("a\nb\n", "a\nc\n").unwrap();
        assert!(text.starts_with("differs from line 2 on"), "{text}");
        assert!(text.contains("\n- b\n+ c\n"), "{text}");
    }

    #[test]
    fn a_part_is_replaced_between_its_markers() {
        let markers = Markers { start: "<a>", end: "</a>" };
        assert_eq!(replace_part("x<a>1</a>y", markers, "2").unwrap(), "x<a>2</a>y");
        assert_eq!(replace_part("x<a>1", markers, "2").unwrap_err(), "has no `</a>`");
    }

    #[test]
    fn two_texts_for_one_file_are_refused() {
        let folder = crate::temporary_folder();
        let records = folder.path().join("records");
        let [one, other] = ["one.txt", "other.txt"].map(|name| folder.path().join(name));
        let give = |path, text| agree(&records, path, text);
        assert_eq!(give(&one, "a\n"), Ok(()));
        assert_eq!(give(&other, "b\n"), Ok(()));
        assert_eq!(give(&one, "a\n"), Ok(()));
        let text = give(&one, "c\n").unwrap_err();
        assert!(text.starts_with("two tests give different texts for it"), "{text}");
        assert!(text.contains("\n- a\n+ c\n"), "{text}");
    }

    #[test]
    fn a_file_is_written_whole() {
        let folder = crate::temporary_folder();
        let path = folder.path().join("new/text.txt");
        for text in ["first\n", "second\n"] {
            write(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }
}
