//! Index arithmetic of rows: what is checked, and where the check is proven and costs nothing.

mod common;

use common::{code, ptx};

/// A kernel over rows of a width of some type, with its index space under a name.
fn rows(width: &str, space: &str) -> String {
    format!(
        "use kernelmill_device::{{index::Index2D as Rows, prelude::*}};
#[kernel(dim = 2, width = w)]
pub fn fill(w: {width}, mut y: DisjointSlice<u32, {space}>) {{
    if let Some(out) = y.get_mut(thread::index_2d()) {{
        *out = 1;
    }}
}}
"
    )
}

/// The instructions of a PTX file of one name.
fn count(ptx: &str, name: &str) -> usize {
    ptx.lines().filter(|line| line.trim_start().starts_with(name)).count()
}

/// A row of a GPU is less than 2^26, so a width of 32 bits is never too large.
#[test]
fn rows_of_32_bits_cost_two_comparisons_in_ptx() {
    let narrow = ptx("rows", &rows("u32", "Index2D"));
    assert_eq!(count(&narrow, "setp."), 3, "{narrow}");
    assert_eq!(count(&narrow, "clz."), 0, "{narrow}");
    let wide = ptx("rows", &rows("usize", "Index2D"));
    assert!(count(&wide, "clz.") > 0, "{wide}");
}

#[test]
fn an_alias_of_the_index_space_has_the_width_that_is_given() {
    assert_eq!(ptx("rows", &rows("u32", "Rows")), ptx("rows", &rows("u32", "Index2D")));
    assert_eq!(ptx("rows", &rows("usize", "Rows")), ptx("rows", &rows("usize", "Index2D")));
}

#[test]
fn unmasked_bodies_of_rows_have_no_masks_on_the_cpu() {
    for width in ["u32", "usize"] {
        let text = rows(width, "Index2D")
            .replace("use kernelmill_device", "#[allow(unused_imports)] use kernelmill_device");
        let [full, any] = code("rows_on_cpu", &text);
        assert!(!full.contains("@llvm.masked."), "{full}");
        assert!(any.contains("@llvm.masked."), "{any}");
    }
}
