//! Charts of a report as SVG: bars of one number for each kernel, and curves of occupancy by block size.

use super::facts::{KernelFacts, Occupancy};
use std::fmt::Write as _;

/// The colours of curves, which differ for people who do not see all colours too (Okabe and Ito, 2008).
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b"];

/// The size of the plot of occupancy, in pixels, and the space around it for numbers.
const PLOT: (f64, f64) = (640.0, 200.0);
const MARGIN: f64 = 44.0;
/// The block size at the right end.
const MOST_THREADS: f64 = 1024.0;

/// A bar as wide as a value is of the largest, in percent: the width is that of a cell.
pub(super) fn share(value: u64, largest: u64) -> u64 {
    if largest == 0 { 0 } else { (value * 100).div_ceil(largest) }
}

/// Occupancy over block size, a curve for each kernel with a legend below; `None` where no kernel has one.
pub(super) fn occupancy(kernels: &[KernelFacts<'_>]) -> Option<String> {
    let known = kernels.iter().filter(|kernel| !kernel.occupancy.is_empty());
    let curves: Vec<_> = known.map(|kernel| (&*kernel.name, &*kernel.occupancy)).collect();
    (!curves.is_empty()).then(|| plot(&curves))
}

fn plot(curves: &[(&str, &[Occupancy])]) -> String {
    let (width, height) = PLOT;
    let legend = 20.0 * curves.len().div_ceil(2) as f64;
    let (whole_width, whole_height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN + legend);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {whole_width} {whole_height}\" role=\"img\" aria-label=\"occupancy by block size\">"
    );
    axes(&mut svg);
    for (index, (name, points)) in curves.iter().enumerate() {
        curve(&mut svg, COLOURS[index % COLOURS.len()], index / COLOURS.len() > 0, name, points);
        let (column, row) = ((index % 2) as f64, (index / 2) as f64);
        let (x, y) = (MARGIN + column * width / 2.0, height + 2.0 * MARGIN + row * 20.0);
        let (colour, name) = (COLOURS[index % COLOURS.len()], escaped(name));
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
             <text x=\"{}\" y=\"{y}\">{name}</text>",
            y - 10.0,
            x + 18.0
        );
    }
    svg + "</svg>"
}

/// The frame with its numbers: percent upwards, threads of a block to the right.
fn axes(svg: &mut String) {
    for percent in [0u32, 25, 50, 75, 100] {
        let y = place(0.0, f64::from(percent) / 100.0).1;
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{MARGIN}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>\
             <text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{percent}%</text>",
            MARGIN + PLOT.0,
            MARGIN - 6.0,
            y + 4.0
        );
    }
    for threads in [32u32, 128, 256, 384, 512, 640, 768, 896, 1024] {
        let (x, y) = place(f64::from(threads), 0.0);
        let _ = write!(
            svg,
            "<text class=\"axis\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{threads}</text>",
            y + 16.0
        );
    }
    let _ = write!(
        svg,
        "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">threads of a block</text>",
        MARGIN + PLOT.0 / 2.0,
        MARGIN + PLOT.1 + 32.0
    );
}

fn curve(svg: &mut String, colour: &str, is_dashed: bool, name: &str, points: &[Occupancy]) {
    let mut path = String::new();
    for point in points {
        let (x, y) = place(f64::from(point.threads), point.fraction);
        let _ = write!(path, "{x:.1},{y:.1} ");
    }
    let dashes = if is_dashed { " stroke-dasharray=\"5 3\"" } else { "" };
    let _ = write!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}>\
         <title>{}</title></polyline>",
        path.trim_end(),
        escaped(name)
    );
    for point in points {
        let (x, y) = place(f64::from(point.threads), point.fraction);
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"><title>{}: {} threads, {} blocks, {:.0}%\
             </title></circle>",
            escaped(name),
            point.threads,
            point.blocks,
            100.0 * point.fraction
        );
    }
}

/// Where a point lies in the picture.
fn place(threads: f64, fraction: f64) -> (f64, f64) {
    (MARGIN + PLOT.0 * threads / MOST_THREADS, MARGIN + PLOT.1 * (1.0 - fraction))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{Occupancy, plot, share};

    #[test]
    fn bars_are_shares_of_the_largest() {
        assert_eq!([share(0, 0), share(5, 10), share(10, 10), share(1, 1000)], [0, 50, 100, 1]);
    }

    #[test]
    fn a_curve_has_a_point_for_each_block_size_and_a_name_in_the_legend() {
        let point = |threads, fraction| Occupancy { threads, blocks: 2, fraction };
        let svg = plot(&[
            ("scale<f32>", &[point(32, 0.5), point(1024, 1.0)]),
            ("dot", &[point(64, 0.0)]),
        ]);
        assert!(svg.contains("points=\"64.0,144.0 684.0,44.0\""), "{svg}");
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (2, 3));
        assert!(svg.contains(">scale&lt;f32&gt;</text>") && svg.contains(">dot</text>"), "{svg}");
    }
}
