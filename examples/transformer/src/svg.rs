//! The loss of each step as a chart in SVG.

use std::fmt::Write as _;

const WIDTH: f32 = 640.0;
const HEIGHT: f32 = 400.0;
const LEFT: f32 = 48.0;
const BOTTOM: f32 = 36.0;

/// The losses, and lines at others, each with what it is.
pub(crate) fn chart(losses: &[f32], lines: &[(f32, &str)]) -> String {
    let top = losses.iter().chain(lines.iter().map(|(loss, _)| loss)).copied().fold(0.0, f32::max);
    let top = (2.0 * top).ceil() / 2.0;
    let across = |step: f32| LEFT + step / losses.len() as f32 * (WIDTH - LEFT - 16.0);
    let up = |loss: f32| HEIGHT - BOTTOM - loss / top * (HEIGHT - BOTTOM - 12.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    // Writing to a string cannot fail.
    for tick in 0..=(top * 2.0) as u32 {
        let (loss, y) = (tick as f32 / 2.0, up(tick as f32 / 2.0));
        let _ = writeln!(
            svg,
            "<path stroke=\"#ddd\" d=\"M{LEFT} {y:.1}H{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{loss:.1}</text>",
            WIDTH - 16.0,
            LEFT - 6.0,
            y + 4.0
        );
    }
    for tick in 0..=4 {
        let step = losses.len() * tick / 4;
        let anchor = if tick == 4 { "end" } else { "middle" };
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{step}{}</text>",
            across(step as f32),
            HEIGHT - 14.0,
            if tick == 4 { " steps" } else { "" }
        );
    }
    for (loss, what) in lines {
        let y = up(*loss);
        let _ = writeln!(
            svg,
            "<path stroke=\"#678\" stroke-dasharray=\"5 4\" d=\"M{LEFT} {y:.1}H{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#456\" \
              stroke=\"white\" stroke-width=\"4\" paint-order=\"stroke\">{what}</text>",
            WIDTH - 16.0,
            WIDTH - 18.0,
            y - 5.0
        );
    }
    svg.push_str("<polyline fill=\"none\" stroke=\"#c30\" stroke-width=\"1.5\" points=\"");
    // No more points than can be told apart.
    for (i, some) in losses.chunks(losses.len().div_ceil(400).max(1)).enumerate() {
        let mean = some.iter().sum::<f32>() / some.len() as f32;
        let step = i * losses.len().div_ceil(400).max(1) + some.len() / 2;
        let _ = write!(svg, "{:.1},{:.1} ", across(step as f32), up(mean));
    }
    svg.push_str("\"/>\n</svg>\n");
    svg
}
