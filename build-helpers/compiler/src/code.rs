//! Code stages: the forms that the code of a kernel takes on its way through the compiler, as data.

/// A form that the code of a kernel has between two stages of the pipeline, in the order of [`CodeStage::ALL`], or of one in
/// WGSL, in that of [`CodeStage::OF_WGSL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeStage {
    /// LLVM's IR as the front end leaves it, with the functions of other sources that it names.
    FrontEnd,
    /// LLVM's IR with libraries and entries, as the optimisation pipeline gets it.
    Linked,
    /// LLVM's IR that code is generated from.
    Optimized,
    /// The target's assembly text: PTX for NVIDIA's processors.
    Assembly,
    /// WGSL: what the compiler writes for Vulkan, of which naga makes SPIR-V, or the file of a kernel in WGSL.
    Wgsl,
    /// What naga makes of a kernel in WGSL for Metal, in MSL.
    Msl,
    /// The same for D3D12, in HLSL.
    Hlsl,
}

impl CodeStage {
    /// Those of the pipeline, in the order in which code goes through them. Code for Vulkan has WGSL in place of the last.
    pub const ALL: [Self; 4] = [Self::FrontEnd, Self::Linked, Self::Optimized, Self::Assembly];

    /// Those of kernels in WGSL.
    pub const OF_WGSL: [Self; 3] = [Self::Wgsl, Self::Msl, Self::Hlsl];

    /// The languages that naga translates a kernel in WGSL to.
    pub const TRANSLATIONS: [Self; 2] = [Self::Msl, Self::Hlsl];
}

/// The code of one kernel at one stage. It is cut out of that of its source: what no other kernel uses, and what it
/// uses itself, as it is compiled with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCode {
    /// The kernel's symbol in the signatures of the source.
    pub kernel: String,
    /// Which form it is.
    pub stage: CodeStage,
    /// The code.
    pub text: String,
}
