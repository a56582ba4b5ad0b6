//! The symbols of a source that matter to other sources: external device functions, and deferred
//! references to them.

use std::collections::BTreeSet;

use crate::base::bytes::{Reader, Writer};

/// What a source has for others, and what it wants of them. Each sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// The functions that others can name.
    pub defines: Vec<String>,
    /// The functions that it names.
    pub defers: Vec<String>,
    /// The functions that it calls by names of C or C++ and that nothing here defines: libraries of
    /// device code may have them.
    pub externals: Vec<String>,
}

impl Symbols {
    /// The symbols as bytes for a store.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        for list in [&self.defines, &self.defers, &self.externals] {
            writer.number(list.len() as u64);
            list.iter().for_each(|name| writer.text(name));
        }
        writer.finish()
    }

    /// Reads what [`Symbols::to_bytes`] wrote; `None` where it is not that.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let defines = reader.list(Reader::text)?;
        let defers = reader.list(Reader::text)?;
        let externals = reader.list(Reader::text)?;
        reader.end()?;
        Some(Self { defines, defers, externals })
    }

    /// The sources that one reaches by the functions it names, directly or through others: their
    /// places among `all`, in order, without its own.
    #[must_use]
    pub fn reached(all: &[Option<&Self>], from: usize) -> Vec<usize> {
        let mut found = BTreeSet::from([from]);
        let mut work = vec![from];
        while let Some(symbols) = work.pop().and_then(|place| all[place]) {
            let foreign = symbols.defers.iter().filter(|name| !symbols.has(name));
            for name in foreign {
                let has_it = |place: &usize| all[*place].is_some_and(|it| it.has(name));
                work.extend((0..all.len()).filter(has_it).filter(|place| found.insert(*place)));
            }
        }
        found.remove(&from);
        found.into_iter().collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.defines.iter().any(|it| it == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acceptance: S1.2.
    #[test]
    fn sources_are_reached_through_others_and_circles_end() {
        let symbols = |defines: &[&str], defers: &[&str]| Symbols {
            defines: defines.iter().map(|name| (*name).to_owned()).collect(),
            defers: defers.iter().map(|name| (*name).to_owned()).collect(),
            externals: vec!["scaled".to_owned()],
        };
        let all = [
            symbols(&["own"], &["own", "a"]),
            symbols(&["a"], &["b"]),
            symbols(&["b", "unused"], &["a"]),
            symbols(&["c", "own"], &[]),
        ];
        let all: Vec<_> = all.iter().map(Some).collect();
        assert_eq!(Symbols::reached(&all, 0), [1, 2]);
        assert_eq!(Symbols::reached(&all, 1), [2]);
        assert_eq!(Symbols::reached(&all, 3), [0_usize; 0]);
        let bytes = all[0].unwrap().to_bytes();
        assert_eq!(Symbols::from_bytes(&bytes).as_ref(), all[0]);
        assert_eq!(Symbols::from_bytes(&bytes[1..]), None);
    }
}
