//! Every function is as near to the reference as it says, on the CPU and as PTX.

use kernelmill::Device;
use math_table::Measure;
use std::process::Command;

fn check(device: Device, singles: usize, doubles: usize) {
    let measure = Measure::new(device).unwrap();
    for function in Measure::functions() {
        for (wide, points) in [(false, singles), (true, doubles)] {
            let worst = measure.worst(function, wide, points).unwrap();
            assert!(worst.error <= worst.bound, "{worst:?}");
            assert!(worst.error > 0.0, "an error is measured: {worst:?}");
        }
    }
}

#[test]
fn on_the_cpu() {
    check(Device::cpu().unwrap(), 20_000, 500);
}

/// In a process of its own, with the driver in its library path.
#[test]
fn on_the_fake_driver() {
    if std::env::var_os("MATH_TABLE_ON_DRIVER").is_some() {
        return check(Device::cuda(0).unwrap(), 400, 50);
    }
    let this = std::env::current_exe().unwrap();
    let folder = test_support::driver::fake_driver();
    let mut command = Command::new(this);
    command.args(["--exact", "on_the_fake_driver"]).env("LD_LIBRARY_PATH", folder);
    let output = command.env("MATH_TABLE_ON_DRIVER", "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{said}");
}
