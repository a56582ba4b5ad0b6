//! `cargo kernelmill explain`: why an error of the build occurs, and how to correct it.

use anyhow::Result;
use kernelmill_build::Code;
use serde_json::{Value, json};

/// Which code.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The code, as messages have it: `KM0042`. Without one all codes are listed.
    code: Option<Code>,
    /// Print JSON: the number, title and explanation in Markdown, or a list of all.
    #[arg(long)]
    json: bool,
}

/// Prints one explanation, or the list.
pub(crate) fn run(options: &Options) -> Result<()> {
    match (options.code, options.json) {
        (Some(code), false) => {
            print!("error[{code}]: {}\n\n{}", code.title(), code.explanation());
        }
        (Some(code), true) => println!("{:#}", as_json(code)),
        (None, false) => Code::ALL.iter().for_each(|code| println!("{code}  {}", code.title())),
        (None, true) => {
            println!("{:#}", Code::ALL.iter().map(|code| as_json(*code)).collect::<Value>());
        }
    }
    Ok(())
}

fn as_json(code: Code) -> Value {
    json!({ "code": code.number(), "title": code.title(), "explanation": code.explanation() })
}
