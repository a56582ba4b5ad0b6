//! Expected output in files below `snapshots/`, rewritten by `cargo xtask bless` only.

use crate::project::root;
use std::{env, fs};

/// Compares a text with the file of this name.
///
/// # Panics
///
/// When they differ and `KERNELMILL_TEST_BLESS` is not set, with both texts.
#[track_caller]
pub fn check(name: &str, actual: &str) {
    let path = root().join("tests/end-to-end/snapshots").join(format!("{name}.txt"));
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == actual {
        return;
    }
    if env::var_os("KERNELMILL_TEST_BLESS").is_some() {
        fs::write(&path, actual).expect("a snapshot can be written");
        return;
    }
    panic!(
        "{name} differs (`cargo xtask bless` accepts it)\n-- is:\n{actual}\n-- was:\n{expected}"
    );
}
