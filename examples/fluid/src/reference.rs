//! The same fluid by plain sequential Rust in double precision, which shares nothing with the kernels.

use crate::{kernels::Push, solver::Fields};

/// A field in rows.
#[derive(Clone)]
struct Field {
    width: i64,
    height: i64,
    values: Vec<f64>,
}

impl Field {
    fn zeros(width: i64, height: i64) -> Self {
        Self { width, height, values: vec![0.0; (width * height) as usize] }
    }

    /// The field with the value that `of` has for each column and row.
    fn map(&self, of: impl Fn(i64, i64) -> f64) -> Self {
        let places =
            (0..self.height).flat_map(|row| (0..self.width).map(move |column| (column, row)));
        Self { values: places.map(|(column, row)| of(column, row)).collect(), ..*self }
    }

    /// The value in a place, or in the nearest one of the field.
    fn at(&self, column: i64, row: i64) -> f64 {
        let (column, row) = (column.clamp(0, self.width - 1), row.clamp(0, self.height - 1));
        self.values[(row * self.width + column) as usize]
    }

    /// Reads at a point between places, by the weights of neighbours along each axis.
    fn linear(&self, x: f64, y: f64) -> f64 {
        let hat = |distance: f64| (1.0 - distance.abs()).max(0.0);
        let (column, row) = (x.floor() as i64, y.floor() as i64);
        let mut sum = 0.0;
        for row in row..=row + 1 {
            for column in column..=column + 1 {
                sum += hat(x - column as f64) * hat(y - row as f64) * self.at(column, row);
            }
        }
        sum
    }

    /// Reads at a point by splines along rows, and by one along their values.
    fn cubic(&self, x: f64, y: f64) -> f64 {
        let (column, row) = (x.floor() as i64, y.floor() as i64);
        let across = [-1, 0, 1, 2].map(|dy| {
            let values = [-1, 0, 1, 2].map(|dx| self.at(column + dx, row + dy));
            spline(values, x - x.floor())
        });
        spline(across, y - y.floor())
    }
}

/// Hermite's form of the curve with the slopes of Catmull and Rom, kept between both ends.
fn spline([before, start, end, after]: [f64; 4], t: f64) -> f64 {
    let (leaving, arriving) = ((end - before) / 2.0, (after - start) / 2.0);
    let (t2, t3) = (t * t, t * t * t);
    let value = (2.0 * t3 - 3.0 * t2 + 1.0) * start
        + (t3 - 2.0 * t2 + t) * leaving
        + (3.0 * t2 - 2.0 * t3) * end
        + (t3 - t2) * arriving;
    value.clamp(start.min(end), start.max(end))
}

/// The fluid. Faces are counted with both walls: there is one column of `u`, and one row of `v`, more than of cells.
pub(crate) struct Reference {
    u: Field,
    v: Field,
    dye: Field,
    pressure: Field,
}

impl Reference {
    pub(crate) fn new(width: u32, height: u32, dye: &[f32]) -> Self {
        let (width, height) = (i64::from(width), i64::from(height));
        let values = dye.iter().copied().map(f64::from).collect();
        Self {
            u: Field::zeros(width + 1, height),
            v: Field::zeros(width, height + 1),
            dye: Field { width, height, values },
            pressure: Field::zeros(width, height),
        }
    }

    /// Moves the fluid by `seconds`, with `sweeps` of Jacobi's method for the pressure.
    pub(crate) fn step(&mut self, seconds: f64, push: Push, sweeps: usize) {
        let (width, height) = (self.dye.width, self.dye.height);
        let centre = push.centre.map(f64::from);
        let stirred = |x: f64, y: f64| {
            let square = (x - centre[0]).powi(2) + (y - centre[1]).powi(2);
            (-square / f64::from(push.radius).powi(2)).exp()
        };
        let u = self.u.map(|column, row| {
            if column == 0 || column == width {
                return 0.0;
            }
            let (x, y) = (column as f64, row as f64 + 0.5);
            let origin = self.origin(x, y, seconds);
            let stirred = f64::from(push.velocity[0]) * stirred(x, y);
            self.u.cubic(origin[0], origin[1] - 0.5) + stirred
        });
        let v = self.v.map(|column, row| {
            if row == 0 || row == height {
                return 0.0;
            }
            let (x, y) = (column as f64 + 0.5, row as f64);
            let origin = self.origin(x, y, seconds);
            let dye = (self.dye.at(column, row - 1) + self.dye.at(column, row)) / 2.0;
            let pushed =
                f64::from(push.velocity[1]) * stirred(x, y) + f64::from(push.weight) * (dye - 0.5);
            self.v.cubic(origin[0] - 0.5, origin[1]) + pushed
        });
        (self.u, self.v) = (u, v);
        self.project(sweeps);
        self.dye = self.dye.map(|column, row| {
            let [x, y] = self.origin(column as f64 + 0.5, row as f64 + 0.5, seconds);
            self.dye.cubic(x - 0.5, y - 0.5)
        });
    }

    /// Makes as much flow into each cell as out of it.
    fn project(&mut self, sweeps: usize) {
        let divergence = self.dye.map(|column, row| {
            self.u.at(column + 1, row) - self.u.at(column, row) + self.v.at(column, row + 1)
                - self.v.at(column, row)
        });
        for _ in 0..sweeps {
            let old = &self.pressure;
            self.pressure = old.map(|column, row| {
                let beside = old.at(column - 1, row)
                    + old.at(column + 1, row)
                    + old.at(column, row - 1)
                    + old.at(column, row + 1);
                (beside - divergence.at(column, row)) / 4.0
            });
        }
        let pressure = &self.pressure;
        let slope =
            |column, row, dx, dy| pressure.at(column, row) - pressure.at(column - dx, row - dy);
        self.u = self.u.map(|column, row| self.u.at(column, row) - slope(column, row, 1, 0));
        self.v = self.v.map(|column, row| self.v.at(column, row) - slope(column, row, 0, 1));
    }

    fn velocity(&self, x: f64, y: f64) -> [f64; 2] {
        [self.u.linear(x, y - 0.5), self.v.linear(x - 0.5, y)]
    }

    /// Where the fluid at a point was, by the midpoint method.
    fn origin(&self, x: f64, y: f64, seconds: f64) -> [f64; 2] {
        let (width, height) = (self.dye.width as f64, self.dye.height as f64);
        let back = |[right, down]: [f64; 2], seconds: f64| {
            [(x - seconds * right).clamp(0.0, width), (y - seconds * down).clamp(0.0, height)]
        };
        let middle = back(self.velocity(x, y), seconds / 2.0);
        back(self.velocity(middle[0], middle[1]), seconds)
    }

    /// The largest difference to the velocity of a device as a part of the largest velocity, and to its dye.
    pub(crate) fn differences(&self, fields: &Fields) -> [f64; 2] {
        let largest = |values: &mut dyn Iterator<Item = f64>| {
            // `f64::max` would pass over a NaN.
            values.fold(0.0, |a: f64, b| if b.abs() <= a { a } else { b.abs() })
        };
        let difference = |field: &Field, values: &[f32]| {
            let width = self.dye.width;
            let expected = |i: usize| field.at(i as i64 % width, i as i64 / width);
            largest(&mut values.iter().enumerate().map(|(i, &it)| expected(i) - f64::from(it)))
        };
        let fastest = largest(&mut self.u.values.iter().chain(&self.v.values).copied());
        let velocity = difference(&self.u, &fields.u).max(difference(&self.v, &fields.v));
        [velocity / fastest, difference(&self.dye, &fields.dye)]
    }
}
