//! `noalias` on kernels' parameters, in LLVM's textual form. `tests/conformance/kernels/sharing.rs` runs such
//! kernels.

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::Config;

/// For each pointer of a kernel for compute_75, whether it is `noalias`.
fn promises(name: &str, body: &str) -> Vec<bool> {
    let text = format!(
        "use core::sync::atomic::{{AtomicU32, Ordering, fence}};
         use kernelmill_device::prelude::*;
         #[kernel]
         pub fn {name}(x: &[u32], c: &[AtomicU32], mut y: DisjointSlice<u32>) {{ {body} }}"
    );
    let (source, lowered) = lower(name, &text);
    let mut config = Config::new("compute_75".parse().unwrap());
    (config.options.optimize, config.options.validate) = (false, false);
    let text = compiler().inspect(&job(name, &source, &lowered, &config)).unwrap();
    let head =
        text.lines().find(|line| line.starts_with(&format!("define ptx_kernel void @{name}(")));
    let parameters = head.unwrap_or_else(|| panic!("{text}")).split("ptr ").skip(1);
    parameters.map(|it| it.split("%").next().unwrap().contains("noalias")).collect()
}

/// Acceptance: S0.6.
#[test]
fn memory_is_unaliased_where_threads_learn_nothing_of_each_other() {
    let own = "let i = thread::index_1d();
               let Some(out) = y.get_mut(i) else { return };
               *out = x[i.get()] / x[1];";
    let not = [true, false, false];
    assert_eq!(promises("own", own), [true, true, true]);
    assert_eq!(promises("barrier", &format!("{own} thread::sync_threads();")), not);
    assert_eq!(promises("fences", &format!("{own} fence(Ordering::Release);")), not);
    assert_eq!(promises("device", &format!("{own} kernelmill_device::fence::device();")), not);
    assert_eq!(promises("atomic", &format!("{own} *out += c[0].load(Ordering::Relaxed);")), not);
    let volatile = "unsafe { y.as_mut_ptr().read_volatile() };";
    assert_eq!(promises("volatile", volatile), not);
    let closure = format!("{own} let wait: &dyn Fn() = &|| thread::sync_threads(); wait();");
    assert_eq!(promises("closure", &closure), not);
}
