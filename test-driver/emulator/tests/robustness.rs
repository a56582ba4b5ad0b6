//! Texts with random changes end in errors or faults, never in a panic.

#[path = "common/cases.rs"]
mod cases;
mod common;

use cases::CASES;
use common::Random;
use ptx_emulator::{Device, Kernel, Launch, Module, Options, Order, Properties};

/// A text with one change: a token or line less, a line twice, a digit or register changed.
fn changed(text: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let mut pick = |count: usize| random.next() as usize % count.max(1);
    let at = pick(lines.len());
    match pick(6) {
        0 => {
            lines.remove(at);
        }
        1 => {
            let other = pick(lines.len());
            lines.swap(at, other);
        }
        2 => {
            let line = lines[at].clone();
            lines.insert(pick(lines.len()), line);
        }
        3 => {
            let words: Vec<&str> = lines[at].split(' ').collect();
            let gone = pick(words.len());
            let kept = words.iter().enumerate().filter(|(number, _)| *number != gone);
            lines[at] = kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ");
        }
        4 => {
            let digit = char::from(b'0' + pick(10) as u8);
            let old = char::from(b'0' + pick(10) as u8);
            lines[at] = lines[at].replace(old, &digit.to_string());
        }
        _ => {
            let marks = [".", ",", "[", "]", "{", "}", "%", ";", "-"];
            let (old, new) = (marks[pick(9)], marks[pick(9)]);
            lines[at] = lines[at].replacen(old, new, 1);
        }
    }
    lines.join("\n")
}

/// Launches a kernel on small buffers, whatever its parameters mean.
fn launch(module: &Module, kernel: &Kernel, order: Order) {
    let device = Device::new(Properties::of_capability(90));
    let Ok(loaded) = device.load(module) else { return };
    let argument = |size: u32| match size {
        8 => device.allocate(2048, 8).unwrap_or(0).to_le_bytes().to_vec(),
        _ => (0..size).map(|byte| u8::from(byte == 0) * 32).collect(),
    };
    let bytes: Vec<Vec<u8>> =
        kernel.parameters.iter().map(|parameter| argument(parameter.size.min(4096))).collect();
    let arguments: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let shape = Launch {
        grid: [2, 1, 1],
        block: [64, 1, 1],
        dynamic_shared_bytes: 1024,
        arguments: &arguments,
        cooperative: false,
    };
    let options =
        Options { order, detect_races: true, step_budget: Some(30_000), ..Options::default() };
    // Most of these fault; that they come back is what matters.
    let _ = device.launch(&loaded, &kernel.name, &shape, &options);
}

#[test]
fn changed_texts_never_panic() {
    let mut random = Random::new(51);
    let (mut parsed, mut refused) = (0, 0);
    for case in CASES {
        for round in 0..60 {
            let mut text = changed(case.text, &mut random);
            if round % 2 == 0 {
                text = changed(&text, &mut random);
            }
            match Module::parse(&text) {
                Ok(module) => {
                    parsed += 1;
                    let order = if round % 3 == 0 { Order::Random(round) } else { Order::Forward };
                    module.kernels().for_each(|kernel| launch(&module, kernel, order));
                }
                Err(errors) => {
                    refused += 1;
                    assert!(!errors.errors().is_empty());
                }
            }
        }
    }
    assert!(parsed > 200 && refused > 100, "{parsed} parsed, {refused} refused");
}

#[test]
fn cut_texts_never_panic() {
    for case in CASES {
        for cut in (0..case.text.len()).step_by(case.text.len() / 50 + 1) {
            if let Some(text) = case.text.get(..cut) {
                let _ = Module::parse(text);
            }
        }
    }
}
