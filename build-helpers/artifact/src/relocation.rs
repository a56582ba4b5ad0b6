//! Relocations: variables of a binary whose values the program gives when the binary is loaded. What is stored and
//! embedded has their names alone.

/// A variable of a binary for a GPU that stands for a symbol of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relocation {
    /// The symbol, as the program defines it.
    pub symbol: &'static str,
    /// The size of its value.
    pub bytes: u64,
}

impl Relocation {
    /// The start of the name of such a variable in the binary. The symbol follows.
    pub const PREFIX: &'static str = "__kernelmill_relocation_";

    /// The name of the variable in the binary.
    ///
    /// ```
    /// use kernelmill_artifact::Relocation;
    /// let relocation = Relocation { symbol: "scale", bytes: 4 };
    /// assert_eq!(relocation.variable(), "__kernelmill_relocation_scale");
    /// ```
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{}{}", Self::PREFIX, self.symbol)
    }
}
