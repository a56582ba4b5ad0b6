//! Instances of generic kernels: lists of types and constants, in the attribute or in the settings, and the
//! parameters of a kernel with these in place of its own.

use super::{
    length,
    scope::{Found, ModuleId, Scope, TypeItem},
    syntax::{bare, segments},
    types::Types,
};
use crate::{
    diagnostic::{Code, Diagnostic, Place},
    frontend::generic::{GenericArgument, GenericKernel, GenericParameter},
};
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::{Expr, GenericParam, Generics, Lit, LitStr, Type, ext::IdentExt};

/// The instances that the settings list for a kernel.
#[derive(Clone, Debug, Default)]
pub struct ListedInstances {
    /// The kernel: its name, or its file and its name, `kernels/a.rs::scale`.
    pub key: String,
    /// Each as it is written, with its place in the settings where it has one.
    pub instances: Vec<(String, Option<Place>)>,
}

/// An instance as it is written.
pub(super) struct Listed {
    pub(super) text: String,
    /// Where messages about it point.
    pub(super) place: Place,
    span: Span,
    is_of_settings: bool,
}

impl Listed {
    /// One of the attribute.
    pub(super) fn of_attribute(literal: &LitStr, place: Place) -> Self {
        Self { text: literal.value(), place, span: literal.span(), is_of_settings: false }
    }

    /// One of the settings, for a kernel whose name has this place.
    pub(super) fn of_settings(text: &str, place: Option<&Place>, name: (Span, &Place)) -> Self {
        let place = place.unwrap_or(name.1).clone();
        Self { text: text.to_owned(), place, span: name.0, is_of_settings: true }
    }

    /// What messages call it.
    fn name(&self) -> String {
        let of = if self.is_of_settings { " of the settings" } else { "" };
        format!("the instance `{}`{of}", self.text)
    }
}

/// An instance whose arguments are known.
pub(super) struct Known {
    pub(super) kernel: String,
    pub(super) arguments: Vec<GenericArgument>,
    pub(super) place: Place,
    pub(super) text: String,
    pub(super) written: Vec<Argument>,
}

/// An argument as it is written.
pub(super) enum Argument {
    Type(Type),
    Constant(Expr),
}

/// The type and constant parameters of a function.
pub(super) fn parameters(generics: &Generics) -> Vec<GenericParameter> {
    let parameter = |parameter: &GenericParam| match parameter {
        GenericParam::Lifetime(_) => None,
        GenericParam::Type(it) => {
            Some(GenericParameter { name: it.ident.unraw().to_string(), constant: None })
        }
        GenericParam::Const(it) => {
            let ty = match bare(&it.ty) {
                Type::Path(path) => segments(&path.path).pop().unwrap_or_default(),
                _ => String::new(),
            };
            Some(GenericParameter { name: it.ident.unraw().to_string(), constant: Some(ty) })
        }
    };
    generics.params.iter().filter_map(parameter).collect()
}

/// Parameters in words: "`T` and `TILE`".
pub(super) fn named(parameters: &[GenericParameter]) -> String {
    let names: Vec<_> = parameters.iter().map(|it| format!("`{}`", it.name)).collect();
    names.join(" and ")
}

/// An instance that a kernel with these parameters could have.
pub(super) fn example(parameters: &[GenericParameter]) -> String {
    let argument = |parameter: &GenericParameter| match parameter.constant.as_deref() {
        None => "f32",
        Some("bool") => "true",
        Some("char") => "'x'",
        Some(_) => "16",
    };
    let arguments: Vec<_> = parameters.iter().map(argument).collect();
    arguments.join(", ")
}

/// Reads the instances of one kernel.
pub(super) struct Reader<'r, 'a> {
    pub(super) scope: &'r Scope<'a>,
    pub(super) module: ModuleId,
    /// The kernel's name.
    pub(super) name: &'r str,
    pub(super) parameters: &'r [GenericParameter],
    pub(super) reports: Vec<Diagnostic>,
}

impl Reader<'_, '_> {
    /// The instances that are right; what is wrong with others is reported.
    pub(super) fn read(&mut self, listed: &[Listed]) -> Vec<Known> {
        let mut known: Vec<Known> = Vec::new();
        for listed in listed {
            let Some(instance) = self.instance(listed) else { continue };
            let same = known.iter().find(|it| it.arguments == instance.arguments);
            match same {
                None => known.push(instance),
                Some(first) => {
                    let what = format!("{} again", listed.name());
                    let help = "remove it: each instance is listed once, in the attribute or in the settings";
                    let mut report = self.report(listed, &format!("has {what}"), help.to_owned());
                    report = report.label(first.place.clone(), format!("`{}`", first.text));
                    self.reports.push(report);
                }
            }
        }
        known
    }

    fn report(&self, listed: &Listed, message: &str, help: String) -> Diagnostic {
        let message = format!("kernel `{}` {message}", self.name);
        Diagnostic::error(Code::Instances, listed.place.clone(), message)
            .kernel(self.name)
            .help(help)
    }

    fn instance(&mut self, listed: &Listed) -> Option<Known> {
        let parts = arguments(&listed.text);
        let wanted = self.parameters.len();
        let Some(parts) = parts.filter(|parts| parts.len() == wanted) else {
            let names = named(self.parameters);
            let message = format!(
                "has {}, which does not have one argument for each of the parameters {names}",
                listed.name()
            );
            let help = format!("write {wanted} of them: `\"{}\"`", example(self.parameters));
            let report = self.report(listed, &message, help);
            self.reports.push(report);
            return None;
        };
        let (mut found, mut written) = (Vec::new(), Vec::new());
        for (parameter, part) in self.parameters.iter().zip(&parts) {
            match self.argument(parameter, part, listed.span) {
                Ok((argument, as_written)) => {
                    found.push(argument);
                    written.push(as_written);
                }
                Err((why, help)) => {
                    let (name, of) = (&parameter.name, listed.name());
                    let message = format!("has {of}, whose `{part}` for `{name}` {why}");
                    let report = self.report(listed, &message, help);
                    self.reports.push(report);
                }
            }
        }
        (found.len() == wanted).then(|| Known {
            kernel: GenericKernel::kernel_name(self.name, &listed.text),
            arguments: found,
            place: listed.place.clone(),
            text: listed.text.clone(),
            written,
        })
    }

    /// An argument; an error says what is wrong with it, and what to write.
    fn argument(
        &self,
        parameter: &GenericParameter,
        part: &str,
        span: Span,
    ) -> Result<(GenericArgument, Argument), (String, String)> {
        let text = LitStr::new(part, span);
        if let Some(ty) = &parameter.constant {
            let no_value = || {
                let help =
                    format!("write a value of `{ty}`, or a `const` of this file that is one");
                ("is not a value that can be read from the source".to_owned(), help)
            };
            let value: Expr = text.parse().map_err(|_| no_value())?;
            let constant = self.constant(ty, &value).ok_or_else(no_value)?;
            let constant = constant.map_err(|help| (format!("does not fit `{ty}`"), help))?;
            return Ok((GenericArgument::Constant(constant), Argument::Constant(value)));
        }
        let no_type = || {
            let help = "write a type by its name; a `type` alias gives one to any type".to_owned();
            ("is not a type that the host can name".to_owned(), help)
        };
        let ty: Type = text.parse().map_err(|_| no_type())?;
        if let Ok(value) = Types::new(self.scope, &parameter.name).value(self.module, &ty) {
            return Ok((GenericArgument::Type(value), Argument::Type(ty)));
        }
        let marker = match self.marker(self.module, &ty, LONGEST_CHAIN) {
            Marker::Named(name) => name,
            Marker::None => return Err(no_type()),
            Marker::Unknown => {
                let help = format!("define it, or import it by its name: `use path::to::{part};`");
                return Err(("is not a type that the source defines or imports".to_owned(), help));
            }
        };
        Ok((GenericArgument::Marker(marker), Argument::Type(ty)))
    }

    /// A constant of this type as Rust writes it, or what would fit; `None` where it takes the compiler to know.
    fn constant(&self, ty: &str, value: &Expr) -> Option<Result<String, String>> {
        match (ty, value) {
            ("bool", Expr::Lit(it)) if matches!(it.lit, Lit::Bool(_)) => {
                let Lit::Bool(it) = &it.lit else { return None };
                return Some(Ok(it.value.to_string()));
            }
            ("char", Expr::Lit(it)) if matches!(it.lit, Lit::Char(_)) => {
                let Lit::Char(it) = &it.lit else { return None };
                return Some(Ok(format!("{:?}", it.value())));
            }
            ("bool" | "char", _) => return None,
            _ => {}
        }
        let number = length::integer(self.scope, self.module, value)?;
        let (least, most) = range(ty)?;
        if (least..=most).contains(&number) {
            return Some(Ok(number.to_string()));
        }
        Some(Err(format!("write a number from {least} to {most}")))
    }

    /// The name that the host has for a type of which no value crosses.
    fn marker(&self, module: ModuleId, ty: &Type, chain: usize) -> Marker {
        let (Type::Path(path), Some(chain)) = (bare(ty), chain.checked_sub(1)) else {
            return Marker::None;
        };
        let has_arguments = path.path.segments.iter().any(|it| !it.arguments.is_none());
        if path.qself.is_some() || has_arguments {
            return Marker::None;
        }
        let named = |name: &syn::Ident| Marker::Named(name.unraw().to_string());
        match self.scope.find_type(module, &segments(&path.path)) {
            Found::Here(_, TypeItem::Struct(item)) => named(&item.ident),
            Found::Here(_, TypeItem::Enum(item)) => named(&item.ident),
            Found::Here(_, TypeItem::Function(item)) => named(&item.sig.ident),
            Found::Here(_, TypeItem::Union) => {
                path.path.segments.last().map_or(Marker::None, |last| named(&last.ident))
            }
            Found::Here(home, TypeItem::Alias(item)) => match self.marker(home, &item.ty, chain) {
                Marker::None => named(&item.ident),
                found => found,
            },
            Found::Elsewhere(full) => full.last().cloned().map_or(Marker::None, Marker::Named),
            Found::Nothing => Marker::Unknown,
        }
    }
}

/// More aliases of aliases than this are taken for a cycle.
const LONGEST_CHAIN: usize = 32;

/// What the host calls a type.
enum Marker {
    Named(String),
    None,
    Unknown,
}

/// The range of an integer type; that of `u128` ends where our numbers do.
fn range(ty: &str) -> Option<(i128, i128)> {
    Some(match ty {
        "u8" => (0, u8::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        "u128" => (0, i128::MAX),
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        "i128" => (i128::MIN, i128::MAX),
        _ => return None,
    })
}

/// The arguments of an instance: what stands between the commas outside all brackets. `None` where that is not Rust.
fn arguments(text: &str) -> Option<Vec<String>> {
    let tokens: TokenStream = text.parse().ok()?;
    let (mut parts, mut depth, mut after_dash) = (vec![TokenStream::new()], 0_usize, false);
    for token in tokens {
        let character = if let TokenTree::Punct(it) = &token { Some(it.as_char()) } else { None };
        match character {
            Some(',') if depth == 0 => {
                parts.push(TokenStream::new());
                after_dash = false;
                continue;
            }
            Some('<') => depth += 1,
            Some('>') if !after_dash => depth = depth.saturating_sub(1),
            _ => {}
        }
        after_dash = character == Some('-');
        parts.last_mut()?.extend([token]);
    }
    if parts.last().is_some_and(TokenStream::is_empty) {
        parts.pop();
    }
    // Spaced as people write types.
    let spacing =
        [(" :: ", "::"), (" < ", "<"), (" >", ">"), ("& ", "&"), (" ,", ","), ("- ", "-")];
    let spaced = |part: TokenStream| {
        let text = part.to_string();
        spacing.iter().fold(text, |text, (wide, narrow)| text.replace(wide, narrow))
    };
    Some(parts.into_iter().map(spaced).collect())
}
