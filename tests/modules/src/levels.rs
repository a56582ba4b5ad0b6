//! Types and constants of the crate that a kernel file takes in as `crate::levels`.

/// The highest level.
pub const HIGHEST: f32 = 4.0;

/// A level that values are set to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Level {
    /// The value.
    pub value: f32,
    /// What it is multiplied by.
    pub factor: f32,
}

impl Level {
    /// The value times the factor, up to the highest level.
    #[must_use]
    pub fn height(self) -> f32 {
        (self.value * self.factor).min(HIGHEST)
    }
}
