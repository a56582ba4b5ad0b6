//! The types that a signature is read with are those that rustc compiles.

mod common;

use common::{compiler, source};
use kernelmill_compiler::Error;

const PRELUDE: &str = "use kernelmill_device::prelude::*;\nuse kernelmill_device::tensor::{TensorMap, TensorMapMut};\n";

/// What the front end says of a source.
fn refused(name: &str, text: &str) -> String {
    let source = source(name, &format!("{PRELUDE}{text}"));
    match compiler().lower_rust(&source) {
        Err(error @ Error::Types(_)) => error.to_string(),
        Err(error) => panic!("{name}: {error}"),
        Ok(_) => panic!("{name} is compiled"),
    }
}

fn accepted(name: &str, text: &str) {
    let source = source(name, &format!("{PRELUDE}{text}"));
    compiler().lower_rust(&source).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn an_alias_under_an_undecided_cfg_is_not_believed() {
    let text = "
#[cfg(not(windows))] type Number = f32;
#[cfg(windows)] type Number = u32;
#[kernel]
pub fn k(x: Number, mut out: DisjointSlice<Number>) {
    if let Some(out) = out.get_mut(thread::index_1d()) { *out = x }
}";
    let message = refused("undecided", text);
    let expected = "kernels/undecided.rs:7: parameter `x` of kernel `k` is read as `u32`, and rustc \
                    compiles `f32`: ";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn types_out_of_macros_are_not_believed() {
    for (name, read, compiled) in [
        ("flag", "u8", "bool"),
        ("address", "u64", "&'static u64"),
        ("length", "[u32; 2]", "[f32; 2]"),
        ("letter", "u32", "char"),
        ("size", "u64", "usize"),
        ("sign", "i32", "u32"),
    ] {
        let text = format!(
            "macro_rules! define {{ ($ty:ty) => {{ type T = $ty; }} }}
#[cfg(not(windows))] define!({compiled});
#[cfg(windows)] type T = {read};
#[kernel]
pub fn k(x: &[T]) {{ let _ = x; }}
#[kernel]
pub fn by_value(x: T) {{ let _ = x; }}"
        );
        let message = refused(name, &text);
        let shown = compiled.replace("'static ", "");
        for (line, kernel) in [(7, "k"), (9, "by_value")] {
            let what = format!(
                "kernels/{name}.rs:{line}: parameter `x` of kernel `{kernel}` is read as `{read}`, and \
                 rustc compiles `{shown}`"
            );
            assert!(message.contains(&what), "{message}");
        }
    }
}

/// Acceptance: S0.12.
#[test]
fn fields_of_structs_are_compared_private_ones_too() {
    for (name, read, compiled, expected) in [
        (
            "number",
            "a: u32, b: u32",
            "a: u32, b: f32",
            "field `b` of parameter `x` of kernel `k` is read as `u32`, and rustc compiles `f32`",
        ),
        (
            "flag_in_array",
            "a: [u8; 4]",
            "a: [bool; 4]",
            "field `a` of parameter `x` of kernel `k` is read as `[u8; 4]`, and rustc compiles `[bool; 4]`",
        ),
        (
            "in_padding",
            "a: u8, b: u32",
            "a: u8, c: bool, b: u32",
            "field `b` of parameter `x` of kernel `k` is read as `b: u32` at byte 4, and rustc compiles `c: bool` at byte 1: ",
        ),
        (
            "at_the_end",
            "b: u32, a: u8",
            "b: u32, a: u8, c: bool",
            "field `c` of parameter `x` of kernel `k` is read as no such field, and rustc compiles `bool`",
        ),
        (
            "missing",
            "b: u32, a: u8, c: u8",
            "b: u32, a: u8",
            "field `c` of parameter `x` of kernel `k` is read as `u8`, and rustc compiles no such field",
        ),
        (
            "inner",
            "a: Inner",
            "a: outer::Inner",
            "field `a.x` of parameter `x` of kernel `k` is read as `f32`, and rustc compiles `i32`",
        ),
    ] {
        let text = format!(
            "mod outer {{ #[repr(C)] #[derive(Clone, Copy)] pub struct Inner {{ x: i32 }} }}
#[repr(C)] #[derive(Clone, Copy)] pub struct Inner {{ x: f32 }}
macro_rules! define {{ ($($field:tt)*) => {{ #[repr(C)] #[derive(Clone, Copy)] pub struct S {{ $($field)* }} }} }}
#[cfg(not(windows))] define!({compiled});
#[cfg(windows)] #[repr(C)] #[derive(Clone, Copy)] pub struct S {{ {read} }}
#[kernel]
pub fn k(x: &[S]) {{ let _ = x; }}"
        );
        let message = refused(name, &text);
        assert!(message.contains(expected), "{name}: {message}");
    }
}

/// Which fields are private, those without bytes too, decides who can make a value.
#[test]
fn private_fields_are_compared_also_those_without_bytes() {
    const TOKENS: &str = "
pub mod token {
    #[derive(Clone, Copy)] pub struct Proof(());
    #[derive(Clone, Copy)] pub enum Never {}
}
use token::*;
#[derive(Clone, Copy)] pub struct Open(pub (), pub ((), core::marker::PhantomData<u8>));
";
    for (name, read, compiled, expected) in [
        (
            "private",
            "pub a: u32",
            "a: u32",
            "field `a` of parameter `x` of kernel `k` is read as a `pub` field, and rustc compiles a private field: ",
        ),
        (
            "in_the_crate",
            "pub a: u32, pub b: u8",
            "pub a: u32, pub(crate) b: u8",
            "field `b` of parameter `x` of kernel `k` is read as a `pub` field, and rustc compiles a private field: ",
        ),
        (
            "sealed",
            "pub a: u32",
            "pub a: u32, _only: ()",
            "is read as a `pub` field, and rustc compiles a `pub` field beside a private field of size zero: ",
        ),
        (
            "proof",
            "pub a: u32",
            "pub a: u32, pub proof: Proof",
            "is read as a `pub` field, and rustc compiles a `pub` field beside a private field of size zero: ",
        ),
    ] {
        let text = format!(
            "{TOKENS}
macro_rules! define {{ ($($field:tt)*) => {{ #[repr(C)] #[derive(Clone, Copy)] pub struct S {{ $($field)* }} }} }}
#[cfg(not(windows))] define!({compiled});
#[cfg(windows)] #[repr(C)] #[derive(Clone, Copy)] pub struct S {{ {read} }}
#[kernel]
pub fn k(x: &[S]) {{ let _ = x; }}"
        );
        let message = refused(name, &text);
        assert!(message.contains(expected), "{name}: {message}");
    }
    for (name, compiled) in [("token", "Proof"), ("never", "Never"), ("part", "((), Proof)")] {
        let text = format!(
            "{TOKENS}
macro_rules! define {{ ($ty:ty) => {{ type T = $ty; }} }}
#[cfg(not(windows))] define!({compiled});
#[cfg(windows)] type T = ();
#[kernel]
pub fn first(x: T, y: u32) {{ let _ = (x, y); }}
#[kernel]
pub fn last(y: u32, x: T) {{ let _ = (x, y); }}"
        );
        let message = refused(name, &text);
        for expected in [
            "parameter `y` of kernel `first` is read as `u32`, and rustc compiles ",
            "parameter `…` of kernel `last` is read as no such parameter, and rustc compiles ",
        ] {
            assert!(message.contains(expected), "{name}: {message}");
        }
    }
    let open = format!("{TOKENS}
#[repr(C)] #[derive(Clone, Copy)] pub struct S {{ pub a: u32, pub open: Open }}
#[kernel]
pub fn k(x: Open, y: u32, z: ((), Open), s: S, w: core::marker::PhantomData<u8>) {{ let _ = (x, y, z, s, w); }}");
    accepted("open", &open);
}

#[test]
fn functions_that_the_host_can_give_are_compared() {
    let text = "
#[cfg(not(windows))] type Flag = bool;
#[cfg(windows)] type Flag = u8;
#[device_fn] pub fn choose(x: f32, flag: Flag) -> f32 { if flag { x } else { 0.0 } }
#[kernel]
pub fn k(f: DeviceFn<fn(f32, Flag) -> f32>) { let _ = f; }";
    let message = refused("given", text);
    for expected in [
        "given.rs:6: a parameter or the result of device function `choose` is read as \
         `fn(f32, u8) -> f32`, and rustc compiles `fn(f32, bool) -> f32`",
        "given.rs:8: parameter `f` of kernel `k` is read as `DeviceFn<fn(f32, u8) -> f32>`, and rustc \
         compiles `DeviceFn<fn(f32, bool) -> f32>`",
    ] {
        assert!(message.contains(expected), "{message}");
    }
}

/// Types of values, each with another of the same size and alignment.
const VALUES: &[(&str, &str)] = &[
    ("bool", "u8"),
    ("char", "u32"),
    ("i8", "u8"),
    ("i16", "u16"),
    ("i32", "f32"),
    ("i64", "f64"),
    ("i128", "u128"),
    ("isize", "i64"),
    ("u8", "bool"),
    ("u16", "i16"),
    ("u32", "char"),
    ("u64", "usize"),
    ("u128", "i128"),
    ("usize", "u64"),
    ("f32", "u32"),
    ("f64", "i64"),
    ("[u16; 3]", "[i16; 3]"),
    ("[[f32; 2]; 3]", "[[f32; 3]; 2]"),
    ("Pair", "Other"),
    ("[Pair; 2]", "[Other; 2]"),
    ("Mode", "u16"),
    ("u16", "Mode"),
    ("Mode", "Signed"),
    ("Mode", "Valued"),
    ("One", "Valued"),
    ("[Mode; 2]", "[Longer; 2]"),
    ("Newtype", "u16"),
    ("Tuple", "Pair"),
    ("Nested", "Another"),
    ("DeviceFn<fn(f32, Pair) -> [u8; 4]>", "DeviceFn<fn(f32, Other) -> [u8; 4]>"),
    ("DeviceFn<fn()>", "DeviceFn<fn() -> u8>"),
    ("DeviceFn<fn(u8)>", "u64"),
];

/// A parameter whose type has a part that another item names.
struct Case {
    before: &'static str,
    after: &'static str,
    item: fn(&str, &str) -> String,
    /// The part as the source is read.
    read: &'static str,
    /// The part as rustc compiles it.
    compiled: &'static str,
}

fn alias(name: &str, ty: &str) -> String {
    format!("type {name} = {ty};")
}

fn import(name: &str, path: &str) -> String {
    format!("use {path} as {name};")
}

/// Every way in which each type can be a parameter.
fn cases() -> Vec<Case> {
    let case = |before, after, item, read, compiled| Case { before, after, item, read, compiled };
    let mut cases = Vec::new();
    for &(read, compiled) in VALUES {
        for (before, after) in [("", ""), ("&'a [", "]"), ("DisjointSlice<", ">")] {
            cases.push(case(before, after, alias as fn(&str, &str) -> String, read, compiled));
        }
    }
    const ATOMICS: [(&str, &str); 3] = [
        ("core::sync::atomic::AtomicU32", "core::sync::atomic::AtomicI32"),
        ("kernelmill_device::atomic::AtomicF32", "core::sync::atomic::AtomicU32"),
        ("core::sync::atomic::AtomicI64", "kernelmill_device::atomic::AtomicF64"),
    ];
    for (read, compiled) in ATOMICS {
        cases.push(case("&[", "]", import, read, compiled));
        cases.push(case("DisjointSlice<", ">", import, read, compiled));
    }
    cases.push(case("&TensorMap<", ", 2>", alias, "f32", "i32"));
    cases.push(case("&TensorMapMut<", ", 5>", alias, "u8", "i8"));
    cases
}

const STRUCTS: &str = "
#[repr(u16)] #[derive(Clone, Copy)] pub enum Mode { A, B }
#[repr(u16)] #[derive(Clone, Copy)] pub enum One { A }
#[repr(u16)] #[derive(Clone, Copy)] pub enum Longer { A, B, C }
mod other {
    #[repr(i16)] #[derive(Clone, Copy)] pub enum Mode { A, B }
    pub mod valued { #[repr(u16)] #[derive(Clone, Copy)] pub enum Mode { A, B = 7 } }
}
use other::{Mode as Signed, valued::Mode as Valued};
#[repr(C)] #[derive(Clone, Copy)] pub struct Pair { pub a: f32, r#type: u32 }
#[repr(C)] #[derive(Clone, Copy)] pub struct Other { pub a: f32, r#type: f32 }
#[repr(transparent)] #[derive(Clone, Copy)] pub struct Newtype(u16, ());
#[repr(C)] #[derive(Clone, Copy)] pub struct Tuple(f32, core::marker::PhantomData<u64>, u32);
#[repr(C, align(16))] #[derive(Clone, Copy)]
pub struct Nested { größe: [Pair; 2], flag: bool, f: DeviceFn<fn(Pair)> }
#[repr(C, align(16))] #[derive(Clone, Copy)]
pub struct Another { größe: [Pair; 2], flag: u8, f: DeviceFn<fn(Pair)> }
";

#[test]
fn every_supported_type_states_its_identity() {
    let kernels = cases().into_iter().enumerate().map(|(index, case)| {
        let Case { before, after, read, .. } = case;
        format!("#[kernel] pub fn k{index}<'a>(_e: (), x: {before}{read}{after}, n: u32) {{ let _ = (x, n); }}\n")
    });
    accepted("stated", &format!("{STRUCTS}{}", kernels.collect::<String>()));
}

/// The signature is read with one type, and the kernel compiled with another that has the same layout.
#[test]
fn every_supported_type_is_told_from_another_of_its_layout() {
    let cases = cases();
    let mut text =
        format!("{STRUCTS}\nmacro_rules! only {{ ($($item:item)*) => {{ $($item)* }} }}\n");
    for (index, case) in cases.iter().enumerate() {
        let (name, Case { before, after, item, .. }) = (format!("T{index}"), case);
        let (read, compiled) = (item(&name, case.read), item(&name, case.compiled));
        text += &format!(
            "only! {{ {compiled} }}
#[cfg(windows)] {read}
#[kernel] pub fn k{index}<'a>(x: {before}{name}{after}) {{ let _ = x; }}\n"
        );
    }
    let message = refused("told", &text);
    for (index, case) in cases.iter().enumerate() {
        let Case { before, after, read, .. } = case;
        let is_told = message.contains(&format!("of kernel `k{index}` "));
        assert!(is_told, "{before}{read}{after}:\n{message}");
    }
}
