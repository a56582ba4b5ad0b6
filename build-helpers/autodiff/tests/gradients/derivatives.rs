//! Derivatives of all functions, compiled for this machine.

use kernelmill_autodiff::{Mode, Request, Rules, Session, Tape};
use kernelmill_llvm::inkwell::context::Context;

use crate::{
    call::Call,
    cases::{CASES, Case},
    common::{
        self, module_of,
        native::{Entry, Native, add_entry},
    },
    parameter::{
        Parameter::{Integer, Number},
        Width,
    },
};

const SOURCE: &str = include_str!("../functions/gradients.rs");

/// A function and its derivatives.
pub(crate) struct Derivatives {
    primal: Entry,
    forward: Entry,
    reverse: Entry,
    buffered: bool,
}

impl Derivatives {
    /// The sum of everything the function gives, weighted.
    pub(crate) fn loss(&self, case: &Case, width: Width, x: &[f64], weights: &[f64]) -> f64 {
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
    pub(crate) fn forward(
        &self,
        case: &Case,
        width: Width,
        x: &[f64],
        dx: &[f64],
        weights: &[f64],
    ) -> f64 {
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
    pub(crate) fn reverse(
        &self,
        case: &Case,
        width: Width,
        x: &[f64],
        weights: &[f64],
    ) -> Vec<f64> {
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
pub(crate) fn derivatives(width: Width) -> (Native, Vec<(String, String, bool)>) {
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

pub(crate) fn loaded(
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
