//! Automatic differentiation: `autodiff!`, which the plugin `kernelmill-autodiff` implements.

/// Declares a function that is the derivative of another. The build script must register the plugin:
/// `kernelmill_build::Build::new().plugin(kernelmill_autodiff::plugin())`.
///
/// After the mode comes the function, with an activity for each of its parameters: `constant`;
/// `active` for a number; `duplicated` for a reference or slice that has a shadow with its tangents or
/// gradients; `shared` for one whose shadow several threads add to. The new function's parameters are
/// those of the function, each followed by its tangent (`active`, forward) or shadow (`duplicated`,
/// `shared`). In reverse mode the gradient of the result comes next, if the function returns a
/// number, and then `tape: &mut [u64]`, if one is needed.
///
/// In forward mode the result is the tangent of the function's result. In reverse mode it is the gradient
/// with respect to the active numbers, an array if there are several. With `forward_with_value` and
/// `reverse_with_value` the function's own result precedes them.
///
/// `where f => (df_dx, df_dy)` is a custom rule for a function of numbers that is called: its partial
/// derivatives are the functions `df_dx` and `df_dy` of the same parameters. See `docs/src/guide/autodiff.md`.
///
/// ```
/// use kernelmill_device::autodiff;
///
/// fn loss(weights: &[f32], x: f32, y: f32) -> f32 {
///     let difference = weights[0] * x + weights[1] - y;
///     difference * difference
/// }
///
/// autodiff! {
///     /// Adds to `gradient` what changes of the weights change the loss by, times `seed`.
///     pub fn loss_gradient(weights: &[f32], gradient: &mut [f32], x: f32, y: f32, seed: f32)
///         = reverse loss(duplicated, constant, constant);
/// }
/// ```
#[macro_export]
macro_rules! autodiff {
    (@pointer $function:ident) => { *const () };
    ($(
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) $(-> $result:ty)?
            = $mode:ident $function:ident ($($activity:ident),* $(,)?)
            $(where $($ruled:ident => ($($partial:ident),* $(,)?)),* $(,)?)?;
    )*) => { $(
        $(#[$attribute])*
        #[allow(clippy::too_many_arguments, reason = "those of the function, with shadows")]
        $visibility fn $name($($parameter: $ty),*) $(-> $result)? {
            #[allow(clashing_extern_declarations, reason = "one function for each use")]
            unsafe extern "Rust" {
                #[link_name = concat!(
                    "__kernelmill_autodiff.", stringify!($name), ".", stringify!($mode), ".",
                    $(stringify!($activity), "_"),*
                )]
                fn marker(
                    _: *const (),
                    $($(_: usize, _: $crate::autodiff!(@pointer $ruled),
                        $(_: usize, _: $crate::autodiff!(@pointer $partial),)*)*)?
                    $(_: usize, _: $ty),*
                ) $(-> $result)?;
            }
            // SAFETY: the plugin puts the derivative in the place of the call, once it has found that
            // it has these parameters and this result.
            unsafe {
                marker(
                    $function as *const (),
                    // Not the size of any parameter: a function with a rule, and its derivatives.
                    $($(usize::MAX, $ruled as *const (),
                        $(usize::MAX - 1, $partial as *const (),)*)*)?
                    $(const { ::core::mem::size_of::<$ty>() }, $parameter),*
                )
            }
        }
    )* };
}
