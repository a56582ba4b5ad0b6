//! Parts of messages whose wording depends on the values of the error.

use std::fmt::Display;

/// Why rows do not fit into memory of `elements` elements, which `side` names: they overlap, or the last one ends beyond it.
pub(super) fn rows(
    (count, width, pitch): (&usize, &usize, &usize),
    side: &str,
    elements: &usize,
) -> String {
    if pitch < width {
        return format!(
            "the pitch of {side}, {pitch} elements, is less than the width of the rows, {width} elements: rows would overlap"
        );
    }
    let all = (*count as u128).saturating_sub(1) * *pitch as u128 + *width as u128;
    format!(
        "{count} rows of {width} elements with a pitch of {pitch} need {all} elements, but {side} has {elements}"
    )
}

/// Errors in lines of their own, with their codes.
pub(super) fn lines(errors: impl Iterator<Item = (impl Display, impl Display)>) -> String {
    errors.map(|(error, code)| format!("\n  {error} ({code})")).collect()
}

/// The name of a kernel behind the word `kernel`; nothing for the empty name, which stands for any kernel.
pub(super) fn kernel(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" `{name}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_overlap_or_end_beyond_their_memory() {
        let text = rows((&2, &4, &3), "the buffer", &100);
        assert!(text.starts_with("the pitch of the buffer, 3 elements, is less than"), "{text}");
        let text = rows((&3, &4, &4), "the buffer", &10);
        assert!(text.ends_with("need 12 elements, but the buffer has 10"), "{text}");
        let text = rows((&usize::MAX, &1, &usize::MAX), "the buffer", &10);
        assert!(text.contains("need 340282366920938463408034375210639556611 elements"), "{text}");
    }

    #[test]
    fn no_kernel_has_the_empty_name() {
        assert_eq!([kernel("scale"), kernel("")], [" `scale`", ""]);
    }
}
