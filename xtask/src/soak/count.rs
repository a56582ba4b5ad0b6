//! The lines in which tests say what they have tried.

/// How much was tried, and how often it was wrong.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) name: String,
    pub(super) tried: u64,
    pub(super) failed: u64,
}

impl Count {
    /// Reads `counted: <name>: <n> tried, <n> failed`; other lines are none.
    pub(super) fn read(line: &str) -> Option<Self> {
        // The harness prints the name of a test before it, without a new line.
        let (_, line) = line.split_once("counted: ")?;
        let (name, counts) = line.rsplit_once(": ")?;
        let (tried, failed) = counts.split_once(", ")?;
        let number = |text: &str, word| text.strip_suffix(word)?.parse().ok();
        let (tried, failed) = (number(tried, " tried")?, number(failed, " failed")?);
        Some(Self { name: name.to_owned(), tried, failed })
    }
}

/// The end of a long text.
pub(super) fn last_lines(text: &str) -> String {
    const LINES: usize = 30;
    let lines: Vec<_> = text.lines().collect();
    let mut end = lines[lines.len().saturating_sub(LINES)..].join("\n");
    end.push('\n');
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_other_lines_are_not() {
        let count = Count::read("test a::b ... counted: kills: 20 tried, 3 failed").unwrap();
        assert_eq!(count, Count { name: "kills".to_owned(), tried: 20, failed: 3 });
        for line in
            ["", "counted: kills", "counted: kills: 20 tried", "counted: a: x tried, 0 failed"]
        {
            assert_eq!(Count::read(line), None, "{line}");
        }
    }

    #[test]
    fn the_end_of_a_text_is_kept() {
        let text: String = (0..100).map(|line| format!("{line}\n")).collect();
        assert!(last_lines(&text).starts_with("70\n") && last_lines(&text).ends_with("99\n"));
        assert_eq!(last_lines("one"), "one\n");
    }
}
