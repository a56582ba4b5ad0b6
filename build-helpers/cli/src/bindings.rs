//! What the generated wrappers say of kernels: which symbol each has in its binaries.

use anyhow::{Context as _, Result};
use std::{collections::BTreeMap, fs, path::Path};

/// The kernels of a package: the names of their wrappers by their symbols.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    /// Reads those of the package whose `OUT_DIR` this is.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("kernels.rs");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(Self::parse(&text))
    }

    /// A signature has a line for the name and, below it, one for the symbol.
    fn parse(text: &str) -> Self {
        let value = |line: &str, key: &str| {
            let rest = line.trim().strip_prefix(key)?.strip_prefix(": cg::Cow::Borrowed(\"")?;
            Some(rest.strip_suffix("\"),")?.to_owned())
        };
        let lines: Vec<_> = text.lines().collect();
        let pairs = lines
            .windows(2)
            .filter_map(|pair| Some((value(pair[1], "symbol")?, value(pair[0], "name")?)));
        Self(pairs.collect())
    }

    /// The name of the wrapper of the kernel with this symbol; the symbol where it has none.
    pub(crate) fn of<'a>(&'a self, symbol: &'a str) -> &'a str {
        self.0.get(symbol).map_or(symbol, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn symbols_have_the_names_of_their_wrappers() {
        let text = "\
            cg::Signature {
                name: cg::Cow::Borrowed(\"scale_float\"),
                symbol: cg::Cow::Borrowed(\"_Z5scaleIfEvPT_\"),
                parameters: &[cg::Parameter {
                    name: cg::Cow::Borrowed(\"y\"),
                    kind: ...";
        let names = Names::parse(text);
        assert_eq!(names.of("_Z5scaleIfEvPT_"), "scale_float");
        assert_eq!(names.of("other"), "other");
    }
}
