//! Kernels, structs and constants that macros of the file write.

use kernelmill_device::prelude::*;

mod rules {
    macro_rules! constant {
        ($name:ident: $ty:ty = $value:expr) => {
            pub const $name: $ty = 2 * $value;
        };
    }
    pub(crate) use constant;
}

rules::constant!(ROWS: usize = 1 + 1);

macro_rules! span {
    ($(#[$mark:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$mark])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name { $(pub $field: $ty),* }
    };
}

span! {
    /// Two ends.
    Span { low: f32, high: f32 }
}

/// A kernel for each type.
macro_rules! scaled {
    ($($name:ident($ty:ty, $by:expr)),+ $(,)?) => {
        $(
            /// Scales, in rows.
            #[kernel]
            pub fn $name(offset: $ty, x: &[[$ty; ROWS]], mut y: DisjointSlice<[$ty; ROWS]>) {
                let i = thread::index_1d();
                if let Some(out) = y.get_mut(i) {
                    *out = x[i.get()].map(|x| x * $by + offset);
                }
            }
        )+
    };
}

scaled!(scaled_f32(f32, 1.0 + 2.0), scaled_i64(i64, -3), scaled_u32(core::primitive::u32, 5));

/// Rules that call each other, and a kernel's own words.
macro_rules! within {
    (@body $span:ident $x:ident) => { u32::from($span.low <= $x && $x < $span.high) };
    ($(#[$mark:meta])* fn $name:ident($span:ident: $ty:path) $($rest:tt)*) => {
        $(#[$mark])*
        pub fn $name($span: $ty, x: &[f32], mut y: DisjointSlice<u32>) {
            let i = thread::index_1d();
            if let Some(out) = y.get_mut(i) {
                let x = x[i.get()];
                *out = within!(@body $span x);
            }
        }
        within! { $($rest)* }
    };
    () => {};
}

within! {
    #[kernel(launch_bounds = 64)]
    fn within_span(span: Span)
}
