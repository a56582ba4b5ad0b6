//! Options of the plugin in the build's configuration: `bounds=off`, `races=off`, or both, with a comma.

/// Which checks are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) bounds: bool,
    pub(crate) races: bool,
}

impl Options {
    pub(crate) fn read(meta: &str) -> Result<Self, String> {
        let mut options = Self { bounds: true, races: true };
        for word in meta.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word {
                "bounds=off" => options.bounds = false,
                "races=off" => options.races = false,
                other => {
                    return Err(format!(
                        "`{other}` is not an option: write bounds=off or races=off"
                    ));
                }
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let read = |text| Options::read(text).map(|it| (it.bounds, it.races));
        assert_eq!(read(""), Ok((true, true)));
        assert_eq!(read("races=off"), Ok((true, false)));
        assert_eq!(read("races=off, bounds=off"), Ok((false, false)));
        let message = "`race=off` is not an option: write bounds=off or races=off";
        assert_eq!(read("race=off"), Err(message.to_owned()));
    }
}
