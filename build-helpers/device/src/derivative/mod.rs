//! Automatic differentiation: `autodiff!`, which the plugin `kernelmill-autodiff` implements.

pub mod shadow;
pub mod signature;

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
/// A declaration is checked like a function: the parameters have the types of the function's, shadows the
/// types of what they are shadows of. A derivative of an `unsafe fn`, and one with raw pointers or references
/// behind references, is declared as `unsafe fn`; then the caller answers for the shadows. A shadow with
/// fewer elements than its memory is a panic.
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
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis unsafe fn $name:ident $($rest:tt)*
    ) => {
        $crate::__autodiff! { @declare [unsafe] [$(#[$attribute])* $visibility] $name $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis fn $name:ident $($rest:tt)*
    ) => {
        $crate::__autodiff! { @declare [] [$(#[$attribute])* $visibility] $name $($rest)* }
    };
}

/// The parts of [`autodiff!`]: a declaration, and the checks of its types in `signature`.
#[doc(hidden)]
#[macro_export]
macro_rules! __autodiff {
    (@pointer $function:ident) => { *const () };
    (
        @declare [$($unsafe:ident)?] [$($before:tt)*] $name:ident
            ($($parameter:ident: $ty:ty),* $(,)?) $(-> $result:ty)?
            = $mode:ident $function:ident ($($activity:ident),* $(,)?)
            $(where $($ruled:ident => ($($partial:ident),* $(,)?)),* $(,)?)?;
        $($rest:tt)*
    ) => {
        #[allow(clippy::too_many_arguments, reason = "those of the function, with shadows")]
        #[allow(clippy::missing_safety_doc, reason = "as for the function, and shadows that fit")]
        $($before)* $($unsafe)? fn $name($($parameter: $ty),*) $(-> $result)? {
            $crate::__autodiff! {
                @check $mode [$($unsafe)?] $function ($($parameter: $ty),*) [$($result)?]
                    [$($activity)*] [$(($parameter $ty))*]
            }
            $($(const _: () = { let _ = || $crate::__derivative::rule([$ruled $(, $partial)*]); };)*)?
            #[allow(clashing_extern_declarations, reason = "one function for each use")]
            unsafe extern "Rust" {
                #[link_name = concat!(
                    "__kernelmill_autodiff.", stringify!($name), ".", stringify!($mode), ".",
                    $(stringify!($activity), "_",)* $crate::__autodiff!(@kind $($unsafe)?)
                )]
                fn marker(
                    _: *const (),
                    $($(_: usize, _: $crate::__autodiff!(@pointer $ruled),
                        $(_: usize, _: $crate::__autodiff!(@pointer $partial),)*)*)?
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
        $crate::autodiff! { $($rest)* }
    };

    // What a marker's name has after the activities.
    (@kind) => { ".safe" };
    (@kind unsafe) => { "" };

    // The four modes. Of others, and of parameters that do not fit the activities, the plugin says what is
    // wrong.
    (@check forward $($rest:tt)*) => { $crate::__autodiff! { @next [forward -] {} {} {} $($rest)* } };
    (@check forward_with_value $($rest:tt)*) => {
        $crate::__autodiff! { @next [forward +] {} {} {} $($rest)* }
    };
    (@check reverse $($rest:tt)*) => { $crate::__autodiff! { @next [reverse -] {} {} {} $($rest)* } };
    (@check reverse_with_value $($rest:tt)*) => {
        $crate::__autodiff! { @next [reverse +] {} {} {} $($rest)* }
    };
    (@check $($other:tt)*) => {};

    // Takes one activity with its parameters: the function's own, the active ones, and shadows.
    (
        @next $mode:tt {$($own:tt)*} $active:tt $shadows:tt $unsafe:tt $function:ident $all:tt $result:tt
            [constant $($activity:ident)*] [$parameter:tt $($rest:tt)*]
    ) => {
        $crate::__autodiff! {
            @next $mode {$($own)* $parameter} $active $shadows $unsafe $function $all $result
                [$($activity)*] [$($rest)*]
        }
    };
    (
        @next [forward $value:tt] {$($own:tt)*} $active:tt {$($shadow:tt)*} $unsafe:tt $function:ident
            $all:tt $result:tt [active $($activity:ident)*]
            [($parameter:ident $ty:ty) ($tangent:ident $of:ty) $($rest:tt)*]
    ) => {
        $crate::__autodiff! {
            @next [forward $value] {$($own)* ($parameter $ty)} $active
                {$($shadow)* (tangent $parameter $tangent)} $unsafe $function $all $result
                [$($activity)*] [$($rest)*]
        }
    };
    (
        @next [reverse $value:tt] {$($own:tt)*} {$($active:tt)*} $shadows:tt $unsafe:tt $function:ident
            $all:tt $result:tt [active $($activity:ident)*] [($parameter:ident $ty:ty) $($rest:tt)*]
    ) => {
        $crate::__autodiff! {
            @next [reverse $value] {$($own)* ($parameter $ty)} {$($active)* $parameter} $shadows $unsafe
                $function $all $result [$($activity)*] [$($rest)*]
        }
    };
    (@next [forward $value:tt] $own:tt $active:tt $shadows:tt $unsafe:tt $function:ident $all:tt
        $result:tt [duplicated $($rest:tt)*] $parameters:tt
    ) => {
        $crate::__autodiff! {
            @shadow tangents [forward $value] $own $active $shadows $unsafe $function $all $result
                [$($rest)*] $parameters
        }
    };
    (@next [forward $value:tt] $own:tt $active:tt $shadows:tt $unsafe:tt $function:ident $all:tt
        $result:tt [shared $($rest:tt)*] $parameters:tt
    ) => {
        $crate::__autodiff! {
            @shadow tangents [forward $value] $own $active $shadows $unsafe $function $all $result
                [$($rest)*] $parameters
        }
    };
    (@next [reverse $value:tt] $own:tt $active:tt $shadows:tt $unsafe:tt $function:ident $all:tt
        $result:tt [duplicated $($rest:tt)*] $parameters:tt
    ) => {
        $crate::__autodiff! {
            @shadow gradients [reverse $value] $own $active $shadows $unsafe $function $all $result
                [$($rest)*] $parameters
        }
    };
    (@next [reverse $value:tt] $own:tt $active:tt $shadows:tt $unsafe:tt $function:ident $all:tt
        $result:tt [shared $($rest:tt)*] $parameters:tt
    ) => {
        $crate::__autodiff! {
            @shadow shared_gradients [reverse $value] $own $active $shadows $unsafe $function $all
                $result [$($rest)*] $parameters
        }
    };
    (
        @shadow $check:ident $mode:tt {$($own:tt)*} $active:tt {$($shadow:tt)*} $unsafe:tt $function:ident
            $all:tt $result:tt $activities:tt
            [($parameter:ident $ty:ty) ($of:ident $shadow_ty:ty) $($rest:tt)*]
    ) => {
        $crate::__autodiff! {
            @next $mode {$($own)* ($parameter $ty)} $active {$($shadow)* ($check $parameter $of)} $unsafe
                $function $all $result $activities [$($rest)*]
        }
    };
    (@shadow $($other:tt)*) => {};

    // All activities have their parameters.
    (
        @next $mode:tt {$(($own:ident $own_ty:ty))*} $active:tt {$(($check:ident $memory:ident $shadow:ident))*}
            $unsafe:tt $function:ident ($($parameter:ident: $ty:ty),*) [$($result:ty)?] []
            [$(($last:ident $last_ty:ty))*]
    ) => {
        #[allow(dead_code, unused, clippy::all, clippy::pedantic, reason = "it is there for its types")]
        fn check($($parameter: $ty),*) $(-> $result)? {
            let function: $crate::__autodiff!(@function $unsafe $($own_ty),*) = $function;
            $($crate::__autodiff! { @types $unsafe $check $memory $shadow })*
            $crate::__autodiff! {
                @result $mode [$($result)?] $unsafe function ($($own),*) $active ($($last),*)
            }
        }
        $($crate::__autodiff! { @length $unsafe $check $memory $shadow })*
    };
    (@next $($other:tt)*) => {};

    (@function [] $($ty:ty),*) => { fn($($ty),*) -> _ };
    (@function [unsafe] $($ty:ty),*) => { unsafe fn($($ty),*) -> _ };

    // The caller of an unsafe derivative answers for its shadows.
    (@types $unsafe:tt tangent $number:ident $tangent:ident) => {
        $crate::__derivative::tangent($number, $tangent);
    };
    (@types [unsafe] $check:ident $memory:ident $shadow:ident) => {};
    (@types [] $check:ident $memory:ident $shadow:ident) => {
        $crate::__derivative::$check(&$memory, &$shadow);
    };
    (@length $unsafe:tt tangent $number:ident $tangent:ident) => {};
    (@length [unsafe] $check:ident $memory:ident $shadow:ident) => {};
    (@length [] $check:ident $memory:ident $shadow:ident) => {
        $crate::__derivative::require_length(&$memory, &$shadow);
    };

    // What the derivative returns, of the function's result and the active parameters.
    (@result [forward $value:tt] [] $($rest:tt)*) => {};
    (@result [forward -] [$result:ty] $unsafe:tt $call:ident $own:tt $active:tt ()) => {
        $crate::__derivative::number($crate::__autodiff!(@call $unsafe $call $own))
    };
    (@result [forward +] [$result:ty] $unsafe:tt $call:ident $own:tt $active:tt ()) => {
        $crate::__derivative::with_tangent($crate::__autodiff!(@call $unsafe $call $own))
    };
    (@result [reverse $value:tt] $result:tt $unsafe:tt $call:ident $own:tt {$($active:ident)*} ($($last:ident),*)) => {
        let value = $crate::__autodiff!(@call $unsafe $call $own);
        $crate::__derivative::last(&value, ($($last,)*));
        $crate::__autodiff! { @gradients $value $result value $($active)* }
    };
    (@result $($other:tt)*) => { unreachable!() };
    (@gradients $with:tt [] $value:ident $($active:ident)*) => {};
    (@gradients - [$result:ty] $value:ident) => { unreachable!() };
    (@gradients - [$result:ty] $value:ident $active:ident) => { $crate::__derivative::number($active) };
    (@gradients - [$result:ty] $value:ident $($active:ident)*) => {
        [$($crate::__derivative::number($active)),*]
    };
    (@gradients + [$result:ty] $value:ident) => { $value };
    (@gradients + [$result:ty] $value:ident $($active:ident)*) => {
        [$crate::__derivative::number($value), $($crate::__derivative::number($active)),*]
    };
    (@call [] $function:ident ($($own:ident),*)) => { $function($($own),*) };
    (@call [unsafe] $function:ident ($($own:ident),*)) => {
        // SAFETY: nothing calls this.
        unsafe { $function($($own),*) }
    };
}
