//! Copies of rows, on streams that do no work before something waits for it.

use cuda_backend::{clean_child, copy_rows};
use kernelmill::Device;

#[test]
fn rows_are_copied_as_the_host_copies_them() {
    for streams in ["lazy", "eager"] {
        let streams = [("FAKE_CUDA_STREAMS", streams)];
        clean_child("rows_are_copied_as_the_host_copies_them", &streams, || {
            copy_rows(&Device::cuda(0).unwrap());
        });
    }
}
