//! C's `printf`, for kernels in CUDA C++ on devices that have none (C11, 7.21.6.1).

use core::fmt::{self, Write};

use super::{decimal::Decimal, line::Line};

/// A conversion specification: flags, width, precision and length.
#[derive(Clone, Copy, Default)]
struct Style {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zeros: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer.
    bytes: usize,
}

/// The rest of a C string.
struct Text(*const u8);

impl Text {
    /// The next byte; 0 at the end.
    fn peek(&self) -> u8 {
        // SAFETY: within the text, of which the zero at its end is never passed.
        unsafe { *self.0 }
    }

    fn next(&mut self) -> u8 {
        let byte = self.peek();
        if byte != 0 {
            // SAFETY: it is not the last one.
            self.0 = unsafe { self.0.add(1) };
        }
        byte
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        if found {
            self.next();
        }
        found
    }
}

/// The arguments, each as a word.
struct Values {
    next: *const u64,
    left: usize,
}

impl Values {
    /// The next one; 0 where there is none.
    fn next(&mut self) -> u64 {
        if self.left == 0 {
            return 0;
        }
        self.left -= 1;
        // SAFETY: one is left.
        unsafe {
            let value = *self.next;
            self.next = self.next.add(1);
            value
        }
    }
}

/// Formats as C's `printf` does, into a line without an end of its own. `%n` writes nothing; `%a` is not
/// supported.
///
/// # Safety
///
/// The format is null-terminated, as is the argument of `%s` without a precision; there are as many
/// values.
pub(super) unsafe fn format(line: &mut Line, format: *const u8, values: *const u64, count: usize) {
    let (mut text, mut values) = (Text(format), Values { next: values, left: count });
    loop {
        // What does not fit is cut.
        let _ = match text.next() {
            0 => return,
            b'%' if !text.eat(b'%') => {
                let style = Style::read(&mut text, &mut values);
                // SAFETY: promised.
                unsafe { value(line, style, text.next(), &mut values) }
            }
            byte => line.write_byte(byte),
        };
    }
}

impl Style {
    fn read(text: &mut Text, values: &mut Values) -> Self {
        let mut style = Self { bytes: 4, ..Self::default() };
        loop {
            let flag = match text.peek() {
                b'-' => &mut style.left,
                b'+' => &mut style.plus,
                b' ' => &mut style.space,
                b'#' => &mut style.alternate,
                b'0' => &mut style.zeros,
                _ => break,
            };
            *flag = true;
            text.next();
        }
        match number(text, values) {
            Some(width) if width < 0 => (style.left, style.width) = (true, width.unsigned_abs()),
            width => style.width = width.unwrap_or(0).unsigned_abs(),
        }
        if text.eat(b'.') {
            // A negative one is as none.
            let precision = number(text, values).unwrap_or(0);
            style.precision = usize::try_from(precision).ok();
        }
        loop {
            style.bytes = match text.peek() {
                b'h' if style.bytes == 2 => 1,
                b'h' => 2,
                b'l' | b'j' | b'z' | b't' | b'q' => 8,
                b'L' => style.bytes,
                _ => return style,
            };
            text.next();
        }
    }
}

/// A number in the format, or the argument of a `*`.
fn number(text: &mut Text, values: &mut Values) -> Option<isize> {
    if text.eat(b'*') {
        return Some(values.next() as u32 as i32 as isize);
    }
    let mut found = None;
    while text.peek().is_ascii_digit() {
        let digit = isize::from(text.next() - b'0');
        found = Some(found.unwrap_or(0_isize).saturating_mul(10).saturating_add(digit));
    }
    found
}

/// Writes one value.
///
/// # Safety
///
/// As for [`format`].
unsafe fn value(line: &mut Line, style: Style, kind: u8, values: &mut Values) -> fmt::Result {
    let mut digits = Line::new();
    match kind {
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => number_value(line, style, kind, values.next()),
        b'c' => {
            digits.write_byte(values.next() as u8)?;
            padded(line, style, "", &digits, false)
        }
        b'p' => {
            integer(&mut digits, Style::default(), values.next(), 16, false)?;
            padded(line, style, "0x", &digits, false)
        }
        b's' => {
            let mut text = Text(values.next() as *const u8);
            let mut left = style.precision.unwrap_or(usize::MAX);
            while !text.0.is_null() && left > 0 && text.peek() != 0 {
                digits.write_byte(text.next())?;
                left -= 1;
            }
            padded(line, style, "", &digits, false)
        }
        b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
            let number = f64::from_bits(values.next());
            float(&mut digits, style, number.abs(), kind)?;
            let sign = sign(style, number.is_sign_negative() && !number.is_nan());
            padded(line, style, sign, &digits, number.is_finite())
        }
        b'n' => {
            values.next();
            Ok(())
        }
        0 => Ok(()),
        other => {
            line.write_byte(b'%')?;
            line.write_byte(other)
        }
    }
}

/// Writes an integer, of as many bytes of the word as the length says.
fn number_value(line: &mut Line, style: Style, kind: u8, word: u64) -> fmt::Result {
    let mut digits = Line::new();
    let shift = 64 - 8 * style.bytes as u32;
    let prefix = if matches!(kind, b'd' | b'i') {
        let number = ((word << shift) as i64) >> shift;
        integer(&mut digits, style, number.unsigned_abs(), 10, false)?;
        sign(style, number < 0)
    } else {
        let number = (word << shift) >> shift;
        let radix = [10, 8, 16][usize::from(kind == b'o') + 2 * usize::from(kind | 32 == b'x')];
        integer(&mut digits, style, number, radix, kind == b'X')?;
        match kind {
            b'x' if style.alternate && number != 0 => "0x",
            b'X' if style.alternate && number != 0 => "0X",
            b'o' if style.alternate && digits.text().first() != Some(&b'0') => "0",
            _ => "",
        }
    };
    padded(line, style, prefix, &digits, style.precision.is_none())
}

fn sign(style: Style, is_negative: bool) -> &'static str {
    match (is_negative, style.plus, style.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (.., true) => " ",
        _ => "",
    }
}

/// The digits of a number, as many as the precision asks for.
fn integer(to: &mut Line, style: Style, number: u64, radix: u64, upper: bool) -> fmt::Result {
    let (mut digits, mut count, mut left) = ([0; 22], 0, number);
    while left > 0 {
        let digit = (left % radix) as u8;
        let letter = if upper { b'A' } else { b'a' };
        digits[count] = if digit < 10 { b'0' + digit } else { letter + digit - 10 };
        left /= radix;
        count += 1;
    }
    let least = style.precision.unwrap_or(1);
    let mut zeros = count;
    while zeros < least {
        to.write_byte(b'0')?;
        zeros += 1;
    }
    while count > 0 {
        count -= 1;
        to.write_byte(digits[count])?;
    }
    Ok(())
}

/// The digits of a number that is not negative.
fn float(to: &mut Line, style: Style, number: f64, kind: u8) -> fmt::Result {
    let upper = kind.is_ascii_uppercase();
    if !number.is_finite() {
        return to.write_str(match (number.is_nan(), upper) {
            (true, false) => "nan",
            (true, true) => "NAN",
            (false, false) => "inf",
            (false, true) => "INF",
        });
    }
    let precision = style.precision.unwrap_or(6).min(super::LINE_BYTES) as i32;
    let number = Decimal::of(number);
    match kind | 32 {
        b'f' => fixed(to, number, precision, style.alternate),
        b'e' => exponential(to, number, precision, upper, style.alternate),
        _ => {
            let significant = precision.max(1);
            let mut rounded = number;
            rounded.round(number.top() - (significant - 1));
            let exponent = rounded.top();
            let mut digits = Line::new();
            if exponent < -4 || exponent >= significant {
                exponential(&mut digits, number, significant - 1, upper, style.alternate)?;
            } else {
                fixed(&mut digits, number, significant - 1 - exponent, style.alternate)?;
            }
            if style.alternate { copy(to, digits.text()) } else { without_zeros(to, digits.text()) }
        }
    }
}

/// The digits from one place to another.
fn digits(to: &mut Line, number: &Decimal, from: i32, last: i32) -> fmt::Result {
    let mut place = from;
    while place >= last {
        to.write_byte(b'0' + number.digit(place))?;
        place -= 1;
    }
    Ok(())
}

fn fixed(to: &mut Line, mut number: Decimal, places: i32, alternate: bool) -> fmt::Result {
    number.round(-places);
    digits(to, &number, number.top().max(0), 0)?;
    if places > 0 || alternate {
        to.write_byte(b'.')?;
    }
    digits(to, &number, -1, -places)
}

/// `1.5e+00`: C's exponents have a sign and two digits.
fn exponential(
    to: &mut Line,
    mut number: Decimal,
    places: i32,
    upper: bool,
    alternate: bool,
) -> fmt::Result {
    number.round(number.top() - places);
    let exponent = number.top();
    digits(to, &number, exponent, exponent)?;
    if places > 0 || alternate {
        to.write_byte(b'.')?;
    }
    digits(to, &number, exponent - 1, exponent - places)?;
    to.write_byte(if upper { b'E' } else { b'e' })?;
    to.write_byte(if exponent < 0 { b'-' } else { b'+' })?;
    let style = Style { precision: Some(2), ..Style::default() };
    integer(to, style, u64::from(exponent.unsigned_abs()), 10, false)
}

/// A number without trailing zeros of its fraction.
fn without_zeros(to: &mut Line, text: &[u8]) -> fmt::Result {
    let end = text.iter().position(|byte| byte | 32 == b'e').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let mut kept = number.len();
    if number.contains(&b'.') {
        while kept > 0 && number[kept - 1] == b'0' {
            kept -= 1;
        }
        if kept > 0 && number[kept - 1] == b'.' {
            kept -= 1;
        }
    }
    copy(to, &number[..kept])?;
    copy(to, rest)
}

fn copy(to: &mut Line, text: &[u8]) -> fmt::Result {
    text.iter().try_for_each(|byte| to.write_byte(*byte))
}

/// A sign or prefix and the digits, padded to the width.
fn padded(line: &mut Line, style: Style, before: &str, rest: &Line, by_zeros: bool) -> fmt::Result {
    let fill = style.width.saturating_sub(before.len() + rest.text().len());
    let zeros = style.zeros && by_zeros && !style.left;
    let fill_with = |line: &mut Line, byte: u8| {
        let mut left = fill;
        while left > 0 {
            line.write_byte(byte)?;
            left -= 1;
        }
        Ok(())
    };
    if !style.left && !zeros {
        fill_with(line, b' ')?;
    }
    copy(line, before.as_bytes())?;
    if zeros {
        fill_with(line, b'0')?;
    }
    copy(line, rest.text())?;
    if style.left { fill_with(line, b' ') } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &core::ffi::CStr, values: &[u64]) -> String {
        let mut line = Line::new();
        // SAFETY: the text ends in a zero, and texts among the values do.
        unsafe { format(&mut line, text.as_ptr().cast(), values.as_ptr(), values.len()) };
        String::from_utf8(line.text().to_vec()).unwrap()
    }

    /// What C's own `snprintf` says.
    fn of_c(text: &core::ffi::CStr, value: Value) -> String {
        unsafe extern "C" {
            fn snprintf(to: *mut u8, length: usize, format: *const u8, ...) -> i32;
        }
        let mut bytes = [0_u8; 512];
        let (to, length, format) = (bytes.as_mut_ptr(), bytes.len(), text.as_ptr().cast());
        // SAFETY: the buffer is as long; the value is of the type that the format names.
        let count = unsafe {
            match value {
                Value::Int(value) => snprintf(to, length, format, value as i32),
                Value::Long(value) => snprintf(to, length, format, value),
                Value::Double(value) => snprintf(to, length, format, value),
            }
        };
        String::from_utf8(bytes[..count as usize].to_vec()).unwrap()
    }

    #[derive(Clone, Copy)]
    enum Value {
        Int(u64),
        Long(u64),
        Double(f64),
    }

    impl Value {
        fn word(self) -> u64 {
            match self {
                Self::Int(value) => u64::from(value as u32),
                Self::Long(value) => value,
                Self::Double(value) => value.to_bits(),
            }
        }
    }

    /// Every form that is not undefined in C, of many values, against C's own.
    #[test]
    fn numbers_are_as_c_prints_them() {
        let ints = [0, 1, 7, 42, 255, 65_537, 0x7fff_ffff, 0xffff_fffe, 0x8000_0000];
        let longs = [0, 1 << 40, u64::MAX, 1 << 63];
        let floats = [
            0.0,
            -0.0,
            1.0,
            -2.5,
            0.1,
            1.0 / 3.0,
            123_456.0,
            1_234_567.0,
            0.000_123_45,
            9.999_999_5,
            1e-5,
            1e20,
            6.02e23,
            -1e-300,
            0.5,
            1.5,
            2.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        let mut count = 0;
        let mut check = |form: &str, value: Value| {
            let text = std::ffi::CString::new(format!("<{form}>")).unwrap();
            assert_eq!(printed(&text, &[value.word()]), of_c(&text, value), "{form}");
            count += 1;
        };
        for flags in ["", "-", "+", " ", "0", "#", "-#", "+0", "0#"] {
            for width in ["", "12"] {
                for precision in ["", ".0", ".3", ".10"] {
                    let form = |kind: &str| format!("%{flags}{width}{precision}{kind}");
                    let is_signed = flags.contains(['+', ' ']);
                    for kind in ["d", "i", "hd", "hhd"] {
                        let kinds = ints.iter().filter(|_| !flags.contains('#'));
                        kinds.for_each(|value| check(&form(kind), Value::Int(*value)));
                    }
                    for kind in ["u", "x", "X", "o"] {
                        let is_odd = is_signed || kind == "u" && flags.contains('#');
                        for value in ints.iter().filter(|_| !is_odd) {
                            check(&form(kind), Value::Int(*value));
                        }
                        for value in longs.iter().filter(|_| !is_odd) {
                            check(&form(&format!("l{kind}")), Value::Long(*value));
                        }
                    }
                    for kind in ["f", "e", "g", "E", "G"] {
                        for value in floats {
                            check(&form(kind), Value::Double(value));
                        }
                    }
                }
            }
        }
        assert!(count > 5_000, "{count}");
    }

    #[test]
    fn texts_and_arguments_for_widths() {
        let word = c"words";
        let address = word.as_ptr() as u64;
        let cases: [(&core::ffi::CStr, &[u64], &str); 8] = [
            (c"%s and %.2s|%8s|%-8s|", &[address; 4], "words and wo|   words|words   |"),
            (c"%c%5c|%%", &[65, 66], "A    B|%"),
            (c"%*d|%-*d|%.*f", &[5, 7, 3, 1, 2, 1.0_f64.to_bits()], "    7|1  |1.00"),
            (c"%*d|", &[u64::from(-4_i32 as u32), 9], "9   |"),
            (c"%p", &[0xabc], "0xabc"),
            (c"%s", &[0], ""),
            (c"%y", &[1], "%y"),
            (c"none %d", &[], "none 0"),
        ];
        for (text, values, expected) in cases {
            assert_eq!(printed(text, values), expected);
        }
        let long = printed(c"%300d", &[1]);
        assert_eq!(long.len(), super::super::LINE_BYTES);
    }
}
