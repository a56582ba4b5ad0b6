//! Random programs in which no thread waits in vain and no two write where the other reads.

mod among_threads;
mod numbers;
mod rows;
mod values;

use crate::{
    interpret::interpret,
    operators::{INT_BINARY, TO_REAL},
    program::{
        FIELDS, Form, Function, INTS, Int, Lanes, Place, Program, REALS, Real, Statement, Test,
        UNIFORM_INTS,
    },
};
use numbers::Random;

/// The program of this number; equal seeds give equal programs.
#[must_use]
pub fn generate(seed: u64, number: u64) -> Program {
    let mut random = Random::new(seed, number);
    loop {
        let name = format!("random_{number}");
        let is_of_rows = random.one_in(5);
        let generator = Generator::new(&mut random);
        let program = if is_of_rows { generator.rows(name) } else { generator.program(name) };
        // One that takes too long is no use.
        if interpret(&program, 1, 3).is_some() {
            return program;
        }
    }
}

/// Who is sure to be here together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Together {
    /// All threads of the block that have not ended.
    Block,
    /// These lanes of a warp.
    Lanes(Lanes),
    /// Nobody.
    Alone,
}

/// Where a statement stands.
#[derive(Clone)]
struct Scope {
    together: Together,
    depth: usize,
    /// The loops around, the innermost last, and who goes round them together.
    loops: Vec<(usize, Together)>,
    /// The elections around.
    elections: Vec<usize>,
}

impl Scope {
    fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }

    fn alone(&self) -> Self {
        Self { together: Together::Alone, ..self.deeper() }
    }
}

const DEEPEST: usize = 3;

struct Generator<'r> {
    random: &'r mut Random,
    /// Functions that may be called.
    functions: usize,
    in_kernel: bool,
    /// Whether threads end early. Then operations of warps miss lanes: only votes are made.
    ends_early: bool,
    /// Fields of the structure that a thread has in memory.
    fields: usize,
    loops: usize,
    elections: usize,
    /// Statements that may still nest others.
    budget: usize,
}

impl<'r> Generator<'r> {
    fn new(random: &'r mut Random) -> Self {
        let ends_early = random.one_in(3);
        let fields = 2 + random.below(FIELDS - 1);
        Self {
            random,
            functions: 0,
            in_kernel: false,
            ends_early,
            fields,
            loops: 0,
            elections: 0,
            budget: 0,
        }
    }

    fn program(mut self, name: String) -> Program {
        let mut functions = Vec::new();
        for _ in 0..self.random.below(3) {
            functions.push(self.function());
            self.functions += 1;
        }
        let whole_warps = [[64, 1], [32, 2], [8, 8], [96, 1], [128, 1], [32, 1], [1, 64], [2, 48]];
        let any = [[48, 1], [5, 7], [64, 1], [33, 1], [1, 1], [16, 8], [1, 41], [3, 20]];
        let shapes = if self.ends_early { any } else { whole_warps };
        let block = shapes[self.random.below(shapes.len())];
        (self.in_kernel, self.budget) = (true, 12);
        let scope =
            Scope { together: Together::Block, depth: 0, loops: Vec::new(), elections: Vec::new() };
        let mut body = self.start();
        if self.random.one_in(2) {
            // Where all threads are, which later on is seldom so.
            body.push(self.own_fields(&scope));
        }
        for _ in 0..5 + self.random.below(7) {
            body.push(self.statement(&scope));
        }
        Program { name, block, fields: self.fields, functions, body }
    }

    /// Gives the variables values that differ.
    fn start(&mut self) -> Vec<Statement> {
        let index = || Int::Place(Place::Index);
        let input = |by: u32| {
            let place = Int::Binary(&INT_BINARY[0], index().into(), Int::Constant(by).into());
            Int::Input(place.into())
        };
        let mut body = vec![Statement::Set(0, Int::Place(Place::Count))];
        body.push(Statement::Set(UNIFORM_INTS, input(3)));
        body.push(Statement::Set(UNIFORM_INTS + 1, index()));
        for real in 0..REALS / 2 {
            let from = self.random.of(TO_REAL);
            body.push(Statement::SetReal(real, Real::FromInt(from, input(real as u32 * 7).into())));
        }
        body
    }

    fn function(&mut self) -> Function {
        (self.in_kernel, self.budget) = (false, 4);
        let scope =
            Scope { together: Together::Alone, depth: 1, loops: Vec::new(), elections: Vec::new() };
        let count = 1 + self.random.below(4);
        let body = (0..count).map(|_| self.statement(&scope)).collect();
        Function { is_inline: self.random.one_in(2), body, result: self.int(2, &scope) }
    }

    fn statements(&mut self, scope: &Scope) -> Vec<Statement> {
        (0..1 + self.random.below(3)).map(|_| self.statement(scope)).collect()
    }

    fn statement(&mut self, scope: &Scope) -> Statement {
        let may_nest = scope.depth < DEEPEST && self.budget > 0;
        match self.random.below(24) {
            0..3 if may_nest => self.nested(scope, Self::branch),
            3..6 if may_nest => self.nested(scope, Self::looping),
            6 if may_nest => self.nested(scope, Self::switch),
            7..10 if !scope.loops.is_empty() => self.leave(scope),
            10..15 if self.in_kernel => self.among_threads(scope),
            15 if !self.in_kernel || self.ends_early => {
                Statement::Return(self.any_test(scope), self.int(1, scope))
            }
            16 => Statement::SetElement(self.int(1, scope), self.int(2, scope)),
            17..20 => Statement::SetReal(self.random.below(REALS), self.real(2, scope)),
            20 if scope.together == Together::Block => {
                Statement::Set(self.random.below(UNIFORM_INTS), self.shared_int(2, scope))
            }
            _ => Statement::Set(self.variable(), self.int(3, scope)),
        }
    }

    fn nested(&mut self, scope: &Scope, make: fn(&mut Self, &Scope) -> Statement) -> Statement {
        self.budget -= 1;
        make(self, scope)
    }

    /// A variable that differs between threads.
    fn variable(&mut self) -> usize {
        let least = if self.in_kernel { UNIFORM_INTS } else { 0 };
        least + self.random.below(INTS - least)
    }

    /// A test, and who is together where it holds.
    fn test(&mut self, scope: &Scope) -> (Test, Scope) {
        if scope.together != Together::Alone && !self.random.one_in(3) {
            return (self.shared_test(scope), scope.deeper());
        }
        if scope.together == Together::Block && !self.ends_early && self.random.one_in(2) {
            // Whole warps go different ways.
            let mut inner = scope.deeper();
            inner.together = Together::Lanes(Lanes::All);
            return (self.shared_test(&inner), inner);
        }
        (self.any_test(scope), scope.alone())
    }

    fn branch(&mut self, scope: &Scope) -> Statement {
        let (test, inner) = self.test(scope);
        let yes = self.statements(&inner);
        let no = if self.random.one_in(2) { self.statements(&inner) } else { Vec::new() };
        Statement::If(test, yes, no)
    }

    fn looping(&mut self, scope: &Scope) -> Statement {
        let id = self.loops;
        self.loops += 1;
        let (test, mut inner) = if self.random.one_in(3) {
            (Test::Constant(true), scope.deeper())
        } else {
            self.test(scope)
        };
        inner.loops.push((id, inner.together));
        let form = [Form::For, Form::While, Form::DoWhile][self.random.below(3)];
        let most = 2 + self.random.below(6) as u32;
        let mut body = self.statements(&inner);
        if self.random.one_in(2) {
            body.push(self.leave(&inner));
            body.extend(self.statements(&inner));
        }
        // Where the test names the loop's own counter, it does so in each round.
        let test = if self.random.one_in(3) { self.same_kind_of_test(&inner) } else { test };
        Statement::Loop { id, form, most, test, body }
    }

    /// A test that may use all that is known here, and after which those are together who were.
    fn same_kind_of_test(&mut self, scope: &Scope) -> Test {
        match scope.together {
            Together::Alone => self.any_test(scope),
            _ => self.shared_test(scope),
        }
    }

    fn switch(&mut self, scope: &Scope) -> Statement {
        let (on, inner) = if scope.together != Together::Alone && self.random.one_in(2) {
            (self.shared_int(2, scope), scope.deeper())
        } else {
            (self.int(2, scope), scope.alone())
        };
        let count = 2 + self.random.below(3);
        let cases = (0..count).map(|_| (self.statements(&inner), self.random.one_in(4)));
        Statement::Switch(on, cases.collect())
    }

    /// Leaves a loop, or a round of it: one whose threads go on together without those who leave
    /// only where all do.
    fn leave(&mut self, scope: &Scope) -> Statement {
        let open = scope.loops.iter().filter(|(_, together)| *together == scope.together);
        let open: Vec<usize> = open.map(|(id, _)| *id).collect();
        if open.is_empty() {
            return Statement::Set(self.variable(), self.int(2, scope));
        }
        let id = open[self.random.below(open.len())];
        let test = self.same_kind_of_test(scope);
        if self.random.one_in(3) {
            Statement::Continue(test, id)
        } else {
            Statement::Break(test, id)
        }
    }
}
