//! The arguments that functions are measured at: the same in every run.

use crate::functions::Domain;

/// A generator of numbers that look random (Marsaglia's xorshift, multiplied).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Positive, with an exponent to base 2 between these.
    fn exponential(&mut self, low: f64, high: f64) -> f64 {
        (1.0 + self.unit()) * self.between(low, high).floor().exp2()
    }

    fn sign(&mut self, x: f64) -> f64 {
        if self.bits() & 1 << 40 == 0 { x } else { -x }
    }

    /// The two arguments of a point; the second is for functions of two. `wide` is for `f64`.
    pub(crate) fn point(&mut self, domain: Domain, wide: bool) -> (f64, f64) {
        let most = if wide { 1020.0 } else { 125.0 };
        let often = self.bits() >> 60;
        match domain {
            // Mostly where people compute.
            Domain::All if often < 12 => {
                let x = self.exponential(-8.0, 8.0);
                (self.sign(x), 0.0)
            }
            Domain::All => {
                let x = self.exponential(-most, most);
                (self.sign(x), 0.0)
            }
            Domain::Positive if often < 12 => (self.exponential(-8.0, 8.0), 0.0),
            Domain::Positive => (self.exponential(-most, most), 0.0),
            Domain::Between(low, high) if often < 8 => {
                (self.exponential(-20.0, high.log2().floor()).max(low), 0.0)
            }
            Domain::Between(low, high) => (self.between(low, high.min(10.0)), 0.0),
            Domain::Within(single, double) => {
                let end = if wide { double } else { single };
                let x = if often < 8 {
                    self.between(0.0, end)
                } else {
                    self.exponential(-40.0, end.log2().floor())
                };
                (self.sign(x), 0.0)
            }
            Domain::Pair => {
                let half = most / 2.0 - 10.0;
                let (x, near) = (self.exponential(-half, half), self.exponential(-12.0, 12.0));
                let y = if often < 8 { self.exponential(-half, half) } else { x * near };
                (self.sign(x), self.sign(y))
            }
            Domain::Power => {
                let exponent = self.between(-40.0, 40.0);
                let reach = most - 1.0;
                (exponent.exp2(), self.between(-reach, reach) / exponent)
            }
        }
    }
}
