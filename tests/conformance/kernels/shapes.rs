//! What `with_module.rs` uses. There is no kernel in here, so this file is no source by itself.

/// Sides of a square.
pub const SIDES: u32 = 4;

/// A disc.
pub struct Disc {
    radius: f32,
}

impl Disc {
    /// A disc of this radius.
    pub fn new(radius: f32) -> Self {
        Self { radius }
    }

    /// Its area.
    pub fn area(&self) -> f32 {
        core::f32::consts::PI * self.radius * self.radius
    }
}
