//! Two platforms at once, as on a machine with the drivers of two vendors: the devices of both are listed, each has a context
//! with modules of its own, and what belongs to one is refused by the other.

use kernelmill::{Backend, CacheStatistics, Device, Error, Launch, Stream, module_cache};
use opencl_backend::{Kernels, clean_child};

const LEN: usize = 64;

/// pocl has two devices, and the layer shows each as that of a platform.
const TWO: [(&str, &str); 2] = [("OPENCL_LAYER_PLATFORMS", "1"), ("POCL_DEVICES", "basic pthread")];

/// Runs `body` with the devices of both.
fn on_both(name: &str, body: fn([Device; 2])) {
    clean_child(name, &TWO, || body([0, 1].map(|ordinal| Device::opencl(ordinal).unwrap())));
}

/// Adds to elements that begin as ones.
fn add(device: &Device, stream: &Stream, summand: u32) -> Vec<u32> {
    let kernels = Kernels::load(device).unwrap();
    let mut values = device.upload(&[1_u32; LEN]).unwrap();
    // SAFETY: there is an element for each work-item.
    unsafe { kernels.add(stream, Launch::grid([LEN as u32], [1]), &mut values, summand) }.unwrap();
    values.download().unwrap()
}

fn counts() -> (u64, u64, u64) {
    let CacheStatistics { loads, unloads, hits, .. } = module_cache().statistics();
    (loads, unloads, hits)
}

#[test]
fn devices_of_both_platforms_are_listed() {
    on_both("devices_of_both_platforms_are_listed", |[first, second]| {
        let devices = Device::all();
        let selectors: Vec<_> = devices.iter().map(Device::selector).collect();
        assert_eq!(selectors, ["cpu", "opencl:0", "opencl:1"]);
        assert!(devices[1..] == [first.clone(), second.clone()] && first != second);
        for (device, driver, platform) in
            [(&first, "basic", "Platform 1"), (&second, "pthread", "Platform 2")]
        {
            let name = device.name();
            assert!(name.starts_with(driver) && name.ends_with(platform), "{name}");
            let line = format!("\n  {}: {device}\n", device.selector());
            assert!(Device::inventory().contains(&line), "{}", Device::inventory());
        }
        let error = Device::opencl(2).unwrap_err().to_string();
        assert_eq!(
            error,
            "OpenCL is not available: there is no device 2: OpenCL has 2, numbered from 0"
        );
    });
}

#[test]
fn the_second_platform_is_asked_for_by_number_and_by_name() {
    let name = "the_second_platform_is_asked_for_by_number_and_by_name";
    for (selector, ordinal) in [
        ("opencl", 0),
        ("opencl:1", 1),
        ("opencl:platform 2", 1),
        ("opencl:pthread", 1),
        ("opencl:Platform 1", 0),
    ] {
        let number = ordinal.to_string();
        let more = [("KERNELMILL_DEVICE", selector), ("ORDINAL", &number)];
        clean_child(name, &[TWO, more].concat(), || {
            let ordinal = std::env::var("ORDINAL").unwrap().parse().unwrap();
            let device = Device::best().unwrap();
            assert_eq!(
                (device.backend(), &device),
                (Backend::OpenCl, &Device::opencl(ordinal).unwrap())
            );
            assert_eq!(add(&device, &device.stream(), 5), [6; LEN]);
        });
    }
}

/// Also where a thread for each uses them at once, and when both are opened again.
#[test]
fn modules_are_loaded_once_for_each_platform() {
    on_both("modules_are_loaded_once_for_each_platform", |devices| {
        let modules = Kernels::load(&devices[0]).unwrap().chosen().len() as u64;
        Kernels::load(&devices[1]).unwrap();
        assert_eq!(counts(), (2 * modules, 0, 0));
        std::thread::scope(|scope| {
            for device in &devices {
                scope.spawn(move || {
                    assert_eq!(add(device, &device.stream(), 2), [3; LEN]);
                    assert_eq!(add(device, &device.new_stream().unwrap(), 3), [4; LEN]);
                });
            }
        });
        assert_eq!(counts(), (2 * modules, 0, 4 * modules));
        // Of one platform alone.
        let [first, second] = devices;
        drop(first);
        assert_eq!(counts(), (2 * modules, modules, 4 * modules));
        assert_eq!(add(&second, &second.stream(), 4), [5; LEN]);
        let first = Device::opencl(0).unwrap();
        assert_eq!(add(&first, &first.stream(), 6), [7; LEN]);
        assert_eq!(counts(), (3 * modules, modules, 5 * modules));
        drop((first, second));
        assert_eq!(counts(), (3 * modules, 3 * modules, 5 * modules));
    });
}

#[test]
fn what_belongs_to_the_other_platform_is_refused() {
    on_both("what_belongs_to_the_other_platform_is_refused", |[first, second]| {
        let mut values = second.upload(&[1_u32; LEN]).unwrap();
        let launch = Launch::grid([LEN as u32], [1]);
        let kernels = Kernels::load(&first).unwrap();
        let told = |error: Error| {
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
            error.to_string()
        };
        // SAFETY: there is an element for each work-item.
        let launched = unsafe { kernels.add(&first.stream(), launch, &mut values, 1) };
        let error = told(launched.unwrap_err());
        let other = "but is used on a stream of another device";
        assert_eq!(error, format!("a buffer of 64 elements belongs to {second}, {other}"));
        // SAFETY: as above.
        let launched = unsafe { kernels.add(&second.stream(), launch, &mut values, 1) };
        let error = told(launched.unwrap_err());
        assert_eq!(error, format!("the kernel `add` belongs to {first}, {other}"));
        let event = second.new_stream().unwrap().record().unwrap();
        let error = told(first.stream().wait(&event).unwrap_err());
        assert_eq!(
            error,
            format!("an event belongs to {second}, but is used on a stream of {first}")
        );
        let own = first.upload(&[7_u32; LEN]).unwrap();
        let filled = values.copy_from_buffer(&first.stream(), &own.slice(..));
        told(filled.unwrap_err());
        assert_eq!(values.download().unwrap(), [1; LEN]);
        // A copy on a stream of its own is through the host.
        values.copy_from_buffer(&second.stream(), &own.slice(..)).unwrap();
        assert_eq!(values.download().unwrap(), [7; LEN]);
    });
}
