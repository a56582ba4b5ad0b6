//! The suite of behaviour of all back ends, `tests/mixed-sources/src/suite`, on the fake HIP run time.

use test_support::checks::{self, Checked};

/// On streams that do no work before something waits for it, so that what is not ordered comes too late.
#[test]
fn hip_behaves_on_the_fake_run_time() {
    let lazy = [("FAKE_HIP_STREAMS", "lazy")];
    let Checked { passed, .. } = checks::on_with(env!("CARGO_BIN_EXE_hip_suite"), "hip", &lazy);
    assert_eq!(passed.len(), 17, "{passed:?}");
}
