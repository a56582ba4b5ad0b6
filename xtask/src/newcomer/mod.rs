//! The steps of the README and of the book's first pages, word for word, where nothing but rustup and a C linker is
//! installed and the home folder is empty.
//!
//! The tests of `tests/end-to-end` build what the pages show. Here the commands are run too, those that install and those
//! that make packages among them; what the pages say that these print, and the files that they show, are compared.

mod home;
mod output;
mod page;

use crate::workspace::{Workspace, stage};
use anyhow::{Context as _, Result, bail, ensure};
use home::Home;
use page::{Block, Part, parts};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What brings a checkout; it is there already.
const CLONE: &str = "git clone https://github.com/kernelmill/kernelmill";

/// Follows each page.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let home = Home::new(workspace)?;
    let page = |name: &str| {
        let path = workspace.root.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let (start, tutorial) = (page("docs/src/getting-started.md")?, page("docs/src/tutorial.md")?);
    let filter = page("docs/src/photo-filter.md")?;
    let readme = page("README.md")?;
    stage("getting started", || getting_started(&home, &start))?;
    stage("the tutorial", || follow_tutorial(&home, &tutorial))?;
    stage("the photo filter", || follow_filter(&home, &filter))?;
    stage("the README's own crate", || own_crate(&home, &readme))?;
    println!("\neach step does what its page says");
    Ok(())
}

/// Runs each command of the page, compares what it says that they print, and finds the code that it shows in the package
/// that a command made.
fn getting_started(home: &Home, page: &str) -> Result<()> {
    let mut folder = home.folder();
    let mut named = None;
    for part in parts(page) {
        let block = match part {
            Part::Command(command) => {
                named = Some(command);
                continue;
            }
            Part::Block(block) => block,
        };
        let place = format!("docs/src/getting-started.md:{}", block.line);
        match (&*block.language, &named) {
            ("sh", _) => {
                let (_, end) = home
                    .shell(&block.text.replace(CLONE, ":"), &folder)
                    .with_context(|| place.clone())?;
                folder = end;
            }
            ("text", Some(command)) => {
                let (printed, _) = home.shell(command, &folder).with_context(|| place.clone())?;
                check_output(&block, command, &printed, &place)?;
            }
            ("text", None) => bail!("{place}: no command is named that prints it"),
            _ => check_code(&block, &folder, &place)?,
        }
    }
    let (printed, _) = home.shell("cargo test", &folder)?;
    ensure!(printed.contains("1 passed"), "the package's test does not run:\n{printed}");
    Ok(())
}

/// The lines of a block are among those that its command prints.
fn check_output(block: &Block, command: &str, printed: &str, place: &str) -> Result<()> {
    let missing = output::missing(&block.text, printed);
    let missing_lines = missing.join("\n");
    ensure!(
        missing.is_empty(),
        "{place}: `{command}` does not print\n{missing_lines}\nbut\n{printed}"
    );
    Ok(())
}

/// The code of a block is in the file that it names; a test is in the program, and settings are in `Cargo.toml`.
fn check_code(block: &Block, package: &Path, place: &str) -> Result<()> {
    let (file, code) = match (block.file(), &*block.language) {
        (Some(named), _) => named,
        (None, "rust") => ("src/main.rs", &*block.text),
        (None, "toml") => ("Cargo.toml", &*block.text),
        (None, language) => {
            bail!("{place}: `cargo xtask newcomer` has no check for a block in `{language}`")
        }
    };
    let found = fs::read_to_string(package.join(file)).with_context(|| place.to_owned())?;
    // A test may stand in a module.
    let bare = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    ensure!(
        bare(&found).contains(&bare(code)),
        "{place}: the package has another {file}:\n{found}"
    );
    Ok(())
}

/// Makes the tutorial's package, with its kernels and its program.
fn follow_tutorial(home: &Home, page: &str) -> Result<()> {
    let package = tutorial_package(home, page, "sums")?;
    let (printed, _) = home.shell("cargo run", &package)?;
    for version in ["chunks", "strided", "early", "uniform", "sized"] {
        let is_it = |line: &str| line.starts_with(version) && line.contains(" ms, relative error ");
        ensure!(printed.lines().any(is_it), "`{version}` is not measured:\n{printed}");
    }
    let (printed, _) = home.shell("cargo test", &package)?;
    ensure!(printed.contains("1 passed"), "the tutorial's test does not run:\n{printed}");
    let count = run_tools(home, ("docs/src/tutorial.md", page), &package)?;
    ensure!(count == 4, "the tutorial shows what {count} commands print, not 4");
    Ok(())
}

/// Makes the package of the photo filter, runs it, and tunes its kernels.
fn follow_filter(home: &Home, page: &str) -> Result<()> {
    const TUNE: &str = "cargo kernelmill tune blur --sizes 800x600";
    let package = tutorial_package(home, page, "filter")?;
    let (file, mut settings) = (package.join("Cargo.toml"), String::new());
    for block in blocks(page).filter(|block| block.language == "toml") {
        settings += &block.text;
    }
    let manifest = fs::read_to_string(&file)?;
    let (head, _) = manifest
        .split_once("[package.metadata")
        .context("internal error of xtask: the package has no settings")?;
    fs::write(file, format!("{head}{settings}"))?;
    let (printed, _) = home.shell("cargo run", &package)?;
    for version in ["direct", "tiled"] {
        let is_it = |line: &str| line.starts_with(version) && line.ends_with(" ms, right: true");
        ensure!(printed.lines().any(is_it), "`{version}` is not right:\n{printed}");
    }
    let count = run_tools(home, ("docs/src/photo-filter.md", page), &package)?;
    ensure!(count == 5, "the page shows what {count} commands print, not 5");
    ensure!(page.contains(&format!("`{TUNE}`")), "the page tunes by another command");
    let (printed, _) = home.shell(TUNE, &package)?;
    let shown = blocks(page).find(|block| block.text.starts_with("blur, "));
    let shown = shown.context("the page does not show what is tuned")?;
    let missing = missing_of_chart(&shown.text, &printed);
    ensure!(missing.is_empty(), "`{TUNE}` does not print {missing:?} but\n{printed}");
    ensure!(package.join("kernelmill-tuning.toml").is_file(), "`{TUNE}` writes no file");
    home.shell("cargo run", &package).map(drop)
}

/// The lines of a chart of launches that were not printed, as far as machines do not differ in them: its head, and the name of
/// each kernel before its time. Which kernel is chosen is a matter of time too.
fn missing_of_chart<'page>(page: &'page str, printed: &str) -> Vec<&'page str> {
    let sure = |line: &str| match line.trim_start().split_once(' ') {
        Some((kernel, rest)) if rest.contains(" ms ") => format!("{kernel} ms"),
        _ => line.split([',', ';']).take(2).filter(|it| !it.starts_with("written to")).collect(),
    };
    let printed: Vec<_> = printed.lines().map(sure).collect();
    page.lines().filter(|line| !printed.contains(&sure(line))).collect()
}

/// A package by the command that a page starts with, with the files that the page shows and its test.
fn tutorial_package(home: &Home, page: &str, name: &str) -> Result<PathBuf> {
    let new = format!("cargo kernelmill new {name}");
    ensure!(page.contains(&format!("`{new}`")), "the page starts with another command");
    let deletes = page.replace('\n', " ").contains("delete `kernels/saxpy.rs`");
    ensure!(deletes, "the page deletes another file");
    home.shell(&format!("{new}\nrm {name}/kernels/saxpy.rs"), &home.folder())?;
    let package = home.folder().join(name);
    let test = blocks(page).find(|block| block.text.starts_with("#[cfg(test)]"));
    let test = test.context("internal error of xtask: the page has no block with a test")?.text;
    for block in blocks(page) {
        if let Some((file, code)) = block.file() {
            let code = if file == "src/main.rs" { format!("{code}\n{test}") } else { code.into() };
            let path = package.join(file);
            fs::create_dir_all(path.parent().context("a file has a folder")?)?;
            fs::write(path, code)?;
        }
    }
    Ok(package)
}

/// Runs the commands of a page that need no tool, compares what it says that they print, and gives their number.
fn run_tools(home: &Home, (name, page): (&str, &str), package: &Path) -> Result<usize> {
    let mut count = 0;
    let (mut named, mut ran) = (None, None);
    for part in parts(page) {
        let block = match part {
            Part::Command(command) => {
                named = Some(command);
                continue;
            }
            Part::Block(block) => block,
        };
        let place = format!("{name}:{}", block.line);
        let run = |text: &str| home.shell(text, package).with_context(|| place.clone());
        let is_shown = |command: &str| {
            let starts = ["inspect ", "list", "report"].map(|it| format!("cargo kernelmill {it}"));
            // Those of NVIDIA's binaries need `ptxas`.
            starts.iter().any(|start| command.starts_with(start)) && !command.contains("sm_")
        };
        match (&*block.language, named.take(), ran.take()) {
            ("sh", ..) => ran = Some((block.text.clone(), run(&block.text)?.0)),
            ("text", Some(command), _) if is_shown(&command) => {
                check_output(&block, &command, &run(&command)?.0, &place)?;
                count += 1;
            }
            ("text", None, Some((commands, printed))) => {
                check_output(&block, commands.trim_end(), &printed, &place)?;
                count += 1;
            }
            // Times, and what `ptxas` is needed for.
            _ => {}
        }
    }
    Ok(count)
}

/// Adds what the README shows to an empty package.
fn own_crate(home: &Home, page: &str) -> Result<()> {
    let package = home.folder().join("own");
    fs::create_dir_all(&package)?;
    let mut files = Vec::new();
    for block in blocks(page) {
        let Some((file, code)) = block.file() else { continue };
        let path = package.join(file);
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        let head = match file {
            "Cargo.toml" => "[package]\nname = \"own\"\nedition = \"2024\"\n\n",
            _ => "",
        };
        fs::write(path, format!("{head}{code}"))?;
        files.push(file.to_owned());
    }
    ensure!(
        files == ["Cargo.toml", "build.rs", "kernels/saxpy.rs", "src/main.rs"],
        "the README shows other files: {files:?}"
    );
    // The versions of other crates that were downloaded.
    fs::copy(home.checkout().join("Cargo.lock"), package.join("Cargo.lock"))?;
    home.shell("cargo run", &package).map(drop)
}

fn blocks(page: &str) -> impl Iterator<Item = Block> {
    parts(page).into_iter().filter_map(|part| match part {
        Part::Block(block) => Some(block),
        Part::Command(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::missing_of_chart;

    #[test]
    fn times_and_places_of_a_chart_may_differ_and_kernels_may_not() {
        let page = "blur, 8x6 elements, CPU\n  a  2.1 ms  1.0  ##\n  b  0.3 ms  0.1  #  chosen\nwritten to x; commit it\n";
        let printed = "blur, 8x6 elements, GPU\n  a  0.1 ms  1.0  ## chosen\n  b  7.3 ms  9.1  ##\nwritten to y; commit it\n";
        assert_eq!(missing_of_chart(page, printed), [""; 0]);
        let other = printed.replace("  b", "  c").replace("8x6", "8x7");
        assert_eq!(missing_of_chart(page, &other).len(), 2);
    }
}
