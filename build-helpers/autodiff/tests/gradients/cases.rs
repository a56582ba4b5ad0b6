//! The functions that are tried, where, and gradients that were found by hand.

use crate::parameter::Parameter::{
    self, Array, Counted, Integer, Number, Output, OutputArray, Slice,
};

/// A gradient found by hand.
pub(crate) type Gradient = fn(&[f64]) -> Vec<f64>;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
    pub(crate) results: usize,
    pub(crate) by_hand: Option<Gradient>,
}

const fn case(name: &'static str, parameters: &'static [Parameter], results: usize) -> Case {
    Case { name, parameters, results, by_hand: None }
}

const fn known(name: &'static str, parameters: &'static [Parameter], by_hand: Gradient) -> Case {
    Case { name, parameters, results: 1, by_hand: Some(by_hand) }
}

const UNIT: Parameter = Number(-0.95, 0.95);
const WIDE: Parameter = Number(-2.0, 2.0);
const ABOVE: Parameter = Number(0.3, 2.5);

pub(crate) static CASES: &[Case] = &[
    known("square", &[WIDE], |x| vec![2.0 * x[0]]),
    known("polynomial", &[WIDE], |x| vec![6.0 * x[0] * x[0] - 6.0 * x[0] + 0.5]),
    case("rational", &[WIDE, WIDE], 1),
    known("quotient", &[ABOVE, ABOVE], |x| {
        vec![1.0 / x[1] + x[1] / (x[0] * x[0]), -x[0] / (x[1] * x[1]) - 1.0 / x[0]]
    }),
    case("remainder", &[Number(1.0, 9.0), Number(0.7, 2.0)], 1),
    known("trigonometry", &[WIDE], |x| vec![(2.0 * x[0]).cos() + 0.3 / (0.3 * x[0]).cos().powi(2)]),
    known("inverse_trigonometry", &[UNIT], |x| {
        let (x, root) = (x[0], (1.0 - x[0] * x[0]).sqrt());
        vec![1.0 / root - 2.0 * x.atan() / root + 2.0 * x.acos() / (1.0 + x * x)]
    }),
    known("angle", &[WIDE, ABOVE], |x| {
        let (y, x) = (x[0], x[1]);
        let r = x * x + y * y;
        vec![x * x / r, y.atan2(x) - y * x / r]
    }),
    known("hyperbolic", &[WIDE], |x| {
        let x = x[0];
        vec![x.cosh() * x.tanh() + x.sinh() / x.cosh().powi(2) - x.sinh()]
    }),
    case("exponentials", &[WIDE], 1),
    known("logarithms", &[ABOVE], |x| {
        let x = x[0];
        let (two, ten) = (2.0_f64.ln(), 10.0_f64.ln());
        vec![2.0 * x.ln() / (x * two) + x.ln_1p() / (x * ten) + x.log10() / (1.0 + x)]
    }),
    known("powers", &[ABOVE, ABOVE], |x| {
        let (x, y) = (x[0], x[1]);
        vec![
            y * x.powf(y - 1.0) + 5.0 * x.powi(4) / (y * y),
            x.powf(y) * x.ln() - 2.0 * x.powi(5) / y.powi(3),
        ]
    }),
    case("roots", &[ABOVE, ABOVE], 1),
    case("fused", &[WIDE, WIDE, WIDE], 1),
    case("absolute", &[WIDE], 1),
    case("limits", &[WIDE, WIDE], 1),
    case("steps", &[WIDE], 1),
    known("logistic", &[WIDE], |x| {
        let y = 1.0 / (1.0 + (-x[0]).exp());
        vec![y * (1.0 - y)]
    }),
    known("branch", &[WIDE], |x| vec![if x[0] > 0.0 { 3.0 * x[0] * x[0] } else { x[0].cos() }]),
    case("nested_branches", &[WIDE, WIDE], 1),
    case("early_return", &[WIDE, WIDE], 1),
    case("choice", &[WIDE, Integer(0)], 1),
    case("choice", &[WIDE, Integer(2)], 1),
    case("choice", &[WIDE, Integer(7)], 1),
    case("short_loop", &[UNIT], 1),
    case("long_loop", &[Number(0.1, 0.9), Number(0.5, 3.0)], 1),
    case("counted_loop", &[UNIT, Integer(7)], 1),
    case("counted_loop", &[UNIT, Integer(0)], 1),
    case("downwards", &[Slice(6, -1.0, 1.0)], 1),
    known("newton", &[Number(0.5, 9.0)], |x| vec![0.5 / x[0].sqrt()]),
    known("dot", &[Slice(5, -1.0, 1.0), Slice(5, -1.0, 1.0)], |x| {
        x[5..].iter().chain(&x[..5]).copied().collect()
    }),
    case("zipped", &[Slice(5, -1.0, 1.0), Slice(6, -1.0, 1.0)], 1),
    case("adaptors", &[Slice(6, -1.0, 1.0)], 1),
    known("norm", &[Slice(6, 0.2, 1.0)], |x| {
        let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        x.iter().map(|x| x / norm).collect()
    }),
    case("soft_max", &[Slice(5, -1.0, 1.0), Output(5)], 0),
    case("matrix", &[Array(25, -1.0, 1.0), Array(25, -1.0, 1.0), OutputArray(25)], 0),
    case(
        "matrix_of_any_size",
        &[Slice(9, -1.0, 1.0), Slice(9, -1.0, 1.0), Output(9), Integer(3)],
        0,
    ),
    case("triangle", &[Slice(6, 0.1, 1.0)], 1),
    case("in_place", &[Output(6)], 0),
    case("sort_of", &[Output(6)], 0),
    case("prefix_sums", &[Slice(5, -1.0, 1.0), Output(5)], 0),
    case("local_array", &[UNIT, UNIT], 1),
    case("table", &[Slice(5, -1.0, 1.0), Integer(13)], 1),
    case("structs", &[Array(16, -1.0, 1.0)], 1),
    case("pair", &[UNIT, UNIT, UNIT, UNIT], 2),
    case("complex_power", &[UNIT, UNIT, Integer(6)], 2),
    case("mixed", &[Counted(7, 5, 0.5, 1.2)], 1),
    case("update_struct", &[OutputArray(4), Array(3, -1.0, 1.0)], 0),
    case("swapped", &[OutputArray(1), OutputArray(1)], 0),
    case("swapped_elements", &[Output(4)], 0),
    case("swapped_pair", &[OutputArray(2)], 0),
    case("swapped_rows", &[OutputArray(12)], 0),
    case("rotated", &[OutputArray(5)], 0),
    case("moved_down", &[Output(6)], 0),
    case("moved_up", &[Output(6)], 0),
    case("sorted", &[OutputArray(4)], 0),
    case("sorted_three", &[OutputArray(3)], 0),
    case("median", &[Array(5, -1.0, 1.0)], 1),
    case("sorted_numbers", &[UNIT, UNIT, UNIT], 1),
    case("sorted_numbers_by_value", &[UNIT, UNIT, UNIT, UNIT], 1),
    case("swapped_numbers", &[UNIT, UNIT, UNIT], 1),
    case("sorted_copy", &[Array(2, -1.0, 1.0)], 1),
    case("reversed_numbers", &[UNIT, UNIT, UNIT], 1),
    case("reversed", &[OutputArray(4)], 0),
    case("rotated_by", &[OutputArray(7), Integer(11)], 0),
    case("rotated_pairs", &[OutputArray(6)], 0),
    case("halves_swapped", &[OutputArray(6)], 0),
    case("replaced", &[OutputArray(3)], 0),
    case("body_swapped", &[OutputArray(4), OutputArray(4)], 0),
    case("pairs_sorted", &[OutputArray(6)], 0),
    case("selected", &[OutputArray(5)], 0),
    case("mapped", &[Array(4, 0.1, 1.1)], 1),
    case("copied", &[Slice(5, -1.0, 1.0), Output(5)], 0),
    case("called", &[WIDE, WIDE], 1),
    case("closures", &[UNIT, Integer(9)], 1),
    case("chosen_function", &[WIDE], 1),
    case(
        "black_scholes",
        &[
            Number(20.0, 120.0),
            Number(20.0, 120.0),
            Number(0.2, 3.0),
            Number(0.0, 0.1),
            Number(0.1, 0.6),
        ],
        1,
    ),
    case("prices", &[Slice(15, 0.4, 0.9), Output(3)], 0),
    case("gravity", &[Slice(24, -1.0, 1.0), Array(3, -1.0, 1.0), OutputArray(3)], 0),
    case("runge_kutta", &[UNIT, ABOVE, Integer(20)], 1),
    case("labelled", &[Slice(5, -1.0, 1.5), Number(0.5, 1.5)], 1),
    case("collatz", &[UNIT, Integer(7)], 1),
];
