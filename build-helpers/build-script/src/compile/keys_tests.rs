//! Every input of the keys of front ends and of nvcc: whatever changes, the key does. The table in
//! `docs/src/internals/build.md` names a test for each input of each key.

use super::{front_end::FrontEnd, host::described, nvcc::NvccCompiler};
use crate::{
    base::glob::Glob,
    discovery::source::{Source, SourceKind},
    settings::{
        layer::SourceLayer,
        package::Package,
        resolve,
        resolved::Settings,
        sources::{SourceSettings, SourcesSettings},
    },
    store::{dependency_record::Inputs, location::store_of_user},
    test_support::{Fake, Project, Shared},
    toolchain::{Clang, Nvcc},
};
use kernelmill_compiler::{DeviceLibrary, DeviceLink, frontend::Architecture};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that goes into a key.
struct Parts {
    project: Project,
    host: &'static str,
    edition: &'static str,
    version: &'static str,
    clang: Clang,
    nvcc: Nvcc,
    source: Source,
    arch: Option<Architecture>,
    settings: Box<dyn Fn(&mut Settings)>,
}

/// A variable that a tool reads.
fn variable(value: Option<&str>) -> Vec<(String, Option<String>)> {
    vec![("CPATH".to_owned(), value.map(str::to_owned))]
}

impl Parts {
    fn new(kind: SourceKind) -> Self {
        let clang = Clang {
            program: "/checkout/clang".into(),
            version: "clang 22".to_owned(),
            major: 22,
            variables: variable(None),
        };
        let nvcc = Nvcc {
            program: "/checkout/nvcc".into(),
            root: "/checkout".into(),
            version: "release 13.5".to_owned(),
            release: (13, 5),
            gpu_codes: Vec::new(),
            host_compiler: None,
            variables: variable(None),
        };
        let source = Source {
            path: "/checkout/a".into(),
            display: "a".to_owned(),
            kind,
            signatures: None,
            functions: Vec::new(),
            generics: Vec::new(),
            instances: Vec::new(),
            templates: Vec::new(),
            weight: 0,
            texts: vec![("a".to_owned(), "text".into())],
            overrides: Vec::new(),
            states: Vec::new(),
            variables: Vec::new(),
            module: None,
            defines: BTreeMap::new(),
            defined: Vec::new(),
            warnings: Vec::new(),
            variants: Vec::new(),
        };
        Self {
            project: Project::new("targets = [\"sm_90\"]\n", &[]),
            host: "x86_64-unknown-linux-gnu",
            edition: "2024",
            version: "compiler 1",
            clang,
            nvcc,
            source,
            arch: None,
            settings: Box::new(|_| {}),
        }
    }

    fn with<T>(&self, look: impl FnOnce(&FrontEnd<'_>, &NvccCompiler<'_>) -> T) -> T {
        let environment = self.project.environment(&Shared::default());
        let mut package = Package::read(&environment).unwrap();
        (package.target, package.edition) = (self.host.to_owned(), self.edition.to_owned());
        let builder = self.project.builder.clone();
        let mut settings = resolve::read(&environment, &package, builder).unwrap();
        (self.settings)(&mut settings);
        let store = store_of_user(&environment).unwrap();
        let inputs = Inputs::new(&environment, &package, &store);
        let front_end = FrontEnd {
            environment: &environment,
            package: &package,
            settings: &settings,
            compiler: &Fake::on(self.host),
            store: &store,
            inputs: &inputs,
            version: self.version.to_owned(),
            clang: Some(&self.clang),
            architectures: &[],
        };
        let (package, settings, store, inputs) = (&package, &settings, &store, &inputs);
        let cuda = NvccCompiler { package, settings, store, inputs, nvcc: &self.nvcc };
        look(&front_end, &cuda)
    }

    fn front(&self) -> String {
        self.with(|front_end, _| front_end.key(&self.source, self.arch.as_ref()).to_string())
    }

    /// The keys of all that nvcc makes of a source.
    fn nvcc(&self) -> Vec<(&'static str, String)> {
        self.with(|_, cuda| {
            let key = |kind| cuda.key(kind, &self.source);
            vec![
                ("signatures", key("cuda signatures").finish().to_string()),
                ("unit", key("cuda unit").finish().to_string()),
                ("host", described(cuda, key("host file")).finish().to_string()),
            ]
        })
    }

    fn device_link(&self) -> String {
        self.with(|_, cuda| described(cuda, cuda.tool_key("device link")).finish().to_string())
    }
}

/// What a front end in any language depends on.
const COMMON: [fn(&mut Parts); 12] = [
    |parts| parts.host = "aarch64-unknown-linux-gnu",
    |parts| parts.edition = "2021",
    |parts| parts.version = "compiler 2",
    |parts| parts.source.display = "b".to_owned(),
    |parts| parts.source.texts[0].1 = "other".into(),
    |parts| parts.source.texts.push(("b".to_owned(), "text".into())),
    |parts| parts.source.instances.push(("k".to_owned(), "f32".to_owned())),
    |parts| parts.source.instances.push(("k".to_owned(), "f64".to_owned())),
    |parts| parts.project.set("RUSTC_BOOTSTRAP", "1"),
    |parts| parts.settings = Box::new(|it| it.options.debug_level = 2),
    |parts| parts.settings = Box::new(|it| it.defines = [("A".to_owned(), String::new())].into()),
    |parts| parts.settings = Box::new(|it| it.defines = [("A".to_owned(), "1".to_owned())].into()),
];

/// What those depend on that take arguments, for all sources and for this one.
const WITH_ARGUMENTS: [fn(&mut Parts); 4] = [
    |parts| parts.settings = Box::new(|it| it.arguments = vec!["-x".to_owned()]),
    |parts| parts.settings = Box::new(|it| it.sources = own(None, Some("-y"))),
    |parts| parts.settings = Box::new(|it| it.sources = own(Some("A"), Some("-y"))),
    |parts| parts.settings = Box::new(|it| it.sources = own(Some("B"), None)),
];

/// What settings say of the source alone.
fn own(define: Option<&str>, argument: Option<&str>) -> SourcesSettings {
    let layer = SourceLayer {
        defines: define.map(|name| [(name.to_owned(), "1".to_owned())].into()),
        arguments: argument.map(|argument| vec![argument.to_owned()]),
        origin: None,
    };
    SourcesSettings::new(vec![SourceSettings::of(Glob::new("**").unwrap(), layer)])
}

/// What only clang's depends on.
const OF_CLANG: [fn(&mut Parts); 6] = [
    |parts| parts.clang.version = "clang 21".to_owned(),
    |parts| parts.clang.variables = variable(Some("")),
    |parts| parts.clang.variables = variable(Some("/usr/other")),
    |parts| parts.settings = Box::new(|it| it.includes = vec!["include".to_owned()]),
    |parts| {
        parts.arch = Architecture::of(&"sm_90".parse().unwrap());
    },
    |parts| parts.arch = Architecture::of(&"gfx90a".parse().unwrap()),
];

#[test]
fn everything_that_changes_bitcode_is_in_the_key_of_a_front_end() {
    for kind in SourceKind::ALL {
        let of_clang = if kind.is_for_clang() { &OF_CLANG[..] } else { &[] };
        let mut seen = BTreeSet::from([Parts::new(kind).front()]);
        let has_arguments = kind.arguments().is_some();
        let with_arguments = if has_arguments { &WITH_ARGUMENTS[..] } else { &[] };
        let changes = COMMON.iter().chain(with_arguments).chain(of_clang);
        for (place, change) in changes.enumerate() {
            let mut parts = Parts::new(kind);
            change(&mut parts);
            assert!(seen.insert(parts.front()), "{kind:?}: change {place} is not in the key");
        }
        assert!(seen.contains(&Parts::new(kind).front()), "another checkout has other keys");
    }
    let keys: BTreeSet<_> = SourceKind::ALL.map(|kind| Parts::new(kind).front()).into();
    assert_eq!(keys.len(), SourceKind::ALL.len());
}

#[test]
fn everything_that_changes_what_nvcc_makes_is_in_its_keys() {
    let changes: [fn(&mut Parts); 12] = [
        |parts| parts.host = "aarch64-unknown-linux-gnu",
        |parts| parts.nvcc.version = "release 13.6".to_owned(),
        |parts| parts.source.instances.push(("k".to_owned(), "float".to_owned())),
        |parts| parts.source.instances.push(("k".to_owned(), "double".to_owned())),
        |parts| parts.nvcc.variables = variable(Some("")),
        |parts| parts.source.display = "b".to_owned(),
        |parts| parts.source.texts[0].1 = "other".into(),
        |parts| parts.settings = Box::new(|it| it.includes = vec!["include".to_owned()]),
        |parts| parts.settings = Box::new(|it| it.arguments = vec!["-x".to_owned()]),
        |parts| parts.settings = Box::new(|it| it.sources = own(None, Some("-y"))),
        |parts| parts.settings = Box::new(|it| it.sources = own(Some("B"), None)),
        |parts| {
            parts.settings = Box::new(|it| it.defines = [("A".to_owned(), String::new())].into());
        },
    ];
    let plain = Parts::new(SourceKind::Cuda).nvcc();
    let mut seen = BTreeSet::from_iter(plain.iter().cloned());
    for (place, change) in changes.iter().enumerate() {
        let mut parts = Parts::new(SourceKind::Cuda);
        change(&mut parts);
        for (kind, key) in parts.nvcc() {
            assert!(seen.insert((kind, key)), "change {place} is not in the key of {kind}");
        }
    }
    assert_eq!(plain, Parts::new(SourceKind::Cuda).nvcc(), "another checkout");
}

#[test]
fn everything_that_changes_a_device_link_is_in_its_key() {
    let changes: [fn(&mut Parts); 7] = [
        |_| {},
        |parts| parts.host = "aarch64-unknown-linux-gnu",
        |parts| parts.nvcc.version = "release 13.6".to_owned(),
        |parts| parts.nvcc.variables = variable(Some("")),
        |parts| parts.settings = Box::new(|it| it.targets.clear()),
        |parts| parts.settings = Box::new(|it| it.options.opt_level = 1),
        |parts| parts.settings = Box::new(|it| it.rdc = true),
    ];
    let mut keys = BTreeSet::new();
    for (place, change) in changes.iter().enumerate() {
        let mut parts = Parts::new(SourceKind::Cuda);
        change(&mut parts);
        assert!(keys.insert(parts.device_link()), "change {place} is not in the key");
    }
    let with_library = |folder: &'static str| {
        let mut parts = Parts::new(SourceKind::Cuda);
        parts.settings = Box::new(move |settings| {
            let name = "lib/a.a".to_owned();
            let path = format!("{folder}/lib/a.a").into();
            let libraries =
                vec![DeviceLibrary { name, is_named: true, path, digest: "1".to_owned() }];
            let nvlink = Some(format!("{folder}/nvlink").into());
            let link = DeviceLink { nvlink, version: String::new(), libraries };
            settings.params.device_link = Some(link);
        });
        parts.device_link()
    };
    assert!(keys.insert(with_library("/one")));
    assert_eq!(with_library("/one"), with_library("/two"), "a path is in the key");
}
