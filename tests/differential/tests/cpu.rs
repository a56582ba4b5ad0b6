//! Every random kernel on the CPU.

use differential::{CASES, Context, STRIDES, TILES};
use kernelmill::Device;
use std::{env, fs, process::Command};

#[test]
fn the_cpu_agrees_with_the_host() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    assert!(CASES.len() >= 100);
    for case in CASES {
        context.check(case).unwrap_or_else(|error| panic!("{error}"));
    }
    for tile in TILES {
        context.check_tile(tile).unwrap_or_else(|error| panic!("{error}"));
    }
    for stride in STRIDES {
        context.check_stride(stride).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Agreement says nothing of vectorised code where no kernel has any.
#[test]
fn many_cases_are_vectorised_and_the_vectoriser_failed_on_none() {
    let files = fs::read_dir(env!("OUT_DIR")).unwrap().map(|entry| entry.unwrap().path());
    let roads = files.filter(|path| path.to_string_lossy().ends_with(".roads.txt"));
    let text: String = roads.map(|path| fs::read_to_string(path).unwrap()).collect();
    assert!(!text.contains("the vectoriser failed"), "{text}");
    assert!(text.matches("specialised on blocks of 64").count() >= 20, "{text}");
    assert!(text.matches("1 interchanged loop").count() >= 10, "{text}");
    for (road, least) in [("thread loop: ", 5), ("barrier regions: ", 20), ("coroutine: ", 80)] {
        let is_one = |line: &&str| {
            line.contains(road) && (road == "coroutine: " || line.contains("vector width"))
        };
        assert!(text.lines().filter(is_one).count() >= least, "{road}{text}");
    }
}

/// The same for what is compiled for older processors; one that this machine has not counts as its own.
#[test]
fn what_older_processors_run_agrees_too() {
    for processor in ["baseline", "avx2"] {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_cpu_agrees_with_the_host"]).env("KERNELMILL_CPU", processor);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{processor}: {text}");
    }
}
