//! Format strings of panic messages, rendered on the host: the artifact has the text, the device
//! sends the values.
//!
//! A format string is that of Rust, `element {usize} is {f32:>8.3}`, with the type of each value in
//! place of its name. `{?}` is a value that the device did not send. `{place}` is a source location,
//! whose value is its index in the artifact's table plus one. `{str}` takes several values: the
//! length in bytes, then the bytes, 8 in each value.

use std::fmt::Write as _;

use crate::SourceLocation;

/// Renders a format string with these values.
///
/// ```
/// use kernelmill_artifact::render_message;
///
/// let values = [7, u64::from(1.5_f32.to_bits())];
/// let text = render_message("{{{usize:03}}} is {f32:>6.2}, not {?}", &values, &[]);
/// assert_eq!(text, "{007} is   1.50, not _");
/// ```
#[must_use]
pub fn render_message(text: &str, values: &[u64], places: &[SourceLocation<'_>]) -> String {
    let mut output = String::new();
    let mut values = values.iter();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        output.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            output.push_str(brace);
            rest = after;
            continue;
        }
        let Some((inside, after)) = rest.split_once('}') else { break };
        rest = after;
        let (ty, specification) = inside.split_once(':').unwrap_or((inside, ""));
        if ty == "?" {
            output.push('_');
        } else if ty == "place" {
            output.push_str(&place(values.next().copied(), places));
        } else if ty == "str" {
            let text = values.next().map(|length| string(*length, &mut values));
            let shown = text.map(|text| Specification::read(specification).string(text));
            output.push_str(shown.as_deref().unwrap_or("_"));
        } else if let Some(value) = values.next() {
            output.push_str(&Specification::read(specification).render(ty, *value));
        } else {
            output.push('_');
        }
    }
    output.push_str(rest);
    output
}

/// Takes a text of `length` bytes from the values. A text that is cut short ends at a character
/// boundary.
fn string(length: u64, values: &mut std::slice::Iter<'_, u64>) -> String {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let words = values.by_ref().take(length.div_ceil(8));
    let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).take(length).collect();
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The source location with this index plus one.
fn place(number: Option<u64>, places: &[SourceLocation<'_>]) -> String {
    let index = number.and_then(|number| usize::try_from(number.checked_sub(1)?).ok());
    let place = index.and_then(|index| places.get(index));
    place.map_or_else(|| "an unknown location".to_string(), |place| place.to_string())
}

/// A format specification, the part after the colon: `>+#08.3x`. The grammar is that of
/// [`std::fmt`](std::fmt#syntax).
#[derive(Debug, Default, PartialEq)]
struct Specification {
    fill: Option<char>,
    align: Option<char>,
    plus: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    form: String,
}

impl Specification {
    fn read(text: &str) -> Self {
        let mut specification = Self::default();
        let mut rest = text;
        let is_align = |letter: Option<char>| letter.is_some_and(|it| "<^>".contains(it));
        let mut letters = text.chars();
        let (first, second) = (letters.next(), letters.next());
        if is_align(second) {
            (specification.fill, specification.align) = (first, second);
            rest = &text[first.map_or(0, char::len_utf8) + 1..];
        } else if is_align(first) {
            specification.align = first;
            rest = &text[1..];
        }
        let mut flag = |letter: char| {
            let after = rest.strip_prefix(letter);
            rest = after.unwrap_or(rest);
            after.is_some()
        };
        specification.plus = flag('+');
        specification.alternate = flag('#');
        specification.zero = flag('0');
        specification.width = number(&mut rest).unwrap_or(0);
        if let Some(after) = rest.strip_prefix('.') {
            rest = after;
            specification.precision = number(&mut rest);
        }
        specification.form = rest.into();
        specification
    }

    /// A value of this type, from its bits.
    fn render(&self, ty: &str, bits: u64) -> String {
        match ty {
            "u8" | "u16" | "u32" | "u64" | "usize" => self.integer(bits, false, bits),
            "i8" => {
                self.integer(bits as u8 as i8 as u64, (bits as u8).cast_signed() < 0, bits & 0xff)
            }
            "i16" => {
                let value = (bits as u16).cast_signed();
                self.integer(i64::from(value).cast_unsigned(), value < 0, bits & 0xffff)
            }
            "i32" => {
                let value = (bits as u32).cast_signed();
                self.integer(i64::from(value).cast_unsigned(), value < 0, bits & 0xffff_ffff)
            }
            "i64" | "isize" => self.integer(bits, bits.cast_signed() < 0, bits),
            "f32" => self.float(f32::from_bits(bits as u32)),
            "f64" => self.float(f64::from_bits(bits)),
            "bool" => self.text(if bits & 1 == 1 { "true" } else { "false" }.into()),
            "char" => {
                let letter = char::from_u32(bits as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.text(if self.form == "?" { format!("{letter:?}") } else { letter.to_string() })
            }
            _ => "_".into(),
        }
    }

    /// `value` is sign-extended; `bits` has only the type's own bits, for bases other than ten.
    fn integer(&self, value: u64, negative: bool, bits: u64) -> String {
        let (prefix, digits) = match self.form.as_str() {
            "x" | "x?" => ("0x", format!("{bits:x}")),
            "X" | "X?" => ("0x", format!("{bits:X}")),
            "o" => ("0o", format!("{bits:o}")),
            "b" => ("0b", format!("{bits:b}")),
            _ => ("", value.cast_signed().unsigned_abs().to_string()),
        };
        let decimal = prefix.is_empty();
        let digits = if decimal && !negative { value.to_string() } else { digits };
        let sign = self.sign(decimal && negative);
        let prefix = if self.alternate { prefix } else { "" };
        self.pad(&format!("{sign}{prefix}"), &digits, '>')
    }

    fn float<F: Into<f64> + std::fmt::Display + std::fmt::Debug + std::fmt::LowerExp + Copy>(
        &self,
        value: F,
    ) -> String {
        let text = match (self.form.as_str(), self.precision) {
            ("e" | "E", Some(places)) => format!("{value:.places$e}"),
            ("e" | "E", None) => format!("{value:e}"),
            (_, Some(places)) => format!("{value:.places$}"),
            ("?", None) => format!("{value:?}"),
            _ => format!("{value}"),
        };
        let text = if self.form == "E" { text.to_uppercase() } else { text };
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.as_str()),
        };
        let wide: f64 = value.into();
        let plain = Self { form: String::new(), ..*self };
        plain.pad(if wide.is_nan() { "" } else { self.sign(negative) }, digits, '>')
    }

    fn text(&self, text: String) -> String {
        let cut = self.precision.unwrap_or(usize::MAX);
        let text: String = text.chars().take(cut).collect();
        let plain = Self { zero: false, form: String::new(), ..*self };
        plain.pad("", &text, '<')
    }

    /// As [`Self::text`]. Rust ignores the width where it prints a text with `{:?}`.
    fn string(&self, text: String) -> String {
        if self.form == "?" { format!("{text:?}") } else { self.text(text) }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        }
    }

    /// Pads to the width, with zeros after the sign where the specification has the flag `0`.
    fn pad(&self, start: &str, body: &str, align: char) -> String {
        let length = start.chars().count() + body.chars().count();
        let missing = self.width.saturating_sub(length);
        let mut output = String::new();
        if self.zero {
            let _ = write!(output, "{start}{}{body}", "0".repeat(missing));
            return output;
        }
        let before = match self.align.unwrap_or(align) {
            '<' => 0,
            '^' => missing / 2,
            _ => missing,
        };
        let fill = self.fill.unwrap_or(' ');
        output.extend(std::iter::repeat_n(fill, before));
        output.push_str(start);
        output.push_str(body);
        output.extend(std::iter::repeat_n(fill, missing - before));
        output
    }
}

/// Takes the decimal number at the start of `rest`.
fn number(rest: &mut &str) -> Option<usize> {
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! same {
        ($ty:ident: $($value:expr, $($specification:literal)*;)*) => {
            $($({
                let value: $ty = $value;
                let specification = concat!("{", stringify!($ty), ":", $specification, "}");
                let ours = render_message(specification, &[bits::$ty(value)], &[]);
                assert_eq!(ours, format!(concat!("{:", $specification, "}"), value), "{specification}");
            })*)*
        };
    }

    mod bits {
        pub(super) fn u8(value: u8) -> u64 {
            value.into()
        }
        pub(super) fn i8(value: i8) -> u64 {
            value.cast_unsigned().into()
        }
        pub(super) fn i32(value: i32) -> u64 {
            value.cast_unsigned().into()
        }
        pub(super) fn u64(value: u64) -> u64 {
            value
        }
        pub(super) fn i64(value: i64) -> u64 {
            value.cast_unsigned()
        }
        pub(super) fn f32(value: f32) -> u64 {
            value.to_bits().into()
        }
        pub(super) fn f64(value: f64) -> u64 {
            value.to_bits()
        }
        pub(super) fn bool(value: bool) -> u64 {
            value.into()
        }
        pub(super) fn char(value: char) -> u64 {
            u32::from(value).into()
        }
    }

    #[test]
    fn every_type_comes_out_as_rust_writes_it() {
        same! { u8: 200, "" "5" "<5" "^5" "*>6" "05" "+" "x" "#x" "#06X" "#b" "o" "?" "#x?"; }
        same! { i8: -5, "" "4" "04" "x" "#010b" "+"; 7, "+" "+05"; }
        same! { i32: -123_456, "" "+12" "<12" "012" "#X" "?"; i32::MIN, "" "x"; }
        same! { u64: u64::MAX, "" "#x" "25" "025" "?"; }
        same! { i64: i64::MIN, "" "o" "30"; -1, "+" "x"; }
        same! { f32: 0.1, "" ".3" "8.2" "08.2" "+" "e" ".2e" "?" "E"; -2.0, "" "?" "^9" "09.1"; }
        same! { f32: f32::NAN, "" "08" "+"; f32::NEG_INFINITY, "" "+" "08"; 1e30, "" "?" "e"; }
        same! { f64: 1.0 / 3.0, "" ".5" "20" "<20.3" "e"; 1e-7, "" "?" "e"; }
        same! { bool: true, "" "6" ">6"; false, "?" "^9" ".2"; }
        same! { char: 'ä', "" "3" ">3" "?"; }
    }

    #[test]
    fn texts_come_out_as_rust_writes_them_and_are_cut_between_characters() {
        let words = |text: &str| {
            let bytes = text.as_bytes().chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            });
            std::iter::once(text.len() as u64).chain(bytes).collect::<Vec<_>>()
        };
        macro_rules! same {
            ($($text:literal $($specification:literal)*;)*) => {
                $($({
                    let text = concat!("{u8} {str:", $specification, "} {u8}");
                    let values = [&[7], &words($text)[..], &[8]].concat();
                    let expected = format!(concat!("7 {:", $specification, "} 8"), $text);
                    assert_eq!(render_message(text, &values, &[]), expected, "{text}");
                })*)*
            };
        }
        same! { "größer als \"3\"" "" "?" "20" ">20" "*^18.4" ".1" "03"; "" "" "?" "3"; "12345678" "" "?"; }
        let mut values = words("größer als 3");
        values.truncate(2);
        assert_eq!(
            render_message("{str}", &values, &[]),
            "größer",
            "the words of the rest are missing"
        );
        values[1] = u64::from_le_bytes(*b"gr\xc3\xb6\xc3\x9fe\xc3");
        assert_eq!(render_message("{str}, {u8}", &values, &[]), "größe, _");
        assert_eq!(render_message("{str}", &[u64::MAX, u64::MAX], &[]), "\u{fffd}".repeat(8));
        assert_eq!(render_message("{str} {str}", &[0], &[]), " _");
    }

    #[test]
    fn places_are_named_by_their_number() {
        let places = [SourceLocation { file: "kernels/a.cu", line: 3, column: 9 }];
        let shown = |number| render_message("at {place}", &[number], &places);
        assert_eq!(shown(1), "at kernels/a.cu:3:9");
        assert_eq!((shown(0), shown(2)), (shown(9), String::from("at an unknown location")));
    }

    #[test]
    fn braces_and_missing_values_are_shown() {
        assert_eq!(render_message("{{}} {u32} {?} {u32}", &[1, 2], &[]), "{} 1 _ 2");
        assert_eq!(render_message("{u32} {u32}", &[1], &[]), "1 _");
        assert_eq!(render_message("{Vec}, {u32", &[1], &[]), "_, u32");
    }
}
