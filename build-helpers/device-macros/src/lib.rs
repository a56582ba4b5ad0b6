//! The attributes `#[kernel]` and `#[device_fn]` of `kernelmill-device`, and `#[kernels]` of `kernelmill`. Use them from
//! there: `use kernelmill_device::prelude::*;`, `#[kernelmill::kernels]`.
//!
//! It has no dependencies, so that a bare `rustc` can build it.
extern crate proc_macro;

mod arguments;
mod device_fn;
mod error;
mod function;
mod instances;
mod module;
mod parameter;
mod shim;
mod template;
mod tokens;
mod width;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry point that the host launches over a grid of threads.
///
/// `#[kernel]` is a kernel over one dimension, `#[kernel(dim = 2)]` and `#[kernel(dim = 3)]` over
/// more. A kernel returns nothing. Its parameters are
///
/// - scalars, and types whose bytes can be copied to the device, by value;
/// - `&[T]`, which every thread may read;
/// - `DisjointSlice<T>`, of which every thread may write its own element;
/// - `BlockArray<T, N>`, shared memory of the block, which the host does not pass.
///
/// With `#[kernel(dim = 2, width = w)]`, where `w` is an integer parameter of the kernel, the rows
/// of each `DisjointSlice<T, Index2D>` are `w` elements wide; without it they are as wide as the
/// launch, and the build warns.
///
/// `#[kernel(fast_math)]` sets fast-math flags on the kernel's arithmetic: see
/// `kernelmill_device::fast`.
///
/// Launch bounds can be given too. The compiler optimises for them, and each launch is checked against
/// them:
///
/// - `launch_bounds = 256`: the most threads of a block, or `block_size = [16, 16, 1]`: its exact size;
/// - `min_blocks = 2`: the number of blocks that should be resident on a multiprocessor;
/// - `max_registers = 64`: the most registers of a thread;
/// - `index_width = 32`: every slice, every argument of type `usize` or `isize` and the number of threads is below 2^31;
/// - `cluster = [2, 1, 1]`: the blocks of a cluster.
///
/// A kernel with type or constant parameters is compiled for the instances that are listed, here or in the
/// settings of the build: `#[kernel(instances = ["f32, 16", "f64, 16"])]`.
///
/// Variants are builds of the kernel for some of its launches, each with bounds in place of the kernel's:
/// `#[kernel(variants = [{ launch_bounds = 64, index_width = 32 }, { block_size = [32, 1, 1], min_blocks = 8 }])]`.
///
/// The function itself stays as written and can be called by other functions.
///
/// ```text
/// use kernelmill_device::prelude::*;
///
/// #[kernel]
/// pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {
///     let i = thread::index_1d();
///     if let Some(out) = y.get_mut(i) {
///         *out += a * x[i.get()];
///     }
/// }
/// ```
///
/// # Errors
///
/// Whatever is wrong with the signature is reported at once, at its place, with what to write
/// instead.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = error::Errors::default();
    let arguments = arguments::read(arguments, &mut errors);
    let function = function::read(item.clone(), &mut errors);
    let mut output =
        template::expand("#[allow(dead_code, reason = \"only the host calls a kernel\")]", &[]);
    match function {
        Some(function) => {
            let has_arrays =
                |it: &parameter::Parameter| matches!(it.kind, parameter::Kind::BlockArray { .. });
            if function.parameters.iter().any(has_arrays) && !function.has_inline {
                // What the entry writes into the arrays is dropped where the kernel writes all of them.
                output.extend(template::expand("#[inline(always)]", &[]));
            }
            let entry = shim::entries(&arguments, &function, &mut errors);
            output.extend(match &arguments.width {
                Some(name) => width::mark_as_used(item, &name.to_string()),
                None => item,
            });
            if errors.is_empty() {
                output.extend(entry);
            }
        }
        None => output = item,
    }
    output.extend(errors.into_tokens());
    output
}

/// Makes a function a device function that the host can pass to kernels: the generated
/// `Kernels::functions()` has it under its name, and a kernel takes it as a `DeviceFn<fn(..) -> ..>`.
///
/// Its name is a type too, which implements `kernelmill_device::Function`: a generic kernel takes the function as a type
/// parameter, `#[kernel(instances = ["square"])] fn map<F: Function<(f32,), Output = f32>>(..)`. Such calls are inlined
/// unless the function says `#[inline(never)]`.
///
/// The function is safe and has no type parameters. Its parameters and its result are scalars, arrays
/// and `#[repr(C)]` structs, by value. It stays as written and can be called by other functions.
///
/// ```text
/// use kernelmill_device::prelude::*;
///
/// #[device_fn]
/// pub fn square(x: f32) -> f32 {
///     x * x
/// }
/// ```
///
/// # Errors
///
/// Whatever is wrong with the function is reported at once, at its place, with what to write
/// instead.
#[proc_macro_attribute]
pub fn device_fn(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = error::Errors::default();
    if let Some(first) = arguments.into_iter().next() {
        errors.push(first.span(), "`#[device_fn]` takes no arguments: remove them");
    }
    let mut output = device_fn::expand_item(item, &mut errors);
    output.extend(errors.into_tokens());
    output
}

/// Makes a module of the crate's own source one of kernels. Use it as `#[kernelmill::kernels]`, where it is explained.
#[proc_macro_attribute]
pub fn kernels(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = error::Errors::default();
    module::check(arguments, item.clone(), &mut errors);
    let mut output = item;
    output.extend(errors.into_tokens());
    output
}
