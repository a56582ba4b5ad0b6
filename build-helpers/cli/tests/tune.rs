//! `tune` on a package whose benchmark reports what the test says.

use std::{fs, path::Path, process::Command};
use test_support::{TempDir, temporary_folder, write_file};

/// A package whose benchmark prints a text for people and then these lines, with the kernel and sizes that it was asked for.
fn package(name: &str, lines: &str, status: i32) -> TempDir {
    let folder = temporary_folder();
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[[bench]]\nname = \"tune\"\n\
         harness = false\n\n[workspace]\n"
    );
    write_file(folder.path(), "Cargo.toml", &manifest);
    write_file(folder.path(), "src/lib.rs", "");
    let bench = format!(
        "fn main() {{\n    let of = |name| std::env::var(name).unwrap();\n    println!(\"for {{}}: {{}}, {{}}\", \
         of(\"KERNELMILL_TUNE\"), of(\"KERNELMILL_TUNE_SIZES\"), of(\"KERNELMILL_TUNE_ROUNDS\"));\n    \
         print!(\"{{}}\", {lines:?});\n    std::process::exit({status});\n}}\n"
    );
    write_file(folder.path(), "benches/tune.rs", &bench);
    folder
}

/// Whether it succeeds, and what it prints.
fn tune(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"))
        .args(["kernelmill", "tune"])
        .args(arguments)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

const LINES: &str = "kernelmill-tune\tprogress\tcpu\t1024\t1\t1\n\
                     kernelmill-tune\ttime\tsaxpy\tcpu\t1024\t256\t0\t2000\t1.0\t0\n\
                     kernelmill-tune\ttime\tsaxpy\tcpu\t1024\t64\t32\t1000\t0.5\t1\n";

#[test]
fn what_is_chosen_is_written_beside_what_was_tuned_before() {
    let folder = package("tuned", LINES, 0);
    let file = folder.path().join("kernelmill-tuning.toml");
    let manifest = folder.path().join("Cargo.toml");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let touched = || fs::metadata(&manifest).unwrap().modified().unwrap() > long_ago;
    let make_old = || {
        fs::File::options().append(true).open(&manifest).unwrap().set_modified(long_ago).unwrap()
    };
    make_old();
    let (is_success, said, errors) =
        tune(folder.path(), &["saxpy", "--sizes", "1024", "--rounds", "9"]);
    assert!(is_success, "{errors}");
    assert!(
        said.starts_with("for saxpy: 1024, 9\nsaxpy, 1024 elements, cpu\n    64 r32 "),
        "{said}"
    );
    assert_eq!(said.matches("  chosen\n").count(), 1, "{said}");
    let head = "# Written by `cargo kernelmill tune`. Commit it: builds embed it.\n";
    let own = "\n[[choice]]\nkernel = \"saxpy\"\ndevice = \"cpu\"\nsize-class = 10\nblock = 64\nmax-registers = 32\n";
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{head}{own}"));
    // The build script that has not seen the file runs again.
    assert!(touched());

    let (_, said, errors) = tune(folder.path(), &["saxpy", "--json"]);
    let told: serde_json::Value = serde_json::from_str(&said).unwrap();
    let launches = told["launches"].as_array().unwrap();
    assert_eq!((launches.len(), &launches[1]["max_registers"]), (2, &32.into()), "{told}");
    assert!(errors.contains("for saxpy: "), "{errors}");

    let other = "\n[[choice]]\nkernel = \"dot\"\ndevice = \"gpu\"\nsize-class = 10\nblock = 128\n";
    let before = own.replace("block = 64\nmax-registers = 32", "block = 512");
    write_file(folder.path(), "kernelmill-tuning.toml", format!("{before}{other}"));
    make_old();
    assert!(tune(folder.path(), &["saxpy"]).0);
    assert_eq!(fs::read_to_string(&file).unwrap(), format!("{head}{other}{own}"));
    assert!(!touched());

    write_file(folder.path(), "kernelmill-tuning.toml", "[[choice]]\nblock = 0\n");
    let (is_success, said, errors) = tune(folder.path(), &["saxpy"]);
    assert!(
        !is_success && errors.contains("kernelmill-tuning.toml:2: `block` must be a number"),
        "{errors}"
    );
    assert_eq!(said, "");
}

#[test]
fn a_benchmark_that_fails_or_tunes_nothing_changes_no_file() {
    let failing = package("tune-fails", LINES, 3);
    let (is_success, _, errors) = tune(failing.path(), &["saxpy"]);
    assert!(!is_success && errors.contains("the benchmark `tune` failed"), "{errors}");
    let idle = package("tune-idle", "", 0);
    let (is_success, _, errors) = tune(idle.path(), &["other"]);
    assert!(!is_success && errors.contains("does not tune `other`: "), "{errors}");
    let partial = package("tune-partly", LINES, 0);
    let (is_success, _, errors) = tune(partial.path(), &["saxpy", "other", "third"]);
    assert!(!is_success && errors.contains("does not tune `other`, `third`: "), "{errors}");
    for folder in [failing, idle, partial] {
        assert!(!folder.path().join("kernelmill-tuning.toml").exists());
    }
}

#[test]
fn what_was_printed_on_another_machine_is_written() {
    let folder = package("tune-printed", "", 0);
    let other = LINES.replace("\tsaxpy\t", "\tdot\t");
    write_file(folder.path(), "printed.txt", format!("for people\n{LINES}{other}"));
    let (is_success, said, errors) = tune(folder.path(), &["saxpy", "--printed", "printed.txt"]);
    assert!(is_success, "{errors}");
    assert!(said.starts_with("for people\nsaxpy, 1024 elements, cpu\n    64 r32 "), "{said}");
    let file = folder.path().join("kernelmill-tuning.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("kernel = \"saxpy\"") && !text.contains("dot"), "{text}");

    let (is_success, _, errors) = tune(folder.path(), &["third", "--printed", "printed.txt"]);
    assert!(!is_success && errors.contains("does not tune `third`: "), "{errors}");
    let (is_success, _, errors) = tune(folder.path(), &["saxpy", "--printed", "no.txt"]);
    assert!(!is_success && errors.contains("cannot read no.txt"), "{errors}");
    let both = ["saxpy", "--printed", "printed.txt", "--sizes", "8"];
    assert!(!tune(folder.path(), &both).0);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}
