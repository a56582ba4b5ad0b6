//! Codes of errors: a number and an explanation for each variant of [`Error`], as the errors of a build have
//! (`kernelmill_build::Code`).
//!
//! The table below is the registry. A code keeps its number and its meaning: a new variant gets a new number, and the
//! number of one that is gone is not used again. `explanations` has a Markdown file for each; its examples are
//! documentation tests.

use std::{fmt, str::FromStr};

use super::variants::Error;

macro_rules! codes {
    ($($number:ident $name:ident: $title:literal;)*) => {
        /// The code of a variant of [`Error`]: `KM` and four digits, from 1001 on.
        ///
        /// ```
        /// use kernelmill::ErrorCode;
        /// let device = kernelmill::Device::cpu()?;
        /// let error = device.zeros::<u64>(usize::MAX).unwrap_err();
        /// assert_eq!(error.code(), ErrorCode::OutOfMemory);
        /// assert_eq!(error.code().number(), "KM1016");
        /// assert_eq!("km1016".parse(), Ok(ErrorCode::OutOfMemory));
        /// assert!("KM0003".parse::<ErrorCode>().is_err(), "that is a code of builds");
        /// # Ok::<(), kernelmill::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(
                #[doc = concat!("`", stringify!($number), "`: ", $title, ".\n\n")]
                #[doc = include_str!(concat!("explanations/", stringify!($number), ".md"))]
                $name,
            )*
        }

        impl ErrorCode {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as messages have it, for example `KM1016`.
            #[must_use]
            pub fn number(self) -> &'static str {
                match self { $(Self::$name => stringify!($number),)* }
            }

            /// What the error is, in one line without a period.
            #[must_use]
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)* }
            }

            /// Why the error occurs and what to do, in Markdown.
            #[must_use]
            pub fn explanation(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("explanations/", stringify!($number), ".md")),)*
                }
            }
        }

        impl Error {
            /// Its code: `cargo kernelmill explain CODE` says why it occurs and what to do.
            #[must_use]
            pub fn code(&self) -> ErrorCode {
                match self { $(Self::$name { .. } => ErrorCode::$name,)* }
            }
        }
    };
}

codes! {
    KM1001 KernelPanic: "A kernel panicked";
    KM1002 Limit: "A launch asks for more than the device or the kernel allows";
    KM1003 Cluster: "A grid cannot be divided into clusters";
    KM1004 Unsupported: "A device does not have what a program asks for";
    KM1005 NoVariant: "No build of a kernel fits a launch";
    KM1006 EmptyBlock: "A block has no threads";
    KM1007 Contract: "A contract of a kernel does not hold";
    KM1008 ForeignFunction: "A kernel is passed a function of another package";
    KM1009 TensorMap: "A tensor map breaks a rule of the hardware that copies tiles";
    KM1010 WrongDevice: "A buffer, a stream or a kernel of another device is used";
    KM1011 Misaligned: "Memory is less aligned than its elements have to be";
    KM1012 LengthMismatch: "A buffer and a slice of the host have different lengths";
    KM1013 BufferMismatch: "Two buffers of a copy have different lengths";
    KM1014 Rows: "Rows of a copy are not within the memory, or overlap";
    KM1015 Cast: "Memory cannot be cast to elements of another type";
    KM1016 OutOfMemory: "Memory could not be allocated";
    KM1017 NoBinary: "No embedded binary runs on the device";
    KM1018 FormatVersion: "The bindings are of another version of kernelmill";
    KM1019 MissingKernel: "An embedded binary lacks a kernel that its bindings have";
    KM1020 MissingVariable: "No loaded binary has a device variable";
    KM1021 VariableInUse: "A device variable is in use";
    KM1022 VariableRange: "An index is beyond the end of a device variable";
    KM1023 Loader: "The loader that the program has set has failed";
    KM1024 UndefinedSymbol: "A symbol of the program has no value";
    KM1025 SymbolSize: "The value of a symbol has another size than the kernels expect";
    KM1026 NoCompiler: "A compiler for run-time compilation cannot be used";
    KM1027 Compile: "A source that is compiled at run time does not compile";
    KM1028 NoKernel: "A program that was compiled at run time has no such kernel";
    KM1029 Arguments: "The arguments of a launch are not those of the kernel";
    KM1030 Database: "The database of compiled programs cannot be used";
    KM1031 LaunchTimeout: "A launch took longer than the watchdog allows";
    KM1032 Variable: "An environment variable cannot be read";
    KM1033 Unavailable: "A back end does not work on this machine or in this process";
    KM1034 RequestedDevice: "The device that KERNELMILL_DEVICE names cannot be opened";
    KM1035 Capturing: "A stream is used while it is captured into a graph";
    KM1036 EventPending: "The time of an event is not known yet";
    KM1037 NotInGraph: "A buffer is used with a graph that it is not in";
    KM1038 Cuda: "A function of the CUDA driver failed";
    KM1039 OpenCl: "A function of the OpenCL library failed";
    KM1040 OpenClBuild: "An OpenCL device's compiler rejects a program";
    KM1041 OpenClSignature: "A kernel has different parameters on an OpenCL device";
    KM1042 Wgpu: "An operation of wgpu failed";
    KM1043 Hip: "A function of the HIP library failed";
    KM1044 InvalidChoice: "Constants or launch bounds chosen at run time do not suit the kernels";
    KM1045 BlockSize: "A launch has another block size than its kernel is compiled for";
    KM1046 Several: "Several errors in one call";
    KM1047 Disabled: "The program was built without a back end";
    KM1048 NoDevice: "A device is not there";
    KM1049 UnsupportedDevice: "A device lacks what its back end requires";
    KM1050 NoCandidate: "No device of the machine has a binary";
    KM1051 OtherKernel: "Scalars are set in a prepared launch of another kernel";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.number())
    }
}

/// A text that is the number of no code of the run time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no error code `{text}` of the run time: these are {} to {}", first(), last())]
pub struct UnknownErrorCode {
    /// The text.
    pub text: String,
}

fn first() -> ErrorCode {
    ErrorCode::ALL[0]
}

fn last() -> ErrorCode {
    ErrorCode::ALL[ErrorCode::ALL.len() - 1]
}

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    /// Upper and lower case are the same.
    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        let found = Self::ALL.iter().find(|code| code.number().eq_ignore_ascii_case(text));
        found.copied().ok_or_else(|| UnknownErrorCode { text: text.to_owned() })
    }
}
