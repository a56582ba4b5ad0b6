//! The kernels with their inputs, in two sizes.

use std::error::Error;

use kernelmill::{Device, Launch, Stream};

use crate::{
    kernels::{Kernels, Numbers, Point, float2, float4},
    plain,
};

/// How large inputs are.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// As a program would have them.
    Full,
    /// For a comparison alone; no size is a multiple of a block's.
    Small,
}

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A kernel, and the loops that compute the same.
pub(crate) struct Case<'a> {
    pub(crate) name: &'static str,
    /// Where the kernel is launched.
    stream: &'a Stream,
    /// Launches the kernel.
    pub(crate) launch: Box<dyn FnMut() -> Outcome + 'a>,
    pub(crate) plain: Box<dyn FnMut() + 'a>,
    /// Where both have run: the largest difference of two numbers, relative to those above 1.
    difference: Box<dyn FnMut() -> Outcome<f64> + 'a>,
}

impl Case<'_> {
    /// Runs the kernel to its end.
    pub(crate) fn run(&mut self) -> Outcome {
        (self.launch)()?;
        Ok(self.stream.synchronize()?)
    }

    /// Runs both once, and compares what they have written.
    pub(crate) fn compare(&mut self) -> Outcome {
        self.run()?;
        (self.plain)();
        let difference = (self.difference)()?;
        match difference < 1e-3 {
            true => Ok(()),
            false => Err(format!("{}: the outputs differ by {difference}", self.name).into()),
        }
    }
}

/// Numbers that many threads have to agree on.
trait Number: Copy {
    fn parts(self) -> [f64; 4];
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(impl Number for $ty {
        fn parts(self) -> [f64; 4] {
            [f64::from(self), 0.0, 0.0, 0.0]
        }
    })* };
}

numbers!(f32 i32 i8 u8);

impl Number for float2 {
    fn parts(self) -> [f64; 4] {
        [self.x, self.y, 0.0, 0.0].map(f64::from)
    }
}

impl Number for float4 {
    fn parts(self) -> [f64; 4] {
        [self.x, self.y, self.z, self.w].map(f64::from)
    }
}

fn difference<T: Number>(ours: &[T], plain: &[T]) -> f64 {
    let parts = ours.iter().zip(plain).flat_map(|(a, b)| a.parts().into_iter().zip(b.parts()));
    parts.map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f64::max)
}

/// Numbers from 0 to below 1, by a linear congruential generator.
fn random(seed: u32, n: usize) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..n).map(next).collect()
}

fn below(seed: u32, limit: usize, n: usize) -> Vec<i32> {
    random(seed, n).into_iter().map(|x| ((x * limit as f32) as i32).min(limit as i32 - 1)).collect()
}

/// Rows of up to 31 places each among `n`: where each row starts, and the places.
fn sparse(n: usize) -> (Vec<i32>, Vec<i32>) {
    let lengths = below(5, 31, n);
    let starts = std::iter::once(0).chain(lengths.iter().scan(0, |sum, it| {
        *sum += it;
        Some(*sum)
    }));
    let starts: Vec<i32> = starts.collect();
    let places = below(6, n, starts[n] as usize);
    (starts, places)
}

/// Calls `visit` with each case, whose kernel runs on the default stream of the device.
pub(crate) fn each(
    device: &Device,
    scale: Scale,
    visit: &mut dyn FnMut(Case<'_>) -> Outcome,
) -> Outcome {
    let kernels = Kernels::load(device)?;
    let stream = device.stream();
    let size = |full: usize, small: usize| if scale == Scale::Full { full } else { small };
    let line = |n: usize| Launch::<1>::grid([(n as u32).div_ceil(256)], [256]);
    let plane = |width: usize, height: usize| {
        Launch::<2>::grid([(width as u32).div_ceil(16), (height as u32).div_ceil(16)], [16, 16])
    };

    // A case whose kernel and loops write one output: `new` has its first elements, `ours` and `plain` are given it.
    macro_rules! case {
        ($name:literal, $new:expr, |$buffer:ident| $ours:expr, |$slice:ident| $plain:expr) => {{
            let new = $new;
            let output = std::cell::RefCell::new(device.upload(&new)?);
            let expected = std::cell::RefCell::new(new);
            visit(Case {
                name: $name,
                stream: &stream,
                launch: Box::new(|| {
                    let $buffer = &mut *output.borrow_mut();
                    // SAFETY: the buffers have the elements that the kernel's launch touches, and no thread
                    // writes what another one does.
                    Ok(unsafe { $ours }?)
                }),
                plain: Box::new(|| {
                    let $slice = expected.borrow_mut().as_mut_ptr();
                    // SAFETY: as above.
                    unsafe { $plain };
                }),
                difference: Box::new(|| {
                    Ok(difference(&output.borrow().download()?, &expected.borrow()))
                }),
            })?;
        }};
    }

    let (columns, rows) = (size(512, 75), size(512, 90));
    let (w, h) = (columns as i32, rows as i32);
    let x = random(1, columns * rows);
    let input = device.upload(&x)?;
    case!(
        "column products",
        vec![0_f32; columns * columns],
        |y| kernels.column_products(&stream, line(columns), y, &input, w, h),
        |y| plain::c_column_products(y, x.as_ptr(), w, h)
    );

    let (columns, rows) = (size(2048, 75), size(2048, 90));
    let (w, h) = (columns as i32, rows as i32);
    let (x, factors) = (random(2, columns * rows), random(3, rows));
    let (input, by) = (device.upload(&x)?, device.upload(&factors)?);
    case!(
        "row sums",
        vec![0_f32; rows],
        |y| kernels.row_sums(&stream, line(rows), y, &input, w, h),
        |y| plain::c_row_sums(y, x.as_ptr(), w, h)
    );
    case!(
        "column sums",
        vec![0_f32; columns],
        |y| kernels.column_sums(&stream, line(columns), y, &input, w, h),
        |y| plain::c_column_sums(y, x.as_ptr(), w, h)
    );
    case!(
        "transpose",
        vec![0_f32; columns * rows],
        |y| kernels.transpose(&stream, plane(columns, rows), y, &input, w, h),
        |y| plain::c_transpose(y, x.as_ptr(), w, h)
    );
    case!(
        "elimination, rows along x",
        vec![0_f32; columns * rows],
        |y| kernels.eliminate(&stream, plane(rows, columns), y, &input, &by, w, h),
        |y| plain::c_eliminate(y, x.as_ptr(), factors.as_ptr(), w, h)
    );

    case!(
        "filter along rows",
        vec![0_f32; columns * rows],
        |y| kernels.filter_rows(&stream, plane(columns, rows), y, &input, &by, w, h, 11),
        |y| plain::c_filter_rows(y, x.as_ptr(), factors.as_ptr(), w, h, 11)
    );

    let tiles = |n: usize| (n as u32).div_ceil(14);
    let tiled = Launch::<2>::grid([tiles(columns), tiles(rows)], [16, 16]);
    case!(
        "heat, shared tile",
        vec![0_f32; columns * rows],
        |y| kernels.heat_tile(&stream, tiled, y, &input, w, h, 0.1),
        |y| plain::c_heat_tile(y, x.as_ptr(), w, h, 0.1)
    );
    case!(
        "blur, 25 neighbours",
        vec![0_f32; columns * rows],
        |y| kernels.blur(&stream, plane(columns, rows), y, &input, w, h),
        |y| plain::c_blur(y, x.as_ptr(), w, h)
    );
    case!(
        "torus",
        vec![0_f32; columns * rows],
        |y| kernels.torus(&stream, plane(columns, rows), y, &input, w, h),
        |y| plain::c_torus(y, x.as_ptr(), w, h)
    );
    let (columns, rows) = (size(512, 75), size(512, 90));
    let (w, h) = (columns as i32, rows as i32);
    let narrow = |threads: [u32; 2]| {
        let [across, down] = threads;
        Launch::<2>::grid(
            [(columns as u32).div_ceil(across), (rows as u32).div_ceil(down)],
            threads,
        )
    };
    let bytes: Vec<_> = below(18, 256, columns * rows).into_iter().map(|it| it as u8).collect();
    let image = device.upload(&bytes)?;
    let square = random(19, rows * rows);
    let by = device.upload(&square)?;
    case!(
        "matrix product",
        vec![0_f32; columns * rows],
        |y| kernels.matrix_product(&stream, plane(columns, rows), y, &by, &input, w, h, h),
        |y| plain::c_matrix_product(y, square.as_ptr(), x.as_ptr(), w, h, h)
    );
    case!(
        "erosion, blocks of 1 x 32",
        vec![0_u8; columns * rows],
        |y| kernels.erode_column(&stream, narrow([1, 32]), y, &image, w, h, 16),
        |y| plain::c_erode_column(y, bytes.as_ptr(), w, h, 16)
    );
    case!(
        "highest below, blocks of 2 x 64",
        vec![0_f32; columns * rows],
        |y| kernels.highest_below(&stream, narrow([2, 64]), y, &input, w, h, 16),
        |y| plain::c_highest_below(y, x.as_ptr(), w, h, 16)
    );
    case!(
        "highest below, blocks of 4 x 64",
        vec![0_f32; columns * rows],
        |y| kernels.highest_below(&stream, narrow([4, 64]), y, &input, w, h, 16),
        |y| plain::c_highest_below(y, x.as_ptr(), w, h, 16)
    );

    let n = size(1 << 20, 1001);
    let count = n as i32;
    let (before, costs) = (below(7, 1000, n), below(8, 1000, n));
    let (b, c) = (device.upload(&before)?, device.upload(&costs)?);
    case!(
        "cheapest way",
        vec![0_i32; n],
        |y| kernels.cheapest(&stream, line(n), y, &b, &c, count),
        |y| plain::c_cheapest(y, before.as_ptr(), costs.as_ptr(), count)
    );

    let x = random(9, 4 * n);
    let points: Vec<_> = x.chunks(4).map(|it| Point { x: it[0], y: it[1], z: it[2] }).collect();
    let bodies: Vec<_> =
        x.chunks(4).map(|it| float4 { x: it[0], y: it[1], z: it[2], w: it[3] }).collect();
    let pairs: Vec<_> = x.chunks(4).map(|it| float2 { x: it[0], y: it[1] }).collect();
    let others: Vec<_> = x.chunks(4).map(|it| float2 { x: it[2], y: it[3] }).collect();
    let bytes: Vec<_> = below(10, 256, 3 * n).into_iter().map(|it| it as u8).collect();
    let (input, fours) = (device.upload(&points)?, device.upload(&bodies)?);
    let (one, other) = (device.upload(&pairs)?, device.upload(&others)?);
    let colors = device.upload(&bytes)?;
    case!(
        "lengths, 12 bytes",
        vec![0_f32; n],
        |y| kernels.lengths(&stream, line(n), y, &input, count),
        |y| plain::c_lengths(y, points.as_ptr(), count)
    );
    case!(
        "energies, 16 bytes",
        vec![0_f32; n],
        |y| kernels.energies(&stream, line(n), y, &fours, count),
        |y| plain::c_energies(y, bodies.as_ptr(), count)
    );
    case!(
        "gray, 3 bytes",
        vec![0_u8; n],
        |y| kernels.gray(&stream, line(n), y, &colors, count),
        |y| plain::c_gray(y, bytes.as_ptr(), count)
    );
    case!(
        "complex products",
        vec![float2 { x: 0.0, y: 0.0 }; n],
        |y| kernels.complex_products(&stream, line(n), y, &one, &other, count),
        |y| plain::c_complex_products(y, pairs.as_ptr(), others.as_ptr(), count)
    );
    let few = size(4096, 301);
    let some = device.upload(&bodies[..few])?;
    case!(
        "attractions",
        vec![float4 { x: 0.0, y: 0.0, z: 0.0, w: 0.0 }; few],
        |y| kernels.attractions(&stream, line(few), y, &some, few as i32),
        |y| plain::c_attractions(y, bodies.as_ptr(), few as i32)
    );

    let n = size(1 << 17, 1001);
    let count = n as i32;
    let (starts, places) = sparse(n);
    let (values, x) = (random(11, places.len()), random(12, n));
    let marks = |seed| below(seed, 2, n).into_iter().map(|it| it as i8).collect::<Vec<_>>();
    let (marked, seen) = (marks(13), marks(14));
    let (s, p, v) = (device.upload(&starts)?, device.upload(&places)?, device.upload(&values)?);
    let (input, m, a) = (device.upload(&x)?, device.upload(&marked)?, device.upload(&seen)?);
    case!(
        "sparse product",
        vec![0_f32; n],
        |y| kernels.sparse_product(&stream, line(n), y, &s, &p, &v, &input, count),
        |y| plain::c_sparse_product(
            y,
            starts.as_ptr(),
            places.as_ptr(),
            values.as_ptr(),
            x.as_ptr(),
            count
        )
    );
    case!(
        "reached next",
        vec![0_i8; n],
        |y| kernels.reach(&stream, line(n), y, &s, &p, &m, &a, count),
        |y| plain::c_reach(
            y,
            starts.as_ptr(),
            places.as_ptr(),
            marked.as_ptr(),
            seen.as_ptr(),
            count
        )
    );

    let n = size(1 << 18, 1 << 10);
    let count = n as i32;
    let (keys, wanted) = ((0..count).map(|it| 3 * it).collect::<Vec<_>>(), below(15, 3 * n, n));
    let (k, q) = (device.upload(&keys)?, device.upload(&wanted)?);
    case!(
        "binary search",
        vec![0_i32; n],
        |y| kernels.search(&stream, line(n), y, &k, &q, count, count),
        |y| plain::c_search(y, keys.as_ptr(), wanted.as_ptr(), count, count)
    );
    let steps: Vec<(i32, i32)> = (1..=n.ilog2())
        .flat_map(|stage| (0..stage).rev().map(move |step| (1 << step, 1 << stage)))
        .collect();
    case!(
        "bitonic sort",
        below(16, 1 << 20, n),
        |y| steps.iter().try_for_each(|&(distance, direction)| {
            kernels.exchange(&stream, line(n), &mut *y, distance, direction, count)
        }),
        |y| steps.iter().for_each(|&(distance, direction)| {
            plain::c_exchange(y, distance, direction, count);
        })
    );
    let x = below(17, 1000, n);
    let input = device.upload(&x)?;
    case!(
        "scan of blocks",
        vec![0_i32; n],
        |y| kernels.block_scan(&stream, line(n), y, &input, count),
        |y| plain::c_block_scan(y, x.as_ptr(), count)
    );
    let n = size(1 << 14, 1_001);
    let count = n as i32;
    let x = random(18, 16 * n);
    let input = device.upload(&x)?;
    case!(
        "matrix powers",
        vec![0_f32; 16 * n],
        |y| kernels.matrix_powers(&stream, line(n), y, &input, 20, count),
        |y| plain::c_matrix_powers(y, x.as_ptr(), 20, count)
    );
    case!(
        "differences",
        vec![0_f32; n],
        |y| kernels.differences(&stream, line(n), y, &input, 9, 50, count),
        |y| plain::c_differences(y, x.as_ptr(), 9, 50, count)
    );
    let x = below(19, 1 << 10, 64 * n);
    let input = device.upload(&x)?;
    case!(
        "histogram of each thread",
        vec![0_i32; 16 * n],
        |y| kernels.own_histogram(&stream, line(n), y, &input, 64, count),
        |y| plain::c_own_histogram(y, x.as_ptr(), 64, count)
    );
    let (width, height) = (size(512, 61), size(256, 37));
    let x = random(20, width * height);
    let input = device.upload(&x)?;
    case!(
        "medians of 25 neighbours",
        vec![0_f32; width * height],
        |y| kernels.medians(&stream, plane(width, height), y, &input, width as i32, height as i32),
        |y| plain::c_medians(y, x.as_ptr(), width as i32, height as i32)
    );
    case!(
        "turned, indices of 64 bits",
        vec![0_f32; width * height],
        |y| kernels.turned(&stream, line(width * height), y, &input, width, height),
        |y| plain::c_turned(y, x.as_ptr(), width, height)
    );
    case!(
        "roughness of tiles",
        vec![0_f32; width.div_ceil(16) * height.div_ceil(16)],
        |y| kernels.roughness(
            &stream,
            plane(width, height),
            y,
            &input,
            width as i32,
            height as i32
        ),
        |y| plain::c_roughness(y, x.as_ptr(), width as i32, height as i32)
    );
    case!(
        "tiles upside down",
        vec![0_f32; width * height],
        |y| kernels.tiles_turned(
            &stream,
            plane(width, height),
            y,
            &input,
            width as i32,
            height as i32
        ),
        |y| plain::c_tiles_turned(y, x.as_ptr(), width as i32, height as i32)
    );
    let n = width * height / 2 * 2;
    case!(
        "passed on in blocks, two elements a thread",
        vec![0_f32; n],
        |y| kernels.passed_on(&stream, line(n / 2), y, &input, n as i32),
        |y| plain::c_passed_on(y, x.as_ptr(), n as i32)
    );
    let (depth, height, width) = (size(64, 5), size(128, 7), size(128, 13));
    let n = depth * height * width;
    let x = random(21, n);
    let input = device.upload(&x)?;
    let extents = device.upload(&[depth as i64, height as i64, width as i64])?;
    let is_backward = device.upload(&[1_i64, 0, 1])?;
    case!(
        "backwards along two of three dimensions",
        vec![0_f32; n],
        |y| kernels.backwards(&stream, line(n), y, &input, &extents, &is_backward, 3, n as i64),
        |y| plain::c_backwards(y, x.as_ptr(), depth, height, width)
    );
    let lengths = below(22, width, height);
    let lengths_there = device.upload(&lengths)?;
    let (columns, rows, count) = (width as i32, height as i32, n as i32);
    case!(
        "rows filled to their ends",
        vec![0_f32; n],
        |y| kernels.filled(&stream, line(n), y, &input, &lengths_there, columns, rows, count),
        |y| plain::c_filled(y, x.as_ptr(), lengths.as_ptr(), columns, rows, count)
    );
    let x = below(23, 1000, n);
    let input = device.upload(&x)?;
    case!(
        "scan of blocks, two elements a thread",
        vec![0_i32; n],
        |y| kernels.pair_scan(&stream, line(n.div_ceil(2)), y, &input, count),
        |y| plain::c_pair_scan(y, x.as_ptr(), count)
    );
    let n = size(1 << 16, 1_001);
    case!(
        "atomic sums of each thread",
        vec![0_i32; n],
        |y| kernels.atomic_sums(&stream, line(n), y, 64, n as i32),
        |y| plain::c_atomic_sums(y, 64, n as i32)
    );

    // In blocks of so many threads along x and y.
    let square = |n: usize, side: u32| {
        let blocks = (n as u32).div_ceil(side);
        Launch::<2>::grid([blocks; 2], [side; 2])
    };
    let n = size(1024, 75);
    let (step, count) = (n as i32 / 8, n as i32);
    // What is subtracted stays small however often a step is taken.
    let factors: Vec<_> = random(24, n).into_iter().map(|it| it / 1024.0).collect();
    let by = device.upload(&factors)?;
    case!(
        "elimination step, blocks of 4 x 4",
        random(25, n * n),
        |y| kernels.eliminate_below(&stream, square(n, 4), y, &by, step, count),
        |y| plain::c_eliminate_below(y, factors.as_ptr(), step, count)
    );
    case!(
        "elimination step, blocks of 8 x 8",
        random(25, n * n),
        |y| kernels.eliminate_below(&stream, square(n, 8), y, &by, step, count),
        |y| plain::c_eliminate_below(y, factors.as_ptr(), step, count)
    );
    let n = size(512, 24);
    let (a, b) = (random(26, n * n), random(27, n * n));
    let (left, right) = (device.upload(&a)?, device.upload(&b)?);
    case!(
        "matrix product, tiles of 4 x 4",
        vec![0_f32; n * n],
        |y| kernels.tiles_of_4(&stream, square(n, 4), y, &left, &right, n as i32),
        |y| plain::c_square_product(y, a.as_ptr(), b.as_ptr(), n as i32)
    );
    case!(
        "matrix product, tiles of 8 x 8",
        vec![0_f32; n * n],
        |y| kernels.tiles_of_8(&stream, square(n, 8), y, &left, &right, n as i32),
        |y| plain::c_square_product(y, a.as_ptr(), b.as_ptr(), n as i32)
    );
    let n = size(1024, 24);
    let x: Vec<_> = random(28, n * n).into_iter().map(|it| 256.0 * it).collect();
    let angle = |at: usize| (2 * (at % 8) + 1) as f32 * (at / 8) as f32;
    let basis: Vec<_> =
        (0..64).map(|at| (angle(at) * std::f32::consts::PI / 16.0).cos() / 2.0).collect();
    let (input, cosines) = (device.upload(&x)?, device.upload(&basis)?);
    case!(
        "cosine transform of 8 x 8 pixels",
        vec![0_f32; n * n],
        |y| kernels.cosines(&stream, square(n, 8), y, &input, &cosines, n as i32),
        |y| plain::c_cosines(y, x.as_ptr(), basis.as_ptr(), n as i32, n as i32)
    );
    let n = size(1 << 16, 1_001);
    let x: Vec<_> = random(29, 16 * n);
    let arrays: Vec<_> =
        x.chunks(16).map(|it| Numbers { at: std::array::from_fn(|k| it[k]) }).collect();
    let input = device.upload(&arrays)?;
    case!(
        "sums of arrays of 16",
        random(30, 16 * n),
        |y| kernels.add_arrays(&stream, line(n), y, &input, 0.125, n as i32),
        |y| plain::c_add_arrays(y, x.as_ptr(), 0.125, n as i32)
    );
    Ok(())
}
