// The kernels of the package `cuda`, written by kernelmill-build. Changes are lost.

// A type beside these lines that is named as a primitive one does not compile.
::kernelmill::__codegen::assert_primitive_names!();

static SET: ::kernelmill::__codegen::KernelSet = {
    use ::kernelmill::__codegen as cg;

    const PARAMETER_0: cg::Parameter = cg::Parameter::borrowed(
        "n",
        cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::I32)),
    );
    const PARAMETER_1: cg::Parameter = cg::Parameter::borrowed(
        "params",
        cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
            name: cg::Cow::Borrowed("Params"),
            size: 48,
            align: 16,
            fields: cg::Cow::Borrowed(&[
                cg::Field {
                    name: cg::Cow::Borrowed("scale"),
                    ty: cg::ValueType::Scalar(cg::Scalar::F32),
                    offset: 0,
                    public: true,
                },
                cg::Field {
                    name: cg::Cow::Borrowed("mode"),
                    ty: cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
                        name: cg::Cow::Borrowed("Mode"),
                        scalar: cg::Scalar::I32,
                        variants: cg::Cow::Borrowed(&[
                            cg::Variant { name: cg::Cow::Borrowed("Nearest"), value: 0 },
                            cg::Variant { name: cg::Cow::Borrowed("Linear"), value: 5 },
                            cg::Variant { name: cg::Cow::Borrowed("Lowest"), value: -70000 },
                        ]),
                        exhaustive: false,
                    })),
                    offset: 4,
                    public: true,
                },
                cg::Field {
                    name: cg::Cow::Borrowed("color"),
                    ty: cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                        name: cg::Cow::Borrowed("float4"),
                        size: 16,
                        align: 16,
                        fields: cg::Cow::Borrowed(&[
                            cg::Field {
                                name: cg::Cow::Borrowed("x"),
                                ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                offset: 0,
                                public: true,
                            },
                            cg::Field {
                                name: cg::Cow::Borrowed("y"),
                                ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                offset: 4,
                                public: true,
                            },
                            cg::Field {
                                name: cg::Cow::Borrowed("z"),
                                ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                offset: 8,
                                public: true,
                            },
                            cg::Field {
                                name: cg::Cow::Borrowed("w"),
                                ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                offset: 12,
                                public: true,
                            },
                        ]),
                    })),
                    offset: 16,
                    public: true,
                },
                cg::Field {
                    name: cg::Cow::Borrowed("crop"),
                    ty: cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                        name: cg::Cow::Borrowed("Params_crop"),
                        size: 8,
                        align: 4,
                        fields: cg::Cow::Borrowed(&[
                            cg::Field {
                                name: cg::Cow::Borrowed("left"),
                                ty: cg::ValueType::Scalar(cg::Scalar::I32),
                                offset: 0,
                                public: true,
                            },
                            cg::Field {
                                name: cg::Cow::Borrowed("right"),
                                ty: cg::ValueType::Scalar(cg::Scalar::I32),
                                offset: 4,
                                public: true,
                            },
                        ]),
                    })),
                    offset: 32,
                    public: true,
                },
                cg::Field {
                    name: cg::Cow::Borrowed("masks"),
                    ty: cg::ValueType::Array(
                        cg::Nested::Borrowed(&cg::ValueType::Array(
                            cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::Bool)),
                            3,
                        )),
                        2,
                    ),
                    offset: 40,
                    public: true,
                },
            ]),
        }))),
    );
    const PARAMETER_2: cg::Parameter = cg::Parameter::borrowed(
        "more",
        cg::ParameterKind::Pointer {
            element: cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Params"),
                size: 48,
                align: 16,
                fields: cg::Cow::Borrowed(&[
                    cg::Field {
                        name: cg::Cow::Borrowed("scale"),
                        ty: cg::ValueType::Scalar(cg::Scalar::F32),
                        offset: 0,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("mode"),
                        ty: cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
                            name: cg::Cow::Borrowed("Mode"),
                            scalar: cg::Scalar::I32,
                            variants: cg::Cow::Borrowed(&[
                                cg::Variant { name: cg::Cow::Borrowed("Nearest"), value: 0 },
                                cg::Variant { name: cg::Cow::Borrowed("Linear"), value: 5 },
                                cg::Variant { name: cg::Cow::Borrowed("Lowest"), value: -70000 },
                            ]),
                            exhaustive: false,
                        })),
                        offset: 4,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("color"),
                        ty: cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                            name: cg::Cow::Borrowed("float4"),
                            size: 16,
                            align: 16,
                            fields: cg::Cow::Borrowed(&[
                                cg::Field {
                                    name: cg::Cow::Borrowed("x"),
                                    ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                    offset: 0,
                                    public: true,
                                },
                                cg::Field {
                                    name: cg::Cow::Borrowed("y"),
                                    ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                    offset: 4,
                                    public: true,
                                },
                                cg::Field {
                                    name: cg::Cow::Borrowed("z"),
                                    ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                    offset: 8,
                                    public: true,
                                },
                                cg::Field {
                                    name: cg::Cow::Borrowed("w"),
                                    ty: cg::ValueType::Scalar(cg::Scalar::F32),
                                    offset: 12,
                                    public: true,
                                },
                            ]),
                        })),
                        offset: 16,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("crop"),
                        ty: cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                            name: cg::Cow::Borrowed("Params_crop"),
                            size: 8,
                            align: 4,
                            fields: cg::Cow::Borrowed(&[
                                cg::Field {
                                    name: cg::Cow::Borrowed("left"),
                                    ty: cg::ValueType::Scalar(cg::Scalar::I32),
                                    offset: 0,
                                    public: true,
                                },
                                cg::Field {
                                    name: cg::Cow::Borrowed("right"),
                                    ty: cg::ValueType::Scalar(cg::Scalar::I32),
                                    offset: 4,
                                    public: true,
                                },
                            ]),
                        })),
                        offset: 32,
                        public: true,
                    },
                    cg::Field {
                        name: cg::Cow::Borrowed("masks"),
                        ty: cg::ValueType::Array(
                            cg::Nested::Borrowed(&cg::ValueType::Array(
                                cg::Nested::Borrowed(&cg::ValueType::Scalar(cg::Scalar::Bool)),
                                3,
                            )),
                            2,
                        ),
                        offset: 40,
                        public: true,
                    },
                ]),
            })),
            access: cg::Access::Read,
        },
    );
    const PARAMETER_3: cg::Parameter = cg::Parameter::borrowed(
        "type",
        cg::ParameterKind::Value(cg::ValueType::Enum(cg::Nested::Borrowed(&cg::EnumLayout {
            name: cg::Cow::Borrowed("Flags"),
            scalar: cg::Scalar::U8,
            variants: cg::Cow::Borrowed(&[
                cg::Variant { name: cg::Cow::Borrowed("None"), value: 0 },
                cg::Variant { name: cg::Cow::Borrowed("type"), value: 1 },
            ]),
            exhaustive: false,
        }))),
    );
    const PARAMETER_4: cg::Parameter = cg::Parameter::borrowed(
        "out",
        cg::ParameterKind::Pointer {
            element: cg::ValueType::Scalar(cg::Scalar::F32),
            access: cg::Access::Write,
        },
    );
    static PARAMETERS_0: [cg::Parameter; 4] = [
        cg::Parameter::borrowed(
            "a",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::F32)),
        ),
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "y",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Write,
            },
        ),
        PARAMETER_0,
    ];
    static PARAMETERS_1: [cg::Parameter; 3] = [
        cg::Parameter::borrowed(
            "in",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F16),
                access: cg::Access::Read,
            },
        ),
        cg::Parameter::borrowed(
            "self",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F16),
                access: cg::Access::Write,
            },
        ),
        cg::Parameter::borrowed(
            "by",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::F16)),
        ),
    ];
    static PARAMETERS_2: [cg::Parameter; 4] = [PARAMETER_1, PARAMETER_2, PARAMETER_3, PARAMETER_4];
    static PARAMETERS_3: [cg::Parameter; 4] = [
        PARAMETER_1,
        PARAMETER_2,
        PARAMETER_3,
        cg::Parameter::borrowed(
            "out",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::U16),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_4: [cg::Parameter; 3] = [
        cg::Parameter::borrowed(
            "f",
            cg::ParameterKind::Value(cg::ValueType::Struct(cg::Nested::Borrowed(&cg::StructLayout {
                name: cg::Cow::Borrowed("Add"),
                size: 1,
                align: 1,
                fields: cg::Cow::Borrowed(&[]),
            }))),
        ),
        cg::Parameter::borrowed(
            "bytes",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::U8),
                access: cg::Access::Write,
            },
        ),
        cg::Parameter::borrowed(
            "rows",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::U64),
                access: cg::Access::Write,
            },
        ),
    ];
    static PARAMETERS_5: [cg::Parameter; 2] = [
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::I32),
                access: cg::Access::Write,
            },
        ),
        cg::Parameter::borrowed(
            "by",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::I32)),
        ),
    ];
    static PARAMETERS_6: [cg::Parameter; 2] = [
        cg::Parameter::borrowed(
            "x",
            cg::ParameterKind::Pointer {
                element: cg::ValueType::Scalar(cg::Scalar::F32),
                access: cg::Access::Write,
            },
        ),
        cg::Parameter::borrowed(
            "by",
            cg::ParameterKind::Value(cg::ValueType::Scalar(cg::Scalar::F32)),
        ),
    ];
    static PARAMETERS_7: [cg::Parameter; 2] = [PARAMETER_4, PARAMETER_0];

    cg::KernelSet {
        format_version: 13,
        package: "cuda",
        signatures: &[
            cg::signature(
                "saxpy",
                "saxpy",
                cg::Dimension::Any,
                cg::Safety::Safe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_0,
                ("kernels/cuda.cu", 7),
            ),
            cg::signature(
                "halves",
                "halves",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_1,
                ("kernels/cuda.cu", 12),
            ),
            cg::signature(
                "blur_float",
                "_ZN7filters4blurIfEEvNS_6ParamsEPKS1_NS_5FlagsEPT_",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits {
                    max_block_threads: 128,
                    block: [0, 0, 0],
                    min_blocks: 0,
                    max_registers: 0,
                    cluster: [0, 0, 0],
                    index_width: 0,
                },
                &PARAMETERS_2,
                ("kernels/cuda.cu", 28),
            ),
            cg::signature(
                "blur_u16",
                "_ZN7filters4blurItEEvNS_6ParamsEPKS1_NS_5FlagsEPT_",
                cg::Dimension::Any,
                cg::Safety::Safe,
                cg::LaunchLimits {
                    max_block_threads: 128,
                    block: [0, 0, 0],
                    min_blocks: 0,
                    max_registers: 0,
                    cluster: [0, 0, 0],
                    index_width: 0,
                },
                &PARAMETERS_3,
                ("kernels/cuda.cu", 28),
            ),
            cg::signature(
                "apply_filters_Add",
                "_ZN7filters5applyINS_3AddEEEvT_PvPPf",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_4,
                ("kernels/cuda.cu", 35),
            ),
            cg::signature(
                "add_int_int",
                "_Z3addPii",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_5,
                ("kernels/cuda.cu", 39),
            ),
            cg::signature(
                "add_float_float",
                "_Z3addPff",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_6,
                ("kernels/cuda.cu", 40),
            ),
            cg::signature(
                "fill_1",
                "_Z4fillILi1EEvPfi",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_7,
                ("kernels/cuda.cu", 42),
            ),
            cg::signature(
                "fill_2",
                "_Z4fillILi2EEvPfi",
                cg::Dimension::Any,
                cg::Safety::Unsafe,
                cg::LaunchLimits::NONE,
                &PARAMETERS_7,
                ("kernels/cuda.cu", 42),
            ),
        ],
        functions: &[],
        variables: &[
            cg::VariableLayout {
                name: "offsets",
                symbol: "offsets",
                bytes: 8,
                sources: &["kernels/cuda.cu"],
            },
            cg::VariableLayout {
                name: "filters_offsets",
                symbol: "_ZN7filters7offsetsE",
                bytes: 4,
                sources: &["kernels/cuda.cu"],
            },
        ],
        tuned: &[],
        artifacts: &[
            cg::EmbeddedArtifact {
                fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
                target: "cpu",
                kind: cg::ArtifactKind::Object,
                source: "kernels/cuda.cu",
                bytes: &[],
                kernels: &[
                    cg::EmbeddedKernel {
                        signature: 0,
                        entry: "saxpy",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources {
                            stack_bytes: Some(64),
                            ..cg::Resources::UNKNOWN
                        },
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::with_strategy(
                                cg::CpuEntry::new(&raw const kernelmill_cpu_cuda_saxpy),
                                "thread loop: no barriers, vector widths 8, 16",
                            )
                        }),
                    },
                    cg::EmbeddedKernel {
                        signature: 2,
                        entry: "_ZN7filters4blurIfEEvNS_6ParamsEPKS1_NS_5FlagsEPT_",
                        static_shared_bytes: 0,
                        panics: false,
                        cooperative: false,
                        resources: cg::Resources {
                            stack_bytes: Some(64),
                            ..cg::Resources::UNKNOWN
                        },
                        variant: None,
                        // SAFETY: the object that is linked in exports it, and nothing writes it.
                        cpu: Some(unsafe {
                            cg::CpuEntry::with_strategy(
                                cg::CpuEntry::new(
                                    &raw const kernelmill_cpu_cuda__ZN7filters4blurIfEEvNS_6ParamsEPKS1_NS_5FlagsEPT_,
                                ),
                                "thread loop: no barriers, vector widths 8, 16",
                            )
                        }),
                    },
                ],
                locations: &[],
                backtraces: &[],
                messages: &[],
                relocations: &[],
                // SAFETY: the object that is linked in exports them.
                variables: &[
                    unsafe {
                        cg::CpuVariable::new(
                            "offsets",
                            &raw const kernelmill_variable_cuda_offsets,
                        )
                    },
                ],
            },
            cg::EmbeddedArtifact {
                fingerprint: "0000000000000000000000000000000000000000000000000000000000000000",
                target: "compute_75",
                kind: cg::ArtifactKind::Ptx,
                source: "kernels/cuda.cu",
                bytes: include_bytes!("cuda.ptx"),
                kernels: &[
                    cg::EmbeddedKernel::loaded(
                        0,
                        "saxpy",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        1,
                        "halves",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        2,
                        "_ZN7filters4blurIfEEvNS_6ParamsEPKS1_NS_5FlagsEPT_",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        3,
                        "_ZN7filters4blurItEEvNS_6ParamsEPKS1_NS_5FlagsEPT_",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        4,
                        "_ZN7filters5applyINS_3AddEEEvT_PvPPf",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        5,
                        "_Z3addPii",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        6,
                        "_Z3addPff",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        7,
                        "_Z4fillILi1EEvPfi",
                        0,
                        false,
                        cg::Resources {
                            registers: Some(40),
                            spill_stores: Some(8),
                            spill_loads: Some(16),
                            stack_bytes: Some(8),
                            static_shared_bytes: Some(0),
                            ..cg::Resources::UNKNOWN
                        },
                    ),
                    cg::EmbeddedKernel::loaded(
                        8,
                        "_Z4fillILi2EEvPfi",
                        0,
                        false,
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
    static kernelmill_cpu_cuda_saxpy: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_cpu_cuda__ZN7filters4blurIfEEvNS_6ParamsEPKS1_NS_5FlagsEPT_: ::kernelmill::__codegen::CpuKernel;
    static kernelmill_variable_cuda_offsets: ::kernelmill::__codegen::VariableMemory<8>;
}

/// `Add` of the kernels: 1 bytes, laid out as on every device.
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
pub struct Add(
    /// The byte that C++ gives an empty struct.
    u8,
);
::kernelmill::__codegen::device_struct!(Add, size = 1, align = 1);

/// `Params` of the kernels: 48 bytes, laid out as on every device.
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
    /// `scale` of the kernels' struct.
    pub scale: f32,
    /// `mode` of the kernels' struct.
    pub mode: Mode,
    /// `color` of the kernels' struct.
    pub color: float4,
    /// `crop` of the kernels' struct.
    pub crop: Params_crop,
    /// `masks` of the kernels' struct.
    pub masks: [[bool; 3]; 2],
}
::kernelmill::__codegen::device_struct!(
    Params,
    size = 48,
    align = 16,
    scale = 0,
    mode = 4,
    color = 16,
    crop = 32,
    masks = 40,
);

/// `Params_crop` of the kernels: 8 bytes, laid out as on every device.
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
pub struct Params_crop {
    /// `left` of the kernels' struct.
    pub left: i32,
    /// `right` of the kernels' struct.
    pub right: i32,
}
::kernelmill::__codegen::device_struct!(Params_crop, size = 8, align = 4, left = 0, right = 4);

/// `float4` of the kernels: 16 bytes, laid out as on every device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    clippy::type_complexity,
    reason = "named as in the kernels, and used or not"
)]
#[repr(C, align(16))]
pub struct float4 {
    /// `x` of the kernels' struct.
    pub x: f32,
    /// `y` of the kernels' struct.
    pub y: f32,
    /// `z` of the kernels' struct.
    pub z: f32,
    /// `w` of the kernels' struct.
    pub w: f32,
}
::kernelmill::__codegen::device_struct!(
    float4,
    size = 16,
    align = 16,
    x = 0,
    y = 4,
    z = 8,
    w = 12,
);

/// `Flags` of the kernels: a number, and constants for the values that have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    dead_code,
    non_camel_case_types,
    unreachable_pub,
    reason = "named as in the kernels, and used or not"
)]
#[repr(transparent)]
pub struct Flags(
    /// The number.
    pub u8,
);

#[allow(
    dead_code,
    non_upper_case_globals,
    unreachable_pub,
    clippy::unreadable_literal,
    reason = "named as in the kernels, and used or not"
)]
impl Flags {
    /// `None` of the kernels' enumeration.
    pub const None: Self = Self(0);

    /// `type` of the kernels' enumeration.
    pub const r#type: Self = Self(1);
}
::kernelmill::__codegen::device_struct!(Flags, size = 1, align = 1);

/// `Mode` of the kernels: a number, and constants for the values that have names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(
    dead_code,
    non_camel_case_types,
    unreachable_pub,
    reason = "named as in the kernels, and used or not"
)]
#[repr(transparent)]
pub struct Mode(
    /// The number.
    pub i32,
);

#[allow(
    dead_code,
    non_upper_case_globals,
    unreachable_pub,
    clippy::unreadable_literal,
    reason = "named as in the kernels, and used or not"
)]
impl Mode {
    /// `Nearest` of the kernels' enumeration.
    pub const Nearest: Self = Self(0);

    /// `Linear` of the kernels' enumeration.
    pub const Linear: Self = Self(5);

    /// `Lowest` of the kernels' enumeration.
    pub const Lowest: Self = Self(-70000);
}
::kernelmill::__codegen::device_struct!(Mode, size = 4, align = 4);

::kernelmill::__codegen::needs_half!(
    "kernels/cuda.cu:12: the parameters `in`, `self`, `by` of the kernel `halves` have numbers in half precision",
);

/// The kernels of the package `cuda`, loaded on one device.
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

    /// The variables of the kernels' sources that the host reads and writes.
    #[must_use]
    pub const fn variables(&self) -> DeviceVariables<'_> {
        DeviceVariables { loaded: &self.loaded }
    }

    /// Launches the kernel `saxpy` of `kernels/cuda.cu:7`:
    /// `fn saxpy(a: f32, x: *const f32, y: *mut f32, n: i32)`.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    ///
    /// Where a rule of its contract does not hold:
    /// - `x.len >= n`
    /// - `y.len >= n`
    /// - `n >= 0 && block.x <= 256`
    /// - `grid.x * block.x >= n || n > 1_000_000`
    /// - `block.y == 1 && block.z == 1`
    /// - `shared == 4 * (block.x - 1) || shared % 2 == -0`
    pub fn saxpy(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<f32>,
        y: impl ::kernelmill::WriteSlice<f32>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        let __stream = ::kernelmill::__codegen::stream(__stream);
        let x = ::kernelmill::__codegen::read(x, __stream)?;
        let y = ::kernelmill::__codegen::write(y, __stream)?;
        let __launch: ::kernelmill::Launch<3> = __launch.into();
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::at_least(
                ::kernelmill::__codegen::rule::len(&x),
                ::kernelmill::__codegen::rule::int(n),
            ),
            "saxpy",
            "x.len >= n",
            &[
                ("x.len", ::kernelmill::__codegen::rule::len(&x)),
                ("n", ::kernelmill::__codegen::rule::int(n)),
            ],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::at_least(
                ::kernelmill::__codegen::rule::len(&y),
                ::kernelmill::__codegen::rule::int(n),
            ),
            "saxpy",
            "y.len >= n",
            &[
                ("y.len", ::kernelmill::__codegen::rule::len(&y)),
                ("n", ::kernelmill::__codegen::rule::int(n)),
            ],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::both(
                ::kernelmill::__codegen::rule::at_least(
                    ::kernelmill::__codegen::rule::int(n),
                    ::kernelmill::__codegen::rule::int(0_i128),
                ),
                ::kernelmill::__codegen::rule::at_most(
                    ::kernelmill::__codegen::rule::int(__launch.block_size()[0]),
                    ::kernelmill::__codegen::rule::int(256_i128),
                ),
            ),
            "saxpy",
            "n >= 0 && block.x <= 256",
            &[
                ("n", ::kernelmill::__codegen::rule::int(n)),
                ("block.x", ::kernelmill::__codegen::rule::int(__launch.block_size()[0])),
            ],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::either(
                ::kernelmill::__codegen::rule::at_least(
                    ::kernelmill::__codegen::rule::multiply(
                        ::kernelmill::__codegen::rule::int(__launch.grid_size()[0]),
                        ::kernelmill::__codegen::rule::int(__launch.block_size()[0]),
                    ),
                    ::kernelmill::__codegen::rule::int(n),
                ),
                ::kernelmill::__codegen::rule::greater(
                    ::kernelmill::__codegen::rule::int(n),
                    ::kernelmill::__codegen::rule::int(1000000_i128),
                ),
            ),
            "saxpy",
            "grid.x * block.x >= n || n > 1_000_000",
            &[
                ("grid.x", ::kernelmill::__codegen::rule::int(__launch.grid_size()[0])),
                ("block.x", ::kernelmill::__codegen::rule::int(__launch.block_size()[0])),
                ("n", ::kernelmill::__codegen::rule::int(n)),
            ],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::both(
                ::kernelmill::__codegen::rule::equal(
                    ::kernelmill::__codegen::rule::int(__launch.block_size()[1]),
                    ::kernelmill::__codegen::rule::int(1_i128),
                ),
                ::kernelmill::__codegen::rule::equal(
                    ::kernelmill::__codegen::rule::int(__launch.block_size()[2]),
                    ::kernelmill::__codegen::rule::int(1_i128),
                ),
            ),
            "saxpy",
            "block.y == 1 && block.z == 1",
            &[
                ("block.y", ::kernelmill::__codegen::rule::int(__launch.block_size()[1])),
                ("block.z", ::kernelmill::__codegen::rule::int(__launch.block_size()[2])),
            ],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::either(
                ::kernelmill::__codegen::rule::equal(
                    ::kernelmill::__codegen::rule::int(__launch.dynamic_shared_bytes()),
                    ::kernelmill::__codegen::rule::multiply(
                        ::kernelmill::__codegen::rule::int(4_i128),
                        ::kernelmill::__codegen::rule::subtract(
                            ::kernelmill::__codegen::rule::int(__launch.block_size()[0]),
                            ::kernelmill::__codegen::rule::int(1_i128),
                        ),
                    ),
                ),
                ::kernelmill::__codegen::rule::equal(
                    ::kernelmill::__codegen::rule::remainder(
                        ::kernelmill::__codegen::rule::int(__launch.dynamic_shared_bytes()),
                        ::kernelmill::__codegen::rule::int(2_i128),
                    ),
                    ::kernelmill::__codegen::rule::subtract(
                        ::kernelmill::__codegen::rule::int(0_i128),
                        ::kernelmill::__codegen::rule::int(0_i128),
                    ),
                ),
            ),
            "saxpy",
            "shared == 4 * (block.x - 1) || shared % 2 == -0",
            &[
                ("shared", ::kernelmill::__codegen::rule::int(__launch.dynamic_shared_bytes())),
                ("block.x", ::kernelmill::__codegen::rule::int(__launch.block_size()[0])),
            ],
        )?;
        // SAFETY: the arguments are those of signature 0, in its order; the contract
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch(
                &self.loaded,
                0,
                __stream,
                __launch,
                &[
                    ::kernelmill::__codegen::Argument::value(&a),
                    ::kernelmill::__codegen::Argument::pointer(&x),
                    ::kernelmill::__codegen::Argument::pointer(&y),
                    ::kernelmill::__codegen::Argument::value(&n),
                ],
            )
        }
    }

    /// Launches the kernel `halves` of `kernels/cuda.cu:12`:
    /// `unsafe fn halves(in: *const f16, self: *mut f16, by: f16)`.
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
    /// A contract in the configuration, `[kernels.halves]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn halves(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        r#in: impl ::kernelmill::ReadSlice<::kernelmill::__codegen::half::f16>,
        self_: impl ::kernelmill::WriteSlice<::kernelmill::__codegen::half::f16>,
        by: ::kernelmill::__codegen::half::f16,
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
                    ::kernelmill::__codegen::read_pointer(r#in),
                    ::kernelmill::__codegen::write_pointer(self_),
                    ::kernelmill::__codegen::Value(by),
                ),
            )
        }
    }

    /// Launches the kernel `filters::blur<float>(filters::Params, filters::Params const*, filters::Flags, float*)` of `kernels/cuda.cu:28`:
    /// `unsafe fn blur_float(params: Params, more: *const Params, type: Flags, out: *mut f32)`.
    ///
    /// Its source limits a block to 128 threads.
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
    /// A contract in the configuration, `[kernels.blur_float]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn blur_float(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        params: Params,
        more: impl ::kernelmill::ReadSlice<Params>,
        r#type: Flags,
        out: impl ::kernelmill::WriteSlice<f32>,
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
                    ::kernelmill::__codegen::Value(params),
                    ::kernelmill::__codegen::read_pointer(more),
                    ::kernelmill::__codegen::Value(r#type),
                    ::kernelmill::__codegen::write_pointer(out),
                ),
            )
        }
    }

    /// Launches the kernel `filters::blur<unsigned short>(filters::Params, filters::Params const*, filters::Flags, unsigned short*)` of `kernels/cuda.cu:28`:
    /// `fn blur_u16(params: Params, more: *const Params, type: Flags, out: *mut u16)`.
    ///
    /// Its source limits a block to 128 threads.
    ///
    /// The launch is asynchronous: what goes wrong on the device is reported when the stream is
    /// synchronised or a buffer is downloaded.
    ///
    /// # Errors
    ///
    /// Where the launch does not fit the device, a buffer is on another device, or the driver
    /// refuses the launch.
    ///
    /// Where a rule of its contract does not hold:
    /// - `more.len > 0`
    /// - `out.len >= params.crop.left`
    /// - `block.x != params.crop.left`
    pub fn blur_u16(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        params: Params,
        more: impl ::kernelmill::ReadSlice<Params>,
        r#type: Flags,
        out: impl ::kernelmill::WriteSlice<u16>,
    ) -> ::kernelmill::Result<()> {
        let __stream = ::kernelmill::__codegen::stream(__stream);
        let more = ::kernelmill::__codegen::read(more, __stream)?;
        let out = ::kernelmill::__codegen::write(out, __stream)?;
        let __launch: ::kernelmill::Launch<3> = __launch.into();
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::greater(
                ::kernelmill::__codegen::rule::len(&more),
                ::kernelmill::__codegen::rule::int(0_i128),
            ),
            "blur_u16",
            "more.len > 0",
            &[("more.len", ::kernelmill::__codegen::rule::len(&more))],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::at_least(
                ::kernelmill::__codegen::rule::len(&out),
                ::kernelmill::__codegen::rule::int(params.crop.left),
            ),
            "blur_u16",
            "out.len >= params.crop.left",
            &[
                ("out.len", ::kernelmill::__codegen::rule::len(&out)),
                ("params.crop.left", ::kernelmill::__codegen::rule::int(params.crop.left)),
            ],
        )?;
        ::kernelmill::__codegen::require(
            ::kernelmill::__codegen::rule::different(
                ::kernelmill::__codegen::rule::int(__launch.block_size()[0]),
                ::kernelmill::__codegen::rule::int(params.crop.left),
            ),
            "blur_u16",
            "block.x != params.crop.left",
            &[
                ("block.x", ::kernelmill::__codegen::rule::int(__launch.block_size()[0])),
                ("params.crop.left", ::kernelmill::__codegen::rule::int(params.crop.left)),
            ],
        )?;
        // SAFETY: the arguments are those of signature 3, in its order; the contract
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch(
                &self.loaded,
                3,
                __stream,
                __launch,
                &[
                    ::kernelmill::__codegen::Argument::value(&params),
                    ::kernelmill::__codegen::Argument::pointer(&more),
                    ::kernelmill::__codegen::Argument::value(&r#type),
                    ::kernelmill::__codegen::Argument::pointer(&out),
                ],
            )
        }
    }

    /// Launches the kernel `filters::apply<filters::Add>(filters::Add, void*, float**)` of `kernels/cuda.cu:35`:
    /// `unsafe fn apply_filters_Add(f: Add, bytes: *mut u8, rows: *mut u64)`.
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
    /// A contract in the configuration, `[kernels.apply_filters_Add]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn apply_filters_Add(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        f: Add,
        bytes: impl ::kernelmill::WriteSlice<u8>,
        rows: impl ::kernelmill::WriteSlice<u64>,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 4, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                4,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::Value(f),
                    ::kernelmill::__codegen::write_pointer(bytes),
                    ::kernelmill::__codegen::write_pointer(rows),
                ),
            )
        }
    }

    /// Launches the kernel `add(int*, int)` of `kernels/cuda.cu:39`:
    /// `unsafe fn add_int_int(x: *mut i32, by: i32)`.
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
    /// A contract in the configuration, `[kernels.add_int_int]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn add_int_int(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        x: impl ::kernelmill::WriteSlice<i32>,
        by: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 5, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                5,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::write_pointer(x),
                    ::kernelmill::__codegen::Value(by),
                ),
            )
        }
    }

    /// Launches the kernel `add(float*, float)` of `kernels/cuda.cu:40`:
    /// `unsafe fn add_float_float(x: *mut f32, by: f32)`.
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
    /// A contract in the configuration, `[kernels.add_float_float]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn add_float_float(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        x: impl ::kernelmill::WriteSlice<f32>,
        by: f32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 6, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                6,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::write_pointer(x),
                    ::kernelmill::__codegen::Value(by),
                ),
            )
        }
    }

    /// Launches the kernel `fill<1>(float*, int)` of `kernels/cuda.cu:42`:
    /// `unsafe fn fill_1(out: *mut f32, n: i32)`.
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
    /// A contract in the configuration, `[kernels.fill_1]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn fill_1(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 7, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                7,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::write_pointer(out),
                    ::kernelmill::__codegen::Value(n),
                ),
            )
        }
    }

    /// Launches the kernel `fill<2>(float*, int)` of `kernels/cuda.cu:42`:
    /// `unsafe fn fill_2(out: *mut f32, n: i32)`.
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
    /// A contract in the configuration, `[kernels.fill_2]` with `requires`, makes this
    /// a safe function.
    pub unsafe fn fill_2(
        &self,
        __stream: &impl ::kernelmill::LaunchStream,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the arguments are those of signature 8, in its order; the caller
        // answers for what it does with them.
        unsafe {
            ::kernelmill::__codegen::launch_with(
                &self.loaded,
                8,
                __stream,
                __launch,
                (
                    ::kernelmill::__codegen::write_pointer(out),
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
    /// The kernel of `kernels/cuda.cu:7`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn saxpy(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(0)
    }

    /// The kernel of `kernels/cuda.cu:12`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn halves(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(1)
    }

    /// The kernel of `kernels/cuda.cu:28`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn blur_float(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(2)
    }

    /// The kernel of `kernels/cuda.cu:28`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn blur_u16(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(3)
    }

    /// The kernel of `kernels/cuda.cu:35`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn apply_filters_Add(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(4)
    }

    /// The kernel of `kernels/cuda.cu:39`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn add_int_int(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(5)
    }

    /// The kernel of `kernels/cuda.cu:40`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn add_float_float(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(6)
    }

    /// The kernel of `kernels/cuda.cu:42`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn fill_1(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(7)
    }

    /// The kernel of `kernels/cuda.cu:42`.
    ///
    /// # Errors
    ///
    /// Where it is not compiled for this device.
    pub fn fill_2(&self) -> ::kernelmill::Result<::kernelmill::CompiledKernel> {
        self.loaded.compiled(8)
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
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        a: f32,
        x: impl ::kernelmill::ReadSlice<f32> + 'a,
        y: impl ::kernelmill::WriteSlice<f32> + 'a,
        n: i32,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.saxpy(__stream, __launch, a, x, y, n)
            })
        }
    }

    /// Prepares a launch of [`Kernels::halves`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::halves`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::halves`], for every launch.
    pub unsafe fn halves<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        r#in: impl ::kernelmill::ReadSlice<::kernelmill::__codegen::half::f16> + 'a,
        self_: impl ::kernelmill::WriteSlice<::kernelmill::__codegen::half::f16> + 'a,
        by: ::kernelmill::__codegen::half::f16,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.halves(__stream, __launch, r#in, self_, by)
            })
        }
    }

    /// Prepares a launch of [`Kernels::blur_float`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::blur_float`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::blur_float`], for every launch.
    pub unsafe fn blur_float<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        params: Params,
        more: impl ::kernelmill::ReadSlice<Params> + 'a,
        r#type: Flags,
        out: impl ::kernelmill::WriteSlice<f32> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.blur_float(__stream, __launch, params, more, r#type, out)
            })
        }
    }

    /// Prepares a launch of [`Kernels::blur_u16`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::blur_u16`].
    pub fn blur_u16<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        params: Params,
        more: impl ::kernelmill::ReadSlice<Params> + 'a,
        r#type: Flags,
        out: impl ::kernelmill::WriteSlice<u16> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.blur_u16(__stream, __launch, params, more, r#type, out)
            })
        }
    }

    /// Prepares a launch of [`Kernels::apply_filters_Add`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::apply_filters_Add`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::apply_filters_Add`], for every launch.
    pub unsafe fn apply_filters_Add<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        f: Add,
        bytes: impl ::kernelmill::WriteSlice<u8> + 'a,
        rows: impl ::kernelmill::WriteSlice<u64> + 'a,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.apply_filters_Add(__stream, __launch, f, bytes, rows)
            })
        }
    }

    /// Prepares a launch of [`Kernels::add_int_int`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::add_int_int`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::add_int_int`], for every launch.
    pub unsafe fn add_int_int<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        x: impl ::kernelmill::WriteSlice<i32> + 'a,
        by: i32,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.add_int_int(__stream, __launch, x, by)
            })
        }
    }

    /// Prepares a launch of [`Kernels::add_float_float`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::add_float_float`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::add_float_float`], for every launch.
    pub unsafe fn add_float_float<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        x: impl ::kernelmill::WriteSlice<f32> + 'a,
        by: f32,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.add_float_float(__stream, __launch, x, by)
            })
        }
    }

    /// Prepares a launch of [`Kernels::fill_1`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::fill_1`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::fill_1`], for every launch.
    pub unsafe fn fill_1<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32> + 'a,
        n: i32,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.fill_1(__stream, __launch, out, n)
            })
        }
    }

    /// Prepares a launch of [`Kernels::fill_2`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::fill_2`].
    ///
    /// # Safety
    ///
    /// As [`Kernels::fill_2`], for every launch.
    pub unsafe fn fill_2<'a>(
        &self,
        __launch: impl ::core::convert::Into<::kernelmill::Launch<3>>,
        out: impl ::kernelmill::WriteSlice<f32> + 'a,
        n: i32,
    ) -> ::kernelmill::Result<::kernelmill::PreparedLaunch<'a>> {
        let __device = self.kernels.loaded.device();
        // SAFETY: what the launch uses is borrowed for `'a`; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::prepare(__device, |__stream| {
                self.kernels.fill_2(__stream, __launch, out, n)
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
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                0,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.saxpy(__stream, __launch, a, __slices.take(), __slices.take(), n)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::halves`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::halves`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::halves`], for every launch.
    pub unsafe fn halves(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        by: ::kernelmill::__codegen::half::f16,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                1,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.halves(__stream, __launch, __slices.take(), __slices.take(), by)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::blur_float`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::blur_float`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::blur_float`], for every launch.
    pub unsafe fn blur_float(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        params: Params,
        r#type: Flags,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                2,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.blur_float(__stream, __launch, params, __slices.take(), r#type, __slices.take())
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::blur_u16`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::blur_u16`], and for a launch of another kernel: the launch stays as it was.
    pub fn blur_u16(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        params: Params,
        r#type: Flags,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                3,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.blur_u16(__stream, __launch, params, __slices.take(), r#type, __slices.take())
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::apply_filters_Add`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::apply_filters_Add`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::apply_filters_Add`], for every launch.
    pub unsafe fn apply_filters_Add(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        f: Add,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                4,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.apply_filters_Add(__stream, __launch, f, __slices.take(), __slices.take())
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::add_int_int`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::add_int_int`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::add_int_int`], for every launch.
    pub unsafe fn add_int_int(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        by: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                5,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.add_int_int(__stream, __launch, __slices.take(), by)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::add_float_float`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::add_float_float`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::add_float_float`], for every launch.
    pub unsafe fn add_float_float(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        by: f32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                6,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.add_float_float(__stream, __launch, __slices.take(), by)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::fill_1`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::fill_1`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::fill_1`], for every launch.
    pub unsafe fn fill_1(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                7,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.fill_1(__stream, __launch, __slices.take(), n)
                },
            )
        }
    }

    /// Sets the scalars of a prepared launch of [`Kernels::fill_2`].
    ///
    /// # Errors
    ///
    /// As [`Kernels::fill_2`], and for a launch of another kernel: the launch stays as it was.
    ///
    /// # Safety
    ///
    /// As [`Kernels::fill_2`], for every launch.
    pub unsafe fn fill_2(
        &self,
        __prepared: &mut ::kernelmill::PreparedLaunch<'_>,
        n: i32,
    ) -> ::kernelmill::Result<()> {
        // SAFETY: the slices are where the kernel has slices; the caller answers for the rest.
        unsafe {
            ::kernelmill::__codegen::set_scalars(
                __prepared,
                &self.kernels.loaded,
                8,
                |__stream, __launch: ::kernelmill::Launch<3>, __slices| {
                    self.kernels.fill_2(__stream, __launch, __slices.take(), n)
                },
            )
        }
    }
}

/// The variables that the host reads and writes, for [`Kernels::variables`].
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, unreachable_pub, reason = "a program need not set anything")]
pub struct DeviceVariables<'a> {
    loaded: &'a ::kernelmill::__codegen::Loaded,
}

#[allow(
    dead_code,
    non_snake_case,
    unreachable_pub,
    clippy::similar_names,
    reason = "the methods have the names of the variables, used or not"
)]
impl DeviceVariables<'_> {
    /// The variable of `kernels/cuda.cu:7`.
    ///
    /// # Errors
    ///
    /// Where no binary that is loaded on this device has it.
    pub fn offsets(&self) -> ::kernelmill::Result<::kernelmill::DeviceVariable<[f32; 2]>> {
        // SAFETY: this is its type.
        unsafe { self.loaded.variable(&SET.variables[0]) }
    }

    /// The variable of `kernels/cuda.cu:7`.
    ///
    /// # Errors
    ///
    /// Where no binary that is loaded on this device has it.
    pub fn filters_offsets(&self) -> ::kernelmill::Result<::kernelmill::DeviceVariable<f32>> {
        // SAFETY: this is its type.
        unsafe { self.loaded.variable(&SET.variables[1]) }
    }
}
