//! Binaries without kernels, as the drivers of each back end load them.

use kernelmill::{__codegen::EmbeddedArtifact, ArtifactKind};

/// Binaries of one kind, each with a number of its own.
pub(crate) struct Binaries {
    target: &'static str,
    kind: ArtifactKind,
    source: &'static str,
    bytes: fn(u32) -> Vec<u8>,
    /// How often all of them are loaded; the best time counts.
    pub(crate) loads: usize,
}

/// The CPU loads nothing.
pub(crate) const CPU: Binaries = Binaries {
    target: "cpu",
    kind: ArtifactKind::Object,
    source: "benches/cache.rs",
    bytes: |_| Vec::new(),
    loads: 50,
};

#[cfg(feature = "cuda")]
pub(crate) const CUDA: Binaries =
    Binaries { target: "compute_75", kind: ArtifactKind::Ptx, bytes: |_| PTX.to_vec(), ..CPU };

#[cfg(feature = "hip")]
pub(crate) const HIP: Binaries =
    Binaries { target: "gfx1100", kind: ArtifactKind::CodeObject, bytes: code_object, ..CPU };

/// The library compiles each, or finds in its own cache what it has compiled.
#[cfg(feature = "opencl")]
pub(crate) const OPENCL: Binaries = Binaries {
    target: "opencl-c",
    kind: ArtifactKind::OpenClC,
    bytes: |number| format!("kernel void k() {{ /* {number} */ }}\n").into_bytes(),
    loads: 5,
    ..CPU
};

/// As of a source in WGSL, whose modules the driver is given when they are loaded.
#[cfg(feature = "wgpu")]
pub(crate) const WGPU: Binaries = Binaries {
    target: "vulkan",
    kind: ArtifactKind::Spirv,
    source: "benches/cache.wgsl",
    bytes: shader,
    ..CPU
};

impl Binaries {
    /// The first ones, each with a fingerprint of its own.
    pub(crate) fn artifacts(&self, count: usize) -> Vec<&'static EmbeddedArtifact> {
        let Self { target, kind, source, bytes, .. } = *self;
        let artifact = |number| {
            let fingerprint = Box::leak(format!("{target}-{number:060}").into_boxed_str());
            let artifact = EmbeddedArtifact {
                fingerprint,
                target,
                kind,
                source,
                bytes: bytes(number).leak(),
                kernels: &[],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
            };
            &*Box::leak(Box::new(artifact))
        };
        (0..count as u32).map(artifact).collect()
    }
}

#[cfg(feature = "cuda")]
const PTX: &[u8] =
    b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n\0";

/// An ELF file for AMD's processors whose metadata says that it has no kernels
/// ([LLVM, "Code Object V5 Metadata"](https://llvm.org/docs/AMDGPUUsage.html#code-object-v5-metadata)).
#[cfg(feature = "hip")]
fn code_object(number: u32) -> Vec<u8> {
    const HEADER: u64 = 64;
    // MessagePack: a map of two, a text of 14 bytes, and so on.
    let metadata =
        [&b"\x82\xadamdhsa.target\xbaamdgcn-amd-amdhsa--gfx1100"[..], b"\xaeamdhsa.kernels\x90"]
            .concat();
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let longs = |words: &[u64]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let mut note =
        [words(&[7, metadata.len() as u32, 32]), b"AMDGPU\0\0".to_vec(), metadata].concat();
    note.resize(note.len().next_multiple_of(8), 0);
    let names = b"\0.note\0.names\0\0\0".to_vec();
    let (note_bytes, names_bytes) = (note.len() as u64, names.len() as u64);
    let sections = HEADER + note_bytes + names_bytes;
    // Bytes of the header that say nothing have the number.
    let mut file = [&b"\x7fELF\x02\x01\x01\x40\x03\0\0\0"[..], &number.to_le_bytes()].concat();
    // A shared library for machine 224, whose sections are the last: none, `.note` and the names.
    file.extend(words(&[3 | 224 << 16, 1]));
    file.extend(longs(&[0, 0, sections]));
    file.extend(words(&[0, HEADER as u32, 64 << 16, 3 | 2 << 16]));
    file.extend([note, names].concat());
    file.extend(longs(&[0; 8]));
    file.extend(longs(&[1 | 7 << 32, 2, 0, HEADER, note_bytes, 0, 4, 0]));
    file.extend(longs(&[7 | 3 << 32, 0, 0, HEADER + note_bytes, names_bytes, 0, 1, 0]));
    file
}

/// A module of SPIR-V with one entry point, `k`, which returns.
#[cfg(feature = "wgpu")]
fn shader(number: u32) -> Vec<u8> {
    let instruction = |code: u32, operands: &[u32]| {
        [&[(operands.len() as u32 + 1) << 16 | code], operands].concat()
    };
    let words = [
        // The magic number, the version, what made the module, the numbers that are used, and a zero.
        vec![0x0723_0203, 0x0001_0400, number, 5, 0],
        instruction(17, &[1]),
        instruction(14, &[0, 1]),
        instruction(15, &[5, 1, u32::from(b'k')]),
        instruction(16, &[1, 17, 1, 1, 1]),
        instruction(19, &[2]),
        instruction(33, &[3, 2]),
        instruction(54, &[2, 1, 0, 3]),
        instruction(248, &[4]),
        instruction(253, &[]),
        instruction(56, &[]),
    ];
    words.concat().into_iter().flat_map(u32::to_le_bytes).collect()
}
