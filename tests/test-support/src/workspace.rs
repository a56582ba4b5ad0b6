//! Where the workspace and its target folder are.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The root of this workspace.
///
/// # Panics
///
/// Never: this package is two folders deep.
#[must_use]
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("tests/test-support is two folders deep")
}

/// A folder that all tests share and that stays: for caches whose entries are whole or absent, and for
/// target folders. It is below the target folder that the running test was built into.
///
/// # Panics
///
/// When it cannot be made.
#[must_use]
pub fn shared_folder(name: &str) -> PathBuf {
    // `CARGO_TARGET_TMPDIR` is there only where cargo compiles a test.
    let program = env::current_exe().expect("a running test has a path");
    let target = program.ancestors().nth(3).expect("tests lie in <target>/<profile>/deps");
    let folder = target.join("tmp").join(name);
    fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}
