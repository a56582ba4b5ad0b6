use crate::test_support::Project;
use std::fs;

/// The text with zeros for its fingerprints.
fn without_digests(text: &str) -> String {
    let line = |line: &str| match line.split_once("fingerprint: ") {
        Some((indent, _)) => format!("{indent}fingerprint: \"{:064}\",\n", 0),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The bindings of kernels with every kind of parameter, against `snapshots/kernels.rs`.
/// `KERNELMILL_BLESS=1` in the environment of the test writes that file anew.
#[test]
fn the_bindings_are_as_before() {
    let first = "\
#[repr(C)] pub struct Params { scale: f32, count: u64, table: [Pair; 40] }
#[repr(C, align(16))] pub struct Pair(u8, f32);
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {}
#[kernel(dim = 2)]
pub unsafe fn blend(params: Params, pairs: &[Pair], r#in: [u16; 3], mut _out: DisjointSlice<[f32; 4]>) {}
";
    let mut project = Project::new(
        "targets = [\"cpu\", \"compute_75\"]",
        &[
            ("kernels/first.rs", first),
            (
                "kernels/second.rs",
                "#[repr(C)] struct Own { x: i32 }\n#[kernel(dim = 3)] fn device(own: Own) {}\n#[kernel] fn nothing() {}",
            ),
        ],
    );
    project.builder.types = Some([("Own".to_owned(), "crate::Mine".to_owned())].into());
    project.build().result.unwrap_or_else(|error| panic!("{error}"));
    let text = without_digests(&fs::read_to_string(project.out().join("kernels.rs")).unwrap());
    let snapshot = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bindings/snapshots/kernels.rs");
    #[expect(clippy::disallowed_methods, reason = "of the test, not of a build")]
    let is_blessed = std::env::var_os("KERNELMILL_BLESS").is_some();
    if is_blessed {
        fs::write(snapshot, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(snapshot).unwrap());
}
