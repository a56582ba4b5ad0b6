//! What kernelmill-build writes into `OUT_DIR/kernels.rs`, in the same terms but by hand, for a
//! package with three sources, whose compiled code is in `objects.rs`.

static SET: ::kernelmill::__codegen::KernelSet = ::kernelmill::__codegen::KernelSet {
    format_version: 1,
    package: "demo",
    signatures: &[
        ::kernelmill::__codegen::Signature {
            name: ::kernelmill::__codegen::Cow::Borrowed("saxpy"),
            symbol: ::kernelmill::__codegen::Cow::Borrowed("saxpy"),
            dimension: ::kernelmill::__codegen::Dimension::One,
            safety: ::kernelmill::__codegen::Safety::Safe,
            limits: ::kernelmill::__codegen::LaunchLimits::NONE,
            parameters: ::kernelmill::__codegen::Cow::Borrowed(&[
                ::kernelmill::__codegen::Parameter::borrowed(
                    "a",
                    ::kernelmill::__codegen::ParameterKind::Value(
                        ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::F32,
                        ),
                    ),
                ),
                ::kernelmill::__codegen::Parameter::borrowed(
                    "x",
                    ::kernelmill::__codegen::ParameterKind::Slice {
                        element: ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::F32,
                        ),
                        access: ::kernelmill::__codegen::Access::Read,
                    },
                ),
                ::kernelmill::__codegen::Parameter::borrowed(
                    "y",
                    ::kernelmill::__codegen::ParameterKind::Slice {
                        element: ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::F32,
                        ),
                        access: ::kernelmill::__codegen::Access::Write,
                    },
                ),
            ]),
            file: ::kernelmill::__codegen::Cow::Borrowed("kernels/saxpy.rs"),
            line: 4,
        },
        ::kernelmill::__codegen::Signature {
            name: ::kernelmill::__codegen::Cow::Borrowed("fill"),
            symbol: ::kernelmill::__codegen::Cow::Borrowed("fill"),
            dimension: ::kernelmill::__codegen::Dimension::Two,
            safety: ::kernelmill::__codegen::Safety::Safe,
            limits: ::kernelmill::__codegen::LaunchLimits::NONE,
            parameters: ::kernelmill::__codegen::Cow::Borrowed(&[
                ::kernelmill::__codegen::Parameter::borrowed(
                    "params",
                    ::kernelmill::__codegen::ParameterKind::Value(
                        ::kernelmill::__codegen::ValueType::Struct(
                            ::kernelmill::__codegen::Nested::Borrowed(
                                &::kernelmill::__codegen::StructLayout {
                                    name: ::kernelmill::__codegen::Cow::Borrowed("Params"),
                                    size: 16,
                                    align: 8,
                                    fields: ::kernelmill::__codegen::Cow::Borrowed(&[
                                        ::kernelmill::__codegen::Field {
                                            name: ::kernelmill::__codegen::Cow::Borrowed("width"),
                                            ty: ::kernelmill::__codegen::ValueType::Scalar(
                                                ::kernelmill::__codegen::Scalar::U32,
                                            ),
                                            offset: 0,
                                        },
                                        ::kernelmill::__codegen::Field {
                                            name: ::kernelmill::__codegen::Cow::Borrowed("step"),
                                            ty: ::kernelmill::__codegen::ValueType::Scalar(
                                                ::kernelmill::__codegen::Scalar::U64,
                                            ),
                                            offset: 8,
                                        },
                                    ]),
                                },
                            ),
                        ),
                    ),
                ),
                ::kernelmill::__codegen::Parameter::borrowed(
                    "out",
                    ::kernelmill::__codegen::ParameterKind::Slice {
                        element: ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::U64,
                        ),
                        access: ::kernelmill::__codegen::Access::Write,
                    },
                ),
            ]),
            file: ::kernelmill::__codegen::Cow::Borrowed("kernels/fill.rs"),
            line: 12,
        },
        ::kernelmill::__codegen::Signature {
            name: ::kernelmill::__codegen::Cow::Borrowed("scale"),
            symbol: ::kernelmill::__codegen::Cow::Borrowed("scale"),
            dimension: ::kernelmill::__codegen::Dimension::Three,
            safety: ::kernelmill::__codegen::Safety::Unsafe,
            limits: ::kernelmill::__codegen::LaunchLimits::NONE,
            parameters: ::kernelmill::__codegen::Cow::Borrowed(&[
                ::kernelmill::__codegen::Parameter::borrowed(
                    "out",
                    ::kernelmill::__codegen::ParameterKind::Pointer {
                        element: ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::F32,
                        ),
                        access: ::kernelmill::__codegen::Access::Write,
                    },
                ),
                ::kernelmill::__codegen::Parameter::borrowed(
                    "in",
                    ::kernelmill::__codegen::ParameterKind::Pointer {
                        element: ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::F32,
                        ),
                        access: ::kernelmill::__codegen::Access::Read,
                    },
                ),
                ::kernelmill::__codegen::Parameter::borrowed(
                    "n",
                    ::kernelmill::__codegen::ParameterKind::Value(
                        ::kernelmill::__codegen::ValueType::Scalar(
                            ::kernelmill::__codegen::Scalar::I32,
                        ),
                    ),
                ),
            ]),
            file: ::kernelmill::__codegen::Cow::Borrowed("kernels/scale.cu"),
            line: 1,
        },
    ],
    functions: &[],
    artifacts: &[
        ::kernelmill::__codegen::EmbeddedArtifact {
            fingerprint: "0101010101010101010101010101010101010101010101010101010101010101",
            target: "cpu",
            kind: ::kernelmill::__codegen::ArtifactKind::Object,
            source: "kernels/saxpy.rs",
            bytes: &[],
            kernels: &[::kernelmill::__codegen::EmbeddedKernel {
                signature: 0,
                entry: "saxpy",
                static_shared_bytes: 0,
                panics: true,
                // SAFETY: the object that is linked in exports it, and nothing writes it.
                cpu: Some(unsafe {
                    ::kernelmill::__codegen::CpuEntry::new(&raw const kernelmill_cpu_demo_saxpy)
                }),
            }],
            locations: &[::kernelmill::__codegen::SourceLocation {
                file: "kernels/saxpy.rs",
                line: 6,
                column: 5,
            }],
            backtraces: &[],
            messages: &[],
        },
        ::kernelmill::__codegen::EmbeddedArtifact {
            fingerprint: "0202020202020202020202020202020202020202020202020202020202020202",
            target: "compute_75",
            kind: ::kernelmill::__codegen::ArtifactKind::Ptx,
            source: "kernels/saxpy.rs",
            bytes: include_bytes!("saxpy.ptx"),
            kernels: &[::kernelmill::__codegen::EmbeddedKernel {
                signature: 0,
                entry: "saxpy",
                static_shared_bytes: 0,
                panics: true,
                cpu: None,
            }],
            locations: &[::kernelmill::__codegen::SourceLocation {
                file: "kernels/saxpy.rs",
                line: 6,
                column: 5,
            }],
            backtraces: &[],
            messages: &[],
        },
        ::kernelmill::__codegen::EmbeddedArtifact {
            fingerprint: "0303030303030303030303030303030303030303030303030303030303030303",
            target: "cpu",
            kind: ::kernelmill::__codegen::ArtifactKind::Object,
            source: "kernels/fill.rs",
            bytes: &[],
            kernels: &[::kernelmill::__codegen::EmbeddedKernel {
                signature: 1,
                entry: "fill",
                static_shared_bytes: 0,
                panics: false,
                // SAFETY: the object that is linked in exports it, and nothing writes it.
                cpu: Some(unsafe {
                    ::kernelmill::__codegen::CpuEntry::new(&raw const kernelmill_cpu_demo_fill)
                }),
            }],
            locations: &[],
            backtraces: &[],
            messages: &[],
        },
        ::kernelmill::__codegen::EmbeddedArtifact {
            fingerprint: "0404040404040404040404040404040404040404040404040404040404040404",
            target: "cpu",
            kind: ::kernelmill::__codegen::ArtifactKind::Object,
            source: "kernels/scale.cu",
            bytes: &[],
            kernels: &[::kernelmill::__codegen::EmbeddedKernel {
                signature: 2,
                entry: "_Z5scalePfPKfi",
                static_shared_bytes: 0,
                panics: false,
                // SAFETY: the object that is linked in exports it, and nothing writes it.
                cpu: Some(unsafe {
                    ::kernelmill::__codegen::CpuEntry::new(&raw const kernelmill_cpu_demo_scale)
                }),
            }],
            locations: &[],
            backtraces: &[],
            messages: &[],
        },
    ],
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
