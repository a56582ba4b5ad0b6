//! Calls of functions and their derivatives.

use kernelmill_autodiff::Mode;

use crate::{
    cases::Case,
    common::native::Entry,
    parameter::{
        Parameter::{self, Counted, Integer, Number, Output, Slice},
        Width,
    },
};

/// One way of calling a function or its derivative.
pub(crate) struct Call<'a> {
    width: Width,
    parameters: &'a [Parameter],
    pub(crate) cells: Vec<u64>,
    memory: Vec<Vec<u8>>,
    shadows: Vec<Vec<u8>>,
}

impl<'a> Call<'a> {
    /// Lays out arguments: the numbers `x`, and where there are shadows, those of `dx` in them.
    pub(crate) fn new(case: &'a Case, width: Width, x: &[f64], dx: Option<(Mode, &[f64])>) -> Self {
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

    pub(crate) fn run(&mut self, entry: Entry) -> Vec<f64> {
        let mut results = vec![0_u64; 32];
        // SAFETY: the cells are laid out as the function's parameters, and the results have room for
        // all of its numbers.
        unsafe { entry(self.cells.as_ptr(), results.as_mut_ptr()) };
        results.into_iter().map(f64::from_bits).collect()
    }

    /// The numbers in all memory, or in all shadows, parameter by parameter.
    pub(crate) fn numbers(&self, of_shadows: bool) -> Vec<(Parameter, Vec<f64>)> {
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
