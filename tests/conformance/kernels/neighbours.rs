//! Elements beside a thread's own: neighbours that are kept within an image, fields of structures that lie one after the
//! other, partners of an exchange, and rows that are numbered by the fastest index.

use kernelmill_device::prelude::*;

/// Three bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Color {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

/// Twenty bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Particle {
    /// Position.
    pub x: f32,
    /// Position.
    pub y: f32,
    /// Position.
    pub z: f32,
    /// A number.
    pub kind: u32,
    /// A mass.
    pub mass: f32,
}

/// Sums of five neighbours, the nearest within the image where there are none, and in another way above and below.
/// Some threads do without the rows beside theirs.
#[kernel(dim = 2)]
pub fn clamped_neighbours(width: i32, height: i32, x: &[u32], mut y: DisjointSlice<u32>) {
    let (block, dim, thread) = (thread::block_idx(), thread::block_dim(), thread::thread_idx());
    let column = (block.x * dim.x + thread.x) as i32;
    let row = (block.y * dim.y + thread.y) as i32;
    if column >= width || row >= height {
        return;
    }
    // SAFETY: all are within the image, which the launch says that `x` and `y` have.
    unsafe {
        let at = |row: i32, column: i32| *x.get_unchecked((row * width + column) as usize);
        let (left, right) = ((column - 1).max(0), (column + 2).min(width - 1));
        let mut sum = at(row, left) + 3 * at(row, right);
        if (column + row) % 3 != 0 {
            let before = if column > 0 { column - 1 } else { column };
            let above = if row > 0 { row - 1 } else { row };
            let below = if row < height - 1 { row + 1 } else { row };
            sum += 5 * at(above, left) + 7 * at(below, right) + 11 * at(row, before);
        }
        *y.get_unchecked_mut((row * width + column) as usize) = sum;
    }
}

/// Weighted sums of three bytes.
#[kernel]
pub fn fields_of_colors(x: &[Color], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        // SAFETY: the launch gives as many colours as elements.
        let color = unsafe { x.get_unchecked(i.get()) };
        *out = u32::from(color.r) + 256 * u32::from(color.g) + 65536 * u32::from(color.b);
    }
}

/// Fields of larger structures: some of them, and one of another element.
#[kernel]
pub fn fields_of_particles(x: &[Particle], kinds: &[u32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let particle = &x[i.get()];
        let heavy = x[x.len() - 1 - i.get()].mass;
        *out = particle.x * particle.z + heavy + particle.kind as f32 + kinds[2 * i.get() + 1] as f32;
    }
}

/// What the partner has, by whichever bits the indices differ.
#[kernel]
pub fn exchanged(flip: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let partner = i.get() as u32 ^ flip;
    if let Some(out) = y.get_mut(i)
        && (partner as usize) < x.len()
    {
        // SAFETY: it is within the slice.
        let (own, other) = unsafe { (x.get_unchecked(i.get()), x.get_unchecked(partner as usize)) };
        *out = own.wrapping_mul(3) ^ *other;
        if other > own {
            *out += 1;
        }
    }
}

/// `y[row][column] -= f[row] * x[column]`, where threads beside each other along x have rows one below the other.
#[kernel(dim = 2)]
pub fn rows_along_x(
    width: u32,
    height: u32,
    x: &[u32],
    factors: &[u32],
    mut y: DisjointSlice<u32>,
) {
    let (block, dim, thread) = (thread::block_idx(), thread::block_dim(), thread::thread_idx());
    let row = block.x * dim.x + thread.x;
    let column = block.y * dim.y + thread.y;
    if row < height && column < width {
        // SAFETY: the element is the thread's own, and the launch says that all of the rows are there.
        unsafe {
            let out = y.get_unchecked_mut((row * width + column) as usize);
            let factor = *factors.get_unchecked(row as usize);
            *out = out.wrapping_sub(factor.wrapping_mul(*x.get_unchecked(column as usize)));
        }
    }
}

/// Quotients and remainders of two numbers, in each width that integers have; zeros where it would be by zero.
#[kernel]
pub fn quotients(x: &[[u32; 2]], mut y: DisjointSlice<[u32; 16]>) {
    let i = thread::index_1d();
    let Some(out) = y.get_mut(i) else { return };
    let [a, b] = x[i.get()];
    macro_rules! divided {
        ($a:expr, $b:expr; $($ty:ty, $at:literal;)*) => { $(
            let (left, right) = ($a as $ty, $b as $ty);
            if right != 0 {
                out[$at] = left.wrapping_div(right) as u32;
                out[$at + 1] = left.wrapping_rem(right) as u32;
            }
        )* };
    }
    divided!(a, b; u32, 0; i32, 2; u16, 4; i16, 6; u8, 8; i8, 10; u64, 12;);
    divided!(a as i32, b as i32; i64, 14;);
}

/// Sums of a cell of an image and its four neighbours, zero beyond the border; threads have one number for both coordinates.
#[kernel]
pub fn crosses(width: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let place = thread::index_1d();
    let Some(out) = y.get_mut(place) else { return };
    let (i, height) = (place.get() as u32, x.len() as u32 / width);
    let (column, row) = (i % width, i / width);
    let at = |column: u32, row: u32| x[(column + row * width) as usize];
    let left = if column > 0 { at(column - 1, row) } else { 0 };
    let right = if column < width - 1 { at(column + 1, row) } else { 0 };
    let above = if row > 0 { at(column, row - 1) } else { 0 };
    let under = if row < height - 1 { at(column, row + 1) } else { 0 };
    *out = 3 * at(column, row) + left + 5 * right + 7 * above + 11 * under;
}
