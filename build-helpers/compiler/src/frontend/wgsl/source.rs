//! A file in WGSL.

/// A `.wgsl` file, and how it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WgslSource {
    /// The file as people know it, for example `kernels/saxpy.wgsl`.
    pub display: String,
    /// Its text.
    pub text: String,
    /// Values of pipeline-overridable constants, by their names. Those of other files are among them.
    pub constants: Vec<(String, String)>,
}
