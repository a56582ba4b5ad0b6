//! The kernels, a file each: sizes, a reference, and everybody who computes the same.

mod bitonic;
mod gather;
mod histogram;
mod mandelbrot;
mod matmul;
mod nbody;
mod reduce;
mod saxpy;
mod scan;
mod softmax;
mod stencil;
mod strided;

use crate::{Case, Outcome, Setup};

/// Makes a case with its inputs.
pub(crate) type New = for<'a> fn(&'a Setup) -> Outcome<Case<'a>>;

/// Those that the goals are about.
pub(crate) const ALL: &[New] = &[
    saxpy::case,
    strided::case,
    nbody::case,
    mandelbrot::case,
    stencil::case,
    matmul::tiles_of_16x16,
    matmul::tiles_of_32x8,
    reduce::by_a_tree,
    bitonic::case,
    scan::case,
    histogram::case,
    gather::case,
    softmax::case,
];

/// Those that are measured by name only.
pub(crate) const MORE: &[New] = &[reduce::by_warps];
