//! AMD: code objects, by LLVM and the linker of the Rust toolchain.

use std::{fs, mem::offset_of, process::Command};

use kernelmill_artifact::{AmdTarget, ArtifactKind, LaunchLimits, PanicRecord, Target};
use kernelmill_llvm::{
    inkwell::context::Context,
    ir::{ModuleExt, Value, Visibility, calling_convention},
    machine::Machine,
};

use super::backend::{Backend, Edit, Emitted};
use crate::{
    Error,
    passes::{
        check::ValidModule,
        entry::{self, Entry, GpuAbi, Unit},
    },
    resources,
    target_info::{AddressSpaces, TargetInfo, VendorMath},
    toolchain::{KeptRun, TemporaryFolder, Toolchain, read},
};

/// An AMD processor.
pub(crate) struct Amd {
    machine: Machine,
    target: AmdTarget,
}

/// The largest block that a kernel can be launched with.
const MAX_THREADS: u32 = 1024;

impl Amd {
    pub(crate) fn new(target: &AmdTarget) -> Result<Self, Error> {
        // Up to LLVM 23 at least, registers of 16 bits crash code generation where an array of bytes is kept in
        // registers ("Post-RA pseudo instruction expansion"). Without this LLVM uses 32 bits for such a value, as
        // it did before version 21.
        let has_short_registers = ["gfx11", "gfx12"].map(|it| target.processor.starts_with(it));
        let short_registers = has_short_registers.contains(&true).then_some(false);
        let features = [
            ("xnack", target.xnack),
            ("sramecc", target.sramecc),
            ("real-true16", short_registers),
        ];
        let sign = |on| if on { '+' } else { '-' };
        let stated =
            features.iter().filter_map(|(name, on)| on.map(|on| format!("{}{name}", sign(on))));
        let features = stated.collect::<Vec<_>>().join(",");
        let machine = Machine::new("amdgcn-amd-amdhsa", &target.processor, &features, true)?;
        Ok(Self { machine, target: target.clone() })
    }

    /// Links an object into a code object.
    fn link(&self, toolchain: &Toolchain, object: &[u8], name: &str) -> Result<Vec<u8>, Error> {
        let linker = toolchain.linker();
        if !linker.exists() {
            return Err(Error::NoLinker { target: Target::Amd(self.target.clone()), path: linker });
        }
        let folder = TemporaryFolder::new(&toolchain.scratch, "lld")?;
        let (input, output) = (folder.path.join("kernel.o"), folder.path.join("kernel.hsaco"));
        fs::write(&input, object).map_err(|source| Error::Io {
            action: "write",
            path: input.clone(),
            source,
        })?;
        let mut command = Command::new(&linker);
        command
            .args(["-flavor", "gnu", "-shared", "--no-undefined"])
            .arg(&input)
            .arg("-o")
            .arg(&output);
        let subject = format!("{name} for {}", self.target);
        let (limits, scratch) = (toolchain.limits, &*toolchain.scratch);
        let kept = KeptRun { limits, scratch, name: &subject, folder: &folder, root: None };
        let result = kept.output(&mut command)?;
        if !result.status.success() {
            let kept = kept.keep(&command);
            let stderr = String::from_utf8_lossy(&result.stderr).into_owned();
            return Err(Error::Tool { tool: "rust-lld", subject, stderr, kept });
        }
        read(&output)
    }
}

impl Amd {
    /// Says what is said of a kernel's launches in the way of LLVM's back end.
    fn limit<'c>(&self, context: &'c Context, kernel: Value<'c>, limits: &LaunchLimits) {
        let most = limits.most_threads().unwrap_or(MAX_THREADS).clamp(1, MAX_THREADS);
        let least = if limits.block == [0; 3] { 1 } else { most };
        let sizes = format!("{least},{most}");
        kernel.add_text_attribute(context, "amdgpu-flat-work-group-size", &sizes);
        if limits.min_blocks > 0 {
            let waves = self.waves(limits.min_blocks * most).to_string();
            kernel.add_text_attribute(context, "amdgpu-waves-per-eu", &waves);
        }
        if limits.max_registers > 0 {
            // Where accumulators are registers of the same file, LLVM allows as many of them again.
            let unified = ["gfx90a", "gfx94", "gfx95"];
            let shares = unified.iter().any(|name| self.target.processor.starts_with(name));
            let registers = if shares { limits.max_registers / 2 } else { limits.max_registers };
            let registers = registers.max(1).to_string();
            kernel.add_text_attribute(context, "amdgpu-num-vgpr", &registers);
        }
    }

    /// How matrices are multiplied.
    fn tensor(&self) -> &'static str {
        let is = |names: &[&str]| names.iter().any(|name| self.target.processor.starts_with(name));
        if is(&["gfx90a", "gfx94", "gfx95"]) {
            include_str!("tensor_mfma.ll")
        } else if is(&["gfx11"]) {
            include_str!("tensor_wmma.ll")
        } else {
            include_str!("tensor_none.ll")
        }
    }

    /// The waves of one of a compute unit's processors where the unit holds so many threads: those
    /// before the tenth generation have four, with waves of 64 threads, and later ones two, with
    /// waves of 32.
    fn waves(&self, threads: u32) -> u32 {
        const MOST: u32 = 8;
        let (lanes, processors) =
            if self.target.processor.starts_with("gfx9") { (64, 4) } else { (32, 2) };
        threads.div_ceil(lanes * processors).clamp(1, MOST)
    }
}

/// The number by which AMD's libraries know a processor: two digits for the generation, one for the
/// version, and two for the stepping, which the name has as one digit in hexadecimal.
fn number_of(processor: &str) -> Option<u32> {
    let digits = processor.strip_prefix("gfx")?;
    let (rest, stepping) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    let (generation, version) = rest.split_at_checked(rest.len().checked_sub(1)?)?;
    let number = |text: &str, radix| u32::from_str_radix(text, radix).ok();
    Some(number(generation, 10)? * 1000 + number(version, 10)? * 100 + number(stepping, 16)?)
}

impl TargetInfo for Amd {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn is_gpu(&self) -> bool {
        true
    }

    fn vendor_math(&self) -> Option<VendorMath> {
        let name = &self.target.processor;
        Some(VendorMath::Ocml {
            processor: number_of(name)?,
            has_waves_of_64: name.starts_with("gfx9"),
        })
    }

    fn ends_group(&self) -> Option<&'static str> {
        Some("llvm.amdgcn.endpgm")
    }

    fn operations(&self) -> String {
        let printed = offset_of!(PanicRecord, printed).to_string();
        [
            include_str!("numeric.ll"),
            include_str!("half.ll"),
            include_str!("rsqrt.ll"),
            include_str!("memory.ll"),
            &include_str!("amd.ll").replace("PRINTED", &printed),
            include_str!("wavefront.ll"),
            include_str!("copy_plain.ll"),
            include_str!("tma_none.ll"),
            include_str!("wgmma_none.ll"),
            self.tensor(),
        ]
        .concat()
    }

    fn device_scope(&self) -> &'static str {
        "agent"
    }

    fn address_spaces(&self) -> Option<AddressSpaces> {
        Some(AddressSpaces {
            global: 1,
            shared: 3,
            constant: 4,
            constant_variables: 4,
            private: 5,
            shared_align: 1,
        })
    }

    /// That of global memory: accesses of any memory are slower, and use more registers.
    fn panic_record_space(&self) -> u32 {
        1
    }

    fn sends_lines(&self) -> bool {
        true
    }

    fn marks_printing(&self) -> bool {
        true
    }

    fn shared_limit(&self) -> Option<u64> {
        // The processors of the series gfx950 have 160 KiB of local memory, all others 64.
        let kibibytes = if self.target.processor.starts_with("gfx95") { 160 } else { 64 };
        Some(kibibytes * 1024)
    }

    fn processors(&self) -> &'static [&'static str] {
        &["amdgcn"]
    }
}

impl Backend for Amd {
    fn enter<'c>(&self, unit: &Unit<'_, 'c>) -> Result<Vec<Entry>, Error> {
        let decorate = |context: &'c Context, kernel: Value<'c>, limits: &LaunchLimits| {
            kernel.set_visibility(Visibility::Protected);
            self.limit(context, kernel, limits);
            kernel.add_text_attribute(context, "uniform-work-group-size", "true");
        };
        let abi = GpuAbi {
            convention: calling_convention::AMDGPU_KERNEL,
            by_value: "byref",
            in_struct: false,
            constant: None,
            parameter_space: 4,
            pointer_space: 0,
            shared_argument: None,
            memory_argument: None,
            machine: &self.machine,
            decorate: &decorate,
        };
        let entries = entry::gpu(unit, &abi)?;
        for function in unit.module.definitions() {
            function.add_text_attribute(unit.context, "target-cpu", &self.target.processor);
        }
        Ok(entries)
    }

    fn emit(
        &self,
        toolchain: &Toolchain,
        module: &ValidModule<'_, '_>,
        _edit: Edit<'_>,
    ) -> Result<Emitted, Error> {
        let object = self.machine.object(module.module())?;
        let bytes = self.link(toolchain, &object, module.name())?;
        let resources = resources::of_code_object(&bytes);
        Ok(Emitted { resources, ..Emitted::new(ArtifactKind::CodeObject, bytes) })
    }
}
