//! Strategies as text and as data.

use super::*;

fn strategy(lowering: Lowering) -> Strategy {
    let (widths, scalar, block) = (Vec::new(), None, None);
    Strategy {
        lowering,
        widths,
        along_y: false,
        narrow_along_y: false,
        narrow_width: 0,
        scalar,
        block,
        interchanged_loops: 0,
        jammed_rows: 0,
    }
}

#[test]
fn strategies_read_as_english() {
    let regions =
        Lowering::BarrierRegions { barriers: 1, warp_collectives: 8, early_exits: 0, joins: 0 };
    let vectorized = Strategy {
        widths: vec![8, 16],
        narrow_along_y: true,
        narrow_width: 4,
        block: Some([32, 8, 1]),
        interchanged_loops: 2,
        jammed_rows: 4,
        ..strategy(regions)
    };
    assert_eq!(
        vectorized.to_string(),
        "barrier regions: 1 uniform barrier and 8 uniform warp collectives, vector widths 8, 16, \
         along y in narrow blocks, width 4 in narrow blocks, specialised on blocks of 32 x 8, 2 interchanged loops, 4 jammed rows"
    );
    let scalar = Some(ScalarReason::KernelTooLong { instructions: 5000, limit: 4000 });
    let scalar = Strategy { scalar, ..strategy(Lowering::ThreadLoop) };
    assert_eq!(
        scalar.to_string(),
        "thread loop: no barriers, scalar: the kernel has 5000 instructions, more than 4000"
    );
    let many = CoroutineReason::TooManyWaits { waits: 70, limit: 64 };
    assert_eq!(
        strategy(Lowering::Coroutine(many)).to_string(),
        "coroutine: there are 70 barriers and warp collectives, more than 64"
    );
    let some = CoroutineReason::DivergentBarriers { divergent: 1, total: 2 };
    assert_eq!(
        strategy(Lowering::Coroutine(some)).to_string(),
        "coroutine: 1 of 2 barriers is under divergent control flow"
    );
}

#[test]
fn strategies_are_flat_json() {
    let reason = CoroutineReason::DivergentWarpCollectives { divergent: 2, total: 3 };
    let scalar = ScalarReason::VectorizationFailed {
        kernel: "saxpy".to_owned(),
        message: "x is used before y".to_owned(),
    };
    let given = Strategy { scalar: Some(scalar), ..strategy(Lowering::Coroutine(reason)) };
    let text = serde_json::to_string(&given).unwrap();
    let expected = r#"{"lowering":{"kind":"coroutine","reason":"divergent-warp-collectives","divergent":2,"total":3},"widths":[],"scalar":{"reason":"vectorization-failed","kernel":"saxpy","message":"x is used before y"},"block":null,"interchanged-loops":0}"#;
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<Strategy>(&text).unwrap(), given);
}
