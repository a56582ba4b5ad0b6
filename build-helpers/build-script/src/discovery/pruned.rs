//! Files of which only some stretches are left, each at the line and the column where it was.

use std::{ops::Range, sync::Arc};

/// A text of which all but some stretches is blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pruned {
    /// With as many bytes as the text had: places in it are places in the text.
    pub(crate) full: Arc<str>,
    /// With as many lines, and none with spaces alone: it depends on nothing of what was left out but on the lines.
    pub(crate) short: Arc<str>,
}

impl Pruned {
    /// Leaves these stretches of a text, in any order, of which none is part of another.
    pub(crate) fn new(text: &str, keep: &[Range<usize>]) -> Self {
        let mut keep = keep.to_vec();
        keep.sort_by_key(|range| range.start);
        let (mut full, mut short) = (String::with_capacity(text.len()), String::new());
        let mut at = 0;
        for Range { start, end } in keep {
            let (Some(before), Some(kept)) = (text.get(at..start), text.get(start..end)) else {
                continue;
            };
            blank(before, &mut full, &mut short);
            full.push_str(kept);
            short.push_str(kept);
            at = end;
        }
        let mut rest = String::new();
        blank(text.get(at..).unwrap_or_default(), &mut full, &mut rest);
        short.push('\n');
        Self { full: full.into(), short: short.into() }
    }
}

/// Adds a stretch that is left out.
fn blank(text: &str, full: &mut String, short: &mut String) {
    full.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    short.extend(text.bytes().filter(|byte| *byte == b'\n').map(char::from));
    let last = text.rsplit('\n').next().unwrap_or_default();
    short.extend(last.chars().map(|_| ' '));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_stays_in_its_place_and_nothing_else_counts() {
        let text = "use a;\n/* ä */ mod b {\n    x\n}\nfn c() {\n}\n";
        let start = text.find("mod").unwrap();
        let keep = start..text.find("fn").unwrap() - 1;
        let Pruned { full, short } = Pruned::new(text, std::slice::from_ref(&keep));
        assert_eq!(full.len(), text.len());
        assert_eq!(full[keep.clone()], text[keep.clone()]);
        assert_eq!(full.trim(), &text[keep]);
        assert_eq!(&*short, "\n        mod b {\n    x\n}\n");
        let other = "use xyz;\n/* ä */ mod b {\n    x\n}\nstruct C;\n";
        let start = other.find("mod").unwrap();
        let keep = start..other.find("struct").unwrap() - 1;
        let same = Pruned::new(other, std::slice::from_ref(&keep));
        assert_eq!(same.short, short);
    }

    #[test]
    fn heads_and_ends_of_modules_are_kept_in_any_order() {
        let text = "mod a { fn x() {} mod b { y } fn z() {} }";
        let at = |part: &str| text.find(part).unwrap();
        let keep = [0..7, text.len() - 1..text.len(), at("mod b")..at("mod b") + 11];
        let Pruned { full, .. } = Pruned::new(text, &keep);
        assert_eq!(&*full, "mod a {           mod b { y }           }");
    }
}
