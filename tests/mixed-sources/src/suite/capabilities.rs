//! One behaviour for each capability: where a back end has it, it works; where it has not, the error that is documented comes,
//! or nothing does.

use super::{LAUNCH, LEN, On, awaits, processes, rows};
use crate::kernels::Filter;
use kernelmill::{Capability, Device, Error, Launch, Result, Support, TensorMap};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use test_support::{Trace, temporary_folder};

type Behaviour = fn(&On, Support) -> Result<()>;

/// In the order of [`Capability::ALL`]: one without a behaviour does not compile.
const BEHAVIOURS: [(Capability, Behaviour); Capability::ALL.len()] = [
    (Capability::QueuedLaunches, queued_launches),
    (Capability::Streams, streams),
    (Capability::Events, events),
    (Capability::Timing, timing),
    (Capability::Await, waits),
    (Capability::Graphs, graphs),
    (Capability::PinnedMemory, pinned_memory),
    (Capability::StreamOrderedAllocation, allocation),
    (Capability::CopiesBetweenBuffers, copies_between_buffers),
    (Capability::CopiesOfRows, copies_of_rows),
    (Capability::PeerCopies, peer_copies),
    (Capability::SeveralDevices, several_devices),
    (Capability::CooperativeLaunches, cooperative_launches),
    (Capability::Clusters, clusters),
    (Capability::DynamicSharedMemory, dynamic_shared_memory),
    (Capability::LargeSharedMemory, large_shared_memory),
    (Capability::DeviceVariables, device_variables),
    (Capability::TensorMaps, tensor_maps),
    (Capability::Occupancy, occupancy),
    (Capability::Panics, panics),
    (Capability::Printing, printing),
    (Capability::Watchdog, watchdog),
    (Capability::Tracing, tracing),
    (Capability::Interoperation, interoperation),
];

const _: () = {
    let mut index = 0;
    while index < BEHAVIOURS.len() {
        assert!(BEHAVIOURS[index].0 as usize == Capability::ALL[index] as usize);
        index += 1;
    }
};

pub(super) fn all(on: &On) -> Result<()> {
    for (capability, behaviour) in BEHAVIOURS {
        let support = on.device.support(capability);
        // For people, where one of them fails.
        eprintln!("{capability}: {support}");
        behaviour(on, support)?;
    }
    Ok(())
}

/// The error of a launch of a kernel that does not suit the device.
#[track_caller]
fn is_refused(result: Result<()>) {
    let error = result.expect_err("the back end does not claim it");
    let is_documented = matches!(error, Error::NoBinary(_) | Error::Unsupported { .. });
    assert!(is_documented, "{error}");
}

/// How often something is tried that the host is to see while a launch runs: on a busy machine it may look too late.
const TURNS: usize = 20;

/// A launch is not complete when it returns. lavapipe, which waits in an event's submission for that of the launch, needs the
/// time that the launch takes to show it.
fn queued_launches(on: &On, support: Support) -> Result<()> {
    let stream = on.device.new_stream()?;
    for turn in 1..=TURNS {
        let start = Instant::now();
        let long = on.long(&stream)?;
        let launched = start.elapsed();
        let is_complete = stream.record()?.is_complete()?;
        stream.synchronize()?;
        let is_queued = !is_complete || 2 * launched < start.elapsed();
        long.check()?;
        if is_queued == (support == Support::Full) {
            break;
        }
        assert!(turn < TURNS, "queued: {is_queued}, {launched:?} of {:?}", start.elapsed());
    }
    Ok(())
}

/// Whether launches are queued, on streams that are no others under other names.
fn has_queues(on: &On) -> bool {
    let has = |capability| on.device.support(capability) == Support::Full;
    has(Capability::QueuedLaunches) && has(Capability::Streams)
}

/// Streams that are not emulated do not wait for each other.
fn streams(on: &On, support: Support) -> Result<()> {
    assert_ne!(support, Support::None);
    let (first, second) = (on.device.new_stream()?, on.device.new_stream()?);
    for turn in 1..=TURNS {
        let mut y = on.device.zeros::<u32>(LEN)?;
        let long = on.long(&first)?;
        let event = first.record()?;
        on.kernels.added(&second, LAUNCH, 3, &mut y)?;
        second.synchronize()?;
        let has_waited = event.is_complete()?;
        assert_eq!(y.download()?, [3; LEN]);
        event.synchronize()?;
        assert!(event.is_complete()?);
        long.check()?;
        if !(has_waited && has_queues(on)) {
            break;
        }
        assert!(turn < TURNS, "the second stream has waited for the first");
    }
    Ok(())
}

fn events(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    let stream = on.device.new_stream()?;
    stream.record()?.synchronize()?;
    let long = on.long(&stream)?;
    let event = stream.record()?;
    drop(stream);
    event.synchronize()?;
    assert!(event.is_complete()?);
    long.check()
}

fn timing(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    let stream = on.device.new_stream()?;
    let start = stream.record()?;
    let long = on.long(&stream)?;
    let end = stream.record()?;
    match end.elapsed_since(&start) {
        Err(error) => assert!(matches!(error, Error::EventPending { .. }), "{error}"),
        // It has come to its end meanwhile.
        Ok(_) => assert!(end.is_complete()?),
    }
    end.synchronize()?;
    assert!(end.elapsed_since(&start)? > Duration::ZERO);
    assert_eq!(start.elapsed_since(&end)?, Duration::ZERO);
    long.check()?;
    let (long, time) = stream.time(|| on.long(&stream))?;
    assert!(time > Duration::ZERO);
    long.check()
}

fn waits(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    awaits::awaits::<u32>(&on.device, |stream, y| {
        on.kernels.added(stream, Launch::linear(y.len()), 1, y).expect("the device launches");
    });
    Ok(())
}

fn graphs(on: &On, support: Support) -> Result<()> {
    assert_ne!(support, Support::None);
    let builder = on.device.graph();
    let mut values = builder.add(on.device.upload(&[1_u32; LEN])?)?;
    for summand in [2, 3] {
        on.kernels.added(&builder, LAUNCH, summand, &mut values)?;
    }
    let mut graph = builder.instantiate()?;
    for stream in [on.device.stream(), on.device.new_stream()?] {
        graph.launch(&stream)?;
    }
    assert_eq!(graph.slice(&values)?.download()?, [11; LEN]);
    Ok(())
}

fn pinned_memory(on: &On, support: Support) -> Result<()> {
    assert_ne!(support, Support::None);
    let stream = on.device.new_stream()?;
    let source = on.device.pinned_from(&[5_u32; LEN])?;
    let mut target = on.device.pinned_zeros::<u32>(LEN)?;
    let mut x = on.device.zeros::<u32>(LEN)?;
    x.copy_from_async(&stream, &source)?;
    x.slice(..).copy_to_async(&stream, &mut target)?;
    assert_eq!(target.as_slice()?, [5; LEN]);
    assert_eq!(target.device(), &on.device);
    Ok(())
}

/// Memory comes and goes behind a launch that is not done.
fn allocation(on: &On, support: Support) -> Result<()> {
    let stream = on.device.new_stream()?;
    let long = on.long(&stream)?;
    let mut y = on.device.zeros::<u32>(LEN)?;
    on.kernels.added(&stream, LAUNCH, 1, &mut y)?;
    let event = stream.record()?;
    drop(y);
    if support == Support::Full {
        assert!(!event.is_complete()?, "it was waited for the device");
    }
    let mut z = on.device.zeros::<u32>(LEN)?;
    on.kernels.added(&stream, LAUNCH, 1, &mut z)?;
    assert_eq!(z.download()?, [1; LEN]);
    long.check()
}

fn copies_between_buffers(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    let stream = on.device.new_stream()?;
    for turn in 1..=TURNS {
        let long = on.long(&stream)?;
        let mut copy = on.device.zeros::<u32>(long.value.len())?;
        copy.copy_from_buffer(&stream, &long.value.slice(..))?;
        let is_complete = stream.record()?.is_complete()?;
        assert_eq!(copy.download()?, long.value.download()?);
        long.check()?;
        if !(is_complete && has_queues(on)) {
            break;
        }
        assert!(turn < TURNS, "the copy was waited for");
    }
    Ok(())
}

fn copies_of_rows(on: &On, support: Support) -> Result<()> {
    assert_ne!(support, Support::None);
    rows::copy_rows(&on.device);
    Ok(())
}

/// With a device of another back end it goes through the host; with one of the same, see [`several_devices`].
fn peer_copies(on: &On, support: Support) -> Result<()> {
    assert_ne!(support, Support::None);
    let other = Device::cpu_sequential()?;
    let (source, mut back) = (other.upload(&[1_u32, 2, 3])?, other.zeros::<u32>(2)?);
    let mut target = on.device.zeros::<u32>(2)?;
    target.copy_from_buffer(&on.device.stream(), &source.slice(1..))?;
    on.kernels.added(&on.device.new_stream()?, Launch::linear(2), 10, &mut target)?;
    back.copy_from_buffer(&other.stream(), &target.slice(..))?;
    assert_eq!(back.download()?, [12, 13]);
    Ok(())
}

fn several_devices(on: &On, support: Support) -> Result<()> {
    if support == Support::None {
        processes::run(on, processes::NO_SECOND, &[("KERNELMILL_DEVICE", "cpu:2")]);
        return Ok(());
    }
    if on.name == "opencl:intel" {
        // Intel's run time has one device, and that of another library reads no SPIR-V.
        return Ok(());
    }
    // Each driver for tests obeys its own, and pocl has two kinds of devices. Vulkan has as many as there are drivers.
    let folder = temporary_folder();
    let again = folder.path().join("again.json");
    let mut drivers = test_support::tool::LAVAPIPE.to_owned();
    if let Ok(registration) = std::fs::read(&drivers) {
        std::fs::write(&again, registration).expect("the folder is there");
        drivers = format!("{drivers}:{}", again.display());
    }
    let two = [
        ("FAKE_CUDA_DEVICES", "2"),
        ("FAKE_HIP_DEVICES", "2"),
        ("OPENCL_LAYER_PLATFORMS", "1"),
        ("POCL_DEVICES", "basic pthread"),
        ("VK_DRIVER_FILES", &drivers),
    ];
    processes::run(on, processes::TWO_DEVICES, &two);
    Ok(())
}

fn cooperative_launches(on: &On, support: Support) -> Result<()> {
    let stream = on.device.new_stream()?;
    let mut cells = on.device.zeros::<u32>(2)?;
    let launched = on.kernels.met(&stream, Launch::grid([4], [32]), &mut cells);
    if support == Support::None {
        is_refused(launched);
        return Ok(());
    }
    launched?;
    assert_eq!(cells.download()?, [128, 0]);
    let compiled = on.kernels.compiled().met()?;
    let most = compiled.max_cooperative_blocks([32, 1, 1], 0)?.expect("a cooperative kernel");
    if let Ok(blocks) = u32::try_from(most + 1)
        && blocks <= on.device.limits().grid[0]
    {
        let launched = on.kernels.met(&stream, Launch::grid([blocks], [32]), &mut cells);
        let error = launched.expect_err("more blocks than there are at once");
        assert!(matches!(error, Error::Limit { limit, .. } if limit == most), "{error}");
    }
    Ok(())
}

fn clusters(on: &On, support: Support) -> Result<()> {
    let stream = on.device.new_stream()?;
    let mut y = on.device.zeros::<u32>(8)?;
    let launched = on.kernels.paired_blocks(&stream, Launch::grid([4], [2]), &mut y);
    if support == Support::None {
        is_refused(launched);
        return Ok(());
    }
    launched?;
    assert_eq!(y.download()?, [0, 0, 1, 1, 2, 2, 3, 3]);
    let launched = on.kernels.paired_blocks(&stream, Launch::grid([3], [2]), &mut y);
    let error = launched.expect_err("a cluster and a half");
    assert!(matches!(error, Error::Cluster { grid: [3, 1, 1], cluster: [2, 1, 1], .. }), "{error}");
    Ok(())
}

/// The elements of two blocks in the opposite order, with so many bytes of shared memory, of which the last are used.
fn turn(on: &On, bytes: usize) -> Result<()> {
    let numbers: Vec<u32> = (0..128).collect();
    let (x, mut y) = (on.device.upload(&numbers)?, on.device.zeros::<u32>(128)?);
    let launch = Launch::grid([2], [64]).shared_bytes(bytes);
    on.kernels.turned(&on.device.new_stream()?, launch, (bytes / 4 - 64) as u32, &x, &mut y)?;
    let expected: Vec<u32> = (0..64).rev().chain((64..128).rev()).collect();
    assert_eq!(y.download()?, expected);
    Ok(())
}

fn dynamic_shared_memory(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    turn(on, 256)?;
    // Another launch of the same kernel with another size.
    turn(on, 1024)
}

fn large_shared_memory(on: &On, support: Support) -> Result<()> {
    const BYTES: usize = 60 << 10;
    let turned = turn(on, BYTES);
    if support != Support::None {
        return turned;
    }
    let error = turned.expect_err("the device has less");
    let Error::Limit { quantity, requested, limit, .. } = &error else { panic!("{error}") };
    assert_eq!((*quantity, *requested), ("bytes of shared memory", BYTES as u64));
    assert!(*limit <= 48 << 10, "{error}");
    Ok(())
}

fn device_variables(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    let stream = on.device.new_stream()?;
    let variables = on.kernels.variables();
    let settings = variables.settings()?;
    let filter = Filter { weights: [1.0; 3], offset: 2 };
    settings.write(&filter)?;
    variables.coefficients()?.write(&[3.0; 4])?;
    variables.steps()?.write(&[0; 2])?;
    let calls = variables.calls()?.read()?;
    let (x, mut y) = (on.device.upload(&[1.0_f32; LEN])?, on.device.zeros::<f32>(LEN)?);
    // SAFETY: there are as many elements as the last argument says.
    unsafe { on.kernels.weighted(&stream, LAUNCH, &x, &mut y, LEN as u32) }?;
    // Behind the launch, which does not see it.
    settings.write(&Filter { weights: [9.0; 3], offset: 9 })?;
    let expected: Vec<f32> = (0..LEN).map(|i| 6.0 + [0.5, 0.25][i % 2]).collect();
    assert_eq!(y.download()?, expected);
    assert_eq!(variables.calls()?.read()?, calls + 1);
    Ok(())
}

fn tensor_maps(on: &On, support: Support) -> Result<()> {
    const SIZES: [usize; 2] = [16, 8];
    let stream = on.device.new_stream()?;
    let numbers: Vec<u32> = (0..SIZES[0] as u32 * SIZES[1] as u32).collect();
    let (x, mut y) = (on.device.upload(&numbers)?, on.device.zeros::<u32>(32)?);
    let map = TensorMap::tiled(&x, SIZES, [1, SIZES[0]], [8, 4])?;
    let launched = on.kernels.tiled(&stream, Launch::grid([1], [32]), &map, &mut y);
    if support == Support::None {
        is_refused(launched);
        return Ok(());
    }
    launched?;
    let expected: Vec<u32> = (0..32).map(|i| 16 * (2 + i / 8) + 4 + i % 8).collect();
    assert_eq!(y.download()?, expected);
    let faulty = TensorMap::tiled(&x, SIZES, [1, 7], [8, 4]);
    assert!(matches!(faulty, Err(Error::TensorMap { .. })), "rows overlap");
    Ok(())
}

fn occupancy(on: &On, support: Support) -> Result<()> {
    let found = on.kernels.compiled().added()?.occupancy(64, 0)?;
    assert_eq!(found.is_some(), support == Support::Full, "{found:?}");
    if let Some(found) = found {
        assert!(found.blocks > 0 && found.warps <= found.max_warps, "{found:?}");
    }
    Ok(())
}

fn panics(on: &On, support: Support) -> Result<()> {
    let stream = on.device.new_stream()?;
    let (x, mut y) = (on.device.upload(&[1_u32; 32])?, on.device.zeros::<u32>(33)?);
    let launched = on.kernels.looked_up(&stream, Launch::grid([3], [16]), &x, &mut y);
    if support == Support::None {
        is_refused(launched);
        return Ok(());
    }
    let error = launched.and_then(|()| stream.synchronize()).expect_err("the last element");
    let Error::KernelPanic(panic) = &error else { panic!("{error}") };
    assert_eq!((panic.block, panic.thread), ([2, 0, 0], [0; 3]));
    assert!(panic.message.contains("the len is 32 but the index is 32"), "{error}");
    assert!(panic.location.is_some_and(|it| it.file.ends_with("kernels/suite.rs")), "{error}");
    Ok(())
}

fn printing(on: &On, support: Support) -> Result<()> {
    if support == Support::None {
        let x = on.device.upload(&[1_u32])?;
        is_refused(on.kernels.spoken(&on.device.stream(), Launch::grid([1], [1]), &x));
        return Ok(());
    }
    let printed = processes::run(on, processes::SPOKEN, &[]);
    // C's output has a buffer, which the processor's lines may be in until the end.
    let mut lines: Vec<_> = printed.lines().filter(|line| *line != "waited").collect();
    lines.sort_unstable();
    assert_eq!(lines, ["element 0 is 11", "element 1 is 12", "element 2 is 13"]);
    Ok(())
}

fn watchdog(on: &On, support: Support) -> Result<()> {
    let (part, limit) = match support {
        Support::None => (processes::PATIENT, "1ms"),
        _ => (processes::ENDLESS, "50ms"),
    };
    processes::run(on, part, &[("KERNELMILL_WATCHDOG", limit)]);
    Ok(())
}

fn tracing(on: &On, support: Support) -> Result<()> {
    assert_eq!(support, Support::Full);
    let folder = temporary_folder();
    let path = folder.path().join("trace.json");
    let variables = [("KERNELMILL_TRACE", path.to_str().expect("UTF-8"))];
    processes::run(on, processes::TRACED, &variables);
    let trace = Trace::read(&path);
    assert_eq!(trace.names("launch"), ["added"]);
    let loaded = trace.names("load");
    assert!(loaded.iter().any(|it| it.ends_with("kernels/suite.rs")), "{loaded:?}");
    assert!(!trace.names("copy").is_empty());
    Ok(())
}

/// A stream and memory of the program's own, as cudarc and callers of HIP have them.
fn interoperation(on: &On, support: Support) -> Result<()> {
    let stream = on.device.new_stream()?;
    let mut y = on.device.zeros::<u32>(LEN)?;
    // SAFETY: no other thread uses it.
    let (cuda, hip) = (unsafe { stream.cuda_stream() }, stream.hip_stream());
    assert_eq!(cuda.is_some() || hip.is_some(), support == Support::Full);
    let adopted = match (cuda, hip) {
        // SAFETY: no other thread uses it.
        (Some(own), _) => unsafe { on.device.adopt_stream(Arc::clone(own)) }?,
        // SAFETY: the stream is there for longer.
        (None, Some(own)) => unsafe { on.device.adopt_hip_stream(own) }?,
        (None, None) => return Ok(()),
    };
    on.kernels.added(&adopted, LAUNCH, 1, &mut y)?;
    on.kernels.added(&stream, LAUNCH, 2, &mut y)?;
    assert_eq!(y.download()?, [3; LEN]);
    Ok(())
}
