//! The tape of a derivative is the same for every target: one signature fits all of them.

use kernelmill_autodiff::{Activity, Mode, Request, Rules, Session, Tape, TapeLimit};
use kernelmill_llvm::{inkwell::context::Context, machine::Machine};
use std::collections::BTreeMap;

use crate::{
    cases::CASES,
    common::{self, module_of},
};

const SOURCE: &str = include_str!("../functions/gradients.rs");

/// Functions over arrays and iterators, for which targets differ in how loops are unrolled and branches are
/// turned into selections.
const ARRAYS: &str = "
#[unsafe(no_mangle)] pub fn squares(x: &[f64; 4]) -> f64 { x.iter().fold(1.0, |y, x| y * y + x * x) }
#[unsafe(no_mangle)] pub fn row(x: &[f64; 24]) -> f64 { let mut y = 1.0; for x in x { y = (y * x).sin() } y }
#[unsafe(no_mangle)] pub fn hundred(x: &[f64; 100]) -> f64 { let mut y = 1.0; for x in x { y = y * x + y } y }
#[unsafe(no_mangle)] pub fn matrix(x: &[[f64; 6]; 6]) -> f64 {
    let mut y = 1.0;
    for row in x { let mut z = y; for x in row { z = z * z * x + 0.5 } y += z }
    y
}
#[unsafe(no_mangle)] pub fn some(x: &[f64; 12]) -> f64 {
    let mut y = 1.0;
    for &x in x { if x > 0.0 { y *= y + x } else { y = y * 0.5 } }
    y
}
#[unsafe(no_mangle)] pub fn branches(x: &[f64; 5]) -> f64 {
    let mut y = x[0];
    for i in 1..5 { if y > x[i] { y = y.exp() } else if y < -x[i] { y = y * x[i] } else { y += 1.0 } }
    y
}
#[unsafe(no_mangle)] pub fn find(x: &[f64; 16]) -> f64 {
    let mut y = 1.0;
    for x in x { y = y * x; if y > 9.0 { break } }
    y
}
#[unsafe(no_mangle)] pub fn windows(x: &[f64; 9]) -> f64 {
    x.windows(2).map(|x| x[0] * x[1]).fold(0.0, |y: f64, x| y * y - x)
}
#[unsafe(no_mangle)] pub fn chunks(x: &[f64; 32]) -> f64 {
    x.chunks_exact(4).map(|x| x.iter().product::<f64>()).fold(1.0, |y: f64, x| y.cos() * x)
}
#[unsafe(no_mangle)] pub fn steps(x: &[f64; 64]) -> f64 {
    let mut y = 1.0;
    for i in (0..64).step_by(3) { y = y * y * x[i] }
    y
}
#[unsafe(no_mangle)] pub fn copied(x: &[f64; 8]) -> f64 {
    let mut z = *x;
    for i in 1..8 { z[i] = z[i] * z[i - 1] }
    z.iter().map(|z| z * z).sum()
}
";

/// The tape of each derivative on a target.
fn tapes(triple: &str) -> BTreeMap<String, String> {
    drop(common::machine());
    let machine = Machine::new(triple, "", "", true).unwrap();
    let mut found = BTreeMap::new();
    let mut add = |text: &str, functions: Vec<(String, Vec<Activity>)>| {
        let context = Context::create();
        let module = module_of(&context, &machine, "targets.rs", text);
        let rules = Rules::default();
        let session = Session::new(&context, &module, &machine, &rules);
        for (function, activities) in functions {
            for limit in [TapeLimit::Local(4096), TapeLimit::Buffer] {
                let mut request = Request::new(&function, Mode::Reverse, &activities);
                request.distinct_pointers = true;
                request.tape = limit;
                let written = session.differentiate(&request);
                let tape =
                    written.map_or_else(|error| error.to_string(), |it| format!("{:?}", it.tape));
                found.insert(format!("{function} {limit:?}"), tape);
            }
        }
    };
    let cases = CASES.iter().map(|case| {
        let activities = case.parameters.iter().flat_map(|parameter| parameter.activities());
        (format!("{}_f64", case.name), activities.collect())
    });
    add(SOURCE, cases.collect());
    let names = ARRAYS.split("pub fn ").skip(1).filter_map(|text| text.split('(').next());
    add(ARRAYS, names.map(|name| (name.to_owned(), vec![Activity::Duplicated])).collect());
    found
}

#[test]
fn tapes_do_not_depend_on_the_target() {
    let host = tapes("x86_64-unknown-linux-gnu");
    assert!(host.values().any(|tape| tape.contains("Local")) && host.len() > 100);
    assert!(host.values().any(|tape| *tape == format!("{:?}", Tape::Buffer { bytes: None })));
    let mut wrong = Vec::new();
    for triple in ["nvptx64-nvidia-cuda", "aarch64-unknown-linux-gnu"] {
        for (request, tape) in tapes(triple) {
            if host[&request] != tape {
                wrong.push(format!("{request}: {} here, {tape} for {triple}", host[&request]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
