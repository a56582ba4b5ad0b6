//! Gives the compiler a digest of its own sources, which is part of every key: what an older state
//! of a checkout compiled is not taken for what this one would. And those of the headers and of the device crate, after which
//! their folders are called.

use kernelmill_device::sources;
use std::{io, path::Path};

fn main() -> io::Result<()> {
    // The crate that wraps LLVM lies beside this one in a checkout; published, each has a version.
    let folders = ["src", "cuda", "opencl", "../llvm/src"].map(Path::new);
    let there: Vec<_> = folders.into_iter().filter(|folder| folder.is_dir()).collect();
    there.iter().for_each(|folder| println!("cargo::rerun-if-changed={}", folder.display()));
    let digest = kernelmill_artifact::source_digest(&there)?;
    println!("cargo::rustc-env=KERNELMILL_COMPILER_DIGEST={digest}");
    let headers = kernelmill_artifact::source_digest(&["cuda", "opencl"])?;
    println!("cargo::rustc-env=KERNELMILL_HEADERS_DIGEST={headers}");
    let device = sources::DEVICE.iter().chain(sources::MACROS).copied();
    let device = kernelmill_artifact::text_digest(device);
    println!("cargo::rustc-env=KERNELMILL_DEVICE_DIGEST={device}");
    Ok(())
}
