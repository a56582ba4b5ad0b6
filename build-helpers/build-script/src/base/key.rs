//! Keys and digests of everything that can change a result. A key contains no path of a checkout.

use hmac_sha256::Hash;
use kernelmill_artifact::Fingerprint;

/// Collects the parts of a key. Every part has a name and a length, so that no two lists of parts
/// give the same bytes.
pub(crate) struct KeyBuilder(Hash);

impl KeyBuilder {
    /// A key of a kind; keys of different kinds never meet.
    pub(crate) fn new(kind: &str) -> Self {
        Self(Hash::new()).part("kind", kind)
    }

    pub(crate) fn part(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for bytes in [name.as_bytes(), value.as_ref()] {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
        self
    }

    pub(crate) fn parts<V: AsRef<[u8]>>(
        self,
        name: &str,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        values.into_iter().fold(self, |key, value| key.part(name, value))
    }

    pub(crate) fn finish(self) -> Fingerprint {
        Fingerprint(self.0.finalize())
    }
}

/// The digest of some bytes alone.
pub(crate) fn digest(bytes: &[u8]) -> Fingerprint {
    Fingerprint(Hash::hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let key = |parts: &[(&str, &str)]| {
            parts
                .iter()
                .fold(KeyBuilder::new("k"), |key, (name, value)| key.part(name, value))
                .finish()
        };
        assert_ne!(key(&[("a", "bc")]), key(&[("ab", "c")]));
        assert_ne!(key(&[("a", "b"), ("a", "c")]), key(&[("a", "bac")]));
        assert_eq!(key(&[("a", "b")]), key(&[("a", "b")]));
    }
}
