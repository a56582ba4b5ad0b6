//! A module of kernels with the name of another one.

/// Points that fall.
#[rustfmt::skip]
/* Behind a comment of another width: ä. */ #[kernelmill::kernels] pub mod lines {
    use kernelmill_device::prelude::*;

    /// A point that falls.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    pub struct Falling {
        /// In metres.
        pub height: f32,
        /// In metres a second.
        pub speed: f32,
    }

    /// One step of each point.
    #[kernel]
    pub fn fall(seconds: f32, mut points: DisjointSlice<Falling>) {
        let i = thread::index_1d();
        if let Some(point) = points.get_mut(i) {
            point.height += point.speed * seconds;
            point.speed -= 9.81 * seconds;
        }
    }
}
