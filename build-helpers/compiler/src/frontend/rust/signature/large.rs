//! Arrays of gigabytes in `static`s, constants and array expressions. rustc evaluates a value of zeros byte for byte,
//! at 20 seconds and 2 GB of memory a gigabyte, and a kernel's local variables have far less room.
//!
//! Only what can be read without compiling is refused here. rustc and the checks of compiled code see the rest.

use super::{
    length::value,
    scope::{ModuleId, Scope},
    syntax::{bare, segments},
};
use crate::diagnostic::{Code, Diagnostic};
use quote::ToTokens;
use syn::{
    Expr, ExprRepeat, ImplItemConst, Item, ItemConst, ItemMod, ItemStatic, Lit, Type,
    visit::{self, Visit},
};

/// The bytes that a variable may have, as of those with an initial value in compiled code.
const LIMIT: u64 = 1 << 30;

/// Everything that is too large, by file.
pub(super) fn read_all(scope: &Scope<'_>) -> Vec<(usize, Diagnostic)> {
    let mut found = Vec::new();
    for (module, items) in scope.all_modules() {
        let mut finder = Finder { scope, module, reports: Vec::new() };
        // Modules come by themselves.
        items.iter().for_each(|item| finder.visit_item(item));
        found.extend(finder.reports.into_iter().map(|report| (scope.file(module), report)));
    }
    found
}

struct Finder<'s, 'a> {
    scope: &'s Scope<'a>,
    module: ModuleId,
    reports: Vec<Diagnostic>,
}

impl Finder<'_, '_> {
    /// Reports a variable or constant of this type; whether it did.
    fn check(&mut self, what: &str, name: &syn::Ident, ty: &Type) -> bool {
        let bytes = self.bytes(ty).unwrap_or_default();
        let is_large = bytes > LIMIT;
        if is_large {
            self.report(name, format!("{what} `{name}` has {bytes} bytes"));
        }
        is_large
    }

    fn report(&mut self, node: &impl ToTokens, has: String) {
        let place = self.scope.text(self.module).place(node);
        let message = format!("{has}: the most that a variable may have is {LIMIT}");
        let help = "let the host allocate it as a buffer, and pass that";
        self.reports.push(Diagnostic::error(Code::LargeVariable, place, message).help(help));
    }

    /// The bytes of a type, or fewer; `None` where it takes the compiler to know.
    fn bytes(&self, ty: &Type) -> Option<u64> {
        match bare(ty) {
            Type::Array(array) => {
                let length = value(self.scope, self.module, &array.len)?;
                Some(self.bytes(&array.elem)?.saturating_mul(length))
            }
            Type::Path(path) => primitive(segments(&path.path).last()?),
            _ => None,
        }
    }

    /// The bytes of a value, or fewer.
    fn bytes_of(&self, value: &Expr) -> Option<u64> {
        match value {
            Expr::Repeat(repeat) => self.bytes_of_repeat(repeat),
            Expr::Paren(inner) => self.bytes_of(&inner.expr),
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(number) => Some(primitive(number.suffix()).unwrap_or(1)),
                Lit::Float(number) => Some(primitive(number.suffix()).unwrap_or(4)),
                Lit::Byte(_) | Lit::Bool(_) => Some(1),
                Lit::Char(_) => Some(4),
                _ => None,
            },
            _ => None,
        }
    }

    fn bytes_of_repeat(&self, repeat: &ExprRepeat) -> Option<u64> {
        let length = value(self.scope, self.module, &repeat.len)?;
        Some(self.bytes_of(&repeat.expr)?.saturating_mul(length))
    }
}

impl<'ast> Visit<'ast> for Finder<'_, '_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let left_out = match item {
            Item::Const(item) => self.scope.leaves_out(&item.attrs),
            Item::Static(item) => self.scope.leaves_out(&item.attrs),
            Item::Fn(item) => self.scope.leaves_out(&item.attrs),
            Item::Impl(item) => self.scope.leaves_out(&item.attrs),
            _ => false,
        };
        if !left_out {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, _: &'ast ItemMod) {}

    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        if !self.check("the static", &item.ident, &item.ty) {
            visit::visit_item_static(self, item);
        }
    }

    fn visit_item_const(&mut self, item: &'ast ItemConst) {
        if !self.check("the constant", &item.ident, &item.ty) {
            visit::visit_item_const(self, item);
        }
    }

    fn visit_impl_item_const(&mut self, item: &'ast ImplItemConst) {
        if !self.check("the constant", &item.ident, &item.ty) {
            visit::visit_impl_item_const(self, item);
        }
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast ExprRepeat) {
        match self.bytes_of_repeat(repeat) {
            Some(bytes) if bytes > LIMIT => {
                self.report(repeat, format!("this array has {bytes} bytes"))
            }
            _ => visit::visit_expr_repeat(self, repeat),
        }
    }
}

/// The bytes of a primitive type.
fn primitive(name: &str) -> Option<u64> {
    Some(match name {
        "u8" | "i8" | "bool" => 1,
        "u16" | "i16" | "f16" => 2,
        "u32" | "i32" | "f32" | "char" => 4,
        "u64" | "i64" | "f64" | "usize" | "isize" => 8,
        "u128" | "i128" => 16,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::frontend::rust::signature::read;

    /// The errors for these items beside a kernel, by line and message.
    fn errors(items: &str) -> Vec<String> {
        let text = format!("{items}\n#[kernel] fn k() {{}}\n");
        let errors = read(&text, "k.rs").err().unwrap_or_default();
        errors.iter().map(|error| format!("{}: {}", error.place.line, error.message)).collect()
    }

    #[test]
    fn arrays_of_gigabytes_are_refused_where_they_are_written() {
        let most = "the most that a variable may have is 1073741824";
        let refused = [
            ("static A: [u8; 4 << 30] = [0; 4 << 30];", "the static `A` has 4294967296 bytes"),
            (
                "const N: usize = 1 << 20; mod m { static mut B: [[u8; super::N]; super::N] = X; }",
                "the static `B` has 1099511627776 bytes",
            ),
            ("const C: [u64; 1 << 28] = [0; 1 << 28];", "the constant `C` has 2147483648 bytes"),
            (
                "struct S; impl S { const D: [char; usize::BITS << 30] = X; const E: [f32; 1 << 62] = X; }",
                "the constant `E` has 18446744073709551615 bytes",
            ),
            ("fn f() { static G: [u16; 1 << 30] = X; }", "the static `G` has 2147483648 bytes"),
            ("static H: W = W([0; 1 << 31]);", "this array has 2147483648 bytes"),
            (
                "fn f() -> &'static [f32] { &[[1.0; 1 << 20]; 1 << 20] }",
                "this array has 4398046511104 bytes",
            ),
        ];
        for (items, has) in refused {
            assert_eq!(errors(items), [format!("1: {has}: {most}")], "{items}");
        }
    }

    #[test]
    fn what_has_no_such_bytes_is_not_refused() {
        for items in [
            "static A: [u8; 1 << 30] = [0; 1 << 30];",
            "static A: &[u8; 1 << 40] = X; fn f(x: &[f32; 1 << 40]) {}",
            "static A: [(); 1 << 40] = [(); 1 << 40];",
            "#[cfg(any())] static A: [u8; 1 << 40] = [0; 1 << 40];",
            "static A: [Unknown; 1 << 40] = [Unknown::NEW; 1 << 40];",
        ] {
            assert_eq!(errors(items), [] as [String; 0], "{items}");
        }
    }
}
