//! The error of every mathematical function of `kernelmill_device`, in units of the last place,
//! against references of higher precision: double precision for `f32`, 128 bits for `f64`.

mod functions;
mod points;
mod reference;

mod kernels {
    kernelmill::include_kernels!();
}

use functions::{FUNCTIONS, Function};
use kernelmill::{Device, Launch, Stream};
use points::Numbers;
use reference::{Big, ulps};

/// The greatest error of a function, and where it is.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The function.
    pub name: &'static str,
    /// Whether it is the one of `f64`.
    pub wide: bool,
    /// The error in units of the last place.
    pub error: f64,
    /// The arguments.
    pub at: (f64, f64),
    /// The most that the error may be.
    pub bound: f64,
}

/// The kernels on a device.
pub struct Measure {
    device: Device,
    stream: Stream,
    kernels: kernels::Kernels,
}

impl Measure {
    /// Loads the kernels.
    ///
    /// # Errors
    ///
    /// When none of the embedded binaries runs on the device.
    pub fn new(device: Device) -> kernelmill::Result<Self> {
        let kernels = kernels::Kernels::load(&device)?;
        Ok(Self { stream: device.stream(), device, kernels })
    }

    /// The functions, by number.
    pub fn functions() -> std::ops::Range<usize> {
        0..FUNCTIONS.len()
    }

    /// The greatest error of a function over so many points.
    ///
    /// # Errors
    ///
    /// What the device reports.
    ///
    /// # Panics
    ///
    /// When there is no function of this number.
    pub fn worst(&self, function: usize, wide: bool, points: usize) -> kernelmill::Result<Worst> {
        let which = function as u32;
        let function = &FUNCTIONS[function];
        let mut numbers = Numbers::new(u64::from(which) + 1);
        let points = (0..points).map(|_| numbers.point(function.domain, wide));
        let bound = function.bounds[usize::from(wide)];
        let (name, at) = (function.name, (0.0, 0.0));
        let mut worst = Worst { name, wide, error: 0.0, at, bound };
        let mut note = |error: f64, at: (f64, f64)| {
            if error > worst.error || error.is_nan() {
                (worst.error, worst.at) = (error, at);
            }
        };
        if wide {
            let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
            let found = self.doubles(function, which, &x, &y)?;
            let mut big = Big::new();
            for ((x, y), found) in x.into_iter().zip(y).zip(found) {
                note(ulps(found, &(function.double)(&mut big, x, y), 53, -1022), (x, y));
            }
        } else {
            let points = points.map(|(x, y)| (x as f32, y as f32));
            let (x, y): (Vec<f32>, Vec<f32>) = points.unzip();
            let found = self.singles(function, which, &x, &y)?;
            for ((x, y), found) in x.into_iter().zip(y).zip(found) {
                let (x, y) = (f64::from(x), f64::from(y));
                note(ulps_single(found, (function.single)(x, y)), (x, y));
            }
        }
        Ok(worst)
    }

    fn singles(
        &self,
        function: &Function,
        which: u32,
        x: &[f32],
        y: &[f32],
    ) -> kernelmill::Result<Vec<f32>> {
        let mut output = self.device.zeros(x.len())?;
        let (launch, x, y) =
            (Launch::linear(x.len()), self.device.upload(x)?, self.device.upload(y)?);
        if function.is_binary() {
            self.kernels.binary_f32(&self.stream, launch, which, &x, &y, &mut output)?;
        } else {
            self.kernels.unary_f32(&self.stream, launch, which, &x, &mut output)?;
        }
        output.download()
    }

    fn doubles(
        &self,
        function: &Function,
        which: u32,
        x: &[f64],
        y: &[f64],
    ) -> kernelmill::Result<Vec<f64>> {
        let mut output = self.device.zeros(x.len())?;
        let (launch, x, y) =
            (Launch::linear(x.len()), self.device.upload(x)?, self.device.upload(y)?);
        if function.is_binary() {
            self.kernels.binary_f64(&self.stream, launch, which, &x, &y, &mut output)?;
        } else {
            self.kernels.unary_f64(&self.stream, launch, which, &x, &mut output)?;
        }
        output.download()
    }
}

/// The distance of an `f32` from a number in double precision, in units of its last place.
fn ulps_single(found: f32, exact: f64) -> f64 {
    if found.is_nan() && exact.is_nan() || found == exact as f32 && !found.is_finite() {
        return 0.0;
    }
    let exponent = ((exact.abs().to_bits() >> 52) as i32 - 1023).max(-126);
    (f64::from(found) - exact).abs() / f64::from(exponent - 23).exp2()
}
