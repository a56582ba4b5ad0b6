use crate::levels::Level;
use kernelmill_device::prelude::*;

// For devices this file is the root of a crate, for the host `src/lib.rs` is, which has the module already.
#[cfg(kernelmill)]
#[path = "../src/levels.rs"]
mod levels;

/// Sets all values to one.
#[kernel]
pub fn fill(value: f32, mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = value;
    }
}

/// Sets all values to the height of a level.
#[kernel]
pub fn fill_level(level: Level, mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) {
        *y = level.height().min(crate::levels::HIGHEST);
    }
}

#[cfg(test)]
mod tests {
    use super::Level;

    #[test]
    fn the_level_is_the_type_of_the_crate() {
        let level: crate::levels::Level = Level { value: 1.5, factor: 2.0 };
        assert_eq!(level.height(), 3.0);
    }
}
