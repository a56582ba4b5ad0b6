//! The program as its users start it: on the CPU, and on the fake CUDA driver.

use std::{fs::File, io::BufReader, path::Path, process::Command};
use test_support::{driver, temporary_folder};

/// What the program prints in a folder, into which it writes `film.png`, with so many steps between pictures.
fn run(folder: &Path, steps: &str, variables: &[(&str, &str)]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fluid"));
    program.args(["--size", "64x32", "--frames", "3", "--steps", steps, "--output", "film.png"]);
    program.current_dir(folder).env_remove("KERNELMILL_DEVICE").envs(variables.iter().copied());
    let output = program.output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it prints UTF-8");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// The pictures of `film.png`, as numbers of colours of its palette.
fn pictures(folder: &Path) -> Vec<Vec<u8>> {
    let film = File::open(folder.join("film.png")).expect("the film was written");
    let mut decoder = png::Decoder::new(BufReader::new(film));
    decoder.set_transformations(png::Transformations::IDENTITY);
    let mut reader = decoder.read_info().expect("a PNG");
    let count = reader.info().animation_control.expect("it moves").num_frames;
    assert_eq!(reader.info().palette.as_ref().map(|it| it.len()), Some(64 * 3));
    let mut picture = || {
        let mut bytes = vec![0; reader.output_buffer_size().expect("it is small")];
        let info = reader.next_frame(&mut bytes).expect("a picture");
        assert_eq!((info.width, info.height, bytes.len()), (32, 16, 32 * 16));
        bytes
    };
    (0..count).map(|_| picture()).collect()
}

#[test]
fn the_film_on_the_cpu_moves() {
    let folder = temporary_folder();
    let text = run(folder.path(), "5", &[("KERNELMILL_DEVICE", "cpu")]);
    assert!(text.contains("as in plain Rust") && text.contains("CPU"), "{text}");
    assert!(text.ends_with("fluid: wrote film.png, 3 pictures\n"), "{text}");
    let pictures = pictures(folder.path());
    assert_eq!(pictures.len(), 3);
    assert!(pictures[0] != pictures[1] && pictures[1] != pictures[2], "nothing moves");
    let shades = |picture: &[u8]| (picture.first().copied(), picture.last().copied());
    assert!(pictures.iter().all(|it| shades(it) == (Some(63), Some(0))), "heavy is not above");
}

#[test]
fn the_film_on_the_fake_cuda_driver_is_that_of_the_cpu() {
    let [on_cpu, on_cuda] = [temporary_folder(), temporary_folder()];
    run(on_cpu.path(), "1", &[("KERNELMILL_DEVICE", "cpu")]);
    let driver = driver::fake_driver();
    let driver = driver.to_str().expect("cargo's target folder is UTF-8");
    let checks = [("FAKE_CUDA_RACES", "1"), ("FAKE_CUDA_LEAK_CHECK", "1")];
    let variables = [("KERNELMILL_DEVICE", "cuda:0"), ("LD_LIBRARY_PATH", driver)];
    let text = run(on_cuda.path(), "1", &[variables, checks].concat());
    assert!(text.contains("PTX emulator"), "{text}");
    let (expected, actual) = (pictures(on_cpu.path()), pictures(on_cuda.path()));
    assert_eq!(expected.len(), actual.len());
    let differences =
        expected.concat().into_iter().zip(actual.concat()).map(|(a, b)| a.abs_diff(b));
    // Rounding may go the other way where a mean lies between two shades.
    assert!(differences.max().is_some_and(|it| it <= 1));
}
