//! Launches: limits, order, panics, graphs, and what goes while they run.

use super::{LAUNCH, LEN, On};
use crate::kernels::Kernels;
use kernelmill::{Device, Error, Launch, Result, module_cache};

pub(super) fn empty_grids(on: &On) -> Result<()> {
    let stream = on.device.new_stream()?;
    let mut y = on.device.upload(&[1_u32; LEN])?;
    on.kernels.added(&stream, Launch::grid([0], [64]), 1, &mut y)?;
    on.kernels.added(&stream, Launch::linear(0), 1, &mut y)?;
    // Not even a block that is too large.
    on.kernels.added(&stream, Launch::grid([0], [u32::MAX]), 1, &mut y)?;
    assert_eq!(y.download()?, [1; LEN]);
    Ok(())
}

pub(super) fn limits(on: &On) -> Result<()> {
    let stream = on.device.new_stream()?;
    let limits = *on.device.limits();
    let mut y = on.device.upload(&[1_u32; LEN])?;
    let mut refused = |launch| {
        let error = on.kernels.added(&stream, launch, 1, &mut y);
        error.expect_err("the launch is beyond a limit")
    };
    let empty = refused(Launch::grid([1], [0]));
    assert!(
        matches!(&empty, Error::EmptyBlock { kernel, block: [0, 1, 1] } if kernel == "added"),
        "{empty}"
    );
    let shared = Launch::grid([1], [64]).shared_bytes(limits.shared_bytes as usize + 1);
    let mut beyond = vec![
        (Launch::grid([1], [limits.block[0] + 1]), "threads per block in x", limits.block[0]),
        (shared, "bytes of shared memory", limits.shared_bytes),
    ];
    if let Some(blocks) = limits.grid[0].checked_add(1) {
        beyond.push((Launch::grid([blocks], [1]), "blocks in x", limits.grid[0]));
    }
    for (launch, what, most) in beyond {
        let error = refused(launch);
        let Error::Limit { kernel, quantity, requested, limit, device } = &error else {
            panic!("{error}")
        };
        assert_eq!((&**kernel, *quantity, &**device), ("added", what, on.device.name()));
        assert_eq!((*requested, *limit), (u64::from(most) + 1, u64::from(most)), "{error}");
    }
    let both =
        Launch::grid([1], [limits.block[0] + 1]).shared_bytes(limits.shared_bytes as usize + 1);
    let error = refused(both);
    let Error::Several(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.len(), 2, "{error}");
    // None of them has run, and the next launch does.
    on.kernels.added(&stream, LAUNCH, 1, &mut y)?;
    assert_eq!(y.download()?, [2; LEN]);
    Ok(())
}

pub(super) fn one_stream(on: &On) -> Result<()> {
    let stream = on.device.new_stream()?;
    let (x, mut y) = (on.device.upload(&[5_u32; LEN])?, on.device.zeros::<u32>(LEN)?);
    on.kernels.added(&stream, LAUNCH, 7, &mut y)?;
    on.kernels.looked_up(&stream, LAUNCH, &x, &mut y)?;
    on.kernels.added(&stream, LAUNCH, 2, &mut y)?;
    on.kernels.stepped(&stream, LAUNCH, 3, &mut y)?;
    stream.synchronize()?;
    assert_eq!(y.download()?, [super::steps(7, 3); LEN]);
    Ok(())
}

pub(super) fn two_streams(on: &On) -> Result<()> {
    let (first, second) = (on.device.new_stream()?, on.device.new_stream()?);
    let long = on.long(&first)?;
    let event = first.record()?;
    assert_eq!(event.device(), &on.device);
    second.wait(&event)?;
    let mut y = on.device.zeros::<u32>(LEN)?;
    on.kernels.added(&second, LAUNCH, 3, &mut y)?;
    second.synchronize()?;
    assert!(event.is_complete()?, "the second stream has not waited");
    long.check()?;
    assert_eq!(y.download()?, [3; LEN]);
    // What two streams do with one buffer is in the order of the calls, without an event.
    for round in 0..10 {
        let stream = [&first, &second][round % 2];
        on.kernels.added(stream, LAUNCH, 1, &mut y)?;
        on.kernels.stepped(stream, LAUNCH, 1, &mut y)?;
    }
    let expected = (0..10).fold(3_u32, |value, _| super::steps(value.wrapping_add(1), 1));
    assert_eq!(y.download()?, [expected; LEN]);
    Ok(())
}

/// Memory, streams, kernels and modules go while a launch uses them.
pub(super) fn drops(on: &On) -> Result<()> {
    for _ in 0..2 {
        let kernels = Kernels::load(&on.device)?;
        let stream = on.device.new_stream()?;
        let (x, mut y) = (on.device.upload(&[4_u32; LEN])?, on.device.zeros::<u32>(LEN)?);
        let long = on.long(&stream)?;
        kernels.looked_up(&stream, LAUNCH, &x, &mut y)?;
        let event = stream.record()?;
        drop((long, stream, kernels, x));
        module_cache().release_unused();
        event.synchronize()?;
        assert_eq!(y.download()?, [4; LEN]);
    }
    // The end of a check with work on its way.
    on.long(&on.device.new_stream()?)?;
    Ok(())
}

pub(super) fn panics(on: &On) -> Result<()> {
    const ENOUGH: usize = 100;
    let (stream, other) = (on.device.new_stream()?, on.device.new_stream()?);
    let x = on.device.upload(&[1_u32; LEN])?;
    for _ in 0..2 {
        let mut y = on.device.zeros::<u32>(LEN)?;
        let launched = on.kernels.looked_up(&stream, LAUNCH, &x.slice(..ENOUGH), &mut y);
        let told = launched.and_then(|()| {
            other.synchronize()?;
            stream.synchronize()
        });
        let error = told.expect_err("the launch has panicked");
        let Error::KernelPanic(panic) = &error else { panic!("{error}") };
        let [([block, 0, 0], [thread, 0, 0])] = [(panic.block, panic.thread)] else {
            panic!("{error}")
        };
        let index = block * 64 + thread;
        assert!((ENOUGH as u32..LEN as u32).contains(&index), "{error}");
        let message = format!("index out of bounds: the len is {ENOUGH} but the index is {index}");
        assert_eq!(panic.message, message);
        let location = panic.location.expect("the place is known");
        assert_eq!(location.file, panic.source);
        assert!(location.file.ends_with("kernels/suite.rs"), "{error}");
        assert!(error.to_string().starts_with("kernel panicked at "), "{error}");
        // It is told once, and the stream goes on.
        stream.synchronize()?;
        y.copy_from(&[2; LEN])?;
        on.kernels.looked_up(&stream, LAUNCH, &x, &mut y)?;
        stream.synchronize()?;
        assert_eq!(y.download()?, [1; LEN]);
    }
    Ok(())
}

pub(super) fn graphs(on: &On) -> Result<()> {
    let kernels = Kernels::load(&on.device)?;
    let builder = on.device.graph();
    let x = builder.add(on.device.upload(&[3_u32; LEN])?)?;
    let mut y = builder.add(on.device.zeros::<u32>(LEN)?)?;
    let refused = kernels.added(&builder, Launch::grid([1], [0]), 1, &mut y).expect_err("no block");
    assert!(matches!(refused, Error::EmptyBlock { .. }), "{refused}");
    kernels.looked_up(&builder, LAUNCH, &x, &mut y)?;
    kernels.stepped(&builder, LAUNCH, 2, &mut y)?;
    let mut graph = builder.instantiate()?;
    assert_eq!(graph.device(), &on.device);
    drop(kernels);
    module_cache().release_unused();
    let expected = super::steps(3, 2);
    for stream in [on.device.stream(), on.device.new_stream()?] {
        graph.launch(&stream)?;
        graph.launch(&stream)?;
        assert_eq!(graph.slice(&y)?.download()?, [expected; LEN]);
        graph.slice_mut(&y)?.copy_from(&[0; LEN])?;
    }
    // Buffers of another graph.
    let stranger = on.device.graph();
    let z = stranger.add(on.device.zeros::<u32>(1)?)?;
    let error = graph.slice(&z).expect_err("it is of another graph");
    assert!(matches!(error, Error::NotInGraph { .. }), "{error}");
    let own = Device::cpu_sequential()?.new_stream()?;
    let error = graph.launch(&own).expect_err("it is of another device");
    assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
    // The graph goes while it runs, and its buffers stay.
    let stream = on.device.new_stream()?;
    graph.launch(&stream)?;
    let buffer = graph.into_buffers().take(y)?;
    assert_eq!(buffer.download()?, [expected; LEN]);
    Ok(())
}
