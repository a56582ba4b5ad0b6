//! What is said to write instead, where it is in more than one place.

use super::read;

fn said(text: &str) -> String {
    let found = read(text, "k.rs").err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_has_to_be_written_in_a_definition_is_said_at_once() {
    let text = "#[derive(Clone, Copy, Debug)] struct Inner { a: u8 }
struct Plain { x: f32, inner: Inner }
#[repr(C)] struct Good { x: f32 }
enum Mode { A }
";
    let plain = "and write `#[repr(C)]` and `#[derive(Clone, Copy)]` above `struct Plain`, and write `#[repr(C)]` above \
                 `struct Inner`";
    for (ty, help) in [
        ("&Plain", format!("write `p: Plain`, by value, {plain}")),
        ("&mut Plain", format!("write `mut p: DisjointSlice<Plain>`, of length 1, {plain}")),
        ("&mut [Plain]", format!("write `mut p: DisjointSlice<Plain>`, {plain}")),
        ("*const [Plain; 2]", format!("write `p: &[[Plain; 2]]`, {plain}")),
        ("Box<Plain>", format!("write `p: Plain`, by value, {plain}")),
        ("Plain", plain.strip_prefix("and ").unwrap().to_owned()),
        ("&Good", "write `p: Good`, by value".to_owned()),
        (
            "&Mode",
            "write `p: Mode`, by value, and write `#[repr(u32)]`, or another integer of 8 to 64 bits, above \
             `enum Mode`"
                .to_owned(),
        ),
    ] {
        let found = said(&format!("{text}#[kernel] fn k(p: {ty}) {{}}"));
        assert_eq!(found.matches("error[KM0040]").count(), 1, "{ty}: {found}");
        assert!(found.ends_with(&format!("  help: {help}")), "{ty}: {found}");
    }
}

#[test]
fn a_struct_that_is_copied_already_is_not_told_to_be() {
    for start in [
        "#[derive(Clone, Copy)] struct P { x: f32 }",
        "#[cfg_attr(all(), derive(Clone, Copy))] struct P { x: f32 }",
        "struct P { x: f32 } impl Copy for P {} impl Clone for P { fn clone(&self) -> Self { *self } }",
    ] {
        let found = said(&format!("{start}\n#[kernel] fn k(p: P) {{}}"));
        assert!(found.ends_with("  help: write `#[repr(C)]` above `struct P`"), "{start}: {found}");
    }
    let found = said("#[derive(Clone)] struct P { x: f32 }\n#[kernel] fn k(p: P) {}");
    let expected = "  help: write `#[repr(C)]` and `#[derive(Clone, Copy)]` above `struct P`";
    assert!(found.ends_with(expected), "{found}");
}
