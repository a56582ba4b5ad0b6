//! Functions in WGSL that code for a kernel calls: what the language has no operation for. Those that are called are
//! written.

use crate::frontend::wgsl::FENCE;

/// The functions: their names, and their definitions. A function calls those before it alone.
const FUNCTIONS: [(&str, &str); 23] = [
    (FENCE, "fn fence() {}"),
    ("float_of", "fn float_of(bits: u32) -> f32 { return bitcast<f32>(bits); }"),
    ("double_of", "fn double_of(bits: u64) -> f64 { return bitcast<f64>(bits); }"),
    (
        "is_nan32",
        "fn is_nan32(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }",
    ),
    (
        "is_nan64",
        "fn is_nan64(x: f64) -> bool { return (bitcast<u64>(x) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu; }",
    ),
    (
        "max32",
        "fn max32(a: f32, b: f32) -> f32 { if is_nan32(a) { return b; } if is_nan32(b) { return a; } return max(a, b); }",
    ),
    (
        "min32",
        "fn min32(a: f32, b: f32) -> f32 { if is_nan32(a) { return b; } if is_nan32(b) { return a; } return min(a, b); }",
    ),
    (
        "max64",
        "fn max64(a: f64, b: f64) -> f64 { if is_nan64(a) { return b; } if is_nan64(b) { return a; } return max(a, b); }",
    ),
    (
        "min64",
        "fn min64(a: f64, b: f64) -> f64 { if is_nan64(a) { return b; } if is_nan64(b) { return a; } return min(a, b); }",
    ),
    (
        "sign_of32",
        "fn sign_of32(a: f32, b: f32) -> f32 { return bitcast<f32>((bitcast<u32>(a) & 0x7fffffffu) | (bitcast<u32>(b) & 0x80000000u)); }",
    ),
    (
        "sign_of64",
        "fn sign_of64(a: f64, b: f64) -> f64 { return bitcast<f64>((bitcast<u64>(a) & 0x7ffffffffffffffflu) | (bitcast<u64>(b) & 0x8000000000000000lu)); }",
    ),
    (
        "round_away32",
        "fn round_away32(x: f32) -> f32 { let whole = trunc(x); if abs(x - whole) < 0.5 { return whole; } return whole + sign(x); }",
    ),
    (
        "round_away64",
        "fn round_away64(x: f64) -> f64 { let whole = trunc(x); if abs(x - whole) < 0.5lf { return whole; } return whole + sign(x); }",
    ),
    (
        "high32",
        "fn high32(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu; let ah = a >> 16u; let bl = b & 0xffffu; let bh = b >> 16u;
    let low = al * bl;
    let first = ah * bl + (low >> 16u);
    let second = al * bh + (first & 0xffffu);
    return ah * bh + (first >> 16u) + (second >> 16u);
}",
    ),
    (
        "high64",
        "fn high64(a: u64, b: u64) -> u64 {
    let al = a & 0xfffffffflu; let ah = a >> 32u; let bl = b & 0xfffffffflu; let bh = b >> 32u;
    let low = al * bl;
    let first = ah * bl + (low >> 32u);
    let second = al * bh + (first & 0xfffffffflu);
    return ah * bh + (first >> 32u) + (second >> 32u);
}",
    ),
    (
        "signed_high64",
        "fn signed_high64(a: u64, b: u64) -> u64 {
    return high64(a, b) - select(0lu, b, (a >> 63u) != 0lu) - select(0lu, a, (b >> 63u) != 0lu);
}",
    ),
    (
        "leading64",
        "fn leading64(x: u64) -> u64 {
    let high = u32(x >> 32u);
    return u64(select(countLeadingZeros(high), 32u + countLeadingZeros(u32(x & 0xfffffffflu)), high == 0u));
}",
    ),
    (
        "trailing64",
        "fn trailing64(x: u64) -> u64 {
    let low = u32(x & 0xfffffffflu);
    return u64(select(countTrailingZeros(low), 32u + countTrailingZeros(u32(x >> 32u)), low == 0u));
}",
    ),
    (
        "ones64",
        "fn ones64(x: u64) -> u64 { return u64(countOneBits(u32(x >> 32u)) + countOneBits(u32(x & 0xfffffffflu))); }",
    ),
    (
        "swap32",
        "fn swap32(x: u32) -> u32 { return (x << 24u) | ((x & 0xff00u) << 8u) | ((x >> 8u) & 0xff00u) | (x >> 24u); }",
    ),
    (
        "swap64",
        "fn swap64(x: u64) -> u64 { return (u64(swap32(u32(x & 0xfffffffflu))) << 32u) | u64(swap32(u32(x >> 32u))); }",
    ),
    ("low", "fn low(x: u64) -> u32 { return u32(x & 0xfffffffflu); }"),
    ("long_of", "fn long_of(low: u32, high: u32) -> u64 { return u64(low) | (u64(high) << 32u); }"),
];

/// The definitions of those functions that a text calls, and of those that they call.
pub(super) fn used_by(text: &str) -> String {
    let (mut needed, mut found) = (text.to_owned(), Vec::new());
    for (name, definition) in FUNCTIONS.iter().rev() {
        if calls(&needed, name) {
            needed.push_str(definition);
            found.push(*definition);
        }
    }
    found.reverse();
    found.iter().map(|definition| format!("{definition}\n")).collect()
}

/// Whether a text calls a function of this name.
fn calls(text: &str, name: &str) -> bool {
    let call = format!("{name}(");
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.match_indices(&call).any(|(at, _)| !text[..at].ends_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_with_those_that_they_call() {
        let found = used_by("let a = max32(b, c);");
        assert!(found.contains("fn max32(") && found.contains("fn is_nan32("), "{found}");
        assert!(!found.contains("fn min32(") && !found.contains("u64"), "{found}");
        assert_eq!(used_by("let a = my_max32(b) + max(b, c);"), "");
        let found = used_by("signed_high64(a, b)");
        assert!(found.find("fn high64(").unwrap() < found.find("fn signed_high64(").unwrap());
    }
}
