//! Substitution: the types of a generic kernel's parameters with the arguments of an instance, and their form
//! without.

use super::{
    instances::{Argument, Known},
    syntax::{bare, disjoint_element, first_argument},
};
use crate::frontend::generic::{Form, GenericParameter, Length};
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Expr, GenericArgument as Written, Lit, Type,
    ext::IdentExt,
    parse::Parse,
    visit::{self, Visit},
    visit_mut::{self, VisitMut},
};

/// A type with the arguments of an instance in place of the kernel's parameters, each at the place of the parameter.
pub(super) fn substituted(ty: &Type, parameters: &[GenericParameter], instance: &Known) -> Type {
    let mut ty = ty.clone();
    Substitution { parameters, instance }.visit_type_mut(&mut ty);
    ty
}

struct Substitution<'s> {
    parameters: &'s [GenericParameter],
    instance: &'s Known,
}

impl Substitution<'_> {
    fn argument(&self, path: &syn::Path) -> Option<&Argument> {
        let name = path.get_ident()?.unraw().to_string();
        let index = self.parameters.iter().position(|it| it.name == name)?;
        self.instance.written.get(index)
    }
}

impl VisitMut for Substitution<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = &*ty
            && path.qself.is_none()
            && let Some(Argument::Type(argument)) = self.argument(&path.path)
        {
            *ty = at(argument, &path.path);
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_expr_mut(&mut self, value: &mut Expr) {
        if let Expr::Path(path) = &*value
            && let Some(Argument::Constant(argument)) = self.argument(&path.path)
        {
            *value = at(argument, &path.path);
            return;
        }
        visit_mut::visit_expr_mut(self, value);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut Written) {
        // A constant's name alone is read as a type.
        if let Written::Type(Type::Path(path)) = &*argument
            && let Some(Argument::Constant(constant)) = self.argument(&path.path)
        {
            *argument = Written::Const(at(constant, &path.path));
            return;
        }
        visit_mut::visit_generic_argument_mut(self, argument);
    }
}

/// An argument whose tokens all have the place of the parameter that it stands for.
fn at<T: ToTokens + Parse + Clone>(argument: &T, parameter: &syn::Path) -> T {
    let Some(first) = parameter.segments.first() else { return argument.clone() };
    let tokens = tokens_at(argument.to_token_stream(), first.ident.span());
    syn::parse2(tokens).unwrap_or_else(|_| argument.clone())
}

fn tokens_at(tokens: TokenStream, span: Span) -> TokenStream {
    let place = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), tokens_at(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(place).collect()
}

/// The form of a parameter's type: of the value, or of an element.
pub(super) fn form(ty: &Type, parameters: &[GenericParameter]) -> Form {
    let ty = match bare(ty) {
        Type::Reference(reference) => match bare(&reference.elem) {
            Type::Slice(slice) => &slice.elem,
            Type::Path(path) => {
                let last = path.path.segments.last();
                last.and_then(first_argument).unwrap_or(&reference.elem)
            }
            _ => &reference.elem,
        },
        Type::Path(path) => disjoint_element(&path.path).unwrap_or(ty),
        _ => ty,
    };
    of_value(ty, parameters)
}

fn of_value(ty: &Type, parameters: &[GenericParameter]) -> Form {
    let index = |path: &syn::Path| {
        let name = path.get_ident()?.unraw().to_string();
        parameters.iter().position(|it| it.name == name)
    };
    let mut mentions = Mentions { parameters, found: false };
    mentions.visit_type(ty);
    if !mentions.found {
        return Form::Same;
    }
    match bare(ty) {
        Type::Path(path) => index(&path.path).map_or(Form::PerInstance, Form::Parameter),
        Type::Array(array) => {
            let length = match &array.len {
                Expr::Path(path) => index(&path.path).map(Length::Parameter),
                Expr::Lit(literal) => match &literal.lit {
                    Lit::Int(number) => number.base10_parse().ok().map(Length::Same),
                    _ => None,
                },
                _ => None,
            };
            let element = of_value(&array.elem, parameters);
            match (element, length) {
                (Form::PerInstance, _) | (_, None) => Form::PerInstance,
                (element, Some(length)) => Form::Array(Box::new(element), length),
            }
        }
        _ => Form::PerInstance,
    }
}

/// Whether a type has one of the parameters in it.
struct Mentions<'p> {
    parameters: &'p [GenericParameter],
    found: bool,
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let first = path.segments.first().map(|it| it.ident.unraw().to_string());
        self.found |= first.is_some_and(|first| self.parameters.iter().any(|it| it.name == first));
        visit::visit_path(self, path);
    }
}
