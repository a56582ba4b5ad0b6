//! What threads do with each other.

use super::{DEEPEST, Generator, Scope, Together};
use crate::{
    operators::ATOMICS,
    program::{Lanes, REALS, Statement, UNIFORM_INTS, WarpOperation},
};

impl Generator<'_> {
    pub(super) fn among_threads(&mut self, scope: &Scope) -> Statement {
        let may_nest = scope.depth < DEEPEST && self.budget > 0;
        match (self.random.below(12), scope.together) {
            (0, _) => Statement::Atomic {
                atomic: self.random.below(ATOMICS.len()),
                index: self.int(1, scope),
                value: self.int(2, scope),
            },
            (1, _) if self.random.one_in(2) => self.own_loop(scope),
            (1, _) => Statement::Own {
                to: self.variable(),
                atomic: self.random.below(ATOMICS.len()),
                value: self.int(2, scope),
            },
            (10.., _) => self.own_fields(scope),
            (2..4, Together::Block) => self.exchange(scope),
            (4, Together::Block) => Statement::Tally {
                to: self.variable(),
                atomic: self.random.below(ATOMICS.len()),
                index: self.int(1, scope),
                value: self.int(2, scope),
                from: self.int(1, scope),
            },
            (5, Together::Block) => Statement::SyncThreads,
            (_, Together::Alone) => Statement::Set(self.variable(), self.int(3, scope)),
            (6..8, Together::Block) if self.ends_early => self.vote(scope),
            _ if self.ends_early => self.exchange_or_set(scope),
            (6, Together::Block | Together::Lanes(Lanes::All)) if may_nest => {
                self.nested(scope, Self::elect)
            }
            (7, Together::Block | Together::Lanes(Lanes::All)) if may_nest => {
                self.nested(scope, Self::halves)
            }
            (8, Together::Block | Together::Lanes(Lanes::All)) => Statement::ShuffleReal {
                to: self.random.below(REALS),
                value: self.real(2, scope),
                bits: 1 << self.random.below(5),
            },
            (_, Together::Lanes(lanes)) => self.warp(lanes, scope),
            (_, Together::Block) => self.warp(Lanes::All, scope),
        }
    }

    fn own_loop(&mut self, scope: &Scope) -> Statement {
        let id = self.loops;
        self.loops += 1;
        let mut inner = scope.deeper();
        inner.loops.push((id, inner.together));
        Statement::OwnLoop {
            id,
            most: self.random.below(70) as u32,
            atomic: self.random.below(ATOMICS.len()),
            value: self.int(1, &inner),
        }
    }

    pub(super) fn own_fields(&mut self, scope: &Scope) -> Statement {
        let count = self.fields;
        let read = [0; 2].map(|_| self.random.below(count));
        let through = self.random.one_in(3);
        let mut writes: Vec<_> = (0..count).map(|field| (field, self.int(1, scope))).collect();
        if self.random.one_in(3) {
            writes.remove(self.random.below(count));
        }
        if self.random.one_in(3) {
            writes.reverse();
        }
        Statement::Fields { to: self.variable(), read, writes, through }
    }

    fn exchange_or_set(&mut self, scope: &Scope) -> Statement {
        match scope.together {
            Together::Block => self.exchange(scope),
            _ => Statement::Set(self.variable(), self.int(3, scope)),
        }
    }

    /// What lanes that have ended do not count in.
    fn vote(&mut self, scope: &Scope) -> Statement {
        let operation = match self.random.below(4) {
            0 => WarpOperation::Any,
            1 => WarpOperation::All,
            2 => WarpOperation::Ballot,
            _ => return Statement::SyncWarp(Lanes::All),
        };
        Statement::Warp {
            to: self.variable(),
            operation,
            value: self.int(2, scope),
            lane: self.int(1, scope),
            lanes: Lanes::All,
        }
    }

    fn exchange(&mut self, scope: &Scope) -> Statement {
        let value = self.int(2, scope);
        if self.random.one_in(4) {
            // From one thread for all: a value of which no compiler knows that all have it.
            let to = self.random.below(UNIFORM_INTS);
            return Statement::Exchange { to, value, from: self.shared_int(1, scope) };
        }
        Statement::Exchange { to: self.variable(), value, from: self.int(2, scope) }
    }

    fn elect(&mut self, scope: &Scope) -> Statement {
        let id = self.elections;
        self.elections += 1;
        let test = self.any_test(scope);
        let mut inner = scope.deeper();
        inner.together = Together::Lanes(Lanes::Elected(id));
        inner.elections.push(id);
        Statement::Elect { id, test, body: self.statements(&inner) }
    }

    fn halves(&mut self, scope: &Scope) -> Statement {
        let [low, high] = [Lanes::Low, Lanes::High].map(|lanes| {
            let mut inner = scope.deeper();
            inner.together = Together::Lanes(lanes);
            self.statements(&inner)
        });
        Statement::Halves(low, high)
    }

    fn warp(&mut self, lanes: Lanes, scope: &Scope) -> Statement {
        let widths = if lanes == Lanes::All { [32, 8] } else { [16, 8] };
        let width = widths[self.random.below(2)];
        let by = 1 + self.random.below(width as usize - 1) as u32;
        let bits = 1 + self.random.below(widths[0] as usize - 1) as u32;
        let elected = matches!(lanes, Lanes::Elected(_));
        let operation = match self.random.below(12) {
            0..2 if !elected => WarpOperation::Xor(bits),
            2 if !elected => WarpOperation::Index,
            3 if !elected => WarpOperation::Up(by, width),
            4 if !elected => WarpOperation::Down(by, width),
            0..5 => WarpOperation::First,
            5 => WarpOperation::Any,
            6 => WarpOperation::All,
            7 => WarpOperation::Match,
            8 => WarpOperation::Sum,
            9 => WarpOperation::Greatest,
            10 => return Statement::SyncWarp(lanes),
            _ => WarpOperation::Ballot,
        };
        Statement::Warp {
            to: self.variable(),
            operation,
            value: self.int(2, scope),
            lane: self.int(1, scope),
            lanes,
        }
    }
}
