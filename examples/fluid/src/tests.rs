//! Tests of the checks, and that they find what is wrong.

use crate::{check, scene, solver::Fluid};
use kernelmill::Device;

/// Columns of the grid of these tests, and its rows.
const SIDE: u32 = 48;

#[test]
fn the_cpu_computes_what_plain_rust_does() {
    let differences = check::compare(&Device::cpu().unwrap()).unwrap();
    assert!(
        differences.iter().all(|it| *it > 0.0),
        "{differences:?}: double precision is not single"
    );
}

#[test]
fn a_fluid_keeps_mass_volume_and_bounds_and_the_check_finds_where_not() {
    let device = Device::cpu().unwrap();
    let mut fluid = Fluid::new(&device, SIDE, SIDE).unwrap();
    let mass = fluid.fields().unwrap().mass();
    for _ in 0..100 {
        fluid.step(scene::STEP, scene::gravity(SIDE)).unwrap();
    }
    let fields = || fluid.fields().unwrap();
    assert!(check::conserved(mass, SIDE, &fields()).unwrap() != 0.0);
    assert!(fields().speed() > 1.0, "nothing moves");

    let error = check::conserved(1.1 * mass, SIDE, &fields()).unwrap_err();
    assert!(error.contains("the mass changed by -"), "{error}");
    for wrong in [1.01, -0.01, f32::NAN] {
        let mut fields = fields();
        fields.dye[7] = wrong;
        let error = check::conserved(mass, SIDE, &fields).unwrap_err();
        assert!(error.contains(&format!("dye of {wrong}")), "{error}");
    }
    let mut fields = fields();
    fields.u.iter_mut().step_by(2).for_each(|u| *u += 1.0);
    let error = check::conserved(mass, SIDE, &fields).unwrap_err();
    assert!(error.contains("of a divergence of"), "{error}");
}

#[test]
fn heavy_fluid_falls_and_without_gravity_it_does_not() {
    let device = Device::cpu().unwrap();
    /// The mean row of the dye.
    fn depth(dye: &[f32]) -> f64 {
        let weighted = |(i, dye): (usize, &f32)| (i / SIDE as usize) as f64 * f64::from(*dye);
        dye.iter().enumerate().map(weighted).sum::<f64>() / f64::from(dye.iter().sum::<f32>())
    }
    let fallen = |part: f32| {
        let mut fluid = Fluid::new(&device, SIDE, SIDE).unwrap();
        let before = depth(&fluid.fields().unwrap().dye);
        let mut push = scene::gravity(SIDE);
        push.weight *= part;
        (0..100).for_each(|_| fluid.step(scene::STEP, push).unwrap());
        depth(&fluid.fields().unwrap().dye) - before
    };
    assert!(fallen(1.0) > 0.2, "{}", fallen(1.0));
    assert_eq!(fallen(0.0), 0.0);
}

#[test]
fn a_picture_has_the_mean_of_squares_of_cells() {
    let device = Device::cpu().unwrap();
    let fluid = Fluid::new(&device, SIDE, SIDE).unwrap();
    let dye = fluid.fields().unwrap().dye;
    let half = SIDE as usize / 2;
    let shades = fluid.paint(&device, 2).unwrap();
    assert_eq!(shades.len(), half * half);
    for (i, shade) in shades.into_iter().enumerate() {
        let first = i / half * 2 * SIDE as usize + i % half * 2;
        let square = [first, first + 1, first + SIDE as usize, first + SIDE as usize + 1];
        let mean = square.iter().map(|&cell| dye[cell]).sum::<f32>() / 4.0;
        assert!((shade as f32 - 63.0 * mean).abs() <= 0.501, "pixel {i}: {shade} for {mean}");
    }
}
