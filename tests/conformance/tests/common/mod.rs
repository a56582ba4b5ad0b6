//! Compiles files of this package for any target.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::{
    fs,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use cuda_cpp::{clang, compiler, stored};
use kernelmill_artifact::Signature;
use kernelmill_compiler::{
    Artifact, Config, Error, Job, JobSource, Lowered, RustSource,
    diagnostic::Code,
    frontend::{
        cuda::{CudaSource, clang::UnsupportedFeature},
        rust::signature,
    },
};
use test_support::{temporary_folder, write_file};

/// The folder of this package.
pub(crate) fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a function on every item, on as many threads as there are processors, and gives what each
/// reports.
pub(crate) fn each<T: Sync>(items: &[T], run: impl Fn(&T) -> Vec<String> + Sync) -> Vec<String> {
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run(item);
                    faults.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
                }
            });
        }
    });
    faults.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// A source that a front end has read.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) lowered: Lowered,
    pub(crate) signatures: Vec<Signature>,
    pub(crate) unsupported: Vec<UnsupportedFeature>,
}

/// Reads a source.
pub(crate) fn lower(file: &str, text: &str) -> Result<Source, Error> {
    lower_with(file, text, &[])
}

/// Reads a source with arguments for its compiler.
pub(crate) fn lower_with(file: &str, text: &str, arguments: &[&str]) -> Result<Source, Error> {
    let arguments: Vec<_> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    // In a package of its own, so that messages name the file as users have it.
    let package = temporary_folder();
    let package_root = package.path().to_owned();
    let display = format!("kernels/{file}");
    let path = write_file(&package, &display, text);
    let name = file.split('.').next().unwrap_or(file).to_owned();
    if file.ends_with(".cu") {
        let source = CudaSource {
            path,
            display,
            package_root,
            includes: Vec::new(),
            defines: Vec::new(),
            arguments,
            instances: Vec::new(),
        };
        let lowered = compiler().lower_cuda(clang(), &source, None)?;
        let signatures = lowered.kernels.into_iter().map(|kernel| kernel.signature).collect();
        let unsupported = lowered.unsupported;
        return Ok(Source { name, lowered: lowered.lowered, signatures, unsupported });
    }
    let signatures = signature::read(text, &display).map_err(|faults| {
        let faults = faults.iter().map(ToString::to_string);
        Error::Limits { text: faults.collect::<Vec<_>>().join("\n") }
    })?;
    let source = RustSource {
        path,
        display,
        package_root,
        edition: "2024".into(),
        cfgs: Vec::new(),
        arguments,
        signatures: signatures.clone(),
        functions: Vec::new(),
        instances: Vec::new(),
        mirror: None,
    };
    let lowered = compiler().lower_rust(&source)?;
    Ok(Source { name, lowered, signatures, unsupported: Vec::new() })
}

impl Source {
    fn with<R>(&self, config: &Config, run: impl FnOnce(&Job<'_>) -> R) -> R {
        let Self { name, lowered, signatures, .. } = self;
        run(&Job { source: JobSource { lowered, signatures, unit: name }, config })
    }

    /// Compiles the source for a target.
    pub(crate) fn compile(&self, target: &str) -> Result<Artifact, Error> {
        self.with(&Config::new(target.parse().unwrap()), stored::compile)
    }

    /// The assembly of the source for a target.
    pub(crate) fn assembly(&self, target: &str) -> Result<String, Error> {
        self.with(&Config::new(target.parse().unwrap()), |job| compiler().assembly(job))
    }

    /// The module of the source for a target, in LLVM's textual form, before it is optimised.
    pub(crate) fn unoptimized(&self, target: &str) -> String {
        let mut config = Config::new(target.parse().unwrap());
        (config.options.optimize, config.options.validate) = (false, false);
        self.with(&config, |job| compiler().inspect(job)).unwrap()
    }

    /// The module of the source for a target, in LLVM's textual form, as code is emitted from it.
    pub(crate) fn module(&self, target: &str) -> String {
        let config = Config::new(target.parse().unwrap());
        self.with(&config, |job| compiler().inspect(job)).unwrap()
    }

    /// Compiles the source with an option that is not the default.
    pub(crate) fn compile_with(&self, target: &str, (name, value): (&str, &str)) -> Artifact {
        let mut config = Config::new(target.parse().unwrap());
        config.options.set(name, value).unwrap();
        let artifact = self.with(&config, |job| compiler().compile(job));
        artifact.unwrap_or_else(|error| panic!("{target}: {error}"))
    }
}

/// Compiles a text.
pub(crate) fn compiled(name: &str, text: &str, target: &str) -> Artifact {
    let source = lower(&format!("{name}.rs"), text).unwrap_or_else(|error| panic!("{error}"));
    source.compile(target).unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// The assembly of a text.
pub(crate) fn assembly(name: &str, text: &str, target: &str) -> String {
    let source = lower(&format!("{name}.rs"), text).unwrap_or_else(|error| panic!("{error}"));
    source.assembly(target).unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// What a user reads of a file below `faults/`, which must be refused for a target.
pub(crate) fn refused(file: &str, target: &str) -> String {
    let text = fs::read_to_string(folder().join("faults").join(file)).unwrap();
    let source = match lower(file, &text) {
        Ok(source) => source,
        Err(error) => return error.to_string(),
    };
    let unsupported = source.unsupported.iter().filter(|it| it.concerns(&target.parse().unwrap()));
    let told: Vec<_> = unsupported
        .map(|feature| {
            let kernel = source.signatures.iter().find(|it| it.symbol == feature.symbol);
            let kernel = kernel.map_or("", |kernel| &kernel.name);
            let mut text = format!(
                "error[{}]: {}:{}: {}",
                Code::CppFeature,
                feature.file,
                feature.line,
                feature.message(kernel, &[format!("`{target}`")])
            );
            for (index, frame) in feature.frames.iter().enumerate() {
                text += &format!("\n    {:>4} {frame}", if index == 0 { "-->" } else { "from" });
            }
            text
        })
        .collect();
    if !told.is_empty() {
        return told.join("\n\n");
    }
    match source.compile(target) {
        Ok(_) => panic!("{file} compiled for {target}"),
        Err(error) => match error.code() {
            Some(code) => format!("error[{code}]: kernels/{file}: {error}"),
            None => error.to_string(),
        },
    }
}
