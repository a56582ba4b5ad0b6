//! `cargo kernelmill explain`: why an error of the build or of a program occurs, and how to correct it.

use std::str::FromStr;

use anyhow::Result;
use kernelmill::ErrorCode;
use kernelmill_build::Code;
use serde_json::{Value, json};

/// A code of the build or of the run time.
#[derive(Clone, Copy)]
struct Explained {
    number: &'static str,
    title: &'static str,
    explanation: &'static str,
}

impl Explained {
    fn all() -> impl Iterator<Item = Self> {
        let of_builds = Code::ALL.iter().map(|code| Self::from(*code));
        of_builds.chain(ErrorCode::ALL.iter().map(|code| Self::from(*code)))
    }

    fn as_json(self) -> Value {
        let Self { number, title, explanation } = self;
        json!({ "code": number, "title": title, "explanation": explanation })
    }
}

impl From<Code> for Explained {
    fn from(code: Code) -> Self {
        Self { number: code.number(), title: code.title(), explanation: code.explanation() }
    }
}

impl From<ErrorCode> for Explained {
    fn from(code: ErrorCode) -> Self {
        Self { number: code.number(), title: code.title(), explanation: code.explanation() }
    }
}

impl FromStr for Explained {
    type Err = String;

    /// Reads `KM0003` or `KM1016`, in any case, with or without `KM` and leading zeros.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(code) = text.parse::<Code>() {
            return Ok(code.into());
        }
        let with_letters = format!("KM{}", text.trim());
        let of_run_time = text.trim().parse::<ErrorCode>().or_else(|_| with_letters.parse());
        of_run_time.map(Self::from).map_err(|_| {
            let codes = (Code::ALL[0], ErrorCode::ALL[0]);
            format!(
                "there is no error code `{text}`: the codes are KM and four digits, for example {} of a build and {} of a \
                 program that runs; `cargo kernelmill explain` lists all",
                codes.0, codes.1
            )
        })
    }
}

/// Which code.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The code, as messages have it: `KM0042`. Without one all codes are listed.
    code: Option<Explained>,
    /// Print JSON: the number, title and explanation in Markdown, or a list of all.
    #[arg(long)]
    json: bool,
}

/// Prints one explanation, or the list.
pub(crate) fn run(options: &Options) -> Result<()> {
    match (options.code, options.json) {
        (Some(Explained { number, title, explanation }), false) => {
            print!("error[{number}]: {title}\n\n{}", as_text(explanation));
        }
        (Some(code), true) => println!("{:#}", code.as_json()),
        (None, false) => {
            Explained::all().for_each(|code| println!("{}  {}", code.number, code.title));
        }
        (None, true) => {
            println!("{:#}", Explained::all().map(Explained::as_json).collect::<Value>())
        }
    }
    Ok(())
}

/// An explanation without the lines that rustdoc hides in examples.
fn as_text(explanation: &str) -> String {
    let mut is_rust = false;
    let mut text = String::new();
    for line in explanation.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_rust = language.starts_with("rust");
        }
        if !(is_rust && (line == "#" || line.starts_with("# "))) {
            text += line;
            text.push('\n');
        }
    }
    text
}
