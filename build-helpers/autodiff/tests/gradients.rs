//! Gradients of many functions, in both modes, against finite differences in `f64`; those in `f32`
//! against the ones in `f64`; and some against derivatives found by hand.

mod common;

use common::{
    module_of,
    native::{Entry, Native, add_entry},
    random::Random,
};
use kernelmill_autodiff::{Activity, Mode, Request, Rules, Session, Tape};
use kernelmill_llvm::inkwell::context::Context;

const SOURCE: &str = include_str!("functions/gradients.rs");

/// The points at which each function is tried.
const POINTS: usize = 200;

/// A parameter in Rust, which is one or two of LLVM's.
#[derive(Clone, Copy, Debug)]
enum Parameter {
    /// A number between these.
    Number(f64, f64),
    /// An integer.
    Integer(u64),
    /// A slice of so many numbers between these.
    Slice(usize, f64, f64),
    /// A slice that is written; its content before is random too.
    Output(usize),
    /// Behind a reference without a length: numbers between these.
    Array(usize, f64, f64),
    /// The same, written.
    OutputArray(usize),
    /// Behind a reference: an integer in the width of one number, then numbers.
    Counted(u32, usize, f64, f64),
}
use Parameter::{Array, Counted, Integer, Number, Output, OutputArray, Slice};

/// A gradient found by hand.
type Gradient = fn(&[f64]) -> Vec<f64>;

struct Case {
    name: &'static str,
    parameters: &'static [Parameter],
    results: usize,
    by_hand: Option<Gradient>,
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

static CASES: &[Case] = &[
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

/// How wide numbers are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Width {
    F32,
    F64,
}

impl Width {
    fn name(self) -> &'static str {
        if self == Self::F32 { "f32" } else { "f64" }
    }
    fn write(self, bytes: &mut Vec<u8>, value: f64) {
        match self {
            Self::F32 => bytes.extend((value as f32).to_le_bytes()),
            Self::F64 => bytes.extend(value.to_le_bytes()),
        }
    }
    fn read(self, bytes: &[u8], index: usize) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_le_bytes(bytes[4 * index..][..4].try_into().unwrap())),
            Self::F64 => f64::from_le_bytes(bytes[8 * index..][..8].try_into().unwrap()),
        }
    }
    fn cell(self, value: f64) -> u64 {
        match self {
            Self::F32 => u64::from((value as f32).to_bits()),
            Self::F64 => value.to_bits(),
        }
    }
}

impl Parameter {
    fn activities(self) -> Vec<Activity> {
        match self {
            Number(..) => vec![Activity::Active],
            Integer(_) => vec![Activity::Constant],
            Slice(..) | Output(_) => vec![Activity::Duplicated, Activity::Constant],
            Array(..) | OutputArray(_) | Counted(..) => vec![Activity::Duplicated],
        }
    }

    /// The range of its numbers.
    fn range(self) -> (usize, f64, f64) {
        match self {
            Number(low, high) => (1, low, high),
            Integer(_) => (0, 0.0, 0.0),
            Slice(count, low, high) | Array(count, low, high) | Counted(_, count, low, high) => {
                (count, low, high)
            }
            Output(count) | OutputArray(count) => (count, 0.1, 1.1),
        }
    }

    fn is_output(self) -> bool {
        matches!(self, Output(_) | OutputArray(_))
    }
}

/// One way of calling a function or its derivative.
struct Call<'a> {
    width: Width,
    parameters: &'a [Parameter],
    cells: Vec<u64>,
    memory: Vec<Vec<u8>>,
    shadows: Vec<Vec<u8>>,
}

impl<'a> Call<'a> {
    /// Lays out arguments: the numbers `x`, and where there are shadows, those of `dx` in them.
    fn new(case: &'a Case, width: Width, x: &[f64], dx: Option<(Mode, &[f64])>) -> Self {
        let mut call = Self {
            width,
            parameters: case.parameters,
            cells: Vec::new(),
            memory: Vec::new(),
            shadows: Vec::new(),
        };
        let mut at = 0;
        for &parameter in case.parameters {
            let count = parameter.range().0;
            let numbers = &x[at..at + count];
            let changes = dx.map(|(mode, dx)| (mode, &dx[at..at + count]));
            at += count;
            match parameter {
                Number(..) => {
                    call.cells.push(width.cell(numbers[0]));
                    if let Some((Mode::Forward, changes)) = changes {
                        call.cells.push(width.cell(changes[0]));
                    }
                }
                Integer(value) => call.cells.push(value),
                _ => {
                    let lead = match parameter {
                        Counted(count, ..) => u64::from(count),
                        _ => 0,
                    };
                    call.push_memory(parameter, numbers, lead);
                    if let Some((_, changes)) = changes {
                        call.push_shadow(parameter, changes);
                    }
                    if matches!(parameter, Slice(..) | Output(_)) {
                        call.cells.push(count as u64);
                    }
                }
            }
        }
        call
    }

    fn bytes(&self, parameter: Parameter, numbers: &[f64], lead: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Counted(..) = parameter {
            let word = if self.width == Width::F32 { 4 } else { 8 };
            bytes.extend(&lead.to_le_bytes()[..word]);
        }
        for &number in numbers {
            self.width.write(&mut bytes, number);
        }
        bytes
    }

    fn push_memory(&mut self, parameter: Parameter, numbers: &[f64], lead: u64) {
        let bytes = self.bytes(parameter, numbers, lead);
        self.memory.push(bytes);
        self.cells.push(self.memory.last().unwrap().as_ptr() as u64);
    }

    fn push_shadow(&mut self, parameter: Parameter, numbers: &[f64]) {
        let bytes = self.bytes(parameter, numbers, 0);
        self.shadows.push(bytes);
        self.cells.push(self.shadows.last().unwrap().as_ptr() as u64);
    }

    fn run(&mut self, entry: Entry) -> Vec<f64> {
        let mut results = vec![0_u64; 32];
        // SAFETY: the cells are laid out as the function's parameters, and the results have room for
        // all of its numbers.
        unsafe { entry(self.cells.as_ptr(), results.as_mut_ptr()) };
        results.into_iter().map(f64::from_bits).collect()
    }

    /// The numbers in all memory, or in all shadows, parameter by parameter.
    fn numbers(&self, of_shadows: bool) -> Vec<(Parameter, Vec<f64>)> {
        let memory = if of_shadows { &self.shadows } else { &self.memory };
        let with_memory = self
            .parameters
            .iter()
            .filter(|parameter| !matches!(parameter, Number(..) | Integer(_)));
        with_memory
            .zip(memory)
            .map(|(&parameter, bytes)| {
                let skipped = usize::from(matches!(parameter, Counted(..)));
                let count = parameter.range().0;
                let numbers = (0..count).map(|index| self.width.read(bytes, skipped + index));
                (parameter, numbers.collect())
            })
            .collect()
    }
}

/// A function and its derivatives.
struct Derivatives {
    primal: Entry,
    forward: Entry,
    reverse: Entry,
    buffered: bool,
}

impl Derivatives {
    /// The sum of everything the function gives, weighted.
    fn loss(&self, case: &Case, width: Width, x: &[f64], weights: &[f64]) -> f64 {
        let mut call = Call::new(case, width, x, None);
        let results = call.run(self.primal);
        let mut given: Vec<f64> = results[..case.results].to_vec();
        for (parameter, numbers) in call.numbers(false) {
            if parameter.is_output() {
                given.extend(numbers);
            }
        }
        given.iter().zip(weights).map(|(value, weight)| value * weight).sum()
    }

    /// The change of that sum in one direction.
    fn forward(&self, case: &Case, width: Width, x: &[f64], dx: &[f64], weights: &[f64]) -> f64 {
        let mut call = Call::new(case, width, x, Some((Mode::Forward, dx)));
        let results = call.run(self.forward);
        let mut given: Vec<f64> = results[case.results..2 * case.results].to_vec();
        for (parameter, numbers) in call.numbers(true) {
            if parameter.is_output() {
                given.extend(numbers);
            }
        }
        given.iter().zip(weights).map(|(value, weight)| value * weight).sum()
    }

    /// The gradient of that sum.
    fn reverse(&self, case: &Case, width: Width, x: &[f64], weights: &[f64]) -> Vec<f64> {
        let (of_results, mut of_outputs) = weights.split_at(case.results);
        let mut seeds = Vec::new();
        for parameter in case.parameters {
            let count = parameter.range().0;
            if parameter.is_output() {
                seeds.extend(&of_outputs[..count]);
                of_outputs = &of_outputs[count..];
            } else {
                seeds.resize(seeds.len() + count, 0.0);
            }
        }
        let mut call = Call::new(case, width, x, Some((Mode::Reverse, &seeds)));
        call.cells.extend(of_results.iter().map(|weight| width.cell(*weight)));
        let mut buffer = vec![0_u64; 1 << 14];
        if self.buffered {
            call.cells.extend([buffer.as_mut_ptr() as u64, 8 * buffer.len() as u64]);
        }
        let results = call.run(self.reverse);
        let mut of_numbers = results[case.results..].iter();
        let mut of_memory = call.numbers(true).into_iter();
        let mut gradient = Vec::new();
        for parameter in case.parameters {
            match parameter {
                Number(..) => gradient.push(*of_numbers.next().unwrap()),
                Integer(_) => {}
                _ => gradient.extend(of_memory.next().unwrap().1),
            }
        }
        gradient
    }
}

/// Writes the derivatives of all functions, and gives what runs them.
fn derivatives(width: Width) -> (Native, Vec<(String, String, bool)>) {
    let machine = common::machine();
    let context = Context::create();
    let module = module_of(&context, &machine, &format!("gradients_{}.rs", width.name()), SOURCE);
    let rules = Rules::default();
    let mut symbols = Vec::new();
    {
        let session = Session::new(&context, &module, &machine, &rules);
        for case in CASES {
            let function = format!("{}_{}", case.name, width.name());
            let activities: Vec<_> =
                case.parameters.iter().flat_map(|parameter| parameter.activities()).collect();
            let mut written = Vec::new();
            for mode in [Mode::Forward, Mode::Reverse] {
                let mut request = Request::new(&function, mode, &activities);
                request.distinct_pointers = true;
                let derivative =
                    session.differentiate(&request).unwrap_or_else(|error| panic!("{error}"));
                written.push(derivative);
            }
            if width == Width::F64 {
                println!("{:24} {:?}", case.name, written[1].tape);
            }
            let buffered = matches!(written[1].tape, Tape::Buffer { .. });
            symbols.push((written[0].symbol.clone(), written[1].symbol.clone(), buffered));
        }
    }
    let mut done = std::collections::HashSet::new();
    for (case, (forward, reverse, _)) in CASES.iter().zip(&symbols) {
        let function = format!("{}_{}", case.name, width.name());
        for symbol in [&function, forward, reverse] {
            if done.insert(symbol.clone()) {
                add_entry(&context, &module, symbol);
            }
        }
    }
    let native = Native::load(&context, &machine, &module, &format!("gradients_{}", width.name()));
    (native, symbols)
}

fn loaded(
    native: &Native,
    case: &Case,
    symbols: &(String, String, bool),
    width: Width,
) -> Derivatives {
    Derivatives {
        primal: native.entry(&format!("{}_{}", case.name, width.name())),
        forward: native.entry(&symbols.0),
        reverse: native.entry(&symbols.1),
        buffered: symbols.2,
    }
}

/// Which parameters' derivatives are checked at one point: all, or six of many.
fn parts(random: &mut Random, count: usize) -> Vec<usize> {
    if count <= 6 {
        return (0..count).collect();
    }
    (0..6).map(|_| random.next() as usize % count).collect()
}

/// A derivative by five-point differences; `None` where a kink is near.
fn difference(loss: impl Fn(f64) -> f64) -> Option<f64> {
    let at = |h: f64| (8.0 * (loss(h) - loss(-h)) - (loss(2.0 * h) - loss(-2.0 * h))) / (12.0 * h);
    let (coarse, fine) = (at(1e-3), at(5e-4));
    ((coarse - fine).abs() <= 2e-7 * fine.abs().max(1e-3)).then_some(fine)
}

#[test]
fn gradients_agree_with_finite_differences_in_f64_and_those_in_f32_with_them() {
    let (wide, wide_symbols) = derivatives(Width::F64);
    let (narrow, narrow_symbols) = derivatives(Width::F32);
    let mut faults = Vec::new();
    for ((case, wide_symbols), narrow_symbols) in
        CASES.iter().zip(&wide_symbols).zip(&narrow_symbols)
    {
        let f64s = loaded(&wide, case, wide_symbols, Width::F64);
        let f32s = loaded(&narrow, case, narrow_symbols, Width::F32);
        let (mut worst, mut worst_forward, mut worst_by_hand) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut worst_narrow, mut compared, mut skipped) = (0.0_f64, 0, 0);
        let mut random = Random::new(case.name);
        for _ in 0..POINTS {
            let mut x = Vec::new();
            for parameter in case.parameters {
                let (count, low, high) = parameter.range();
                x.extend((0..count).map(|_| f64::from(random.between(low, high) as f32)));
            }
            let weights: Vec<f64> = (0..64).map(|_| random.between(0.5, 1.5)).collect();
            let gradient = f64s.reverse(case, Width::F64, &x, &weights);
            let scale = gradient.iter().fold(1e-2_f64, |scale, part| scale.max(part.abs()));
            for index in parts(&mut random, x.len()) {
                let loss = |h: f64| {
                    let mut moved = x.clone();
                    moved[index] += h;
                    f64s.loss(case, Width::F64, &moved, &weights)
                };
                let Some(expected) = difference(loss) else {
                    skipped += 1;
                    continue;
                };
                compared += 1;
                let error = (gradient[index] - expected).abs() / expected.abs().max(scale * 1e-2);
                worst = worst.max(if error.is_nan() { f64::INFINITY } else { error });
            }
            if let Some(by_hand) = case.by_hand {
                for (found, expected) in gradient.iter().zip(by_hand(&x)) {
                    let expected = expected * weights[0];
                    let error = (found - expected).abs() / expected.abs().max(1e-3);
                    worst_by_hand =
                        worst_by_hand.max(if error.is_nan() { f64::INFINITY } else { error });
                }
            }
            // Forward mode in a random direction is the gradient in that direction.
            let direction: Vec<f64> = x.iter().map(|_| random.between(-1.0, 1.0)).collect();
            let forward = f64s.forward(case, Width::F64, &x, &direction, &weights);
            let terms: Vec<f64> = gradient.iter().zip(&direction).map(|(a, b)| a * b).collect();
            let size = terms.iter().map(|term| term.abs()).sum::<f64>().max(1e-3);
            let error = (forward - terms.iter().sum::<f64>()).abs() / size;
            worst_forward = worst_forward.max(if error.is_nan() { f64::INFINITY } else { error });

            let narrow = f32s.reverse(case, Width::F32, &x, &weights);
            for (found, expected) in narrow.iter().zip(&gradient) {
                let error = (found - expected).abs() / expected.abs().max(scale);
                worst_narrow = worst_narrow.max(if error.is_nan() { f64::INFINITY } else { error });
            }
        }
        println!(
            "{:24} f64 {worst:.1e}  by hand {worst_by_hand:.1e}  forward {worst_forward:.1e}  f32 \
             {worst_narrow:.1e}  compared {compared}, near kinks {skipped}",
            case.name
        );
        let worst = worst.max(worst_forward).max(worst_by_hand);
        if worst > 1e-6 || worst_narrow > 1e-3 || compared < 5 * skipped {
            faults.push(case.name);
        }
    }
    assert!(faults.is_empty(), "wrong gradients: {faults:?}");
    let names: std::collections::BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
    assert!(names.len() >= 40, "{}", names.len());
}
