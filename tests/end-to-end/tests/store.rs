//! Accidents: nothing is lost, and the next build is right.

use end_to_end::{Project, SAXPY, SAXPY_MAIN, Summary, scale, scale_main};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn saxpy(name: &str) -> Project {
    Project::new(name).file("kernels/saxpy.rs", SAXPY).file("src/main.rs", SAXPY_MAIN)
}

#[test]
fn a_store_that_cannot_be_written_does_not_stop_a_build() {
    let project = saxpy("unwritable");
    let file = project.package().join("no-folder");
    fs::write(&file, "a file where a folder should be").expect("the package can be written");
    let project = project.environment("XDG_CACHE_HOME", &file.display().to_string());
    let run = project.cargo(&["run", "-vv"]).succeeds();
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
    assert_eq!(run.summary(), Some(Summary { compiled: 2, cached: 0 }));
    assert!(run.stderr.contains("no-folder"), "the folder is named: {}", run.stderr);
}

#[test]
fn a_full_disk_does_not_stop_a_build() {
    // Room for the store's folders, and for no artifact.
    let project = saxpy("full");
    let Some(run) = project.cargo_with_small_store(16 << 10, &["run", "-vv"]) else { return };
    let run = run.succeeds();
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
    assert_eq!(run.summary(), Some(Summary { compiled: 2, cached: 0 }));
    assert!(run.stderr.contains("No space left on device"), "the reason is shown: {}", run.stderr);
    // With room again, the next build is right, and fills the store.
    let _ = project.cargo(&["clean", "-p", "full"]).succeeds();
    let run = project.cargo(&["run", "-vv"]).succeeds();
    assert_eq!(run.summary(), Some(Summary { compiled: 2, cached: 0 }));
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
}

#[test]
fn damaged_entries_are_replaced() {
    let project = saxpy("damaged");
    let _ = project.cargo(&["run", "-vv"]).succeeds();
    let entries = files(&project.store());
    assert!(entries.len() >= 2, "the store holds {} files", entries.len());
    for (number, entry) in entries.iter().enumerate() {
        let mut bytes = fs::read(entry).expect("an entry can be read");
        let middle = bytes.len() / 2;
        match number % 3 {
            0 => bytes.truncate(middle),
            1 => bytes.iter_mut().skip(middle).take(8).for_each(|byte| *byte ^= 0x55),
            _ => bytes.clear(),
        }
        fs::write(entry, bytes).expect("an entry can be damaged");
    }
    let _ = project.cargo(&["clean", "-p", "damaged"]).succeeds();
    let run = project.cargo(&["run", "-vv"]).succeeds();
    assert_eq!(run.summary(), Some(Summary { compiled: 2, cached: 0 }));
    assert!(run.stdout.ends_with("5\n"), "{}", run.stdout);
    let _ = project.cargo(&["clean", "-p", "damaged"]).succeeds();
    let run = project.cargo(&["run", "-vv"]).succeeds();
    assert_eq!(run.summary(), Some(Summary { compiled: 0, cached: 2 }));
}

#[test]
fn a_build_killed_half_way_leaves_nothing_wrong() {
    let names = ["a", "b", "c", "d", "e", "f"].map(|letter| format!("scale_{letter}"));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut project = Project::new("killed").file("src/main.rs", &scale_main(&names));
    for name in &names {
        project = project.file(&format!("kernels/{name}.rs"), &scale(name, "2.0"));
    }
    let mut child = project.start(&["build"]);
    let deadline = Instant::now() + Duration::from_secs(300);
    while files(&project.store()).is_empty() && Instant::now() < deadline {
        if child.try_wait().expect("the child can be asked").is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // The whole group: cargo, the build script, and the rustc that it runs.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    let _ = child.wait();
    let run = project.cargo(&["run", "-vv"]).succeeds();
    assert!(run.stdout.ends_with("64\n"), "{}", run.stdout);
    let counts = run.summary().expect("the build script runs again");
    assert_eq!(counts.compiled + counts.cached, 12);
    // What the killed one was writing under a temporary name is removed after a day, and read by nobody.
    let is_temporary = |path: &Path| path.extension().is_some_and(|it| it == "tmp");
    let mut entries = files(&project.store()).into_iter().filter(|path| !is_temporary(path));
    assert!(entries.all(|path| path.metadata().is_ok_and(|it| it.len() > 0)));
}

#[test]
fn two_builds_at_once_are_both_right() {
    let warm = saxpy("at-once-warm");
    let _ = warm.cargo(&["build"]).succeeds();
    let project = |name| {
        let project = Project::checkout(name, "at-once").with_own_target().with_store_of(&warm);
        project
            .file("kernels/one.rs", &scale("one", "3.0"))
            .file("kernels/two.rs", &scale("two", "4.0"))
            .file("src/main.rs", &scale_main(&["one", "two"]))
    };
    let pair = [project("at-once-a"), project("at-once-b")];
    let runs = std::thread::scope(|scope| {
        let threads = pair.each_ref().map(|project| scope.spawn(|| project.cargo(&["run", "-vv"])));
        threads.map(|thread| thread.join().expect("a cargo run does not panic"))
    });
    for run in runs {
        let run = run.succeeds();
        assert!(run.stdout.ends_with("12\n"), "{}", run.stdout);
        let counts = run.summary().expect("the build script ran");
        assert_eq!(counts.compiled + counts.cached, 4);
    }
}
