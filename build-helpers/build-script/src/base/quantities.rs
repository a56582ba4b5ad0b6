//! Quantities in environment variables: sizes and times with units.

pub(crate) use kernelmill_store::bytes;

/// `90s`, `5 min`, `2h`, in seconds; at least one.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim() {
        "s" => 1,
        "min" => 60,
        "h" => 3600,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|seconds| *seconds > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, expected) in [("1s", 1), ("5 min", 300), ("2h", 7200)] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in ["", "5", "0s", "1d", "-1s", "1.5h", "99999999999999999h"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
