//! The interface of generated bindings: what these name, and nothing else.
//!
//! Not for use by hand: it changes with the generator.

mod bind;
pub mod rule;

pub use self::bind::{
    Bind, Value, launch_with, read_pointer, read_slice, tensor_map, write_pointer, write_slice,
};
#[cfg(feature = "jit")]
pub(crate) use self::bind::{Pointer, Read, Write, launch_checked};
pub use std::borrow::Cow;

pub use kernelmill_artifact::{
    Access, ArtifactKind, Dimension, EnumLayout, Field, FunctionType, LaunchLimits, Nested,
    Parameter, ParameterKind, Relocation, Resources, Safety, Scalar, Signature, SourceFrame,
    SourceLocation, StructLayout, ValueType, Variant,
};

pub use crate::{
    __assert_layout as assert_layout, __assert_no_zeros as assert_no_zeros,
    __assert_number as assert_number, __assert_primitive_names as assert_primitive_names,
    __device_struct as device_struct, __needs_half as needs_half,
    argument::{Argument, Held, HeldMap, MAX_ARGUMENTS, TensorMapArgument},
    compiled_set::CompiledSet,
    copy::half,
    embedded::{
        CpuEntry, CpuKernel, CpuVariable, EmbeddedArtifact, EmbeddedKernel, EmbeddedVariant,
        KernelSet, TunedLaunch, VariableLayout, VariableMemory, abi,
    },
    hal::StreamRef,
    loaded::Loaded,
    prepared::{PreparationStream, PreparedSlices, prepare, set_scalars},
};
use crate::{
    argument::{LaunchStream, ReadSlice, WriteSlice},
    copy::DeviceCopy,
    device::Device,
    error::{Error, Result},
    function::DeviceFn,
    launch::Launch,
};

/// A signature in a static: what it is called in the source and in compiled code, for which launches it
/// is, what it takes, and the file and line of its name.
#[must_use]
pub const fn signature(
    name: &'static str,
    symbol: &'static str,
    dimension: Dimension,
    safety: Safety,
    limits: LaunchLimits,
    parameters: &'static [Parameter],
    (file, line): (&'static str, u32),
) -> Signature {
    Signature {
        name: Cow::Borrowed(name),
        symbol: Cow::Borrowed(symbol),
        dimension,
        safety,
        limits,
        parameters: Cow::Borrowed(parameters),
        file: Cow::Borrowed(file),
        line,
    }
}

/// What compiles the bitcode of a set of kernels when the program runs.
pub trait KernelCompiler {
    /// The set with what was compiled in place of its bitcode: with the same kernels in the same order.
    ///
    /// # Errors
    ///
    /// [`Error::NoCompiler`] and [`Error::Compile`].
    fn compile_set(&self, device: &Device, set: &'static KernelSet) -> Result<CompiledSet>;
}

/// The stream of a launch.
pub fn stream(stream: &impl LaunchStream) -> StreamRef<'_> {
    stream.stream()
}

/// Holds elements that the kernel reads, until after the launch.
///
/// # Errors
///
/// [`Error::WrongDevice`] where they are not on the stream's device.
pub fn read<'s, T: DeviceCopy>(
    slice: impl ReadSlice<T> + 's,
    stream: StreamRef<'s>,
) -> Result<Held<'s, T>> {
    let mut held = Held::nothing();
    slice.hold(&stream, &mut held)?;
    Ok(held)
}

/// Holds elements that the kernel writes, until after the launch.
///
/// # Errors
///
/// [`Error::WrongDevice`] where they are not on the stream's device.
pub fn write<'s, T: DeviceCopy>(
    slice: impl WriteSlice<T> + 's,
    stream: StreamRef<'s>,
) -> Result<Held<'s, T>> {
    let mut held = Held::nothing();
    slice.hold(&stream, &mut held)?;
    Ok(held)
}

/// Holds a tensor of which the kernel copies tiles, until after the launch.
///
/// # Errors
///
/// [`Error::WrongDevice`] where it is not on the stream's device.
pub fn hold_map<'s, M: TensorMapArgument + 's>(
    map: M,
    stream: StreamRef<'s>,
) -> Result<HeldMap<'s, M::Element>> {
    map.hold(&stream)
}

/// Launches the kernel with index `signature` in the set.
///
/// # Errors
///
/// [`Error::Limit`], [`Error::EmptyBlock`], [`Error::WrongDevice`], [`Error::NoBinary`] for a
/// kernel that is not compiled for this device, and what the driver reports.
///
/// # Safety
///
/// The arguments are those of that signature, in its order, and what the kernel does with them in
/// the threads of this launch is sound.
pub unsafe fn launch(
    loaded: &Loaded,
    signature: usize,
    stream: StreamRef<'_>,
    launch: impl Into<Launch<3>>,
    arguments: &[Argument<'_>],
) -> Result<()> {
    // SAFETY: as promised to this function.
    unsafe { loaded.launch(signature, &stream, &launch.into(), arguments) }
}

/// Checks a rule that a kernel's author states in the configuration. `values` are those of the names in it.
///
/// # Errors
///
/// [`Error::Contract`] where it does not hold.
#[inline]
pub fn require(
    holds: bool,
    kernel: &'static str,
    rule: &'static str,
    values: &[(&str, rule::Number)],
) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::Contract { kernel, rule, values: rule::clause(values) })
}

/// A function of the kernels.
#[must_use]
pub const fn device_fn<F>(id: u64) -> DeviceFn<F> {
    DeviceFn::new(id)
}

/// Checks that a function is one that a set's kernels can be given.
///
/// # Errors
///
/// [`Error::ForeignFunction`] where it is not.
pub fn require_function<F>(
    function: DeviceFn<F>,
    set: &KernelSet,
    kernel: &'static str,
    parameter: &'static str,
) -> Result<()> {
    if set.functions.contains(&function.id()) {
        return Ok(());
    }
    Err(Error::ForeignFunction { kernel, parameter, package: set.package })
}

/// A type beside that of the field in the kernels that it stands for: the same one.
#[diagnostic::on_unimplemented(
    message = "a field has type `{Self}` in the struct that `types` maps to, and `{T}` in the kernels",
    label = "the kernels have `{T}` there"
)]
pub trait SameType<T> {}

impl<T> SameType<T> for T {}

/// What `variables` of a `Kernels` without device variables asks for. Nothing implements it: the call is an error that says why.
///
/// ```
/// # struct Kernels;
/// # impl Kernels {
/// #     const fn variables<Any>(&self) where (Self, Any): kernelmill::__codegen::HasDeviceVariables {}
/// # }
/// let kernels = Kernels;
/// ```
///
/// ```compile_fail,E0277
/// # struct Kernels;
/// # impl Kernels {
/// #     const fn variables<Any>(&self) where (Self, Any): kernelmill::__codegen::HasDeviceVariables {}
/// # }
/// Kernels.variables();
/// ```
#[diagnostic::on_unimplemented(
    message = "these kernels have no device variables that the host reads and writes",
    label = "no source of these kernels has such a variable",
    note = "the bindings have a variable of a source in CUDA C++ or HIP: `__device__`, or `__constant__` without an initial \
            value, and not `static` in a function or a namespace"
)]
pub trait HasDeviceVariables {}

/// Asserts, at compile time, that what `_field` leads to has type `T`.
pub const fn assert_field<T, S, F: SameType<T>>(_field: fn(&S) -> *const F) {}

/// The primitive types that signatures have.
pub type Primitives =
    (bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);

/// Asserts that the names of primitive types are theirs where it stands. Bindings have these names, so that an
/// item of the program beside them, such as `type f64 = u8;`, would give their wrappers other types than the kernels
/// have.
///
/// ```
/// kernelmill::__codegen::assert_primitive_names!();
/// ```
///
/// ```compile_fail,E0308
/// mod kernels {
///     type f64 = u8;
///     kernelmill::__codegen::assert_primitive_names!();
/// }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_primitive_names {
    () => {
        const _: fn(
            $crate::__codegen::Primitives,
        ) -> (
            bool,
            char,
            i8,
            i16,
            i32,
            i64,
            i128,
            isize,
            u8,
            u16,
            u32,
            u64,
            u128,
            usize,
            f32,
            f64,
        ) = |same| same;
    };
}

/// Asserts, at compile time, that a struct on the host is laid out as on the device, and that the fields
/// that have a type here have it there:
///
/// ```
/// #[repr(C)]
/// struct Params { flag: bool, x: u32 }
/// kernelmill::__codegen::assert_layout!(Params, size = 8, align = 4, flag: bool = 0, x: u32 = 4);
/// ```
///
/// ```compile_fail,E0277
/// #[repr(C)]
/// struct Params { flag: bool, x: u32 }
/// kernelmill::__codegen::assert_layout!(Params, size = 8, align = 4, flag: u8 = 0, x: u32 = 4);
/// ```
///
/// ```compile_fail,E0277
/// #[repr(C)]
/// struct Params(u64, &'static u64);
/// kernelmill::__codegen::assert_layout!(Params, size = 16, align = 8, 0: u64 = 0, 1: u64 = 8);
/// ```
///
/// With `padded`, for a struct that has padding in the kernels, there is no field in that: the bytes are not
/// initialised.
///
/// ```
/// #[repr(C)]
/// struct Params(u8, u32);
/// kernelmill::__codegen::assert_layout!(padded Params, size = 8, align = 4, 0: u8 = 0, 1: u32 = 4);
/// ```
///
/// ```compile_fail,E0063
/// #[repr(C)]
/// struct Params(u8, u32, bool);
/// kernelmill::__codegen::assert_layout!(padded Params, size = 12, align = 4, 0: u8 = 0, 1: u32 = 4);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_layout {
    (
        padded $name:path, size = $size:expr, align = $align:expr
        $(, $field:tt : $ty:ty = $offset:expr)* $(,)?
    ) => {
        $crate::__assert_layout!($name, size = $size, align = $align $(, $field: $ty = $offset)*);
        const _: fn($name) -> $name = {
            type __KernelmillMapped = $name;
            |all| __KernelmillMapped { $($field: all.$field),* }
        };
    };
    (
        $name:path, size = $size:expr, align = $align:expr
        $(, $field:tt $(: $ty:ty)? = $offset:expr)* $(,)?
    ) => {
        const _: () = {
            ::core::assert!(
                ::core::mem::size_of::<$name>() == $size,
                ::core::concat!("`", ::core::stringify!($name), "` has a different size in the kernel")
            );
            ::core::assert!(
                ::core::mem::align_of::<$name>() == $align,
                ::core::concat!("`", ::core::stringify!($name), "` has a different alignment in the kernel")
            );
            $(::core::assert!(
                ::core::mem::offset_of!($name, $field) == $offset,
                ::core::concat!(
                    "`", ::core::stringify!($name), "::", ::core::stringify!($field),
                    "` has a different offset in the kernel"
                )
            );)*
            $($($crate::__codegen::assert_field::<$ty, $name, _>(|all| &raw const all.$field);)?)*
        };
    };
}

/// Asserts, at compile time, that a type says of itself that zeros are no value of it:
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(u8)]
/// enum Mode { Off = 1, On = 2 }
/// kernelmill::device_copy!(unsafe nonzero Mode);
/// kernelmill::__codegen::assert_no_zeros!(Mode);
/// ```
///
/// ```compile_fail,E0080
/// #[derive(Clone, Copy)]
/// #[repr(u8)]
/// enum Mode { Off = 1, On = 2 }
/// kernelmill::device_copy!(unsafe Mode);
/// kernelmill::__codegen::assert_no_zeros!(Mode);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_no_zeros {
    ($name:ident) => {
        const _: () = ::core::assert!(
            !<$name as $crate::DeviceCopy>::ZERO_IS_VALUE,
            ::core::concat!(
                "zero bytes are not a valid value of `", ::core::stringify!($name), "` in the kernels: write \
                                                                                     `kernelmill::device_copy!(unsafe \
                                                                                     nonzero ..)` for the type that \
                                                                                     stands for it"
            )
        );
    };
}

/// Asserts, at compile time, that a type is a struct of one number, so that whatever C++ writes is a value of it:
///
/// ```
/// struct Mode(u32);
/// kernelmill::__codegen::assert_number!(Mode, u32);
/// ```
///
/// ```compile_fail,E0574
/// #[repr(u32)]
/// enum Mode { Off, On }
/// kernelmill::__codegen::assert_number!(Mode, u32);
/// ```
///
/// ```compile_fail,E0308
/// struct Mode(core::num::NonZeroU32);
/// kernelmill::__codegen::assert_number!(Mode, u32);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __assert_number {
    ($name:ident, $number:ty) => {
        const _: fn($name) -> $number = |$name { 0: number }| number;
    };
}

/// Stands for the kernels with numbers in half precision: without the feature `half` an
/// error that says so.
#[cfg(feature = "half")]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_half {
    ($($what:literal),* $(,)?) => {};
}

/// Stands for the kernels with numbers in half precision: without the feature `half` an
/// error that says so.
#[cfg(not(feature = "half"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __needs_half {
    ($($what:literal),* $(,)?) => {$(
        ::core::compile_error!(::core::concat!(
            $what,
            "; enable the feature `half` of kernelmill in Cargo.toml: `features = [\"half\"]`"
        ));
    )*};
}

/// Makes a generated `#[repr(C)]` struct one that crosses to devices, and checks its layout. One with
/// private fields has no zeros:
///
/// ```
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Even(u32);
/// kernelmill::__codegen::device_struct!(Even, size = 4, align = 4);
/// kernelmill::Device::cpu().unwrap().zeros::<[Even; 2]>(3).unwrap();
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Even(u32);
/// kernelmill::__codegen::device_struct!(private Even, size = 4, align = 4);
/// kernelmill::Device::cpu().unwrap().zeros::<[Even; 2]>(3).unwrap();
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __device_struct {
    (private $name:ident, $($layout:tt)*) => {
        $crate::__assert_layout!($name, $($layout)*);
        $crate::device_copy!(unsafe nonzero $name);
    };
    ($name:ident, $($layout:tt)*) => {
        $crate::__assert_layout!($name, $($layout)*);
        $crate::device_copy!(unsafe $name);
    };
}

/// Brings in the kernels that the build script of this package compiled: the type `Kernels`, and the
/// structs in their signatures. `mod kernels { kernelmill::include_kernels!(); }` is the usual form.
#[macro_export]
macro_rules! include_kernels {
    () => {
        // `compile()` sets the variable. rust-analyzer follows `include!` through `env!` without a message only.
        #[cfg(not(rust_analyzer))]
        ::core::include!(::core::env!(
            "KERNELMILL_BINDINGS",
            "this package has no kernels: no build script has called `kernelmill_build::compile()`. Write \
             `fn main() { kernelmill_build::compile(); }` into `build.rs`, beside Cargo.toml, whose \
             `[build-dependencies]` need `kernelmill-build`"
        ));
        #[cfg(rust_analyzer)]
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/kernels.rs"));
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_that_kernels_do_not_have_is_refused() {
        let set = KernelSet {
            format_version: kernelmill_artifact::FORMAT_VERSION,
            package: "shapes",
            signatures: &[],
            functions: &[3, 5],
            variables: &[],
            tuned: &[],
            artifacts: &[],
        };
        let given = |id| {
            let function = DeviceFn::<fn(f32) -> f32>::new(id);
            require_function(function, &set, "apply", "f")
        };
        assert!(given(5).is_ok());
        for id in [0, 4] {
            let error = given(id).unwrap_err();
            assert!(matches!(error, Error::ForeignFunction { .. }), "{error}");
            let expected = "kernel `apply`: the function passed as `f` is not one of the package `shapes`; pass one \
                            that `Kernels::functions()` of this package returns";
            assert_eq!(error.to_string(), expected);
        }
    }
}
