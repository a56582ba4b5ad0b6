use super::render::render;
use super::{
    embedded::{Build, Embedded},
    model::Interface,
};
use crate::{
    base::{cargo::Cargo, environment::BuildEnvironment},
    compile::binary::Binary,
    discovery::{
        source::{Source, SourceKind},
        template::Template,
    },
    settings::{located::MappedType, package::Package, resolve, resolved::Settings},
    test_support::{Project, thread_loop},
};
use kernelmill_artifact::{
    ArtifactKind, Fingerprint, Resources, Scalar, Signature, ValueType, VariableDeclaration,
};
use kernelmill_compiler::{
    Artifact, CompiledKernel,
    frontend::cuda::signature::{self, resolve_names},
};
use std::{collections::BTreeMap, fs};

mod demo;

const PACKAGE: &str = "app";

/// The text with zeros for its fingerprints.
fn without_digests(text: &str) -> String {
    let line = |line: &str| match line.split_once("fingerprint: ") {
        Some((indent, _)) => format!("{indent}fingerprint: \"{:064}\",\n", 0),
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The bindings of kernels with every kind of parameter, against `snapshots/kernels.rs`.
#[test]
fn the_bindings_are_as_before() {
    let first = "\
#[repr(C)] pub struct Params { pub scale: f32, count: u64, pub(crate) table: [Pair; 40] }
#[repr(C, align(16))] pub struct Pair(pub u8, f32);
#[repr(C)] pub struct Open { pub first: u32, pub second: f32 }
#[kernel]
pub fn saxpy(a: f32, x: &[f32], mut y: DisjointSlice<f32>) {}
#[kernel(dim = 2)]
pub unsafe fn blend(params: Params, open: Open, pairs: &[Pair], r#in: [u16; 3], mut _out: DisjointSlice<[f32; 4]>) {}
";
    let mut project = Project::new(
        "targets = [\"cpu\", \"compute_75\"]",
        &[
            ("kernels/first.rs", first),
            (
                "kernels/second.rs",
                "#[repr(C)] struct Own { pub x: i32 }\n#[kernel(dim = 3)] fn device(own: Own) {}\n#[kernel] fn nothing() {}\n#[repr(u8)] pub enum Filter { Nearest = 1, Bilinear }\n#[repr(i32)] pub enum Side { Left = -1, Right = 1 }\n#[repr(C)] pub struct Sampled { pub filter: Filter }\n#[repr(C)] pub struct Chosen { pub side: Side }\n#[kernel] fn sample(filter: Filter, side: Side, sampled: Sampled, chosen: Chosen) {}\n#[kernel] fn given(f: DeviceFn<fn(f32, [u32; 2]) -> Own>, all: &[DeviceFn<fn()>]) {}\n#[device_fn] fn own(x: f32, y: [u32; 2]) -> Own {}\n#[device_fn] pub fn r#loop() {}",
            ),
        ],
    );
    project.builder.types = Some(
        [("Own", "crate::Mine"), ("Chosen", "crate::Chosen"), ("Side", "crate::Side")]
            .map(|(name, path)| {
                (name.to_owned(), MappedType { path: path.to_owned(), origin: None })
            })
            .into(),
    );
    project.build().result.unwrap_or_else(|error| panic!("{error}"));
    let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    check("kernels.rs", &without_digests(&text));
}

/// The wrappers of generic kernels, against `snapshots/generic.rs`.
#[test]
fn the_bindings_of_generic_kernels_are_as_before() {
    let kernels = "\
#[repr(C)] pub struct Pair { pub a: f32 }
pub struct Square;
pub struct Own;
#[kernel(instances = [\"f32, 4\", \"Pair, 8\"])]
pub fn scale<'a, T: Copy, const N: usize>(a: T, x: &'a [[T; N]], b: [f32; 2 * N], mut y: DisjointSlice<[u8; 3 * N]>) {}
#[kernel(dim = 2, instances = [\"Square, true\", \"Own, false\"])]
pub unsafe fn r#move<Kernels, const Flag: bool>(_x: &[f32]) {}
#[kernel] pub fn prepare<T>(x: T) {}
";
    let settings = "targets = [\"cpu\"]\ntypes = { Own = \"crate::Mine\" }\n\
                    [package.metadata.kernelmill.kernels.prepare]\ninstances = [\"u8\"]\n\
                    [package.metadata.kernelmill.kernels.scale]\nname = \"axpy\"\n";
    let project = Project::new(settings, &[("kernels/generic.rs", kernels)]);
    project.build().result.unwrap_or_else(|error| panic!("{error}"));
    let text = fs::read_to_string(project.out().join("kernels.rs")).unwrap();
    check("generic.rs", &without_digests(&text));
}

/// The wrapper of a template of which the settings list instances: those of its source are in it too.
#[test]
fn templates_of_cpp_have_generic_wrappers_where_the_settings_list_instances() {
    let mut source = source_of("kernels/cuda.cu", cuda_kernels());
    let template = |key: &str, name: &str, parameter: &str| Template {
        key: key.to_owned(),
        name: name.to_owned(),
        parameters: vec![parameter.to_owned()],
        instances: Vec::new(),
    };
    let listed = [template("filters::blur", "filters::blur", "T"), template("fill", "fill", "N")];
    source.templates = listed.into();
    let settings = "[package.metadata.kernelmill.kernels.\"filters::blur\"]\ninstances = [\"float\"]\n\
                    requires = [\"more.len > 0\"]\n\
                    [package.metadata.kernelmill.kernels.fill]\ninstances = [\"1\"]\nname = \"filled\"\n\
                    requires = [\"out.len > n\", \"block.x == N\"]\n";
    let interface = Interface::of(&[source], &settings_of(settings), PACKAGE)
        .unwrap_or_else(|error| panic!("{error}"));
    let text = render("cuda", &interface, &[], &[]);
    for part in [
        // With the contract of all instances the wrapper is safe.
        "    pub fn blur<T>(",
        "    pub fn filled<const N: i32>(",
        // Rules name the template's constants, and each instance has its own.
        "rule::int(1_i128)",
        "rule::int(2_i128)",
        "impl BlurInstance<f32> for Kernels {",
        "impl BlurInstance<u16> for Kernels {",
        "impl FilledInstance<1> for Kernels {",
        "impl FilledInstance<2> for Kernels {",
        "note = \"add `\\\"{T}\\\"` to `instances` in `[kernels.\\\"filters::blur\\\"]` of the settings\"",
        "note = \"add `\\\"{N}\\\"` to `instances` in `[kernels.fill]` of the settings\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("fn apply<"), "{text}");
}

#[track_caller]
fn check(name: &str, text: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/outputs/bindings/snapshots");
    test_support::snapshot::check(format!("{folder}/{name}"), text);
}

/// Settings as a package's manifest has them.
fn settings_of(metadata: &str) -> Settings {
    let project = Project::new(metadata, &[]);
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(std::io::sink())));
    let package = Package::read(&environment).unwrap();
    resolve::read(&environment, &package, project.builder.clone())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A source in CUDA C++ with these kernels.
fn source_of(display: &str, kernels: Vec<Signature>) -> Source {
    Source {
        path: display.into(),
        display: display.to_owned(),
        kind: SourceKind::File,
        signatures: Some(kernels),
        functions: Vec::new(),
        generics: Vec::new(),
        instances: Vec::new(),
        templates: Vec::new(),
        weight: 0,
        texts: Vec::new(),
        overrides: Vec::new(),
        states: Vec::new(),
        variables: Vec::new(),
        module: None,
        defines: BTreeMap::new(),
        defined: Vec::new(),
        warnings: Vec::new(),
        variants: Vec::new(),
    }
}

/// The kernels of `snapshots/cuda.cu` that can be launched.
fn cuda_kernels() -> Vec<Signature> {
    let ptx = include_str!("snapshots/cuda.ptx");
    let mut kernels = signature::read(ptx, "kernels/cuda.cu").unwrap();
    kernels.retain(|kernel| kernel.unsupported.is_empty());
    let mut all: Vec<_> = kernels.iter_mut().collect();
    assert_eq!(resolve_names(&mut all, &BTreeMap::new()), []);
    kernels.into_iter().map(|kernel| kernel.signature).collect()
}

/// A binary of a source with those kernels that `has` is true for.
fn binary(target: &str, kernels: &[Signature], has: impl Fn(&str) -> bool) -> Binary {
    let is_cpu = target == "cpu";
    let compiled = |kernel: &Signature| CompiledKernel {
        name: kernel.symbol.to_string(),
        entry: kernel.symbol.to_string(),
        static_shared_bytes: 0,
        panics: false,
        cooperative: false,
        cpu_symbol: is_cpu.then(|| format!("kernelmill_cpu_cuda_{}", kernel.symbol)),
        strategy: is_cpu.then(thread_loop),
        resources: if is_cpu {
            Resources { stack_bytes: Some(64), ..Resources::UNKNOWN }
        } else {
            Resources {
                registers: Some(40),
                spill_stores: Some(8),
                spill_loads: Some(16),
                stack_bytes: Some(8),
                static_shared_bytes: Some(0),
                ..Resources::UNKNOWN
            }
        },
        notes: Vec::new(),
    };
    let artifact = Artifact {
        target: target.parse().unwrap(),
        kind: if is_cpu { ArtifactKind::Object } else { ArtifactKind::Ptx },
        bytes: Vec::new(),
        kernels: kernels.iter().filter(|kernel| has(&kernel.name)).map(compiled).collect(),
        locations: Vec::new(),
        messages: Vec::new(),
        relocations: Vec::new(),
        variables: Vec::new(),
        warnings: Vec::new(),
        passes: Vec::new(),
    };
    Binary {
        overridden: None,
        source: 0,
        variant: None,
        fingerprint: Fingerprint([0; 32]),
        artifact,
        inputs: Vec::new(),
        warnings: String::new(),
        codes: Vec::new(),
        is_cached: false,
    }
}

/// The kernels of a binary, without variants.
fn plain(binary: &Binary) -> Vec<Build<'_>> {
    let kernels = binary.artifact.kernels.iter();
    kernels.map(|kernel| Build { kernel, variant: None }).collect()
}

/// The bindings of kernels in CUDA C++, against `snapshots/cuda.rs`, which the tests of the run
/// time include: there rustc and clippy see it, and its wrappers run.
#[test]
fn the_bindings_of_cuda_kernels_are_as_before() {
    let settings = settings_of(CUDA_SETTINGS);
    let kernels = cuda_kernels();
    let mut sources = [source_of("kernels/cuda.cu", kernels.clone())];
    let variable = |symbol: &'static str, ty| VariableDeclaration {
        name: "offsets".into(),
        symbol: symbol.into(),
        ty,
        file: "kernels/cuda.cu".into(),
        line: 7,
    };
    let float = || ValueType::Scalar(Scalar::F32);
    let pair = ValueType::Array(float().into(), 2);
    // Of one name, in a namespace.
    sources[0].variables =
        vec![variable("offsets", pair), variable("_ZN7filters7offsetsE", float())];
    let interface =
        Interface::of(&sources, &settings, PACKAGE).unwrap_or_else(|error| panic!("{error}"));
    let on_cpu = |name: &str| ["saxpy", "blur_float"].contains(&name);
    let mut binaries = [binary("cpu", &kernels, on_cpu), binary("compute_75", &kernels, |_| true)];
    let linked = ("offsets".to_owned(), "kernelmill_variable_cuda_offsets".to_owned());
    binaries[0].artifact.variables = vec![linked];
    let embedded: Vec<_> = binaries
        .iter()
        .map(|binary| Embedded {
            binary,
            target: binary.artifact.target.to_string(),
            file: "cuda.ptx".to_owned(),
            source: "kernels/cuda.cu",
            builds: plain(binary),
        })
        .collect();
    check("cuda.rs", &without_digests(&render("cuda", &interface, &embedded, &[])));
}

const CUDA_SETTINGS: &str = r#"
[package.metadata.kernelmill.kernels.saxpy]
requires = [
    "x.len >= n",
    "y.len >= n",
    "n >= 0 && block.x <= 256",
    "grid.x * block.x >= n || n > 1_000_000",
    "block.y == 1 && block.z == 1",
    "shared == 4 * (block.x - 1) || shared % 2 == -0",
]

[package.metadata.kernelmill.kernels."filters::blur<unsigned short>"]
name = "blur_u16"
requires = ["more.len > 0", "out.len >= params.crop.left", "block.x != params.crop.left"]
"#;

#[test]
fn types_of_cpp_have_the_comments_of_their_headers() {
    let header = "/**\n * How to blur.\n */\nstruct Params {\n    float scale; ///< By how much.\n    // One of two.\n    Mode mode;\n};\n\
                  // A way.\nenum Mode {\n    Nearest, // The next one.\n    Linear = 5\n};\n";
    let folder = test_support::temporary_folder();
    test_support::write_file(&folder, "kernels/cuda.cu", "#include <types.h>\n");
    test_support::write_file(&folder, "include/types.h", header);
    let mut source = source_of("kernels/cuda.cu", cuda_kernels());
    source.path = folder.path().join(&source.display);
    source.texts = vec![(source.display.clone(), "#include <types.h>\n".into())];
    let sources = [source];
    let mut interface = Interface::of(&sources, &settings_of(""), PACKAGE).unwrap();
    interface.read_comments(folder.path(), &sources, &[folder.path().join("include")]);
    let text = render("cuda", &interface, &[], &[]);
    for expected in [
        "\n/// How to blur.\n///\n/// `Params` of the kernels: ",
        "    /// By how much.\n    pub scale: f32,\n    /// One of two.\n    pub mode: Mode,\n    /// `color` of",
        "\n/// A way.\n///\n/// `Mode` of the kernels: a number",
        "    /// The next one.\n    pub const Nearest: Self",
        "    /// `Linear` of the kernels' enumeration.\n    pub const Linear: Self",
    ] {
        assert!(text.contains(expected), "{expected}\nis not in\n{text}");
    }
}

/// The faults in the settings of single kernels, as people read them.
fn faults(settings: &str) -> String {
    let sources = [source_of("kernels/cuda.cu", cuda_kernels())];
    let error = Interface::of(&sources, &settings_of(settings), PACKAGE).unwrap_err();
    error.to_string()
}

#[test]
fn a_name_that_a_contract_does_not_know_is_marked() {
    let settings = r#"
[package.metadata.kernelmill.kernels.saxpy]
requires = ["x.len >= m", "a > 1", "x >= n"]
[package.metadata.kernelmill.kernels.saxpi]
"#;
    let expected = "\
error[KM0009]: the contract `x.len >= m` of the kernel `saxpy`: the kernel has no parameter `m`
 --> Cargo.toml:9:23
  |
9 | requires = [\"x.len >= m\", \"a > 1\", \"x >= n\"]
  |                       ^
  |
  = help: rules of this kernel can use `a`, `x`, `y`, `n`, `shared`, `grid`, `block`";
    let text = faults(settings);
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_a_contract_cannot_mean_is_an_error() {
    let rules = [
        ("a > 1", "`a` has the type `f32`, which is not an integer"),
        ("x >= n", "`x` has the type `*const f32`, which is not an integer"),
        ("x.size >= n", "`x` has the type `*const f32`, which has no `size`"),
        ("n.len > 0", "`n` has the type `i32`, which has no `len`"),
        ("n", "this is a number, not a condition"),
        ("n && n > 0", "this is a number, not a condition"),
        ("(n > 0) + 1 > 0", "this is a condition, not a number"),
        ("grid.w > 0", "`grid` has no `w`"),
        ("sharde == 0", "the kernel has no parameter `sharde`"),
    ];
    for (rule, message) in rules {
        let settings = format!("[package.metadata.kernelmill.kernels.saxpy]\nrequires = {rule:?}");
        let text = faults(&settings);
        let expected = format!("the contract `{rule}` of the kernel `saxpy`: {message}");
        assert!(text.contains(&expected), "{text}");
    }
    let settings =
        "[package.metadata.kernelmill.kernels.blur_float]\nrequires = \"params.scale > 0\"";
    assert!(faults(settings).contains("the field has the type `f32`, which is not an integer"));
    let settings = "[package.metadata.kernelmill.kernels.saxpy]\ninstances = [\"float\"]";
    let text = faults(settings);
    assert!(
        text.contains("instances of the kernel `saxpy`, which is neither a generic kernel in Rust nor a template"),
        "{text}"
    );
    assert!(text.contains("--> Cargo.toml:8:15"), "{text}");
    let settings = "[package.metadata.kernelmill.kernels.saxpi]\nname = \"axpy\"";
    let text = faults(settings);
    assert!(
        text.contains("error[KM0010]: the settings name a kernel `saxpi`, which no source has"),
        "{text}"
    );
    assert!(
        text.contains("the nearest is `saxpy`; where the kernel is gone, remove the table"),
        "{text}"
    );
    // No kernel has a name like this.
    let text = faults("[package.metadata.kernelmill.kernels.histogram]\nname = \"axpy\"");
    assert!(text.contains("help: remove the table, or write the name of a kernel"), "{text}");
    assert!(!text.contains("the nearest"), "{text}");
}

/// Both sides of an operator are read, whatever is wrong with one.
#[test]
fn every_fault_of_a_rule_is_reported() {
    let text = faults(
        "[package.metadata.kernelmill.kernels.saxpy]\nrequires = [\"x.len >= m && a > shard\", \"x.size > 1 || n\"]",
    );
    let first = "the contract `x.len >= m && a > shard` of the kernel `saxpy`: ";
    let second = "the contract `x.size > 1 || n` of the kernel `saxpy`: ";
    for (rule, message) in [
        (first, "the kernel has no parameter `m`"),
        (first, "`a` has the type `f32`, which is not an integer"),
        (first, "the kernel has no parameter `shard`"),
        (second, "`x` has the type `*const f32`, which has no `size`"),
        (second, "this is a number, not a condition"),
    ] {
        let expected = format!("error[KM0009]: {rule}{message}\n");
        assert_eq!(text.matches(&expected).count(), 1, "{expected}\n{text}");
    }
}

/// A rule can use the integers of listed instances; without the list no compiler says what a template's parameters are.
#[test]
fn a_rule_on_a_parameter_of_a_template_says_to_list_the_instances() {
    let mut source = source_of("kernels/cuda.cu", cuda_kernels());
    source.kind = SourceKind::Cuda;
    let text = "namespace filters { template <class T, int N> __global__ void blur(T *x) {} }\n";
    source.texts = vec![("kernels/cuda.cu".to_owned(), text.into())];
    let faults = |rule: &str| {
        let key = "\"filters::blur<float>\"";
        let settings =
            format!("[package.metadata.kernelmill.kernels.{key}]\nrequires = [\"{rule}\"]");
        Interface::of(&[source.clone()], &settings_of(&settings), PACKAGE).unwrap_err().to_string()
    };
    let text = faults("N > 1");
    let expected = "`N` is a parameter of the kernel's template, and known only where the settings list the instances";
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains(
            "help: list the instances in this table, for example `instances = [\"float, 16\"]`"
        ),
        "{text}"
    );
    // What the template does not have is an unknown name, as in any kernel.
    assert!(faults("M > 1").contains("the kernel has no parameter `M`"), "{}", faults("M > 1"));
}

/// A template that nothing instantiates is no kernel, and the settings can say which instances to build.
#[test]
fn settings_of_a_template_without_instances_say_what_to_add() {
    let mut source = source_of("kernels/cuda.cu", cuda_kernels());
    source.kind = SourceKind::Cuda;
    let text = "namespace ops { template <int N> __global__ void shift(int *x) { *x = N; } }\n\
                __global__ void plain(int *x) {}\n";
    source.texts = vec![("kernels/cuda.cu".to_owned(), text.into())];
    let faults = |key: &str| {
        let settings = format!("[package.metadata.kernelmill.kernels.{key}]\nname = \"other\"");
        Interface::of(&[source.clone()], &settings_of(&settings), PACKAGE).unwrap_err().to_string()
    };
    for key in ["shift", "\"ops::shift\""] {
        let text = faults(key);
        let expected = format!(
            "the settings name the kernel `{}`, a template in `kernels/cuda.cu` that has no instances",
            key.trim_matches('"')
        );
        assert!(text.contains(&expected), "{text}");
        assert!(text.contains("for example `instances = [\"float, 16\"]`"), "{text}");
    }
    let near = faults("shfit");
    assert!(near.contains("the nearest is `shift`"), "{near}");
    // These are no templates of the text.
    for key in ["ift", "plain"] {
        assert!(faults(key).contains("which no source has"), "{}", faults(key));
    }
}
