use kernelmill_device::prelude::*;

/// A weighted mean of the nine pixels around each; those at the border are copied.
#[kernel(dim = 2, width = width)]
pub fn stencil(width: u32, height: u32, x: &[f32], mut y: DisjointSlice<f32, Index2D>) {
    let i = thread::index_2d();
    let Some(out) = y.get_mut(i) else { return };
    let (row, column) = (i.row() as u32, i.column() as u32);
    let place = (row * width + column) as usize;
    if row == 0 || column == 0 || row + 1 >= height || column + 1 >= width {
        *out = x[place];
        return;
    }
    let w = width as usize;
    let (up, here, down) = (place - w, place, place + w);
    let corners = x[up - 1] + x[up + 1] + x[down - 1] + x[down + 1];
    let edges = x[up] + x[down] + x[here - 1] + x[here + 1];
    *out = 0.0625 * corners + 0.125 * edges + 0.25 * x[here];
}
