//! The book of `docs/`: every link of the documentation is checked, then mdBook builds the HTML.
//!
//! Checked are the Markdown files that git knows: the book, README, ARCHITECTURE, CHANGELOG and others.
//!
//! - A relative link leads to a file that exists, and its `#anchor` to a heading of that file. Anchors are
//!   those of mdBook, which are GitHub's too: lower case, spaces become `-`, other punctuation is dropped.
//! - A page of the book links other pages only. What lies outside `docs/src` is linked by its address on
//!   GitHub, because mdBook does not copy it; such addresses are checked as files of this checkout.
//! - Every page of the book is in `SUMMARY.md`.
//! - Every test that a page names exists ([`named_tests`]).
//! - Every task of `docs/src/tasks.md` leads to a heading whose example the tests run ([`tasks`]).
//! - Every page of the guide with code is named by a test, or is among those that say why not ([`UNTAKEN`]).
//! - Every path of a page that stands in a source, such as `docs/src/SUMMARY.md`, exists.
//!
//! Addresses of other sites are not asked.

use super::{
    blocks::{self, anchor},
    named_tests, tasks,
};
use crate::workspace::Workspace;
use anyhow::{Context as _, Result, bail};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Component, Path, PathBuf},
};

/// The pages of the book.
const PAGES: &str = "docs/src";

/// Where GitHub shows the files of this repository.
const ADDRESSES: [&str; 2] = [
    "https://github.com/kernelmill/kernelmill/blob/main/",
    "https://github.com/kernelmill/kernelmill/tree/main/",
];

/// Pages of the guide with code that no test takes, and why.
const UNTAKEN: [(&str, &str); 2] = [
    (
        "device-libraries",
        "the library is the user's own; `tests/end-to-end/tests/device_libraries.rs` links such libraries",
    ),
    ("hip", "lines of a `Cargo.toml`; `tests/hip-backend` is built with them"),
];

/// Checks all links, then builds the book into `target/book`.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let files = files(workspace)?;
    let mut documents = BTreeMap::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "md")) {
        let text = workspace.read(&file.to_string_lossy())?;
        documents.insert(file.clone(), Document::read(&text));
    }
    let mut faults = Vec::new();
    for (file, document) in &documents {
        for link in &document.links {
            if let Err(why) = check(&workspace.root, &documents, file, &link.target) {
                faults.push(format!("{}:{}: `{}`: {why}", file.display(), link.line, link.target));
            }
        }
        for test in &document.tests {
            let why = named_tests::fault(workspace, &test.file, &test.name);
            faults.extend(why.map(|why| format!("{}:{}: {why}", file.display(), test.line)));
        }
    }
    faults.extend(unlisted(&documents)?);
    faults.extend(lost_paths(workspace, &files));
    faults.extend(untaken(workspace, &files)?);
    faults.extend(tasks::faults(workspace, &workspace.read(tasks::PAGE)?));
    if !faults.is_empty() {
        bail!(
            "the documentation names files, headings or tests that do not exist:\n{}",
            faults.join("\n")
        );
    }
    let count = |of: fn(&Document) -> usize| documents.values().map(of).sum::<usize>();
    let (links, tests) = (count(|it| it.links.len()), count(|it| it.tests.len()));
    println!("{links} links of {} files lead somewhere, {tests} tests exist", documents.len());
    build(workspace)
}

/// Calls mdBook, which is compiled here for the first time: a build of the workspace leaves it out.
fn build(workspace: &Workspace) -> Result<()> {
    let folder = workspace.target.join("book");
    let arguments = ["run", "--quiet", "--package", "book", "--features", "mdbook", "--"];
    workspace.cargo(&arguments).arg(&folder).run()?;
    println!("the book is at {}", folder.join("index.html").display());
    Ok(())
}

/// The files that git knows or would add, relative to the root.
fn files(workspace: &Workspace) -> Result<Vec<PathBuf>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let list = workspace.shell.cmd("git").args(arguments).quiet().read()?;
    let files = list.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from);
    Ok(files.filter(|path| workspace.root.join(path).is_file()).collect())
}

/// A link in a document.
struct Link {
    /// As it is written.
    target: String,
    /// The line that it starts on.
    line: usize,
}

/// A test that a document names.
struct NamedTest {
    file: String,
    name: String,
    line: usize,
}

/// What is checked of a Markdown file.
#[derive(Default)]
struct Document {
    links: Vec<Link>,
    tests: Vec<NamedTest>,
    anchors: HashSet<String>,
}

impl Document {
    fn read(text: &str) -> Self {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_HEADING_ATTRIBUTES;
        let mut document = Self::default();
        let mut heading: Option<String> = None;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            let line = || text[..range.start].matches('\n').count() + 1;
            if let Event::Code(code) = &event
                && let Some((file, name)) = named_tests::parse(code)
            {
                let (file, name) = (file.to_owned(), name.to_owned());
                document.tests.push(NamedTest { file, name, line: line() });
            }
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(Link { target: dest_url.into_string(), line: line() });
                }
                Event::Start(Tag::Heading { id, .. }) => {
                    document.anchors.extend(id.map(|id| id.into_string()));
                    heading = Some(String::new());
                }
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::End(TagEnd::Heading(_)) => {
                    document.add_anchor(&heading.take().unwrap_or_default());
                }
                _ => {}
            }
        }
        document
    }

    /// Adds the anchor of a heading; a second heading of the same words gets `-1` behind it.
    fn add_anchor(&mut self, heading: &str) {
        let plain = anchor(heading);
        let numbered = (1..).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        let free = candidates.find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
    }
}

/// Whether a link leads somewhere; else why not.
fn check(
    root: &Path,
    documents: &BTreeMap<PathBuf, Document>,
    from: &Path,
    target: &str,
) -> Result<(), String> {
    let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
    let inside = ADDRESSES.iter().find_map(|address| path.strip_prefix(address));
    let file = match inside {
        Some(path) => PathBuf::from(path),
        None if path.contains("://") || path.starts_with("mailto:") => return Ok(()),
        None if path.is_empty() => from.to_path_buf(),
        None => normalize(&from.parent().unwrap_or(Path::new("")).join(path)),
    };
    if !root.join(&file).exists() {
        return Err(format!("there is no `{}`", file.display()));
    }
    if inside.is_none() && from.starts_with(PAGES) && !file.starts_with(PAGES) {
        return Err(format!("outside of the book: write {}{}", ADDRESSES[0], file.display()));
    }
    let known = documents.get(&file);
    if !fragment.is_empty() && known.is_some_and(|known| !known.anchors.contains(fragment)) {
        return Err(format!("`{}` has no heading `#{fragment}`", file.display()));
    }
    Ok(())
}

/// The path without `.` and `..`.
fn normalize(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The pages of the book that are not in its table of contents.
fn unlisted(documents: &BTreeMap<PathBuf, Document>) -> Result<Vec<String>> {
    let pages = Path::new(PAGES);
    let summary = pages.join("SUMMARY.md");
    let contents = documents.get(&summary).context("the book has no SUMMARY.md")?;
    let listed: HashSet<PathBuf> =
        contents.links.iter().map(|link| normalize(&pages.join(&link.target))).collect();
    let missing = documents.keys().filter(|file| {
        file.starts_with(pages) && **file != summary && !listed.contains(file.as_path())
    });
    Ok(missing.map(|file| format!("{}: not in {}", file.display(), summary.display())).collect())
}

/// Pages of the guide with code that no test names, and exceptions that are none.
fn untaken(workspace: &Workspace, files: &[PathBuf]) -> Result<Vec<String>> {
    let mut sources = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "rs")) {
        if !file.starts_with("xtask") {
            sources.push((file, workspace.read(&file.to_string_lossy())?));
        }
    }
    let mut faults = Vec::new();
    for page in files.iter().filter(|file| file.starts_with("docs/src/guide")) {
        let Some(name) = page.file_stem().and_then(|name| name.to_str()) else { continue };
        let is_taken = sources.iter().any(|(file, text)| takes(file, text, name));
        let is_listed = UNTAKEN.iter().any(|(page, _)| *page == name);
        if is_listed && is_taken {
            faults.push(format!(
                "{}: a test takes it, and xtask says that none does",
                page.display()
            ));
        }
        let has_code =
            || Ok::<_, anyhow::Error>(blocks::has_code(&workspace.read(&page.to_string_lossy())?));
        if !is_taken && !is_listed && has_code()? {
            faults.push(format!("{}: no test takes its code", page.display()));
        }
    }
    Ok(faults)
}

/// Whether a source includes a page of the guide or reads it: by its path, in the book's own tests by its name.
fn takes(file: &Path, text: &str, page: &str) -> bool {
    let is_of_book = file == Path::new("tests/end-to-end/tests/book.rs");
    text.contains(&format!("guide/{page}.md\""))
        || is_of_book && text.contains(&format!("(\"{page}\", "))
}

/// Paths of pages that stand in sources and comments, and lead nowhere.
fn lost_paths(workspace: &Workspace, files: &[PathBuf]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        // What is not text names no page.
        let Ok(text) = fs::read_to_string(workspace.root.join(file)) else { continue };
        for (index, line) in text.lines().enumerate() {
            let lost = paths_of_pages(line).filter(|path| !workspace.root.join(path).is_file());
            faults.extend(
                lost.map(|path| format!("{}:{}: there is no `{path}`", file.display(), index + 1)),
            );
        }
    }
    faults
}

/// What looks like the path of a page of this repository in a line.
fn paths_of_pages(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("docs/").filter_map(|(start, _)| {
        let rest = &line[start..];
        let belongs =
            |character: char| character.is_ascii_alphanumeric() || "/._-".contains(character);
        let end = rest.find(|character| !belongs(character)).unwrap_or(rest.len());
        let path = rest[..end].trim_end_matches('.');
        let host = line[..start].ends_with(|c: char| c.is_ascii_alphanumeric());
        let foreign = line[..start].rsplit([' ', '<', '(']).next().is_some_and(|word| {
            word.contains("://") && !ADDRESSES.iter().any(|address| word.ends_with(address))
        });
        (path.ends_with(".md") && !host && !foreign).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::{Document, check, normalize, paths_of_pages, takes};
    use std::{
        collections::BTreeMap,
        path::{Path, PathBuf},
    };

    #[test]
    fn anchors_are_those_of_mdbook() {
        let document =
            Document::read("# `a_b`: What, why?\n\n## Names\n\n## Names\n\n## x {#own}\n");
        for expected in ["a_b-what-why", "names", "names-1", "own"] {
            assert!(document.anchors.contains(expected), "{expected}: {:?}", document.anchors);
        }
    }

    #[test]
    fn links_are_found_with_their_lines_and_not_in_code() {
        let document = Document::read("`[a](b)`\n\n[c](d) ![e](f)\n\n```\n[g](h)\n```\n");
        let found: Vec<_> = document.links.iter().map(|l| (l.target.as_str(), l.line)).collect();
        assert_eq!(found, [("d", 3), ("f", 3)]);
    }

    #[test]
    fn broken_links_say_why() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = PathBuf::from("src/ci/book.rs");
        let documents = BTreeMap::from([(page.clone(), Document::read("# Here\n"))]);
        let check = |target| check(root, &documents, &page, target);
        assert_eq!(check("../main.rs"), Ok(()));
        assert_eq!(check("../../Cargo.toml"), Ok(()));
        assert_eq!(check("#here"), Ok(()));
        assert_eq!(check("https://example.org/x#y"), Ok(()));
        assert_eq!(check("#there"), Err("`src/ci/book.rs` has no heading `#there`".to_owned()));
        assert_eq!(check("nowhere.rs"), Err("there is no `src/ci/nowhere.rs`".to_owned()));
    }

    #[test]
    fn paths_of_pages_are_found_in_text() {
        let line = "`docs/src/SUMMARY.md`, ../docs/src/tutorial.md. (https://llvm.org/docs/d.md) mydocs/e.md";
        assert_eq!(
            paths_of_pages(line).collect::<Vec<_>>(),
            ["docs/src/SUMMARY.md", "docs/src/tutorial.md"]
        );
    }

    #[test]
    fn a_source_takes_a_page_by_its_path_and_the_tests_of_the_book_by_its_name() {
        let (book, other) = (Path::new("tests/end-to-end/tests/book.rs"), Path::new("src/a.rs"));
        assert!(takes(book, "[(\"cpu\", 1)]", "cpu") && !takes(other, "[(\"cpu\", 1)]", "cpu"));
        assert!(takes(other, "include_str!(\"../docs/src/guide/cpu.md\")", "cpu"));
        assert!(!takes(other, "// docs/src/guide/cpu.md", "cpu"));
    }

    #[test]
    fn paths_lose_their_dots() {
        assert_eq!(normalize(Path::new("a/./b/../c")), Path::new("a/c"));
    }
}
