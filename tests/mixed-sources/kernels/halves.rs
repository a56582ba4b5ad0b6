use half::{bf16, f16};
use kernelmill_device::prelude::*;

/// Numbers in both formats of half precision.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Halves {
    pub half: f16,
    pub brain: bf16,
}

/// Computed in half precision: each operator rounds.
#[kernel]
pub fn halves(by: Halves, x: &[f16], mut y: DisjointSlice<Halves>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let x = x[i.get()];
        let mut brain = bf16::from_f32(x.to_f32());
        brain -= by.brain / bf16::from(3_u8);
        // A product and a sum next to each other may be rounded once.
        *out = Halves { half: (x * by.half).max(-x) + f16::ONE, brain };
    }
}

/// Conversions, from both sides.
#[kernel]
pub fn narrowed(x: &[f64], mut y: DisjointSlice<[f32; 4]>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let x = x[i.get()];
        let single = x as f32;
        *out = [
            f16::from_f64(x).to_f32(),
            f16::from_f32(single).to_f32(),
            bf16::from_f64(x).to_f32(),
            bf16::from_f32(single).to_f32(),
        ];
    }
}
