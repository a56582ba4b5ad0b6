//! The matrices: elements whose products and sums are exact in single precision, in whatever order.

use std::error::Error;

/// Rows of the product.
pub(crate) const ROWS: usize = 768;

/// Elements of a row of the product.
pub(crate) const WIDTH: usize = 512;

/// Elements of a row of the left matrix.
pub(crate) const INNER: usize = 256;

/// Rows of the product that a device computes at a time.
pub(crate) const BAND: usize = 16;

pub(crate) struct Product {
    pub(crate) a: Vec<f32>,
    pub(crate) b: Vec<f32>,
}

impl Product {
    /// Whole numbers from -8 to 8.
    pub(crate) fn example() -> Self {
        let element = |i: usize| (i * 7919 % 1031 % 17) as f32 - 8.0;
        let a = (0..ROWS * INNER).map(element).collect();
        let b = (0..INNER * WIDTH).map(|i| element(i + 3)).collect();
        Self { a, b }
    }

    /// The rows of the left matrix for a band of the product.
    pub(crate) fn rows(&self, band: usize) -> &[f32] {
        &self.a[band * BAND * INNER..][..BAND * INNER]
    }

    /// The number of elements of these bands, which are all, each once, and right.
    pub(crate) fn check(&self, mut bands: Vec<(usize, Vec<f32>)>) -> Result<usize, Box<dyn Error>> {
        bands.sort_by_key(|(band, _)| *band);
        if !bands.iter().map(|(band, _)| *band).eq(0..ROWS / BAND) {
            return Err("devices: a band of the product is missing, or there twice".into());
        }
        let found: Vec<f32> = bands.into_iter().flat_map(|(_, elements)| elements).collect();
        for row in 0..ROWS {
            let mut expected = [0.0; WIDTH];
            for (k, &a) in self.a[row * INNER..][..INNER].iter().enumerate() {
                for (sum, &b) in expected.iter_mut().zip(&self.b[k * WIDTH..]) {
                    *sum += a * b;
                }
            }
            let found = &found[row * WIDTH..][..WIDTH];
            if let Some(column) = (0..WIDTH).find(|&column| found[column] != expected[column]) {
                let (found, expected) = (found[column], expected[column]);
                return Err(
                    format!("devices: {found} at {row},{column} instead of {expected}").into()
                );
            }
        }
        Ok(found.len())
    }
}
