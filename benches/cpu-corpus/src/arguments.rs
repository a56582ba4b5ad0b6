//! What the program is asked for.

use std::time::Duration;

use crate::row::Outcome;

/// What is asked for.
pub(crate) struct Arguments {
    /// A part of the names of the rows that are wanted.
    pub(crate) part: String,
    /// Compares, and measures nothing.
    pub(crate) verify_only: bool,
    /// Runs the rows on the first NVIDIA GPU.
    pub(crate) is_on_cuda: bool,
    /// How long a row may take there.
    pub(crate) limit: Duration,
    /// For the processes that run rows there: how many are skipped.
    pub(crate) rows_after: Option<usize>,
}

impl Arguments {
    /// Reads the arguments.
    ///
    /// # Errors
    ///
    /// Where there is none with such a name, or a number is none.
    pub(crate) fn read(arguments: &[String]) -> Outcome<Self> {
        let limit = Duration::from_secs(120);
        let (is_on_cuda, verify_only) = (false, false);
        let mut read =
            Self { part: String::new(), verify_only, is_on_cuda, limit, rows_after: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut number = || arguments.next().ok_or(format!("{argument} needs a number"));
            match &**argument {
                "--verify" => read.verify_only = true,
                "--cuda" if cfg!(feature = "cuda") => read.is_on_cuda = true,
                "--cuda" => return Err("build with `--features cuda` for `--cuda`".into()),
                "--limit" => read.limit = Duration::from_secs(number()?.parse()?),
                "--cuda-rows" => read.rows_after = Some(number()?.parse()?),
                unknown if unknown.starts_with('-') => {
                    return Err(format!("there is no argument {unknown}").into());
                }
                part => read.part = part.to_owned(),
            }
        }
        Ok(read)
    }
}
