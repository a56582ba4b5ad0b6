//! Registration: tells the fake HIP run time which kernel of the CPU each kernel of a code object is, and which variable of
//! the CPU each of its variables.

use std::ffi::{CString, c_char, c_void};

use kernelmill::{
    __codegen::CpuKernel,
    ArtifactKind, EmbeddedArtifact, EmbeddedKernel, Signature,
    artifact::{ParameterKind, TensorMapData},
};
use libloading::{Library, Symbol};

/// As `test-driver/fake-hip` has it.
#[repr(C)]
struct Registration {
    image: *const u8,
    image_bytes: usize,
    entry: *const c_char,
    sizes: *const u64,
    size_count: usize,
    kernel: *const CpuKernel,
    locations: *const u32,
    location_count: usize,
    messages: *const u32,
    message_count: usize,
}

/// As `test-driver/fake-hip` has it: an image and its bytes, the name of a variable, its address and its bytes.
type AddVariable = unsafe extern "C" fn(*const u8, usize, *const c_char, *mut c_void, usize);

/// Registers all kernels and variables of all code objects among these binaries.
///
/// # Panics
///
/// Where the fake HIP run time is not in the library path, and for a kernel that is not compiled for the CPU.
pub fn register(artifacts: &[EmbeddedArtifact], signatures: &[Signature]) {
    // SAFETY: the library's initialisers have no preconditions.
    let library = unsafe { Library::new("libamdhip64.so") }.expect("the fake HIP run time");
    // SAFETY: the function has this type.
    let add: Symbol<'_, unsafe extern "C" fn(*const Registration)> =
        unsafe { library.get("fake_hip_register") }.expect("a fake HIP run time");
    // SAFETY: the function has this type.
    let add_variable: Symbol<'_, AddVariable> =
        unsafe { library.get("fake_hip_register_variable") }.expect("a fake HIP run time");
    let cpu = artifacts.iter().filter(|artifact| artifact.kind == ArtifactKind::Object);
    let cpu: Vec<&EmbeddedArtifact> = cpu.collect();
    for artifact in artifacts.iter().filter(|it| it.kind == ArtifactKind::CodeObject) {
        let of_source = cpu.iter().filter(|it| it.source == artifact.source);
        for variable in of_source.flat_map(|it| it.variables) {
            let name = CString::new(variable.symbol).expect("a symbol");
            let (image, bytes) = (artifact.bytes.as_ptr(), artifact.bytes.len());
            let address = variable.address().cast();
            // SAFETY: all of it is there, and the variable is a static.
            unsafe { add_variable(image, bytes, name.as_ptr(), address, variable.bytes()) };
        }
        for kernel in artifact.kernels {
            let of_source = cpu.iter().find(|it| {
                it.source == artifact.source
                    && it.kernels.iter().any(|it| it.signature == kernel.signature)
            });
            let of_source = of_source.expect("each kernel is compiled for the CPU");
            let locations = numbers(&places(of_source), &places(artifact));
            let messages = numbers(of_source.messages, artifact.messages);
            let same = |it: &&EmbeddedKernel| it.signature == kernel.signature;
            let code = of_source.kernels.iter().find(same).and_then(|it| it.cpu).expect("found");
            let entry = CString::new(kernel.entry).expect("a symbol");
            let sizes = sizes(&signatures[kernel.signature]);
            let registration = Registration {
                image: artifact.bytes.as_ptr(),
                image_bytes: artifact.bytes.len(),
                entry: entry.as_ptr(),
                sizes: sizes.as_ptr(),
                size_count: sizes.len(),
                kernel: code.kernel().expect("it is linked into the program"),
                locations: locations.as_ptr(),
                location_count: locations.len(),
                messages: messages.as_ptr(),
                message_count: messages.len(),
            };
            // SAFETY: all of it is there, and the kernel is a static.
            unsafe { add(&raw const registration) };
        }
    }
    // It stays open: the back end opens the same one.
    std::mem::forget(library);
}

/// The places of an artifact's panics, with the calls on the way there.
fn places(artifact: &EmbeddedArtifact) -> Vec<String> {
    let place = |(index, place)| format!("{place} {:?}", artifact.backtraces.get(index));
    artifact.locations.iter().enumerate().map(place).collect()
}

/// The index in `others` of each of `own`; `u32::MAX` where it is not there.
fn numbers<T: PartialEq>(own: &[T], others: &[T]) -> Vec<u32> {
    let index = |it| others.iter().position(|other| other == it).map_or(u32::MAX, |at| at as u32);
    own.iter().map(index).collect()
}

/// Bytes of each device-level argument of a kernel.
fn sizes(signature: &Signature) -> Vec<u64> {
    let of = |kind: &ParameterKind| match kind {
        ParameterKind::Value(ty) => vec![ty.size()],
        ParameterKind::Slice { .. } => vec![8, 8],
        ParameterKind::Pointer { .. } => vec![8],
        ParameterKind::TensorMap { .. } => vec![TensorMapData::BYTES],
        // The number of elements.
        ParameterKind::Shared { .. } => vec![8],
    };
    signature.parameters().iter().flat_map(|parameter| of(&parameter.kind)).collect()
}
