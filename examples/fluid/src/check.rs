//! Whether a device computes what plain Rust does, and whether the fluid does what fluids do.

use crate::{
    kernels::Push,
    reference::Reference,
    scene,
    solver::{Fields, Fluid, SWEEPS},
};
use kernelmill::Device;
use std::{error::Error, ops::RangeInclusive};

/// Steps that are compared.
pub(crate) const STEPS: usize = 4;
/// How far velocities may lie apart, as a part of the largest one, and dye.
pub(crate) const TOLERANCE: f64 = 1e-4;
/// By which part the dye in the box may grow or shrink.
pub(crate) const MASS: f64 = 0.05;

/// Compares all cells after [`STEPS`] steps of a grid whose sides are no multiples of a block, stirred near a corner; the
/// largest differences of velocity and dye.
pub(crate) fn compare(device: &Device) -> Result<[f64; 2], Box<dyn Error>> {
    let (width, height) = (43, 37);
    let mut fluid = Fluid::new(device, width, height)?;
    let mut reference = Reference::new(width, height, &scene::dye(width, height));
    let stir = Push {
        centre: [9.0, 40.0],
        radius: 8.0,
        velocity: [30.0, -50.0],
        ..scene::gravity(height)
    };
    for _ in 0..STEPS {
        fluid.step(scene::STEP, stir)?;
        reference.step(f64::from(scene::STEP), stir, SWEEPS);
    }
    let differences = reference.differences(&fluid.fields()?);
    if differences.iter().any(|it| it.is_nan() || *it > TOLERANCE) {
        return Err(
            format!("fluid: velocity and dye differ from plain Rust by {differences:?}").into()
        );
    }
    Ok(differences)
}

/// What a fluid in a closed box keeps: the bounds of its dye, its mass, roughly, and its volume. The part by which the mass
/// changed since it was `mass`.
pub(crate) fn conserved(mass: f64, width: u32, fields: &Fields) -> Result<f64, String> {
    const BOUNDS: RangeInclusive<f32> = 0.0..=1.0;
    if let Some(dye) = fields.dye.iter().find(|dye| !BOUNDS.contains(dye)) {
        return Err(format!("fluid: there is dye of {dye}, which was between 0 and 1"));
    }
    let change = fields.mass() / mass - 1.0;
    if change.is_nan() || change.abs() > MASS {
        return Err(format!("fluid: the mass changed by {:.1} %", 100.0 * change));
    }
    let [before, left] = fields.divergence(width);
    // A NaN is not below.
    let is_taken_off = left <= before;
    if !is_taken_off {
        return Err(format!("fluid: of a divergence of {before:.1e} / s {left:.1e} / s are left"));
    }
    Ok(change)
}
