//! Parts of the suite that run in processes of their own: the program runs itself with variables, and reads what it says.

use super::{LAUNCH, LEN, On, modules};
use crate::kernels::Kernels;
use kernelmill::{Capability, Device, Error, Launch, Result, Support};
use std::{
    env,
    process::{Command, Output},
    time::Duration,
};

/// Opens a device by its number.
pub(super) type OpenNumbered<'a> = &'a dyn Fn(usize) -> Result<Device>;

type Part = fn(OpenNumbered<'_>) -> Result<()>;

pub(super) const MODULES: &str = "process: modules";
pub(super) const SPOKEN: &str = "process: spoken";
pub(super) const ENDLESS: &str = "process: endless";
pub(super) const PATIENT: &str = "process: patient";
pub(super) const TRACED: &str = "process: traced";
pub(super) const TWO_DEVICES: &str = "process: two devices";
pub(super) const NO_SECOND: &str = "process: no second";

const PARTS: [(&str, Part); 7] = [
    (MODULES, |open| modules::in_process(&open(0)?)),
    (SPOKEN, |open| spoken(&open(0)?)),
    (ENDLESS, |open| endless(&open(0)?)),
    (PATIENT, |open| patient(&open(0)?)),
    (TRACED, |open| traced(&open(0)?)),
    (TWO_DEVICES, two_devices),
    (NO_SECOND, no_second),
];

/// The part with a name.
pub(super) fn find(name: &str) -> Option<Part> {
    PARTS.into_iter().find(|(known, _)| *known == name).map(|(_, part)| part)
}

/// Runs a part with these variables: what it prints.
///
/// # Panics
///
/// Where it fails.
#[track_caller]
pub(super) fn run(on: &On, part: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env::current_exe().expect("the program's own path"));
    let command = command.args([&*on.name, part]).envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let [stdout, stderr] = [stdout, stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    assert!(status.success(), "{part}: {status}\n{stdout}\n{stderr}");
    stdout
}

fn spoken(device: &Device) -> Result<()> {
    let kernels = Kernels::load(device)?;
    let x = device.upload(&[11_u32, 12, 13])?;
    let stream = device.new_stream()?;
    kernels.spoken(&stream, Launch::grid([3], [1]), &x)?;
    stream.synchronize()?;
    println!("waited");
    Ok(())
}

/// A launch of some seconds, which the watchdog gives up.
fn endless(device: &Device) -> Result<()> {
    let kernels = Kernels::load(device)?;
    let stream = device.new_stream()?;
    let mut y = device.zeros::<u32>(1)?;
    let launched = kernels.stepped(&stream, Launch::grid([1], [1]), u32::MAX, &mut y);
    let error = launched.and_then(|()| stream.synchronize()).expect_err("the watchdog gives it up");
    let Error::LaunchTimeout(timeout) = &error else { panic!("{error}") };
    assert_eq!((&*timeout.kernel, timeout.limit), ("stepped", Duration::from_millis(50)));
    assert_eq!(timeout.blocks, [[0; 3]]);
    // The buffer is lost. Where launches are queued, so is the device, as a GPU is.
    y.download().expect_err("the launch goes on with it");
    let added = device.zeros::<u32>(LEN).and_then(|mut z| {
        kernels.added(&device.stream(), LAUNCH, 1, &mut z)?;
        z.download()
    });
    if device.support(Capability::QueuedLaunches) == Support::None {
        assert_eq!(added?, [1; LEN]);
    } else {
        let error = added.expect_err("the device is lost");
        assert!(matches!(error, Error::LaunchTimeout(_)), "{error}");
    }
    Ok(())
}

/// A launch that takes longer than the watchdog's limit, where there is none.
fn patient(device: &Device) -> Result<()> {
    let on = On { kernels: Kernels::load(device)?, device: device.clone(), name: String::new() };
    let stream = device.new_stream()?;
    let long = on.long(&stream)?;
    stream.synchronize()?;
    // The processor would compute what is expected under the same limit.
    assert!(long.value.download()?.iter().all(|it| *it != 1));
    Ok(())
}

fn traced(device: &Device) -> Result<()> {
    let kernels = Kernels::load(device)?;
    let mut y = device.zeros::<u32>(LEN)?;
    kernels.added(&device.stream(), LAUNCH, 1, &mut y)?;
    assert_eq!(y.download()?, [1; LEN]);
    Ok(())
}

/// Two devices work at once, have contexts of their own, and copy from each other.
fn two_devices(open: OpenNumbered<'_>) -> Result<()> {
    let devices = [open(0)?, open(1)?];
    assert_ne!(devices[0], devices[1]);
    assert_ne!(devices[0].selector(), devices[1].selector());
    let mut buffers = Vec::new();
    for (device, summand) in devices.iter().zip([1, 2]) {
        let kernels = Kernels::load(device)?;
        let mut y = device.zeros::<u32>(LEN)?;
        kernels.added(&device.new_stream()?, LAUNCH, summand, &mut y)?;
        buffers.push(y);
    }
    let (mut second, first) = (buffers.remove(1), buffers.remove(0));
    let kernels = Kernels::load(&devices[1])?;
    let error = kernels.looked_up(&devices[1].stream(), LAUNCH, &first, &mut second);
    let error = error.expect_err("a buffer of the first");
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
    assert_eq!(second.download()?, [2; LEN]);
    second.slice_mut(..LEN / 2).copy_from_buffer(&devices[1].stream(), &first.slice(LEN / 2..))?;
    let mut expected = [2; LEN];
    expected[..LEN / 2].fill(1);
    assert_eq!(second.download()?, expected);
    Ok(())
}

/// Whoever opens the device again gets the same one, and there is none with the number that the environment names.
fn no_second(open: OpenNumbered<'_>) -> Result<()> {
    assert_eq!(open(0)?, open(0)?);
    let error = Device::best().expect_err("there is no such device");
    let Error::RequestedDevice { reason, .. } = &error else { panic!("{error}") };
    assert!(matches!(**reason, Error::NoDevice { .. }), "{error}");
    Ok(())
}
