use kernelmill_device::prelude::*;
use std::time::Instant;

fn report(value: f32) {
    println!("the value is {value}");
}

#[kernel]
pub fn talk(mut y: DisjointSlice<f32>) {
    if let Some(out) = y.get_mut(thread::index_1d()) {
        report(*out);
        let start = Instant::now();
        let limit = std::env::var("LIMIT").is_ok();
        *out = if limit { start.elapsed().as_secs_f32() } else { 0.0 };
    }
}
