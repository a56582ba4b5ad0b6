use super::*;
use crate::{
    diagnostic::Place,
    frontend::generic::{Form, GenericArgument, GenericParameter, Length},
};
use kernelmill_artifact::{LaunchLimits, Scalar, ValueType};

fn read_with(text: &str, listed: &[ListedInstances]) -> Reading {
    let file = SourceText { module: &[], text, display: "kernels/k.rs", has_kernels: true };
    read_crate_with(&[file], &Cfgs::default(), listed)
}

fn accepted(text: &str, listed: &[ListedInstances]) -> (Vec<String>, Vec<GenericKernel>) {
    match read_with(text, listed) {
        Reading::Kernels(kernels, _, generics, ..) => {
            (kernels.iter().map(ToString::to_string).collect(), generics)
        }
        wrong => panic!("{wrong:#?}"),
    }
}

fn rejected(text: &str, listed: &[ListedInstances]) -> String {
    match read_with(text, listed) {
        Reading::Rejected(found) => {
            found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        }
        wrong => panic!("{wrong:#?}"),
    }
}

fn scalar(scalar: Scalar) -> GenericArgument {
    GenericArgument::Type(ValueType::Scalar(scalar))
}

#[test]
fn each_instance_is_a_kernel_with_its_own_types() {
    let text = "const WIDE: usize = 2 * 8;
type Real = f64;
#[kernel(dim = 2, instances = [\"f32, 4\", \"Real, WIDE\", \"[u8; 2], {1 + 1}\"])]
fn scale<'a, T: Copy, const N: usize>(a: T, x: &'a [[T; N]], y: DisjointSlice<T>, c: [u32; N], d: u8, t: BlockArray<T, N>) {}
#[kernel] fn plain() {}";
    let (kernels, generics) = accepted(text, &[]);
    let expected = [
        "fn scale_f32_4(a: f32, x: &[[f32; 4]], y: DisjointSlice<f32>, c: [u32; 4], d: u8)",
        "fn scale_Real_WIDE(a: f64, x: &[[f64; 16]], y: DisjointSlice<f64>, c: [u32; 16], d: u8)",
        "fn scale_u8_2_1_1(a: [u8; 2], x: &[[[u8; 2]; 2]], y: DisjointSlice<[u8; 2]>, c: [u32; 2], d: u8)",
        "fn plain()",
    ];
    assert_eq!(kernels, expected);
    let [generic] = &generics[..] else { panic!("{generics:?}") };
    assert_eq!((&*generic.name, &*generic.file, generic.line), ("scale", "kernels/k.rs", 4));
    let parameter = |name: &str, constant: Option<&str>| GenericParameter {
        name: name.to_owned(),
        constant: constant.map(str::to_owned),
    };
    assert_eq!(generic.generics, [parameter("T", None), parameter("N", Some("usize"))]);
    let array = |form| Form::Array(Box::new(form), Length::Parameter(1));
    let forms = [
        Form::Parameter(0),
        array(Form::Parameter(0)),
        Form::Parameter(0),
        array(Form::Same),
        Form::Same,
    ];
    assert_eq!(generic.forms, forms);
    let arguments: Vec<_> = generic.instances.iter().map(|it| it.arguments.clone()).collect();
    let constant = |text: &str| GenericArgument::Constant(text.to_owned());
    assert_eq!(arguments[0], [scalar(Scalar::F32), constant("4")]);
    assert_eq!(arguments[1], [scalar(Scalar::F64), constant("16")]);
    assert_eq!(arguments[2][1], constant("2"));
}

#[test]
fn types_without_values_are_names_and_parameters_may_differ() {
    let text = "use ops::{Square as Sq, other};
mod ops { pub struct Square; pub enum Never {} pub struct Of<T>(T); pub mod other { pub union U { x: u8 } } }
type Twice = ops::Of<ops::Square>;
use library::kind::Far;
#[kernel(instances = [\"Sq, true\", \"ops::Never, false\", \"Twice, true\", \"Far, true\", \"other::U, true\"])]
fn map<F, const B: bool>(f: F, p: core::marker::PhantomData<F>, y: DisjointSlice<f32>) {}
#[kernel(instances = [\"1, 'x'\", \"2, 'é'\"])]
fn wide<const N: u8, const C: char>(pair: [f32; 2 * N as usize], y: &[[f32; N]]) {}";
    // `f` is passed only where it has bytes; here it has none, or is refused.
    let text = text.replace("f: F, ", "");
    let (kernels, generics) = accepted(&text, &[]);
    let names = [
        "map_Sq_true",
        "map_ops_Never_false",
        "map_Twice_true",
        "map_Far_true",
        "map_other_U_true",
    ];
    let expected: Vec<_> =
        names.iter().map(|name| format!("fn {name}(y: DisjointSlice<f32>)")).collect();
    assert_eq!(kernels[..5], expected);
    let markers = generics[0].instances.iter().map(|it| it.arguments[0].clone());
    let names = ["Square", "Never", "Twice", "Far", "U"];
    assert!(markers.eq(names.map(|name| GenericArgument::Marker(name.to_owned()))));
    assert_eq!(kernels[5], "fn wide_1_x(pair: [f32; 2], y: &[[f32; 1]])");
    assert_eq!(kernels[6], "fn wide_2_é(pair: [f32; 4], y: &[[f32; 2]])");
    let array = Form::Array(Box::new(Form::Same), Length::Parameter(0));
    assert_eq!(generics[1].forms, [Form::PerInstance, array]);
}

#[test]
fn the_settings_add_instances() {
    let text =
        "#[kernel(instances = [\"f32\"])] fn one<T>(x: &[T]) {}\n#[kernel] fn two<T>(x: &[T]) {}";
    let listed = |key: &str, text: &str| ListedInstances {
        key: key.to_owned(),
        instances: vec![(text.to_owned(), None)],
    };
    let all = [listed("one", "u8"), listed("kernels/k.rs::two", "i64"), listed("x.rs::two", "u8")];
    let (kernels, _) = accepted(text, &all);
    assert_eq!(kernels, ["fn one_f32(x: &[f32])", "fn one_u8(x: &[u8])", "fn two_i64(x: &[i64])"]);
    let place = Place { file: "Cargo.toml".to_owned(), line: 7, column: 3, span: 1..2 };
    let again = ListedInstances {
        key: "one".to_owned(),
        instances: vec![("f32".to_owned(), Some(place)), ("u9".to_owned(), None)],
    };
    let expected = "\
Cargo.toml:7:3: error[KM0042]: kernel `one` has the instance `f32` of the settings again
  kernels/k.rs:1:23: `f32`
  help: remove it: each instance is listed once, in the attribute or in the settings
kernels/k.rs:1:35: error[KM0042]: kernel `one` has the instance `u9` of the settings, whose `u9` for `T` is not a type that the source defines or imports
  help: define it, or import it by its name: `use path::to::u9;`
kernels/k.rs:2:14: error[KM0042]: kernel `two` is generic over `T`, and no instance of it is listed
  help: list them, `#[kernel(instances = [\"f32\"])]`, or in the settings, `[kernels.two]` with `instances = [\"f32\"]`";
    assert_eq!(rejected(text, &[again]), expected);
}

/// Everything that can be wrong with instances, at once.
#[test]
fn every_fault_of_instances_is_reported_in_its_place() {
    let text = "\
#[kernel(instances = [\"f32\", \"f32, 1, 2\", \"f32 16\", \"Missing, 1\", \"f32, 300\", \"f32, -1\"])]
fn wrong<T, const N: u8>(x: &[T]) {}
#[kernel(instances = [\"&'a u8, LENGTH\", \"Vec<u8>, x\", \"u8, true\"])]
fn more<T, const N: u8>(x: &[T]) {}
#[kernel(instances = [\"u8, 1\", \"u8,1\", \"u8, 0x01\"])]
fn twice<T, const N: u8>(x: &[T]) {}
#[kernel(instances = [\"1\"])]
fn plain(x: f32) {}
#[kernel(instances = \"f32\")]
fn no_list<T>(x: &[T]) {}
#[kernel(instances = [f32, \"u8\"])]
fn no_text<T>(x: &[T]) {}
struct Loose { x: f32 }
#[kernel(instances = [\"f32\", \"Loose\"])]
fn loose<T>(x: &[T], y: &mut [u8]) {}
#[kernel(instances = [\"f32\", \"core::sync::atomic::AtomicU32\"])]
fn shared<T>(x: &[T]) {}
#[kernel(instances = [\"1, -1\"])]
fn clash<const A: i32, const B: i32>() {}
#[kernel] fn clash_1_minus_1() {}
";
    let expected = "\
kernels/k.rs:1:23: error[KM0042]: kernel `wrong` has the instance `f32`, which does not have one argument for each of the parameters `T` and `N`
  help: write 2 of them: `\"f32, 16\"`
kernels/k.rs:1:30: error[KM0042]: kernel `wrong` has the instance `f32, 1, 2`, which does not have one argument for each of the parameters `T` and `N`
  help: write 2 of them: `\"f32, 16\"`
kernels/k.rs:1:43: error[KM0042]: kernel `wrong` has the instance `f32 16`, which does not have one argument for each of the parameters `T` and `N`
  help: write 2 of them: `\"f32, 16\"`
kernels/k.rs:1:53: error[KM0042]: kernel `wrong` has the instance `Missing, 1`, whose `Missing` for `T` is not a type that the source defines or imports
  help: define it, or import it by its name: `use path::to::Missing;`
kernels/k.rs:1:67: error[KM0042]: kernel `wrong` has the instance `f32, 300`, whose `300` for `N` does not fit `u8`
  help: write a number from 0 to 255
kernels/k.rs:1:79: error[KM0042]: kernel `wrong` has the instance `f32, -1`, whose `-1` for `N` does not fit `u8`
  help: write a number from 0 to 255
kernels/k.rs:3:23: error[KM0042]: kernel `more` has the instance `&'a u8, LENGTH`, whose `&'a u8` for `T` is not a type that the host can name
  help: write a type by its name; a `type` alias gives one to any type
kernels/k.rs:3:23: error[KM0042]: kernel `more` has the instance `&'a u8, LENGTH`, whose `LENGTH` for `N` is not a value that can be read from the source
  help: write a value of `u8`, or a `const` of this file that is one
kernels/k.rs:3:41: error[KM0042]: kernel `more` has the instance `Vec<u8>, x`, whose `Vec<u8>` for `T` is not a type that the host can name
  help: write a type by its name; a `type` alias gives one to any type
kernels/k.rs:3:41: error[KM0042]: kernel `more` has the instance `Vec<u8>, x`, whose `x` for `N` is not a value that can be read from the source
  help: write a value of `u8`, or a `const` of this file that is one
kernels/k.rs:3:55: error[KM0042]: kernel `more` has the instance `u8, true`, whose `true` for `N` is not a value that can be read from the source
  help: write a value of `u8`, or a `const` of this file that is one
kernels/k.rs:5:32: error[KM0042]: kernel `twice` has the instance `u8,1` again
  kernels/k.rs:5:23: `u8, 1`
  help: remove it: each instance is listed once, in the attribute or in the settings
kernels/k.rs:5:40: error[KM0042]: kernel `twice` has the instance `u8, 0x01` again
  kernels/k.rs:5:23: `u8, 1`
  help: remove it: each instance is listed once, in the attribute or in the settings
kernels/k.rs:7:23: error[KM0042]: kernel `plain` lists instances, and is not generic
  help: remove `instances`, or give the kernel a type or constant parameter
kernels/k.rs:9:22: error[KM0042]: kernel `no_list` lists `\"f32\"` as an instance, which is not a string in a list
  help: write a list of strings, `instances = [\"f32, 16\"]`
kernels/k.rs:10:4: error[KM0042]: kernel `no_list` is generic over `T`, and no instance of it is listed
  help: list them, `#[kernel(instances = [\"f32\"])]`, or in the settings, `[kernels.no_list]` with `instances = [\"f32\"]`
kernels/k.rs:11:23: error[KM0042]: kernel `no_text` lists `f32` as an instance, which is not a string in a list
  help: write a list of strings, `instances = [\"f32, 16\"]`
kernels/k.rs:15:16: error[KM0040]: parameter `x` of kernel `loose` has type `&[T]`, with elements of type `T`, a struct without `#[repr(C)]`
  kernels/k.rs:13:8: `T`
  kernels/k.rs:14:30: in the instance `Loose`
  help: write `#[repr(C)]` and `#[derive(Clone, Copy)]` above `struct Loose`
kernels/k.rs:15:25: error[KM0040]: parameter `y` of kernel `loose` has type `&mut [u8]`, which cannot cross from host to device
  help: write `mut y: DisjointSlice<u8>`
kernels/k.rs:16:30: error[KM0042]: kernel `shared` has the instance `core::sync::atomic::AtomicU32`, whose parameters are passed in another way than those of the first
  help: write a separate kernel for this instance: the host passes memory, values and types of size zero in different ways
kernels/k.rs:20:14: error[KM0027]: two kernels are named `clash_1_minus_1`
  kernels/k.rs:18:23: the first one
  help: rename one of them: all kernels of a package become methods of one `Kernels`";
    assert_eq!(rejected(text, &[]), expected);
}

#[test]
fn a_device_function_is_a_type_of_its_name() {
    let text = "use maps::halved;
#[device_fn] fn doubled(x: f32) -> f32 { x }
fn tripled(x: f32) -> f32 { x }
mod maps { #[device_fn] pub fn halved(x: f32) -> f32 { x } }
#[kernel(instances = [\"doubled\", \"halved\"])] fn of<F>(y: DisjointSlice<f32>) {}";
    let (kernels, generics) = accepted(text, &[]);
    assert_eq!(
        kernels,
        ["fn of_doubled(y: DisjointSlice<f32>)", "fn of_halved(y: DisjointSlice<f32>)"]
    );
    let markers = generics[0].instances.iter().map(|it| it.arguments[0].clone());
    let names = ["doubled", "halved"];
    assert!(markers.eq(names.map(|name| GenericArgument::Marker(name.to_owned()))));
    // One without the attribute is none, and none crosses as a value.
    let found = rejected(&text.replace("[\"doubled\"", "[\"tripled\""), &[]);
    assert!(
        found.contains("whose `tripled` for `F` is not a type that the source defines or imports"),
        "{found}"
    );
    rejected(&text.replace("of<F>(", "of<F>(f: F, "), &[]);
}

#[test]
fn an_attribute_lists_variants_and_each_instance_has_them() {
    let text = "#[kernel(launch_bounds = 256, variants = [{ launch_bounds = 64, index_width = 32 }, { max_registers = 32 },
{ block_size = [16, 4, 1], min_blocks = 8 }, { min_blocks = 2 }])]
fn plain(x: &[f32]) {}
#[kernel(variants = [{ launch_bounds = 8 }], instances = [\"f32\", \"f64\"])] fn one<T>(x: &[T]) {}
#[kernel(variants = [])] fn none(x: &[f32]) {}";
    let Reading::Kernels(kernels, _, _, variants, _) = read_with(text, &[]) else {
        panic!("rejected")
    };
    assert_eq!(kernels[0].limits.max_block_threads, 256);
    let found: Vec<_> = variants
        .iter()
        .map(|ListedVariant { symbol, limits, place }| {
            let LaunchLimits { max_block_threads, block, min_blocks, max_registers, .. } = *limits;
            let numbers = [max_block_threads, max_registers, limits.index_width, min_blocks];
            (symbol.as_str(), numbers, block, (place.line, place.column))
        })
        .collect();
    let expected = [
        ("plain", [64, 0, 32, 0], [0; 3], (1, 43)),
        ("plain", [0, 32, 0, 0], [0; 3], (1, 85)),
        ("plain", [0, 0, 0, 8], [16, 4, 1], (2, 1)),
        // The threads of a block are the kernel's.
        ("plain", [0, 0, 0, 2], [0; 3], (2, 46)),
        ("one_f32", [8, 0, 0, 0], [0; 3], (4, 22)),
        ("one_f64", [8, 0, 0, 0], [0; 3], (4, 22)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn wrong_variants_are_said_at_their_places() {
    let text = "#[kernel(variants = [{ launch_bounds = 2000 }, { cluster = [1, 1, 1] }, { targets = 1 }, {}, { index_width = x }])]
fn a(x: &[f32]) {}
#[kernel(variants = [{ block_size = [1, 1, 65] }, { block_size = 32 }, { min_blocks = 33, launch_bounds = 32 },
{ block_size = [32, 1, 1], launch_bounds = 32 }])] fn c(x: &[f32]) {}
#[kernel(variants = { launch_bounds = 64 })] fn b(x: &[f32]) {}";
    let found = rejected(text, &[]);
    for expected in [
        "1:22: error[KM0013]: kernel `a` has a variant with launch bounds that are not valid: 2000 threads do not fit into a block",
        "1:50: error[KM0014]: kernel `a` has a variant with `cluster`",
        "1:75: error[KM0014]: kernel `a` has a variant with `targets`",
        "1:90: error[KM0014]: kernel `a` has a variant without launch bounds",
        "1:110: error[KM0043]: kernel `a` has the argument `index_width = x`, whose value is not valid",
        "3:22: error[KM0013]: kernel `c` has a variant with launch bounds that are not valid: a block cannot have the size [1, 1, 65]",
        "3:66: error[KM0043]: kernel `c` has the argument `block_size = 32`, whose value is not valid",
        "write `block_size = [32, 1, 1]`",
        "3:72: error[KM0013]: kernel `c` has a variant with launch bounds that are not valid: 33 blocks do not fit onto a multiprocessor",
        "4:1: error[KM0013]: kernel `c` has a variant with launch bounds that are not valid: the size of a block is given exactly",
        "5:10: error[KM0014]: kernel `b` has the argument `variants`, whose value is not a list of tables",
    ] {
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}
