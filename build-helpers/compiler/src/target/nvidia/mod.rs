//! NVIDIA: PTX by LLVM, cubins by ptxas, and bitcode that the program compiles when it runs.

mod array_loops;
mod assembler;
mod block_size;
mod conversions;
mod copies;
mod embedded_text;
mod float_atomics;
mod inline_assembly;
mod probe;
mod splice;
mod version;
mod workarounds;

pub(super) use workarounds::surround;

use kernelmill_artifact::{ArtifactKind, LaunchLimits, NvidiaArch, NvidiaSuffix};
use kernelmill_llvm::{
    Version,
    inkwell::{context::Context, module::Module},
    ir::{Value, calling_convention},
    machine::Machine,
};

use assembler::Assembly;
pub(crate) use inline_assembly::version_needed as ptx_version_needed;
pub(crate) use splice::{replace as replace_entry, with_name};
use version::{Assembler, Need};

use super::{
    backend::{Backend, Edit, Emitted},
    bitcode,
};
use crate::{
    Error,
    job::DeviceLink,
    passes::{
        check::ValidModule,
        entry::{self, Entry, GpuAbi, Unit},
        parameters::RECORD_BYTES,
    },
    resources,
    target_info::{AddressSpaces, Found, LibraryQuery, Printf, TargetInfo, VendorMath},
    toolchain::{Linked, TemporaryFolder, Toolchain, read},
};

/// An NVIDIA architecture.
pub(crate) struct Nvidia {
    machine: Machine,
    /// Of PTX: 81 for 8.1.
    version: u32,
    arch: NvidiaArch,
    assemble: bool,
    /// Whether the module itself is what is embedded.
    is_bitcode: bool,
    /// Whether variables and types of the source are in the code.
    is_debugged: bool,
    /// What is linked with a cubin where something is undefined.
    link: Option<DeviceLink>,
    /// Whether kernels may have tiles of tensors copied.
    maps: bool,
    /// Whether functions for code of another language are compiled, and no kernels.
    has_functions: bool,
}

/// The bytes that a kernel's own parameters can take, by the architecture and the version of PTX: all but
/// those of the address of its panic record.
fn parameter_limit(arch: NvidiaArch, version: u32) -> u64 {
    let all = if arch.number() >= 70 && version >= LARGE_PARAMETERS { 32764_u64 } else { 4096 };
    let left = all - RECORD_BYTES;
    left - left % RECORD_BYTES
}

/// The version of PTX since which a kernel can have more than 4096 bytes of parameters.
const LARGE_PARAMETERS: u32 = 81;

/// The version of PTX since which debug information can refer to places in itself.
const LABELS_IN_SECTIONS: u32 = 70;

/// The version of PTX since which warps of sm_75 multiply matrices as kernels in Rust ask for it.
const MATRICES_VERSION: u32 = 65;

/// What a function's name starts with that every source has which multiplies matrices.
pub(crate) const MATRICES: &str = "__kernelmill_tensor_";

/// The version of PTX since which a processor of the ninth generation copies by a unit of its own.
const BULK_VERSION: u32 = 80;

/// What a function's name starts with that every source has which asks for that.
pub(crate) const BULK: &str = "__kernelmill_tma_";

/// What a function's name starts with that every source has which asks for tiles of tensors.
pub(crate) const MAPS: &str = "__kernelmill_tma_tile_";

/// The strictest alignment of a tile in shared memory, in bytes.
const TILE_ALIGN: u64 = 1024;

/// Finds out how addresses are aligned. That of a variable in shared memory is known in its own address space only, and
/// with it LLVM's load and store vectoriser makes one access of four.
const INFER_ALIGNMENT: &str = "function(infer-address-spaces,infer-alignment)";

/// What goes by induction variables, and cleans up after it.
const LOOPS: &str = "function(instcombine<no-verify-fixpoint>,simplifycfg,loop-simplify,lcssa,loop(indvars),\
                     loop-unroll,sroa<modify-cfg>,instcombine<no-verify-fixpoint>,simplifycfg,gvn,\
                     instcombine<no-verify-fixpoint>,simplifycfg)";

/// What kernels need of a version of PTX.
pub(crate) struct Needs {
    /// The most bytes that a kernel has of parameters.
    pub(crate) parameter_bytes: u64,
    /// How much debug information.
    pub(crate) debug_level: u8,
    /// Whether warps may multiply matrices.
    pub(crate) matrices: bool,
    /// Whether they may have memory copied.
    pub(crate) bulk: bool,
    /// Whether they may have tiles of tensors copied.
    pub(crate) maps: bool,
    /// Whether they are functions for code of another language.
    pub(crate) has_functions: bool,
}

impl Needs {
    /// The versions of PTX that these need, for an architecture that itself needs `oldest`.
    fn of_versions(&self, arch: NvidiaArch, oldest: u32) -> impl Iterator<Item = Need> + use<> {
        let is_large = self.parameter_bytes > parameter_limit(arch, oldest);
        let all = [
            (is_large, LARGE_PARAMETERS, "more than 4096 bytes of parameters"),
            (self.debug_level >= 2, LABELS_IN_SECTIONS, "variables in debug information"),
            (self.matrices, MATRICES_VERSION, "products of matrices by warps"),
            (
                self.bulk && arch.number() >= 90,
                BULK_VERSION,
                "copies by the tensor memory accelerator",
            ),
        ];
        let needed = all.into_iter().filter(|(is_needed, ..)| *is_needed);
        needed.map(|(_, version, feature)| Need { feature: feature.to_owned(), version })
    }
}

impl Nvidia {
    /// The back end for an architecture. Of PTX it has the oldest version that fits, see [`version`].
    ///
    /// # Errors
    ///
    /// [`Error::PtxVersion`] where LLVM and ptxas have none in common that does.
    pub(crate) fn new(
        arch: NvidiaArch,
        assemble: bool,
        needs: &Needs,
        toolchain: &Toolchain,
        link: Option<&DeviceLink>,
    ) -> Result<Self, Error> {
        let link = link.filter(|_| assemble).cloned();
        let of_architecture = version::of_architecture(arch)
            .ok_or_else(|| Error::Internal(format!("no PTX version known for sm_{arch}")))?;
        let needed = needs.of_versions(arch, of_architecture.version);
        let needed: Vec<_> = needed.chain([of_architecture]).collect();
        let assembler = (assemble && toolchain.ptxas.is_some()).then(|| Assembler::of(toolchain));
        let (machine, version) = version::choose(arch, &needed, assembler.as_ref())?;
        let is_debugged = needs.debug_level >= 2;
        let maps = needs.maps && arch.number() >= 90;
        let has_functions = needs.has_functions;
        let is_bitcode = false;
        Ok(Self {
            machine,
            version,
            arch,
            assemble,
            is_bitcode,
            is_debugged,
            link,
            maps,
            has_functions,
        })
    }

    /// The same, for modules that the program compiles when it runs.
    pub(crate) fn into_bitcode(self) -> Self {
        Self { is_bitcode: true, ..self }
    }

    /// A run of ptxas on a source, in a folder.
    fn assembly<'a>(
        &self,
        toolchain: &'a Toolchain,
        (folder, name): (&'a TemporaryFolder, &'a str),
        is_relocatable: bool,
    ) -> Assembly<'a> {
        let Self { arch, is_debugged, .. } = *self;
        Assembly { toolchain, folder, name, arch, is_debugged, is_relocatable }
    }

    /// Says what is said of a kernel's launches in the way of LLVM's back end. Processors before
    /// the ninth generation have no clusters; there the blocks of one are on their own.
    fn limit<'c>(&self, context: &'c Context, kernel: Value<'c>, limits: &LaunchLimits) {
        let sizes = |sizes: [u32; 3]| {
            let texts = sizes.map(|size| size.to_string());
            (sizes != [0; 3]).then(|| texts.join(","))
        };
        let number = |number: u32| (number > 0).then(|| number.to_string());
        let cluster = sizes(limits.cluster).filter(|_| self.arch.major >= 9);
        for (key, value) in [
            ("nvvm.maxntid", number(limits.max_block_threads)),
            ("nvvm.reqntid", sizes(limits.block)),
            ("nvvm.minctasm", number(limits.min_blocks)),
            ("nvvm.maxnreg", limits.registers().map(|number| number.to_string())),
            ("nvvm.cluster_dim", cluster),
        ] {
            if let Some(value) = value {
                kernel.add_text_attribute(context, key, &value);
            }
        }
    }

    /// How matrices are multiplied, and shared memory is filled.
    fn tensor(&self) -> String {
        let number = self.arch.number();
        let multiply = match number {
            ..75 => include_str!("../tensor_none.ll"),
            75..80 => {
                concat!(include_str!("../tensor_sm75.ll"), include_str!("../tensor_nvidia_load.ll"))
            }
            _ => {
                concat!(include_str!("../tensor_sm80.ll"), include_str!("../tensor_nvidia_load.ll"))
            }
        };
        let copy = match number {
            ..80 => concat!(include_str!("../copy_plain.ll"), include_str!("../tma_none.ll")),
            80..90 => concat!(include_str!("../copy_nvidia.ll"), include_str!("../tma_none.ll")),
            _ => concat!(include_str!("../copy_nvidia.ll"), include_str!("../tma_sm90.ll")),
        };
        let group = match (number, self.arch.suffix) {
            (90, NvidiaSuffix::Exact) => include_str!("../wgmma_sm90a.ll"),
            _ => include_str!("../wgmma_none.ll"),
        };
        [multiply, copy, group].concat()
    }
}

impl TargetInfo for Nvidia {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn is_gpu(&self) -> bool {
        true
    }

    fn vendor_math(&self) -> Option<VendorMath> {
        Some(VendorMath::Libdevice)
    }

    fn exports_functions(&self) -> bool {
        true
    }

    fn has_heap(&self) -> bool {
        true
    }

    fn print(&self) -> Option<Printf> {
        Some(Printf::Packed("vprintf"))
    }

    fn provides(&self, function: &str) -> bool {
        ["vprintf", "malloc", "free"].contains(&function)
    }

    fn linked(&self, query: &LibraryQuery<'_, '_>) -> Result<Found, Error> {
        self.found_in_libraries(query)
    }

    fn operations(&self) -> String {
        [
            include_str!("../numeric.ll"),
            include_str!("../half.ll"),
            include_str!("../memory.ll"),
            include_str!("../nvidia.ll"),
            include_str!("../wavefront.ll"),
            &self.tensor(),
        ]
        .concat()
    }

    fn device_scope(&self) -> &'static str {
        "device"
    }

    fn address_spaces(&self) -> Option<AddressSpaces> {
        // Constants stay in global memory: constant memory serves one address at a time.
        let shared_align = if self.maps { TILE_ALIGN } else { 1 };
        // Threads of a warp look up different places of a table, which constant memory is slow at.
        let (constant, constant_variables) = (1, 4);
        Some(AddressSpaces {
            global: 1,
            shared: 3,
            constant,
            constant_variables,
            private: 0,
            shared_align,
        })
    }

    fn shared_limit(&self) -> Option<u64> {
        Some(NvidiaArch::STATIC_SHARED_BYTES)
    }

    fn parameter_limit(&self) -> Option<u64> {
        Some(parameter_limit(self.arch, self.version))
    }

    fn takes_assembly(&self) -> bool {
        true
    }

    fn processors(&self) -> &'static [&'static str] {
        &["nvvm"]
    }
}

impl Backend for Nvidia {
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error> {
        let abi = GpuAbi {
            convention: calling_convention::PTX_KERNEL,
            by_value: "byval",
            in_struct: false,
            constant: Some("nvvm.grid_constant"),
            parameter_space: 0,
            pointer_space: 0,
            shared_argument: None,
            memory_argument: None,
            machine: &self.machine,
            decorate: &|context, kernel, limits| self.limit(context, kernel, limits),
        };
        entry::gpu(unit, &abi)
    }

    fn keep_constants(&self, module: &Module<'_>) {
        if self.is_bitcode {
            bitcode::keep_constants(module);
        }
    }

    fn fold_limits(&self, module: &Module<'_>) {
        block_size::fold(module);
    }

    fn loop_passes(&self) -> Option<&'static str> {
        Some(LOOPS)
    }

    fn unroll_array_loops<'c>(
        &self,
        context: &'c Context,
        module: &Module<'c>,
    ) -> Result<(), Error> {
        if array_loops::mark(context, module) {
            self.machine.run_with(module, array_loops::PASSES, false)?;
        }
        Ok(())
    }

    fn alignment_passes(&self) -> Option<&'static str> {
        Some(INFER_ALIGNMENT)
    }

    fn work_around_llvm<'c>(&self, context: &'c Context, module: &Module<'c>) {
        workarounds::keep_exact_loads(module);
        float_atomics::make_native(context, module, Version::opened());
        workarounds::order_atomics(context, module, Version::opened());
        conversions::make_single(context, module);
        conversions::permute_bytes(context, module);
        copies::widen(context, module);
    }

    fn emit(
        &self,
        toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
        edit: Edit<'_>,
    ) -> Result<Emitted, Error> {
        let ptx = edit(self.machine.assembly(module.module())?)?;
        let newest = Assembler::of(toolchain).newest().filter(|_| self.assemble);
        let ptx = inline_assembly::with_version(ptx, newest);
        if self.is_bitcode {
            let bytes = bitcode::embed(module.module(), Some(&ptx));
            return Ok(Emitted::new(ArtifactKind::Bitcode, bytes));
        }
        if !self.assemble {
            return Ok(Emitted::new(ArtifactKind::Ptx, ptx));
        }
        let folder = TemporaryFolder::new(&toolchain.scratch, "ptxas")?;
        let (folder, name) = (&folder, module.name());
        let is_linked = self.link.is_some() && self.needs_link(module.module());
        let run = self.assembly(toolchain, (folder, name), is_linked || self.has_functions);
        let assembled = run.run(&ptx)?;
        let cubin = &assembled.cubin;
        let bytes = match &self.link {
            Some(link) if is_linked && !self.has_functions => {
                match link.link(&run.relocatable(cubin), folder)? {
                    Linked::Cubin(bytes) => bytes,
                    Linked::Undefined(names) => {
                        let text = format!("{names:?} were found when the module was checked");
                        return Err(Error::Internal(text));
                    }
                    Linked::OtherTypes(name) => return Err(link.clash(&name, self.arch)),
                }
            }
            _ => read(cubin)?,
        };
        let bytes = if self.is_debugged { bytes } else { embedded_text::without_text(bytes) };
        let resources = resources::of_cubin(&bytes, &resources::spills(&assembled.said));
        let warnings = assembled.warnings;
        Ok(Emitted { kind: ArtifactKind::Cubin, bytes, warnings, resources })
    }
}

#[cfg(test)]
mod tests {
    use kernelmill_artifact::Target;

    use super::*;

    /// Acceptance: S0.12.
    #[test]
    fn the_space_for_parameters_depends_on_the_architecture_and_the_version_of_ptx() {
        let arch = |major| NvidiaArch { major, minor: 0, suffix: NvidiaSuffix::None };
        assert_eq!(parameter_limit(arch(6), 90), 4088);
        assert_eq!(parameter_limit(arch(7), 80), 4088);
        assert_eq!(parameter_limit(arch(7), 81), 32752);
        assert_eq!(parameter_limit(arch(9), 88), 32752);
    }

    #[test]
    fn every_known_architecture_has_a_ptx_version() {
        for target in Target::all() {
            if let Target::Ptx(arch) = target {
                let known = version::of_architecture(arch).is_some();
                assert!(known, "sm_{arch}");
            }
        }
    }
}
