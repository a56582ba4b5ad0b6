//! Parser of the messages of nvcc, clang, the host compiler and ptxas: each message once, with the
//! user's own path.

use std::path::Path;

use crate::{
    diagnostic::{Message, MessageSeverity},
    resources,
};

/// Reads what a compiler printed. Paths below `root` are shown as seen from there.
pub(crate) fn parse(text: &str, root: &Path) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut is_open = false;
    // By which headers gcc and clang came to where the next message is.
    let mut way: Vec<String> = Vec::new();
    for line in text.lines() {
        if is_chatter(line) || resources::is_said(line) {
            continue;
        }
        if is_way(line, !way.is_empty()) {
            way.push(line.trim().trim_end_matches([',', ':']).to_owned());
        } else if let Some(mut message) = header(line) {
            if let Some((file, _)) = &mut message.place {
                *file = shown(file, root);
            }
            message.details.append(&mut way);
            messages.push(message);
            is_open = true;
        } else if line.trim().is_empty() {
            is_open = false;
        } else if is_open && let Some(message) = messages.last_mut() {
            message.details.push(line.trim_end().to_owned());
        } else {
            let text = line.trim().to_owned();
            let note = MessageSeverity::Note;
            messages.push(Message { severity: note, text, place: None, details: Vec::new() });
        }
    }
    for message in &mut messages {
        dedent(&mut message.details);
    }
    let mut seen = std::collections::BTreeSet::new();
    messages.retain(|message| seen.insert(message.clone()));
    messages
}

/// Whether a line says by which header a message came about; a further one only says `from`.
fn is_way(line: &str, is_further: bool) -> bool {
    let line = line.trim_start();
    line.starts_with("In file included from ") || is_further && line.starts_with("from ")
}

/// Lines that say nothing that the messages do not say.
fn is_chatter(line: &str) -> bool {
    let line = line.trim();
    line.contains("detected in the compilation of")
        || line.starts_with("Remark: The warnings can be suppressed")
        || line == "compilation terminated."
        || line.starts_with("ptxas fatal   : Ptx assembly aborted due to errors")
        || line.ends_with("warnings generated.")
        || line.ends_with("warning generated.")
        || line.ends_with("errors generated.")
        || line.ends_with("error generated.")
        || line.contains(" generated when compiling for ")
}

/// The first line of a message, in any of the forms: `file(line): severity: text` of nvcc,
/// `file:line:column: severity: text` of gcc and clang, `ptxas ..., line N; severity : text`,
/// `tool severity : text`.
fn header(line: &str) -> Option<Message> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    let message = |severity, text: &str, place| {
        Some(Message { severity, text: text.trim().to_owned(), place, details: Vec::new() })
    };
    // cicc leaves out the colon after the place.
    let colons = line.match_indices(": ").chain(line.match_indices(") "));
    for (at, mark) in colons {
        let end = if mark == ") " { at + 1 } else { at };
        let (before, after) = (&line[..end], &line[at + 2..]);
        let Some(place) = place(before) else { continue };
        if let Some((severity, text)) = severity(after) {
            return message(severity, text, Some(place));
        }
    }
    if let Some((severity, text)) = of_arguments(line) {
        return message(severity, &text, None);
    }
    let (_, rest) = line.split_once(' ').filter(|(tool, _)| TOOLS.contains(tool))?;
    let rest = rest.rsplit_once("; ").map_or(rest, |(_, rest)| rest);
    let (severity, text) = severity(rest.trim_start())?;
    let place = None;
    message(severity, text, place)
}

/// What gcc and clang say of their arguments, `gcc: error: text` or `error: text`, with the name of the program. What
/// they warn of there is about the machine, and a note.
fn of_arguments(line: &str) -> Option<(MessageSeverity, String)> {
    const ERROR: MessageSeverity = MessageSeverity::Error;
    if let Some((ERROR, text)) = severity(line) {
        return Some((ERROR, text.to_owned()));
    }
    let (program, rest) = line.split_once(": ").filter(|(program, _)| !program.contains(' '))?;
    match severity(rest)? {
        (ERROR, text) => Some((ERROR, format!("{program}:{text}"))),
        _ => Some((MessageSeverity::Note, line.to_owned())),
    }
}

/// The programs that name themselves in front of a message.
const TOOLS: [&str; 6] = ["ptxas", "nvcc", "cicc", "cudafe++", "nvlink", "fatbinary"];

/// `error: text`, `warning #177-D: text`, `fatal error: text`, `error   : text`.
fn severity(text: &str) -> Option<(MessageSeverity, &str)> {
    const WORDS: [(&str, MessageSeverity); 8] = [
        ("fatal error", MessageSeverity::Error),
        ("catastrophic error", MessageSeverity::Error),
        ("internal error", MessageSeverity::Error),
        ("error", MessageSeverity::Error),
        ("fatal", MessageSeverity::Error),
        ("warning", MessageSeverity::Warning),
        ("note", MessageSeverity::Note),
        ("remark", MessageSeverity::Note),
    ];
    let lower = text.get(..text.len().min(24)).unwrap_or(text).to_ascii_lowercase();
    let (word, severity) = WORDS.iter().find(|(word, _)| lower.starts_with(word))?;
    let (between, said) = text[word.len()..].split_once(':')?;
    let between = between.trim();
    let is_number = between.starts_with('#') || between.is_empty();
    is_number.then_some((*severity, said))
}

/// `file(line)` or `file:line:column`.
fn place(text: &str) -> Option<(String, u32)> {
    if let Some((file, line)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        return Some((file.to_owned(), line.parse().ok()?));
    }
    let (rest, last) = text.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    match rest.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
        Some((file, Ok(line))) => Some((file.to_owned(), line)),
        _ => Some((rest.to_owned(), last)),
    }
}

fn shown(file: &str, root: &Path) -> String {
    let relative = Path::new(file).strip_prefix(root).ok();
    relative.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Takes away the indentation that all lines have.
fn dedent(lines: &mut [String]) {
    let indent = |line: &String| line.len() - line.trim_start().len();
    let least = lines.iter().map(indent).min().unwrap_or(0);
    for line in lines {
        line.drain(..least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        parse(text, Path::new("/w/app")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_compilers_messages_are_read() {
        let nvcc = "\
/w/app/kernels/a.cu(3): error: identifier \"foo\" is undefined
      foo();
      ^
          detected during instantiation of \"void f<T>() [with T=int]\" at line 7

kernels/a.cu(9): warning #177-D: variable \"n\" was declared but never referenced
    int n;
        ^

Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"

1 error detected in the compilation of \"kernels/a.cu\".
";
        assert_eq!(
            shown(nvcc),
            [
                "error: identifier \"foo\" is undefined\n --> kernels/a.cu:3\n  | foo();\n  | ^\n  \
                 |     detected during instantiation of \"void f<T>() [with T=int]\" at line 7",
                "warning: variable \"n\" was declared but never referenced\n --> kernels/a.cu:9\n  \
                 | int n;\n  |     ^",
            ]
        );
        let gcc = "\
kernels/a.cu:1:10: fatal error: nothing.h: No such file or directory
    1 | #include \"nothing.h\"
      |          ^~~~~~~~~~~
compilation terminated.
";
        let found = shown(gcc);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(
            "error: nothing.h: No such file or directory\n --> kernels/a.cu:1\n  | 1 | #include"
        ));
        let help = "\n  help: add the folder of the header to the setting `include`, or put the header beside \
                    this file";
        assert!(found[0].ends_with(help), "{}", found[0]);
        let found = shown(&gcc.replace("\"nothing.h\"", "<nothing.h>"));
        assert!(!found[0].contains("help"), "{}", found[0]);
        let clang = "\
kernels/a.cuh:219:3: error: reference to overloaded function could not be resolved; did you mean to call it?
  219 |   vec_cast<tgt_float_t, src_float_t>::cast<vec_size>(
      |   ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
";
        assert!(shown(clang)[0].contains("\n  help: write `template` before the name"));
        let other = shown(&clang.replace("cast<vec_size>(", "cast;"));
        assert!(!other[0].contains("help"), "{other:?}");
        let cicc = "/opt/include/sm_61_intrinsics.hpp(89) Error: unsupported operation\n";
        assert_eq!(
            shown(cicc),
            ["error: unsupported operation\n --> /opt/include/sm_61_intrinsics.hpp:89"]
        );
        let ptxas = "\
ptxas /t/a.ptx, line 20; error   : Unknown symbol 'x'
ptxas fatal   : Ptx assembly aborted due to errors
nvcc fatal   : Unsupported gpu architecture 'compute_35'
";
        assert_eq!(
            shown(ptxas),
            ["error: Unknown symbol 'x'", "error: Unsupported gpu architecture 'compute_35'"]
        );
    }

    #[test]
    fn what_compilers_say_of_their_arguments_is_an_error() {
        let said = "\
gcc: error: unrecognized command-line option '-foo'
clang-22: warning: CUDA version is newer than the latest partially supported version 12.9
error: invalid value 'c++99' in '-std=c++99'
";
        assert_eq!(
            shown(said),
            [
                "error: gcc: unrecognized command-line option '-foo'",
                "note: clang-22: warning: CUDA version is newer than the latest partially supported version 12.9",
                "error: invalid value 'c++99' in '-std=c++99'",
            ]
        );
    }

    #[test]
    fn messages_of_clang_in_headers_say_how_they_came_there() {
        let clang = "\
In file included from kernels/a.cu:1:
In file included from kernels/b.cuh:2:
/w/app/kernels/c.cuh:3:11: warning: unused variable 'n' [-Wunused-variable]
    3 |       int n;
      |           ^
kernels/a.cu:9:3: note: called here
    9 |   f();
      |   ^
1 warning generated when compiling for sm_80.
";
        assert_eq!(
            shown(clang),
            [
                "warning: unused variable 'n' [-Wunused-variable]\n --> kernels/c.cuh:3\n  \
                 | In file included from kernels/a.cu:1\n  | In file included from kernels/b.cuh:2\n  \
                 |     3 |       int n;\n  |       |           ^",
                "note: called here\n --> kernels/a.cu:9\n  | 9 |   f();\n  |   |   ^",
            ]
        );
    }

    #[test]
    fn a_message_that_is_repeated_is_shown_once() {
        let line = "a.cu(1): warning #1-D: twice\n\n";
        assert_eq!(shown(&line.repeat(2)).len(), 1);
    }
}
