//! Filters of pictures whose pixels are `0xAABBGGRR` in rows.
//!
//! Each block first copies what it needs of the picture into shared memory; beyond the edges the
//! nearest pixel stands in.

use kernelmill_device::prelude::*;

/// The largest radius of the blur.
const RADIUS: usize = 16;
/// Threads of a block along a row, for the blur along rows.
const ROW: usize = 128;
/// Threads of a block along each axis, for the blur along columns and for edges.
const SIDE: usize = 16;

/// The three colours of a pixel, from 0 to 255.
fn unpack(pixel: u32) -> [f32; 3] {
    [(pixel & 255) as f32, (pixel >> 8 & 255) as f32, (pixel >> 16 & 255) as f32]
}

fn pack([red, green, blue]: [f32; 3]) -> u32 {
    let byte = |value: f32| (value + 0.5) as u32;
    0xff00_0000 | byte(blue) << 16 | byte(green) << 8 | byte(red)
}

/// Adds `weight` times a pixel.
fn accumulate(sum: [f32; 3], weight: f32, pixel: u32) -> [f32; 3] {
    let [red, green, blue] = unpack(pixel);
    [sum[0] + weight * red, sum[1] + weight * green, sum[2] + weight * blue]
}

/// Blurs along rows: `weights[d]` is the weight of the pixels at distance `d`, at most 16.
///
/// Blocks of 128 threads along x.
#[kernel(dim = 2, width = width)]
pub fn blur_rows(
    width: u32,
    weights: &[f32],
    picture: &[u32],
    mut blurred: DisjointSlice<u32, Index2D>,
) {
    static mut TILE: SharedArray<u32, { ROW + 2 * RADIUS }> = SharedArray::UNINIT;
    let i = thread::index_2d();
    let t = thread::thread_idx().x as usize % ROW;
    let start = i.row() as u32 * width;
    let first = (thread::block_idx().x * ROW as u32) as i32 - RADIUS as i32;
    // SAFETY: the tile is read only after the barrier at which all of it is written.
    let tile = unsafe { &raw mut TILE[0] };
    let mut place = t;
    while place < ROW + 2 * RADIUS {
        let column = (first + place as i32).clamp(0, width as i32 - 1) as u32;
        let pixel = picture[(start + column) as usize];
        // SAFETY: within the tile, and each place is written by one thread.
        unsafe { *tile.add(place) = pixel };
        place += ROW;
    }
    thread::sync_threads();
    let Some(out) = blurred.get_mut(i) else { return };
    let mut sum = [0.0; 3];
    // SAFETY: `t + RADIUS` lies `RADIUS` away from both ends of the tile, and distances stop there.
    let pixel = |offset: i32| unsafe { *tile.offset((t + RADIUS) as isize + offset as isize) };
    for (distance, &weight) in weights.iter().take(RADIUS + 1).enumerate() {
        let distance = distance as i32;
        sum = accumulate(sum, weight, pixel(distance));
        if distance > 0 {
            sum = accumulate(sum, weight, pixel(-distance));
        }
    }
    *out = pack(sum);
}

/// Blurs along columns, as [`blur_rows`] does along rows. Blocks of 16 by 16 threads.
#[kernel(dim = 2, width = width)]
pub fn blur_columns(
    width: u32,
    weights: &[f32],
    picture: &[u32],
    mut blurred: DisjointSlice<u32, Index2D>,
) {
    const ROWS: usize = SIDE + 2 * RADIUS;
    static mut TILE: SharedArray<u32, { ROWS * SIDE }> = SharedArray::UNINIT;
    let i = thread::index_2d();
    let index = thread::thread_idx();
    let (x, y) = (index.x as usize % SIDE, index.y as usize % SIDE);
    let height = picture.len() as u32 / width;
    let column = (i.column() as u32).min(width - 1);
    let first = (thread::block_idx().y * SIDE as u32) as i32 - RADIUS as i32;
    // SAFETY: the tile is read only after the barrier at which all of it is written.
    let tile = unsafe { &raw mut TILE[0] };
    let mut place = y;
    while place < ROWS {
        let row = (first + place as i32).clamp(0, height as i32 - 1) as u32;
        let pixel = picture[(row * width + column) as usize];
        // SAFETY: within the tile, and each place is written by one thread.
        unsafe { *tile.add(place * SIDE + x) = pixel };
        place += SIDE;
    }
    thread::sync_threads();
    let Some(out) = blurred.get_mut(i) else { return };
    let mut sum = [0.0; 3];
    let middle = ((y + RADIUS) * SIDE + x) as isize;
    // SAFETY: row `y + RADIUS` lies `RADIUS` away from both ends, and distances stop there.
    let pixel = |offset: i32| unsafe { *tile.offset(middle + (offset * SIDE as i32) as isize) };
    for (distance, &weight) in weights.iter().take(RADIUS + 1).enumerate() {
        let distance = distance as i32;
        sum = accumulate(sum, weight, pixel(distance));
        if distance > 0 {
            sum = accumulate(sum, weight, pixel(-distance));
        }
    }
    *out = pack(sum);
}

/// Edges by Sobel's operator on the brightness: white on black. Blocks of 16 by 16 threads.
#[kernel(dim = 2, width = width)]
pub fn sobel(width: u32, picture: &[u32], mut edges: DisjointSlice<u32, Index2D>) {
    const TILE_SIDE: usize = SIDE + 2;
    static mut TILE: SharedArray<f32, { TILE_SIDE * TILE_SIDE }> = SharedArray::UNINIT;
    let i = thread::index_2d();
    let (index, block) = (thread::thread_idx(), thread::block_idx());
    let (x, y) = (index.x as usize % SIDE, index.y as usize % SIDE);
    let height = picture.len() as u32 / width;
    // SAFETY: the tile is read only after the barrier at which all of it is written.
    let tile = unsafe { &raw mut TILE[0] };
    let mut place = y * SIDE + x;
    while place < TILE_SIDE * TILE_SIDE {
        let column = (block.x as usize * SIDE + place % TILE_SIDE) as i32 - 1;
        let row = (block.y as usize * SIDE + place / TILE_SIDE) as i32 - 1;
        let column = column.clamp(0, width as i32 - 1) as u32;
        let row = row.clamp(0, height as i32 - 1) as u32;
        let [red, green, blue] = unpack(picture[(row * width + column) as usize]);
        // SAFETY: within the tile, and each place is written by one thread.
        unsafe { *tile.add(place) = 0.299 * red + 0.587 * green + 0.114 * blue };
        place += SIDE * SIDE;
    }
    thread::sync_threads();
    let Some(out) = edges.get_mut(i) else { return };
    // SAFETY: `x` and `y` are below 16, so that three columns and rows from there are in the tile.
    let at = |dx: usize, dy: usize| unsafe { *tile.add((y + dy) * TILE_SIDE + x + dx) };
    let across = at(2, 0) + 2.0 * at(2, 1) + at(2, 2) - at(0, 0) - 2.0 * at(0, 1) - at(0, 2);
    let down = at(0, 2) + 2.0 * at(1, 2) + at(2, 2) - at(0, 0) - 2.0 * at(1, 0) - at(2, 0);
    let strength = (across * across + down * down).sqrt().min(255.0);
    *out = pack([strength; 3]);
}
