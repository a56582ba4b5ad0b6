//! Random safe kernels, as text: what each thread computes is a function of three numbers.

use std::fmt::Write as _;

use test_support::Random;

/// An expression of `a`, `x` and `y`.
fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return match random.below(5) {
            0 => "a".to_owned(),
            1 | 2 => "x".to_owned(),
            3 => "y".to_owned(),
            _ => format!("{}u32", random.below(1 << 20)),
        };
    }
    let [left, right] = [(); 2].map(|()| expression(random, depth - 1));
    match random.below(7) {
        0 => format!("({left}).wrapping_add({right})"),
        1 => format!("({left}).wrapping_mul({right} | 1)"),
        2 => format!("(({left}) ^ ({right}))"),
        3 => format!("(({left}) & !({right}))"),
        4 => format!("({left}).rotate_left(({right}) % 32)"),
        5 => format!("({left}).wrapping_sub({right})"),
        _ => format!("(if ({left}) % 5 < ({right}) % 7 {{ {left} }} else {{ {right} }})"),
    }
}

/// The kinds of kernels, by the names that `Kind` has for them, with the attribute and the body.
const KINDS: [(&str, &str, &str); 7] = [
    (
        "Map",
        "#[kernel]",
        "    if let Some(out) = y.get_mut(i) {
        *out = FUNCTION(a, x.get(i.get()).copied().unwrap_or(a), *out);
    }",
    ),
    (
        "Checked",
        "#[kernel]",
        "    if let Some(out) = y.get_mut(i) {
        *out = FUNCTION(a, x[i.get()], *out);
    }",
    ),
    (
        "Gather",
        "#[kernel]",
        "    if let Some(out) = y.get_mut(i) {
        let place = FUNCTION(a, i.get() as u32, *out) as usize;
        *out = if x.is_empty() { a } else { x[place % x.len()] };
    }",
    ),
    (
        "Exchange",
        "#[kernel(launch_bounds = 64)]",
        "    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let (t, threads) = (thread::thread_idx().x as usize, thread::block_dim().x as usize);
    // SAFETY: each thread writes its own element, all do before the barrier.
    let other = unsafe {
        TILE[t] = x.get(i.get()).copied().unwrap_or(a);
        thread::sync_threads();
        TILE[(t + 1) % threads]
    };
    if let Some(out) = y.get_mut(i) {
        *out = FUNCTION(a, other, *out);
    }",
    ),
    (
        "Leaving",
        "#[kernel(launch_bounds = 64)]",
        "    static mut TILE: SharedArray<u32, 64> = SharedArray::UNINIT;
    let t = thread::thread_idx().x as usize;
    let Some(&own) = x.get(i.get()) else { return };
    // SAFETY: each thread writes its own element before the barrier, and the neighbour below has not
    // returned where this thread has not.
    let below = unsafe {
        TILE[t] = own;
        thread::sync_threads();
        TILE[t.saturating_sub(1)]
    };
    if let Some(out) = y.get_mut(i) {
        *out = FUNCTION(a, below, *out);
    }",
    ),
    (
        "Asserting",
        "#[kernel]",
        "    if let Some(out) = y.get_mut(i) {
        let value = x.get(i.get()).copied().unwrap_or(a);
        assert!(value % 50 != 7, \"element {} is {value}\", i.get());
        *out = FUNCTION(a, value, *out);
    }",
    ),
    (
        "Loop",
        "#[kernel]",
        "    if let Some(out) = y.get_mut(i) {
        for round in 0..(x.len() as u32 + a) % 6 {
            *out = FUNCTION(round, x.get(i.get()).copied().unwrap_or(a), *out);
        }
    }",
    ),
];

/// Random kernels.
pub(crate) struct Pool {
    /// The kind of each, and the expression of its function.
    kernels: Vec<(usize, String)>,
}

impl Pool {
    /// So many kernels of each kind.
    pub(crate) fn new(seed: u64, of_each: usize) -> Self {
        let mut random = Random::new(seed);
        let kinds = (0..KINDS.len()).flat_map(|kind| std::iter::repeat_n(kind, of_each));
        let kernels = kinds.map(|kind| {
            let depth = 1 + random.below(4);
            (kind, expression(&mut random, depth))
        });
        Self { kernels: kernels.collect() }
    }

    /// The functions, for the host and for kernels.
    pub(crate) fn functions(&self) -> String {
        let mut text = String::new();
        for (number, (_, expression)) in self.kernels.iter().enumerate() {
            let head =
                "#[allow(unused_parens, unused_variables, clippy::all, reason = \"random\")]";
            let function = format!("pub(crate) fn f{number}(a: u32, x: u32, y: u32) -> u32");
            writeln!(text, "{head}\n{function} {{ {expression} }}").expect("memory");
        }
        text
    }

    /// The source of the kernels.
    pub(crate) fn kernels(&self) -> String {
        let mut text =
            "use kernelmill_device::prelude::*;\n\ninclude!(\"functions.rs\");\n".to_owned();
        for (number, (kind, _)) in self.kernels.iter().enumerate() {
            let (_, attribute, body) = KINDS[*kind];
            let body = body.replace("FUNCTION", &format!("f{number}"));
            let parameters = "a: u32, x: &[u32], mut y: DisjointSlice<u32>";
            let head = format!("{attribute}\npub fn kernel_{number}({parameters})");
            let index = "    let i = thread::index_1d();";
            writeln!(text, "\n{head} {{\n{index}\n{body}\n}}").expect("memory");
        }
        text
    }

    /// The table of the kernels.
    pub(crate) fn cases(&self) -> String {
        let mut text = "mod functions {\n    include!(concat!(env!(\"OUT_DIR\"), \
                        \"/pool/functions.rs\"));\n}\n\n/// Every kernel of the pool.\npub(crate) \
                        static CASES: &[Case] = &[\n"
            .to_owned();
        for (number, (kind, _)) in self.kernels.iter().enumerate() {
            let (kind, ..) = KINDS[*kind];
            let call = format!(
                "|on, stream, launch, a, x, y| on.kernel_{number}(stream, launch, a, x, y)"
            );
            writeln!(
                text,
                "    Case {{ kind: Kind::{kind}, function: functions::f{number}, launch: {call}, \
                 record: {call}, \
                 prepare: |on, launch, a, x, y| on.prepare().kernel_{number}(launch, a, x, y) }},"
            )
            .expect("memory");
        }
        text + "];\n"
    }
}
