//! A step of an incompressible fluid on a staggered grid, by the stable fluids of Jos Stam (SIGGRAPH 1999).
//!
//! Lengths are in cells, times in seconds. `u[cell]` is the velocity to the right through the left face of a cell,
//! `v[cell]` that downwards through its upper face, as Harlow and Welch placed them (1965). Walls without friction
//! surround the grid. Each field is read by all threads and written into another buffer, but for [`project`], whose
//! threads need their own faces alone.

use kernelmill_device::{block_array::sync, prelude::*};

/// Threads of a block along each axis.
const SIDE: usize = 16;
/// Sweeps of [`relax`] in a launch.
const SWEEPS: usize = 4;
/// Columns of a tile left and right of the block: as many as sweeps, and more, so that a row is a power of two.
const BESIDE: usize = 8;
/// Columns of a tile.
const COLUMNS: usize = SIDE + 2 * BESIDE;
/// Cells of a tile, three for each thread.
const TILE: usize = COLUMNS * (SIDE + 2 * SWEEPS);

/// What pushes the fluid in a step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Push {
    /// How much faster dye falls after the step than what has none, in cells a second.
    pub weight: f32,
    /// Where the fluid is stirred, in cells from the left and from above.
    pub centre: [f32; 2],
    /// The distance at which stirring is a third as strong, in cells; above zero.
    pub radius: f32,
    /// What stirring adds at its centre, in cells a second.
    pub velocity: [f32; 2],
}

impl Push {
    /// How strong stirring is at a point, at most 1.
    fn strength(self, [x, y]: [f32; 2]) -> f32 {
        let (dx, dy) = ((x - self.centre[0]) / self.radius, (y - self.centre[1]) / self.radius);
        (-dx * dx - dy * dy).exp()
    }
}

/// Columns and rows of the grid.
#[derive(Clone, Copy)]
struct Grid {
    width: i32,
    height: i32,
}

impl Grid {
    /// The grid of a field that is stored in rows of `width`.
    fn new(width: u32, field: &[f32]) -> Self {
        Self { width: width as i32, height: (field.len() as u32 / width) as i32 }
    }

    /// A field in a cell; beyond the walls, in the cell before them.
    fn at(self, field: &[f32], column: i32, row: i32) -> f32 {
        let (column, row) = (column.clamp(0, self.width - 1), row.clamp(0, self.height - 1));
        field[(row * self.width + column) as usize]
    }

    /// The velocity through the left face of a cell: none through a wall and beyond it.
    fn u(self, u: &[f32], column: i32, row: i32) -> f32 {
        if column <= 0 || column >= self.width { 0.0 } else { self.at(u, column, row) }
    }

    /// The velocity through the upper face of a cell.
    fn v(self, v: &[f32], column: i32, row: i32) -> f32 {
        if row <= 0 || row >= self.height { 0.0 } else { self.at(v, column, row) }
    }

    /// The velocity at a point, between the nearest four faces of each direction.
    fn velocity(self, u: &[f32], v: &[f32], [x, y]: [f32; 2]) -> [f32; 2] {
        [
            linear([x, y - 0.5], |column, row| self.u(u, column, row)),
            linear([x - 0.5, y], |column, row| self.v(v, column, row)),
        ]
    }

    /// Where the fluid at a point was `step` seconds ago, by the midpoint method. It stays within the walls.
    fn origin(self, u: &[f32], v: &[f32], step: f32, [x, y]: [f32; 2]) -> [f32; 2] {
        let back = |seconds: f32, [right, down]: [f32; 2]| {
            [
                (x - seconds * right).clamp(0.0, self.width as f32),
                (y - seconds * down).clamp(0.0, self.height as f32),
            ]
        };
        let middle = back(0.5 * step, self.velocity(u, v, [x, y]));
        back(step, self.velocity(u, v, middle))
    }
}

/// Reads between four values.
fn linear([x, y]: [f32; 2], at: impl Fn(i32, i32) -> f32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let (column, row, x, y) = (left as i32, top as i32, x - left, y - top);
    let mix = |row: i32| (1.0 - x) * at(column, row) + x * at(column + 1, row);
    (1.0 - y) * mix(row) + y * mix(row + 1)
}

/// Reads between sixteen values by Catmull-Rom splines that never leave the two values that they run between: sharper
/// than [`linear`], and what was between 0 and 1 stays there.
fn cubic([x, y]: [f32; 2], at: impl Fn(i32, i32) -> f32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let (column, row, x, y) = (left as i32, top as i32, x - left, y - top);
    let along = |row: i32| {
        let [a, b] = [at(column - 1, row), at(column, row)];
        let [c, d] = [at(column + 1, row), at(column + 2, row)];
        spline([a, b, c, d], x)
    };
    spline([along(row - 1), along(row), along(row + 1), along(row + 2)], y)
}

/// A curve from `b` to `c`.
fn spline([a, b, c, d]: [f32; 4], t: f32) -> f32 {
    let slope = 0.5 * (c - a);
    let bend = a - 2.5 * b + 2.0 * c - 0.5 * d;
    let twist = 1.5 * (b - c) + 0.5 * (d - a);
    (b + t * (slope + t * (bend + t * twist))).clamp(b.min(c), b.max(c))
}

/// Carries the velocity to the right along the flow for `step` seconds, and stirs.
#[kernel(dim = 2, width = width)]
pub fn advect_u(
    width: u32,
    step: f32,
    push: Push,
    u: &[f32],
    v: &[f32],
    mut next: DisjointSlice<f32, Index2D>,
) {
    let i = thread::index_2d();
    let grid = Grid::new(width, u);
    let Some(next) = next.get_mut(i) else { return };
    *next = 0.0;
    if i.column() > 0 {
        let face = [i.column() as f32, i.row() as f32 + 0.5];
        let [x, y] = grid.origin(u, v, step, face);
        let carried = cubic([x, y - 0.5], |column, row| grid.u(u, column, row));
        *next = carried + push.velocity[0] * push.strength(face);
    }
}

/// Carries the velocity downwards along the flow for `step` seconds, stirs, and adds the weight of the dye.
#[kernel(dim = 2, width = width)]
pub fn advect_v(
    width: u32,
    step: f32,
    push: Push,
    u: &[f32],
    v: &[f32],
    dye: &[f32],
    mut next: DisjointSlice<f32, Index2D>,
) {
    let i = thread::index_2d();
    let grid = Grid::new(width, v);
    let (column, row) = (i.column() as i32, i.row() as i32);
    let Some(next) = next.get_mut(i) else { return };
    *next = 0.0;
    if row > 0 {
        let face = [column as f32 + 0.5, row as f32];
        let [x, y] = grid.origin(u, v, step, face);
        let carried = cubic([x - 0.5, y], |column, row| grid.v(v, column, row));
        let dye = 0.5 * (grid.at(dye, column, row - 1) + grid.at(dye, column, row));
        let stirred = push.velocity[1] * push.strength(face);
        *next = carried + stirred + push.weight * (dye - 0.5);
    }
}

/// How much more flows out of each cell than into it, in cells a second.
#[kernel(dim = 2, width = width)]
pub fn diverge(width: u32, u: &[f32], v: &[f32], mut divergence: DisjointSlice<f32, Index2D>) {
    let i = thread::index_2d();
    let grid = Grid::new(width, u);
    let (column, row) = (i.column() as i32, i.row() as i32);
    if let Some(divergence) = divergence.get_mut(i) {
        let across = grid.u(u, column + 1, row) - grid.u(u, column, row);
        *divergence = across + grid.v(v, column, row + 1) - grid.v(v, column, row);
    }
}

/// Four sweeps of Jacobi's method for the pressure whose Laplacian is the divergence. At a wall the pressure does not
/// change.
///
/// The block sweeps over its 16 by 16 cells and those around them in shared memory. After each sweep one cell less on
/// each side is right, and after four those of the block still are.
#[kernel(dim = 2, width = width, block_size = [16, 16, 1])]
pub fn relax(
    width: u32,
    divergence: &[f32],
    pressure: &[f32],
    mut sources: BlockArray<f32, TILE>,
    mut even: BlockArray<f32, TILE>,
    mut odd: BlockArray<f32, TILE>,
    mut relaxed: DisjointSlice<f32, Index2D>,
) {
    let (i, block) = (thread::index_2d(), thread::block_idx());
    let grid = Grid::new(width, pressure);
    let left = (block.x as usize * SIDE) as i32 - BESIDE as i32;
    let top = (block.y as usize * SIDE) as i32 - SWEEPS as i32;
    let cell = |place: usize| (left + (place % COLUMNS) as i32, top + (place / COLUMNS) as i32);
    for own in thread::block_stride(TILE) {
        let (column, row) = cell(own.get());
        sources.write(own, grid.at(divergence, column, row));
        even.write(own, grid.at(pressure, column, row));
    }
    let (sources, mut old) = sync((sources, even));
    let sweep = |old: &[f32; TILE], place: usize| {
        let (column, row) = cell(place);
        let here = old[place];
        // The neighbour, or the cell itself at a wall, and where the tile ends: there nothing has to be right.
        let beside = |inside: bool, place: usize| if inside && place < TILE { old[place] } else { here };
        let sum = beside(column > 0, place.wrapping_sub(1))
            + beside(column + 1 < grid.width, place + 1)
            + beside(row > 0, place.wrapping_sub(COLUMNS))
            + beside(row + 1 < grid.height, place + COLUMNS);
        0.25 * (sum - sources[place])
    };
    for _ in 0..SWEEPS / 2 {
        for own in thread::block_stride(TILE) {
            odd.write(own, sweep(&old, own.get()));
        }
        let (mut free, new) = sync((old, odd));
        for own in thread::block_stride(TILE) {
            free.write(own, sweep(&new, own.get()));
        }
        (odd, old) = sync((new, free));
    }
    let Some(relaxed) = relaxed.get_mut(i) else { return };
    let index = thread::thread_idx();
    let (x, y) = (index.x as usize % SIDE, index.y as usize % SIDE);
    *relaxed = old[(y + SWEEPS) * COLUMNS + x + BESIDE];
}

/// Takes the slope of the pressure off the velocity, so that as much flows into each cell as out of it.
#[kernel(dim = 2, width = width)]
pub fn project(
    width: u32,
    pressure: &[f32],
    mut u: DisjointSlice<f32, Index2D>,
    mut v: DisjointSlice<f32, Index2D>,
) {
    let i = thread::index_2d();
    let grid = Grid::new(width, pressure);
    let (column, row) = (i.column() as i32, i.row() as i32);
    if let (Some(u), Some(v)) = (u.get_mut(i), v.get_mut(i)) {
        let here = grid.at(pressure, column, row);
        // At a wall both pressures are the same.
        *u -= here - grid.at(pressure, column - 1, row);
        *v -= here - grid.at(pressure, column, row - 1);
    }
}

/// Carries dye along the velocity for `step` seconds.
#[kernel(dim = 2, width = width)]
pub fn advect_dye(
    width: u32,
    step: f32,
    u: &[f32],
    v: &[f32],
    dye: &[f32],
    mut next: DisjointSlice<f32, Index2D>,
) {
    let i = thread::index_2d();
    let grid = Grid::new(width, dye);
    if let Some(next) = next.get_mut(i) {
        let [x, y] = grid.origin(u, v, step, [i.column() as f32 + 0.5, i.row() as f32 + 0.5]);
        *next = cubic([x - 0.5, y - 0.5], |column, row| grid.at(dye, column, row));
    }
}

/// The mean dye of squares of `scale` by `scale` cells, from 0 to 63: pixels of rows of `width`.
#[kernel(dim = 2, width = width)]
pub fn paint(width: u32, scale: u32, dye: &[f32], mut shades: DisjointSlice<u32, Index2D>) {
    let i = thread::index_2d();
    let grid = Grid::new(width * scale, dye);
    if let Some(shade) = shades.get_mut(i) {
        let mut sum = 0.0;
        for part in 0..scale * scale {
            let column = i.column() as u32 * scale + part % scale;
            let row = i.row() as u32 * scale + part / scale;
            sum += grid.at(dye, column as i32, row as i32);
        }
        *shade = (sum * 63.0 / (scale * scale) as f32 + 0.5) as u32;
    }
}
