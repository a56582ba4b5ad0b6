// The kernels of the package `demo`, written by kernelmill-build. Changes are lost.

// A type beside these lines that is named as a primitive one does not compile.
::kernelmill::__codegen::assert_primitive_names!();

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
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Params"),
                size: 16,
                align: 8,
                fields: cg::Cow::Borrowed(&[
                    cg::Field {
                        name: cg::Cow::Borrowed("width"),
                        ty: cg::ValueType::Scalar(cg::Scalar::U32),
                        offset: 0,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("step"),
                        ty: cg::ValueType::Scalar(cg::Scalar::U64),
                        offset: 8,
                        public: true,
                    },
                ]),
            }))),
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
        format_version: 13,
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
                ("kernels/fill.rs", 7),
            ),
            cg::signature(
                "scale",
                "_Z5scalePfPKfi",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_2,
                ("kernels/scale.cu", 1),
            ),
        ],
        functions: &[],
        variables: &[],
        tuned: &[],
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
                    cooperative: false,
                    resources: cg::Resources { stack_bytes: Some(64), ..cg::Resources::UNKNOWN },
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::with_strategy(
                            cg::CpuEntry::new(&raw const kernelmill_cpu_demo_saxpy),
                            "thread loop: no barriers, vector widths 8, 16",
                        )
                    }),
                }],
                locations: &[cg::SourceLocation { file: "kernels/saxpy.rs", line: 6, column: 5 }],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0202020202020202020202020202020202020202020202020202020202020202",
                target: "compute_75",
                kind: cg::ArtifactKind::Ptx,
                source: "kernels/saxpy.rs",
                bytes: include_bytes!("saxpy.ptx"),
                kernels: &[
                    cg::EmbeddedKernel::loaded(
                        0,
                        "saxpy",
                        0,
                        true,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                ],
                locations: &[cg::SourceLocation { file: "kernels/saxpy.rs", line: 6, column: 5 }],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
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
                    cooperative: false,
                    resources: cg::Resources { stack_bytes: Some(64), ..cg::Resources::UNKNOWN },
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::with_strategy(
                            cg::CpuEntry::new(&raw const kernelmill_cpu_demo_fill),
                            "thread loop: no barriers, vector widths 8, 16",
                        )
                    }),
                }],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
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
                    cooperative: false,
                    resources: cg::Resources { stack_bytes: Some(64), ..cg::Resources::UNKNOWN },
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::with_strategy(
                            cg::CpuEntry::new(&raw const kernelmill_cpu_demo_scale),
                            "thread loop: no barriers, vector widths 8, 16",
                        )
                    }),
                }],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
            },
        ],
    }
};

unsafe extern "C" {
    static kernelmill_cpu_demo_saxpy: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_demo_fill: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_demo_scale: ::kernelmill::__codegen::CpuKernel;
}

/// `Params` of the kernels: 16 bytes, laid out as on every device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = "named as in the kernels, and used or not"
)]
#[repr(C)]
pub struct Params {
    /// `width` of the kernels' struct.
    pub width: u32,
    /// `step` of the kernels' struct.
    pub step: u64,
}
::kernelmill::__codegen::device_struct!(Params, size = 16, align = 8, width = 0, step = 8);

/// The kernels of the package `demo`, loaded on one device.
#[derive(Debug)]
#[allow(dead_code, unreachable_pub, reason = "a program need not launch anything")]
pub struct Kernels {
    loaded: ::kernelmill::__codegen::Loaded,
}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::large_types_passed_by_value,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::unreadable_literal,
    reason = "wrappers have the names and parameters of their kernels, used or not"
)]
impl Kernels {
    /// Loads the best embedded binary of every source for a device.
    ///
    /// # Errors
    ///
    /// Where a source has no binary that runs on the device, or the device refuses one.
    pub fn load(device: &::kernelmill::Device) -> ::kernelmill::Result<Self> {
        Ok(Self { loaded: ::kernelmill::__codegen::Loaded::new(device, &SET)? })
    }

    /// The signatures of all kernels.
    #[must_use]
    pub fn signatures() -> &'static [::kernelmill::Signature] {
        SET.signatures
    }

    /// Loads the kernels on the best device of this machine that they are compiled for, or the one that the
    /// environment variable `KERNELMILL_DEVICE` names.
    ///
    /// # Errors
    ///
    /// Where no device has a binary, each with the reason, or the device refuses one.
    pub fn best() -> ::kernelmill::Result<Self> {
        Ok(Self { loaded: ::kernelmill::__codegen::Loaded::best(&SET)? })
    }

    /// Every device of this machine with the binaries for it: what `best` chooses from, and why.
    ///
    /// # Errors
    ///
    /// Where `KERNELMILL_DEVICE` names a device that cannot be opened.
    pub fn candidates() -> ::kernelmill::Result<::kernelmill::Candidates> {
        ::kernelmill::Candidates::of(&SET)
    }

    /// Launches that are checked once and made many times.
    #[must_use]
    pub const fn prepare(&self) -> PreparedKernels<'_> {
        PreparedKernels { kernels: self }
    }

    /// The kernels apart from their launches.
    #[must_use]
    pub const fn compiled(&self) -> CompiledKernels<'_> {
        CompiledKernels { loaded: &self.loaded }
    }

    /// Every binary that is embedded in this program, for all devices.
    #[must_use]
    pub fn embedded() -> &'static [::kernelmill::EmbeddedArtifact] {
        SET.artifacts
    }

    /// Which binary was chosen for each source, and why each other one was not.
    #[must_use]
    pub fn chosen(&self) -> &[::kernelmill::Choice] {
        self.loaded.choices()
    }

    /// The device that the kernels are loaded on.
    #[must_use]
    pub fn device(&self) -> &::kernelmill::Device {
        self.loaded.device()
    }

    /// Sets the scalars of prepared launches, with the checks of a launch.
    #[must_use]
    pub const fn set_scalars(&self) -> PreparedScalars<'_> {
        PreparedScalars { kernels: self }
    }

    #[doc(hidden)]
    pub const fn variables<Any>(&self)
    where
        (Self, Any): ::kernelmill::__codegen::HasDeviceVariables,
    {
        let _ = self;
    }

    /// Launches the kernel `saxpy` of `kernels/saxpy.rs:4`:
    /// `fn saxpy(a: f32, x: &[f32], y: DisjointSlice<f32>)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn saxpy(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<f32>,
        y: impl ::kernelmill::WriteSlice<f32>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 0, in its order; the kernel
        // answers for what it does with them.
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

    /// Launches the kernel `fill` of `kernels/fill.rs:7`:
    /// `fn fill(params: Params, out: DisjointSlice<u64>)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn fill(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        params: Params,
        out: impl ::kernelmill::WriteSlice<u64>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 1, in its order; the kernel
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                1,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(params),
                    ::kernelmill::__codegen::write_slice(out),
                ),
            )
        }
    }

    /// Launches the kernel `scale(float*, float const*, int)` of `kernels/scale.cu:1`:
    /// `unsafe fn scale(out: *mut f32, in: *const f32, n: i32)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    ///
    /// # Safety
    ///
    /// Nobody checks what the kernel does with its arguments. For every thread of the launch the
    /// caller answers for it that what the kernel reads and writes is in bounds, that its blocks
    /// and its shared memory are as large as it takes for granted, and that no two threads race.
    /// A contract in the configuration, `[kernels.scale]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn scale(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32>,
        r#in: impl ::kernelmill::ReadSlice<f32>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 2, in its order; the caller
        // answers for what it does with them.
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

/// The kernels apart from their launches, for [`Kernels::compiled`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = "a program need not look at its kernels")]
pub struct CompiledKernels<'a> {
    loaded: &'a ::kernelmill::__codegen::Loaded,
}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::similar_names,
    reason = "the methods have the names of the kernels, used or not"
)]
impl CompiledKernels<'_> {
    /// The kernel of `kernels/saxpy.rs:4`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn saxpy(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(0)
    }

    /// The kernel of `kernels/fill.rs:7`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn fill(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(1)
    }

    /// The kernel of `kernels/scale.cu:1`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn scale(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(2)
    }
}

/// The wrappers of launches that are made many times, for [`Kernels::prepare`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = "a program need not prepare anything")]
pub struct PreparedKernels<'k> {
    kernels: &'k Kernels,
}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::large_types_passed_by_value,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::unreadable_literal,
    reason = "wrappers have the names and parameters of their kernels, used or not"
)]
impl PreparedKernels<'_> {
    /// Prepares a launch of [`Kernels::saxpy`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::saxpy`].
    pub fn saxpy<'a>(
        &self,
        __launch: ::kernelmill::Launch<1>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<f32> + 'a,
        y: impl ::kernelmill::WriteSlice<f32> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.saxpy(__stream, __launch, a, x, y)
            })
        }
    }

    /// Prepares a launch of [`Kernels::fill`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::fill`].
    pub fn fill<'a>(
        &self,
        __launch: ::kernelmill::Launch<2>,
        params: Params,
        out: impl ::kernelmill::WriteSlice<u64> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.fill(__stream, __launch, params, out)
            })
        }
    }

    /// Prepares a launch of [`Kernels::scale`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::scale`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::scale`], for every launch.
    pub unsafe fn scale<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32> + 'a,
        r#in: impl ::kernelmill::ReadSlice<f32> + 'a,
        n: i32,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.scale(__stream, __launch, out, r#in, n)
            })
        }
    }
}

/// The methods that set the scalars of prepared launches, for [`Kernels::set_scalars`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = "a program need not set anything")]
pub struct PreparedScalars<'k> {
    kernels: &'k Kernels,
}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::large_types_passed_by_value,
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::too_many_arguments,
    clippy::type_complexity,
    clippy::unreadable_literal,
    reason = "wrappers have the names and parameters of their kernels, used or not"
)]
impl PreparedScalars<'_> {
    /// Sets the scalars of a prepared launch of [`Kernels::saxpy`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::saxpy`], and for a launch of another kernel: the launch stays as it was.
    pub fn saxpy(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        a: f32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                0,
                |__stream, __launch: ::kernelmill::Launch<1>, __slices| {
                    self.kernels.saxpy(__stream, __launch, a, __slices.take(), __slices.take())
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::fill`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::fill`], and for a launch of another kernel: the launch stays as it was.
    pub fn fill(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        params: Params,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                1,
                |__stream, __launch: ::kernelmill::Launch<2>, __slices| {
                    self.kernels.fill(__stream, __launch, params, __slices.take())
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::scale`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::scale`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::scale`], for every launch.
    pub unsafe fn scale(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                2,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.scale(__stream, __launch, __slices.take(), __slices.take(), n)
                },
            )
        }
    }
}
