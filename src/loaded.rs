//! Loaded kernels: those of a package on one device, from the best binary of each source.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    argument::Argument,
    cache::{ModuleHold, module_cache},
    choice::Choice,
    compiled::{Compiled, CompiledKernel},
    compiled_set::CompiledSet,
    copy::DeviceCopy,
    device::Device,
    embedded::{
        EmbeddedArtifact, EmbeddedKernel, EmbeddedVariant, HeldCode, KernelSet, TunedLaunch,
        VariableLayout, check_version,
    },
    error::{Error, NoBinary, Result},
    graph::Recorder,
    hal::{OwnedArguments, StreamRef},
    kernel::LoadedKernel,
    launch::Launch,
    limits::Checked,
    marshal,
    preparation::Preparation,
    striped::Striped,
    variable::{DeviceVariable, VariableModule},
    variants::Variants,
};

/// The kernels of a [`KernelSet`], loaded on one device: what a generated `Kernels` is made of.
///
/// Each module stays loaded while this lives; two of them on one device share their modules.
#[derive(Debug)]
pub struct Loaded {
    // Dropped first: functions belong to modules.
    kernels: Vec<Option<Arc<LoadedKernel>>>,
    /// The builds of each kernel with variants, by its index; empty where no kernel has any.
    variants: Vec<Option<Arc<Variants>>>,
    /// What look-ups of each kernel give, by its index.
    compiled: Vec<Striped<Compiled>>,
    /// With the binary of each, those of variants among them.
    modules: Vec<VariableModule>,
    choices: Vec<Choice>,
    /// Why each kernel that is not there is not, by its index.
    missing: BTreeMap<usize, NoBinary>,
    tuned: &'static [TunedLaunch],
    device: Device,
}

/// A set, and the code of those of its binaries that were compiled at run time.
type SetAndCode<'a> = (&'static KernelSet, &'a [Arc<dyn HeldCode>]);

/// A launch that is prepared: its kernel, its shape, which was checked, and its arguments.
pub(crate) struct PreparedParts {
    pub(crate) kernel: Arc<LoadedKernel>,
    pub(crate) shape: Checked,
    pub(crate) arguments: OwnedArguments,
}

impl Loaded {
    /// Chooses the best binary of every source for `device` and loads it, unless it is loaded.
    ///
    /// A kernel that the best binary of its source does not have comes from the best one that has
    /// it. One that is compiled for fewer targets than others, and for none that runs on this
    /// device, stands in nobody's way: its launches report that.
    ///
    /// # Errors
    ///
    /// [`Error::FormatVersion`] for bindings of another version, [`Error::NoBinary`] for a source that is
    /// compiled for all targets of the package and has no binary for this device, and where no source has one,
    /// and what loading reports.
    pub fn new(device: &Device, set: impl Into<CompiledSet>) -> Result<Self> {
        Self::of(device, &set.into())
    }

    fn of(device: &Device, CompiledSet { set, code }: &CompiledSet) -> Result<Self> {
        let Plan { choices, missing, .. } = Plan::make(device, set)?;
        let mut loaded = Self {
            kernels: set.signatures.iter().map(|_| None).collect(),
            variants: Vec::new(),
            compiled: set.signatures.iter().map(|_| Striped::new()).collect(),
            modules: Vec::new(),
            choices: Vec::new(),
            missing,
            tuned: set.tuned,
            device: device.clone(),
        };
        choices.into_iter().try_for_each(|choice| loaded.add((set, code), choice))?;
        loaded.add_variants((set, code))?;
        Ok(loaded)
    }

    /// Holds the module of a binary, with its code if that was compiled at run time.
    fn hold(
        &self,
        artifact: &'static EmbeddedArtifact,
        code: &[Arc<dyn HeldCode>],
    ) -> Result<ModuleHold> {
        let code = code.iter().find(|it| it.fingerprint() == artifact.fingerprint);
        module_cache().hold_code(self.device.context(), artifact, code)
    }

    /// Loads a binary that was chosen, with those of its kernels that are not there yet.
    fn add(&mut self, (set, code): SetAndCode<'_>, choice: Choice) -> Result<()> {
        let artifact = choice.artifact;
        let module = Arc::new(self.hold(artifact, code)?);
        for kernel in artifact.kernels.iter().filter(|kernel| kernel.variant.is_none()) {
            let slot = &mut self.kernels[kernel.signature];
            if slot.is_none() {
                let signature = &set.signatures[kernel.signature];
                let kernel = LoadedKernel::new(signature, &self.device, artifact, kernel, &module)?;
                *slot = Some(Arc::new(kernel));
            }
        }
        self.modules.push((artifact, module));
        self.choices.push(choice);
        Ok(())
    }

    /// Loads the variants of kernels: of each the best binary for the device.
    fn add_variants(&mut self, (set, code): SetAndCode<'_>) -> Result<()> {
        let kernels = set.artifacts.iter().flat_map(|artifact| artifact.kernels);
        if kernels.clone().all(|kernel| kernel.variant.is_none()) {
            return Ok(());
        }
        self.variants = set.signatures.iter().map(|_| None).collect();
        for (index, signature) in set.signatures.iter().enumerate() {
            let Some(plain) = self.kernels[index].clone() else { continue };
            let mut found: Vec<EmbeddedVariant> = Vec::new();
            let own = kernels.clone().filter(|kernel| kernel.signature == index);
            for variant in own.filter_map(|kernel| kernel.variant) {
                if !found.contains(&variant) {
                    found.push(variant);
                }
            }
            if found.is_empty() {
                continue;
            }
            let (mut builds, mut absent) = (vec![plain], Vec::new());
            for variant in found {
                let is_it = |kernel: &&EmbeddedKernel| {
                    kernel.signature == index && kernel.variant == Some(variant)
                };
                let artifacts = set.artifacts.iter();
                let artifacts =
                    artifacts.filter(|artifact| artifact.kernels.iter().any(|it| is_it(&it)));
                match Choice::make(&self.device, "", &artifacts.collect::<Vec<_>>()) {
                    Ok(Choice { artifact, .. }) => {
                        let Some(kernel) = artifact.kernels.iter().find(is_it) else { continue };
                        let module = Arc::new(self.hold(artifact, code)?);
                        let kernel =
                            LoadedKernel::new(signature, &self.device, artifact, kernel, &module)?;
                        builds.push(Arc::new(kernel));
                        self.modules.push((artifact, module));
                    }
                    Err(Error::NoBinary(error)) => {
                        absent.push((variant.name, variant.limits, *error));
                    }
                    Err(error) => return Err(error),
                }
            }
            self.variants[index] = Some(Arc::new(Variants::new(builds, absent)));
        }
        Ok(())
    }

    /// The choice for every source, in the order of the set, and after it those for kernels that
    /// are not in the binary that was chosen.
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    /// The device that the kernels are loaded on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Launches the kernel with this index among the signatures.
    ///
    /// # Errors
    ///
    /// [`Error::NoBinary`] for one that is not compiled for this device, and what a launch reports.
    ///
    /// # Safety
    ///
    /// The arguments are those of that signature, in its order, and what the kernel does with them in
    /// the threads of this launch is sound.
    pub(crate) unsafe fn launch(
        &self,
        index: usize,
        stream: &StreamRef<'_>,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let kernel = match self.variants.get(index) {
            Some(Some(variants)) => variants.choose(launch, arguments)?,
            _ => {
                let kernel = self.kernel(index)?;
                if launch.variant_name().is_some() {
                    // The kernel alone is not what it asks for.
                    Variants::new(vec![Arc::clone(kernel)], Vec::new())
                        .choose(launch, arguments)?;
                }
                kernel
            }
        };
        if !stream.is_for_launches_in(self.device.context()) && stream.is_recording() {
            if let Some(preparation) = stream.downcast::<Preparation>() {
                return self.prepare(preparation, kernel, launch, arguments);
            }
            if let Some(recorder) = stream.downcast::<Recorder>() {
                return recorder.record(&self.device, kernel, launch, arguments);
            }
        }
        // SAFETY: as promised to this function.
        unsafe { kernel.launch(&self.device, stream, launch, arguments) }
    }

    /// Leaves a launch with a preparation, after its checks. One that takes the place of another is written into it.
    fn prepare(
        &self,
        preparation: &Preparation,
        kernel: &Arc<LoadedKernel>,
        launch: &Launch<3>,
        arguments: &[Argument<'_>],
    ) -> Result<()> {
        let has_threads = kernel.check(&self.device, launch, arguments)?;
        preparation.put((kernel.signature(), *launch), |place| {
            if !has_threads {
                return;
            }
            let before = place.as_mut().and_then(|parts| parts.downcast_mut::<PreparedParts>());
            if let Some(parts) = before {
                if !Arc::ptr_eq(&parts.kernel, kernel) {
                    parts.kernel = Arc::clone(kernel);
                }
                parts.shape = Checked::of(launch);
                marshal::overwrite(&mut parts.arguments, arguments);
                return;
            }
            let (kernel, shape) = (Arc::clone(kernel), Checked::of(launch));
            let arguments = marshal::owned(arguments);
            *place = Some(Box::new(PreparedParts { kernel, shape, arguments }));
        });
        Ok(())
    }

    /// A variable of the set.
    ///
    /// # Errors
    ///
    /// [`Error::MissingVariable`] where no module of its sources is loaded.
    ///
    /// # Safety
    ///
    /// It has this type.
    pub unsafe fn variable<T: DeviceCopy>(
        &self,
        layout: &'static VariableLayout,
    ) -> Result<DeviceVariable<T>> {
        let modules = self.modules.iter();
        let modules: Vec<_> = modules
            .filter(|(artifact, _)| layout.sources.contains(&artifact.source))
            .map(|(artifact, module)| (*artifact, Arc::clone(module)))
            .collect();
        if modules.is_empty() {
            let (variable, device) = (layout.name, self.device.to_string());
            return Err(Error::MissingVariable { variable, device });
        }
        // SAFETY: promised.
        Ok(unsafe { DeviceVariable::new(layout, self.device.clone(), modules) })
    }

    /// The kernel with this index among the signatures, for the program.
    ///
    /// # Errors
    ///
    /// [`Error::NoBinary`] for one that is not compiled for this device.
    pub fn compiled(&self, index: usize) -> Result<CompiledKernel> {
        let kernel = self.kernel(index)?;
        let compiled = || Compiled {
            kernel: Arc::clone(kernel),
            variants: self.variants.get(index).cloned().flatten(),
            tuned: self.tuned,
        };
        Ok(CompiledKernel::new(self.compiled[index].get(compiled)))
    }

    /// The kernel with this index among the signatures.
    ///
    /// # Errors
    ///
    /// [`Error::NoBinary`] for one that is not compiled for this device.
    #[inline]
    pub(crate) fn kernel(&self, index: usize) -> Result<&Arc<LoadedKernel>> {
        self.kernels[index].as_ref().ok_or_else(|| self.is_missing(index))
    }

    #[cold]
    fn is_missing(&self, index: usize) -> Error {
        self.missing[&index].clone().into()
    }
}

/// Which binaries of a set a device gets. Nothing is loaded for that.
pub(crate) struct Plan {
    /// The choice for every source, and after it those for kernels that are not in the binary that was chosen.
    pub(crate) choices: Vec<Choice>,
    /// Why each kernel that is not there is not, by its index.
    pub(crate) missing: BTreeMap<usize, NoBinary>,
    /// The kernels that are there, by their indices.
    found: BTreeSet<usize>,
}

impl Plan {
    /// Chooses the best binary of every source for a device.
    ///
    /// # Errors
    ///
    /// As for [`Loaded::new`], but for what loading reports.
    pub(crate) fn make(device: &Device, set: &'static KernelSet) -> Result<Self> {
        check_version(|| format!("package `{}`", set.package), set.format_version)?;
        let (choices, missing, found) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        let mut plan = Self { choices, missing, found };
        // What has nothing but variants is no alternative to the kernels themselves.
        let has_kernels = |artifact: &&EmbeddedArtifact| {
            artifact.kernels.is_empty() || indices(artifact).next().is_some()
        };
        for (source, artifacts) in by_source(set.artifacts.iter().filter(has_kernels)) {
            plan.add_source(device, set, source, &artifacts)?;
        }
        for (index, signature) in set.signatures.iter().enumerate() {
            if !plan.found.contains(&index) && !plan.missing.contains_key(&index) {
                let (source, device) = (signature.file.to_string(), device.to_string());
                if set.artifacts.is_empty() {
                    return Err(NoBinary { source, device, rejected: Vec::new() }.into());
                }
                let source = format!("the kernel `{}` of {source}", signature.name);
                let error = NoBinary { source, device, rejected: Vec::new() };
                plan.missing.insert(index, error);
            }
        }
        match plan.nothing(set) {
            Some(error) if plan.choices.is_empty() => Err(error.into()),
            _ => Ok(plan),
        }
    }

    /// Why there is no binary at all, where each kernel has another reason; `None` without kernels.
    fn nothing(&self, set: &KernelSet) -> Option<NoBinary> {
        let mut all = self.missing.values();
        let mut error = all.next()?.clone();
        error.source = format!("the kernels of package `{}`", set.package);
        for reason in all.flat_map(|other| &other.rejected) {
            if !error.rejected.contains(reason) {
                error.rejected.push(reason.clone());
            }
        }
        Some(error)
    }

    /// Chooses among the binaries of one source: the best one, and others for what is not in it.
    fn add_source(
        &mut self,
        device: &Device,
        set: &'static KernelSet,
        source: &'static str,
        artifacts: &[&'static EmbeddedArtifact],
    ) -> Result<()> {
        let all: BTreeSet<usize> = artifacts.iter().flat_map(|it| indices(it)).collect();
        match Choice::make(device, source, artifacts) {
            Ok(choice) => self.add(choice),
            Err(error) if all.iter().any(|index| !is_narrowed(set, *index)) => return Err(error),
            Err(_) => (),
        }
        all.into_iter().try_for_each(|index| self.add_one(device, set, index, artifacts))
    }

    /// Chooses the best binary that has a kernel, unless it is there, or keeps why there is none.
    fn add_one(
        &mut self,
        device: &Device,
        set: &'static KernelSet,
        index: usize,
        artifacts: &[&'static EmbeddedArtifact],
    ) -> Result<()> {
        if self.found.contains(&index) {
            return Ok(());
        }
        let has_it = |artifact: &&&EmbeddedArtifact| indices(artifact).any(|it| it == index);
        let artifacts: Vec<_> = artifacts.iter().filter(has_it).copied().collect();
        match Choice::make(device, "", &artifacts) {
            Ok(choice) => self.add(choice),
            Err(Error::NoBinary(mut error)) => {
                let signature = &set.signatures[index];
                error.source = format!("the kernel `{}` of {}", signature.name, signature.file);
                self.missing.insert(index, *error);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn add(&mut self, choice: Choice) {
        self.found.extend(indices(choice.artifact));
        self.choices.push(choice);
    }
}

/// The kernels in a binary, by their indices among the signatures. Variants are not among them.
fn indices(artifact: &EmbeddedArtifact) -> impl Iterator<Item = usize> {
    let kernels = artifact.kernels.iter().filter(|kernel| kernel.variant.is_none());
    kernels.map(|kernel| kernel.signature)
}

/// Whether a kernel is compiled for fewer targets than the whole set is.
fn is_narrowed(set: &KernelSet, index: usize) -> bool {
    let has_it = |artifact: &&EmbeddedArtifact| indices(artifact).any(|it| it == index);
    let own: BTreeSet<&str> = set.artifacts.iter().filter(has_it).map(|it| it.target).collect();
    set.artifacts.iter().any(|artifact| !own.contains(artifact.target))
}

/// The artifacts of each source, sources in the order of their first artifact.
fn by_source(
    artifacts: impl Iterator<Item = &'static EmbeddedArtifact>,
) -> Vec<(&'static str, Vec<&'static EmbeddedArtifact>)> {
    let mut sources: Vec<(&'static str, Vec<_>)> = Vec::new();
    for artifact in artifacts {
        match sources.iter_mut().find(|(source, _)| *source == artifact.source) {
            Some((_, group)) => group.push(artifact),
            None => sources.push((artifact.source, vec![artifact])),
        }
    }
    sources
}
