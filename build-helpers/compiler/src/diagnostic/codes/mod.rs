//! Error codes: one for each kind of error that a build shows, as in
//! [rustc's index](https://doc.rust-lang.org/error_codes/error-index.html).
//!
//! The table below is the registry. A code keeps its number and its meaning: a new kind of error gets a new
//! number, and the number of one that no longer occurs is not used again. `explanations` has a Markdown file for
//! each code, with an example that fails and the same example mended.

use std::{fmt, str::FromStr};

macro_rules! codes {
    ($($number:ident $name:ident: $title:literal;)*) => {
        /// The code of a kind of error.
        ///
        /// ```
        /// use kernelmill_compiler::diagnostic::Code;
        /// let code: Code = "KM0003".parse().unwrap();
        /// assert_eq!(code, Code::UnknownTarget);
        /// assert_eq!(code.to_string(), "KM0003");
        /// assert!(code.explanation().contains("compute_75"));
        /// assert!("KM9999".parse::<Code>().is_err());
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $(
                #[doc = concat!("`", stringify!($number), "`: ", $title, ".")]
                $name,
            )*
        }

        impl Code {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as messages have it, for example `KM0003`.
            #[must_use]
            pub fn number(self) -> &'static str {
                match self { $(Self::$name => stringify!($number),)* }
            }

            /// What the errors with this code have in common, in one line without a period.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// Why the error occurs and how to correct it, in Markdown, with an example.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("explanations/", stringify!($number), ".md")),)*
                }
            }
        }
    };
}

codes! {
    KM0001 UnknownSetting: "The settings have a key or a table that does not exist";
    KM0002 SettingValue: "A setting has a value that it cannot have";
    KM0003 UnknownTarget: "A target does not exist";
    KM0004 NoTarget: "No target is named";
    KM0005 SettingsFile: "A file of settings cannot be read";
    KM0006 TwoSettings: "Settings are in two places";
    KM0007 CompilerArgument: "An argument or an option keeps a compiler from compiling kernels";
    KM0008 Variable: "An environment variable has a value that cannot be read";
    KM0009 Contract: "A rule of a contract is not valid";
    KM0010 UnknownKernel: "The settings name a kernel that no source has";
    KM0011 KernelSettings: "The settings of a kernel do not suit it";
    KM0012 DeclaredParameters: "The declared parameters of a kernel are not valid";
    KM0013 Launches: "The launch bounds of a kernel are not valid";
    KM0014 Variants: "A variant of a kernel is not valid";
    KM0015 TuningFile: "The file `kernelmill-tuning.toml` cannot be used";
    KM0016 MappedType: "A type of `types` cannot be mapped to a struct of a kernel";
    KM0020 NoKernels: "No kernels are found";
    KM0021 MissingFile: "A file that the settings name does not exist";
    KM0022 NoKernelSource: "A file or folder that is named as a source has no kernel";
    KM0023 UnreadableFile: "A file cannot be read as a source";
    KM0024 LargeSource: "A source or a folder is too large to be read";
    KM0025 Nesting: "A source is nested too deeply";
    KM0026 MissingFeature: "A source is in a language that this build does not have";
    KM0027 SameName: "Two kernels or functions have the same name";
    KM0028 ReservedName: "A kernel or type has a name that the generated bindings need";
    KM0029 DifferentTypes: "Two types of one name differ";
    KM0030 Override: "A file cannot replace a stage of a kernel";
    KM0031 Dependency: "What a dependency exports to kernels cannot be used";
    KM0032 KernelModule: "`#[kernelmill::kernels]` is in a place where it is not allowed";
    KM0033 OutsideModule: "A module of kernels names something outside of it";
    KM0040 ParameterType: "A parameter has a type that cannot cross from host to device";
    KM0041 KernelSignature: "A function cannot be a kernel";
    KM0042 Instances: "The instances of a generic kernel are not given, or not valid";
    KM0043 KernelAttribute: "An argument of `#[kernel]` is not valid";
    KM0044 HiddenKernel: "A kernel is in a place where the build cannot find it";
    KM0045 DeviceFunction: "A function cannot be passed to kernels";
    KM0046 NoDeviceFunction: "No function has the type that a kernel takes";
    KM0047 LargeVariable: "A variable is too large";
    KM0048 TooManyArguments: "A kernel has too many arguments";
    KM0049 OtherTypes: "The types in the compiled code differ from those that were read from the source";
    KM0050 ParameterSpace: "The parameters of a kernel take more space than its target has";
    KM0060 UnsuitedTarget: "A source has no target, or a target no source";
    KM0061 MissingTool: "A tool that the build needs is not installed";
    KM0062 ToolVersion: "A tool is too old, or newer than what reads its output";
    KM0063 DeviceLibrary: "A device library is missing, or lacks a function";
    KM0064 HostProcessor: "Kernels cannot be built for the host of the application";
    KM0065 HostCode: "Host code of CUDA C++ has no NVIDIA target";
    KM0066 ToolEnded: "A tool did not finish";
    KM0067 ToolFailed: "A tool cannot be run, or failed on what it was given";
    KM0068 NoBitcode: "A compiler wrote no bitcode";
    KM0069 RustToolchain: "The Rust toolchain cannot be used";
    KM0070 VendorMath: "The vendor's math library is not installed";
    KM0080 CompilerMessage: "nvcc, clang or ptxas refused a source";
    KM0081 LlvmIr: "A file in LLVM IR cannot be used";
    KM0082 Ptx: "A file in PTX cannot be used";
    KM0083 Wgsl: "A file in WGSL cannot be used";
    KM0084 CppFeature: "A kernel in C++ or LLVM IR uses a feature that its targets do not support";
    KM0085 Generation: "LLVM cannot generate code";
    KM0086 ExternalFunction: "A reference to an external device function cannot be resolved";
    KM0087 Plugin: "A plugin of the compiler refused a kernel";
    KM0088 LaunchState: "A kernel uses launch state that it cannot be given";
    KM0089 Threshold: "A kernel takes more of a device than the settings allow";
    KM0100 Unsupported: "A kernel cannot be compiled for a target";
    KM0101 Undefined: "A kernel uses a function or variable without a definition";
    KM0102 OperatingSystem: "A kernel needs an operating system";
    KM0103 Heap: "A kernel allocates memory where its target has none";
    KM0104 Recursion: "A function calls itself on every path";
    KM0105 StaticAssertion: "A static assertion does not hold, or is not known";
    KM0106 LiteralAddress: "A kernel uses memory at an address that is a number";
    KM0107 ThreadLocal: "A kernel uses a thread-local variable of the host";
    KM0108 OtherMachine: "A kernel uses a type, an instruction or a call that its target does not have";
    KM0109 SharedMemory: "A block takes more shared memory than there is, or uses it wrongly";
    KM0110 Stack: "A kernel needs more stack than a thread has";
    KM0111 Barrier: "A barrier is in a place where the threads of a block cannot wait for each other";
    KM0112 BlockArray: "It is not proven that all threads of a block reach a barrier of a block array together";
    KM0113 Marker: "A marker was not replaced by a plugin or by the compiler";
    KM0114 OwnName: "A source defines a name that is reserved for kernelmill";
    KM0115 LargeData: "A kernel uses more constant data or variables than its target has";
    KM0120 Files: "A file of the build cannot be read or written";
    KM0121 Store: "The store of compiled kernels cannot be used";
    KM0122 NotInBuildScript: "`kernelmill-build` runs outside of a build script";
    KM0123 Internal: "An internal error of kernelmill";
    KM0124 LlvmEnded: "LLVM terminated the compiler";
}

/// A text that is the number of no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no error code `{text}`: the codes are KM and four digits, for example {}", Code::ALL[0])]
pub struct UnknownCode {
    /// The text.
    pub text: String,
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Reads `KM0003`, in any case, with or without `KM` and leading zeros.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let upper = text.trim().to_ascii_uppercase();
        let digits = upper.strip_prefix("KM").unwrap_or(&upper);
        let padded = format!("KM{digits:0>4}");
        let found = Self::ALL.iter().find(|code| code.number() == padded);
        found.copied().ok_or_else(|| UnknownCode { text: text.to_owned() })
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.number())
    }
}
