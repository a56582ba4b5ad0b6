//! What kernelmill-build writes into `OUT_DIR/kernels.rs`, in the same terms but by hand, for a
//! package with three sources, whose compiled code is in `objects.rs`.

static SET: ::kernelmill::__codegen::KernelSet = {
    use ::kernelmill::__codegen as cg;

    static PARAMETERS_0: [cg::Parameter; 3] = [
        cg::Parameter::borrowed(
            "a",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::F32)),
        ),
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "y",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_1: [cg::Parameter; 2] = [
        cg::Parameter::borrowed(
            "params",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(
                &cg::StructLayout {
                    name: cg::Cow::Borrowed("Params"),
                    size: 16,
                    align: 8,
                    fields: cg::Cow::Borrowed(&[
                        cg::Field {
                            name: cg::Cow::Borrowed("width"),
                            ty: cg::ValueType::Scalar(cg::Scalar::U32),
                            offset: 0,
                        },
                        cg::Field {
                            name: cg::Cow::Borrowed("step"),
                            ty: cg::ValueType::Scalar(cg::Scalar::U64),
                            offset: 8,
                        },
                    ]),
                },
            ))),
        ),
        cg::Parameter::borrowed(
            "out",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Scalar(cg::Scalar::U64),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_2: [cg::Parameter; 3] = [
        cg::Parameter::borrowed(
            "out",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Write,
            },
        ),
        cg::Parameter::borrowed(
            "in",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "n",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::I32)),
        ),
    ];

    cg::KernelSet {
        format_version: 1,
        package: "demo",
        signatures: &[
            cg::signature(
                "saxpy",
                "saxpy",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_0,
                ("kernels/saxpy.rs", 4),
            ),
            cg::signature(
                "fill",
                "fill",
                cg::Dimension::Two,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_1,
                ("kernels/fill.rs", 12),
            ),
            cg::signature(
                "scale",
                "scale",
                cg::Dimension::Three,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_2,
                ("kernels/scale.cu", 1),
            ),
        ],
        functions: &[],
        artifacts: &[
            cg::EmbeddedArtifact {
                fingerprint: "0101010101010101010101010101010101010101010101010101010101010101",
                target: "cpu",
                kind: cg::ArtifactKind::Object,
                source: "kernels/saxpy.rs",
                bytes: &[],
                kernels: &[cg::EmbeddedKernel {
                    signature: 0,
                    entry: "saxpy",
                    static_shared_bytes: 0,
                    panics: true,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe { cg::CpuEntry::new(&raw const kernelmill_cpu_demo_saxpy) }),
                }],
                locations: &[cg::SourceLocation { file: "kernels/saxpy.rs", line: 6, column: 5 }],
                backtraces: &[],
                messages: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0202020202020202020202020202020202020202020202020202020202020202",
                target: "compute_75",
                kind: cg::ArtifactKind::Ptx,
                source: "kernels/saxpy.rs",
                bytes: include_bytes!("saxpy.ptx"),
                kernels: &[cg::EmbeddedKernel::loaded(0, "saxpy", 0, true)],
                locations: &[cg::SourceLocation { file: "kernels/saxpy.rs", line: 6, column: 5 }],
                backtraces: &[],
                messages: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0303030303030303030303030303030303030303030303030303030303030303",
                target: "cpu",
                kind: cg::ArtifactKind::Object,
                source: "kernels/fill.rs",
                bytes: &[],
                kernels: &[cg::EmbeddedKernel {
                    signature: 1,
                    entry: "fill",
                    static_shared_bytes: 0,
                    panics: false,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe { cg::CpuEntry::new(&raw const kernelmill_cpu_demo_fill) }),
                }],
                locations: &[],
                backtraces: &[],
                messages: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0404040404040404040404040404040404040404040404040404040404040404",
                target: "cpu",
                kind: cg::ArtifactKind::Object,
                source: "kernels/scale.cu",
                bytes: &[],
                kernels: &[cg::EmbeddedKernel {
                    signature: 2,
                    entry: "_Z5scalePfPKfi",
                    static_shared_bytes: 0,
                    panics: false,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe { cg::CpuEntry::new(&raw const kernelmill_cpu_demo_scale) }),
                }],
                locations: &[],
                backtraces: &[],
                messages: &[],
            },
        ],
    }
};

unsafe extern "C" {
    static kernelmill_cpu_demo_saxpy: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_demo_fill: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_demo_scale: ::kernelmill::__codegen::CpuKernel;
}

/// `Params`, as `kernels/fill.rs` has it.
#[allow(
    dead_code,
    unreachable_pub,
    reason = "generated: a program need not use every kernel, nor name this module outside"
)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Params {
    /// `width: u32`
    pub width: u32,
    /// `step: u64`
    pub step: u64,
}
::kernelmill::__codegen::device_struct!(Params, size = 16, align = 8, width = 0, step = 8);

/// The kernels of package `demo`, loaded on a device.
#[allow(
    dead_code,
    unreachable_pub,
    reason = "generated: a program need not use every kernel, nor name this module outside"
)]
#[derive(Debug)]
pub struct Kernels {
    loaded: ::kernelmill::__codegen::Loaded,
}

#[allow(
    dead_code,
    unreachable_pub,
    reason = "generated: a program need not use every kernel, nor name this module outside"
)]
impl Kernels {
    /// Loads, for every source, the best embedded binary for `device`.
    ///
    /// # Errors
    ///
    /// Where a source has no binary for this device, or the driver refuses one.
    pub fn load(device: &::kernelmill::Device) -> ::kernelmill::Result<Self> {
        Ok(Self { loaded: ::kernelmill::__codegen::Loaded::new(device, &SET)? })
    }

    /// The signatures of all kernels.
    #[must_use]
    pub fn signatures() -> &'static [::kernelmill::Signature] {
        SET.signatures
    }

    /// Every binary that is embedded, for all devices.
    #[must_use]
    pub fn embedded() -> &'static [::kernelmill::EmbeddedArtifact] {
        SET.artifacts
    }

    /// Which binary was chosen for each source, and why each other one lost.
    #[must_use]
    pub fn chosen(&self) -> &[::kernelmill::Choice] {
        self.loaded.choices()
    }

    /// The device that the kernels are loaded on.
    #[must_use]
    pub fn device(&self) -> &::kernelmill::Device {
        self.loaded.device()
    }

    /// Launches `fn saxpy(a: f32, x: &[f32], y: DisjointSlice<f32>)` of `kernels/saxpy.rs`, line 4.
    ///
    /// # Errors
    ///
    /// Where the launch is beyond the device's limits, an argument is of another device, or the
    /// driver refuses it.
    pub fn saxpy(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<f32>,
        y: impl ::kernelmill::WriteSlice<f32>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 0, in its order; the kernel is safe.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                0,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(a),
                    ::kernelmill::__codegen::read_slice(x),
                    ::kernelmill::__codegen::write_slice(y),
                ),
            )
        }
    }

    /// Launches `fn fill(params: Params, out: DisjointSlice<u64>)` of `kernels/fill.rs`, line 12.
    ///
    /// # Errors
    ///
    /// Where the launch is beyond the device's limits, an argument is of another device, or the
    /// driver refuses it.
    pub fn fill(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        params: Params,
        out: impl ::kernelmill::WriteSlice<u64>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 1, in its order; the kernel is safe.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                1,
                __stream,
                __launch,
                (::kernelmill::__codegen::Value(params), ::kernelmill::__codegen::write_slice(out)),
            )
        }
    }

    /// Launches `unsafe fn scale(out: *mut f32, in: *const f32, n: i32)` of `kernels/scale.cu`,
    /// line 1.
    ///
    /// # Errors
    ///
    /// Where the launch is beyond the device's limits, an argument is of another device, or the
    /// driver refuses it.
    ///
    /// # Safety
    ///
    /// The kernel is not checked: with these arguments, every thread of the launch must stay
    /// within the buffers, and no two may race.
    pub unsafe fn scale(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32>,
        r#in: impl ::kernelmill::ReadSlice<f32>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 2, in its order; the caller answers for
        // what the kernel does.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                2,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::write_pointer(out),
                    ::kernelmill::__codegen::read_pointer(r#in),
                    ::kernelmill::__codegen::Value(n),
                ),
            )
        }
    }
}
