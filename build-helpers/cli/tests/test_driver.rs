//! The fake driver, as a user gets it: the README's program picks it as the best device.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn text(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Where this test may write: beside the programs that cargo built for it.
fn place() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-kernelmill"));
    program.with_file_name("../tmp/test-driver-command")
}

fn driver_folder() -> PathBuf {
    path(&[]).into()
}

fn path(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-kernelmill"))
        .args(["kernelmill", "test-driver", "path"])
        .args(arguments)
        .env("XDG_CACHE_HOME", place())
        .output();
    text(output.expect("the program runs"))
}

#[cfg(target_os = "linux")]
#[test]
fn the_best_device_is_cuda_with_the_driver_in_the_library_path() {
    let folder = driver_folder();
    let library = folder.join("libcuda.so.1");
    let built = fs::metadata(&library).expect("the library is there").modified().unwrap();
    assert_eq!(driver_folder(), folder, "the same folder every time");
    let told: serde_json::Value = serde_json::from_str(&path(&["--json"])).unwrap();
    assert_eq!(told["library"], library.display().to_string());
    assert!(fs::metadata(&library).unwrap().modified().unwrap() >= built);

    // With the features of the whole workspace, for which its dependencies are built already.
    let build = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--workspace", "--bin", "saxpy"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    text(build.expect("cargo runs"));
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-kernelmill")).with_file_name("saxpy");
    let run = |path: &Path| {
        let output = Command::new(&program).env("LD_LIBRARY_PATH", path).output();
        text(output.expect("the example runs"))
    };
    assert!(run(&folder).ends_with("on PTX emulator sm_80"), "with the driver");
    assert!(!run(&place()).contains("PTX emulator"), "without it");
}
