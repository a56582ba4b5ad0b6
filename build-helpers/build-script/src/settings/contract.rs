//! Contracts: rules that a kernel's author states in the configuration, `x.len >= n`.
//!
//! A rule is a Rust expression of integers, names, fields, `+ - * / %`, comparisons, `&&`, `||` and
//! parentheses; `syn` parses it, so that operators bind as in Rust. A C++ parameter may be called as a
//! keyword of Rust (`in`, `type`): such a word is a name here.
//!
//! What a name means is not known here: that depends on the kernel.

use kernelmill_compiler::diagnostic::Place;
use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use std::{fmt, ops::Range, sync::Arc};
use syn::{BinOp, Expr, Lit, Member, UnOp, ext::IdentExt as _, spanned::Spanned as _};

/// A rule as it was written, and what it says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) text: String,
    pub(crate) condition: Term,
    pub(crate) origin: Option<Origin>,
}

/// Where in a settings file something stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) place: Place,
    /// The text of the file.
    pub(crate) file: Arc<str>,
}

/// A part of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) kind: TermKind,
    /// Its bytes in the rule.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TermKind {
    Number(i128),
    Name(String),
    /// `name.member`, `name.member.member`.
    Member(String, Vec<String>),
    Binary(Operator, Box<Term>, Box<Term>),
    Negative(Box<Term>),
}

/// An operator between two terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleError {
    pub(crate) message: String,
    /// Its bytes in the rule.
    pub(crate) span: Range<usize>,
    pub(crate) help: String,
}

impl RuleError {
    pub(crate) fn new(
        message: impl Into<String>,
        span: Range<usize>,
        help: impl Into<String>,
    ) -> Self {
        Self { message: message.into(), span, help: help.into() }
    }
}

/// The faults of a rule, in the order of the text.
pub(crate) type RuleErrors = Vec<RuleError>;

impl From<RuleError> for RuleErrors {
    fn from(error: RuleError) -> Self {
        vec![error]
    }
}

/// Two parts of a rule, or the faults of both.
pub(crate) fn both<A, B>(
    left: Result<A, RuleErrors>,
    right: Result<B, RuleErrors>,
) -> Result<(A, B), RuleErrors> {
    match (left, right) {
        (Ok(left), Ok(right)) => Ok((left, right)),
        (Err(mut errors), right) => {
            errors.extend(right.err().unwrap_or_default());
            Err(errors)
        }
        (Ok(_), Err(errors)) => Err(errors),
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        })
    }
}

impl Operator {
    fn of(operator: &BinOp) -> Option<Self> {
        Some(match operator {
            BinOp::Or(_) => Self::Or,
            BinOp::And(_) => Self::And,
            BinOp::Lt(_) => Self::Less,
            BinOp::Le(_) => Self::LessOrEqual,
            BinOp::Gt(_) => Self::Greater,
            BinOp::Ge(_) => Self::GreaterOrEqual,
            BinOp::Eq(_) => Self::Equal,
            BinOp::Ne(_) => Self::NotEqual,
            BinOp::Add(_) => Self::Add,
            BinOp::Sub(_) => Self::Subtract,
            BinOp::Mul(_) => Self::Multiply,
            BinOp::Div(_) => Self::Divide,
            BinOp::Rem(_) => Self::Remainder,
            _ => return None,
        })
    }

    /// Whether it makes a condition of two numbers.
    pub(crate) fn compares(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Less | LessOrEqual | Greater | GreaterOrEqual | Equal | NotEqual)
    }

    /// Whether it makes a condition of two conditions.
    pub(crate) fn joins(self) -> bool {
        matches!(self, Self::And | Self::Or)
    }
}

/// The bytes that a rule may have. The parser recurses at each parenthesis and each prefix operator.
const MAX_BYTES: usize = 512;
/// The open parentheses and prefix operators that a rule may have at one place.
const MAX_DEPTH: usize = 64;

const EXAMPLE: &str = "write a whole condition, for example `x.len >= n`";
const WHAT_RULES_HAVE: &str = "rules consist of integers, names, fields, `+ - * / %`, comparisons, `&&`, `||` and parentheses";

/// Parses a rule.
///
/// # Errors
///
/// Everything that is wrong with it, and where: it is no Rust expression, or has what rules do not have.
pub(crate) fn parse(text: &str) -> Result<Term, RuleErrors> {
    check_size(text)?;
    let tokens = text.parse::<TokenStream>().map_err(|error| {
        let span = within(&error.span(), text);
        RuleError::new("this is not valid Rust", span, WHAT_RULES_HAVE)
    })?;
    let faults = check_tokens(&tokens, text);
    if !faults.is_empty() {
        return Err(faults);
    }
    let expression = syn::parse2::<Expr>(with_names(tokens)).map_err(|error| {
        let span = match error.span().byte_range() {
            // Where the text ends too early, syn has no place.
            span if span.is_empty() => text.len()..text.len(),
            span => span,
        };
        match text.get(span.clone()) {
            Some("") | None => RuleError::new("the rule ends too early", span, EXAMPLE),
            Some(found) => {
                let help = help_for(found, &text[span.end..]);
                RuleError::new(format!("unexpected `{found}`"), span, help)
            }
        }
    })?;
    Term::of(&expression, text)
}

/// Refuses a rule that could take the parser deeper than the stack.
fn check_size(text: &str) -> Result<(), RuleError> {
    // The characters since the last word bound the operators that may be prefixes.
    let (mut parentheses, mut prefixes) = (0_usize, 0_usize);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => parentheses += 1,
            ')' | ']' | '}' => parentheses = parentheses.saturating_sub(1),
            c if c.is_alphanumeric() => prefixes = 0,
            _ => prefixes += 1,
        }
        if parentheses + prefixes > MAX_DEPTH {
            let span = at..at + c.len_utf8();
            return Err(RuleError::new(
                "the rule is nested too deeply",
                span,
                "split it into several rules",
            ));
        }
    }
    if text.len() > MAX_BYTES {
        let message = format!("the rule has more than {MAX_BYTES} bytes");
        return Err(RuleError::new(message, 0..0, "split it into several rules"));
    }
    Ok(())
}

/// The operators and brackets that no rule has. Some of them (`=`, `|`) would make the parser recurse.
fn check_tokens(tokens: &TokenStream, text: &str) -> RuleErrors {
    let mut faults = RuleErrors::new();
    let mut tokens = tokens.clone().into_iter().peekable();
    let mut is_after_operand = false;
    while let Some(token) = tokens.next() {
        let operator = match &token {
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                is_after_operand = true;
                continue;
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                faults.extend(check_tokens(&group.stream(), text));
                is_after_operand = true;
                continue;
            }
            TokenTree::Group(group) => {
                faults.push(refused(&group.span_open(), text));
                is_after_operand = true;
                continue;
            }
            TokenTree::Punct(operator) => operator,
        };
        let pair = match tokens.peek() {
            Some(TokenTree::Punct(next)) if operator.spacing() == Spacing::Joint => {
                [operator.as_char(), next.as_char()]
            }
            _ => [operator.as_char(), ' '],
        };
        if matches!(pair, ['&', '&'] | ['|', '|'] | ['=' | '!' | '<' | '>', '=']) {
            tokens.next();
        } else if pair[0] == '=' && matches!(pair[1], '<' | '>') {
            // One comparison, written the wrong way round.
            faults.push(refused(&operator.span(), text));
            tokens.next();
        } else if pair[0] == '<' && !is_after_operand {
            // A path with a type in front, `<T>::NAME`, which takes much of the stack.
            let span = within(&operator.span(), text);
            faults.push(RuleError::new("unexpected `<`", span, WHAT_RULES_HAVE));
        } else if !"+-*/%<>.".contains(pair[0]) {
            faults.push(refused(&operator.span(), text));
        }
        is_after_operand = false;
    }
    faults
}

/// The tokens, with keywords as names.
fn with_names(tokens: TokenStream) -> TokenStream {
    let named = |token| match token {
        TokenTree::Ident(word) => TokenTree::Ident(name(word)),
        TokenTree::Group(group) => {
            let mut named = Group::new(group.delimiter(), with_names(group.stream()));
            named.set_span(group.span());
            TokenTree::Group(named)
        }
        other => other,
    };
    tokens.into_iter().map(named).collect()
}

/// A word as a name. Four words cannot be written as raw names; no wrapper has a parameter called so.
fn name(word: Ident) -> Ident {
    let text = word.to_string();
    let is_never_raw = matches!(text.as_str(), "self" | "Self" | "super" | "crate" | "_");
    if is_never_raw || text.starts_with("r#") || syn::parse_str::<Ident>(&text).is_ok() {
        return word;
    }
    Ident::new_raw(&text, word.span())
}

/// What to do about a token that no rule has at this place.
fn help_for(found: &str, rest: &str) -> &'static str {
    match found {
        "and" => "write `&&`",
        "or" => "write `||`",
        "=" if rest.starts_with('>') => "write `>=`",
        "=" if rest.starts_with('<') => "write `<=`",
        "=" => "write `==`",
        "!" => "write the opposite comparison",
        "&" => "write `&&`",
        "|" => "write `||`",
        "<" | "<=" | ">" | ">=" | "==" | "!=" => "join two comparisons with `&&`",
        _ => WHAT_RULES_HAVE,
    }
}

/// A span's bytes, which lie in the text.
fn within(span: &Span, text: &str) -> Range<usize> {
    let Range { start, end } = span.byte_range();
    let start = text.floor_char_boundary(start.min(text.len()));
    let next = text[start..].chars().next().map_or(start, |c| start + c.len_utf8());
    start..text.floor_char_boundary(end.min(text.len())).max(next)
}

impl Term {
    fn of(expression: &Expr, text: &str) -> Result<Self, RuleErrors> {
        let span = within(&expression.span(), text);
        let kind = match expression {
            Expr::Paren(inner) => Self::of(&inner.expr, text)?.kind,
            Expr::Group(inner) => Self::of(&inner.expr, text)?.kind,
            Expr::Lit(literal) => TermKind::Number(number(&literal.lit, &span, text)?),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                TermKind::Negative(Box::new(Self::of(&unary.expr, text)?))
            }
            Expr::Binary(binary) => {
                let operator =
                    Operator::of(&binary.op).ok_or_else(|| vec![refused(&binary.op.span(), text)]);
                let [left, right] =
                    [&binary.left, &binary.right].map(|side| Self::of(side, text).map(Box::new));
                let ((left, operator), right) = both(both(left, operator), right)?;
                TermKind::Binary(operator, left, right)
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => TermKind::Name(name.unraw().to_string()),
                None => return Err(refused(&expression.span(), text).into()),
            },
            Expr::Field(_) => member(expression, text)?,
            Expr::MethodCall(call) => {
                let message =
                    format!("`{}` is called, and rules cannot call functions", call.method);
                let help = "write the length of a buffer as `x.len`, without parentheses";
                return Err(RuleError::new(message, within(&call.method.span(), text), help).into());
            }
            _ => return Err(refused(&expression.span(), text).into()),
        };
        Ok(Self { kind, span })
    }
}

/// `name.member.member`.
fn member(expression: &Expr, text: &str) -> Result<TermKind, RuleError> {
    let mut members = Vec::new();
    let mut inner = expression;
    while let Expr::Field(field) = inner {
        match &field.member {
            Member::Named(name) => members.push(name.unraw().to_string()),
            Member::Unnamed(_) => return Err(refused(&field.member.span(), text)),
        }
        inner = &field.base;
    }
    members.reverse();
    match inner {
        Expr::Path(path) if let Some(name) = path.path.get_ident() => {
            Ok(TermKind::Member(name.unraw().to_string(), members))
        }
        _ => Err(refused(&inner.span(), text)),
    }
}

fn number(literal: &Lit, span: &Range<usize>, text: &str) -> Result<i128, RuleError> {
    let parsed = match literal {
        Lit::Int(number) if number.suffix().is_empty() => number.base10_parse().ok(),
        _ => None,
    };
    parsed.ok_or_else(|| {
        let message = format!("`{}` is not an integer of up to 127 bits", &text[span.clone()]);
        RuleError::new(message, span.clone(), "write an integer without a type suffix")
    })
}

fn refused(span: &Span, text: &str) -> RuleError {
    let span = within(span, text);
    let found = &text[span.clone()];
    let help = help_for(found, &text[span.end..]);
    RuleError::new(format!("rules cannot have `{found}`"), span, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule with every operator in parentheses.
    fn shown(term: &Term) -> String {
        match &term.kind {
            TermKind::Number(number) => number.to_string(),
            TermKind::Name(name) => name.clone(),
            TermKind::Member(name, members) => format!("{name}.{}", members.join(".")),
            TermKind::Negative(inner) => format!("-{}", shown(inner)),
            TermKind::Binary(operator, left, right) => {
                format!("({} {operator} {})", shown(left), shown(right))
            }
        }
    }

    #[test]
    fn operators_bind_as_everywhere() {
        for (text, expected) in [
            ("x.len >= n", "(x.len >= n)"),
            ("grid.x * block.x >= n", "((grid.x * block.x) >= n)"),
            ("shared == 4 * block.x + 1_024", "(shared == ((4 * block.x) + 1024))"),
            ("a < b && c != d || order % 2 == 0", "(((a < b) && (c != d)) || ((order % 2) == 0))"),
            ("a-b-c<=-(d/e)", "(((a - b) - c) <= -(d / e))"),
            ("(a > 1 || b > 1) && c > 1", "(((a > 1) || (b > 1)) && (c > 1))"),
            ("in.len > type && r#ref > 0x10", "((in.len > type) && (ref > 16))"),
            ("p.size.x > 0", "(p.size.x > 0)"),
        ] {
            let term = parse(text).unwrap();
            assert_eq!(shown(&term), expected, "{text}");
            let again = parse(&shown(&term)).unwrap();
            assert_eq!(shown(&again), expected, "{text}");
        }
    }

    #[test]
    fn every_fault_of_a_rule_is_told() {
        for (text, expected) in [
            (
                "a = b && c | d > 0",
                &[(2, "rules cannot have `=`"), (11, "rules cannot have `|`")][..],
            ),
            ("(x[0] > 0) & b", &[(2, "rules cannot have `[`"), (11, "rules cannot have `&`")]),
            (
                "x.len() > 10u8",
                &[
                    (2, "`len` is called, and rules cannot call functions"),
                    (10, "`10u8` is not an integer of up to 127 bits"),
                ],
            ),
            (
                "x.0 > 1.5",
                &[(2, "rules cannot have `0`"), (6, "`1.5` is not an integer of up to 127 bits")],
            ),
        ] {
            let errors = parse(text).unwrap_err();
            let found: Vec<_> = errors.iter().map(|it| (it.span.start, &*it.message)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn faults_have_a_place() {
        for (text, at, message) in [
            ("", 0, "the rule ends too early"),
            ("x.len >=", 8, "the rule ends too early"),
            ("x.len >= n n", 11, "unexpected `n`"),
            ("1 < 2 < 3", 6, "unexpected `<`"),
            ("x. >= n", 3, "unexpected `>`"),
            ("(a > b", 0, "this is not valid Rust"),
            ("a = b", 2, "rules cannot have `=`"),
            ("a and b", 2, "unexpected `and`"),
            ("(a > 1) & (b > 1)", 8, "rules cannot have `&`"),
            ("x.len() > 1", 2, "`len` is called, and rules cannot call functions"),
            ("x.0 > 1", 2, "rules cannot have `0`"),
            ("n >= 10u8", 5, "`10u8` is not an integer of up to 127 bits"),
            ("n >= 1.5", 5, "`1.5` is not an integer of up to 127 bits"),
            ("n >= 10 \u{e4} 5", 8, "unexpected `\u{e4}`"),
            ("x[0] > 0", 1, "rules cannot have `[`"),
            (&format!("{}1", "(".repeat(1000)), 64, "the rule is nested too deeply"),
            (&"-".repeat(512), 64, "the rule is nested too deeply"),
            (&"-".repeat(64), 64, "the rule ends too early"),
            (&"|a|".repeat(170), 0, "rules cannot have `|`"),
            (&"a=".repeat(256), 1, "rules cannot have `=`"),
            (&format!("{}y{}len", "<".repeat(64), ">".repeat(64)), 0, "unexpected `<`"),
            (&"||".repeat(32), 64, "the rule ends too early"),
            ("!(a > 1)", 0, "rules cannot have `!`"),
            (&format!("1{}", "+ 1".repeat(200)), 0, "the rule has more than 512 bytes"),
        ] {
            let error = parse(text).unwrap_err().remove(0);
            assert_eq!((error.span.start, error.message.as_str()), (at, message), "{text}");
            assert!(text.is_char_boundary(error.span.end) && !error.help.is_empty());
        }
    }
}
