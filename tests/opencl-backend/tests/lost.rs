//! A device that is lost: each call says so, none waits for it, and all that was made on it is given back.

use kernelmill::{Device, Launch, Result};
use opencl_backend::{Kernels, clean_child};

const LEN: usize = 64;

/// Who holds a device that is lost is told so by each call, who opens it again gets another context meanwhile, and both give
/// back what they have.
#[test]
fn a_lost_device_is_opened_again() {
    let lost_at = [("OPENCL_LAYER_FAIL", "clFinish at call 3 onwards")];
    clean_child("a_lost_device_is_opened_again", &lost_at, || {
        let add = |device: &Device, kernels: &Kernels| -> Result<Vec<u32>> {
            let mut x = device.upload(&[1_u32; LEN])?;
            let launch = Launch::grid([LEN as u32], [1]);
            // SAFETY: there is an element for each work-item.
            unsafe { kernels.add(&device.stream(), launch, &mut x, 2)? };
            x.download()
        };
        let lost = Device::opencl(0).unwrap();
        let (kernels, stream) = (Kernels::load(&lost).unwrap(), lost.new_stream().unwrap());
        let event = stream.record().unwrap();
        let kept = lost.zeros::<u32>(LEN).unwrap();
        let mut first = None;
        while first.is_none() {
            first = add(&lost, &kernels).err();
        }
        let is_lost = "clFinish failed for ";
        for error in [
            first.unwrap(),
            add(&lost, &kernels).unwrap_err(),
            lost.zeros::<u32>(1).map(drop).unwrap_err(),
            kept.download().map(drop).unwrap_err(),
            lost.synchronize().unwrap_err(),
            stream.synchronize().unwrap_err(),
            stream.record().map(drop).unwrap_err(),
            stream.wait(&event).unwrap_err(),
            event.synchronize().unwrap_err(),
            lost.new_stream().map(drop).unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(
                error.starts_with(is_lost)
                    && error.contains(", which is lost: open it again: CL_OUT_OF_RESOURCES"),
                "{error}"
            );
        }
        let device = Device::opencl(0).unwrap();
        let again = Kernels::load(&device).unwrap();
        assert_eq!(add(&device, &again).unwrap(), [3; LEN]);
        drop((kernels, stream, event, kept, lost));
        assert_eq!(add(&device, &again).unwrap(), [3; LEN]);
    });
}
