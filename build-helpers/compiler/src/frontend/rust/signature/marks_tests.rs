//! What is said of attributes that are not right.

use super::{Cfgs, Reading, SourceText, read, read_crate};

/// The first finding about a kernel with this attribute, without its file.
fn said(attribute: &str) -> String {
    let text = format!("{attribute} fn k(w: u32, f: f32, mut y: DisjointSlice<f32>) {{}}");
    let found = read(&text, "k.rs").expect_err(attribute);
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.join("\n").replace("k.rs:", "")
}

#[test]
fn each_argument_that_is_wrong_has_its_own_message_and_help() {
    let width =
        "write `width = w`, where `w` is the parameter of the kernel that is the width of the rows";
    for (attribute, what, help) in [
        ("dim = 4", "has `4` dimensions", "write `dim = 1`, `dim = 2` or `dim = 3`"),
        ("dim = 2, width", "is given `width` without a value", width),
        (
            "dim = 2, width = 5",
            "has the argument `width = 5`, which does not name a parameter",
            width,
        ),
        (
            "dim = 2, width = v",
            "has the argument `width = v`, which does not name a parameter",
            "add the parameter `v: u32`, or name one that exists",
        ),
        (
            "dim = 2, width = f",
            "has the argument `width = f`, a parameter whose type `f32` is not an integer",
            "declare the parameter as `f: u32`",
        ),
        (
            "width = w",
            "has the argument `width`, and is not a kernel of two dimensions",
            "add `dim = 2`",
        ),
        ("dim = 2, dim = 2", "is given `dim` twice", "write it once"),
        ("dims = 2", "is given `dims`, which is not an argument of `#[kernel]`", "write `dim = 2`"),
        ("fast_math = true", "is given `fast_math` with a value", "write `fast_math`"),
        (
            "launch_bounds(256)",
            "is given `launch_bounds` without a value",
            "write `launch_bounds = 256`",
        ),
        (
            "block_size = 256",
            "has the argument `block_size = 256`, whose value is not valid",
            "write `block_size = [256, 1, 1]`",
        ),
    ] {
        let found = said(&format!("#[kernel({attribute})]"));
        let expected = format!("error[KM0043]: kernel `k` {what}\n  help: {help}");
        assert!(found.ends_with(&expected), "{attribute}: {found}");
    }
    let found = said("#[kernel(dims = 2, widht = w)]");
    assert_eq!(found.matches("error[KM0043]").count(), 2, "{found}");
    assert!(said("#[kernel = 5]").contains("which cannot be read"));
    assert!(said("#[kernel(2)]").contains("which cannot be read"));
}

#[test]
fn rows_need_two_dimensions() {
    let said = |attribute: &str, ty: &str| {
        let text = format!("{attribute} fn k(w: u32, mut y: {ty}) {{}}");
        read(&text, "k.rs").map_err(|found| found[0].to_string())
    };
    for ty in ["DisjointSlice<f32, Index2D>", "slice::DisjointSlice<'_, f32, index::Index2D>"] {
        let expected = format!(
            "k.rs:1:31: error[KM0043]: kernel `k` has rows in `{ty}`, and is of one dimension: all threads of its \
             launches are in row 0\n  help: write `#[kernel(dim = 2, width = w)]`, where `w` is the parameter \
             that is the width of the rows"
        );
        assert_eq!(said("#[kernel]", ty).unwrap_err(), expected);
        for attribute in
            ["#[kernel(dim = 2)]", "#[kernel(dim = 2, width = w)]", "#[kernel(dim = 3)]"]
        {
            assert!(said(attribute, ty).is_ok(), "{attribute}");
        }
    }
    for ty in ["DisjointSlice<f32>", "DisjointSlice<f32, PerBlock>"] {
        assert!(said("#[kernel]", ty).is_ok(), "{ty}");
    }
}

#[test]
fn rows_without_a_width_are_warned_of() {
    let warnings = |attribute: &str, ty: &str| {
        let text = format!("{attribute} fn k(w: u32, mut y: {ty}) {{}}");
        let file = SourceText { module: &[], text: &text, display: "k.rs", has_kernels: true };
        let Reading::Kernels(_, _, _, _, warnings) = read_crate(&[file], &Cfgs::default()) else {
            panic!("{text}")
        };
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let rows = "DisjointSlice<f32, Index2D>";
    let expected = "k.rs:1:40: warning[KM0043]: kernel `k` has rows as wide as the launch in `DisjointSlice<f32, \
                    Index2D>`: in a launch wider than the image, elements are at wrong places\n  help: write \
                    `#[kernel(dim = 2, width = w)]`, where `w` is the parameter that is the width of the rows";
    assert_eq!(warnings("#[kernel(dim = 2)]", rows), [expected]);
    let generic = "#[kernel(dim = 2, instances = [\"f32\", \"f64\"])] fn k<T: Copy>(mut y: DisjointSlice<T, Index2D>) {} \
                   #[kernel]";
    assert_eq!(warnings(generic, "DisjointSlice<f32>").len(), 1);
    for (attribute, ty) in [
        ("#[kernel(dim = 2, width = w)]", rows),
        ("#[kernel(dim = 3)]", rows),
        ("#[kernel(dim = 2)]", "DisjointSlice<f32>"),
        ("#[kernel(dim = 2)]", "&[f32]"),
    ] {
        assert!(warnings(attribute, ty).is_empty(), "{attribute} {ty}");
    }
}

#[test]
fn a_width_is_an_integer_of_whatever_name() {
    for ty in ["u32", "i32", "u64", "Width"] {
        let text = format!(
            "type Width = u16; #[kernel(dim = 2, width = w)] fn k(x: &[f32], w: {ty}) {{}}"
        );
        assert!(read(&text, "k.rs").is_ok(), "{ty}");
    }
}

#[test]
fn an_attribute_stands_once_and_by_itself() {
    let expected = "1:11: error[KM0043]: function `k` is marked `#[kernel]` twice
  1:1: the first one
  help: remove one of them, and give the other one the arguments of both";
    assert_eq!(said("#[kernel] #[kernel]"), expected);
    let expected = "1:19: error[KM0044]: function `k` is marked `#[kernel]` by a `cfg_attr` with a condition
  help: write `#[cfg(all())]` and `#[kernel]`: functions are found by attributes that are not inside of `cfg_attr`";
    assert_eq!(said("#[cfg_attr(all(), kernel)]"), expected);
    let expected = expected.replace("all()", "true").replace("1:19", "1:18");
    assert_eq!(said("#[cfg_attr(true, kernel)]"), expected);
    for never in ["test", "false"] {
        let text = format!(
            "#[cfg_attr({never}, kernel)] fn k(w: u32) {{}} #[kernel] fn other(w: u32) {{}}"
        );
        assert_eq!(read(&text, "k.rs").unwrap().len(), 1, "{never}");
    }
}

#[test]
fn a_result_and_a_parameter_without_a_name_say_what_to_write() {
    for (signature, help) in [
        ("() -> Result<(), ()>", "return nothing, and `panic!` where there is an error"),
        ("() -> Option<f32>", "return nothing, and write the results through parameters"),
        ("(_: f32)", "write `_unused: f32`, or remove it"),
        ("((a, b): (f32, f32))", "write a parameter for each field"),
    ] {
        let found = read(&format!("#[kernel] fn k{signature} {{}}"), "k.rs").unwrap_err();
        assert!(found[0].help.as_deref().unwrap().starts_with(help), "{signature}: {}", found[0]);
    }
}
