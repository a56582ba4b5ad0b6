//! Expressions of C++ over numbers, as far as sizes and launches use them: read, evaluated, and written as Rust.

use super::names::rust_type;

/// An expression. What has another form is not read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Integer(i64),
    /// With its digits as Rust has them.
    Float(String),
    Name(String),
    /// `block.x`: the name, and which dimension.
    Member(String, usize),
    /// `sizeof(type)`.
    SizeOf(String),
    Cast(String, Box<Self>),
    /// `ceil(a / b)` of a division that is not one of integers.
    DivCeil(Box<Self>, Box<Self>),
    /// `min` and `max`.
    Call(&'static str, Box<Self>, Box<Self>),
    Unary(char, Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
}

/// A macro with parameters: their names, and its text.
pub(super) type Function = (Vec<String>, String);

/// What finds the macros with parameters that an expression calls.
pub(super) type Functions<'f> = &'f dyn Fn(&str) -> Option<Function>;

/// The operators of each precedence, the loosest first.
const OPERATORS: [&[&str]; 7] = [
    &["||"],
    &["&&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Expression {
    pub(super) fn read(text: &str, functions: Functions<'_>) -> Option<Self> {
        Self::nested(text, functions, 0)
    }

    fn nested(text: &str, functions: Functions<'_>, depth: usize) -> Option<Self> {
        let mut reader = Reader { tokens: tokens(text), at: 0, functions, depth };
        let read = (depth < 8).then(|| reader.binary(0)).flatten()?;
        (reader.at == reader.tokens.len()).then_some(read)
    }

    /// Whether it is a floating-point number, by what is seen of it.
    pub(super) fn is_float(&self, is_float_name: &mut dyn FnMut(&str) -> bool) -> bool {
        match self {
            Self::Float(_) => true,
            Self::Name(name) => is_float_name(name),
            Self::Cast(ty, _) => matches!(ty.as_str(), "f32" | "f64"),
            Self::Call(_, a, b) | Self::Binary(_, a, b) => {
                a.is_float(is_float_name) || b.is_float(is_float_name)
            }
            Self::Unary(_, it) => it.is_float(is_float_name),
            _ => false,
        }
    }

    /// Its value, where all names in it have one.
    pub(super) fn value(&self, of: &mut dyn FnMut(&str) -> Option<i64>) -> Option<i64> {
        Some(match self {
            Self::Integer(number) => *number,
            Self::Name(name) => of(name)?,
            Self::SizeOf(ty) => size_of(ty)?,
            Self::Cast(ty, it) if !ty.starts_with('f') => it.value(of)?,
            Self::Unary(sign, it) => match (sign, it.value(of)?) {
                ('!', value) => i64::from(value == 0),
                (_, value) => value.checked_neg()?,
            },
            Self::DivCeil(a, b) => {
                let (a, b) = (a.value(of)?, b.value(of)?);
                if a < 0 || b <= 0 {
                    return None;
                }
                a.checked_add(b - 1)? / b
            }
            Self::Call(name, a, b) => match (*name, a.value(of)?, b.value(of)?) {
                ("min", a, b) => a.min(b),
                (_, a, b) => a.max(b),
            },
            Self::Binary(operator, a, b) => {
                let a = a.value(of)?;
                // `defined(X) && X > 1`: what is not evaluated need not have a value.
                match (*operator, a) {
                    ("&&", 0) => return Some(0),
                    ("||", it) if it != 0 => return Some(1),
                    _ => applied(operator, a, b.value(of)?)?,
                }
            }
            Self::Float(_) | Self::Member(..) | Self::Cast(..) => return None,
        })
    }
}

fn applied(operator: &str, a: i64, b: i64) -> Option<i64> {
    let shift = || u32::try_from(b).ok();
    match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        "<<" => a.checked_shl(shift()?),
        ">>" => a.checked_shr(shift()?),
        "==" => Some(i64::from(a == b)),
        "!=" => Some(i64::from(a != b)),
        "<=" => Some(i64::from(a <= b)),
        ">=" => Some(i64::from(a >= b)),
        "<" => Some(i64::from(a < b)),
        ">" => Some(i64::from(a > b)),
        // The other side was not enough.
        "&&" | "||" => Some(i64::from(b != 0)),
        _ => None,
    }
}

fn size_of(ty: &str) -> Option<i64> {
    Some(match rust_type(ty)? {
        "bool" | "i8" | "u8" => 1,
        "i16" | "u16" => 2,
        "i32" | "u32" | "f32" => 4,
        _ => 8,
    })
}

/// How tightly a written expression binds: an operator's precedence, or more than any of them.
const PRIMARY: usize = OPERATORS.len() + 1;

/// What writes the names, sizes and dimensions of an expression in Rust.
pub(super) trait Names {
    /// A name as a value of this type.
    fn name(&mut self, name: &str, ty: &str) -> Option<String>;
    /// The type of Rust that a type of C++ is.
    fn ty(&mut self, ty: &str) -> Option<String>;
    /// A dimension of a variable of the type `dim3`.
    fn member(&mut self, name: &str, dimension: usize) -> Option<Expression>;
    /// Whether the name is one of a floating-point number.
    fn is_float(&mut self, name: &str) -> bool;
}

/// Writes an expression as a value of a type of Rust; `None` where it would not be the same.
pub(super) fn rust(it: &Expression, ty: &str, names: &mut dyn Names) -> Option<String> {
    Some(written(it, ty, names)?.0)
}

fn written(it: &Expression, ty: &str, names: &mut dyn Names) -> Option<(String, usize)> {
    let is_float = ty.starts_with('f');
    Some(match it {
        Expression::Integer(number) if is_float => (format!("{number}.0"), PRIMARY),
        Expression::Integer(number) => (number.to_string(), PRIMARY),
        Expression::Float(digits) if is_float => (digits.clone(), PRIMARY),
        Expression::Name(name) => (names.name(name, ty)?, PRIMARY),
        Expression::Member(name, dimension) => {
            let size = names.member(name, *dimension)?;
            written(&size, ty, names)?
        }
        Expression::SizeOf(of) if !is_float => {
            let cast = if ty == "usize" { String::new() } else { format!(" as {ty}") };
            (format!("size_of::<{}>(){cast}", names.ty(of)?), PRIMARY)
        }
        Expression::Cast(to, it) => {
            let is_rounded = !to.starts_with('f') && it.is_float(&mut |name| names.is_float(name));
            if is_rounded || !is_float && to.starts_with('f') {
                return None;
            }
            written(it, ty, names)?
        }
        // Signed integers have no such method yet.
        Expression::DivCeil(a, b) if ty.starts_with('i') => {
            let one = Expression::Integer(1).into();
            let sum = Expression::Binary("+", a.clone(), b.clone());
            let sum = Expression::Binary("-", sum.into(), one);
            written(&Expression::Binary("/", sum.into(), b.clone()), ty, names)?
        }
        Expression::DivCeil(a, b) if !is_float => {
            let (a, b) = (receiver(a, ty, names)?, written(b, ty, names)?.0);
            (format!("{a}.div_ceil({b})"), PRIMARY)
        }
        Expression::Call(name, a, b) => {
            let (a, b) = (receiver(a, ty, names)?, written(b, ty, names)?.0);
            (format!("{a}.{name}({b})"), PRIMARY)
        }
        Expression::Unary('-', it) if !ty.starts_with('u') => {
            (format!("-{}", bracketed(written(it, ty, names)?, PRIMARY)), PRIMARY)
        }
        Expression::Binary("/", sum, b) if ty.starts_with('u') && rounded_up(sum, b).is_some() => {
            let a = rounded_up(sum, b)?;
            written(&Expression::DivCeil(a.clone().into(), b.clone()), ty, names)?
        }
        Expression::Binary(operator, a, b) => {
            let place = OPERATORS.iter().position(|it| it.contains(operator))?;
            let is_arithmetic = place >= 5 || place == 4 && !is_float;
            // Of integers these round, which the other number would not.
            let rounds = is_float && ["/", "%"].contains(operator);
            let mut is_float_name = |name: &str| names.is_float(name);
            if !is_arithmetic || rounds && !it.is_float(&mut is_float_name) {
                return None;
            }
            let a = bracketed(written(a, ty, names)?, place);
            let b = bracketed(written(b, ty, names)?, place + 1);
            let is_cast_before = operator.starts_with('<') && a.contains(" as ");
            let a = if is_cast_before { format!("({a})") } else { a };
            (format!("{a} {operator} {b}"), place)
        }
        _ => return None,
    })
}

/// What is divided by `b` and rounded up, where `sum` is `a + b - 1`.
fn rounded_up<'e>(sum: &'e Expression, b: &Expression) -> Option<&'e Expression> {
    match (sum, b) {
        (Expression::Binary("+", a, less), Expression::Integer(by)) => {
            matches!(**less, Expression::Integer(it) if it == by - 1).then_some(&**a)
        }
        (Expression::Binary("-", sum, one), by) if **one == Expression::Integer(1) => {
            match &**sum {
                Expression::Binary("+", a, it) => (**it == *by).then_some(&**a),
                _ => None,
            }
        }
        _ => None,
    }
}

fn bracketed((text, place): (String, usize), least: usize) -> String {
    if place < least { format!("({text})") } else { text }
}

/// An expression before a method: numbers need their type there.
fn receiver(it: &Expression, ty: &str, names: &mut dyn Names) -> Option<String> {
    let (text, place) = written(it, ty, names)?;
    let is_number = matches!(it, Expression::Integer(_) | Expression::Float(_));
    Some(match text.contains(" as ") || place < PRIMARY {
        _ if is_number => format!("{text}_{ty}"),
        true => format!("({text})"),
        false => text,
    })
}

struct Reader<'f> {
    tokens: Vec<String>,
    at: usize,
    functions: Functions<'f>,
    depth: usize,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> Option<()> {
        (self.peek() == token).then(|| self.at += 1)
    }

    fn binary(&mut self, place: usize) -> Option<Expression> {
        let Some(operators) = OPERATORS.get(place) else { return self.unary() };
        let mut left = self.binary(place + 1)?;
        while let Some(operator) = operators.iter().find(|it| **it == self.peek()) {
            self.at += 1;
            left = Expression::Binary(operator, left.into(), self.binary(place + 1)?.into());
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expression> {
        let sign = match self.peek() {
            "-" => '-',
            "!" => '!',
            "(" => {
                let close = self.closing()?;
                let ty = self.tokens[self.at + 1..close].join(" ");
                let after = self.tokens.get(close + 1).map_or("", String::as_str);
                let is_operand =
                    after.starts_with(|c: char| c.is_alphanumeric() || "(_.".contains(c));
                if let Some(ty) = rust_type(&ty).filter(|_| is_operand) {
                    self.at = close + 1;
                    return Some(Expression::Cast(ty.to_owned(), self.unary()?.into()));
                }
                self.at += 1;
                let inner = self.binary(0)?;
                self.take(")")?;
                return Some(inner);
            }
            _ => return self.primary(),
        };
        self.at += 1;
        Some(Expression::Unary(sign, self.unary()?.into()))
    }

    /// The bracket that closes the one here.
    fn closing(&self) -> Option<usize> {
        let mut depth = 0_i32;
        (self.at..self.tokens.len()).find(|at| {
            depth += i32::from(self.tokens[*at] == "(") - i32::from(self.tokens[*at] == ")");
            depth == 0
        })
    }

    fn primary(&mut self) -> Option<Expression> {
        let token = self.peek().to_owned();
        self.at += 1;
        if token.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return number(&token);
        }
        if !token.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return None;
        }
        if token == "std" && self.take("::").is_some() {
            return self.primary();
        }
        if token == "static_cast" {
            self.take("<")?;
            let start = self.at;
            while self.peek() != ">" {
                self.at += 1;
                (self.at < self.tokens.len()).then_some(())?;
            }
            let ty = rust_type(&self.tokens[start..self.at].join(" "))?;
            self.at += 1;
            return Some(Expression::Cast(ty.to_owned(), self.unary()?.into()));
        }
        if self.peek() == "(" {
            return self.call(&token);
        }
        if self.take(".").is_some() {
            let dimension = ["x", "y", "z"].iter().position(|it| *it == self.peek())?;
            self.at += 1;
            return Some(Expression::Member(token, dimension));
        }
        Some(Expression::Name(token))
    }

    fn call(&mut self, name: &str) -> Option<Expression> {
        let close = self.closing()?;
        let inner = self.tokens[self.at + 1..close].to_vec();
        self.at = close + 1;
        if name == "sizeof" {
            return Some(Expression::SizeOf(inner.join(" ")));
        }
        let texts: Vec<_> = arguments(&inner);
        if let Some((parameters, body)) = (self.functions)(name) {
            if parameters.len() != texts.len() {
                return None;
            }
            let of = |word: String| match parameters.iter().position(|it| *it == word) {
                Some(place) => format!("({})", texts[place]),
                None => word,
            };
            let body: Vec<_> = tokens(&body).into_iter().map(of).collect();
            return Expression::nested(&body.join(" "), self.functions, self.depth + 1);
        }
        let read = |text: &String| Expression::nested(text, self.functions, self.depth + 1);
        let given = texts.iter().map(read).collect::<Option<Vec<_>>>()?;
        match (name, &given[..]) {
            ("ceil" | "ceilf", [one]) => ceiling(one),
            ("min" | "max", [a, b]) => {
                let name = if name == "min" { "min" } else { "max" };
                Some(Expression::Call(name, a.clone().into(), b.clone().into()))
            }
            (ty, [one]) => Some(Expression::Cast(rust_type(ty)?.to_owned(), one.clone().into())),
            _ => None,
        }
    }
}

/// `ceil` of a division, exact where it is one of floating-point numbers that are integers.
fn ceiling(inner: &Expression) -> Option<Expression> {
    let is_float = inner.is_float(&mut |_| false);
    match inner {
        // The integers are divided before.
        _ if !is_float => Some(inner.clone()),
        Expression::Binary("/", a, b) => {
            Some(Expression::DivCeil(unfloated(a)?.into(), unfloated(b)?.into()))
        }
        _ => None,
    }
}

/// An integer that a cast, or a product with 1.0, made a floating-point number of.
fn unfloated(it: &Expression) -> Option<Expression> {
    let is_one = |it: &Expression| matches!(it, Expression::Float(digits) if digits == "1.0");
    match it {
        Expression::Cast(ty, inner) if ty.starts_with('f') => unfloated(inner),
        Expression::Binary("*", a, b) if is_one(a) => unfloated(b),
        Expression::Binary("*", a, b) if is_one(b) => unfloated(a),
        Expression::Float(digits) => {
            digits.strip_suffix(".0")?.parse().ok().map(Expression::Integer)
        }
        _ => (!it.is_float(&mut |_| false)).then(|| it.clone()),
    }
}

/// The arguments of a call, of its tokens.
fn arguments(tokens: &[String]) -> Vec<String> {
    let (mut found, mut depth) = (vec![Vec::new()], 0_i32);
    for token in tokens {
        depth += i32::from(token == "(") - i32::from(token == ")");
        match found.last_mut() {
            Some(last) if token != "," || depth > 0 => last.push(token.as_str()),
            _ => found.push(Vec::new()),
        }
    }
    found.into_iter().map(|it| it.join(" ")).collect()
}

fn number(token: &str) -> Option<Expression> {
    if let Some(digits) = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
        return i64::from_str_radix(digits, 16).ok().map(Expression::Integer);
    }
    if token.contains(['.', 'e', 'E', 'f', 'F']) {
        let digits = token.trim_end_matches(['f', 'F', 'l', 'L']);
        digits.parse::<f64>().ok()?;
        let before = if digits.starts_with('.') { "0" } else { "" };
        let after = match digits.contains(['.', 'e', 'E']) {
            true if digits.ends_with('.') => "0",
            true => "",
            false => ".0",
        };
        return Some(Expression::Float(format!("{before}{digits}{after}")));
    }
    let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
    // Those that begin with 0 are octal.
    let base = if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
    i64::from_str_radix(digits, base).ok().map(Expression::Integer)
}

/// Words, numbers and signs.
fn tokens(text: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let is_number = first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let two = ["||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "::"];
        let length = if is_number {
            let mut last = ' ';
            let end = rest.find(|c: char| {
                let is_exponent =
                    "eE".contains(last) && "+-".contains(c) && !rest.starts_with("0x");
                last = c;
                !is_word(c) && c != '.' && !is_exponent
            });
            end.unwrap_or(rest.len())
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if two.iter().any(|it| rest.starts_with(it)) {
            2
        } else {
            first.len_utf8()
        };
        found.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Names for Plain {
        fn name(&mut self, name: &str, ty: &str) -> Option<String> {
            (name != "unknown").then(|| format!("{name} as {ty}"))
        }

        fn ty(&mut self, ty: &str) -> Option<String> {
            rust_type(ty).map(str::to_owned)
        }

        fn member(&mut self, _: &str, dimension: usize) -> Option<Expression> {
            (dimension == 0).then_some(Expression::Integer(32))
        }

        fn is_float(&mut self, name: &str) -> bool {
            name == "x"
        }
    }

    fn functions(name: &str) -> Option<Function> {
        let body = "((a) + (b) - 1) / (b)".to_owned();
        (name == "DIVUP").then(|| (vec!["a".to_owned(), "b".to_owned()], body))
    }

    fn in_rust(text: &str, ty: &str) -> Option<String> {
        rust(&Expression::read(text, &functions)?, ty, &mut Plain)
    }

    #[test]
    fn sizes_of_cuda_programs_are_written_as_rust() {
        for (text, expected) in [
            ("(n + 255) / 256", "(n as u32).div_ceil(256)"),
            ("(n + b - 1) / b", "(n as u32).div_ceil(b as u32)"),
            ("(n + 255) / 128", "(n as u32 + 255) / 128"),
            ("N-M+1", "N as u32 - M as u32 + 1"),
            ("a - (b - c)", "a as u32 - (b as u32 - c as u32)"),
            ("(size_t)ceil( ((float)NJ) / ((float)block.x) )", "(NJ as u32).div_ceil(32)"),
            ("ceil(1.0 * n / 192)", "(n as u32).div_ceil(192)"),
            // The division is one of integers.
            ("ceil(n / 192)", "n as u32 / 192"),
            ("std::min(n, 64u)", "(n as u32).min(64)"),
            ("DIVUP(n, 1 << 4)", "(n as u32).div_ceil(1 << 4)"),
            ("n << 2", "(n as u32) << 2"),
            ("0x10", "16"),
        ] {
            assert_eq!(in_rust(text, "u32").as_deref(), Some(expected), "{text}");
        }
        let rows = "(n as i32 + 16 - 1) / 16";
        assert_eq!(in_rust("ceil(n / 16.0)", "i32").as_deref(), Some(rows));
        let bytes = "n as usize * size_of::<f32>()";
        assert_eq!(in_rust("n * sizeof(float)", "usize").as_deref(), Some(bytes));
        for (text, expected) in [("1.f", "1.0"), ("-2", "-2.0"), ("x / 2", "x as f32 / 2.0")] {
            assert_eq!(in_rust(text, "f32").as_deref(), Some(expected), "{text}");
        }
        for (text, ty) in [
            ("n / 2", "f32"),
            ("(int)(n * 0.5)", "u32"),
            ("ceil(n * 0.5)", "u32"),
            ("a ? b : c", "u32"),
            ("unknown + 1", "u32"),
            ("block.y", "u32"),
            ("f(n)", "u32"),
        ] {
            assert_eq!(in_rust(text, ty), None, "{text}");
        }
    }

    #[test]
    fn conditions_are_evaluated() {
        let value = |text: &str| {
            let of = &mut |name: &str| (name == "two").then_some(2);
            Expression::read(text, &functions)?.value(of)
        };
        assert_eq!(value("two * 3 == 6 && !0"), Some(1));
        assert_eq!(value("0 && missing"), Some(0));
        assert_eq!(value("ceil(two / 4.0)"), Some(1));
        assert_eq!(value("7 / 0"), None);
    }
}
