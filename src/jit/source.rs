//! Sources that are compiled at run time.

/// A text to compile, with the name that messages call it.
///
/// ```
/// use kernelmill::jit::Source;
/// let source = Source::cuda("scale.cu", "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }");
/// assert_eq!(source.name(), "scale.cu");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) language: Language,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Cuda,
    Ptx,
}

impl Source {
    /// CUDA C++: `__global__` functions, and no host code.
    #[must_use]
    pub fn cuda(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), language: Language::Cuda }
    }

    /// PTX, which is loaded as it is: the driver compiles it.
    #[must_use]
    pub fn ptx(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), language: Language::Ptx }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}
