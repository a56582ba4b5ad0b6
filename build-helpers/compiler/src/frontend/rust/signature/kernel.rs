//! Finds the functions marked `#[kernel]` and reads their signatures.

use super::{
    attribute::Arguments,
    help,
    instances::{self, Known, ListedInstances},
    marks,
    scope::{ModuleId, Scope},
    substitution,
    syntax::{DEVICE_FN, bare, marked, marker_in},
    types::{Position, Types},
    unsupported::UnsupportedType,
};
use crate::{
    diagnostic::{Code, Diagnostic, Place},
    frontend::generic::{Form, GenericKernel, GenericParameter},
};
use kernelmill_artifact::{Dimension, LaunchLimits, Parameter, Safety, Signature, symbol};
use quote::ToTokens;
use std::{collections::BTreeMap, fmt::Display};
use syn::{
    Attribute, FnArg, Ident, ImplItemFn, Item, ItemFn, ItemMacro, Lifetime, Macro, Pat, PatType,
    ReturnType, TraitItemFn, Type,
    ext::IdentExt,
    visit::{self, Visit},
};

/// A variant of a kernel that its attribute lists: `#[kernel(variants = [{ launch_bounds = 64 }])]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVariant {
    /// The kernel's [`Signature::symbol`].
    pub symbol: String,
    /// What it says of its launches, in place of what the kernel says.
    pub limits: LaunchLimits,
    /// Where it stands.
    pub place: Place,
}

/// The kernels of a crate.
#[derive(Default)]
pub(super) struct Kernels {
    /// In source order, an instance for each of a generic kernel's.
    pub(super) signatures: Vec<Signature>,
    pub(super) generics: Vec<GenericKernel>,
    pub(super) variants: Vec<ListedVariant>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// Reads every kernel, in source order, and everything that is wrong by file.
pub(super) fn read_all(
    scope: &Scope<'_>,
    listed: &[ListedInstances],
) -> (Kernels, Vec<(usize, Diagnostic)>) {
    let mut found = Vec::new();
    let mut kernels = Kernels::default();
    let mut reports = Vec::new();
    for (module, items) in scope.modules() {
        for item in items {
            reports.extend(marks::misused(scope, module, item));
            if let Item::Fn(function) = item
                && !scope.leaves_out(&function.attrs)
                && let Some(attribute) = marker(&function.attrs)
            {
                let mut reader = Reader { scope, module, function, reports: Vec::new() };
                let (file, start) =
                    (scope.file(module), scope.text(module).place(&function.sig.ident).span.start);
                let read = reader.read(attribute, listed);
                reports.extend(reader.reports.into_iter().map(|it| (file, it)));
                for (kernel, _) in &read.kernels {
                    let of = |(limits, place): &(LaunchLimits, Place)| ListedVariant {
                        symbol: kernel.symbol.to_string(),
                        limits: *limits,
                        place: place.clone(),
                    };
                    kernels.variants.extend(read.variants.iter().map(of));
                }
                kernels.generics.extend(read.generic);
                kernels.warnings.extend(read.warnings);
                found
                    .extend(read.kernels.into_iter().map(|(it, place)| ((file, start), place, it)));
            }
            let mut misplaced = Misplaced { scope, module, reports: Vec::new() };
            misplaced.look_into(item);
            reports.extend(misplaced.reports.into_iter().map(|it| (scope.file(module), it)));
        }
    }
    found.sort_by_key(|(position, ..)| *position);
    let mut first: BTreeMap<String, Place> = BTreeMap::new();
    let mut symbols: BTreeMap<String, (String, Place)> = BTreeMap::new();
    for ((file, _), place, signature) in found {
        if let Some(other) = first.get(&*signature.name) {
            reports.push((file, same_name(&signature.name, place, other.clone())));
        } else {
            first.insert(signature.name.to_string(), place.clone());
            if let Some((other, there)) = symbols.get(&*signature.symbol) {
                reports.push((file, same_symbol(&signature, place, other, there.clone())));
            } else {
                symbols.insert(signature.symbol.to_string(), (signature.name.to_string(), place));
            }
        }
        kernels.signatures.push(signature);
    }
    (kernels, reports)
}

fn same_name(name: &str, place: Place, other: Place) -> Diagnostic {
    Diagnostic::error(Code::SameName, place, format!("two kernels are named `{name}`"))
        .kernel(name)
        .label(other, "the first one")
        .help("rename one of them: all kernels of a package become methods of one `Kernels`")
}

fn same_symbol(kernel: &Signature, place: Place, other: &str, there: Place) -> Diagnostic {
    let message = format!(
        "the kernels `{other}` and `{}` have the same name in compiled code, `{}`",
        kernel.name, kernel.symbol
    );
    Diagnostic::error(Code::SameName, place, message)
        .kernel(&*kernel.name)
        .label(there, "the first one")
        .help("rename one of them: assemblers take ASCII letters, digits and underscores only")
}

/// What was read of one function.
#[derive(Default)]
pub(super) struct Read {
    /// The kernel, or one for each instance, each with the place of its name.
    pub(super) kernels: Vec<(Signature, Place)>,
    pub(super) generic: Option<GenericKernel>,
    /// What each variant says of its launches, with its place.
    variants: Vec<(LaunchLimits, Place)>,
    warnings: Vec<Diagnostic>,
}

/// The attribute that makes a function a kernel.
fn marker(attributes: &[Attribute]) -> Option<&Attribute> {
    marked(attributes, "kernel")
}

/// Reads one kernel.
pub(super) struct Reader<'s, 'a> {
    pub(super) scope: &'s Scope<'a>,
    pub(super) module: ModuleId,
    pub(super) function: &'s ItemFn,
    pub(super) reports: Vec<Diagnostic>,
}

impl Reader<'_, '_> {
    fn read(&mut self, attribute: &Attribute, listed: &[ListedInstances]) -> Read {
        let text = self.scope.text(self.module);
        let place = text.place(&self.function.sig.ident);
        let Arguments { dimension, width, limits, mut instances, variants, .. } =
            self.attribute(attribute);
        if let Some((width, place)) = &width
            && let Some((message, help)) = marks::wrong_width(self.function, width, text)
        {
            self.report(Code::KernelAttribute, place.clone(), &message, help);
        }
        let mut warnings = Vec::new();
        match (dimension, &width) {
            (Dimension::One, _) => self.refuse_rows(),
            (Dimension::Two, None) => warnings = self.warn_of_rows(),
            _ => {}
        }
        self.check_function();
        self.check_lifetimes();
        let base = Signature {
            name: self.name().into(),
            symbol: symbol(&self.name()).into(),
            dimension,
            safety: match self.function.sig.safety {
                syn::Safety::Unsafe(_) => Safety::Unsafe,
                syn::Safety::Safe(_) | syn::Safety::Default => Safety::Safe,
            },
            limits,
            parameters: Vec::new().into(),
            file: text.display().to_owned().into(),
            line: place.line,
        };
        instances.extend(self.of_settings(&base, listed, &place));
        let generics = instances::parameters(&self.function.sig.generics);
        if generics.is_empty() {
            self.refuse_instances(&instances);
            let inputs = self.function.sig.inputs.iter();
            let parameters = inputs.filter_map(|input| self.parameter(input, None)).collect();
            return Read {
                kernels: vec![(Signature { parameters, ..base }, place)],
                generic: None,
                variants,
                warnings,
            };
        }
        Read { variants, warnings, ..self.generic(&base, &place, generics, &instances) }
    }

    pub(super) fn name(&self) -> String {
        self.function.sig.ident.unraw().to_string()
    }

    pub(super) fn report(
        &mut self,
        code: Code,
        place: Place,
        message: &str,
        help: impl Into<String>,
    ) {
        let name = self.name();
        let message = format!("kernel `{name}` {message}");
        self.reports.push(Diagnostic::error(code, place, message).kernel(name).help(help));
    }

    /// What the attribute says of the kernel; what is wrong with it is reported.
    fn attribute(&mut self, attribute: &Attribute) -> Arguments {
        let mut arguments = Arguments::read(attribute, self.scope.text(self.module));
        for report in std::mem::take(&mut arguments.reports) {
            self.report(report.code, report.place, &report.message, report.help);
        }
        arguments
    }

    /// Refuses slices with rows in a kernel of one dimension: every thread of its launches is in row 0.
    fn refuse_rows(&mut self) {
        let (text, function) = (self.scope.text(self.module), self.function);
        for ty in marks::slices_with_rows(function) {
            let message = format!(
                "has rows in `{}`, and is of one dimension: all threads of its launches are in row 0",
                text.written(ty)
            );
            let help = "write `#[kernel(dim = 2, width = w)]`, where `w` is the parameter that is the width of the rows";
            self.report(Code::KernelAttribute, text.place(ty), &message, help);
        }
    }

    /// Warns of slices with rows whose width nobody gives: a launch that is wider than the image has its pixels
    /// at other places.
    fn warn_of_rows(&self) -> Vec<Diagnostic> {
        let (text, name) = (self.scope.text(self.module), self.name());
        let warning = |ty: &Type| {
            let message = format!(
                "kernel `{name}` has rows as wide as the launch in `{}`: in a launch wider than the image, elements are \
                 at wrong places",
                text.written(ty)
            );
            let help = "write `#[kernel(dim = 2, width = w)]`, where `w` is the parameter that is the width of the rows";
            let warning = Diagnostic::warning(Code::KernelAttribute, text.place(ty), message);
            warning.kernel(&*name).help(help)
        };
        marks::slices_with_rows(self.function).map(warning).collect()
    }

    /// What a function must not be to be a kernel, apart from its parameters.
    fn check_function(&mut self) {
        let (text, signature) = (self.scope.text(self.module), &self.function.sig);
        if let Some(token) = &signature.asyncness {
            let help = "remove `async`: a launch is asynchronous by itself";
            self.report(Code::KernelSignature, text.place(token), "is `async`", help);
        }
        if let Some(token) = &signature.constness {
            let help = "remove `const`, and put what constants need into a function of its own";
            self.report(Code::KernelSignature, text.place(token), "is `const`", help);
        }
        if let Some(variadic) = &signature.variadic {
            let help = "write its parameters out, or pass a slice";
            self.report(
                Code::KernelSignature,
                text.place(variadic),
                "takes any number of arguments",
                help,
            );
        }
        if let ReturnType::Type(_, ty) = &signature.output {
            let is_nothing = match bare(ty) {
                Type::Tuple(tuple) => tuple.elems.is_empty(),
                Type::Never(_) => true,
                _ => false,
            };
            if !is_nothing {
                let written = text.written(ty);
                let help = help::instead_of_result(ty, &written);
                self.report(
                    Code::KernelSignature,
                    text.place(ty),
                    &format!("returns `{written}`"),
                    help,
                );
            }
        }
    }

    /// Refuses `'static`: what a kernel is passed lives as long as the launch.
    fn check_lifetimes(&mut self) {
        let mut found = StaticLifetimes::default();
        found.visit_signature(&self.function.sig);
        let help = "remove it: the host may free what it passed when the launch has ended";
        for lifetime in found.0 {
            let place = self.scope.text(self.module).place(&lifetime);
            self.report(
                Code::KernelSignature,
                place,
                "has a parameter with the lifetime `'static`",
                help,
            );
        }
    }

    /// A parameter, in an instance of a generic kernel with its arguments.
    pub(super) fn parameter(
        &mut self,
        input: &FnArg,
        instance: Option<(&[GenericParameter], &Known)>,
    ) -> Option<Parameter> {
        let text = self.scope.text(self.module);
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                let help = "write it as a function, and pass the fields it needs as parameters";
                self.report(Code::KernelSignature, text.place(receiver), "takes `self`", help);
                return None;
            }
        };
        let Some(name) = self.parameter_name(typed) else {
            let (message, help) = help::instead_of_pattern(typed, text);
            self.report(Code::KernelSignature, text.place(&typed.pat), &message, help);
            return None;
        };
        let mut types = Types::new(self.scope, &name);
        let substituted = instance
            .map(|(generics, instance)| substitution::substituted(&typed.ty, generics, instance));
        match types.parameter(self.module, substituted.as_ref().unwrap_or(&typed.ty)) {
            Ok(kind) => kind.map(|kind| Parameter { name: name.into(), kind }),
            Err(refusal) => {
                let is_element = matches!(types.position, Position::Element(_));
                let differs = |(generics, _): &(&[GenericParameter], &Known)| {
                    substitution::form(&typed.ty, generics) != Form::Same
                };
                let instance = instance.filter(differs).map(|(_, it)| it);
                self.refuse(&name, typed, is_element, refusal, instance);
                None
            }
        }
    }

    fn parameter_name(&self, typed: &PatType) -> Option<String> {
        match &*typed.pat {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
                Some(pattern.ident.unraw().to_string())
            }
            _ => None,
        }
    }

    fn refuse(
        &mut self,
        name: &str,
        typed: &PatType,
        is_element: bool,
        refusal: UnsupportedType,
        instance: Option<&Known>,
    ) {
        let (text, kernel) = (self.scope.text(self.module), self.name());
        let path = refusal.path();
        let whole = text.written(&typed.ty);
        let inner = &refusal.written;
        let what = match (path.as_str(), is_element) {
            ("", false) if *inner == whole => format!("has type `{whole}`"),
            ("", false) => format!("has type `{whole}`, that is `{inner}`"),
            ("", true) => format!("has type `{whole}`, with elements of type `{inner}`"),
            (path, _) if path.starts_with('[') => {
                format!("has type `{whole}`, with elements of type `{inner}`")
            }
            (path, _) => format!("has type `{whole}`, whose field `{path}` has type `{inner}`"),
        };
        let message = format!("parameter `{name}` of kernel `{kernel}` {what}, {}", refusal.why);
        let mut report = Diagnostic::error(Code::ParameterType, text.place(&typed.ty), message)
            .kernel(kernel)
            .parameter(name)
            .help(refusal.help);
        if let Some(place) = refusal.at {
            report = report.label(*place, format!("`{inner}`"));
        }
        if let Some(Known { place, text, .. }) = instance {
            report = report.label(place.clone(), format!("in the instance `{text}`"));
        }
        // What no instance changes is said once.
        let is_known = |it: &Diagnostic| it.message == report.message && it.place == report.place;
        if !self.reports.iter().any(is_known) {
            self.reports.push(report);
        }
    }
}

/// The lifetimes `'static` of a signature.
#[derive(Default)]
struct StaticLifetimes(Vec<Lifetime>);

impl<'ast> Visit<'ast> for StaticLifetimes {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        self.0.extend((lifetime.ident == "static").then(|| lifetime.clone()));
    }
}

/// Looks for `#[kernel]` and `#[device_fn]` where they cannot be: on methods, and in the bodies of functions.
struct Misplaced<'s, 'a> {
    scope: &'s Scope<'a>,
    module: ModuleId,
    reports: Vec<Diagnostic>,
}

impl Misplaced<'_, '_> {
    fn look_into(&mut self, item: &Item) {
        match item {
            Item::Mod(_) => {}
            Item::Fn(function) => self.visit_block(&function.block),
            Item::Macro(item) if self.scope.leaves_out(&item.attrs) => {}
            // What a definition writes is read where it is called.
            Item::Macro(item) if item.ident.is_some() => {}
            Item::Macro(item) => self.check_macro(&item.mac, true),
            item => self.visit_item(item),
        }
    }

    fn check(&mut self, attributes: &[Attribute], name: &Ident, what: &str) {
        if self.scope.leaves_out(attributes) {
            return;
        }
        let place = self.scope.text(self.module).place(name);
        let help = "write it as a function of the file, or of a module in it";
        let report = |code: Code, kind: &str| {
            Diagnostic::error(code, place.clone(), format!("{kind} `{name}` is {what}")).help(help)
        };
        if marker(attributes).is_some() {
            self.reports.push(report(Code::KernelSignature, "kernel").kernel(name.to_string()));
        }
        if marked(attributes, DEVICE_FN).is_some() {
            self.reports.push(report(Code::DeviceFunction, "device function"));
        }
    }
}

impl Misplaced<'_, '_> {
    /// Refuses a macro call that writes kernels, where it was not expanded: which ones they become, only rustc knows.
    fn check_macro(&mut self, mac: &Macro, is_item: bool) {
        let name = mac.path.segments.last().map(|it| it.ident.unraw().to_string());
        let name = name.unwrap_or_default();
        let is_own = self.scope.writes_kernels(&name);
        if !is_own && marker_in(mac.tokens.clone()).is_none() {
            return;
        }
        if !is_item {
            return self.misplaced_macro(&name, &mac.path);
        }
        let (message, help) = if is_own {
            (
                format!("macro `{name}` writes kernels, and no rule of it is for this call"),
                "compare the call with the rules of the macro",
            )
        } else {
            (
                format!(
                    "macro `{name}` is given kernels, and cannot be expanded: it is none of this crate, or no rule of it \
                     is for this call"
                ),
                "write the functions outside of the call, or by a `macro_rules!` of this crate",
            )
        };
        let place = self.scope.text(self.module).place(&mac.path);
        self.reports.push(Diagnostic::error(Code::HiddenKernel, place, message).help(help));
    }

    fn misplaced_macro(&mut self, name: impl Display, node: &impl ToTokens) {
        let place = self.scope.text(self.module).place(node);
        let message = format!("macro `{name}` writes kernels where no function of a module can be");
        let help = "call it in the file itself, or in a module of it";
        self.reports.push(Diagnostic::error(Code::HiddenKernel, place, message).help(help));
    }
}

impl<'ast> Visit<'ast> for Misplaced<'_, '_> {
    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        match &item.ident {
            Some(_) if self.scope.leaves_out(&item.attrs) => {}
            // Its calls are next to it.
            Some(name) if marker_in(item.mac.tokens.clone()).is_some() => {
                self.misplaced_macro(name, name)
            }
            Some(_) => {}
            None => self.check_macro(&item.mac, false),
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.check_macro(mac, false);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.check(&function.attrs, &function.sig.ident, "a method");
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.check(&function.attrs, &function.sig.ident, "a method of a trait");
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.check(&function.attrs, &function.sig.ident, "inside another function");
        visit::visit_item_fn(self, function);
    }
}
