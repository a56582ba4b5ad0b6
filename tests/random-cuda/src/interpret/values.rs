//! Expressions and conditions.

use super::{Frame, Machine, at};
use crate::program::{ELEMENTS, INPUTS, Int, Place, Real, Test};

impl Machine<'_> {
    pub(super) fn int(&mut self, frame: &mut Frame, thread: usize, value: &Int) -> u32 {
        match value {
            Int::Constant(value) => *value,
            Int::Variable(place) => frame.state(thread).ints[*place],
            Int::Counter(id) => *at(&mut frame.state(thread).counters, *id),
            Int::Elected(id) => *at(&mut frame.state(thread).elected, *id),
            Int::Place(place) => self.place(thread, *place),
            Int::Input(place) => {
                let place = self.int(frame, thread, place) as usize % INPUTS;
                self.x[place]
            }
            Int::Element(place) => {
                let place = self.int(frame, thread, place) % ELEMENTS;
                frame.state(thread).elements[place as usize]
            }
            Int::Coordinate { of, most, is_rest } => {
                let (of, by) = (self.int(frame, thread, of), self.n % most + 1);
                if *is_rest { of % by } else { of / by }
            }
            Int::Unary(operator, a) => (operator.value)(self.int(frame, thread, a)),
            Int::Binary(operator, a, b) => {
                let (a, b) = (self.int(frame, thread, a), self.int(frame, thread, b));
                (operator.value)(a, b)
            }
            Int::Select(test, a, b) => {
                let chosen = if self.test(frame, thread, test) { a } else { b };
                self.int(frame, thread, chosen)
            }
            Int::Call(number, a, b) => {
                let arguments = [a, b].map(|value| self.int(frame, thread, value));
                let program = self.program;
                self.call(thread, &program.functions[*number], arguments)
            }
            Int::FromReal(operator, a) => (operator.value)(self.real(frame, thread, a)),
        }
    }

    fn place(&self, thread: usize, place: Place) -> u32 {
        let thread = thread as u32;
        match place {
            Place::Thread => thread,
            Place::Column => thread % self.program.block[0],
            Place::Row => thread / self.program.block[0],
            Place::Lane => thread % 32,
            Place::Warp => thread / 32,
            Place::Block => self.block as u32,
            Place::Index => (self.block * self.program.threads()) as u32 + thread,
            Place::Count => self.n,
        }
    }

    pub(super) fn real(&mut self, frame: &mut Frame, thread: usize, value: &Real) -> f32 {
        match value {
            Real::Constant(value) => *value,
            Real::Variable(place) => frame.state(thread).reals[*place],
            Real::FromInt(operator, a) => (operator.value)(self.int(frame, thread, a)),
            Real::Unary(operator, a) => (operator.value)(self.real(frame, thread, a)),
            Real::Binary(operator, a, b) => {
                let (a, b) = (self.real(frame, thread, a), self.real(frame, thread, b));
                (operator.value)(a, b)
            }
            Real::Select(test, a, b) => {
                let chosen = if self.test(frame, thread, test) { a } else { b };
                self.real(frame, thread, chosen)
            }
        }
    }

    pub(super) fn test(&mut self, frame: &mut Frame, thread: usize, test: &Test) -> bool {
        match test {
            Test::Constant(value) => *value,
            Test::Int(operator, a, b) => {
                let (a, b) = (self.int(frame, thread, a), self.int(frame, thread, b));
                (operator.value)(a, b)
            }
            Test::Real(operator, a, b) => {
                let (a, b) = (self.real(frame, thread, a), self.real(frame, thread, b));
                (operator.value)(a, b)
            }
            Test::And(a, b) => self.test(frame, thread, a) && self.test(frame, thread, b),
            Test::Or(a, b) => self.test(frame, thread, a) || self.test(frame, thread, b),
        }
    }
}
