use kernelmill_device::{atomic::AtomicF32, prelude::*};

/// The curve: a bump of height `w[0]` at `w[1]`, as narrow as `w[2]` says, on a floor of `w[3]`.
fn curve(w: &[f32], x: f32) -> f32 {
    let d = x - w[1];
    w[0] * (-w[2] * d * d).exp() + w[3]
}

/// How far the curve is from a point, squared.
fn loss(w: &[f32], x: f32, y: f32) -> f32 {
    let difference = curve(w, x) - y;
    difference * difference
}

autodiff! {
    /// Adds to `gradient` how the loss changes with each weight. All threads add to the same one.
    fn loss_gradient(w: &[f32], gradient: &[AtomicF32], x: f32, y: f32, seed: f32)
        = reverse loss(shared, constant, constant);

    /// How the curve changes with `x`.
    fn slope_at(w: &[f32], x: f32, dx: f32) -> f32 = forward curve(constant, active);
}

/// The gradient of the mean loss of all points.
#[kernel]
pub fn gradient(w: &[f32], x: &[f32], y: &[f32], gradient: &[AtomicF32]) {
    let i = thread::index_1d().get();
    if i < x.len() && i < y.len() {
        let seed = 1.0 / x.len() as f32;
        loss_gradient(w, gradient, x[i], y[i], seed);
    }
}

/// One step down the gradient, with momentum; the gradient is cleared for the next.
#[kernel]
pub fn descend(
    rate: f32,
    mut w: DisjointSlice<f32>,
    mut velocity: DisjointSlice<f32>,
    mut gradient: DisjointSlice<f32>,
) {
    let i = thread::index_1d();
    if let (Some(w), Some(v), Some(g)) = (w.get_mut(i), velocity.get_mut(i), gradient.get_mut(i)) {
        *v = 0.9 * *v - rate * *g;
        *w += *v;
        *g = 0.0;
    }
}

/// The curve and its slope at each `x`.
#[kernel]
pub fn evaluate(
    w: &[f32],
    x: &[f32],
    mut y: DisjointSlice<f32>,
    mut slope: DisjointSlice<f32>,
) {
    let i = thread::index_1d();
    if let (Some(y), Some(slope)) = (y.get_mut(i), slope.get_mut(i)) {
        *y = curve(w, x[i.get()]);
        *slope = slope_at(w, x[i.get()], 1.0);
    }
}
