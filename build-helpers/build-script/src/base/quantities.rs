//! Quantities in environment variables: sizes and times with units.

/// `2147483648`, `2GB`, `2 GiB`, `500m`; units of 1000 with a `B` alone, of 1024 otherwise.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

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
    fn sizes_have_units() {
        for (text, expected) in [
            ("0", 0),
            ("123", 123),
            ("2GB", 2_000_000_000),
            ("2 GiB", 2 << 30),
            ("500m", 500 << 20),
            ("7kB", 7_000),
        ] {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
        for text in
            ["", "GB", "2TBs", "-1", "1.5GB", "99999999999999999999", "18446744073709551615K"]
        {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

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
