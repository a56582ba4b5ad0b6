//! Contract rules as checks in Rust.

use super::{
    expr::Expr,
    model::Check,
    names::{identifier, parameter_names},
};
use crate::settings::contract::{Operator, RuleError, RuleErrors, Term, TermKind, both};
use kernelmill_artifact::{
    Parameter, ParameterKind, Scalar, Signature, ValueType,
    target::{nearest, nearest_within},
};
use std::collections::BTreeMap;

/// What the launch is called in a wrapper.
pub(super) const LAUNCH: &str = "__launch";

/// The check of a rule, in a wrapper of the kernel: an expression of type `bool`, and what the names in it are.
/// `constants` are the constant arguments of an instance, by the names that its generic kernel or template gives them;
/// a parameter of the same name comes first. `template` has the names of all parameters of its template.
pub(super) fn check(
    (text, term): (&str, &Term),
    kernel: &Signature,
    (constants, template): (&BTreeMap<String, i128>, &[String]),
) -> Result<Check, RuleErrors> {
    let names = parameter_names(&kernel.parameters);
    let scope = Scope { parameters: &kernel.parameters, constants, template, names };
    let condition = scope.condition(term)?;
    Ok(Check { text: text.to_owned(), condition, operands: scope.operands(text, term)? })
}

struct Scope<'a> {
    parameters: &'a [Parameter],
    constants: &'a BTreeMap<String, i128>,
    template: &'a [String],
    /// What the parameters are called in the wrapper.
    names: Vec<String>,
}

fn call(function: &str, arguments: impl Into<Vec<Expr>>) -> Expr {
    Expr::call(format!("::kernelmill::__codegen::rule::{function}"), arguments)
}

fn int(value: String) -> Expr {
    call("int", [Expr::Atom(value)])
}

impl Scope<'_> {
    /// The names in a rule, each once, with their values: a pair for each, in the order of the rule.
    fn operands(&self, text: &str, term: &Term) -> Result<Vec<Expr>, RuleErrors> {
        let (mut known, mut found) = (Vec::new(), Vec::new());
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            match &term.kind {
                TermKind::Number(_) => {}
                TermKind::Negative(inner) => work.push(inner),
                TermKind::Binary(_, left, right) => work.extend([&**right, &**left]),
                TermKind::Name(_) | TermKind::Member(..) => {
                    let name = &text[term.span.clone()];
                    if !known.contains(&name) {
                        known.push(name);
                        found.push(Expr::call("", [Expr::text(name), self.number(term)?]));
                    }
                }
            }
        }
        Ok(found)
    }

    /// A condition, or everything that is wrong with it.
    fn condition(&self, term: &Term) -> Result<Expr, RuleErrors> {
        match &term.kind {
            TermKind::Binary(operator, left, right) if operator.joins() => {
                let function = if *operator == Operator::And { "both" } else { "either" };
                let (left, right) = both(self.condition(left), self.condition(right))?;
                Ok(call(function, [left, right]))
            }
            TermKind::Binary(operator, left, right) if operator.compares() => {
                let (left, right) = both(self.number(left), self.number(right))?;
                Ok(call(function(*operator), [left, right]))
            }
            _ => {
                // What is wrong inside is said first.
                self.number(term)?;
                let help = "compare it, for example `x.len >= n`";
                let message = "this is a number, not a condition";
                Err(RuleError::new(message, term.span.clone(), help).into())
            }
        }
    }

    fn number(&self, term: &Term) -> Result<Expr, RuleErrors> {
        match &term.kind {
            TermKind::Number(number) => Ok(int(format!("{number}_i128"))),
            TermKind::Negative(inner) => {
                Ok(call("subtract", [int("0_i128".to_owned()), self.number(inner)?]))
            }
            TermKind::Binary(operator, ..) if operator.joins() || operator.compares() => {
                let help = "join conditions with `&&` or `||`";
                let message = "this is a condition, not a number";
                Err(RuleError::new(message, term.span.clone(), help).into())
            }
            TermKind::Binary(operator, left, right) => {
                let (left, right) = both(self.number(left), self.number(right))?;
                Ok(call(function(*operator), [left, right]))
            }
            TermKind::Name(name) => Ok(self.name(name, term)?),
            TermKind::Member(name, members) => Ok(self.member(name, members, term)?),
        }
    }

    fn name(&self, name: &str, term: &Term) -> Result<Expr, RuleError> {
        if name == "shared" {
            return Ok(int(format!("{LAUNCH}.dynamic_shared_bytes()")));
        }
        if let Some(constant) = self.constants.get(name)
            && !self.has_parameter(name)
        {
            return Ok(int(format!("{constant}_i128")));
        }
        let (parameter, wrapped) = self.parameter(name, term)?;
        let help = match &parameter.kind {
            ParameterKind::Value(ValueType::Scalar(scalar)) if is_integer(*scalar) => {
                return Ok(int(wrapped.to_owned()));
            }
            ParameterKind::Shared { .. } => return Ok(int(wrapped.to_owned())),
            ParameterKind::Value(ValueType::Struct(_)) => {
                format!("write one of its fields, `{name}.FIELD`")
            }
            ParameterKind::Value(_) | ParameterKind::TensorMap { .. } => {
                "rules compare integers only".to_owned()
            }
            ParameterKind::Slice { .. } | ParameterKind::Pointer { .. } => {
                format!("write `{name}.len` for its number of elements")
            }
        };
        let message =
            format!("`{name}` has the type `{}`, which is not an integer", parameter.kind);
        Err(RuleError::new(message, term.span.clone(), help))
    }

    fn member(&self, name: &str, members: &[String], term: &Term) -> Result<Expr, RuleError> {
        let is_parameter = self.has_parameter(name);
        let is_of_launch = matches!(name, "grid" | "block");
        if let [axis] = members
            && let Some(axis) = ["x", "y", "z"].iter().position(|known| known == axis)
            && is_of_launch
        {
            return Ok(int(format!("{LAUNCH}.{name}_size()[{axis}]")));
        }
        let path = members.join(".");
        if is_of_launch && !is_parameter {
            let help = format!("write `{name}.x`, `{name}.y` or `{name}.z`");
            let message = format!("`{name}` has no `{path}`");
            return Err(RuleError::new(message, term.span.clone(), help));
        }
        let (parameter, wrapped) = self.parameter(name, term)?;
        match &parameter.kind {
            ParameterKind::Slice { .. } | ParameterKind::Pointer { .. } if path == "len" => {
                Ok(call("len", [Expr::Atom(format!("&{wrapped}"))]))
            }
            ParameterKind::Value(ty @ ValueType::Struct(_)) => {
                field(ty, members, term)?;
                let fields: Vec<_> = members.iter().map(|member| identifier(member)).collect();
                Ok(int(format!("{wrapped}.{}", fields.join("."))))
            }
            kind => {
                let message = format!("`{name}` has the type `{kind}`, which has no `{path}`");
                let help = "buffers have `.len`, structs have their fields";
                Err(RuleError::new(message, term.span.clone(), help))
            }
        }
    }

    /// The error for a parameter of a template whose value is not known.
    fn template_parameter(&self, name: &str, term: &Term) -> RuleError {
        let (message, help) = if self.constants.is_empty() {
            (
                format!(
                    "`{name}` is a parameter of the kernel's template, and known only where the settings list the instances"
                ),
                "list the instances in this table, for example `instances = [\"float, 16\"]`: rules can use their integers",
            )
        } else {
            (
                format!("`{name}` is a parameter of the kernel's template that is not an integer"),
                "rules compare integers only",
            )
        };
        RuleError::new(message, term.span.clone(), help)
    }

    fn has_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// A parameter, and what it is called in the wrapper.
    fn parameter(&self, name: &str, term: &Term) -> Result<(&Parameter, &str), RuleError> {
        let mut all = self.parameters.iter().zip(&self.names);
        match all.find(|(parameter, wrapped)| parameter.name == name || *wrapped == name) {
            Some((parameter, wrapped)) => Ok((parameter, wrapped)),
            None if self.template.iter().any(|it| it == name) => {
                Err(self.template_parameter(name, term))
            }
            None => {
                let fixed = ["shared", "grid", "block"].map(str::to_owned);
                let names = self.parameters.iter().map(|parameter| parameter.name.to_string());
                let names = names.chain(self.constants.keys().cloned()).chain(fixed);
                let names: Vec<_> = names.collect();
                let message = format!("the kernel has no parameter `{name}`");
                let help = match nearest_within(name, names.iter().cloned(), name.len() / 2) {
                    Some(nearest) => format!("the nearest is `{nearest}`"),
                    None => format!("rules of this kernel can use `{}`", names.join("`, `")),
                };
                Err(RuleError::new(message, term.span.clone(), help))
            }
        }
    }
}

/// Checks that there is a field at the end of this path, a whole number.
fn field(ty: &ValueType, path: &[String], term: &Term) -> Result<(), RuleError> {
    let error = |message: String, help: &str| Err(RuleError::new(message, term.span.clone(), help));
    match (ty, path.split_first()) {
        (ValueType::Scalar(scalar), None) if is_integer(*scalar) => Ok(()),
        (_, None) => error(
            format!("the field has the type `{ty}`, which is not an integer"),
            "name a field of an integer type",
        ),
        (ValueType::Struct(layout), Some((name, rest))) => {
            if let Some(field) = layout.fields.iter().find(|field| field.name == *name) {
                return self::field(&field.ty, rest, term);
            }
            let names = layout.fields.iter().map(|field| field.name.to_string());
            let nearest = nearest(name, names).unwrap_or_default();
            let help = format!("the nearest is `{nearest}`");
            error(format!("the struct `{}` has no field `{name}`", layout.name), &help)
        }
        (_, Some((name, _))) => {
            error(format!("`{ty}` has no `{name}`"), "only structs have fields")
        }
    }
}

fn is_integer(scalar: Scalar) -> bool {
    !matches!(
        scalar,
        Scalar::Bool
            | Scalar::Char
            | Scalar::F16
            | Scalar::Bf16
            | Scalar::F32
            | Scalar::F64
            | Scalar::U128
    )
}

/// The run time's function for an operator.
fn function(operator: Operator) -> &'static str {
    match operator {
        Operator::Or => "either",
        Operator::And => "both",
        Operator::Less => "less",
        Operator::LessOrEqual => "at_most",
        Operator::Greater => "greater",
        Operator::GreaterOrEqual => "at_least",
        Operator::Equal => "equal",
        Operator::NotEqual => "different",
        Operator::Add => "add",
        Operator::Subtract => "subtract",
        Operator::Multiply => "multiply",
        Operator::Divide => "divide",
        Operator::Remainder => "remainder",
    }
}
