//! Builds with resource limits (`ulimit`): each is right, or ends in time with an error that names the limit; the next
//! one, without it, is right.

use faults::{Built, Fixture, References, count, files};
use std::os::unix::fs::{MetadataExt as _, chown};
use test_support::tool;

/// A user without an account, whose processes are those of a test alone.
const USER: u32 = 54_323;

/// Builds from an empty store under `ulimit` with these options, started by `starter`, after which a shell runs.
fn build_with(fixture: &Fixture, starter: &[&str], limit: &str) -> Built {
    let script = format!("ulimit {limit} && exec \"$@\"");
    let shell = [&["--kill-after=5", "200"], starter, &["bash", "-c", &script, "bash"]].concat();
    let mut command = fixture.command_of("timeout", &shell);
    // What rustc prints where it fails is in the test's messages.
    command.env("RUST_BACKTRACE", "0");
    Built::new(&command.output().expect("a program"))
}

/// The words by which a program tells that it cannot even start.
const NOT_LOADED: &str = "error while loading shared libraries";

/// Builds with each of these limits. A build that fails names the limit.
#[track_caller]
fn check(fixture: &Fixture, references: &References, limits: &[&str], name: &str) {
    let mut refused = 0;
    for limit in limits {
        fixture.clear();
        let built = build_with(fixture, &[], limit);
        println!("ulimit {limit}: {:?}\n{}", built.code, built.messages);
        let compare = || references.compare(0, &fixture.outputs());
        refused += usize::from(is_told(&built, name, compare));
    }
    assert!(refused > 0, "no limit was reached: {limits:?}");
    fixture.build_is_right(references, 0);
    count(&format!("builds with {name}"), limits.len() as u64, 0);
}

/// Whether a build failed and named the limit; one that did not has made what it should.
#[track_caller]
fn is_told(built: &Built, name: &str, compare: impl FnOnce()) -> bool {
    if built.code == Some(0) {
        compare();
        return false;
    }
    let is_told = built.messages.contains(name)
        || ["RLIMIT_AS", "RLIMIT_NOFILE"].contains(&name) && built.messages.contains(NOT_LOADED);
    assert!(is_told, "{:?}: {}", built.code, built.messages);
    true
}

/// The kernel in Rust, for a GPU without an assembler.
fn in_rust() -> (Fixture, References) {
    let fixture = Fixture::in_rust(env!("CARGO_BIN_EXE_faults"));
    let references = References::of(&fixture);
    fixture.set_variant(0);
    (fixture, references)
}

#[test]
fn builds_with_little_address_space() {
    let (fixture, references) = in_rust();
    let limits = ["-v 150000", "-v 400000", "-v 800000", "-v 1200000", "-v 1400000", "-v 2000000"];
    check(&fixture, &references, &limits, "RLIMIT_AS");
}

#[test]
fn builds_with_few_files() {
    let (fixture, references) = in_rust();
    let limits = ["-n 3", "-n 4", "-n 5", "-n 6", "-n 7", "-n 8", "-n 10", "-n 13", "-n 17"];
    check(&fixture, &references, &limits, "RLIMIT_NOFILE");
}

#[test]
fn builds_with_small_files() {
    let (fixture, references) = in_rust();
    check(&fixture, &references, &["-f 0", "-f 1", "-f 3", "-f 20", "-f 150"], "RLIMIT_FSIZE");
}

/// A build does not run on the first thread, whose stack this is.
#[test]
fn builds_with_a_small_stack() {
    let (fixture, references) = in_rust();
    let limits = ["-s 96", "-s 200", "-s 500"];
    for limit in limits {
        fixture.clear();
        let built = build_with(&fixture, &[], limit);
        assert_eq!(built.code, Some(0), "{limit}: {}", built.messages);
        references.compare(0, &fixture.outputs());
    }
    count("builds with RLIMIT_STACK", limits.len() as u64, 0);
}

/// nvcc and clang, and the CPU's code.
#[test]
fn builds_of_cpp_with_limits() {
    let Some(fixture) = Fixture::new(env!("CARGO_BIN_EXE_faults")) else { return };
    let references = References::of(&fixture);
    fixture.set_variant(0);
    check(&fixture, &references, &["-v 300000", "-v 1300000", "-v 3000000"], "RLIMIT_AS");
    check(&fixture, &references, &["-n 7", "-n 10", "-n 14"], "RLIMIT_NOFILE");
}

/// One source takes rustc longer than it may, many take LLVM longer, which is in the build script itself.
#[test]
fn builds_with_little_processor_time() {
    let fixture = Fixture::in_rust(env!("CARGO_BIN_EXE_faults"));
    let references = References::of(&fixture);
    let endless = "use kernelmill_device::prelude::*;\n\n#[allow(long_running_const_eval)]\nconst COUNT: u64 = {\n    \
                   let mut count = 0;\n    while count < u64::MAX {\n        count += 1;\n    }\n    count\n};\n\n\
                   #[kernel]\npub fn counts(mut y: DisjointSlice<u64>) {\n    \
                   if let Some(out) = y.get_mut(thread::index_1d()) {\n        *out = COUNT;\n    }\n}\n";
    for limit in ["-t 1", "-t 2", "-S -t 2"] {
        fixture.clear();
        fixture.set_only_source("endless.rs", endless);
        let built = build_with(&fixture, &[], limit);
        assert_eq!(built.code, Some(1), "{}", built.messages);
        assert!(built.messages.contains("RLIMIT_CPU"), "{}", built.messages);
    }
    for limit in ["-t 1", "-t 2", "-S -t 1"] {
        fixture.clear();
        fixture.set_only_source("many.rs", &many());
        let built = build_with(&fixture, &[], limit);
        assert_eq!(built.code, Some(1), "{}", built.messages);
        assert!(built.messages.contains("RLIMIT_CPU"), "{}", built.messages);
    }
    count("builds with RLIMIT_CPU", 6, 0);
    faults::remove(&fixture.package().join("kernels"));
    fixture.set_variant(0);
    fixture.build_is_right(&references, 0);
}

/// Each expansion of the macro is twice as long as the one before. The limit is that of every tool, and smaller here.
#[test]
fn a_macro_whose_expansion_takes_all_memory() {
    let fixture = Fixture::in_rust(env!("CARGO_BIN_EXE_faults"));
    let text = "use kernelmill_device::prelude::*;\n\nmacro_rules! grow {\n    ($($token:tt)*) => {\n        \
                grow!($($token)* $($token)*);\n    };\n}\n\ngrow!(a b c d e f g h);\n\n\
                #[kernel]\npub fn nothing(n: u32) {\n    assert!(n == 0);\n}\n";
    fixture.set_only_source("bomb.rs", text);
    let mut command = fixture.command_of("timeout", &["--kill-after=5", "200"]);
    let output = command.env("KERNELMILL_TOOL_MEMORY", "1GiB").output().expect("a program");
    let built = Built::new(&output);
    let expected = "error[KM0066]: rustc did not finish on kernels/bomb.rs: it ran out of memory; \
                    the limit is 1024 MiB, which KERNELMILL_TOOL_MEMORY sets\nmemory allocation of ";
    assert!(built.code == Some(1) && built.messages.contains(expected), "{built:?}");
}

/// Kernels whose bodies are long.
fn many() -> String {
    let steps = "        *out = (*out * 1.5 + x[i.get() / 2]) / (*out + 0.25);\n".repeat(60);
    let kernel = |number: usize| {
        format!(
            "#[kernel]\npub fn k{number}(x: &[f32], mut y: DisjointSlice<f32>) {{\n    let i = thread::index_1d();\n    \
             if let Some(out) = y.get_mut(i) {{\n{steps}    }}\n}}\n"
        )
    };
    let kernels: String = (0..60).map(kernel).collect();
    format!("use kernelmill_device::prelude::*;\n{kernels}")
}

/// A user that is not root has so many threads and processes. It reads the toolchain, wherever that lies, by the right
/// to read all files alone.
#[test]
fn builds_with_few_threads() {
    let (fixture, references) = in_rust();
    if fixture.folder().metadata().expect("a folder").uid() != 0 {
        println!("skipped: only root can start processes of another user");
        count("skipped without the rights of root", 0, 0);
        return;
    }
    let (user, group) = (format!("--reuid={USER}"), format!("--regid={USER}"));
    let starter = [
        "setpriv",
        &user,
        &group,
        "--clear-groups",
        "--inh-caps=-all,+dac_read_search",
        "--ambient-caps=-all,+dac_read_search",
    ];
    let probe = std::process::Command::new(starter[0]).args(&starter[1..]).arg("true").status();
    let works = probe.is_ok_and(|status| status.success()).then_some(());
    if tool::require("setpriv with ambient capabilities", works).is_none() {
        return;
    }
    fixture.set_variant(1);
    let limits = ["-u 1", "-u 2", "-u 3", "-u 4", "-u 5", "-u 7", "-u 9", "-u 12"];
    let mut refused = 0;
    for limit in limits {
        // What is compiled once for a toolchain is there: its linker asks for the user's own rights.
        fixture.clear();
        fixture.take_outputs(&references, 0);
        give(&fixture);
        let built = build_with(&fixture, &starter, limit);
        println!("ulimit {limit}: {:?}\n{}", built.code, built.messages);
        let compare = || references.compare(1, &fixture.outputs());
        refused += usize::from(is_told(&built, "RLIMIT_NPROC", compare));
    }
    assert!(refused > 0, "no limit was reached");
    let built = build_with(&fixture, &starter, "-u 1000");
    assert_eq!(built.code, Some(0), "{}", built.messages);
    references.compare(1, &fixture.outputs());
    count("builds with RLIMIT_NPROC", limits.len() as u64, 0);
}

/// Gives everything of a fixture to the user.
fn give(fixture: &Fixture) {
    let mut all = files(fixture.folder());
    let mut folders = vec![fixture.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        let inside = std::fs::read_dir(&folder).expect("a folder").filter_map(Result::ok);
        folders.extend(inside.map(|entry| entry.path()).filter(|path| path.is_dir()));
        all.push(folder);
    }
    for path in all {
        chown(&path, Some(USER), Some(USER)).expect("root gives files away");
    }
}
