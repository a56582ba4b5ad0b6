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

/// The target folder that the running test was built into.
pub(crate) fn target() -> PathBuf {
    // `CARGO_TARGET_TMPDIR` is there only where cargo compiles a test.
    let program = env::current_exe().expect("a running test has a path");
    let folder = program.parent().expect("a program lies in a folder");
    let is_below = folder.ends_with("deps") || folder.ends_with("examples");
    let target = folder.ancestors().nth(if is_below { 2 } else { 1 });
    target.expect("tests lie in <target>/<profile>/deps, programs in <target>/<profile>").to_owned()
}

/// A folder below the target folder that all tests share and that stays: for caches whose entries are
/// whole or absent, and for target folders.
///
/// # Panics
///
/// When it cannot be made.
#[must_use]
pub fn shared_folder(name: &str) -> PathBuf {
    let folder = target().join("tmp").join(name);
    fs::create_dir_all(&folder).expect("a folder for tests");
    folder
}
