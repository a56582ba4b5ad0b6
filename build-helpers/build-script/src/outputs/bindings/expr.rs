//! Rust expressions, printed as rustfmt would: on one line where they fit, else one part a line.

/// The longest line.
const WIDTH: usize = 100;
const STEP: usize = 4;

/// An expression.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    /// Anything short.
    Atom(String),
    /// `function(arguments)`.
    Call(String, Vec<Expr>),
    /// `Name { field: value }`.
    Struct(&'static str, Vec<Field>),
    /// `Name { field: value, ..base }`.
    Update(&'static str, Vec<Field>, &'static str),
    /// `[elements]`.
    Array(Vec<Expr>),
    /// `&[elements]`.
    Slice(Vec<Expr>),
    /// `&expression`.
    Reference(Box<Expr>),
    /// `unsafe { expression }`.
    Unsafe(Box<Expr>),
}

/// A field of a struct expression.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    name: &'static str,
    value: Expr,
    /// A comment above it.
    comment: Option<&'static str>,
}

impl Field {
    pub(super) fn new(name: &'static str, value: Expr) -> Self {
        Self { name, value, comment: None }
    }

    pub(super) fn with_comment(mut self, comment: &'static str) -> Self {
        self.comment = Some(comment);
        self
    }
}

impl Expr {
    pub(super) fn atom(text: impl Into<String>) -> Self {
        Self::Atom(text.into())
    }

    /// A text as a Rust literal.
    pub(super) fn text(text: &str) -> Self {
        Self::Atom(format!("{text:?}"))
    }

    pub(super) fn call(function: impl Into<String>, arguments: impl Into<Vec<Self>>) -> Self {
        Self::Call(function.into(), arguments.into())
    }

    /// The expression's text, where `used` characters of its first line are taken, and `indent`
    /// is the indentation of that line.
    pub(super) fn print(&self, indent: usize, used: usize) -> String {
        match self.on_one_line() {
            Some(line) if used + line.len() < WIDTH => line,
            _ => self.broken(indent),
        }
    }

    fn on_one_line(&self) -> Option<String> {
        let join = |parts: &[Self]| {
            let parts: Option<Vec<_>> = parts.iter().map(Self::on_one_line).collect();
            Some(parts?.join(", "))
        };
        Some(match self {
            Self::Atom(text) => text.clone(),
            Self::Call(function, arguments) => format!("{function}({})", join(arguments)?),
            Self::Array(elements) => format!("[{}]", join(elements)?),
            Self::Slice(elements) => format!("&[{}]", join(elements)?),
            Self::Reference(inner) => format!("&{}", inner.on_one_line()?),
            Self::Unsafe(inner) => format!("unsafe {{ {} }}", inner.on_one_line()?),
            Self::Struct(name, fields) => {
                let fields: Option<Vec<_>> = fields.iter().map(Field::on_one_line).collect();
                format!("{name} {{ {} }}", fields?.join(", "))
            }
            Self::Update(name, fields, base) => {
                let fields: Option<Vec<_>> = fields.iter().map(Field::on_one_line).collect();
                format!("{name} {{ {}, ..{base} }}", fields?.join(", "))
            }
        })
    }

    fn broken(&self, indent: usize) -> String {
        let inner = indent + STEP;
        let close = " ".repeat(indent);
        let lines = |parts: &[Self]| -> String {
            let line = |part: &Self| format!("{:inner$}{},\n", "", part.print(inner, inner + 1));
            parts.iter().map(line).collect()
        };
        match self {
            Self::Atom(text) => text.clone(),
            // rustfmt lets an only argument that is broken start on the line of the call.
            Self::Call(function, arguments) => match arguments.as_slice() {
                [only] if !matches!(only, Self::Atom(_)) => {
                    format!("{function}({})", only.broken(indent))
                }
                arguments => format!("{function}(\n{}{close})", lines(arguments)),
            },
            Self::Unsafe(value) => {
                format!("unsafe {{\n{:inner$}{}\n{close}}}", "", value.print(inner, inner))
            }
            Self::Array(elements) => format!("[\n{}{close}]", lines(elements)),
            Self::Slice(elements) => match elements.as_slice() {
                [only @ Self::Struct(..)] => format!("&[{}]", only.broken(indent)),
                elements => format!("&[\n{}{close}]", lines(elements)),
            },
            Self::Reference(value) => format!("&{}", value.broken(indent)),
            Self::Struct(name, fields) => {
                let fields: String = fields.iter().map(|field| field.line(inner)).collect();
                format!("{name} {{\n{fields}{close}}}")
            }
            Self::Update(name, fields, base) => {
                let fields: String = fields.iter().map(|field| field.line(inner)).collect();
                format!("{name} {{\n{fields}{:inner$}..{base}\n{close}}}", "")
            }
        }
    }
}

impl Field {
    fn on_one_line(&self) -> Option<String> {
        let value = self.value.on_one_line()?;
        self.comment.is_none().then(|| format!("{}: {value}", self.name))
    }

    fn line(&self, indent: usize) -> String {
        let comment =
            self.comment.map_or_else(String::new, |text| format!("{:indent$}// {text}\n", ""));
        let start = format!("{:indent$}{}: ", "", self.name);
        format!("{comment}{start}{},\n", self.value.print(indent, start.len() + 1))
    }
}

/// A number as the bindings have it.
pub(super) fn hexadecimal(number: u64) -> String {
    let digits: Vec<_> =
        (0..4).rev().map(|at| format!("{:04x}", number >> (16 * at) & 0xffff)).collect();
    format!("0x{}", digits.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_break_where_they_do_not_fit() {
        let short = Expr::call("f", [Expr::atom("1"), Expr::text("two")]);
        assert_eq!(short.print(0, 0), "f(1, \"two\")");
        let long = Expr::call("f", [Expr::atom("a".repeat(60)), Expr::atom("b".repeat(60))]);
        let expected = format!("f(\n    {},\n    {},\n)", "a".repeat(60), "b".repeat(60));
        assert_eq!(long.print(0, 0), expected);
        let commented = Field::new("x", Expr::atom("1")).with_comment("why");
        assert_eq!(Expr::Struct("S", vec![commented]).print(0, 0), "S {\n    // why\n    x: 1,\n}");
    }
}
