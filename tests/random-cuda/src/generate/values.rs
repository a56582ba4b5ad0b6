//! Expressions and conditions.

use super::{Generator, Scope, Together};
use crate::{
    operators::{
        INT_BINARY, INT_TESTS, INT_UNARY, REAL_BINARY, REAL_TESTS, REAL_UNARY, TO_INT, TO_REAL,
    },
    program::{INTS, Int, Lanes, Place, REALS, Real, Test, UNIFORM_INTS},
};

impl Generator<'_> {
    /// A number that all who are together here have.
    pub(super) fn shared_int(&mut self, depth: usize, scope: &Scope) -> Int {
        if depth > 0 && !self.random.one_in(3) {
            let (a, b) = (self.shared_int(depth - 1, scope), self.shared_int(depth - 1, scope));
            return match self.random.below(5) {
                0 => Int::Input(a.into()),
                1 => Int::Unary(self.random.of(INT_UNARY), a.into()),
                _ => Int::Binary(self.random.of(INT_BINARY), a.into(), b.into()),
            };
        }
        let loops = scope.loops.iter().filter(|(_, together)| *together == scope.together);
        let loops: Vec<usize> = loops.map(|(id, _)| *id).collect();
        match (self.random.below(6), scope.together) {
            (0..2, _) if !loops.is_empty() => Int::Counter(loops[self.random.below(loops.len())]),
            (2, _) => Int::Place(Place::Count),
            (3, _) => Int::Place(Place::Block),
            (4, _) if self.in_kernel => Int::Variable(self.random.below(UNIFORM_INTS)),
            (_, Together::Lanes(lanes)) => match (lanes, scope.elections.last()) {
                (Lanes::Elected(_), Some(id)) => Int::Elected(*id),
                _ => Int::Place(Place::Warp),
            },
            _ => self.constant(),
        }
    }

    pub(super) fn shared_test(&mut self, scope: &Scope) -> Test {
        let (a, b) = (self.shared_int(1, scope), self.shared_int(1, scope));
        Test::Int(self.random.of(INT_TESTS), a, b)
    }

    pub(super) fn any_test(&mut self, scope: &Scope) -> Test {
        match self.random.below(8) {
            0 => Test::And(self.any_test(scope).into(), self.any_test(scope).into()),
            1 => Test::Or(self.any_test(scope).into(), self.any_test(scope).into()),
            2..4 => {
                let (a, b) = (self.real(1, scope), self.real(1, scope));
                Test::Real(self.random.of(REAL_TESTS), a, b)
            }
            _ => {
                let (a, b) = (self.int(1, scope), self.int(1, scope));
                Test::Int(self.random.of(INT_TESTS), a, b)
            }
        }
    }

    pub(super) fn constant(&mut self) -> Int {
        Int::Constant(match self.random.below(5) {
            0 => self.random.next() as u32,
            1 => 1 << self.random.below(32),
            _ => self.random.below(20) as u32,
        })
    }

    pub(super) fn int(&mut self, depth: usize, scope: &Scope) -> Int {
        if depth == 0 || self.random.one_in(5) {
            return self.leaf(scope);
        }
        if self.random.one_in(9) {
            return self.at_coordinates(scope);
        }
        let a = self.int(depth - 1, scope);
        match self.random.below(16) {
            0..3 => Int::Unary(self.random.of(INT_UNARY), a.into()),
            3 => Int::Input(a.into()),
            4 => Int::Element(a.into()),
            5 => {
                let (test, b) = (self.any_test(scope), self.int(depth - 1, scope));
                Int::Select(test.into(), a.into(), b.into())
            }
            6 if self.functions > 0 => {
                let function = self.random.below(self.functions);
                Int::Call(function, a.into(), self.int(depth - 1, scope).into())
            }
            7..9 => {
                let real = self.real(depth - 1, scope);
                Int::FromReal(self.random.of(TO_INT), real.into())
            }
            _ => {
                let b = self.int(depth - 1, scope);
                Int::Binary(self.random.of(INT_BINARY), a.into(), b.into())
            }
        }
    }

    /// What is at a place that is put together of the quotient and the remainder of one number, or one of them.
    fn at_coordinates(&mut self, scope: &Scope) -> Int {
        let index = || Box::new(Int::Place(Place::Index));
        let most = 2 + self.random.below(60) as u32;
        let [column, row] =
            [true, false].map(|is_rest| Int::Coordinate { of: index(), most, is_rest });
        let (add, multiply) = (&INT_BINARY[0], &INT_BINARY[3]);
        match self.random.below(4) {
            0 => column,
            1 => row,
            2 => {
                // A row of as many elements, from its end or its start.
                let width = Int::Binary(multiply, row.into(), self.constant().into());
                Int::Input(Int::Binary(add, column.into(), width.into()).into())
            }
            _ => {
                let back = Int::Binary(&INT_BINARY[2], self.leaf(scope).into(), column.into());
                let width = Int::Place(Place::Count);
                let width = Int::Binary(multiply, row.into(), width.into());
                Int::Input(Int::Binary(add, back.into(), width.into()).into())
            }
        }
    }

    pub(super) fn leaf(&mut self, scope: &Scope) -> Int {
        const PLACES: [Place; 5] =
            [Place::Thread, Place::Lane, Place::Block, Place::Index, Place::Count];
        match self.random.below(9) {
            0 => self.constant(),
            1 => Int::Place(PLACES[self.random.below(PLACES.len())]),
            2..4 if !scope.loops.is_empty() => {
                Int::Counter(scope.loops[self.random.below(scope.loops.len())].0)
            }
            4 if !scope.elections.is_empty() => {
                Int::Elected(scope.elections[self.random.below(scope.elections.len())])
            }
            _ => Int::Variable(self.random.below(INTS)),
        }
    }

    pub(super) fn real(&mut self, depth: usize, scope: &Scope) -> Real {
        const CONSTANTS: [f32; 6] = [0.5, -1.75, 1e-3, 3.0e7, 1.0e-39, 0.1];
        if depth == 0 || self.random.one_in(5) {
            return match self.random.below(6) {
                0 => Real::Constant(CONSTANTS[self.random.below(CONSTANTS.len())]),
                1 => Real::FromInt(self.random.of(TO_REAL), self.leaf(scope).into()),
                _ => Real::Variable(self.random.below(REALS)),
            };
        }
        let a = self.real(depth - 1, scope);
        match self.random.below(8) {
            0..2 => Real::Unary(self.random.of(REAL_UNARY), a.into()),
            2 => {
                let (test, b) = (self.any_test(scope), self.real(depth - 1, scope));
                Real::Select(test.into(), a.into(), b.into())
            }
            3 => Real::FromInt(self.random.of(TO_REAL), self.int(depth - 1, scope).into()),
            _ => {
                let b = self.real(depth - 1, scope);
                Real::Binary(self.random.of(REAL_BINARY), a.into(), b.into())
            }
        }
    }
}
