//! Runs a kernel that prints, for a test that reads what this program prints.

use cuda_cpp::{Launch, Value, lower, source};

fn main() -> kernelmill::Result<()> {
    let failures = lower(&source("failures")).expect("a source that compiles");
    failures.run_on_cpu("prints", Launch::linear(1, 2), &[Value::of(2.5_f32)])?;
    Ok(())
}
