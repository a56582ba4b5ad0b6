//! Copies of rows on pocl.

use kernelmill::Device;
use opencl_backend::{clean_child, copy_rows};

#[test]
fn rows_are_copied_as_the_host_copies_them() {
    clean_child("rows_are_copied_as_the_host_copies_them", &[], || {
        copy_rows(&Device::opencl(0).unwrap());
    });
}
