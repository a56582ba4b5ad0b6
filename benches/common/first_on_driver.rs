//! First results on a CUDA device, which may be the fake driver.

use std::path::Path;

use kernelmill::{Device, Result};

use super::Way;

/// `y += a * x`, a thread for each element.
pub(super) const PTX: &str = "\
.version 6.3
.target sm_75
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 n, .param .u64 y, .param .u64 m)
{
    .reg .pred %p;
    .reg .f32 %f<4>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<8>;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [n];
    ld.param.u64 %rd3, [y];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    cvt.u64.u32 %rd4, %r4;
    setp.ge.u64 %p, %rd4, %rd2;
    @%p ret;
    shl.b64 %rd5, %rd4, 2;
    add.s64 %rd6, %rd1, %rd5;
    add.s64 %rd7, %rd3, %rd5;
    ld.global.f32 %f2, [%rd6];
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f3, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f3;
    ret;
}
\0";

/// The ways that there are here.
pub(super) fn ways() -> Result<Vec<Way>> {
    let Ok(device) = Device::cuda(0) else { return Ok(Vec::new()) };
    println!("{device}");
    let embedded = vec![("ptx", "the driver, embedded PTX")];
    #[cfg(feature = "jit")]
    let embedded = [embedded, compiled::ways(&device)?].concat();
    Ok(embedded)
}

/// What a process on the driver does.
pub(super) fn child(way: &str, folder: &Path) -> Result<()> {
    let device = Device::cuda(0)?;
    if way == "ptx" {
        return super::embedded(&device);
    }
    #[cfg(feature = "jit")]
    return compiled::child(way, &device, folder);
    #[cfg(not(feature = "jit"))]
    unreachable!("{way} and {}", folder.display())
}

/// CUDA C++ that is compiled at run time.
#[cfg(feature = "jit")]
mod compiled {
    use super::{super as first, Device, Path, Result, Way};
    use kernelmill::{Error, Launch, jit};

    const CUDA: &str = "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, unsigned n) {\n    \
                        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                        if (i < n) y[i] += a * x[i];\n}\n";

    fn source() -> jit::Source {
        jit::Source::cuda("saxpy.cu", CUDA)
    }

    pub(super) fn ways(device: &Device) -> Result<Vec<Way>> {
        match jit::Compiler::new().compile(device, &source()) {
            Ok(_) => Ok(vec![
                ("compiled", "the driver, NVRTC, no database"),
                ("empty", "the driver, NVRTC, an empty database"),
                ("database", "the driver, NVRTC, a database with the program"),
            ]),
            Err(Error::NoCompiler { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn child(way: &str, device: &Device, folder: &Path) -> Result<()> {
        let mut compiler = jit::Compiler::new();
        if way != "compiled" {
            compiler = compiler.database(&jit::Database::in_folder(folder)?);
        }
        let program = compiler.compile(device, &source())?;
        let (x, mut y) = first::buffers(device)?;
        let arguments = (
            jit::value(3.0f32),
            jit::read(&x),
            jit::write(&mut y),
            jit::value(first::COUNT as u32),
        );
        let launch = Launch::linear(first::COUNT);
        // SAFETY: these are the parameters of `saxpy`, and both buffers have so many elements.
        unsafe { program.kernel("saxpy")?.launch(&device.stream(), launch, arguments)? };
        first::tell(&y)
    }
}
