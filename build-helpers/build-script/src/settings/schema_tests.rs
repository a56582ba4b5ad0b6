//! Tests of the schemas by Taplo, with which editors read TOML: it takes what the reader takes, and refuses what that refuses.

use super::{
    schema::{SETTINGS_SCHEMA, manifest_schema},
    toml_reader::table_at,
    toml_text::TomlText,
};
use crate::base::report::Report;
use std::{fs, path::Path, path::PathBuf, process::Command};
use test_support::{temporary_folder, tool, write_file};

/// What is wrong, each with its table below that of the settings.
const WRONG: [(&str, &str); 60] = [
    // Unknown keys, on every level.
    ("", "target = \"cpu\""),
    ("", "source_dir = \"kernels\""),
    ("", "launch-bounds = 64"),
    ("thresholds", "register = 64"),
    ("kernels.saxpy", "launch_bounds = 64"),
    ("kernels.saxpy", "define = { TILE = 1 }"),
    ("kernels.saxpy.thresholds", "spill = 0"),
    ("kernels.saxpy", "variants = [{ cluster = [1, 1, 1] }]"),
    ("sources.\"kernels/a.cu\"", "defines = { TILE = 1 }"),
    ("sources.\"kernels/a.cu\"", "include = [\"include\"]"),
    // Wrong types.
    ("", "targets = 75"),
    ("", "targets = [\"cpu\", 75]"),
    ("", "source-dir = false"),
    ("", "source-files = [1]"),
    ("", "source-glob = {}"),
    ("", "exclude = 1.5"),
    ("", "include = [[\"include\"]]"),
    ("", "arguments = [true]"),
    ("", "fma = \"yes\""),
    ("", "rdc = 1"),
    ("", "optimization = \"3\""),
    ("", "nvcc = [\"nvcc\"]"),
    ("", "clang = true"),
    ("", "host-files = 1"),
    ("", "device-libraries = [1]"),
    ("define", "TILE = [16]"),
    ("define", "TILE = false"),
    ("define", "TILE = 1.5"),
    ("types", "Params = 1"),
    ("options", "debug_level = [0]"),
    ("thresholds", "registers = \"64\""),
    ("kernels.saxpy", "requires = true"),
    ("kernels.saxpy", "name = 1"),
    ("kernels.saxpy", "parameters = [1]"),
    ("kernels.saxpy", "instances = 16"),
    ("kernels.saxpy", "launch-bounds = \"64\""),
    ("kernels.saxpy", "block-size = 64"),
    ("kernels.saxpy", "max-registers = 1.5"),
    ("sources.\"kernels/a.cu\"", "arguments = 1"),
    // Values that are none of those that there are.
    ("", "panics = \"messages\""),
    ("", "math = \"owm\""),
    ("", "excess-spills = \"deny\""),
    ("", "cuda-compiler = \"gcc\""),
    ("kernels.saxpy", "index-width = 16"),
    ("kernels.saxpy", "variants = [{ index-width = 48 }]"),
    // Out of range, too few, too many.
    ("", "optimization = 4"),
    ("", "max-spills = -1"),
    ("", "max-spills = 4_294_967_296"),
    ("", "targets = []"),
    ("", "nvcc = \"\""),
    ("thresholds", "stack-bytes = -1"),
    ("kernels.saxpy", "min-blocks = 0"),
    ("kernels.saxpy", "block-size = [16, 16]"),
    ("kernels.saxpy", "cluster = [2, 1, 0]"),
    ("kernels.saxpy", "variants = [{ block-size = [1, 1, 1, 1] }]"),
    // Wrong nesting.
    ("", "kernels = [\"saxpy\"]"),
    ("kernels", "min-blocks = 2"),
    ("kernels.saxpy", "variants = { launch-bounds = 128 }"),
    ("sources", "define = { TILE = 1 }"),
    ("kernels.saxpy.kernels.saxpy", "min-blocks = 2"),
];

/// Where settings are: the name of the file, and the tables that have them in it.
const PLACES: [(&str, &[&str]); 3] = [
    ("kernelmill.toml", &[]),
    ("Cargo.toml", &["package", "metadata", "kernelmill"]),
    ("Cargo.toml", &["workspace", "metadata", "kernelmill"]),
];

/// A file with one line in a table below these.
fn file(tables: &[&str], (table, line): (&str, &str)) -> String {
    let tables: Vec<_> =
        tables.iter().copied().chain(Some(table).filter(|it| !it.is_empty())).collect();
    match tables.is_empty() {
        true => format!("{line}\n"),
        false => format!("[{}]\n{line}\n", tables.join(".")),
    }
}

/// What the reader says of a file with settings in these tables.
fn read(text: &str, tables: &[&str]) -> Report {
    let mut report = Report::default();
    let file = TomlText { display: "kernelmill.toml".to_owned(), text: text.into() };
    table_at(&file, tables, &mut report);
    report
}

/// Those of the files that Taplo refuses, and what it says.
fn refused(taplo: &Path, schema: &str, files: &[PathBuf]) -> (Vec<PathBuf>, String) {
    let folder = temporary_folder();
    let schema = write_file(folder.path(), "schema.json", schema);
    let output = Command::new(taplo)
        .args(["lint", "--no-auto-config", "--colors", "never", "--schema"])
        .arg(format!("file://{}", schema.display()))
        .args(files)
        .env_remove("TAPLO_CONFIG")
        .output()
        .expect("Taplo starts");
    let text = String::from_utf8(output.stderr).expect("Taplo writes UTF-8");
    assert!(text.contains(&format!("found files total={}", files.len())), "{text}");
    let named = |file: &PathBuf| text.contains(&format!(" {}:", file.display()));
    let refused: Vec<_> = files.iter().filter(|file| named(file)).cloned().collect();
    assert_eq!(output.status.success(), refused.is_empty(), "{text}");
    (refused, text)
}

#[test]
fn taplo_and_the_reader_refuse_the_same_faults() {
    let Some(taplo) = tool::taplo() else { return };
    let folder = temporary_folder();
    for (place, (name, tables)) in PLACES.into_iter().enumerate() {
        let schema = match tables {
            [] => SETTINGS_SCHEMA.to_owned(),
            _ => manifest_schema(),
        };
        let mut files = Vec::new();
        for (row, fault) in WRONG.into_iter().enumerate() {
            let text = file(tables, fault);
            let report = read(&text, tables);
            assert_eq!(report.len(), 1, "{text}{report}");
            files.push(write_file(folder.path(), format!("{place}/{row}/{name}"), text));
        }
        let (refused, said) = refused(&taplo, &schema, &files);
        let accepted: Vec<_> = files
            .iter()
            .filter(|file| !refused.contains(file))
            .map(|file| fs::read_to_string(file).unwrap())
            .collect();
        assert!(accepted.is_empty(), "{said}\n{name} {tables:?}: the schema accepts {accepted:#?}");
    }
}

/// Of every package below `examples`, `tests` and `benches`, and of the workspace.
#[test]
fn taplo_and_the_reader_accept_every_manifest_of_the_workspace() {
    let Some(taplo) = tool::taplo() else { return };
    let root = test_support::root();
    let mut manifests = vec![root.join("Cargo.toml")];
    for folder in ["examples", "tests", "benches", "build-helpers"] {
        let entries = walkdir::WalkDir::new(root.join(folder))
            .into_iter()
            .filter_entry(|entry| entry.file_name() != "target");
        let found = entries.map(|entry| entry.expect("the workspace can be read").into_path());
        manifests.extend(found.filter(|path| path.ends_with("Cargo.toml")));
    }
    let mut with_settings = 0;
    for manifest in &manifests {
        let text = fs::read_to_string(manifest).unwrap();
        for (_, tables) in PLACES.into_iter().filter(|(_, tables)| !tables.is_empty()) {
            let report = read(&text, tables);
            assert!(report.is_empty(), "{}: {report}", manifest.display());
        }
        with_settings += usize::from(text.contains(".metadata.kernelmill"));
    }
    assert!(with_settings >= 30, "{with_settings} manifests have settings");
    let (refused, said) = refused(&taplo, &manifest_schema(), &manifests);
    assert!(refused.is_empty(), "{said}");
}
