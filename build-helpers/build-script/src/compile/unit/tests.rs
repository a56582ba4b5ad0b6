//! Which sources one is compiled with, and what a binary's key has, with a compiler that only notes what
//! it is asked.

use super::*;
use crate::{
    compile::{
        binary::Binary,
        compiler::Failure,
        front_end::{Front, FrontEnd},
    },
    discovery::source::{Source, SourceKind},
    plan::units::{Unit, UnitCompiler},
    settings::{layer::Layer, package::Package, resolve},
    store::{dependency_record::Inputs, location::store_of_user},
    test_support::{Fake, Project, SAXPY, Shared},
};
use kernelmill_artifact::{Parameter, ParameterKind, Scalar, ValueType};
use kernelmill_compiler::{Config, Error as CompileError, Lowered, frontend::Architecture};
use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

fn source(display: &str) -> Source {
    let kernel = Signature::borrowed("k", &[]);
    Source {
        path: Path::new("/checkout").join(display),
        display: display.to_owned(),
        kind: SourceKind::File,
        signatures: Some(vec![kernel]),
        functions: Vec::new(),
        generics: Vec::new(),
        instances: Vec::new(),
        templates: Vec::new(),
        weight: 1,
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

fn symbols(defines: &[&str], defers: &[&str]) -> Symbols {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Symbols { defines: owned(defines), defers: owned(defers), ..Symbols::default() }
}

fn lowered(text: &str) -> Lowered {
    Lowered { modules: vec![text.as_bytes().to_vec()], ..Lowered::default() }
}

fn front(text: &str, symbols: &Symbols) -> Front {
    Front::given(Path::new("/checkout/given"), symbols, vec![(None, lowered(text))]).unwrap()
}

fn failed() -> Option<Result<Front, Failure>> {
    Some(Err(CompileError::Internal("no front".to_owned()).into()))
}

fn displays(found: &[(&Source, &Front)]) -> Vec<String> {
    found.iter().map(|(source, _)| source.display.clone()).collect()
}

fn target(name: &str) -> Target {
    name.parse().unwrap()
}

fn function(id: u64, symbol: &str) -> TableFunction {
    TableFunction { id, symbol: symbol.to_owned() }
}

/// `a` names a function of `b`, and `b` one of `c`, which names one of `a`; nobody names `d`; the front
/// ends of `e` and `f` have failed and not run.
fn six() -> (Vec<Source>, Fronts) {
    let sources = ["a", "b", "c", "d", "e", "f"].map(source).into();
    let of =
        |text, defines: &[&str], defers: &[&str]| Some(Ok(front(text, &symbols(defines, defers))));
    let fronts = vec![
        of("A", &["in_a"], &["in_b"]),
        of("B", &["in_b"], &["in_c"]),
        of("C", &["in_c"], &["in_a"]),
        of("D", &["in_d", "other_in_d"], &[]),
        failed(),
        None,
    ];
    (sources, fronts)
}

/// Acceptance: S1.2.
#[test]
fn a_source_is_compiled_with_those_it_reaches_and_not_with_itself() {
    let (sources, fronts) = six();
    let of = |from: usize, table: &[TableFunction]| {
        let own = fronts[from].as_ref().and_then(|front| front.as_ref().ok());
        displays(&children(&sources, &fronts, (from, own, table), &target("cpu")))
    };
    assert_eq!(of(0, &[]), ["b", "c"]);
    assert_eq!(of(2, &[]), ["a", "b"]);
    assert!(of(3, &[]).is_empty());
    // What a kernel may be given it is compiled with too, and what that names.
    assert_eq!(of(3, &[function(1, "in_c")]), ["a", "b", "c"]);
    assert_eq!(of(0, &[function(1, "other_in_d")]), ["b", "c", "d"]);
    // There is nothing to compile it with where its own front end has failed.
    assert!(of(4, &[function(1, "in_d")]).is_empty());
}

/// Acceptance: S1.3.
#[test]
fn a_source_is_compiled_with_what_others_are_for_its_target() {
    let sources = ["a", "b"].map(source);
    let arch = Architecture::of(&target("sm_90"));
    let texts = vec![(None, lowered("any")), (arch.clone(), lowered("sm_90"))];
    let both = Front::given(Path::new("b"), &symbols(&["in_b"], &[]), texts).unwrap();
    let first = front("A", &symbols(&[], &["in_b"]));
    let fronts = vec![Some(Ok(first)), Some(Ok(both))];
    for (name, expected) in [("cpu", None), ("compute_75", None), ("sm_90", arch)] {
        let target = target(name);
        let own = fronts[0].as_ref().and_then(|front| front.as_ref().ok());
        let found = children(&sources, &fronts, (0, own, &[]), &target);
        assert_eq!(displays(&found), ["b"]);
        assert_eq!(found[0].1.architecture(), expected.as_ref(), "{name}");
    }
}

#[test]
fn messages_know_the_functions_of_every_source_that_could_be_read() {
    let (sources, fronts) = six();
    let expected =
        [("in_a", "a"), ("in_b", "b"), ("in_c", "c"), ("in_d", "d"), ("other_in_d", "d")];
    let expected = expected.map(|(name, source)| (name.to_owned(), source.to_owned()));
    assert_eq!(known(&sources, &fronts, &target("cpu")), expected);
}

/// Runs a test with the front end of a package, and its store.
fn with_front_end(test: impl FnOnce(&Project, &FrontEnd<'_>)) {
    with_front_end_on("x86_64-unknown-linux-gnu", test);
}

/// The same for an application that runs on another host.
fn with_front_end_on(host: &str, test: impl FnOnce(&Project, &FrontEnd<'_>)) {
    let mut project = Project::new("", &[("kernels/saxpy.rs", SAXPY)]);
    project.set("TARGET", host);
    let written = Shared::default();
    let environment = project.environment(&written);
    let package = Package::read(&environment).unwrap();
    let settings = resolve::read(&environment, &package, Layer::default()).unwrap();
    let store = store_of_user(&environment).unwrap();
    let inputs = Inputs::new(&environment, &package, &store);
    let front_end = FrontEnd {
        environment: &environment,
        package: &package,
        settings: &settings,
        compiler: &Fake::on(host),
        store: &store,
        inputs: &inputs,
        version: "fake 1".to_owned(),
        clang: None,
        architectures: &[],
    };
    test(&project, &front_end);
}

/// What a unit is made of.
struct Parts<'a> {
    source: Source,
    front: Front,
    children: Vec<(&'a Source, &'a Front)>,
    table: Vec<TableFunction>,
    target: &'static str,
}

impl Parts<'_> {
    fn new() -> Self {
        Self {
            source: source("a"),
            front: front("A", &Symbols::default()),
            children: Vec::new(),
            table: Vec::new(),
            target: "compute_75",
        }
    }

    fn make(&self, front_end: &FrontEnd<'_>) -> Result<Binary, Failure> {
        let config = Config::new(target(self.target));
        let unit = Unit {
            source: 0,
            compiler: UnitCompiler::LlvmPipeline,
            config,
            variant: None,
            override_index: None,
        };
        let others: Others<'_> = (&self.children, &self.table, &Vec::new);
        binary(front_end, &self.source, (&self.front, others), &unit)
    }

    fn fingerprint(&self, front_end: &FrontEnd<'_>) -> String {
        self.make(front_end).unwrap_or_else(|error| panic!("{error}")).fingerprint.to_string()
    }
}

#[test]
fn a_unit_is_its_source_with_the_others_and_leaves_the_source_as_it_was() {
    with_front_end(|project, front_end| {
        let (sources, fronts) = six();
        let child =
            |place: usize| (&sources[place], fronts[place].as_ref().unwrap().as_ref().unwrap());
        let mut parts = Parts::new();
        parts.children = vec![child(1), child(2)];
        parts.table = vec![function(7, "in_c")];
        let made = parts.make(front_end).unwrap();
        assert!(!made.is_cached);
        let text = String::from_utf8(made.artifact.bytes.clone()).unwrap();
        let expected =
            "compute_75: A\nTableFunction { id: 7, symbol: \"in_c\" }\nb: [[66]]\nc: [[67]]";
        assert_eq!(text, expected);
        // From the store it is the same.
        let again = parts.make(front_end).unwrap();
        assert!(again.is_cached);
        assert_eq!(again.artifact.bytes, made.artifact.bytes);
        // The next unit of the source has nothing of these.
        parts.children.clear();
        parts.table.clear();
        let alone = parts.make(front_end).unwrap();
        assert!(!alone.is_cached);
        assert_eq!(alone.artifact.bytes, b"compute_75: A");
        assert_eq!(project.stored("artifact"), 2);
    });
}

/// Acceptance: S0.3, S3.13.
#[test]
fn everything_that_changes_a_binary_is_in_its_key() {
    with_front_end(|_, front_end| {
        let (sources, fronts) = six();
        let child =
            |place: usize| (&sources[place], fronts[place].as_ref().unwrap().as_ref().unwrap());
        let changes: [fn(&mut Parts<'_>); 9] = [
            |parts| parts.front = front("another", &Symbols::default()),
            |parts| parts.target = "compute_80",
            |parts| parts.table = vec![function(1, "in_b")],
            |parts| parts.table = vec![function(2, "in_b")],
            |parts| {
                let kind = ParameterKind::Value(ValueType::Scalar(Scalar::F32));
                let kernels = parts.source.signatures.as_mut().unwrap();
                kernels[0].parameters = vec![Parameter::borrowed("x", kind)].into();
            },
            |parts| {
                let kind = ParameterKind::Value(ValueType::Scalar(Scalar::U64));
                let symbol = parts.source.kernels()[0].symbol.to_string();
                parts.source.states = vec![(symbol, vec![Parameter::state("seed", kind)])];
            },
            |parts| parts.source.signatures.as_mut().unwrap()[0].limits.min_blocks = 2,
            // The name of the wrapper, which the settings may choose, is in the artifact.
            |parts| parts.source.signatures.as_mut().unwrap()[0].name = "other".into(),
            |parts| parts.source.signatures.as_mut().unwrap()[0].file = "other.rs".into(),
        ];
        let mut seen = vec![Parts::new().fingerprint(front_end)];
        for change in changes {
            let mut parts = Parts::new();
            change(&mut parts);
            seen.push(parts.fingerprint(front_end));
        }
        for children in [vec![child(1)], vec![child(2)], vec![child(1), child(2)]] {
            let parts = Parts { children, ..Parts::new() };
            seen.push(parts.fingerprint(front_end));
        }
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count, "two units have one key");
    });
}

/// Bitcode of CUDA C++ is the same for every host; the object for a processor is not.
#[test]
fn an_object_has_another_key_for_each_host() {
    let hosts = ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-apple-darwin"];
    let on = |host: &str, target| {
        let mut found = String::new();
        with_front_end_on(host, |_, front_end| {
            found = Parts { target, ..Parts::new() }.fingerprint(front_end);
        });
        println!("{target} on {host}: {found}");
        found
    };
    let objects: BTreeSet<_> = hosts.iter().map(|host| on(host, "cpu")).collect();
    assert_eq!(objects.len(), hosts.len());
    let texts: BTreeSet<_> = hosts.iter().map(|host| on(host, "compute_75")).collect();
    assert_eq!(texts.len(), 1, "what runs on a GPU is the same on every host");
}

/// Acceptance: S2.8, S3.13.
#[test]
fn versions_and_plugins_are_in_the_key_of_a_binary() {
    with_front_end(|_, plain| {
        let with = |version: &str, plugins: &str| {
            let compiler = Fake { plugins: plugins.to_owned(), ..Fake::on("x86_64") };
            let FrontEnd { environment, package, settings, store, inputs, .. } = *plain;
            let (version, compiler) = (version.to_owned(), &compiler);
            let (clang, architectures) = (None, &[][..]);
            let front_end = FrontEnd {
                environment,
                package,
                settings,
                compiler,
                store,
                inputs,
                version,
                clang,
                architectures,
            };
            Parts::new().fingerprint(&front_end)
        };
        let seen = [with("1", ""), with("2", ""), with("1", "count 1"), with("1", "count 2")];
        assert_eq!(BTreeSet::from(seen).len(), 4);
    });
}

/// Objects have the unit's name in them, other binaries nothing of where their source lies.
#[test]
fn two_sources_of_one_text_share_all_but_the_object() {
    with_front_end(|_, front_end| {
        let of = |display: &str, target| {
            let parts = Parts { source: source(display), target, ..Parts::new() };
            parts.fingerprint(front_end)
        };
        assert_eq!(of("a.rs", "compute_75"), of("b.rs", "compute_75"));
        assert_eq!(of("a.rs", "gfx90a"), of("b.rs", "gfx90a"));
        assert_ne!(of("a.rs", "cpu"), of("b.rs", "cpu"));
    });
}

#[test]
fn a_unit_that_fails_is_not_stored() {
    with_front_end(|project, front_end| {
        let parts = Parts { front: front("UNIT_ERROR", &Symbols::default()), ..Parts::new() };
        for _ in 0..2 {
            let error = parts.make(front_end).err().expect("it fails").to_string();
            assert!(error.contains("no compute_75"), "{error}");
        }
        assert_eq!(project.stored("artifact"), 0);
    });
}

#[test]
fn the_functions_of_all_sources_are_listed_only_where_a_source_names_others() {
    with_front_end(|_, front_end| {
        let asked = Cell::new(0);
        let list = || {
            asked.set(asked.get() + 1);
            vec![("in_b".to_owned(), "b".to_owned())]
        };
        for (defers, expected) in [(&[][..], 0), (&["in_b"], 1)] {
            let (source, front) =
                (source("a"), front(&format!("{defers:?}"), &symbols(&[], defers)));
            let config = Config::new(target("compute_75"));
            let unit = Unit {
                source: 0,
                compiler: UnitCompiler::LlvmPipeline,
                config,
                variant: None,
                override_index: None,
            };
            binary(front_end, &source, (&front, (&[], &[], &list)), &unit).unwrap();
            assert_eq!(asked.get(), expected, "{defers:?}");
        }
    });
}
