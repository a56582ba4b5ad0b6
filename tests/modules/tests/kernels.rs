//! Kernels of modules on the CPU, with the types of the modules.

use kernelmill::{Device, Error, Launch, Result};
use modules::{
    gpu::bytes::counting::{self, classes},
    kernels::{self, Kernels},
    levels::{HIGHEST, Level},
    lines::{Half, Line, at},
    physics::lines::Falling,
};

#[test]
fn kernels_take_the_types_of_their_module() -> Result<()> {
    let device = Device::cpu()?;
    let kernels = Kernels::load(&device)?;
    let stream = device.stream();
    let line = Line { slope: 2.0, offset: 1.0 };
    let mut y = device.zeros::<f32>(8)?;
    kernels.line_points(&stream, Launch::linear(8), line, Half::Upper, &mut y)?;
    let expected: Vec<_> = (0..8).map(|x| if x < 4 { 0.0 } else { at(line, x as f32) }).collect();
    assert_eq!(y.download()?, expected);
    let same: kernels::Line = line;
    assert_eq!(same, line);

    let mut points = device.upload(&[Falling { height: 10.0, speed: 2.0 }; 3])?;
    kernels.fall(&stream, Launch::linear(3), 0.5, &mut points)?;
    assert_eq!(points.download()?[2], Falling { height: 11.0, speed: 2.0 - 9.81 * 0.5 });
    assert_eq!(device.zeros::<Falling>(1)?.download()?[0].height, 0.0);
    Ok(())
}

/// A private type has a copy among the wrappers, as those of kernel files do.
#[test]
fn a_type_that_cannot_be_named_has_a_copy() -> Result<()> {
    let device = Device::cpu()?;
    let mut y = device.zeros::<f32>(3)?;
    // SAFETY: any number.
    let step = unsafe { kernels::Step::new(0.5) };
    Kernels::load(&device)?.line_steps(&device.stream(), Launch::linear(3), step, &mut y)?;
    assert_eq!(y.download()?, [0.0, 0.5, 1.0]);
    Ok(())
}

#[test]
fn modules_have_files_and_take_in_others() -> Result<()> {
    let device = Device::cpu()?;
    let kernels = Kernels::load(&device)?;
    let (x, mut y) = (device.upload(&[0u8, 1, 2, 3, 4])?, device.zeros::<u32>(5)?);
    kernels.byte_classes(&device.stream(), Launch::linear(5), &x, &mut y)?;
    assert_eq!(y.download()?, [10, 30, 50, 70, 10]);
    kernels.thread_classes(&device.stream(), Launch::linear(5), &mut y)?;
    assert_eq!(y.download()?, [0, 1, 2, 3, 0]);
    assert_eq!(counting::count(), classes::CLASSES);
    let bytes = [0u8, 1, 7, 100, 255];
    let (x, mut y) = (device.upload(&bytes)?, device.zeros::<half::f16>(5)?);
    kernels.shares(&device.stream(), Launch::linear(5), &x, &mut y)?;
    assert_eq!(y.download()?, bytes.map(counting::share));
    Ok(())
}

#[test]
fn files_of_kernels_are_there_too() -> Result<()> {
    let device = Device::cpu()?;
    let mut y = device.zeros::<f32>(4)?;
    Kernels::load(&device)?.fill(&device.stream(), Launch::linear(4), 3.0, &mut y)?;
    assert_eq!(y.download()?, [3.0; 4]);
    // A type of the crate's own source, which the file takes in by the same path as the host.
    for (factor, height) in [(1.0, 1.5), (2.0, 3.0), (8.0, HIGHEST)] {
        let level = Level { value: 1.5, factor };
        Kernels::load(&device)?.fill_level(&device.stream(), Launch::linear(4), level, &mut y)?;
        assert_eq!(y.download()?, [height; 4]);
        assert_eq!(level.height(), height);
    }
    Ok(())
}

#[test]
fn panics_and_signatures_name_the_users_file_and_line() -> Result<()> {
    let device = Device::cpu()?;
    let kernels = Kernels::load(&device)?;
    let text = include_str!("../src/lib.rs");
    let line_of = |part: &str| 1 + text.lines().position(|line| line.contains(part)).unwrap();
    let mut y = device.upload(&[7u32])?;
    kernels.line_fails(&device.stream(), Launch::linear(1), 5, &mut y)?;
    let Err(Error::KernelPanic(panic)) = device.stream().synchronize() else {
        panic!("the kernel panics")
    };
    let text = panic.to_string();
    let place = format!("src/lib.rs:{}:", line_of("The place of the panic."));
    assert!(text.contains(&place), "{text}");
    assert!(text.contains("7 is not below 5"), "{text}");
    let signature = Kernels::signatures().iter().find(|it| it.name == "line_points").unwrap();
    let line = u32::try_from(line_of("pub fn line_points")).unwrap();
    assert_eq!((&*signature.file, signature.line), ("src/lib.rs", line));
    Ok(())
}

/// Of a module behind a feature there is a wrapper where the feature is on.
#[cfg(feature = "extra")]
#[test]
fn a_module_behind_a_feature_is_there_with_it() -> Result<()> {
    let device = Device::cpu()?;
    let mut y = device.zeros::<f32>(2)?;
    Kernels::load(&device)?.extra_ones(&device.stream(), Launch::linear(2), &mut y)?;
    assert_eq!(y.download()?, [1.0; 2]);
    Ok(())
}
