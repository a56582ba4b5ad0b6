//! Memory: copies, parts of buffers, variables, and what is refused.

use super::{LAUNCH, LEN, On};
use kernelmill::{Device, Error, Launch, Result};

/// The error of what must fail.
#[track_caller]
fn refused<T>(result: Result<T>) -> Error {
    match result {
        Ok(_) => panic!("it is not refused"),
        Err(error) => error,
    }
}

pub(super) fn wrong_device(on: &On) -> Result<()> {
    let other = Device::cpu_sequential()?;
    assert_ne!(on.device, other);
    let (stream, foreign) = (on.device.new_stream()?, other.new_stream()?);
    let (x, mut y) = (other.upload(&[1_u32; LEN])?, on.device.zeros::<u32>(LEN)?);
    let event = foreign.record()?;
    let errors = [
        refused(on.kernels.looked_up(&stream, LAUNCH, &x, &mut y)),
        refused(on.kernels.added(&foreign, LAUNCH, 1, &mut y)),
        refused(stream.wait(&event)),
        refused(event.elapsed_since(&stream.record()?)),
        refused(y.copy_from_buffer(&foreign, &x.slice(..))),
        refused(y.fill(&foreign, 1)),
        refused(on.device.graph().add(x)),
    ];
    for error in &errors {
        let Error::WrongDevice { found, expected, .. } = error else { panic!("{error}") };
        // Streams are told as such.
        assert!([&on.device, &other].iter().any(|it| *found == it.to_string()), "{error}");
        assert_ne!(found, expected, "{error}");
    }
    on.kernels.added(&stream, LAUNCH, 1, &mut y)?;
    assert_eq!(y.download()?, [1; LEN]);
    Ok(())
}

pub(super) fn lengths(on: &On) -> Result<()> {
    let stream = on.device.new_stream()?;
    let mut x = on.device.upload(&[1_u32, 2, 3, 4])?;
    let mut pinned = on.device.pinned_from(&[9_u32; 3])?;
    let with_host = [
        refused(x.copy_from(&[0; 5])),
        refused(x.copy_to(&mut [0; 3])),
        refused(x.slice(1..).copy_to(&mut [0; 4])),
        refused(x.slice_mut(1..).copy_from(&[0; 2])),
        refused(x.copy_from_async(&stream, &pinned)),
        refused(x.copy_to_async(&stream, &mut pinned)),
    ];
    for error in with_host {
        assert!(matches!(error, Error::LengthMismatch { .. }), "{error}");
    }
    let y = on.device.upload(&[5_u32; 3])?;
    let error = refused(x.copy_from_buffer(&stream, &y.slice(..)));
    assert!(matches!(error, Error::BufferMismatch { buffer: 4, copied: 3, .. }), "{error}");
    // Nothing was copied.
    assert_eq!((x.download()?, pinned.as_slice()?), (vec![1, 2, 3, 4], &[9; 3][..]));
    let empty = on.device.zeros::<u32>(0)?;
    assert!(empty.is_empty() && empty.download()?.is_empty());
    Ok(())
}

pub(super) fn copies(on: &On) -> Result<()> {
    let streams = [on.device.new_stream()?, on.device.new_stream()?];
    let mut x = on.device.zeros::<u32>(LEN)?;
    let mut source = on.device.pinned_from(&[3_u32; LEN])?;
    let mut target = on.device.pinned_zeros::<u32>(LEN)?;
    x.copy_from_async(&streams[0], &source)?;
    on.kernels.added(&streams[1], LAUNCH, 4, &mut x)?;
    x.copy_to_async(&streams[0], &mut target)?;
    // Waits for the copy that reads it.
    source.as_mut_slice()?.fill(9);
    assert_eq!(target.as_slice()?, [7; LEN]);
    let mut copy = on.device.zeros::<u32>(LEN + 8)?;
    copy.slice_mut(8..).copy_from_buffer(&streams[1], &x.slice(..))?;
    x.copy_from(&[1; LEN])?;
    let mut expected = [7; LEN + 8];
    expected[..8].fill(0);
    assert_eq!(copy.download()?, expected);
    assert_eq!(x.download()?, [1; LEN]);
    // Pinned memory and buffers go while copies run.
    for _ in 0..3 {
        let source = on.device.pinned_from(&[6_u32; LEN])?;
        let mut between = on.device.zeros::<u32>(LEN)?;
        between.copy_from_async(&streams[0], &source)?;
        x.copy_from_buffer(&streams[1], &between.slice(..))?;
        drop((source, between));
        assert_eq!(x.download()?, [6; LEN]);
    }
    Ok(())
}

pub(super) fn fills(on: &On) -> Result<()> {
    let streams = [on.device.new_stream()?, on.device.new_stream()?];
    let mut x = on.device.zeros::<u32>(LEN)?;
    on.kernels.added(&streams[0], LAUNCH, 4, &mut x)?;
    x.fill(&streams[1], 3)?;
    on.kernels.added(&streams[0], LAUNCH, 1, &mut x)?;
    x.slice_mut(1..).fill_zeros(&streams[1])?;
    on.kernels.added(&streams[0], LAUNCH, 2, &mut x)?;
    let mut expected = [2; LEN];
    expected[0] = 6;
    assert_eq!(x.download()?, expected);
    Ok(())
}

pub(super) fn parts(on: &On) -> Result<()> {
    let stream = on.device.new_stream()?;
    let numbers: Vec<u32> = (0..LEN as u32).collect();
    let x = on.device.upload(&numbers)?;
    let mut y = on.device.zeros::<u32>(LEN)?;
    // Places where no sub-buffer of a driver could begin.
    on.kernels.looked_up(&stream, Launch::linear(50), &x.slice(3..53), &mut y.slice_mut(5..55))?;
    on.kernels.added(&stream, Launch::linear(10), 100, &mut y.slice_mut(..20).slice_mut(7..17))?;
    let mut expected = vec![0; LEN];
    expected[5..55].copy_from_slice(&numbers[3..53]);
    expected[7..17].iter_mut().for_each(|it| *it += 100);
    assert_eq!(y.download()?, expected);
    assert_eq!(y.slice(4..8).slice(1..).download()?, expected[5..8]);
    // Threads without an element do nothing.
    on.kernels.added(&stream, LAUNCH, 1, &mut y.slice_mut(LEN - 1..))?;
    expected[LEN - 1] += 1;
    assert_eq!(y.download()?, expected);
    Ok(())
}

pub(super) fn out_of_memory(on: &On) -> Result<()> {
    for n in [1_usize << 48, usize::MAX] {
        let error = refused(on.device.zeros::<u64>(n));
        let Error::OutOfMemory { device, bytes } = &error else { panic!("{error}") };
        assert_eq!(
            (&**device, *bytes),
            (on.device.name(), n.saturating_mul(size_of::<u64>())),
            "{error}"
        );
    }
    let mut y = on.device.zeros::<u32>(LEN)?;
    on.kernels.added(&on.device.stream(), LAUNCH, 1, &mut y)?;
    assert_eq!(y.download()?, [1; LEN]);
    Ok(())
}

pub(super) fn rows(on: &On) -> Result<()> {
    super::rows::copy_rows(&on.device);
    Ok(())
}

pub(super) fn variables(on: &On) -> Result<()> {
    let coefficients = on.kernels.variables().coefficients()?;
    coefficients.write(&[1.0, 2.0, 3.0, 4.0])?;
    for error in [
        refused(coefficients.write_from(3, &[0.0; 2])),
        refused(coefficients.read_from(1, &mut [0.0; 4])),
    ] {
        assert!(matches!(error, Error::VariableRange { length: 4, .. }), "{error}");
    }
    assert_eq!(coefficients.read()?, [1.0, 2.0, 3.0, 4.0]);
    Ok(())
}
