//! Vectors of as many floats as the CPU has lanes, chosen when the program runs.

#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{mandelbrot_row, nbody, width};

#[cfg(not(target_arch = "x86_64"))]
mod other {
    /// Nothing is written by hand for this processor.
    pub(crate) fn width() -> usize {
        0
    }

    pub(crate) fn nbody(_: f32, _: &[[f32; 4]], _: usize, _: &mut [[f32; 3]]) {}

    pub(crate) fn mandelbrot_row(_: usize, _: f32, _: u32, _: &mut [u32]) {}
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use other::{mandelbrot_row, nbody, width};
