use super::{Cfgs, Reading, SourceText, read, read_crate};
use kernelmill_artifact::{Access, Dimension, ParameterKind, Safety, Signature, ValueType};

fn kernels(text: &str) -> Vec<Signature> {
    read(text, "kernels/k.rs").unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

fn shown(text: &str) -> Vec<String> {
    kernels(text).iter().map(ToString::to_string).collect()
}

fn errors(text: &str) -> String {
    let errors = read(text, "kernels/k.rs").expect_err("no error");
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The error about one parameter `p` of this type, without what comes before the type.
fn refused(items: &str, ty: &str) -> String {
    let found = errors(&format!("#[kernel] fn k(p: {ty}) {{}}\n{items}"));
    found
        .strip_prefix("kernels/k.rs:1:19: error[KM0040]: parameter `p` of kernel `k` ")
        .unwrap()
        .to_owned()
}

fn only_struct(text: &str) -> (u64, u64, Vec<(String, u64)>) {
    let kernels = kernels(text);
    let ParameterKind::Value(ValueType::Struct(layout)) = &kernels[0].parameters[0].kind else {
        panic!("{:?}", kernels[0]);
    };
    let fields = layout.fields.iter().map(|field| (field.name.to_string(), field.offset));
    (layout.size, layout.align, fields.collect())
}

#[test]
fn parameters_of_every_kind_are_read() {
    let text = "
use kernelmill_device::prelude::*;
use kernelmill_device::{DisjointSlice as _, grid::Index2D};
const WIDTH: usize = 1 << 3;
type Real = f64;
#[repr(C)] #[derive(Clone, Copy)] pub struct Point { x: Real, y: Real }
mod shapes { #[repr(C)] pub struct Box2 { pub low: super::Point, pub high: super::Point } }
use shapes::Box2 as Bounds;

#[kernel]
pub fn all(a: f32, mut b: bool, c: &[u8], d: kernelmill_device::DisjointSlice<Point>,
    e: Bounds, f: [[i16; 4]; WIDTH * 2 + 1], g: &[[f32; 3]], h: shapes::Box2, i: usize) {}
#[kernelmill_device::kernel(dim = 2)]
unsafe fn image(mut out: DisjointSlice<u32, Index2D>, half: half::f16) -> () {}
fn helper(text: String) {}
mod inner { #[kernel(dim = 3)] fn nothing<'a>(_a: &'a [f32]) -> ! { loop {} } }
";
    assert_eq!(
        shown(text),
        [
            "fn all(a: f32, b: bool, c: &[u8], d: DisjointSlice<Point>, e: Box2, \
         f: [[i16; 4]; 17], g: &[[f32; 3]], h: Box2, i: usize)",
            "unsafe fn image(out: DisjointSlice<u32>, half: f16)",
            "fn nothing(_a: &[f32])",
        ]
    );
    let found = kernels(text);
    let dimensions: Vec<_> = found.iter().map(|kernel| kernel.dimension).collect();
    assert_eq!(dimensions, [Dimension::One, Dimension::Two, Dimension::Three]);
    assert_eq!(
        (found[1].safety, found[1].line, &*found[1].file),
        (Safety::Unsafe, 14, "kernels/k.rs")
    );
}

#[test]
fn structs_are_laid_out_by_the_rules_of_c() {
    let fields = |names: &[(&str, u64)]| -> Vec<_> {
        names.iter().map(|(name, offset)| ((*name).to_owned(), *offset)).collect()
    };
    let text = "#[repr(C)] struct Inner { a: u8, b: u64, c: u16 }
        #[repr(C)] struct P { first: bool, inner: Inner, three: [u16; 3], last: u8 }
        #[kernel] fn k(p: P) {}";
    let expected = fields(&[("first", 0), ("inner", 8), ("three", 32), ("last", 38)]);
    assert_eq!(only_struct(text), (40, 8, expected));
    let text = "#[repr(C, align(16))] struct P(u8, f32); #[kernel] fn k(p: P) {}";
    assert_eq!(only_struct(text), (16, 16, fields(&[("0", 0), ("1", 4)])));
    let text = "#[repr(transparent)] struct P { only: u128 } #[kernel] fn k(p: P) {}";
    assert_eq!(only_struct(text), (16, 16, fields(&[("only", 0)])));
}

#[test]
fn names_are_resolved_through_imports_globs_and_modules() {
    let text = "mod a { pub mod b { #[repr(C)] pub struct S { x: super::N } } pub use b::*; type N = u8; }
        use a::{S, b::{self, S as T}}; use std::ffi::c_int; use half::*;
        #[kernel] fn k(a: S, b: b::S, c: T, d: crate::a::S, e: self::a::b::S, f: c_int, g: bf16) {}";
    assert_eq!(shown(text), ["fn k(a: S, b: S, c: S, d: S, e: S, f: i32, g: bf16)"]);
    let text = "use half::f16; use kernelmill_device::{self as kd, half::bf16};
        #[kernel] fn k(a: f16, b: bf16, c: kd::half::f16, d: kernelmill_device::bf16) {}";
    assert_eq!(shown(text), ["fn k(a: f16, b: bf16, c: f16, d: bf16)"]);
}

#[test]
fn tensor_maps_are_of_one_to_five_dimensions_of_numbers() {
    let text = "type Real = f32; use kernelmill_device::tensor;
        #[kernel] fn k(a: &tensor::TensorMap<Real, 3>, b: &TensorMapMut<u8, 5>) {}";
    assert_eq!(shown(text), ["fn k(a: &TensorMap<f32, 3>, b: &TensorMapMut<u8, 5>)"]);
    let why = "has type `TY`, a tensor map that does not have 1 to 5 dimensions of numbers\n  help: write the \
               type of its elements, an integer or a float of 1 to 8 bytes, and the number of dimensions: \
               `&TensorMap<f32, 2>`";
    for ty in
        ["&TensorMap<f32, 6>", "&TensorMap<bool, 2>", "&TensorMapMut<f32>", "&TensorMap<P, 1>"]
    {
        let found = refused("#[repr(C)] struct P { x: f32 }", ty);
        assert_eq!(found, why.replace("TY", ty));
    }
    let found = refused("", "TensorMap<f32, 2>");
    assert!(found.contains("write `p: &TensorMap<f32, 2>`"), "{found}");
    let found = refused("", "&mut TensorMapMut<f32, 2>");
    assert!(found.contains("write `p: &TensorMapMut<f32, 2>`"), "{found}");
}

#[test]
fn a_slice_of_atomics_is_written_to() {
    let text = "use core::sync::atomic::AtomicU32; #[kernel] fn count(bins: &[AtomicU32]) {}";
    let ParameterKind::Slice { access, ref element } = kernels(text)[0].parameters[0].kind else {
        panic!("not a slice");
    };
    assert_eq!((access, element.to_string().as_str()), (Access::Write, "u32"));
}

#[test]
fn text_without_kernels_is_empty_and_text_that_is_not_rust_is_told_apart() {
    assert_eq!(read("pub fn helper() {}", "a.rs"), Ok(Vec::new()));
    assert_eq!(read("#[kernel] fn k( {", "a.rs"), Err(Vec::new()));
    let text = SourceText { module: &[], text: "fn", display: "a.rs", has_kernels: true };
    assert!(matches!(read_crate(&[text], &Cfgs::default()), Reading::NotRust));
    let text = "#[cfg(test)] mod tests { #[kernel] fn k(x: String) {} }
        #[cfg(not(kernelmill))] #[kernel] fn l(x: String) {}
        #[cfg(all(kernelmill, feature = \"x\"))] #[kernel] fn m() {}";
    assert_eq!(shown(text), ["fn m()"]);
}

#[test]
fn the_files_of_a_crate_see_each_others_types() {
    let module = ["types".to_owned()];
    let files = [
        SourceText {
            module: &[],
            text: "mod types; use types::P; #[kernel] fn k(p: P) {}",
            display: "src/lib.rs",
            has_kernels: true,
        },
        SourceText {
            module: &module,
            text: "#[repr(C)] pub struct P { x: String }",
            display: "src/types.rs",
            has_kernels: true,
        },
    ];
    let Reading::Rejected(found) = read_crate(&files, &Cfgs::default()) else {
        panic!("not rejected")
    };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place.file, "src/lib.rs");
    assert_eq!(found[0].labels[0].place.file, "src/types.rs");
    let good = SourceText { text: "#[repr(C)] pub struct P { x: u8 }", ..files[1] };
    assert!(
        matches!(read_crate(&[files[0], good], &Cfgs::default()), Reading::Kernels(kernels, ..) if kernels.len() == 1)
    );
}

#[test]
fn a_file_can_be_there_for_its_types_alone() {
    let module = ["shapes".to_owned()];
    let root = "mod shapes; use shapes::{N, Disc}; use shapes::deep::*;
        #[kernel] fn areas(x: &[Disc], deep: [Deep; N], mut y: DisjointSlice<f32>) {}";
    let shapes = "pub const N: usize = 3;
        #[repr(C)] pub struct Disc { radius: f32 }
        pub mod deep { #[repr(C)] pub struct Deep { pub a: u8 } #[kernel] fn also(x: String) {} }
        #[kernel] fn not_read(x: String) {}";
    let files = [
        SourceText { module: &[], text: root, display: "kernels/k.rs", has_kernels: true },
        SourceText {
            module: &module,
            text: shapes,
            display: "kernels/shapes.rs",
            has_kernels: false,
        },
    ];
    let Reading::Kernels(kernels, ..) = read_crate(&files, &Cfgs::default()) else { panic!() };
    let shown: Vec<_> = kernels.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["fn areas(x: &[Disc], deep: [Deep; 3], y: DisjointSlice<f32>)"]);
}

/// Acceptance: S0.4.
#[test]
fn everything_wrong_in_a_file_is_reported_at_once() {
    let text = "\u{feff}use kernelmill_device::prelude::*;

#[kernel]
pub fn first(name: &str, (a, b): (f32, f32), größe: Vec<f32>) -> f32 { 0.0 }

#[kernel(dim = 4)]
async fn second<T, const N: usize>(x: &mut [u8]) {}

#[kernel]
fn first() {}

struct Host;
impl Host {
    #[kernel]
    fn method(&self) {}
}
";
    let expected = "\
kernels/k.rs:4:20: error[KM0040]: parameter `name` of kernel `first` has type `&str`, which cannot cross from host to device
  help: write `name: &[u8]`, and pass the text's bytes
kernels/k.rs:4:26: error[KM0041]: kernel `first` destructures a parameter, `(a, b)`
  help: write a parameter for each field
kernels/k.rs:4:53: error[KM0040]: parameter `größe` of kernel `first` has type `Vec<f32>`, which cannot cross from host to device
  help: write `größe: &[f32]` to read it, `mut größe: DisjointSlice<f32>` to write it
kernels/k.rs:4:66: error[KM0041]: kernel `first` returns `f32`
  help: write it through a parameter, for example `mut result: DisjointSlice<f32>`
kernels/k.rs:6:16: error[KM0043]: kernel `second` has `4` dimensions
  help: write `dim = 1`, `dim = 2` or `dim = 3`
kernels/k.rs:7:1: error[KM0041]: kernel `second` is `async`
  help: remove `async`: a launch is asynchronous by itself
kernels/k.rs:7:10: error[KM0042]: kernel `second` is generic over `T` and `N`, and no instance of it is listed
  help: list them, `#[kernel(instances = [\"f32, 16\"])]`, or in the settings, `[kernels.second]` with `instances = [\"f32, 16\"]`
kernels/k.rs:7:39: error[KM0040]: parameter `x` of kernel `second` has type `&mut [u8]`, which cannot cross from host to device
  help: write `mut x: DisjointSlice<u8>`
kernels/k.rs:10:4: error[KM0027]: two kernels are named `first`
  kernels/k.rs:4:8: the first one
  help: rename one of them: all kernels of a package become methods of one `Kernels`
kernels/k.rs:15:8: error[KM0041]: kernel `method` is a method
  help: write it as a function of the file, or of a module in it";
    assert_eq!(errors(text), expected);
}

#[test]
fn a_type_of_the_program_is_taken_in_from_the_folder_of_the_kernel_file() {
    let help = |file: &str| {
        let text = "use crate::game::Level as L;\n#[kernel] fn k(p: &[L]) {}";
        let found = read(text, file).unwrap_err();
        found[0].help.clone().unwrap()
    };
    let lines = |file: &str| help(file).split_once("takes in: ").map(|(_, line)| line.to_owned());
    let line = "`#[cfg(kernelmill)] #[path = \"../../src/game.rs\"] mod game;`";
    assert_eq!(lines("kernels/deep/k.rs").as_deref(), Some(line));
    for file in ["src/main.rs", "kernels/pack/src/lib.rs", "../shared/k.rs"] {
        assert_eq!(help(file), "define `L` as a `#[repr(C)]` struct in this file", "{file}");
    }
}

#[test]
fn a_long_type_is_shown_in_part() {
    let long = format!("({}u8)", "f32, ".repeat(20_000));
    let error = refused("", &long);
    assert!(error.starts_with("has type `(f32, f32, "), "{error}");
    assert!(error.contains(", f32, u8)`, "), "{error}");
    assert!(error.len() < 1000, "{} bytes", error.len());
}

#[test]
fn a_field_that_cannot_cross_is_named_with_its_path() {
    let text = "#[repr(C)] struct Inner { data: [Option<f32>; 4] }
#[repr(C)] struct Params { scale: f32, inner: Inner }
struct Loose { x: f32 }
#[repr(C)] struct Outer { loose: Loose }
#[kernel] fn k(p: Params, q: &[Params], r: Loose, s: Outer) {}";
    let expected = "\
kernels/k.rs:5:19: error[KM0040]: parameter `p` of kernel `k` has type `Params`, whose field `inner.data[_]` has type `Option<f32>`, which cannot cross from host to device
  kernels/k.rs:1:33: `Option<f32>`
  help: pass the value, and a `bool` for whether it is there
kernels/k.rs:5:30: error[KM0040]: parameter `q` of kernel `k` has type `&[Params]`, whose field `inner.data[_]` has type `Option<f32>`, which cannot cross from host to device
  kernels/k.rs:1:33: `Option<f32>`
  help: pass the value, and a `bool` for whether it is there
kernels/k.rs:5:44: error[KM0040]: parameter `r` of kernel `k` has type `Loose`, a struct without `#[repr(C)]`
  kernels/k.rs:3:8: `Loose`
  help: write `#[repr(C)]` and `#[derive(Clone, Copy)]` above `struct Loose`
kernels/k.rs:5:54: error[KM0040]: parameter `s` of kernel `k` has type `Outer`, whose field `loose` has type `Loose`, a struct without `#[repr(C)]`
  kernels/k.rs:3:8: `Loose`
  help: write `#[repr(C)]` and `#[derive(Clone, Copy)]` above `struct Loose`";
    assert_eq!(errors(text), expected);
}

#[test]
fn every_type_that_cannot_cross_says_what_to_write_instead() {
    let cannot = "which cannot cross from host to device\n  help:";
    for (ty, help) in [
        ("String", "write `p: &[u8]`, and pass the text's bytes"),
        ("Box<[f32]>", "write `p: &[f32]`"),
        ("Box<f32>", "write `p: f32`, by value"),
        ("&f32", "write `p: f32`, by value"),
        ("&[f32; 4]", "write `p: &[f32]`, or `p: [f32; 4]` by value"),
        ("&mut u32", "write `mut p: DisjointSlice<u32>`, of length 1"),
        ("&Vec<f32>", "write `p: &[f32]`"),
        ("&mut Vec<f32>", "write `mut p: DisjointSlice<f32>`"),
        ("&String", "write `p: &[u8]`, and pass the text's bytes"),
        ("&(f32, u8)", "define a `#[repr(C)]` struct with these fields"),
        ("&Option<f32>", "pass the value, and a `bool` for whether it is there"),
        ("Option<&[f32]>", "write `p: &[f32]`, with a `bool` for whether it is there"),
        (
            "Option<DisjointSlice<f32>>",
            "write `mut p: DisjointSlice<f32>`, with a `bool` for whether it is there",
        ),
        ("&mut DisjointSlice<f32>", "write `mut p: DisjointSlice<f32>`, without the reference"),
        ("*const f32", "write `p: &[f32]`"),
        ("*mut f32", "write `mut p: DisjointSlice<f32>`"),
        ("(f32, u8)", "define a `#[repr(C)]` struct with these fields"),
        ("((), f32)", "define a `#[repr(C)]` struct with these fields"),
        ("impl Fn(f32) -> f32", "write one concrete type; a kernel is compiled once"),
        ("&dyn Fn()", "write one concrete type; a kernel is compiled once"),
        (
            "fn(f32) -> f32",
            "call the function by its name in the kernel, or take a `DeviceFn<fn(..) -> ..>`",
        ),
        ("f16", "write `use half::f16;` at the top of the file"),
        ("Option<f32>", "pass the value, and a `bool` for whether it is there"),
        ("glam::Vec3", "define `Vec3` as a `#[repr(C)]` struct in this file"),
        (
            "Level",
            "define `Level` as a `#[repr(C)]` struct in this file, or in a module of the program that it takes in: \
             `#[cfg(kernelmill)] #[path = \"../src/types.rs\"] mod types;`",
        ),
        (
            "crate::game::Level",
            "define `Level` as a `#[repr(C)]` struct in this file, or in a module of the program that it takes in: \
             `#[cfg(kernelmill)] #[path = \"../src/game.rs\"] mod game;`",
        ),
        ("AtomicU32", "write `p: &[AtomicU32]`"),
        (
            "SharedArray<f32, 4>",
            "write `static mut P: SharedArray<T, N> = SharedArray::UNINIT;` in the kernel",
        ),
    ] {
        let expected = format!("has type `{ty}`, {cannot} {help}");
        assert_eq!(refused("", ty), expected);
    }
    assert_eq!(
        refused("", "&[&[f32]]"),
        format!(
            "has type `&[&[f32]]`, with elements of type `&[f32]`, {cannot} pass that memory as a parameter of its own: `&[T]`"
        )
    );
    assert_eq!(
        refused("type V<'a> = &'a [f32];", "V"),
        "has type `V`, a generic type\n  help: define a `#[repr(C)]` struct without type parameters for it"
    );
    assert_eq!(
        refused("", "[f32; size_of::<u64>()]"),
        "has type `[f32; size_of::<u64>()]`, an array whose length cannot be read from the source\n  \
         help: write `size_of::<u64>()` as a number, or as a `const` of this file that is one"
    );
    assert_eq!(
        refused("type V = &'static [f32];", "V"),
        "has type `V`, that is `&'static [f32]`, which cannot cross from host to device\n  \
             kernels/k.rs:2:10: `&'static [f32]`\n  \
             help: pass that memory as a parameter of its own: `&[T]` or `DisjointSlice<T>`"
            .to_string()
    );
    assert_eq!(
        refused("#[repr(C)] struct Node { next: [Node; 2] }", "Node"),
        "has type `Node`, whose field `next[_]` has type `Node`, which contains itself\n  kernels/k.rs:2:32: \
         `Node`\n  help: remove the field that leads back to the type: a value without pointers cannot contain \
         itself"
    );
}

/// Acceptance: S0.4.
#[test]
fn parameters_and_fields_without_bytes_do_not_cross() {
    let text = "use core::marker::PhantomData; use std::marker::*;
        struct Meters; struct Tagged<T>(pub PhantomData<T>, pub ()); type Unit = Meters;
        #[repr(C)] struct P { a: u8, unit: Meters, b: u32, tag: Tagged<f32> }
        #[kernel] fn k(a: (), b: PhantomData<f32>, c: Meters, d: Tagged<u8>, e: Unit,
            f: core::marker::PhantomData<u8>, g: ::core::marker::PhantomData<u8>, x: f32) {}
        #[kernel] fn l(p: P, none: Meters) {}";
    assert_eq!(shown(text), ["fn k(x: f32)", "fn l(p: P)"]);
    let text = "struct Meters; #[repr(C)] struct P { a: u8, unit: Meters, b: u32 }
        #[kernel] fn k(p: P) {}";
    let fields = vec![("a".to_owned(), 0), ("b".to_owned(), 4)];
    assert_eq!(only_struct(text), (8, 4, fields));
    let aligned = "#[repr(C, align(8))] struct Wide {}";
    assert!(refused(aligned, "Wide").contains("a struct without fields"), "it has an alignment");
    assert!(refused("struct Meters;", "&[Meters]").contains("without `#[repr(C)]`"));
}

/// Acceptance: S0.4.
#[test]
fn a_field_is_named_with_its_path_ten_structs_deep() {
    let mut text = "#[repr(C)] struct S0 { list: Vec<u8> }\n".to_owned();
    for depth in 1..10 {
        text += &format!("#[repr(C)] struct S{depth} {{ s{}: S{} }}\n", depth - 1, depth - 1);
    }
    text += "#[kernel] fn k(p: S9) {}";
    let expected = "\
kernels/k.rs:11:19: error[KM0040]: parameter `p` of kernel `k` has type `S9`, whose field `s8.s7.s6.s5.s4.s3.s2.s1.s0.list` has type `Vec<u8>`, which cannot cross from host to device
  kernels/k.rs:1:30: `Vec<u8>`
  help: pass that memory as a parameter of its own: `&[T]` or `DisjointSlice<T>`";
    assert_eq!(errors(&text), expected);
}

/// Acceptance: S0.5.
#[test]
fn names_become_ones_that_assemblers_take_and_two_that_become_one_are_told() {
    let found = kernels("#[kernel] fn größe() {} #[kernel] fn gross() {}");
    let names: Vec<_> = found.iter().map(|kernel| (&*kernel.name, &*kernel.symbol)).collect();
    assert_eq!(names, [("größe", "gr__e"), ("gross", "gross")]);
    let expected = "\
kernels/k.rs:2:14: error[KM0027]: the kernels `größe` and `grüße` have the same name in compiled code, `gr__e`
  kernels/k.rs:1:14: the first one
  help: rename one of them: assemblers take ASCII letters, digits and underscores only";
    assert_eq!(errors("#[kernel] fn größe() {}\n#[kernel] fn grüße() {}"), expected);
}

/// Names were looked for through every order of them, which took for ever.
#[test]
fn everything_of_several_crates_can_be_imported() {
    let text = "use kernelmill_device::prelude::*; use core::arch::x86_64::*; use core::ptr::*;\n\
                use inner::*; mod inner { pub type Number = f32; }\n\
                #[kernel] fn fill(value: Number, mut out: DisjointSlice<f32>) {}";
    let found = super::read(text, "kernels/fill.rs").unwrap();
    assert_eq!(found[0].to_string(), "fn fill(value: f32, out: DisjointSlice<f32>)");
}

#[test]
fn functions_for_kernels_are_read_with_their_types() {
    let text = "use kernelmill_device::prelude::*; #[repr(C)] pub struct Dot { x: f32 }
        type Effect = DeviceFn<fn(Dot, [u8; 3]) -> Dot>;
        #[repr(C)] struct Steps { first: Effect, then: [Effect; 2] }
        #[device_fn] pub fn nearer(dot: Dot, _color: [u8; 3]) -> Dot { dot }
        mod inner { #[kernelmill_device::device_fn] fn nothing() -> () {} }
        #[kernel] fn k(f: DeviceFn<fn(f32) -> f32>, g: &[Effect], s: Steps) {}";
    let files = [SourceText { module: &[], text, display: "kernels/k.rs", has_kernels: true }];
    let Reading::Kernels(kernels, functions, ..) = read_crate(&files, &Cfgs::default()) else {
        panic!("rejected")
    };
    let shown: Vec<_> = functions.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["::nearer: fn(Dot, [u8; 3]) -> Dot", "::nothing: fn()"]);
    assert_eq!((&*functions[0].file, functions[0].line), ("kernels/k.rs", 4));
    let expected =
        "fn k(f: DeviceFn<fn(f32) -> f32>, g: &[DeviceFn<fn(Dot, [u8; 3]) -> Dot>], s: Steps)";
    assert_eq!(kernels[0].to_string(), expected);
    let mut types = Vec::new();
    for parameter in kernels[0].parameters() {
        parameter.kind.crossing().functions(&mut |ty| types.push(ty.clone()));
    }
    let effect = &functions[0].ty;
    assert_eq!(types[1..], [effect.clone(), effect.clone(), effect.clone()]);
    assert_eq!(only_struct(&text.replace("f: DeviceFn<fn(f32) -> f32>, g: &[Effect], ", "")).0, 24);
}

#[test]
fn atomics_of_the_device_crate_are_elements_under_any_path() {
    let uses = [
        ("use kernelmill_device::prelude::*;", "atomic::AtomicU32", "u32"),
        ("use kernelmill_device::atomic::AtomicF32;", "AtomicF32", "f32"),
        ("use kernelmill_device::atomic::*;", "AtomicF64", "f64"),
        ("", "kernelmill_device::atomic::AtomicI64", "i64"),
        ("use core::sync::atomic::AtomicU8;", "AtomicU8", "u8"),
    ];
    for (import, written, element) in uses {
        let text = format!("{import} #[kernel] fn k(c: &[{written}]) {{}}");
        let kernels = read(&text, "kernels/k.rs").unwrap_or_else(|it| panic!("{written}: {it:?}"));
        assert_eq!(kernels[0].to_string(), format!("fn k(c: DisjointSlice<{element}>)"));
    }
    for (import, written) in [("", "AtomicU32"), ("", "core::sync::atomic::AtomicF32")] {
        let text = format!("{import} #[kernel] fn k(c: &[{written}]) {{}}");
        assert!(read(&text, "kernels/k.rs").is_err(), "{written}");
    }
}

#[test]
fn a_kernel_that_a_feature_leaves_out_is_passed_over() {
    let text = "#[cfg(feature = \"x\")] #[kernel] fn a() {} #[cfg(not(feature = \"x\"))] #[kernel] fn b() {}";
    let files = [SourceText { module: &[], text, display: "kernels/k.rs", has_kernels: true }];
    let names = |cfgs: &Cfgs| {
        let Reading::Kernels(kernels, ..) = read_crate(&files, cfgs) else { panic!("rejected") };
        kernels.iter().map(|kernel| kernel.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&Cfgs::new(["feature=\"x\"".to_owned()])), ["a"]);
    assert_eq!(names(&Cfgs::new([])), ["b"]);
}

#[test]
fn aliases_of_the_librarys_types_are_refused_and_so_are_other_types_of_their_names() {
    for (items, ty, name) in [
        ("use kernelmill_device::slice::DisjointSlice as Out;", "Out<f32>", "DisjointSlice"),
        ("use kernelmill_device::prelude::{DisjointSlice as Out};", "Out<f32>", "DisjointSlice"),
        (
            "use kernelmill_device as kd; use kd::slice::DisjointSlice as Out;",
            "Out<f32>",
            "DisjointSlice",
        ),
        ("type Out<'a> = DisjointSlice<'a, f32, Index2D>;", "Out<'_>", "DisjointSlice"),
        (
            "type Out<'a> = Inner<'a>; type Inner<'a> = DisjointSlice<'a, f32>;",
            "Out<'_>",
            "DisjointSlice",
        ),
        (
            "type DisjointSlice<'a, T> = kernelmill_device::slice::DisjointSlice<'a, T, Index2D>;",
            "DisjointSlice<'_, f32>",
            "DisjointSlice",
        ),
        ("use kernelmill_device::tensor::TensorMap as Map;", "&Map<f32, 2>", "TensorMap"),
    ] {
        let found = refused(items, ty);
        let why = "an alias of a type of the device library";
        let help = format!(
            "help: write `{name}<..>` itself: `#[kernel]` knows it by its name, before names are resolved"
        );
        assert!(found.contains(why) && found.contains(&help), "{items}: {found}");
    }
    for (items, ty) in [
        ("struct DisjointSlice<T>(T);", "DisjointSlice<f32>"),
        ("use other::Slice as DisjointSlice;", "DisjointSlice<f32>"),
        ("mod m { pub struct TensorMap; } use m::TensorMap;", "&TensorMap<f32, 2>"),
    ] {
        let found = refused(items, ty);
        assert!(found.contains("another type than the one of this name"), "{items}: {found}");
    }
    let text = "use kernelmill_device::{self as kd, index::Index2D as Rows}; use mine::prelude::DisjointSlice;
        #[kernel] fn k(a: kd::slice::DisjointSlice<f32, Rows>, b: DisjointSlice<u8>) {}";
    assert_eq!(shown(text), ["fn k(a: DisjointSlice<f32>, b: DisjointSlice<u8>)"]);
    let text =
        "use kernelmill_device::DeviceFn as F; #[kernel] fn k(f: F<fn(u8)>, g: &[F<fn()>]) {}";
    assert_eq!(shown(text), ["fn k(f: DeviceFn<fn(u8)>, g: &[DeviceFn<fn()>])"]);
}

#[test]
fn an_alias_of_an_attribute_is_refused_at_its_use() {
    let text =
        "use kernelmill_device::{kernel as gpu, device_fn as f};\n#[gpu] fn k() {}\n#[f] fn l() {}";
    assert_eq!(
        errors(text),
        "kernels/k.rs:2:1: error[KM0044]: `#[kernel]` is written under another name\n  \
         help: write `#[kernel]`: functions are found by it, before names are resolved\n\
         kernels/k.rs:3:1: error[KM0044]: `#[device_fn]` is written under another name\n  \
         help: write `#[device_fn]`: functions are found by it, before names are resolved"
    );
}

#[test]
fn parameters_that_live_for_ever_are_refused() {
    let text = "#[kernel] fn k<'a: 'static>(x: &'static [f32], y: DisjointSlice<'a, f32>)\nwhere 'a: 'static {}";
    let found = read(text, "kernels/k.rs").unwrap_err();
    let places: Vec<_> = found.iter().map(|it| (it.place.line, it.place.column)).collect();
    assert_eq!(places, [(1, 20), (1, 33), (2, 11)]);
    assert_eq!(
        found[0].to_string(),
        "kernels/k.rs:1:20: error[KM0041]: kernel `k` has a parameter with the lifetime `'static`\n  \
         help: remove it: the host may free what it passed when the launch has ended"
    );
    assert_eq!(shown("#[kernel] fn k<'a>(x: &'a [f32]) {}"), ["fn k(x: &[f32])"]);
}

#[test]
fn fields_are_public_where_the_source_says_pub() {
    let text = "#[repr(C)] struct Pair(pub u8, pub(crate) f32);
        #[repr(C)] pub struct P { pub a: u32, b: f32, pub(super) c: u8, pub d: Pair }
        #[kernel] fn k(p: P) {}";
    let found = kernels(text);
    let ParameterKind::Value(ty @ ValueType::Struct(layout)) = &found[0].parameters[0].kind else {
        panic!("{found:?}");
    };
    let public: Vec<_> = layout.fields.iter().map(|field| field.public).collect();
    assert_eq!(public, [true, false, false, true]);
    assert!(!ty.zero_is_value() && !layout.fields[3].ty.zero_is_value());
    assert!(layout.fields[0].ty.zero_is_value());
}

#[test]
fn enums_of_integers_cross_and_others_are_refused() {
    let text = "const BASE: i16 = 1 << 4;
        #[repr(i16)] pub enum Mode { Off = -2, r#On, Auto = BASE + 1, Last = b'a' as i16 }
        #[repr(C)] pub struct P { pub mode: Mode }
        #[kernel] fn k(mode: Mode, modes: &[Mode], mut p: DisjointSlice<[P; 2]>) {}";
    let found = kernels(text);
    let ParameterKind::Value(ty @ ValueType::Enum(layout)) = &found[0].parameters[0].kind else {
        panic!("{found:?}");
    };
    let variants: Vec<_> = layout.variants.iter().map(|it| (&*it.name, it.value)).collect();
    assert_eq!(variants, [("Off", -2), ("On", -1), ("Auto", 17), ("Last", 97)]);
    assert_eq!(
        (&*layout.name, layout.scalar, layout.exhaustive),
        ("Mode", kernelmill_artifact::Scalar::I16, true)
    );
    assert_eq!((ty.size(), ty.align(), ty.zero_is_value()), (2, 2, false));
    assert_eq!(found[0].parameters[1].kind.crossing(), ty);
    assert!(!found[0].parameters[2].kind.crossing().zero_is_value());

    let refused = |item: &str| refused(item, "Mode");
    let why = "an enum without `#[repr(..)]` of an integer whose size is the same on every device";
    let help = "help: write `#[repr(u32)]`, or another integer of 8 to 64 bits, above `enum Mode`";
    for repr in ["", "#[repr(C)]", "#[repr(usize)]"] {
        let message = refused(&format!("{repr} enum Mode {{ A }}"));
        assert!(message.contains(why) && message.ends_with(help), "{message}");
    }
    for (item, why, help) in [
        ("#[repr(u8)] enum Mode { A, B(f32) }", "an enum with data", "what `Mode::B` holds"),
        ("#[repr(u8)] enum Mode {}", "an enum without variants", "give `Mode` a variant"),
        (
            "#[repr(u8)] enum Mode { A = f() }",
            "cannot be read from the source",
            "the value of `Mode::A`",
        ),
    ] {
        let message = refused(item);
        assert!(message.contains(why) && message.contains(help), "{message}");
    }
}
