//! Kernels that would take long to compile for the CPU, and the limits on them: by strategies,
//! which do not depend on the machine.

mod common;

use common::compile;
use kernelmill_compiler::{CoroutineReason, Lowering, Strategy};

/// The most barriers and warp collectives of a kernel that is split into regions.
const WAITS: usize = 64;

fn strategy(name: &str, text: &str) -> Strategy {
    let text = format!("use kernelmill_device::prelude::*;\n{text}");
    let artifact = compile(name, &text, "cpu").unwrap_or_else(|error| panic!("{error}"));
    artifact.kernels.into_iter().next().unwrap().strategy.unwrap()
}

/// A kernel that exchanges values as butterfly transforms do, in so many steps.
fn butterfly(steps: usize) -> String {
    let step =
        |index: usize| format!("let t = t * 3 + warp::shuffle_xor(t, {});\n", 1 << (index % 5));
    let steps: String = (0..steps).map(step).collect();
    format!(
        "#[kernel]\npub fn butterfly(x: &[u32], mut y: DisjointSlice<u32>) {{\n    let i = thread::index_1d();\n    \
         let t = unsafe {{ *x.get_unchecked(i.get()) }};\n    {steps}    if let Some(out) = y.get_mut(i) {{ *out = t; }}\n}}\n"
    )
}

#[test]
fn a_kernel_with_very_many_warp_collectives_is_a_coroutine() {
    let most = strategy("waits_most", &butterfly(WAITS)).lowering;
    let warp_collectives = WAITS as u32;
    let (barriers, early_exits, joins) = (0, 0, 0);
    let regions = Lowering::BarrierRegions { barriers, warp_collectives, early_exits, joins };
    assert_eq!(most, regions);
    let more = strategy("waits_more", &butterfly(WAITS + 1)).lowering;
    let (waits, limit) = (WAITS as u32 + 1, WAITS as u32);
    assert_eq!(more, Lowering::Coroutine(CoroutineReason::TooManyWaits { waits, limit }));
}
