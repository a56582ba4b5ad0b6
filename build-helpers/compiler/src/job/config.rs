//! What a source is compiled for, and how: the configuration that every key contains.

use std::{collections::BTreeMap, fmt::Write as _};

use kernelmill_artifact::{FORMAT_VERSION, Target};

use super::{
    choices::{MathLibrary, PanicLevel},
    device_link::DeviceLink,
    options::Options,
};

/// What a source is compiled for, and how.
///
/// ```
/// use kernelmill_compiler::{Config, Options, Params};
/// let config = Config::new("sm_90a".parse()?);
/// let child = config.child("distance");
/// assert_eq!((child.target, child.params), (config.target, config.params));
/// assert!(!child.options.toplevel && !child.options.optimize);
/// # Ok::<(), kernelmill_artifact::target::ParseTargetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// The target.
    pub target: Target,
    /// What code means.
    pub params: Params,
    /// The stages of the pipeline.
    pub options: Options,
}

/// What code means, the same for a kernel and for every function that is compiled with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Params {
    /// Whether `a * b + c` may become one fused operation, as nvcc has it by default. It changes
    /// the last bit of results.
    pub contract: bool,
    /// Whether kernels are vectorised on the CPU, and split into regions at uniform barriers, where that is
    /// proven correct.
    pub vectorize: bool,
    /// What the host learns of a panic.
    pub panics: PanicLevel,
    /// Whose mathematical functions kernels call.
    pub math: MathLibrary,
    /// What plugins are told, by the plugin's name.
    pub meta: BTreeMap<String, String>,
    /// What cubins are linked with where something is undefined.
    pub device_link: Option<DeviceLink>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            contract: true,
            vectorize: true,
            panics: PanicLevel::default(),
            math: MathLibrary::default(),
            meta: BTreeMap::new(),
            device_link: None,
        }
    }
}

impl Config {
    /// A target with all defaults.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self { target, params: Params::default(), options: Options::default() }
    }

    /// The configuration of a function that is compiled to become part of this one's module: the
    /// same target and parameters, and none of the stages that run once for the whole module.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let (target, params) = (self.target.clone(), self.params.clone());
        Self { target, params, options: self.options.child(name) }
    }

    /// Everything in the configuration that can change an artifact's bytes, as text.
    #[must_use]
    pub fn key(&self) -> String {
        let Params { contract, vectorize, panics, math, meta, device_link } = &self.params;
        let (panics, math) = (panics.name(), math.name());
        let mut key = format!(
            "format {FORMAT_VERSION}; target {}; contract {contract}; vectorize {vectorize}; panics {panics}; \
             math {math}",
            self.target
        );
        for (plugin, meta) in meta {
            // With lengths, so that no text can look like two entries.
            let _ = write!(key, "; meta {}:{plugin} {}:{meta}", plugin.len(), meta.len());
        }
        if let (Some(link), Target::Cubin(_)) = (device_link, &self.target) {
            let _ = write!(key, "; device link {}", link.key());
        }
        for (name, value) in self.options.entries() {
            let _ = write!(key, "; {name} {value}");
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::DeviceLibrary;

    /// Acceptance: S0.3.
    #[test]
    fn everything_in_a_configuration_is_in_its_key() {
        let plain = Config::new("sm_90".parse().unwrap());
        let mut changed = vec![plain.clone(); 12];
        changed[0].target = "sm_90a".parse().unwrap();
        changed[1].params.contract = false;
        changed[2].params.vectorize = !plain.params.vectorize;
        changed[3].params.meta.insert("p".into(), "1".into());
        changed[4].params.meta.insert("p".into(), "2".into());
        changed[5].target = "compute_90".parse().unwrap();
        changed[6].params.panics = PanicLevel::None;
        changed[7].params.panics = PanicLevel::Backtrace;
        changed[8].params.math = MathLibrary::Vendor;
        let link = |version: &str, digest: &str| DeviceLink {
            nvlink: None,
            version: version.to_owned(),
            libraries: vec![DeviceLibrary {
                name: "lib/scale.a".to_owned(),
                is_named: true,
                path: "lib/scale.a".into(),
                digest: digest.to_owned(),
            }],
        };
        changed[9].params.device_link = Some(link("13.0", "a"));
        changed[10].params.device_link = Some(link("13.0", "b"));
        changed[11].params.device_link = Some(link("13.1", "a"));
        for (name, value) in [
            ("name", "other"),
            ("always_inline", "true"),
            ("opt_level", "2"),
            ("debug_level", "0"),
            ("libraries", "false"),
            ("optimize", "false"),
            ("cleanup", "false"),
            ("validate", "false"),
            ("strip", "true"),
            ("toplevel", "false"),
            ("only_entry", "true"),
        ] {
            let mut config = plain.clone();
            config.options.set(name, value).unwrap();
            changed.push(config);
        }
        let mut keys: Vec<_> = changed.iter().map(Config::key).collect();
        keys.push(plain.key());
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all, "{keys:#?}");
        assert_eq!(plain.key(), plain.clone().key());
        let mut moved = changed[9].clone();
        let library = &mut moved.params.device_link.as_mut().unwrap().libraries[0];
        (library.name, library.path) = ("scale.a".to_owned(), "scale.a".into());
        assert_eq!(moved.key(), changed[9].key(), "no path is in a key");
        let mut text = Config::new("compute_90".parse().unwrap());
        let without = text.key();
        text.params.device_link = Some(link("13.0", "a"));
        assert_eq!(text.key(), without, "PTX is linked with nothing");
    }

    /// Acceptance: S0.2, S1.3.
    #[test]
    fn a_child_has_the_parents_target_and_parameters_and_no_step_of_the_whole_module() {
        let mut parent = Config::new("gfx90a:xnack+".parse().unwrap());
        parent.params.contract = false;
        parent.options.always_inline = true;
        parent.options.debug_level = 0;
        parent.options.strip = true;
        let child = parent.child("distance");
        assert_eq!((&child.target, &child.params), (&parent.target, &parent.params));
        let Options { always_inline, opt_level, debug_level, .. } = child.options.clone();
        assert_eq!((always_inline, opt_level, debug_level), (true, 3, 0));
        let options = child.options;
        assert_eq!(options.name.as_deref(), Some("distance"));
        for off in [
            options.toplevel,
            options.optimize,
            options.libraries,
            options.cleanup,
            options.validate,
            options.strip,
        ] {
            assert!(!off, "{options:?}");
        }
    }
}
