//! The suite itself, on the CPU against itself.

use gpu_suite::{Effort, run};
use kernelmill::Device;

#[test]
fn every_kernel_is_right_on_the_cpu() {
    let report = run(&Device::cpu().expect("a CPU"), Effort::Compare, None).expect("kernels load");
    assert!(report.passed(), "{}", report.markdown());
    // Eleven kernels of the examples, and the checks of tests/conformance.
    assert_eq!(report.rows.len(), 11 + conformance::all().len());
}

#[test]
fn the_report_is_json_and_a_table() {
    let report = run(&Device::cpu().expect("a CPU"), Effort::Compare, None).expect("kernels load");
    let json: serde_json::Value = serde_json::from_str(&report.json()).expect("valid JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), report.rows.len());
    assert!(rows.iter().any(|row| row["kernel"] == "matmul" && row["failure"].is_null()));
    assert_eq!(report.markdown().matches("| example |").count(), 11);
}
