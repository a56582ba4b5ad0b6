use super::super::{Cfgs, Reading, SourceText, read, read_crate};

fn shown(text: &str) -> Vec<String> {
    match read(text, "kernels/k.rs") {
        Ok(kernels) => kernels.iter().map(ToString::to_string).collect(),
        Err(found) => panic!("{}", messages(&found)),
    }
}

fn messages(found: &[crate::diagnostic::Diagnostic]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn refused(text: &str) -> String {
    messages(&read(text, "kernels/k.rs").unwrap_err())
}

#[test]
fn kernels_that_macros_write_are_found_with_their_types() {
    let text = "
        macro_rules! scale {
            ($($name:ident: $t:ty),+ $(,)?) => {
                $(#[kernel] pub fn $name(factor: $t, x: &[$t], mut y: DisjointSlice<$t>) {})+
            };
        }
        scale!(scale_f32: f32, scale_f64: f64, scale_pair: [f32; 2],);
        #[kernel] fn last() {}";
    assert_eq!(
        shown(text),
        [
            "fn scale_f32(factor: f32, x: &[f32], y: DisjointSlice<f32>)",
            "fn scale_f64(factor: f64, x: &[f64], y: DisjointSlice<f64>)",
            "fn scale_pair(factor: [f32; 2], x: &[[f32; 2]], y: DisjointSlice<[f32; 2]>)",
            "fn last()",
        ]
    );
}

#[test]
fn a_kernel_is_where_the_call_gives_its_name() {
    let text = "macro_rules! m { ($n:ident) => { #[kernel] fn $n() {} }; () => { #[kernel] fn own() {} } }\n\nm!(a);\nm! { b }\nm!();";
    let found = read(text, "kernels/k.rs").unwrap();
    let lines: Vec<_> = found.iter().map(|it| (it.name.to_string(), it.line)).collect();
    assert_eq!(lines, [("own".into(), 1), ("a".into(), 3), ("b".into(), 4)]);
}

#[test]
fn every_kind_of_fragment_binds_what_it_takes() {
    for (matcher, call, item) in [
        ("$n:ident $t:ty", "k f32", "fn $n(a: $t) {}"),
        ("$v:vis fn $n:ident", "pub(crate) fn k", "$v fn $n(a: f32) {}"),
        ("fn $n:ident", "fn k", "fn $n(a: f32) {}"),
        ("$i:item", "fn k(a: f32) {}", "$i"),
        ("$b:block", "{ let x = 1; }", "fn k(a: f32) $b"),
        ("$p:pat => $t:ty", "a => f32", "fn k($p: $t) {}"),
        ("$p:pat_param | $t:path", "a | f32", "fn k($p: $t) {}"),
        ("$l:lifetime, $t:ty", "'a, f32", "fn k<$l>(a: $t) {}"),
        ("$e:expr, $s:stmt", "1 + 2 * f(3), let x = 5", "fn k(a: f32) { $s; let y = $e; }"),
        ("$l:literal $m:literal", "-1 'x'", "fn k(a: f32) { f($l, $m) }"),
        ("$(#[$m:meta])* $n:ident", "#[inline] #[doc = \"x\"] k", "$(#[$m])* fn $n(a: f32) {}"),
        ("($($a:tt)*) -> [$($t:tt)*]", "(a b: c, 'd) -> [f32]", "fn k(a: $($t)*) {}"),
        ("$($a:ident),* ; $t:ty", "; f32", "fn k(a: $t) { $($a)* }"),
        ("$(@ $a:ident)? $t:ty", "@ a f32", "fn k($($a)?: $t) {}"),
        ("$(@ $a:ident)? $t:ty", "f32", "fn k($($a)? a: $t) {}"),
        ("$($a:ident = $t:ty);+", "a = f32", "fn k($($a: $t),+) {}"),
        ("$t:ty", "<f32 as core::ops::Add>::Output", "fn k(a: f32) { let x: $t; }"),
        ("$($k:literal => $v:expr),*", "0 => 1, 1 => a > b", "fn k(a: f32) { $(f($k, $v);)* }"),
        ("$($n:ident { $($f:ident),* })*", "a { b, c } d {}", "fn k(a: f32) { $($($n.$f;)*)* }"),
        ("$n:ident+ $($t:ty)+*", "k+ f32", "fn $n($(a: $t),*) {}"),
    ] {
        let text =
            format!("macro_rules! m {{ ({matcher}) => {{ #[kernel] {item} }} }}\nm!{{ {call} }}");
        let found = read(&text, "kernels/k.rs").unwrap_or_else(|it| panic!("{text}: {it:?}"));
        let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["fn k(a: f32)"], "{matcher}");
    }
}

#[test]
fn rules_are_tried_in_turn_and_macros_call_macros() {
    let text = "
        macro_rules! each {
            (@one $name:ident f16) => { #[kernel] fn $name(x: u16) {} };
            (@one $name:ident $t:ident) => { #[kernel] fn $name(x: $t) {} };
            () => {};
            ($name:ident: $t:ident, $($rest:tt)*) => { each!(@one $name $t); each!($($rest)*); };
        }
        each! { a: f16, b: u8, c: f64, }";
    assert_eq!(shown(text), ["fn a(x: u16)", "fn b(x: u8)", "fn c(x: f64)"]);
    let text = "
        macro_rules! define { ($m:ident $t:ty) => {
            macro_rules! $m { ($n:ident) => { #[kernel] fn $n(x: $t) {} } }
        } }
        define!(bytes u8); define!(words u32);
        bytes!(a); words!(b);";
    assert_eq!(shown(text), ["fn a(x: u8)", "fn b(x: u32)"]);
    // Its own kernels, by a macro that only passes on what it is given.
    let text = "macro_rules! pass { ($($i:item)*) => { $($i)* } } pass! { #[kernel] fn a() {} #[kernel] fn b() {} }";
    assert_eq!(shown(text), ["fn a()", "fn b()"]);
}

#[test]
fn types_and_constants_that_macros_write_are_known() {
    let text = "
        macro_rules! point { ($n:ident, $t:ty) => { #[repr(C)] #[derive(Clone, Copy)] pub struct $n { pub x: $t, pub y: $t } } }
        macro_rules! size { ($n:ident = $e:expr) => { const $n: usize = 2 * $e; } }
        point!(Point, f32);
        size!(SIZE = 1 + 3);
        #[kernel] fn k(p: Point, q: &[[u8; SIZE]]) {}";
    let found = read(text, "kernels/k.rs").unwrap();
    let sizes: Vec<_> = found[0].parameters.iter().map(|it| it.kind.crossing().size()).collect();
    assert_eq!(sizes, [8, 8]);
}

#[test]
fn the_macro_that_is_meant_is_the_last_one_before_the_call_in_scope() {
    let text = "
        macro_rules! m { () => { #[kernel] fn a() {} } }
        m!();
        mod inner { macro_rules! m { () => { #[kernel] fn b() {} } } m!(); }
        macro_rules! m { () => { #[kernel] fn c() {} } }
        #[macro_use] mod kept { macro_rules! n { () => { #[kernel] fn d() {} } } }
        m!(); n!();";
    let names: Vec<_> = shown(text);
    assert_eq!(names, ["fn a()", "fn b()", "fn c()", "fn d()"]);
    let text = "
        mod macros { macro_rules! m { ($n:ident) => { #[kernel] fn $n() {} } } pub(crate) use m; }
        use macros::m as _; use macros::m;
        m!(a); macros::m!(b); crate::macros::m!(c); self::macros::m!(d);";
    assert_eq!(shown(text), ["fn a()", "fn b()", "fn c()", "fn d()"]);
}

#[test]
fn macros_of_other_files_are_expanded_at_the_call() {
    let macros = ["macros".to_owned()];
    let root = "#[macro_use]\nmod macros;\nfill!(ones, f32);\nfill!(twos, &mut [f32]);";
    let text = "// A long text.\n\n\n\n\n\n\nmacro_rules! fill { ($n:ident, $t:ty) => { #[kernel] fn $n(v: $t, out: DisjointSlice<f32>) {} } }";
    let file = |module, text, display| SourceText { module, text, display, has_kernels: true };
    let files = [file(&[], root, "kernels/k.rs"), file(&macros, text, "kernels/macros.rs")];
    let Reading::Rejected(found) = read_crate(&files, &Cfgs::default()) else { panic!() };
    assert_eq!(
        messages(&found),
        "kernels/k.rs:4:13: error[KM0040]: parameter `v` of kernel `twos` has type `&mut [f32]`, which cannot cross \
         from host to device\n  help: write `mut v: DisjointSlice<f32>`"
    );
    let root = root.replace("&mut [f32]", "u8");
    let files = [file(&[], &root, "kernels/k.rs"), files[1]];
    let Reading::Kernels(found, ..) = read_crate(&files, &Cfgs::default()) else { panic!() };
    let places: Vec<_> =
        found.iter().map(|it| (it.to_string(), it.file.to_string(), it.line)).collect();
    let place = |shown: &str, line| (shown.to_owned(), "kernels/k.rs".to_owned(), line);
    assert_eq!(
        places,
        [
            place("fn ones(v: f32, out: DisjointSlice<f32>)", 3),
            place("fn twos(v: u8, out: DisjointSlice<f32>)", 4)
        ]
    );
}

#[test]
fn what_is_wrong_with_a_kernel_of_a_macro_is_told_in_its_words() {
    let text = "macro_rules! m { ($n:ident, $t:ty) => { #[kernel] fn $n(a: &mut [$t], b: Vec<$t>) -> Option<$t> {} } }
        m!(k, f32);";
    assert_eq!(
        refused(text),
        "kernels/k.rs:1:60: error[KM0040]: parameter `a` of kernel `k` has type `&mut [f32]`, which cannot cross from \
         host to device\n  help: write `mut a: DisjointSlice<f32>`\n\
         kernels/k.rs:1:74: error[KM0040]: parameter `b` of kernel `k` has type `Vec<f32>`, which cannot cross from host \
         to device\n  help: write `b: &[f32]` to read it, `mut b: DisjointSlice<f32>` to write it\n\
         kernels/k.rs:1:86: error[KM0041]: kernel `k` returns `Option<f32>`\n  help: return nothing, and write the \
         results through parameters: `mut result: DisjointSlice<f32>`"
    );
}

#[test]
fn what_cannot_be_expanded_is_refused_at_the_call_where_it_writes_kernels() {
    let definition = "macro_rules! m { ($n:ident) => { #[kernel] fn $n() {} } }";
    for (call, expected) in [
        ("m!(a, b);", "macro `m` writes kernels, and no rule of it is for this call"),
        ("fn f() { m!(a); }", "macro `m` writes kernels where no function of a module can be"),
        (
            "macro_rules! n { ($n:ident) => { m!($n); } } fn f() { n!(a); }",
            "macro `n` writes kernels where no function of a module can be",
        ),
        ("other::n! { #[kernel] fn a() {} }", "macro `n` is given kernels, and cannot be expanded"),
        (
            "fn f() { macro_rules! l { () => { #[kernel] fn a() {} } } l!(); }",
            "macro `l` writes kernels where",
        ),
        (
            "macro_rules! e { ($($t:tt)*) => { e! { #[kernel] fn a() {} $($t)* } } } e!();",
            "macro `e` writes kernels, and no rule of it is for this call",
        ),
    ] {
        let found = refused(&format!("{definition}\n{call}"));
        assert!(found.contains("KM0044") && found.contains(expected), "{call}: {found}");
        assert_eq!(found.matches("error[").count(), 1, "{call}: {found}");
    }
    // What nobody calls, what a `cfg` leaves out, and what writes no kernels is no fault.
    for harmless in [
        "",
        "#[cfg(test)] m!(a, b);",
        "unknown! { x }",
        "macro_rules! n { ($t:ty) => { struct S($t); } } n!(1 + 1);",
    ] {
        let text = format!("{definition}\n{harmless}");
        assert!(read(&text, "kernels/k.rs").unwrap().is_empty(), "{harmless}");
    }
}

#[test]
fn expansion_ends() {
    let twice = "macro_rules! m { ($($t:tt)*) => { m! { $($t)* $($t)* } } } m!(a b c d e f g h);";
    assert!(read(twice, "kernels/k.rs").unwrap().is_empty());
    let deep = format!(
        "macro_rules! m {{ ($e:expr) => {{ const A: u32 = $e; }} }} m!({}1{});",
        "(".repeat(900),
        ")".repeat(900)
    );
    let found = std::thread::Builder::new().stack_size(1 << 28);
    let found = found.spawn(move || read(&deep, "kernels/k.rs").map(|it| it.len())).unwrap();
    assert_eq!(found.join().unwrap().unwrap(), 0);
    // A list that is long is read once, not from each of its parts on.
    let calls = "a + b * c, ".repeat(20_000);
    let long = format!(
        "macro_rules! m {{ ($($e:expr),* $(,)?) => {{ #[kernel] fn k() {{ f([$($e),*]) }} }} }} m!({calls});"
    );
    assert_eq!(read(&long, "kernels/k.rs").unwrap().len(), 1);
}
