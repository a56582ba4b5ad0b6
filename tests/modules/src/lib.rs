//! Kernels in modules of the crate's own source.

pub mod gpu;
pub mod levels;
pub mod physics;

/// The kernel file as code of the host, which finds the crate's own module by the same path as devices do.
#[cfg(any(test, rust_analyzer))]
#[path = "../kernels/fill.rs"]
pub mod fill;

// SAFETY: all bit patterns are values of its fields, and it has no padding.
kernelmill::device_copy!(unsafe levels::Level);

/// The wrappers of all of them.
pub mod kernels {
    kernelmill::include_kernels!();
}

/// What devices have not: a module of kernels knows nothing of it.
pub fn names() -> Vec<String> {
    vec!["lines".to_owned(), "falling".to_owned()]
}

/// Straight lines: a module of kernels in the crate's root.
#[kernelmill::kernels]
pub mod lines {
    use kernelmill_device::prelude::*;

    /// A straight line.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct Line {
        /// Its slope.
        pub slope: f32,
        /// Where it begins.
        pub offset: f32,
    }

    /// How far a kernel goes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u32)]
    pub enum Half {
        /// The lower one.
        Lower = 1,
        /// The upper one.
        Upper = 2,
    }

    /// A type that the rest of the crate cannot name.
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Step(f32);

    /// The point of a line over `x`.
    #[must_use]
    pub fn at(line: Line, x: f32) -> f32 {
        line.slope * x + line.offset
    }

    /// What only the host does.
    #[cfg(not(kernelmill))]
    #[must_use]
    pub fn described(line: Line) -> String {
        let all = super::names().len();
        format!("{} x + {} of {all}", line.slope, line.offset)
    }

    /// The points of a line.
    #[kernel]
    pub fn line_points(line: Line, half: Half, mut y: DisjointSlice<f32>) {
        let i = thread::index_1d();
        let n = y.len();
        let is_wanted = match half {
            Half::Lower => i.get() < n / 2,
            Half::Upper => i.get() >= n / 2,
        };
        if let Some(y) = y.get_mut(i)
            && is_wanted
        {
            *y = at(line, i.get() as f32);
        }
    }

    #[kernel]
    fn line_steps(step: Step, mut y: DisjointSlice<f32>) {
        let i = thread::index_1d();
        if let Some(y) = y.get_mut(i) {
            *y = step.0 * i.get() as f32;
        }
    }

    /// Fails at the line below.
    #[kernel]
    pub fn line_fails(limit: u32, mut y: DisjointSlice<u32>) {
        let i = thread::index_1d();
        if let Some(y) = y.get_mut(i) {
            assert!(*y < limit, "{} is not below {limit}", *y); // The place of the panic.
            *y += 1;
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::names;

        #[test]
        fn functions_of_kernels_are_functions_of_the_host() {
            assert_eq!(at(Line { slope: 2.0, offset: 1.0 }, 3.0), 7.0);
            assert_eq!(described(Line { slope: 2.0, offset: 1.0 }), "2 x + 1 of 2");
            assert_eq!(names().len(), 2);
        }
    }
}

/// Kernels that are there with a feature.
#[cfg(feature = "extra")]
#[kernelmill::kernels]
pub mod extra {
    use kernelmill_device::prelude::*;

    /// Is there with the feature alone.
    #[kernel]
    pub fn extra_ones(mut y: DisjointSlice<f32>) {
        let i = thread::index_1d();
        if let Some(y) = y.get_mut(i) {
            *y = 1.0;
        }
    }
}
