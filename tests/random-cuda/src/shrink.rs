//! Smaller programs that fail as a larger one does.

use crate::program::{Int, Program, Statement};

/// Leaves out of a program what it fails without. Each candidate is tried by `fails`, until none is
/// left that does or `more` says that it is enough.
pub fn shrink(
    program: &Program,
    mut fails: impl FnMut(&Program) -> bool,
    mut more: impl FnMut() -> bool,
) -> Program {
    let mut best = program.clone();
    loop {
        let mut has_shrunk = false;
        let mut at = 0;
        while let Some(candidate) = candidate(&best, at) {
            if !more() {
                return best;
            }
            if fails(&candidate) {
                (best, has_shrunk) = (candidate, true);
            } else {
                at += 1;
            }
        }
        if !has_shrunk {
            return best;
        }
    }
}

/// The program with its edit number `at`: the functions' calls left out, then each statement left out,
/// the last one first, then each replaced by what is in it, then each value by a plain one.
fn candidate(program: &Program, at: usize) -> Option<Program> {
    let mut candidate = program.clone();
    let statements = count(&program.body);
    let edits = [Edit::LeaveOut, Edit::Unwrap, Edit::Plain];
    let edit = edits.get(at / statements.max(1))?;
    if statements == 0 {
        return None;
    }
    let mut left = statements - 1 - at % statements;
    // What an edit leaves as it was is no candidate, and the next one is.
    if !apply(&mut candidate.body, &mut left, *edit) {
        return self::candidate(program, at + 1);
    }
    Some(candidate)
}

#[derive(Clone, Copy)]
enum Edit {
    LeaveOut,
    Unwrap,
    Plain,
}

fn count(body: &[Statement]) -> usize {
    body.iter().map(|it| 1 + it.bodies().into_iter().map(|it| count(it)).sum::<usize>()).sum()
}

/// Edits the statement with `left` others before it; whether that changed something.
fn apply(body: &mut Vec<Statement>, left: &mut usize, edit: Edit) -> bool {
    for index in 0..body.len() {
        if *left == 0 {
            return change(body, index, edit);
        }
        *left -= 1;
        for inner in body[index].bodies_mut() {
            let count = count(inner);
            if *left < count {
                return apply(inner, left, edit);
            }
            *left -= count;
        }
    }
    false
}

fn change(body: &mut Vec<Statement>, index: usize, edit: Edit) -> bool {
    match edit {
        Edit::LeaveOut => {
            body.remove(index);
            true
        }
        Edit::Unwrap => {
            let is_plain = matches!(body[index], Statement::If(..) | Statement::Switch(..));
            let inner: Vec<_> = body[index].bodies().into_iter().flatten().cloned().collect();
            if is_plain && !inner.is_empty() {
                body.splice(index..=index, inner);
            }
            is_plain
        }
        Edit::Plain => match &mut body[index] {
            Statement::Set(_, value)
            | Statement::Exchange { value, .. }
            | Statement::Warp { value, .. }
            | Statement::Atomic { value, .. }
            | Statement::Own { value, .. }
            | Statement::Tally { value, .. } => simplify(value),
            Statement::Fields { writes, .. } => writes.pop().is_some(),
            _ => false,
        },
    }
}

/// Replaces a value by one of its operands.
fn simplify(value: &mut Int) -> bool {
    let simpler = match value {
        Int::Unary(_, a) | Int::Input(a) | Int::Element(a) => (**a).clone(),
        Int::Binary(_, a, _) | Int::Call(_, a, _) | Int::Select(_, a, _) => (**a).clone(),
        Int::FromReal(..) => Int::Constant(7),
        _ => return false,
    };
    *value = simpler;
    true
}
