use kernelmill_device::prelude::*;

/// A function of a pixel: its colour, each part from 0 to 1, and its place from -1 to 1.
pub type Effect = DeviceFn<fn([f32; 3], [f32; 2]) -> [f32; 3]>;

/// Puts each pixel through the effects, one after the other.
#[kernel(dim = 2, width = width)]
pub fn develop(
    effects: &[Effect],
    width: u32,
    height: u32,
    pixels: &[[f32; 3]],
    mut developed: DisjointSlice<[f32; 3], Index2D>,
) {
    let index = thread::index_2d();
    if let Some(out) = developed.get_mut(index) {
        let (row, column) = (index.row(), index.column());
        let across = |at: usize, side: u32| 2.0 * at as f32 / side as f32 - 1.0;
        let place = [across(column, width), across(row, height)];
        let mut color = pixels[row * width as usize + column];
        for effect in effects {
            color = effect.call(color, place);
        }
        *out = color;
    }
}
