//! The sources of this crate and of `kernelmill-device-macros` as text.
//!
//! A compiler of kernels writes them to two folders and builds them with a bare `rustc`: first the
//! macros as a procedural macro, then this crate with `--cfg kernelmill`.
//!
//! ```
//! use kernelmill_device::sources;
//! assert!(sources::DEVICE.iter().any(|(path, text)| *path == "lib.rs" && !text.is_empty()));
//! ```

macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!($folder, $path)))),*]
    };
}

/// `(path, text)` for every source file of this crate; the path is relative to `lib.rs`'s folder.
pub const DEVICE: &[(&str, &str)] = files! { "":
    "assertion.rs" "atomic.rs" "block_array.rs" "constant.rs" "deferred.rs" "derivative/mod.rs" "derivative/shadow.rs" "derivative/signature.rs" "fast.rs" "fence.rs" "float.rs"
    "function.rs" "grid.rs" "half.rs" "heap.rs" "index.rs" "intrinsics.rs" "lib.rs" "math/circular.rs"
    "math/coefficients.rs" "math/double.rs" "math/exponential.rs" "math/inverse.rs"
    "math/logarithm.rs" "math/mod.rs" "math/payne_hanek.rs" "math/power.rs" "math/real.rs"
    "math/reduction.rs" "math/remainder.rs" "math/root.rs" "panic/device.rs" "panic/mod.rs"
    "panic/write.rs" "prelude.rs" "print/buffer.rs" "print/c.rs" "print/decimal.rs" "print/entries.rs"
    "print/line.rs" "print/mod.rs" "shared.rs" "shim.rs" "slice.rs" "sources.rs" "stack.rs"
    "tensor/accumulator.rs" "tensor/bulk.rs" "tensor/copy.rs" "tensor/element.rs"
    "tensor/fragment.rs" "tensor/layout.rs" "tensor/memory.rs" "tensor/mod.rs" "tensor/rows.rs"
    "tensor/tensor_map.rs" "tensor/warpgroup.rs" "thread.rs" "warp.rs"
};

/// `(path, text)` for every source file of `kernelmill-device-macros`.
pub const MACROS: &[(&str, &str)] = files! { "../macros-src/":
    "arguments.rs" "device_fn.rs" "error.rs" "function.rs" "instances.rs" "lib.rs" "module.rs" "parameter.rs"
    "shim.rs" "template.rs" "tokens.rs" "width.rs"
};
