//! A change of a kernel that the environment asks for.

use ptx_emulator::Mutation;

/// The change asked for: `barrier at line 120 of reduce`.
pub(crate) struct Change {
    mutation: Mutation,
    /// Line of the PTX, from 1.
    line: usize,
    kernel: String,
}

impl Change {
    /// Reads a change; the error names the variable.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!(
                "FAKE_CUDA_MUTATE={text} is not `WHAT at line NUMBER of KERNEL`, where WHAT is `barrier`, `address` \
                 or `comparison`"
            )
        })
    }

    fn read(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [what, "at", "line", line, "of", kernel] = words[..] else { return None };
        Some(Self {
            mutation: Mutation::named(what)?,
            line: line.parse().ok()?,
            kernel: kernel.to_owned(),
        })
    }

    /// Whether the kernel is one of these.
    pub(crate) fn concerns<'n>(&self, mut kernels: impl Iterator<Item = &'n str>) -> bool {
        kernels.any(|kernel| kernel == self.kernel)
    }

    /// The text of a module with the change, which is said; an error where it cannot be made.
    pub(crate) fn apply(&self, ptx: &str) -> Result<String, String> {
        let Self { mutation, line, kernel } = self;
        let changed = self.mutation.apply(ptx, self.line);
        let changed = changed.ok_or_else(|| {
            format!("FAKE_CUDA_MUTATE: there is no {mutation} in PTX line {line} of `{kernel}`")
        })?;
        eprintln!("fake-cuda: changed the {mutation} in PTX line {line} of `{kernel}`");
        Ok(changed)
    }
}
