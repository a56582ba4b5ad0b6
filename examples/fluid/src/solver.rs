//! The fluid on a device: its fields, and the launches of a step.

use crate::{
    kernels::{Kernels, Push},
    scene,
};
use kernelmill::{Buffer, Device, Launch, Result, Stream};
use std::mem::swap;

/// Sweeps of Jacobi's method in a step, four a launch.
pub(crate) const SWEEPS: usize = 40;
/// Sweeps in a launch of `relax`.
const SWEEPS_OF_LAUNCH: usize = 4;
/// Cells along each side of a pixel.
pub(crate) const SCALE: u32 = 2;
/// Shades of a picture.
pub(crate) const SHADES: u32 = 64;

/// Fields in rows, as the kernels have them, and the buffers that the next ones are written into.
pub(crate) struct Fluid {
    kernels: Kernels,
    stream: Stream,
    width: u32,
    height: u32,
    u: [Buffer<f32>; 2],
    v: [Buffer<f32>; 2],
    dye: [Buffer<f32>; 2],
    pressure: [Buffer<f32>; 2],
    divergence: Buffer<f32>,
}

/// What the host reads of a fluid.
pub(crate) struct Fields {
    pub(crate) u: Vec<f32>,
    pub(crate) v: Vec<f32>,
    pub(crate) dye: Vec<f32>,
    /// The divergence in the last step before the pressure took it off.
    pub(crate) divergence: Vec<f32>,
}

/// Blocks of 16 by 16 threads, a thread for each cell.
fn tiles(width: u32, height: u32) -> Launch<2> {
    Launch::grid([width.div_ceil(16), height.div_ceil(16)], [16, 16])
}

impl Fluid {
    /// A fluid at rest with the dye of [`scene::dye`].
    pub(crate) fn new(device: &Device, width: u32, height: u32) -> Result<Self> {
        let cells = width as usize * height as usize;
        let field = || device.zeros::<f32>(cells);
        Ok(Self {
            kernels: Kernels::load(device)?,
            stream: device.stream(),
            width,
            height,
            u: [field()?, field()?],
            v: [field()?, field()?],
            dye: [device.upload(&scene::dye(width, height))?, field()?],
            pressure: [field()?, field()?],
            divergence: field()?,
        })
    }

    /// Moves the fluid by `seconds`.
    pub(crate) fn step(&mut self, seconds: f32, push: Push) -> Result<()> {
        let (kernels, stream, width) = (&self.kernels, &self.stream, self.width);
        let tiles = tiles(width, self.height);
        let ([u, next_u], [v, next_v]) = (&mut self.u, &mut self.v);
        let ([dye, next_dye], [pressure, relaxed]) = (&mut self.dye, &mut self.pressure);
        let divergence = &mut self.divergence;
        kernels.advect_u(stream, tiles, width, seconds, push, &*u, &*v, &mut *next_u)?;
        kernels.advect_v(stream, tiles, width, seconds, push, &*u, &*v, &*dye, &mut *next_v)?;
        swap(u, next_u);
        swap(v, next_v);
        kernels.diverge(stream, tiles, width, &*u, &*v, &mut *divergence)?;
        // The pressure of the step before is near this one's.
        for _ in 0..SWEEPS / SWEEPS_OF_LAUNCH {
            kernels.relax(stream, tiles, width, &*divergence, &*pressure, &mut *relaxed)?;
            swap(pressure, relaxed);
        }
        kernels.project(stream, tiles, width, &*pressure, &mut *u, &mut *v)?;
        kernels.advect_dye(stream, tiles, width, seconds, &*u, &*v, &*dye, &mut *next_dye)?;
        swap(dye, next_dye);
        Ok(())
    }

    /// Waits until all steps are done.
    pub(crate) fn wait(&self) -> Result<()> {
        self.stream.synchronize()
    }

    pub(crate) fn fields(&self) -> Result<Fields> {
        let (u, v) = (self.u[0].download()?, self.v[0].download()?);
        let (dye, divergence) = (self.dye[0].download()?, self.divergence.download()?);
        Ok(Fields { u, v, dye, divergence })
    }

    /// The dye as shades below [`SHADES`] in rows: a pixel for each square of `scale` by `scale` cells, by which width and
    /// height can be divided.
    pub(crate) fn paint(&self, device: &Device, scale: u32) -> Result<Vec<u32>> {
        let (width, height) = (self.width / scale, self.height / scale);
        let mut shades = device.zeros::<u32>(width as usize * height as usize)?;
        let tiles = tiles(width, height);
        self.kernels.paint(&self.stream, tiles, width, scale, &self.dye[0], &mut shades)?;
        shades.download()
    }
}

impl Fields {
    /// The dye of all cells together.
    pub(crate) fn mass(&self) -> f64 {
        self.dye.iter().copied().map(f64::from).sum()
    }

    /// The root mean square of the divergence before the pressure took it off, and of what is left of it, in 1 / s.
    pub(crate) fn divergence(&self, width: u32) -> [f64; 2] {
        let (width, cells) = (width as usize, self.u.len());
        let at = |field: &[f32], place: usize, is_wall: bool| {
            if is_wall { 0.0 } else { f64::from(field[place]) }
        };
        let left = |cell: usize| {
            let right = at(&self.u, cell + 1, (cell + 1).is_multiple_of(width));
            let down = at(&self.v, cell + width, cell + width >= cells);
            right - f64::from(self.u[cell]) + down - f64::from(self.v[cell])
        };
        let before = |cell: usize| f64::from(self.divergence[cell]);
        let mean = |of: &dyn Fn(usize) -> f64| {
            ((0..cells).map(|cell| of(cell).powi(2)).sum::<f64>() / cells as f64).sqrt()
        };
        [mean(&before), mean(&left)]
    }

    /// The root mean square of the velocity, in cells a second.
    pub(crate) fn speed(&self) -> f64 {
        let square = |part: &f32| f64::from(*part).powi(2);
        let sum: f64 = self.u.iter().chain(&self.v).map(square).sum();
        (sum / self.u.len() as f64).sqrt()
    }
}
