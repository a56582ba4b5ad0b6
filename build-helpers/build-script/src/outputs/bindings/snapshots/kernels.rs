// The kernels of the package `app`, written by kernelmill-build. Changes are lost.

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
    static PARAMETERS_1: [cg::Parameter; 5] = [
        cg::Parameter::borrowed(
            "params",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Params"),
                size: 656,
                align: 16,
                fields: cg::Cow::Borrowed(&[
                    cg::Field {
                        name: cg::Cow::Borrowed("scale"),
                        ty: cg::ValueType::Scalar(cg::Scalar::F32),
                        offset: 0,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("count"),
                        ty: cg::ValueType::Scalar(cg::Scalar::U64),
                        offset: 8,
                        public: false,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("table"),
                        ty: cg::ValueType::Array(
                            cg::Nested::Borrowed(&cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                                name: cg::Cow::Borrowed("Pair"),
                                size: 16,
                                align: 16,
                                fields: cg::Cow::Borrowed(&[
                                    cg::Field {
                                        name: cg::Cow::Borrowed("0"),
                                        ty: cg::ValueType::Scalar(cg::Scalar::U8),
                                        offset: 0,
                                        public: true,
                                    },
                                    cg::Field {
                                        name: cg::Cow::Borrowed("1"),
                                        ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                        offset: 4,
                                        public: false,
                                    },
                                ]),
                            }))),
                            40,
                        ),
                        offset: 16,
                        public: false,
                    },
                ]),
            }))),
        ),
        cg::Parameter::borrowed(
            "open",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Open"),
                size: 8,
                align: 4,
                fields: cg::Cow::Borrowed(&[
                    cg::Field {
                        name: cg::Cow::Borrowed("first"),
                        ty: cg::ValueType::Scalar(cg::Scalar::U32),
                        offset: 0,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("second"),
                        ty: cg::ValueType::Scalar(cg::Scalar::F32),
                        offset: 4,
                        public: true,
                    },
                ]),
            }))),
        ),
        cg::Parameter::borrowed(
            "pairs",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                    name: cg::Cow::Borrowed("Pair"),
                    size: 16,
                    align: 16,
                    fields: cg::Cow::Borrowed(&[
                        cg::Field {
                            name: cg::Cow::Borrowed("0"),
                            ty: cg::ValueType::Scalar(cg::Scalar::U8),
                            offset: 0,
                            public: true,
                        },
                        cg::Field {
                            name: cg::Cow::Borrowed("1"),
                            ty: cg::ValueType::Scalar(cg::Scalar::F32),
                            offset: 4,
                            public: false,
                        },
                    ]),
                })),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "in",
            cg::ParameterKind::Value(cg::ValueType::Array(
                cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::U16)),
                3,
            )),
        ),
        cg::Parameter::borrowed(
            "_out",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Array(
                    cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::F32)),
                    4,
                ),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_2: [cg::Parameter; 1] = [
        cg::Parameter::borrowed(
            "own",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Own"),
                size: 4,
                align: 4,
                fields: cg::Cow::Borrowed(&[cg::Field {
                    name: cg::Cow::Borrowed("x"),
                    ty: cg::ValueType::Scalar(cg::Scalar::I32),
                    offset: 0,
                    public: true,
                }]),
            }))),
        ),
    ];
    static PARAMETERS_3: [cg::Parameter; 0] = [];
    static PARAMETERS_4: [cg::Parameter; 4] = [
        cg::Parameter::borrowed(
            "filter",
            cg::ParameterKind::Value(cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
                name: cg::Cow::Borrowed("Filter"),
                scalar: cg::Scalar::U8,
                variants: cg::Cow::Borrowed(&[
                    cg::Variant { name: cg::Cow::Borrowed("Nearest"), value: 1 },
                    cg::Variant { name: cg::Cow::Borrowed("Bilinear"), value: 2 },
                ]),
                exhaustive: true,
            }))),
        ),
        cg::Parameter::borrowed(
            "side",
            cg::ParameterKind::Value(cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
                name: cg::Cow::Borrowed("Side"),
                scalar: cg::Scalar::I32,
                variants: cg::Cow::Borrowed(&[
                    cg::Variant { name: cg::Cow::Borrowed("Left"), value: -1 },
                    cg::Variant { name: cg::Cow::Borrowed("Right"), value: 1 },
                ]),
                exhaustive: true,
            }))),
        ),
        cg::Parameter::borrowed(
            "sampled",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Sampled"),
                size: 1,
                align: 1,
                fields: cg::Cow::Borrowed(&[cg::Field {
                    name: cg::Cow::Borrowed("filter"),
                    ty: cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
                        name: cg::Cow::Borrowed("Filter"),
                        scalar: cg::Scalar::U8,
                        variants: cg::Cow::Borrowed(&[
                            cg::Variant { name: cg::Cow::Borrowed("Nearest"), value: 1 },
                            cg::Variant { name: cg::Cow::Borrowed("Bilinear"), value: 2 },
                        ]),
                        exhaustive: true,
                    })),
                    offset: 0,
                    public: true,
                }]),
            }))),
        ),
        cg::Parameter::borrowed(
            "chosen",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Chosen"),
                size: 4,
                align: 4,
                fields: cg::Cow::Borrowed(&[cg::Field {
                    name: cg::Cow::Borrowed("side"),
                    ty: cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
                        name: cg::Cow::Borrowed("Side"),
                        scalar: cg::Scalar::I32,
                        variants: cg::Cow::Borrowed(&[
                            cg::Variant { name: cg::Cow::Borrowed("Left"), value: -1 },
                            cg::Variant { name: cg::Cow::Borrowed("Right"), value: 1 },
                        ]),
                        exhaustive: true,
                    })),
                    offset: 0,
                    public: true,
                }]),
            }))),
        ),
    ];
    static PARAMETERS_5: [cg::Parameter; 2] = [
        cg::Parameter::borrowed(
            "f",
            cg::ParameterKind::Value(cg::ValueType::Function(cg::Nested::Borrowed(&cg::FunctionType {
                safety: cg::Safety::Safe,
                parameters: cg::Cow::Borrowed(&[
                    cg::ValueType::Scalar(cg::Scalar::F32),
                    cg::ValueType::Array(
                        cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::U32)),
                        2,
                    ),
                ]),
                result: Some(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                    name: cg::Cow::Borrowed("Own"),
                    size: 4,
                    align: 4,
                    fields: cg::Cow::Borrowed(&[cg::Field {
                        name: cg::Cow::Borrowed("x"),
                        ty: cg::ValueType::Scalar(cg::Scalar::I32),
                        offset: 0,
                        public: true,
                    }]),
                }))),
            }))),
        ),
        cg::Parameter::borrowed(
            "all",
            cg::ParameterKind::Slice {
                element: cg::ValueType::Function(cg::Nested::Borrowed(&cg::FunctionType {
                    safety: cg::Safety::Safe,
                    parameters: cg::Cow::Borrowed(&[]),
                    result: None,
                })),
                access: cg::Access::Read,
            },
        ),
    ];

    cg::KernelSet {
        format_version: 13,
        package: "app",
        signatures: &[
            cg::signature(
                "saxpy",
                "saxpy",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_0,
                ("kernels/first.rs", 5),
            ),
            cg::signature(
                "blend",
                "blend",
                cg::Dimension::Two,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_1,
                ("kernels/first.rs", 7),
            ),
            cg::signature(
                "device",
                "device",
                cg::Dimension::Three,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_2,
                ("kernels/second.rs", 2),
            ),
            cg::signature(
                "nothing",
                "nothing",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_3,
                ("kernels/second.rs", 3),
            ),
            cg::signature(
                "sample",
                "sample",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_4,
                ("kernels/second.rs", 8),
            ),
            cg::signature(
                "given",
                "given",
                cg::Dimension::One,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_5,
                ("kernels/second.rs", 9),
            ),
        ],
        functions: &[0x5fea_ee06_f739_41b8, 0x20c3_9dff_1e26_0953],
        variables: &[],
        tuned: &[],
        artifacts: &[
            cg::EmbeddedArtifact {
                fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
                target: "cpu",
                kind: cg::ArtifactKind::Object,
                source: "kernels/first.rs",
                bytes: &[],
                kernels: &[
                    cg::EmbeddedKernel {
                        signature: 0,
                        entry: "saxpy",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources::UNKNOWN,
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::new(
                                &raw const kernelmill_cpu_app_first_6110f1a197b1_saxpy,
                            )
                        }),
                    },
                    cg::EmbeddedKernel {
                        signature: 1,
                        entry: "blend",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources::UNKNOWN,
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::new(
                                &raw const kernelmill_cpu_app_first_6110f1a197b1_blend,
                            )
                        }),
                    },
                ],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
                target: "compute_75",
                kind: cg::ArtifactKind::Ptx,
                source: "kernels/first.rs",
                bytes: include_bytes!("first.compute_75.ptx"),
                kernels: &[
                    cg::EmbeddedKernel::loaded(0, "saxpy", 0, false, cg::Resources::UNKNOWN),
                    cg::EmbeddedKernel::loaded(1, "blend", 0, false, cg::Resources::UNKNOWN),
                ],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
                target: "cpu",
                kind: cg::ArtifactKind::Object,
                source: "kernels/second.rs",
                bytes: &[],
                kernels: &[
                    cg::EmbeddedKernel {
                        signature: 2,
                        entry: "device",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources::UNKNOWN,
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::new(
                                &raw const kernelmill_cpu_app_second_a6126daf6fa7_device,
                            )
                        }),
                    },
                    cg::EmbeddedKernel {
                        signature: 3,
                        entry: "nothing",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources::UNKNOWN,
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::new(
                                &raw const kernelmill_cpu_app_second_a6126daf6fa7_nothing,
                            )
                        }),
                    },
                    cg::EmbeddedKernel {
                        signature: 4,
                        entry: "sample",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources::UNKNOWN,
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::new(
                                &raw const kernelmill_cpu_app_second_a6126daf6fa7_sample,
                            )
                        }),
                    },
                    cg::EmbeddedKernel {
                        signature: 5,
                        entry: "given",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources::UNKNOWN,
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::new(
                                &raw const kernelmill_cpu_app_second_a6126daf6fa7_given,
                            )
                        }),
                    },
                ],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                variables: &[],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
                target: "compute_75",
                kind: cg::ArtifactKind::Ptx,
                source: "kernels/second.rs",
                bytes: include_bytes!("second.compute_75.ptx"),
                kernels: &[
                    cg::EmbeddedKernel::loaded(2, "device", 0, false, cg::Resources::UNKNOWN),
                    cg::EmbeddedKernel::loaded(3, "nothing", 0, false, cg::Resources::UNKNOWN),
                    cg::EmbeddedKernel::loaded(4, "sample", 0, false, cg::Resources::UNKNOWN),
                    cg::EmbeddedKernel::loaded(5, "given", 0, false, cg::Resources::UNKNOWN),
                ],
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
    static kernelmill_cpu_app_first_6110f1a197b1_saxpy: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_first_6110f1a197b1_blend: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_second_a6126daf6fa7_device: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_second_a6126daf6fa7_nothing: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_second_a6126daf6fa7_sample: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_app_second_a6126daf6fa7_given: ::kernelmill::__codegen::CpuKernel;
}

/// `Chosen` of the kernels, as this package defines it.
#[allow(unreachable_pub, unused_imports, reason = "used or not, as in the kernels")]
pub use crate::Chosen;
::kernelmill::__codegen::assert_layout!(Chosen, size = 4, align = 4, side: Side = 0);
::kernelmill::__codegen::assert_no_zeros!(Chosen);

/// `Open` of the kernels: 8 bytes, laid out as on every device.
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
pub struct Open {
    /// `first` of the kernels' struct.
    pub first: u32,
    /// `second` of the kernels' struct.
    pub second: f32,
}
::kernelmill::__codegen::device_struct!(Open, size = 8, align = 4, first = 0, second = 4);

/// `Own` of the kernels, as this package defines it.
#[allow(unreachable_pub, unused_imports, reason = "used or not, as in the kernels")]
pub use crate::Mine as Own;
::kernelmill::__codegen::assert_layout!(Own, size = 4, align = 4, x: i32 = 0);

/// `Pair` of the kernels: 16 bytes, laid out as on every device.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = "named as in the kernels, and used or not"
)]
#[repr(C, align(16))]
pub struct Pair(
    /// Field 0 of the kernels' struct.
    pub u8,
    /// Field 1 of the kernels' struct.
    f32,
);

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::too_many_arguments,
    reason = "as the kernels' struct is, and used or not"
)]
impl Pair {
    /// A value with these fields.
    ///
    /// # Safety
    ///
    /// It is one that the code of the kernels' `Pair` makes: some of its fields are private there.
    #[must_use]
    pub const unsafe fn new(field_0: u8, field_1: f32) -> Self {
        Self(field_0, field_1)
    }
}
::kernelmill::__codegen::device_struct!(private Pair, size = 16, align = 16);

/// `Params` of the kernels: 656 bytes, laid out as on every device.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// `scale` of the kernels' struct.
    pub scale: f32,
    /// `count` of the kernels' struct.
    count: u64,
    /// `table` of the kernels' struct.
    table: [Pair; 40],
}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::too_many_arguments,
    reason = "as the kernels' struct is, and used or not"
)]
impl Params {
    /// A value with these fields.
    ///
    /// # Safety
    ///
    /// It is one that the code of the kernels' `Params` makes: some of its fields are private there.
    #[must_use]
    pub const unsafe fn new(scale: f32, count: u64, table: [Pair; 40]) -> Self {
        Self { scale, count, table }
    }
}
::kernelmill::__codegen::device_struct!(
    private Params,
    size = 656,
    align = 16,
    scale = 0,
    count = 8,
    table = 16,
);

/// `Sampled` of the kernels: 1 bytes, laid out as on every device.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = "named as in the kernels, and used or not"
)]
#[repr(C)]
pub struct Sampled {
    /// `filter` of the kernels' struct.
    pub filter: Filter,
}
::kernelmill::__codegen::device_struct!(private Sampled, size = 1, align = 1, filter = 0);

/// `Filter` of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    dead_code,
    non_camel_case_types,
    unreachable_pub,
    clippy::enum_variant_names,
    clippy::unreadable_literal,
    reason = "named as in the kernels, and used or not"
)]
#[repr(u8)]
pub enum Filter {
    /// `Nearest` of the kernels' enum.
    Nearest = 1,
    /// `Bilinear` of the kernels' enum.
    Bilinear = 2,
}
::kernelmill::__codegen::device_struct!(private Filter, size = 1, align = 1);

/// `Side` of the kernels, as this package defines it.
#[allow(unreachable_pub, unused_imports, reason = "used or not, as in the kernels")]
pub use crate::Side;
::kernelmill::__codegen::assert_layout!(Side, size = 4, align = 4);
#[allow(clippy::cast_lossless, clippy::unreadable_literal, reason = "for an enum of any integer")]
const _: () = {
    // The kernels know these variants and no others.
    let _: fn(Side) = |value| match value {
        Side::Left | Side::Right => {}
    };
    ::core::assert!(
        Side::Left as i128 == -1,
        "`Left` of `Side` has another value in the kernels: -1"
    );
    ::core::assert!(
        Side::Right as i128 == 1,
        "`Right` of `Side` has another value in the kernels: 1"
    );
};
::kernelmill::__codegen::assert_no_zeros!(Side);

/// The functions that the host can give to kernels.
#[derive(Clone, Copy, Debug)]
#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = "named as in the kernels, and used or not"
)]
pub struct Functions {
    /// `own` of `kernels/second.rs:10`.
    pub own: ::kernelmill::DeviceFn<fn(f32, [u32; 2]) -> Own>,
    /// `loop` of `kernels/second.rs:11`.
    pub r#loop: ::kernelmill::DeviceFn<fn()>,
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

    /// The functions that the host can give to kernels, the same for every device.
    #[must_use]
    pub const fn functions() -> Functions {
        use ::kernelmill::__codegen::device_fn;
        Functions {
            own: device_fn(0x5fea_ee06_f739_41b8),
            r#loop: device_fn(0x20c3_9dff_1e26_0953),
        }
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

    /// Launches the kernel `saxpy` of `kernels/first.rs:5`:
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

    /// Launches the kernel `blend` of `kernels/first.rs:7`:
    /// `unsafe fn blend(params: Params, open: Open, pairs: &[Pair], in: [u16; 3], _out: DisjointSlice<[f32; 4]>)`.
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
    pub unsafe fn blend(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<2>,
        params: Params,
        open: Open,
        pairs: impl ::kernelmill::ReadSlice<Pair>,
        r#in: [u16; 3],
        out: impl ::kernelmill::WriteSlice<[f32; 4]>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 1, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                1,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(params),
                    ::kernelmill::__codegen::Value(open),
                    ::kernelmill::__codegen::read_slice(pairs),
                    ::kernelmill::__codegen::Value(r#in),
                    ::kernelmill::__codegen::write_slice(out),
                ),
            )
        }
    }

    /// Launches the kernel `device` of `kernels/second.rs:2`:
    /// `fn device(own: Own)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn device(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<3>,
        own: Own,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 2, in its order; the kernel
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                2,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(own),
                ),
            )
        }
    }

    /// Launches the kernel `nothing` of `kernels/second.rs:3`:
    /// `fn nothing()`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn nothing(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 3, in its order; the kernel
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                3,
                __stream,
                __launch,
                (),
            )
        }
    }

    /// Launches the kernel `sample` of `kernels/second.rs:8`:
    /// `fn sample(filter: Filter, side: Side, sampled: Sampled, chosen: Chosen)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    pub fn sample(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        filter: Filter,
        side: Side,
        sampled: Sampled,
        chosen: Chosen,
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
                    ::kernelmill::__codegen::Value(filter),
                    ::kernelmill::__codegen::Value(side),
                    ::kernelmill::__codegen::Value(sampled),
                    ::kernelmill::__codegen::Value(chosen),
                ),
            )
        }
    }

    /// Launches the kernel `given` of `kernels/second.rs:9`:
    /// `fn given(f: DeviceFn<fn(f32, [u32; 2]) -> Own>, all: &[DeviceFn<fn()>])`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    ///
    /// Where it is given a function that is none of [`Kernels::functions`].
    pub fn given(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: ::kernelmill::Launch<1>,
        f: ::kernelmill::DeviceFn<fn(f32, [u32; 2]) -> Own>,
        all: impl ::kernelmill::ReadSlice<::kernelmill::DeviceFn<fn()>>,
    ) -> ::kernelmill::Result<()> {
        ::kernelmill::__codegen::require_function(f, &SET, "given", "f")?;
        // SAFETY: the arguments are those of signature 5, in its order; the kernel
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                5,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(f),
                    ::kernelmill::__codegen::read_slice(all),
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
    /// The kernel of `kernels/first.rs:5`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn saxpy(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(0)
    }

    /// The kernel of `kernels/first.rs:7`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn blend(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(1)
    }

    /// The kernel of `kernels/second.rs:2`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn device(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(2)
    }

    /// The kernel of `kernels/second.rs:3`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn nothing(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(3)
    }

    /// The kernel of `kernels/second.rs:8`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn sample(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(4)
    }

    /// The kernel of `kernels/second.rs:9`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn given(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(5)
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

    /// Prepares a launch of [`Kernels::blend`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::blend`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::blend`], for every launch.
    pub unsafe fn blend<'a>(
        &self,
        __launch: ::kernelmill::Launch<2>,
        params: Params,
        open: Open,
        pairs: impl ::kernelmill::ReadSlice<Pair> + 'a,
        r#in: [u16; 3],
        out: impl ::kernelmill::WriteSlice<[f32; 4]> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.blend(__stream, __launch, params, open, pairs, r#in, out)
            })
        }
    }

    /// Prepares a launch of [`Kernels::device`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::device`].
    pub fn device<'a>(
        &self,
        __launch: ::kernelmill::Launch<3>,
        own: Own,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.device(__stream, __launch, own)
            })
        }
    }

    /// Prepares a launch of [`Kernels::nothing`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::nothing`].
    pub fn nothing<'a>(
        &self,
        __launch: ::kernelmill::Launch<1>,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.nothing(__stream, __launch)
            })
        }
    }

    /// Prepares a launch of [`Kernels::sample`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::sample`].
    pub fn sample<'a>(
        &self,
        __launch: ::kernelmill::Launch<1>,
        filter: Filter,
        side: Side,
        sampled: Sampled,
        chosen: Chosen,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.sample(__stream, __launch, filter, side, sampled, chosen)
            })
        }
    }

    /// Prepares a launch of [`Kernels::given`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::given`].
    pub fn given<'a>(
        &self,
        __launch: ::kernelmill::Launch<1>,
        f: ::kernelmill::DeviceFn<fn(f32, [u32; 2]) -> Own>,
        all: impl ::kernelmill::ReadSlice<::kernelmill::DeviceFn<fn()>> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.given(__stream, __launch, f, all)
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

    /// Sets the scalars of a prepared launch of [`Kernels::blend`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::blend`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::blend`], for every launch.
    pub unsafe fn blend(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        params: Params,
        open: Open,
        r#in: [u16; 3],
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                1,
                |__stream, __launch: ::kernelmill::Launch<2>, __slices| {
                    self.kernels.blend(__stream, __launch, params, open, __slices.take(), r#in, __slices.take())
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::device`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::device`], and for a launch of another kernel: the launch stays as it was.
    pub fn device(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        own: Own,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                2,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.device(__stream, __launch, own)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::sample`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::sample`], and for a launch of another kernel: the launch stays as it was.
    pub fn sample(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        filter: Filter,
        side: Side,
        sampled: Sampled,
        chosen: Chosen,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                4,
                |__stream, __launch: ::kernelmill::Launch<1>, __slices| {
                    self.kernels.sample(__stream, __launch, filter, side, sampled, chosen)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::given`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::given`], and for a launch of another kernel: the launch stays as it was.
    pub fn given(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        f: ::kernelmill::DeviceFn<fn(f32, [u32; 2]) -> Own>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                5,
                |__stream, __launch: ::kernelmill::Launch<1>, __slices| {
                    self.kernels.given(__stream, __launch, f, __slices.take())
                },
            )
        }
    }
}
