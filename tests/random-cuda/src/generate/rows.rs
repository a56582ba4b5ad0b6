//! Programs whose rows of threads read something in common, in loops that count: a compiler may run several rows at once.

use super::Generator;
use crate::{
    operators::{INT_BINARY, INT_TESTS, REAL_BINARY, TO_REAL},
    program::{
        FIELDS, Form, INTS, Int, Place, Program, REALS, Real, Statement, Test, UNIFORM_INTS,
    },
};

/// Threads of blocks, with numbers of rows of all remainders.
const BLOCKS: [[u32; 2]; 7] = [[32, 4], [16, 8], [8, 9], [16, 5], [40, 3], [17, 7], [64, 2]];

impl Generator<'_> {
    /// A program without what threads do with each other.
    pub(super) fn rows(mut self, name: String) -> Program {
        let block = BLOCKS[self.random.below(BLOCKS.len())];
        let mut body = self.start();
        for _ in 0..1 + self.random.below(3) {
            let nested = self.random.below(2);
            let counting = self.counting(nested, &mut Vec::new());
            body.push(match self.random.below(4) {
                0 => Statement::If(self.test_of_rows(), vec![counting], Vec::new()),
                _ => counting,
            });
        }
        Program { name, block, fields: FIELDS, functions: Vec::new(), body }
    }

    /// A loop, with `nested` others in it.
    fn counting(&mut self, nested: usize, around: &mut Vec<usize>) -> Statement {
        let id = self.loops;
        self.loops += 1;
        around.push(id);
        let mut body: Vec<_> = (0..1 + self.random.below(2)).map(|_| self.sum(around)).collect();
        if nested > 0 {
            body.push(self.counting(nested - 1, around));
        }
        around.pop();
        let most = 1 + self.random.below(9) as u32;
        Statement::Loop { id, form: Form::For, most, test: Test::Constant(true), body }
    }

    /// Adds to a variable what all rows read, times what a row has.
    fn sum(&mut self, loops: &[usize]) -> Statement {
        let counter = Int::Counter(loops[self.random.below(loops.len())]);
        let place = self.binary(counter, Int::Place(Place::Column));
        let read = Int::Input(place.into());
        if self.random.one_in(2) {
            let to = self.random.below(REALS);
            let read = Real::FromInt(self.random.of(TO_REAL), read.into());
            let own = Real::FromInt(self.random.of(TO_REAL), Int::Place(Place::Row).into());
            let product = Real::Binary(self.random.of(REAL_BINARY), read.into(), own.into());
            let sum = Real::Binary(
                self.random.of(REAL_BINARY),
                Real::Variable(to).into(),
                product.into(),
            );
            return Statement::SetReal(to, sum);
        }
        let to = UNIFORM_INTS + self.random.below(INTS - UNIFORM_INTS);
        let own = self.binary(Int::Place(Place::Row), Int::Variable(to));
        Statement::Set(to, self.binary(read, own))
    }

    fn binary(&mut self, left: Int, right: Int) -> Int {
        Int::Binary(self.random.of(INT_BINARY), left.into(), right.into())
    }

    /// A test that some of the rows may pass and others not.
    fn test_of_rows(&mut self) -> Test {
        let limit = Int::Constant(self.random.below(10) as u32);
        let place = if self.random.one_in(4) { Place::Column } else { Place::Row };
        Test::Int(self.random.of(INT_TESTS), Int::Place(place), limit)
    }
}
