//! A plot as SVG.

use std::fmt::Write as _;

const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 400.0;

/// Points, and a curve through others.
pub(crate) fn plot(x: &[f32], y: &[f32], at: &[f32], curve: &[f32]) -> String {
    let place = |x: f32, y: f32| {
        let (left, bottom) = ((x + 1.6) / 3.7 * WIDTH, HEIGHT - (y + 0.2) / 2.3 * HEIGHT);
        format!("{left:.1},{bottom:.1}")
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<path fill=\"none\" \
         stroke=\"#8ab\" stroke-width=\"4\" stroke-linecap=\"round\" d=\""
    );
    for (&x, &y) in x.iter().zip(y) {
        // A line of no length is a dot. Writing to a string cannot fail.
        let _ = write!(svg, "M{}h0", place(x, y));
    }
    svg.push_str("\"/>\n<polyline fill=\"none\" stroke=\"#c30\" stroke-width=\"2\" points=\"");
    for (&x, &y) in at.iter().zip(curve) {
        let _ = write!(svg, "{} ", place(x, y));
    }
    svg.push_str("\"/>\n</svg>\n");
    svg
}
