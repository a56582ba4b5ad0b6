//! Test support: the tools of the machine, snapshots, and temporary folders.
//!
//! Packages of this workspace use it as a dev-dependency, or as a dependency where they are tests
//! themselves. It depends on none of them, so that each of them can.
//!
//! - [`tool`] finds programs and libraries, and is the only place that reads `KERNELMILL_REQUIRE_TOOLS`.
//! - [`snapshot`] compares texts with files, and is the only place that reads `KERNELMILL_TEST_BLESS`.
//! - [`fuzz`] changes texts and bytes at random, and [`Random`] gives it the numbers.
//! - [`builds`] is for packages that tests build with cargo, and removes what is built.
//! - [`library`] makes copies of libraries that lack a function.
//! - [`Package`] is a small package of kernels to build, and [`checks`] runs those of a program on a device.
//! - [`child`] runs a test in a process of its own, with the driver of a back end.
//! - [`Outcomes`](outcomes::Outcomes) are those of checks that a test runs in a process of their own.
//! - [`Trace`] is what a program has written of its times.
//! - [`temporary_folder`] gives each test a folder of its own.

pub mod builds;
pub mod checks;
pub mod child;
pub mod driver;
mod folder;
pub mod fuzz;
pub mod library;
pub mod outcomes;
mod package;
mod random;
pub mod snapshot;
pub mod tool;
mod trace;
mod workspace;

pub use folder::{
    InFolder, TempDir, has_path_of_the_machine, temporary_folder, temporary_folder_in, write_file,
};
pub use package::{Build, Package};
pub use random::Random;
pub use trace::Trace;
pub use workspace::{root, shared_folder};
