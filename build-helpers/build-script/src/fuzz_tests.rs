//! Fuzzing of what a build reads: kernel sources, settings, contracts, the manifest, and what lies in the store.
//!
//! Whatever is read, the answer is a result or an error that says something, never a panic; what is damaged is
//! never taken for what was written. How many inputs are tried, and which: `test_support::fuzz`.

use std::{io::sink, path::PathBuf, sync::Arc};

use kernelmill_compiler::{
    Artifact, Lowered, Symbols,
    frontend::cuda::{clang::CudaLowered, signature},
};
use test_support::{
    Random,
    fuzz::{Texts, damaged, try_all},
    root, temporary_folder, write_file,
};

use crate::{
    base::{cargo::Cargo, environment::BuildEnvironment, report::Report},
    discovery::{candidate::Candidate, includes::Headers, read, source::SourceKind},
    manifest::Manifest,
    settings::{
        contract, layer::Layer, package::Package, resolve, toml_reader::KEYS, toml_text::TomlText,
    },
    test_support::{Project, SAXPY, files},
};

/// The texts of the files with an extension below folders of the workspace, and in the order of names.
fn texts(folders: &[&str], extension: &str) -> Vec<String> {
    let below = folders.iter().flat_map(|folder| files(&root().join(folder)));
    let named = below.filter(|path| path.extension().is_some_and(|it| it == extension));
    let texts: Vec<_> = named.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    assert!(!texts.is_empty(), "{folders:?} have files in .{extension}");
    texts
}

#[test]
fn sources_in_rust_are_read_or_refused() {
    let mut corpus = texts(&["tests/conformance/kernels", "tests/conformance/linked"], "rs");
    corpus.retain(|text| text.len() < 20_000);
    let inputs = Texts::new(corpus);
    let folder = temporary_folder();
    let path = folder.path().join("kernels/k.rs");
    let headers = Headers::new(std::iter::empty(), Vec::new());
    try_all(1_000, |random| {
        let text = inputs.of(random);
        write_file(&folder, "kernels/k.rs", &text);
        let (path, display) = (path.clone(), "kernels/k.rs".to_owned());
        let candidate = Candidate { path, display, kind: SourceKind::File, is_named: false };
        let mut report = Report::default();
        let source = read::read(candidate, &[], &[], &headers, &mut Vec::new(), &mut report);
        let refused = report.into_result(|report| report.to_string());
        if let Err(message) = refused {
            assert!(source.is_none(), "{message}\n{text}");
            assert!(message.contains("kernels/k.rs"), "{message}\n{text}");
        } else if let Some(source) = source {
            let lines = text.lines().count() as u32 + 1;
            assert!(source.kernels().iter().all(|it| (1..=lines).contains(&it.line)), "{text}");
        }
    });
}

#[test]
fn settings_are_read_or_refused_by_file() {
    let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    let environment =
        BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(sink())));
    let mut package = Package::read(&environment).expect("the package is right");
    let inputs = Texts::new(SETTINGS.map(str::to_owned));
    try_all(1_000, |random| {
        let text: Arc<str> = inputs.of(random).into();
        let display = "kernelmill.toml".to_owned();
        package.settings = Some(TomlText { display, text: Arc::clone(&text) });
        if let Err(error) = resolve::read(&environment, &package, Layer::default()) {
            assert!(error.to_string().contains("kernelmill.toml"), "{error}\n{text}");
        }
    });
}

#[test]
fn contracts_are_read_or_refused() {
    let inputs = Texts::new(CONTRACTS.map(str::to_owned));
    try_all(20_000, |random| {
        let text = inputs.of(random);
        if let Err(errors) = contract::parse(&text) {
            assert!(!errors.is_empty(), "{text}");
            for error in errors {
                let is_within = text.get(error.span.clone()).is_some();
                assert!(is_within && !error.message.is_empty(), "{error:?}\n{text}");
            }
        }
    });
}

#[test]
fn manifests_are_read_or_refused() {
    let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    project.build().result.expect("the build succeeds");
    let text = std::fs::read_to_string(project.out().join("kernelmill.json")).expect("it is there");
    let inputs = Texts::new([text]);
    try_all(1_000, |random| drop(Manifest::parse(&inputs.of(random))));
}

#[test]
fn ptx_of_kernels_is_read_or_refused() {
    // Of our own kernels, without debug information; of clang's and nvcc's, whose types are in theirs.
    let folders = [
        "test-driver/emulator/tests/ptx",
        "build-helpers/compiler/tests/cuda",
        "build-helpers/build-script/src/outputs/bindings/snapshots",
    ];
    let inputs = Texts::new(texts(&folders, "ptx"));
    try_all(200, |random| {
        let text = inputs.of(random);
        if let Err(error) = signature::read(&text, "kernels/k.cu") {
            assert!(!error.to_string().trim().is_empty(), "{text}");
        }
    });
}

/// The contents of the store after builds of several sources, without the frames around them.
fn contents() -> Vec<Vec<u8>> {
    let more = "// STRATEGIES NOTES WARNED\n#[device_fn] pub fn half(x: f32) -> f32 { x }\n";
    let project = Project::new(
        "",
        &[
            ("kernels/saxpy.rs", SAXPY),
            ("kernels/more.rs", &format!("{more}{}", SAXPY.replace("saxpy", "more"))),
        ],
    );
    project.build().result.expect("the build succeeds");
    let entries = files(&project.folder.path().join("cache/kernelmill"));
    entries.iter().map(|path| std::fs::read(path).expect("it is there")).collect()
}

#[test]
fn what_the_store_gives_is_decoded_or_refused() {
    const HEADER: usize = 44;
    let contents = contents();
    assert!(contents.len() > 3, "{}", contents.len());
    try_all(5_000, |random: &mut Random| {
        let entry = random.pick(&contents);
        let bytes = damaged(&entry[HEADER.min(entry.len())..], random);
        // A decoder that reads what it wrote from damaged bytes has to write the same bytes again.
        if let Some(artifact) = Artifact::from_bytes(&bytes) {
            assert_eq!(Artifact::from_bytes(&artifact.to_bytes()), Some(artifact));
        }
        if let Some(lowered) = Lowered::from_bytes(&bytes) {
            assert_eq!(lowered.to_bytes(), bytes);
        }
        if let Some(symbols) = Symbols::from_bytes(&bytes) {
            assert_eq!(symbols.to_bytes(), bytes);
        }
        if let Some(facts) = CudaLowered::facts_from_bytes(&bytes) {
            assert_eq!(
                CudaLowered::facts_from_bytes(&facts.facts_to_bytes()).map(|it| it.kernels),
                Some(facts.kernels)
            );
        }
    });
}

#[test]
fn a_build_on_a_damaged_store_gives_what_it_gave_before() {
    let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    let outputs = || -> Vec<(String, Vec<u8>)> {
        let names = project.outputs().into_iter().filter(|name| project.out().join(name).is_file());
        names
            .map(|name| (name.clone(), std::fs::read(project.out().join(name)).expect("read")))
            .collect()
    };
    project.build().result.expect("the build succeeds");
    let expected = outputs();
    try_all(20, |random| {
        let entries: Vec<PathBuf> = files(&project.folder.path().join("cache/kernelmill"));
        for path in &entries {
            if random.below(2) == 0 {
                let bytes = std::fs::read(path).expect("read");
                std::fs::write(path, damaged(&bytes, random)).expect("written");
            }
        }
        if random.below(4) == 0 {
            let (one, other) = (random.pick(&entries), random.pick(&entries));
            std::fs::copy(one, other).expect("copied");
        }
        project.build().result.expect("a damaged entry is a miss");
        assert_eq!(outputs(), expected);
    });
}

/// What is refused is not what the help says to write.
#[test]
fn help_of_settings_is_not_what_was_written() {
    let targets = [
        "cpu",
        "compute_75",
        "sm_90a",
        "gfx90a:xnack+",
        "gfx942:sramecc-:xnack-",
        "spirv64",
        "vulkan",
        "opencl-c",
        "bitcode_cpu",
        "cuda",
        "hip",
        "metal",
        "spirv",
        "wgpu",
        "9.0+PTX",
        "all-major",
    ];
    let project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    let mut refused = 0;
    try_all(400, |random| {
        let key = misspelt(random.pick(&KEYS), random);
        let target = misspelt(random.pick(&targets), random);
        let of_kernel = misspelt(random.pick(&targets), random);
        let text = format!(
            "\"{key}\" = 1\ntargets = [\"{target}\"]\n[kernels.saxpy]\ntargets = [\"{of_kernel}\"]\n"
        );
        project.write("app/kernelmill.toml", &text);
        let environment =
            BuildEnvironment::fixed(project.variables.clone(), Cargo::to(Box::new(sink())));
        let package = Package::read(&environment).expect("the package is read");
        let Err(error) = resolve::read(&environment, &package, Layer::default()) else { return };
        let error = error.to_string();
        for written in [&key, &target, &of_kernel] {
            let is_unknown = ["key", "target"]
                .iter()
                .any(|it| error.contains(&format!("unknown {it} `{written}`")));
            refused += u32::from(is_unknown);
            let told = ["the nearest is", "write"].map(|it| format!("= help: {it} `{written}`"));
            assert!(!is_unknown || told.iter().all(|it| !error.contains(it)), "{error}\n{text}");
        }
    });
    assert!(refused > 0, "nothing was refused");
}

/// A word with up to two signs changed, left out or put in.
fn misspelt(word: &str, random: &mut Random) -> String {
    const SIGNS: [char; 14] =
        ['a', 's', 'x', 'S', 'O', '0', '9', '-', '_', '+', ':', ' ', 'é', '.'];
    let mut signs: Vec<char> = word.chars().collect();
    for _ in 0..random.below(3) {
        let at = random.below(signs.len());
        match random.below(4) {
            0 => signs[at] = *random.pick(&SIGNS),
            1 => signs.insert(at, *random.pick(&SIGNS)),
            2 if signs.len() > 1 => drop(signs.remove(at)),
            _ => signs[at] = signs[at].to_ascii_uppercase(),
        }
    }
    signs.into_iter().collect()
}

/// Settings with every key, and every kind of value.
const SETTINGS: [&str; 5] = [
    "targets = [\"cpu\", \"compute_75\", \"sm_90a\", \"gfx1100\"]\nfma = true\noptimization = 3\n\
     panics = \"backtrace\"\nsource-dir = [\"kernels\"]\nsource-files = \"kernels/saxpy.rs\"\n\
     source-glob = [\"kernels/**/*.rs\"]\n",
    "exclude = [\"kernels/[ab]*.cu\"]\ninclude = [\"include\"]\narguments = [\"-g\", \"rustc:-Awarnings\"]\n\
     define = { N = 4, DEBUG = true, NAME = \"x\" }\ncuda-compiler = \"clang\"\nnvcc = \"/usr/bin/nvcc\"\n",
    "[kernels.saxpy]\nlaunch-bounds = 256\nblock-size = [16, 16, 1]\nmin-blocks = 2\nmax-registers = 64\n\
     cluster = [2, 1, 1]\nname = \"axpy\"\ntargets = [\"cpu\"]\nrequires = [\"y.len >= x.len && a != 0\"]\n",
    "types = { \"Pixel\" = \"crate::Pixel\", \"Half\" = \"half::f16\" }\nmath = \"vendor\"\nrdc = false\n\
     device-libraries = [\"lib/device.a\"]\nhost-files = [\"kernels/host*.cu\"]\nclang = \"clang\"\n\
     options = { always_inline = true, debug_level = 2, strip = false }\n",
    "# none\n",
];

/// Contracts.
const CONTRACTS: [&str; 6] = [
    "y.len >= x.len",
    "x.len == width * height && width > 0",
    "(n + 3) / 4 <= out.len || n == 0",
    "a.len % 16 == 0",
    "-1 < n - 0x10",
    "in.len << 2 >= type.len",
];
