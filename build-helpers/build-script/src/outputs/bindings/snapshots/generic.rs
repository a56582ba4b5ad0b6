// The kernels of the package `app`, written by kernelmill-build. Changes are lost.

// A type beside these lines that is named as a primitive one does not compile.
::kernelmill::__codegen::assert_primitive_names!();

static SET: ::kernelmill::__codegen::KernelSet = {
    use ::kernelmill::__codegen as cg;

    static PARAMETERS_0: [cg::Parameter; 4] = [
        cg::Parameter::borrowed(
            "a",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::F32)),
        ),
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Array(
                    cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::F32)),
                    4,
                ),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "b",
            cg::ParameterKind::Value(cg::ValueType::Array(
                cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::F32)),
                8,
            )),
        ),
        cg::Parameter::borrowed(
            "y",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Array(
                    cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::U8)),
                    12,
                ),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_1: [cg::Parameter; 4] = [
        cg::Parameter::borrowed(
            "a",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Pair"),
                size: 4,
                align: 4,
                fields: cg::Cow::Borrowed(&[cg::Field {
                    name: cg::Cow::Borrowed("a"),
                    ty: cg::ValueType::Scalar(cg::Scalar::F32),
                    offset: 0,
                    public: true,
                }]),
            }))),
        ),
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Array(
                    cg::Nested::Borrowed(&cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                        name: cg::Cow::Borrowed("Pair"),
                        size: 4,
                        align: 4,
                        fields: cg::Cow::Borrowed(&[cg::Field {
                            name: cg::Cow::Borrowed("a"),
                            ty: cg::ValueType::Scalar(cg::Scalar::F32),
                            offset: 0,
                            public: true,
                        }]),
                    }))),
                    8,
                ),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "b",
            cg::ParameterKind::Value(cg::ValueType::Array(
                cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::F32)),
                16,
            )),
        ),
        cg::Parameter::borrowed(
            "y",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Array(
                    cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::U8)),
                    24,
                ),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_2: [cg::Parameter; 1] = [
        cg::Parameter::borrowed(
            "_x",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Read,
            },
        ),
    ];
    static PARAMETERS_3: [cg::Parameter; 1] = [
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::U8)),
        ),
    ];

    cg::KernelSet {
        format_version: 13,
        package: "app",
        signatures: &[
            cg::signature(
                "scale_f32_4",
                "scale_f32_4",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_0,
                ("kernels/generic.rs", 5),
            ),
            cg::signature(
                "scale_Pair_8",
                "scale_Pair_8",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_1,
                ("kernels/generic.rs", 5),
            ),
            cg::signature(
                "move_Square_true",
                "move_Square_true",
                cg::Dimension::Two,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_2,
                ("kernels/generic.rs", 7),
            ),
            cg::signature(
                "move_Own_false",
                "move_Own_false",
                cg::Dimension::Two,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_2,
                ("kernels/generic.rs", 7),
            ),
            cg::signature(
                "prepare_u8",
                "prepare_u8",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_3,
                ("kernels/generic.rs", 8),
            ),
        ],
        functions: &[],
        variables: &[],
        tuned: &[],
        artifacts: &[cg::EmbeddedArtifact {
            fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
            target: "cpu",
            kind: cg::ArtifactKind::Object,
            source: "kernels/generic.rs",
            bytes: &[],
            kernels: &[
                cg::EmbeddedKernel {
                    signature: 0,
                    entry: "scale_f32_4",
                    static_shared_bytes: 0,
                    panics: false,
                    cooperative: false,
                    resources: cg::Resources::UNKNOWN,
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::new(
                            &raw const kernelmill_cpu_app_generic_1afd27f1731f_scale_f32_4,
                        )
                    }),
                },
                cg::EmbeddedKernel {
                    signature: 1,
                    entry: "scale_Pair_8",
                    static_shared_bytes: 0,
                    panics: false,
                    cooperative: false,
                    resources: cg::Resources::UNKNOWN,
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::new(
                            &raw const kernelmill_cpu_app_generic_1afd27f1731f_scale_Pair_8,
                        )
                    }),
                },
                cg::EmbeddedKernel {
                    signature: 2,
                    entry: "move_Square_true",
                    static_shared_bytes: 0,
                    panics: false,
                    cooperative: false,
                    resources: cg::Resources::UNKNOWN,
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::new(
                            &raw const kernelmill_cpu_app_generic_1afd27f1731f_move_Square_true,
                        )
                    }),
                },
                cg::EmbeddedKernel {
                    signature: 3,
                    entry: "move_Own_false",
                    static_shared_bytes: 0,
                    panics: false,
                    cooperative: false,
                    resources: cg::Resources::UNKNOWN,
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::new(
                            &raw const kernelmill_cpu_app_generic_1afd27f1731f_move_Own_false,
                        )
                    }),
                },
                cg::EmbeddedKernel {
                    signature: 4,
                    entry: "prepare_u8",
                    static_shared_bytes: 0,
                    panics: false,
                    cooperative: false,
                    resources: cg::Resources::UNKNOWN,
                    variant: None,
                    // SAFETY: the object that is linked in exports it, and nothing writes it.
                    cpu: Some(unsafe {
                        cg::CpuEntry::new(
                            &raw const kernelmill_cpu_app_generic_1afd27f1731f_prepare_u8,
                        )
                    }),
                },
            ],
            locations: &[],
            backtraces: &[],
            messages: &[],
            relocations: &[],
            variables: &[],
        }],
    }
};

unsafe extern "C" {
    static kernelmill_cpu_app_generic_1afd27f1731f_scale_f32_4: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_generic_1afd27f1731f_scale_Pair_8: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_generic_1afd27f1731f_move_Square_true: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_generic_1afd27f1731f_move_Own_false: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_generic_1afd27f1731f_prepare_u8: ::kernelmill::__codegen::CpuKernel;
}

/// `Pair` of the kernels: 4 bytes, laid out as on every device.
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
pub struct Pair {
    /// `a` of the kernels' struct.
    pub a: f32,
}
::kernelmill::__codegen::device_struct!(Pair, size = 4, align = 4, a = 0);

/// `Own` of the kernels, as this package defines it.
#[allow(unreachable_pub, unused_imports, reason = "used or not, as in the kernels")]
pub use crate::Mine as Own;

/// `Square` of the kernels: a name for instances of generic kernels.
#[derive(Clone, Copy, Debug)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    reason = "named as in the kernels, and used or not"
)]
pub struct Square;

mod sealed_instances {
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub trait AxpyInstance<T, const N: usize> {}

    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub trait MoveInstance<Kernels_, const Flag: bool> {}

    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub trait PrepareInstance<T> {}
}

/// The kernel `scale` of `kernels/generic.rs:5` has this instance: `Kernels` implements it for those that are built.
#[diagnostic::on_unimplemented(
    message = "the kernel `scale` has no instance `{T}, {N}`",
    label = "this instance is not built",
    note = "add `\"{T}, {N}\"` to the instances, in `#[kernel(instances = [..])]` at kernels/generic.rs:5 or by \
            `instances` in `[kernels.scale]` of the settings"
)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    reason = "named as in the kernels, and used or not"
)]
pub trait AxpyInstance<T, const N: usize>: sealed_instances::AxpyInstance<T, N> {
    /// The place of the instance's signature in [`Kernels::signatures`].
    const SIGNATURE: usize;

    /// Of `b`.
    type Argument2;

    /// Of `y`.
    type Argument3: ::kernelmill::DeviceCopy;

    /// As [`Kernels::axpy`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::axpy`].
    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: T,
        x: impl ::kernelmill::ReadSlice<[T; N]>,
        b: Self::Argument2,
        y: impl ::kernelmill::WriteSlice<Self::Argument3>,
    ) -> ::kernelmill::Result<()>
    where
        [T; N]: ::kernelmill::DeviceCopy;
}

impl sealed_instances::AxpyInstance<f32, 4> for Kernels {}

#[allow(clippy::unreadable_literal, reason = "constants are written as one number")]
impl AxpyInstance<f32, 4> for Kernels {
    const SIGNATURE: usize = 0;
    type Argument2 = [f32; 8];
    type Argument3 = [u8; 12];

    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<[f32; 4]>,
        b: [f32; 8],
        y: impl ::kernelmill::WriteSlice<[u8; 12]>,
    ) -> ::kernelmill::Result<()> {
        self.scale_f32_4(__stream, __launch, a, x, b, y)
    }
}

impl sealed_instances::AxpyInstance<Pair, 8> for Kernels {}

#[allow(clippy::unreadable_literal, reason = "constants are written as one number")]
impl AxpyInstance<Pair, 8> for Kernels {
    const SIGNATURE: usize = 1;
    type Argument2 = [f32; 16];
    type Argument3 = [u8; 24];

    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: Pair,
        x: impl ::kernelmill::ReadSlice<[Pair; 8]>,
        b: [f32; 16],
        y: impl ::kernelmill::WriteSlice<[u8; 24]>,
    ) -> ::kernelmill::Result<()> {
        self.scale_Pair_8(__stream, __launch, a, x, b, y)
    }
}

/// The kernel `move` of `kernels/generic.rs:7` has this instance: `Kernels` implements it for those that are built.
#[diagnostic::on_unimplemented(
    message = "the kernel `move` has no instance `{Kernels_}, {Flag}`",
    label = "this instance is not built",
    note = "add `\"{Kernels_}, {Flag}\"` to the instances, in `#[kernel(instances = [..])]` at kernels/generic.rs:7 or by \
            `instances` in `[kernels.move]` of the settings"
)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    reason = "named as in the kernels, and used or not"
)]
pub trait MoveInstance<Kernels_, const Flag: bool>: sealed_instances::MoveInstance<Kernels_, Flag> {
    /// The place of the instance's signature in [`Kernels::signatures`].
    const SIGNATURE: usize;

    /// As [`Kernels::move`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::move`].
    ///
    /// # Safety
    ///
    /// As the wrappers of the instances.
    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    unsafe fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        x: impl ::kernelmill::ReadSlice<f32>,
    ) -> ::kernelmill::Result<()>;
}

impl sealed_instances::MoveInstance<Square, true> for Kernels {}

#[allow(clippy::unreadable_literal, reason = "constants are written as one number")]
impl MoveInstance<Square, true> for Kernels {
    const SIGNATURE: usize = 2;

    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    unsafe fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        x: impl ::kernelmill::ReadSlice<f32>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: it is this kernel that the caller answers for.
        unsafe { self.move_Square_true(__stream, __launch, x) }
    }
}

impl sealed_instances::MoveInstance<Own, false> for Kernels {}

#[allow(clippy::unreadable_literal, reason = "constants are written as one number")]
impl MoveInstance<Own, false> for Kernels {
    const SIGNATURE: usize = 3;

    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    unsafe fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        x: impl ::kernelmill::ReadSlice<f32>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: it is this kernel that the caller answers for.
        unsafe { self.move_Own_false(__stream, __launch, x) }
    }
}

/// The kernel `prepare` of `kernels/generic.rs:8` has this instance: `Kernels` implements it for those that are built.
#[diagnostic::on_unimplemented(
    message = "the kernel `prepare` has no instance `{T}`",
    label = "this instance is not built",
    note = "add `\"{T}\"` to the instances, in `#[kernel(instances = [..])]` at kernels/generic.rs:8 or by \
            `instances` in `[kernels.prepare]` of the settings"
)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    reason = "named as in the kernels, and used or not"
)]
pub trait PrepareInstance<T>: sealed_instances::PrepareInstance<T> {
    /// The place of the instance's signature in [`Kernels::signatures`].
    const SIGNATURE: usize;

    /// As [`Kernels::prepare`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::prepare`].
    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        x: T,
    ) -> ::kernelmill::Result<()>;
}

impl sealed_instances::PrepareInstance<u8> for Kernels {}

#[allow(clippy::unreadable_literal, reason = "constants are written as one number")]
impl PrepareInstance<u8> for Kernels {
    const SIGNATURE: usize = 4;

    #[allow(
        non_snake_case,
        clippy::large_types_passed_by_value,
        clippy::many_single_char_names,
        clippy::similar_names,
        clippy::too_many_arguments,
        clippy::type_complexity,
        reason = "the parameters are those of the kernel"
    )]
    fn launch(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        x: u8,
    ) -> ::kernelmill::Result<()> {
        self.prepare_u8(__stream, __launch, x)
    }
}

/// The kernels of the package `app`, loaded on one device.
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

    #[doc(hidden)]
    pub const fn variables<Any>(&self)
    where
        (Self, Any): ::kernelmill::__codegen::HasDeviceVariables,
    {
        let _ = self;
    }

    /// Launches the kernel `scale_f32_4` of `kernels/generic.rs:5`:
    /// `fn scale_f32_4(a: f32, x: &[[f32; 4]], b: [f32; 8], y: DisjointSlice<[u8; 12]>)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn scale_f32_4(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<[f32; 4]>,
        b: [f32; 8],
        y: impl ::kernelmill::WriteSlice<[u8; 12]>,
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
                    ::kernelmill::__codegen::Value(b),
                    ::kernelmill::__codegen::write_slice(y),
                ),
            )
        }
    }

    /// Launches the kernel `scale_Pair_8` of `kernels/generic.rs:5`:
    /// `fn scale_Pair_8(a: Pair, x: &[[Pair; 8]], b: [f32; 16], y: DisjointSlice<[u8; 24]>)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn scale_Pair_8(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: Pair,
        x: impl ::kernelmill::ReadSlice<[Pair; 8]>,
        b: [f32; 16],
        y: impl ::kernelmill::WriteSlice<[u8; 24]>,
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
                    ::kernelmill::__codegen::Value(a),
                    ::kernelmill::__codegen::read_slice(x),
                    ::kernelmill::__codegen::Value(b),
                    ::kernelmill::__codegen::write_slice(y),
                ),
            )
        }
    }

    /// Launches the kernel `move_Square_true` of `kernels/generic.rs:7`:
    /// `unsafe fn move_Square_true(_x: &[f32])`.
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
    /// What the kernel does with its arguments must be sound for every thread of the launch: what
    /// it reads and writes is in bounds, and no two threads race.
    pub unsafe fn move_Square_true(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        x: impl ::kernelmill::ReadSlice<f32>,
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
                    ::kernelmill::__codegen::read_slice(x),
                ),
            )
        }
    }

    /// Launches the kernel `move_Own_false` of `kernels/generic.rs:7`:
    /// `unsafe fn move_Own_false(_x: &[f32])`.
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
    /// What the kernel does with its arguments must be sound for every thread of the launch: what
    /// it reads and writes is in bounds, and no two threads race.
    pub unsafe fn move_Own_false(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        x: impl ::kernelmill::ReadSlice<f32>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 3, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                3,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::read_slice(x),
                ),
            )
        }
    }

    /// Launches the kernel `prepare_u8` of `kernels/generic.rs:8`:
    /// `fn prepare_u8(x: u8)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn prepare_u8(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        x: u8,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 4, in its order; the kernel
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                4,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(x),
                ),
            )
        }
    }

    /// Launches an instance of the kernel `scale` of `kernels/generic.rs:5`:
    ///
    /// - `f32, 4`, [`Kernels::scale_f32_4`]
    /// - `Pair, 8`, [`Kernels::scale_Pair_8`]
    ///
    /// # Errors
    ///
    /// As the wrappers of these instances.
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub fn axpy<T, const N: usize>(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        a: T,
        x: impl ::kernelmill::ReadSlice<[T; N]>,
        b: <Self as AxpyInstance<T, N>>::Argument2,
        y: impl ::kernelmill::WriteSlice<<Self as AxpyInstance<T, N>>::Argument3>,
    ) -> ::kernelmill::Result<()>
    where
        Self: AxpyInstance<T, N>,
        [T; N]: ::kernelmill::DeviceCopy,
    {
        <Self as AxpyInstance<T, N>>::launch(self, __stream, __launch, a, x, b, y)
    }

    /// Launches an instance of the kernel `move` of `kernels/generic.rs:7`:
    ///
    /// - `Square, true`, [`Kernels::move_Square_true`]
    /// - `Own, false`, [`Kernels::move_Own_false`]
    ///
    /// # Errors
    ///
    /// As the wrappers of these instances.
    ///
    /// # Safety
    ///
    /// As the wrappers of the instances.
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub unsafe fn r#move<Kernels_, const Flag: bool>(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        x: impl ::kernelmill::ReadSlice<f32>,
    ) -> ::kernelmill::Result<()>
    where
        Self: MoveInstance<Kernels_, Flag>,
    {
        // SAFETY: the caller answers for it.
        unsafe { <Self as MoveInstance<Kernels_, Flag>>::launch(self, __stream, __launch, x) }
    }

    /// Launches an instance of the kernel `prepare` of `kernels/generic.rs:8`:
    ///
    /// - `u8`, [`Kernels::prepare_u8`]
    ///
    /// # Errors
    ///
    /// As the wrappers of these instances.
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub fn prepare<T>(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        x: T,
    ) -> ::kernelmill::Result<()>
    where
        Self: PrepareInstance<T>,
    {
        <Self as PrepareInstance<T>>::launch(self, __stream, __launch, x)
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
    /// The kernel of `kernels/generic.rs:5`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn scale_f32_4(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(0)
    }

    /// The kernel of `kernels/generic.rs:5`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn scale_Pair_8(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(1)
    }

    /// The kernel of `kernels/generic.rs:7`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn move_Square_true(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(2)
    }

    /// The kernel of `kernels/generic.rs:7`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn move_Own_false(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(3)
    }

    /// The kernel of `kernels/generic.rs:8`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn prepare_u8(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(4)
    }

    /// An instance of the kernel of `kernels/generic.rs:5`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub fn axpy<T, const N: usize>(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel>
    where
        Kernels: AxpyInstance<T, N>,
    {
        self.loaded.compiled(<Kernels as AxpyInstance<T, N>>::SIGNATURE)
    }

    /// An instance of the kernel of `kernels/generic.rs:7`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub fn r#move<Kernels_, const Flag: bool>(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel>
    where
        Kernels: MoveInstance<Kernels_, Flag>,
    {
        self.loaded.compiled(<Kernels as MoveInstance<Kernels_, Flag>>::SIGNATURE)
    }

    /// An instance of the kernel of `kernels/generic.rs:8`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    #[allow(
        dead_code,
        non_camel_case_types,
        non_snake_case,
        non_upper_case_globals,
        unreachable_pub,
        reason = "named as in the kernels, and used or not"
    )]
    pub fn prepare<T>(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel>
    where
        Kernels: PrepareInstance<T>,
    {
        self.loaded.compiled(<Kernels as PrepareInstance<T>>::SIGNATURE)
    }
}
