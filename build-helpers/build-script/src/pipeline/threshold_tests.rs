//! Builds with thresholds of what kernels may take.

use crate::{
    Kernel, Thresholds,
    test_support::{Project, SAXPY},
};

/// What a build says of two kernels that take 40 registers, 64 bytes of spills, 16 of stack and 512 of shared memory on
/// `sm_90`, and 24 bytes of spills on `gfx942`.
fn build(settings: &str) -> Result<(), Vec<String>> {
    let settings = format!("targets = [\"cpu\", \"sm_90\", \"gfx942\"]\n{settings}");
    let wide = format!("// SPILLS\n{}", SAXPY.replace("saxpy", "wide"));
    let saxpy = format!("// SPILLS\n{SAXPY}");
    let project =
        Project::new(&settings, &[("kernels/saxpy.rs", &saxpy), ("kernels/wide.rs", &wide)]);
    let error = project.build().result.err().map(|error| error.to_string());
    error.map_or(Ok(()), |text| {
        let coded = text.lines().filter_map(|line| line.strip_prefix("error[KM00"));
        let lines = coded.filter_map(|line| Some(line.split_once("]: ")?.1));
        Err(lines.map(str::to_owned).collect())
    })
}

/// Acceptance: S3.8.
#[test]
fn all_that_is_over_a_threshold_is_told_at_once() {
    let settings = "thresholds = { registers = 39, spills = 24, stack-bytes = 16 }\n\
                    [package.metadata.kernelmill.kernels.wide]\nthresholds = { registers = 40, shared-bytes = 511 }\n\
                    [package.metadata.kernelmill.kernels.saxpy]\nvariants = [{ max-registers = 32, targets = [\"sm_90\"] }]\n";
    let expected = [
        "kernels/saxpy.rs:3: kernel `saxpy` for sm_90 uses 40 registers a thread, more than `registers = 39` of `thresholds` allows",
        "kernels/saxpy.rs:3: kernel `saxpy` for sm_90 uses 64 bytes of spills a thread, more than `spills = 24` of `thresholds` allows",
        "kernels/saxpy.rs:3: kernel `saxpy`, variant `registers32`, for sm_90 uses 40 registers a thread, more than `registers = 39` of `thresholds` allows",
        "kernels/saxpy.rs:3: kernel `saxpy`, variant `registers32`, for sm_90 uses 64 bytes of spills a thread, more than `spills = 24` of `thresholds` allows",
        "kernels/wide.rs:3: kernel `wide` for sm_90 uses 64 bytes of spills a thread, more than `spills = 24` of `thresholds` allows",
        "kernels/wide.rs:3: kernel `wide` for sm_90 uses 512 bytes of shared memory a block, more than `shared-bytes = 511` of `thresholds` allows",
    ];
    let mut found = build(settings).unwrap_err();
    found.sort_by_key(|line| line.contains("wide"));
    assert_eq!(found, expected);
}

#[test]
fn what_is_at_its_threshold_or_not_known_is_allowed() {
    let most = "{ registers = 40, spills = 64, stack-bytes = 16, shared-bytes = 512 }";
    assert_eq!(build(&format!("thresholds = {most}\n")), Ok(()));
    // The package's own holds where a kernel has none.
    let of_kernel = |key: &str| {
        let of = |kernel: &str| {
            format!(
                "[package.metadata.kernelmill.kernels.{kernel}]\nthresholds = {{ {key} = 0 }}\n"
            )
        };
        build(&format!("thresholds = {most}\n{}{}", of("saxpy"), of("wide")))
    };
    let counts = ["registers", "spills", "stack-bytes", "shared-bytes"];
    let faults = counts.map(|key| of_kernel(key).unwrap_err().len());
    // Spills are known of both GPUs, the rest of one.
    assert_eq!(faults, [2, 4, 2, 2]);
}

#[test]
fn builders_have_thresholds_too() {
    let few = Thresholds { registers: Some(1), ..Thresholds::NONE };
    let build = crate::Build::new().thresholds(few).kernel("a", |it: Kernel| it.thresholds(few));
    assert_eq!(build.layer().thresholds, few);
    assert_eq!(build.layer().kernels.as_ref().unwrap()["a"].thresholds, few);
}

#[test]
fn thresholds_that_cannot_be_meant_are_errors() {
    let found =
        build("thresholds = { register = 1, spills = -1, stack-bytes = \"2\" }").unwrap_err();
    let expected =
        ["unknown key `register`", "`spills` cannot be -1", "`stack-bytes` cannot be \"2\""];
    assert_eq!(found, expected);
    assert_eq!(build("thresholds = 3").unwrap_err(), ["`thresholds` cannot be 3"]);
}
