//! Compilation of sources in C and C++. Their kernels are known once a compiler has read them.

use super::{
    binary::Binary,
    compilation::{Compilation, Early, Fronts, has_front},
    compiler::Failure,
    diagnostics::{missing_headers, report_error, report_failure, says_no_more},
    front_end::Front,
    host::{self, Object},
    nvcc::Kernels,
    ptx, wgsl,
};
use crate::{
    base::{error::Error, jobs, paths, report::Report},
    discovery::{
        place::{report_feature, report_parameter},
        source::{Source, SourceKind},
        sources::{self, Found},
        templates,
    },
    plan::units::{Unit, UnitCompiler},
    settings::{choices::CudaCompiler, variants::check_limits},
};
use kernelmill_artifact::{LaunchLimits, Signature, Target, VariableDeclaration};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::frontend::cuda::{
    CudaKernel, UnsupportedParameter,
    clang::{Scope, UnsupportedFeature},
    is_same_symbol,
    signature::{is_instance_of, is_same_kernel, resolve_names},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

/// What one run of a compiler is for.
#[derive(Clone, Copy)]
pub(super) enum Task<'a> {
    /// Reading the signatures of a source by nvcc.
    Read(usize),
    /// The front end of a source, by clang, which reads its signatures too.
    Front(usize),
    /// A unit that nvcc makes, whatever kernels are in it.
    Unit(usize, &'a Unit),
    /// A host file.
    Host(&'a Source),
}

/// What came of it.
enum Done {
    Read(Result<Kernels, Failure>),
    Front(Result<Front, Failure>),
    Unit(Result<Binary, Failure>),
    Host(Result<Object, Failure>),
}

impl Task<'_> {
    /// What is done first. Signatures come before all, as the units' weights are known from them;
    /// of host files nothing is known, and they take long.
    fn weight(self, units: &[AtomicU64]) -> u64 {
        const BEFORE_UNITS: u64 = 1 << 62;
        match self {
            Self::Read(_) | Self::Front(_) => u64::MAX,
            Self::Host(file) => BEFORE_UNITS + file.weight,
            Self::Unit(_, unit) => units[unit.source].load(Ordering::Relaxed),
        }
    }
}

impl Compilation<'_> {
    /// Reads the kernels of the sources in C and C++, those in CUDA C++ by nvcc where it is there, and runs the front end
    /// of those that go through kernelmill's compiler. What nvcc makes alone it makes meanwhile.
    pub(crate) fn read_cpp(
        &self,
        found: &mut Found,
        units: &[Unit],
        host_files: &[Source],
    ) -> Result<(Fronts, Early), Error> {
        let mut fronts: Fronts = found.sources.iter().map(|_| None).collect();
        let mut early =
            Early { binaries: units.iter().map(|_| None).collect(), objects: Vec::new() };
        let is_cpp = |index: &usize| found.sources[*index].kind.is_read_by_compiler();
        let sources: Vec<usize> = (0..found.sources.len()).filter(is_cpp).collect();
        let (mut report, mut kernels) = (Report::default(), BTreeMap::new());
        let mut missing = BTreeSet::new();
        for index in sources.iter().copied() {
            let source = &found.sources[index];
            let read = match source.kind {
                SourceKind::Ptx => ptx::kernels(self.package, self.settings, source),
                SourceKind::Wgsl => wgsl::kernels(self.settings, source),
                _ => continue,
            };
            match read {
                Ok(read) => drop(kernels.insert(index, read)),
                Err(error) => report_error(&error, &source.display, &mut report),
            }
        }
        for (task, done) in self.run_tasks(&found.sources, &sources, units, host_files)? {
            match (task, done) {
                (Task::Read(index), Done::Read(Ok(read))) => {
                    read.inputs.iter().for_each(|it| self.package.watch(self.environment, it));
                    self.environment.cargo.warn_of("nvcc", &read.warnings);
                    found.sources[index].weight = read.weight;
                    found.sources[index].variables = read.variables;
                    kernels.insert(index, read.kernels);
                }
                (Task::Front(index), Done::Front(Err(error))) if self.is_skipped => {
                    let reason = error.to_string();
                    let reason = reason.lines().next().unwrap_or_default();
                    self.has_no_wrappers(&found.sources[index], reason);
                }
                (Task::Front(index), Done::Front(front)) => {
                    if let Ok(front) = &front {
                        let source = &mut found.sources[index];
                        source.functions.clone_from(&front.functions);
                        if source.variables.is_empty() {
                            source.variables = all_variables(front);
                        }
                        kernels.entry(index).or_insert_with(|| all_kernels(front));
                    }
                    fronts[index] = Some(front);
                }
                (Task::Read(index), Done::Read(Err(error))) => {
                    missing.extend(missing_headers(&error).cloned());
                    let with = (self.package, self.settings);
                    report_failure(&error, &found.sources[index], with, &mut report);
                }
                (Task::Unit(index, _), Done::Unit(binary)) => early.binaries[index] = Some(binary),
                (_, Done::Host(object)) => early.objects.push(object),
                _ => {}
            }
        }
        if sources.is_empty() {
            return Ok((fronts, early));
        }
        for (front, source) in fronts.iter().zip(&found.sources) {
            if let Some(Err(error)) = front
                && !says_no_more(error, &missing)
            {
                report_failure(error, source, (self.package, self.settings), &mut report);
            }
        }
        report.into_result(Error::Kernels)?;
        if kernels.is_empty() {
            return Ok((fronts, early));
        }
        self.settle(&mut found.sources, kernels)?;
        self.define(&mut found.sources, units, &mut fronts)?;
        self.check_limits(&found.sources, units)?;
        self.check_index_width(&found.sources, units)?;
        self.check_unsupported(&found.sources, units, &fronts)?;
        Ok((fronts, early))
    }

    /// Runs nvcc and clang on all there is, at once.
    fn run_tasks<'t>(
        &self,
        sources: &[Source],
        cpp: &[usize],
        units: &'t [Unit],
        host_files: &'t [Source],
    ) -> Result<Vec<(Task<'t>, Done)>, Error> {
        let mut tasks = Vec::new();
        if self.cuda.is_some() {
            if self.settings.cuda_compiler != CudaCompiler::Clang {
                let is_cuda = |index: &usize| sources[*index].kind == SourceKind::Cuda;
                tasks.extend(cpp.iter().copied().filter(is_cuda).map(Task::Read));
            }
            let by_nvcc =
                units.iter().enumerate().filter(|(_, unit)| unit.compiler == UnitCompiler::Nvcc);
            tasks.extend(by_nvcc.map(|(index, unit)| Task::Unit(index, unit)));
            tasks.extend(host_files.iter().map(Task::Host));
        }
        let front_end = if self.is_skipped {
            self.fronts_without_units(sources, cpp, &mut tasks)
        } else {
            let by_clang = cpp.iter().copied().filter(|index| has_front(units, *index));
            let before = tasks.len();
            tasks.extend(by_clang.map(Task::Front));
            if tasks.len() == before { None } else { Some(self.front_end()?) }
        };
        let weights: Vec<_> = sources.iter().map(|it| AtomicU64::new(it.weight)).collect();
        let cuda = self.cuda.as_ref();
        let done = jobs::run_heaviest_first(
            &tasks,
            |task| task.weight(&weights),
            |task| match *task {
                Task::Read(index) => {
                    let (cuda, source) = (cuda?, &sources[index]);
                    let read = cuda.read(source, self.environment);
                    if let Ok(read) = &read {
                        weights[index].store(read.weight, Ordering::Relaxed);
                    }
                    Some(Done::Read(read))
                }
                Task::Front(index) => Some(Done::Front(front_end.as_ref()?.run(&sources[index]))),
                Task::Unit(_, unit) => {
                    let (source, target) = (&sources[unit.source], &unit.config.target);
                    let start = Instant::now();
                    let mut step =
                        self.environment.step("compile", &*source.display, &[("target", target)]);
                    let made = cuda?.binary(source, unit);
                    if let (Some(step), Ok(binary)) = (&mut step, &made) {
                        step.arguments.push(("in the store", binary.is_cached.to_string()));
                    }
                    if let Ok(binary) = &made {
                        let done = (binary.is_cached, start);
                        self.environment.unit_done(&source.display, target, done);
                    }
                    Some(Done::Unit(made))
                }
                Task::Host(file) => Some(Done::Host(host::object(cuda?, file, self.environment))),
            },
        );
        Ok(tasks.into_iter().zip(done).filter_map(|(task, done)| Some((task, done?))).collect())
    }

    /// Gives the sources their kernels, each under a name of its own; those that cannot be launched
    /// are warned of, or are the error where no other kernel is there.
    fn settle(
        &self,
        sources: &mut [Source],
        mut kernels: BTreeMap<usize, Vec<CudaKernel>>,
    ) -> Result<(), Error> {
        let mut refused: Vec<CudaKernel> = Vec::new();
        for (index, list) in &mut kernels {
            let source = &sources[*index].path;
            // An instance that the settings list may be of a template of somebody else's headers.
            let is_listed = |kernel: &CudaKernel| {
                let mut listed = sources[*index].templates.iter();
                listed.any(|it| is_instance_of(&kernel.signature.symbol, &it.name))
            };
            list.retain(|kernel| {
                self.is_of_the_user(source, &kernel.signature.file) || is_listed(kernel)
            });
            for kernel in &*list {
                // A kernel of a header is one in each source that includes it.
                let is_known = |known: &CudaKernel| {
                    is_same_kernel(&known.signature, &kernel.signature)
                        && known.unsupported == kernel.unsupported
                };
                if !kernel.unsupported.is_empty() && !refused.iter().any(is_known) {
                    refused.push(kernel.clone());
                }
            }
            list.retain(|kernel| kernel.unsupported.is_empty());
        }
        for Source { path, variables, .. } in &mut *sources {
            variables.retain(|variable| self.is_of_the_user(path, &variable.file));
        }
        let mut report = Report::default();
        let read = |(index, source): (usize, &Source)| match kernels.get(&index) {
            Some(list) => !list.is_empty(),
            None => source.is_any() || source.has_functions(),
        };
        if sources.iter().enumerate().any(read) || !self.settings.host_files.is_empty() {
            for CudaKernel { signature, unsupported, .. } in &refused {
                let place = format!("{}:{}", signature.file, signature.line);
                for it in unsupported {
                    self.environment.cargo.warn(&format!("{place}: {it}"));
                }
            }
        } else {
            for CudaKernel { signature, unsupported, .. } in &refused {
                for UnsupportedParameter { parameter, message, help } in unsupported {
                    let found = (Code::ParameterType, &**message, &**help);
                    let subject = (signature, parameter.as_deref());
                    report_parameter(sources, subject, found, &mut report);
                }
            }
            std::mem::take(&mut report).into_result(Error::Sources)?;
        }
        let mut all: Vec<_> = kernels.values_mut().flatten().collect();
        let said = self.settings.kernels.iter();
        let chosen = said.filter_map(|(key, said)| Some((key.clone(), said.name.clone()?)));
        for clash in resolve_names(&mut all, &chosen.collect()) {
            report.message(Code::SameName, clash.to_string());
        }
        report.into_result(Error::Sources)?;
        let mut limits = Report::default();
        for (index, list) in kernels {
            let signatures = list.into_iter().map(|kernel| kernel.signature);
            let mut signatures: Vec<_> = signatures.collect();
            self.settings.limit(&mut signatures, &mut limits);
            sources[index].generics = templates::generics(&sources[index].templates, &signatures);
            sources[index].signatures = Some(signatures);
        }
        limits.into_result(Error::Sources)?;
        sources::check_kernels(self.package, sources, self.settings)
    }

    /// Compiles sources with the macros of their kernels' variants, as far as that is needed to know the kernels, and
    /// reports those that are not what they are without.
    fn define(
        &self,
        sources: &mut [Source],
        units: &[Unit],
        fronts: &mut Fronts,
    ) -> Result<(), Error> {
        let mut tasks: Vec<(usize, Source)> = Vec::new();
        for (index, source) in sources.iter().enumerate().filter(|(_, it)| it.kind.is_for_clang()) {
            let variants = source.kernels().iter().flat_map(|it| self.settings.listed_variants(it));
            for defines in variants.map(|it| &it.parameters.defines).filter(|it| !it.is_empty()) {
                let is_there =
                    |task: &(usize, Source)| task.0 == index && task.1.defines == *defines;
                if !tasks.iter().any(is_there) {
                    tasks.push((index, Source { defines: defines.clone(), ..source.clone() }));
                }
            }
        }
        if tasks.is_empty() {
            return Ok(());
        }
        let by_clang = tasks.iter().any(|(index, _)| has_front(units, *index));
        let front_end = if by_clang { Some(self.front_end()?) } else { None };
        let cuda = self.cuda.as_ref();
        let made = jobs::run(&tasks, |(index, source)| {
            let front = front_end.as_ref().filter(|_| has_front(units, *index));
            let front = front.map(|front_end| front_end.run(source)).transpose()?;
            let by_nvcc =
                |unit: &Unit| (unit.source, unit.compiler) == (*index, UnitCompiler::Nvcc);
            let cuda = cuda.filter(|_| units.iter().any(by_nvcc));
            let read = cuda.map(|cuda| cuda.read(source, self.environment)).transpose()?;
            Ok::<_, Failure>((front, read))
        });
        let mut report = Report::default();
        for ((index, mut source), made) in tasks.into_iter().zip(made) {
            let compiled = compiled_with(&source);
            let (front, read) = match made {
                // A build without binaries compiles nothing.
                Ok((None, None)) => continue,
                Ok(made) => made,
                Err(error) => {
                    let with = (self.package, self.settings);
                    report_failure(&error, &source, with, &mut report);
                    let what = format!("{compiled} for variants, and that fails");
                    report.plain(
                        Code::Variants,
                        what,
                        "correct the source for these macros, or the `define` of the variants",
                    );
                    continue;
                }
            };
            let (mut kernels, mut variables) = (Vec::new(), Vec::new());
            if let Some(read) = read {
                variables.extend(read.variables);
                read.inputs.iter().for_each(|it| self.package.watch(self.environment, it));
                kernels.extend(read.kernels);
            }
            if let Some(front) = &front {
                let inputs = front.all().flat_map(|front| &front.inputs);
                inputs.for_each(|it| self.package.watch(self.environment, it));
                kernels.extend(all_kernels(front));
                variables.extend(all_variables(front));
            }
            for VariableDeclaration { name, file, line, .. } in source
                .variables
                .iter()
                .filter(|it| variables.iter().any(|other| has_other_type(it, other)))
            {
                let what = format!(
                    "{file}:{line}: the variable `{name}` has another type where {compiled} for variants"
                );
                let help = "give it the same type in all variants: the host reads and writes it in all of them";
                report.plain(Code::Variants, what, help);
            }
            source.signatures = Some(self.kernels_with(&source, &kernels, &mut report));
            sources[index].defined.push(source);
            if let (Some(front), Some(Ok(plain))) = (front, &mut fronts[index]) {
                plain.defined.push(front);
            }
        }
        report.into_result(Error::Sources)
    }

    /// The kernels of a source that have a variant with its macros, with the limits that they have in `found`, all that
    /// compilers have read in it. Those that are not what they are without the macros are reported.
    fn kernels_with(
        &self,
        source: &Source,
        found: &[CudaKernel],
        report: &mut Report,
    ) -> Vec<Signature> {
        let mut kernels = Vec::new();
        for kernel in source.kernels() {
            let variants = self.settings.listed_variants(kernel);
            let variants: Vec<_> =
                variants.filter(|it| it.parameters.defines == source.defines).collect();
            let Some(first) = variants.first() else { continue };
            let is_it = |it: &&CudaKernel| is_same_symbol(&it.signature.symbol, &kernel.symbol);
            let mut found = found.iter().filter(is_it).peekable();
            if found.peek().is_none() {
                let what = "does not have the kernel with its `define`, or has other parameters";
                first.report_kernel(kernel, what, report);
            }
            let mut own = kernel.clone();
            for CudaKernel { signature, unsupported, .. } in found {
                let is_other = signature.parameters != kernel.parameters
                    || signature.dimension != kernel.dimension;
                if is_other {
                    first.report_kernel(kernel, "has other parameters with its `define`", report);
                } else if let Some(feature) = unsupported.first() {
                    let what = format!("cannot be launched: {}", feature.message);
                    first.report_kernel(kernel, &what, report);
                }
                own.limits = signature.limits;
            }
            self.settings.limit_defined(&mut own);
            for variant in variants {
                check_limits(&own, variant, report);
            }
            kernels.push(own);
        }
        kernels
    }

    /// Reports what the settings say of launches of kernels that nvcc, ptxas or naga compiles.
    fn check_limits(&self, sources: &[Source], units: &[Unit]) -> Result<(), Error> {
        let mut report = Report::default();
        let is_by = |index: usize, compiler| {
            units.iter().any(|unit| (unit.source, unit.compiler) == (index, compiler))
        };
        for (index, source) in sources.iter().enumerate() {
            let (compiler, help) = match index {
                _ if is_by(index, UnitCompiler::Nvcc) => (
                    "nvcc",
                    "write `__launch_bounds__`, `__maxnreg__` or `__cluster_dims__` in its source",
                ),
                _ if is_by(index, UnitCompiler::Ptxas) => (
                    "ptxas",
                    "write `.maxntid`, `.reqntid`, `.minnctapersm`, `.maxnreg` or `.reqnctapercluster` \
                     behind its parameters",
                ),
                _ if is_by(index, UnitCompiler::Naga) => {
                    ("naga", "write `@workgroup_size` before its function")
                }
                _ => continue,
            };
            for kernel in source.kernels() {
                for variant in self.settings.listed_variants(kernel) {
                    if compiler != "nvcc" {
                        variant.not_compiled(&kernel.name, compiler, &mut report);
                    }
                }
                let said = self.settings.kernels.iter();
                for (_, said) in
                    said.filter(|(key, said)| self.settings.is_about(key, said, kernel))
                {
                    let is_narrow = said.limits.has_narrow_indices() && compiler == "nvcc";
                    let help = if is_narrow { ONLY_IN_VARIANTS } else { help };
                    if said.limits != LaunchLimits::NONE {
                        said.limits_not_compiled(&kernel.name, (compiler, help), &mut report);
                    }
                }
            }
        }
        report.into_result(Error::Sources)
    }

    /// Whether a kernel in this file is the package's own, and no instantiation of a template in
    /// the headers of a toolkit. Sources may lie outside of the package, in `OUT_DIR` for one.
    pub(super) fn is_of_the_user(&self, source: &Path, file: &str) -> bool {
        let root = &self.package.root;
        let path = paths::normal(&root.join(file));
        let nvcc = self.cuda.as_ref().map(|cuda| &cuda.nvcc.root);
        let mut includes = self.settings.includes.iter().map(|it| paths::normal(&root.join(it)));
        !nvcc.is_some_and(|toolkit| path.starts_with(toolkit))
            && (path.starts_with(root)
                || source.parent().is_some_and(|folder| path.starts_with(folder))
                || includes.any(|folder| path.starts_with(folder)))
    }

    /// Whether an unsupported feature is a function that a library of device code may have.
    fn may_be_linked(&self, feature: &UnsupportedFeature, target: &Target) -> bool {
        let has_libraries = self.settings.params.device_link.is_some();
        feature.scope == Scope::Unlinked && has_libraries && matches!(target, Target::Cubin(_))
    }

    /// Reports every kernel with something in it that a target cannot have.
    fn check_unsupported(
        &self,
        sources: &[Source],
        units: &[Unit],
        fronts: &Fronts,
    ) -> Result<(), Error> {
        let mut report = Report::default();
        for (index, source) in sources.iter().enumerate() {
            let Some(Some(Ok(front))) = fronts.get(index) else { continue };
            for kernel in source.kernels() {
                let mut found: BTreeMap<_, Vec<String>> = BTreeMap::new();
                let of_source = units.iter().filter(|unit| {
                    (unit.source, unit.compiler) == (index, UnitCompiler::LlvmPipeline)
                        && self.settings.wants(kernel, &unit.config.target)
                });
                let with_variants = of_source.flat_map(|unit| {
                    let target = &unit.config.target;
                    let variants = self.settings.listed_variants(kernel);
                    let variants = variants.filter(|variant| variant.is_for(target));
                    let defines = variants.map(|it| Some(&it.parameters.defines));
                    std::iter::once(None).chain(defines).map(move |it| (target, it))
                });
                for (target, defines) in with_variants {
                    let front = front.with_defines(source, defines).of(target);
                    let unsupported = front.unsupported.iter().filter(|feature| {
                        is_same_symbol(&kernel.symbol, &feature.symbol)
                            && feature.concerns(target)
                            && !self.may_be_linked(feature, target)
                    });
                    for it in unsupported {
                        let targets = found.entry(it).or_default();
                        let target = format!("`{target}`");
                        if !targets.contains(&target) {
                            targets.push(target);
                        }
                    }
                }
                for (feature, targets) in found {
                    let libraries = match &self.settings.params.device_link {
                        Some(link) if feature.scope == Scope::Unlinked => format!(
                            "device libraries ({}) are linked into NVIDIA's cubins alone; ",
                            link.names()
                        ),
                        _ => String::new(),
                    };
                    let message = feature.message(&kernel.name, &targets);
                    let help = libraries + &help(source.kind, &kernel.name);
                    report_feature(sources, (feature, kernel), (&message, &help), &mut report);
                }
            }
        }
        report.into_result(Error::Sources)
    }
}

/// What to do where all launches of a kernel that nvcc compiles shall have indices of 32 bits.
const ONLY_IN_VARIANTS: &str = "list it as a variant, `variants = [{ index-width = 32 }]`: nvcc makes one for the launches whose \
                                sizes are below 2^31";

/// What to do where a kernel uses something that targets cannot have.
fn help(kind: SourceKind, kernel: &str) -> String {
    if kind == SourceKind::LlvmIr {
        return format!(
            "narrow its targets, `[kernels.{kernel}] targets = [...]`, or compile the file from a source that does not use it"
        );
    }
    if kind == SourceKind::OpenCl {
        return "define it in the file, or write other code for kernelmill under `#ifdef __KERNELMILL__`"
            .to_owned();
    }
    let word = if kind == SourceKind::Hip {
        "#ifndef __HIP_PLATFORM_AMD__"
    } else {
        "#ifdef __KERNELMILL__"
    };
    format!(
        "narrow its targets, `[kernels.{kernel}] targets = [...]`, or write other code for the other targets \
         under `{word}`"
    )
}

/// What is said of a source that is compiled with macros of variants.
fn compiled_with(source: &Source) -> String {
    let defines = source.defines.iter().map(|(name, value)| match &**value {
        "" => format!("`{name}`"),
        value => format!("`{name}={value}`"),
    });
    let defines = defines.collect::<Vec<_>>().join(", ");
    format!("{} is compiled with {defines}", source.display)
}

/// Whether two declarations are of one variable, with different types.
fn has_other_type(one: &VariableDeclaration, other: &VariableDeclaration) -> bool {
    one.symbol == other.symbol && one.ty != other.ty
}

/// The variables that a source has for any target.
fn all_variables(front: &Front) -> Vec<VariableDeclaration> {
    let mut variables: Vec<VariableDeclaration> = Vec::new();
    for variable in front.all().flat_map(|front| &front.variables) {
        if variables.iter().all(|known| known.symbol != variable.symbol) {
            variables.push(variable.clone());
        }
    }
    variables
}

/// The kernels that a source has for any target.
fn all_kernels(front: &Front) -> Vec<CudaKernel> {
    let mut kernels = Vec::new();
    for kernel in front.all().flat_map(|front| &front.kernels) {
        let symbol = &kernel.signature.symbol;
        let is_it = |known: &CudaKernel| is_same_symbol(&known.signature.symbol, symbol);
        if !kernels.iter().any(is_it) {
            kernels.push(kernel.clone());
        }
    }
    kernels
}
