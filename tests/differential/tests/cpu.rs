//! Every random kernel on the CPU.

use differential::{CASES, Context};
use kernelmill::Device;

#[test]
fn the_cpu_agrees_with_the_host() {
    let context = Context::new(Device::cpu().unwrap()).unwrap();
    assert!(CASES.len() >= 100);
    for case in CASES {
        context.check(case).unwrap_or_else(|error| panic!("{error}"));
    }
}
