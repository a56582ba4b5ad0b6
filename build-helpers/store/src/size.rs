//! Sizes with units.

/// Bytes from a text such as `2147483648`, `2GB`, `2 GiB` or `500m`: units of 1000 with a `B` alone, of 1024 otherwise.
/// `None` where it is no size, or more than `u64` holds.
///
/// ```
/// assert_eq!(kernelmill_store::bytes("2 GiB"), Some(2 << 30));
/// ```
#[must_use]
pub fn bytes(text: &str) -> Option<u64> {
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
}
