//! The symbols of a source that matter to other sources: external device functions, and deferred
//! references to them.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{
    bytes::{Reader, Writer},
    names::{DEFERRED, FUNCTION, SHIM_PREFIX},
};

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
    /// For the shim of each kernel and each function that others can name, the functions that it reaches and that
    /// nothing here defines: getters and markers of plugins, and functions of other sources.
    pub reaches: BTreeMap<String, Vec<String>>,
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
        writer.number(self.reaches.len() as u64);
        for (function, names) in &self.reaches {
            writer.text(function);
            writer.number(names.len() as u64);
            names.iter().for_each(|name| writer.text(name));
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
        let reaches = reader.list(|reader| Some((reader.text()?, reader.list(Reader::text)?)))?;
        reader.end()?;
        Some(Self { defines, defers, externals, reaches: reaches.into_iter().collect() })
    }

    /// The functions that a kernel of one source reaches and that nothing defines, through the functions of `all`
    /// sources. A call of a function that the host chooses reaches all in `table`, which has their symbols.
    #[must_use]
    pub fn of_kernel(
        all: &[Option<&Self>],
        from: usize,
        kernel: &str,
        table: &[&str],
    ) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut work = vec![(from, format!("{SHIM_PREFIX}{kernel}"))];
        let mut seen: BTreeSet<_> = work.iter().cloned().collect();
        while let Some((place, function)) = work.pop() {
            let Some(names) = all[place].and_then(|it| it.reaches.get(&function)) else { continue };
            for name in names {
                let named = name.strip_prefix(DEFERRED).into_iter();
                let chosen = if name == FUNCTION { table } else { &[] };
                for function in named.chain(chosen.iter().copied()) {
                    let has_it = |place: &usize| all[*place].is_some_and(|it| it.has(function));
                    let own = Some(place).filter(has_it);
                    let others = (0..all.len()).filter(|_| own.is_none()).filter(has_it);
                    let definitions = own.into_iter().chain(others);
                    let definitions = definitions.map(|place| (place, function.to_owned()));
                    work.extend(definitions.filter(|it| seen.insert(it.clone())));
                }
                found.insert(name.clone());
            }
        }
        found
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
            ..Symbols::default()
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

    /// Acceptance: C10.
    #[test]
    fn kernels_reach_getters_through_other_sources_and_function_tables() {
        let symbols = |reaches: &[(&str, &[&str])]| Symbols {
            defines: reaches.iter().map(|(name, _)| (*name).to_owned()).collect(),
            reaches: reaches
                .iter()
                .map(|(name, names)| {
                    ((*name).to_owned(), names.iter().map(|it| (*it).to_owned()).collect())
                })
                .collect(),
            ..Symbols::default()
        };
        let all = [
            symbols(&[
                ("__kernelmill_entry_far", &["__kernelmill_deferred_a"]),
                ("__kernelmill_entry_near", &["own_getter"]),
                ("__kernelmill_entry_given", &["__kernelmill_function"]),
            ]),
            symbols(&[("a", &["__kernelmill_deferred_b", "other"]), ("unused", &["never"])]),
            symbols(&[("b", &["__kernelmill_deferred_a", "getter"])]),
        ];
        let all: Vec<_> = all.iter().map(Some).collect();
        let of = |kernel: &str| Symbols::of_kernel(&all, 0, kernel, &["b"]);
        let has = |kernel: &str, name: &str| of(kernel).contains(name);
        assert!(has("far", "getter") && has("far", "other") && !has("far", "never"));
        assert!(has("near", "own_getter") && !has("near", "getter"));
        assert!(has("given", "getter") && of("missing").is_empty());
        let bytes = all[1].unwrap().to_bytes();
        assert_eq!(Symbols::from_bytes(&bytes).as_ref(), all[1]);
    }
}
