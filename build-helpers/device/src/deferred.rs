//! External device functions: deferred references to functions of other sources.

#[cfg(kernelmill)]
#[macro_export]
macro_rules! deferred {
    ($name:ident: fn($($parameter:ty),* $(,)?) $(-> $result:ty)?) => {{
        unsafe extern "C" {
            #[link_name = concat!("__kernelmill_deferred_", stringify!($name))]
            fn target($(_: $parameter),*) $(-> $result)?;
        }
        target as unsafe extern "C" fn($($parameter),*) $(-> $result)?
    }};
}

/// A function of another source of the package, by its symbol, as a function pointer:
/// `#[unsafe(no_mangle)] pub extern "C" fn` in Rust, `extern "C" __device__` in CUDA C++. It is resolved
/// when the kernel is compiled, and a call of it becomes a direct one. Its parameters are scalars and
/// pointers.
///
/// Outside of a build for devices it ends the process when it is called.
///
/// ```
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn shade_all(mut out: DisjointSlice<f32>) {
///     let shade = deferred!(shade: fn(f32) -> f32);
///     if let Some(out) = out.get_mut(thread::index_1d()) {
///         // SAFETY: `shade` in shade.rs is safe.
///         *out = unsafe { shade(*out) };
///     }
/// }
/// ```
///
/// A call is `unsafe`, since nobody knows what the function asks of its callers:
///
/// ```compile_fail,E0133
/// # use kernelmill_device::prelude::*;
/// fn call(x: f32) -> f32 {
///     let shade = deferred!(shade: fn(f32) -> f32);
///     shade(x)
/// }
/// ```
#[cfg(not(kernelmill))]
#[macro_export]
macro_rules! deferred {
    ($name:ident: fn($($parameter:ty),* $(,)?) $(-> $result:ty)?) => {{
        unsafe extern "C" fn target($(_: $parameter),*) $(-> $result)? {
            panic!("the external device function `{}` works only inside a kernel that a device runs", stringify!($name))
        }
        target as unsafe extern "C" fn($($parameter),*) $(-> $result)?
    }};
}
