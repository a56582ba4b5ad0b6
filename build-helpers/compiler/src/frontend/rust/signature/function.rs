//! Functions that the host can give to kernels, marked `#[device_fn]`, and the types of such.

use super::{
    scope::{ModuleId, Scope},
    syntax::{DEVICE_FN, bare, marked},
    types::{Position, Types},
    unsupported::UnsupportedType,
};
use crate::diagnostic::{Code, Diagnostic, Place};
use kernelmill_artifact::{DeviceFunction, FunctionType, Safety, ValueType};
use syn::{FnArg, GenericParam, Item, ItemFn, ReturnType, Type, TypeFnPtr, ext::IdentExt};

/// Reads every function, in source order, and everything that is wrong with them by file.
pub(super) fn read_all(scope: &Scope<'_>) -> (Vec<DeviceFunction>, Vec<(usize, Diagnostic)>) {
    let (mut functions, mut reports) = (Vec::new(), Vec::new());
    for (module, items) in scope.modules() {
        for item in items {
            if let Item::Fn(function) = item
                && !scope.leaves_out(&function.attrs)
                && marked(&function.attrs, DEVICE_FN).is_some()
            {
                let mut reader = Reader { scope, module, function, reports: Vec::new() };
                functions.extend(reader.read());
                reports.extend(reader.reports.into_iter().map(|it| (scope.file(module), it)));
            }
        }
    }
    functions.sort_by_key(|(position, _)| *position);
    (functions.into_iter().map(|(_, function)| function).collect(), reports)
}

/// Reads one function.
struct Reader<'s, 'a> {
    scope: &'s Scope<'a>,
    module: ModuleId,
    function: &'s ItemFn,
    reports: Vec<Diagnostic>,
}

impl Reader<'_, '_> {
    /// The function, with the place it stands at among all files.
    fn read(&mut self) -> Option<((usize, usize), DeviceFunction)> {
        let text = self.scope.text(self.module);
        let signature = &self.function.sig;
        let place = text.place(&signature.ident);
        self.check();
        if !signature.generics.params.is_empty() {
            return None;
        }
        self.check_count();
        let parameters: Option<Vec<_>> =
            signature.inputs.iter().map(|input| self.parameter(input)).collect();
        let result = self.result()?;
        let function = DeviceFunction {
            package: "".into(),
            name: self.name().into(),
            ty: FunctionType { safety: Safety::Safe, parameters: parameters?.into(), result },
            file: text.display().to_owned().into(),
            line: place.line,
        };
        Some(((self.scope.file(self.module), place.span.start), function))
    }

    fn name(&self) -> String {
        self.function.sig.ident.unraw().to_string()
    }

    fn report(&mut self, place: Place, message: &str, help: impl Into<String>) {
        let message = format!("device function `{}` {message}", self.name());
        self.reports.push(Diagnostic::error(Code::DeviceFunction, place, message).help(help));
    }

    /// What a function must not be, apart from its types.
    fn check(&mut self) {
        let (text, signature) = (self.scope.text(self.module), &self.function.sig);
        if let Some(token) = &signature.asyncness {
            self.report(text.place(token), "is `async`", "remove `async`");
        }
        if let syn::Safety::Unsafe(token) = &signature.safety {
            let help = "make it safe, or call it in a safe function that upholds its safety contract: kernels \
                        call the functions that they are passed without `unsafe`";
            self.report(text.place(token), "is `unsafe`", help);
        }
        if let Some(abi) = &signature.abi {
            let help = "remove `extern`, or call it in a function with Rust's calling convention, which \
                        `DeviceFn<fn(..)>` stands for";
            self.report(text.place(abi), "does not have Rust's calling convention", help);
        }
        for parameter in &signature.generics.params {
            let name = match parameter {
                GenericParam::Lifetime(it) => &it.lifetime.ident,
                GenericParam::Type(it) => &it.ident,
                GenericParam::Const(it) => &it.ident,
            };
            let help = "write a function for each type that is needed, which calls the generic one";
            self.report(text.place(name), &format!("is generic over `{name}`"), help);
        }
    }

    /// Reports more parameters than `DeviceFn::call` has.
    fn check_count(&mut self) {
        let (text, signature) = (self.scope.text(self.module), &self.function.sig);
        let count = signature.inputs.len();
        if count > MOST_PARAMETERS {
            let message = format!("has {count} parameters, more than {MOST_PARAMETERS}");
            let help = "put values into an array or a `#[repr(C)]` struct";
            self.report(text.place(&signature.ident), &message, help);
        }
    }

    fn parameter(&mut self, input: &FnArg) -> Option<ValueType> {
        match input {
            FnArg::Typed(typed) => self.value(&typed.ty, "takes"),
            FnArg::Receiver(receiver) => {
                let place = self.scope.text(self.module).place(receiver);
                self.report(place, "takes `self`", "write it as a function of its parameters");
                None
            }
        }
    }

    /// The result; `None` where it is refused.
    fn result(&mut self) -> Option<Option<ValueType>> {
        match returned(&self.function.sig.output) {
            None => Some(None),
            Some(ty) => self.value(ty, "returns").map(Some),
        }
    }

    fn value(&mut self, ty: &Type, verb: &str) -> Option<ValueType> {
        let mut types = Types::new(self.scope, "value");
        types.position = Position::Inside;
        match types.value(self.module, ty) {
            Ok(value) => Some(value),
            Err(refusal) => {
                let text = self.scope.text(self.module);
                let written = text.written(ty);
                let inner = if refusal.written == written || refusal.written.is_empty() {
                    String::new()
                } else {
                    format!(", in it `{}`", refusal.written)
                };
                let message = format!("{verb} `{written}`{inner}, {}", refusal.why);
                self.report(text.place(ty), &message, PLAIN);
                None
            }
        }
    }
}

/// The most parameters of a function that kernels can call.
const MOST_PARAMETERS: usize = 8;
/// What functions take and return.
const PLAIN: &str = "device functions passed to kernels take and return scalars, arrays and \
                     `#[repr(C)]` structs by value";

/// The type of a result that is not `()`.
fn returned(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, ty) = output else { return None };
    let is_unit = matches!(bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty());
    (!is_unit).then_some(ty)
}

impl Types<'_, '_> {
    /// The type `DeviceFn<F>`, as it is written, with its `F`.
    pub(super) fn device_fn(
        &mut self,
        module: ModuleId,
        whole: &Type,
        inner: &Type,
    ) -> Result<ValueType, UnsupportedType> {
        let Type::FnPtr(pointer) = bare(inner) else {
            return Err(self.no_function_type(module, whole));
        };
        let is_plain =
            pointer.abi.is_none() && pointer.lifetimes.is_none() && pointer.variadic.is_none();
        if !is_plain {
            return Err(self.no_function_type(module, whole));
        }
        let position = std::mem::replace(&mut self.position, Position::Inside);
        let ty = self.function_type(module, pointer);
        self.position = position;
        match ty {
            Ok(ty) => Ok(ValueType::Function(ty.into())),
            Err(_) => Err(self.no_plain_function(module, whole, PLAIN)),
        }
    }

    fn function_type(
        &mut self,
        module: ModuleId,
        pointer: &TypeFnPtr,
    ) -> Result<FunctionType, UnsupportedType> {
        let parameters = pointer.inputs.iter().map(|input| self.value(module, &input.ty));
        let parameters: Vec<_> = parameters.collect::<Result<_, _>>()?;
        let result = returned(&pointer.output).map(|ty| self.value(module, ty)).transpose()?;
        let safety = if pointer.unsafety.is_some() { Safety::Unsafe } else { Safety::Safe };
        Ok(FunctionType { safety, parameters: parameters.into(), result })
    }
}
