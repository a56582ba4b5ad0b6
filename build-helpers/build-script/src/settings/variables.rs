//! The environment variables that kernelmill reads, to tell misspelt names from others.

use super::overrides;
use crate::base::environment::BuildEnvironment;
use kernelmill_artifact::target::{nearest, nearest_within};

/// How the names of all of them begin.
const PREFIX: &str = "KERNELMILL_";
/// Those that builds and programs read.
const NAMES: [&str; 33] = [
    "KERNELMILL_BINDINGS",
    "KERNELMILL_CACHE",
    "KERNELMILL_CACHE_DIR",
    "KERNELMILL_CACHE_SIZE",
    "KERNELMILL_CLANG",
    "KERNELMILL_CPU",
    "KERNELMILL_CUDA_COMPILER",
    "KERNELMILL_DEVICE",
    "KERNELMILL_DEVICE_LIBRARIES",
    "KERNELMILL_DUMP",
    "KERNELMILL_DUMP_DIR",
    "KERNELMILL_FMA",
    "KERNELMILL_GUARD_PAGES",
    "KERNELMILL_LLVM",
    "KERNELMILL_LOG",
    "KERNELMILL_MATH",
    "KERNELMILL_MAX_REGISTERS",
    "KERNELMILL_NVCC",
    "KERNELMILL_NVRTC",
    "KERNELMILL_OPTIMIZATION",
    "KERNELMILL_PANICS",
    "KERNELMILL_PROGRESS",
    "KERNELMILL_PROGRESS_FILE",
    "KERNELMILL_PTXAS",
    "KERNELMILL_SKIP_BUILD",
    "KERNELMILL_TARGETS",
    "KERNELMILL_TOOL_IDLE",
    "KERNELMILL_TOOL_MEMORY",
    "KERNELMILL_TOOL_TIME",
    "KERNELMILL_TRACE",
    "KERNELMILL_WATCHDOG",
    "KERNELMILL_WGPU_TRANSLATE",
    "KERNELMILL_INSTANCES",
];
/// Those of `cargo kernelmill tune` and of the project's own tests, by how they begin.
const OTHERS: [&str; 5] = [
    "KERNELMILL_TUNE",
    "KERNELMILL_TEST_",
    "KERNELMILL_FUZZ_",
    "KERNELMILL_SEED",
    "KERNELMILL_REQUIRE_TOOLS",
];
/// How many letters a name of another prefix may differ in and still be taken for a misspelt one.
const NEAR: usize = 2;

/// Warns of variables whose names begin as those of kernelmill do and are none, and of other names that are nearly
/// one. They are not watched: Cargo is told of those that are read.
pub(crate) fn warn_of_unknown(environment: &BuildEnvironment) {
    let names = environment.names().into_iter().filter_map(|name| name.into_string().ok());
    let mut unknown: Vec<_> = names.filter_map(|name| Some((meant(&name)?, name))).collect();
    unknown.sort();
    for (meant, name) in unknown {
        environment.cargo.warn(&format_args!(
            "unknown environment variable {name}, which has no effect; the nearest is {meant}"
        ));
    }
}

/// The name that an unknown one of kernelmill's is nearest to; `None` where it is known, or nobody's.
fn meant(name: &str) -> Option<String> {
    // Windows takes small letters and capital ones for the same.
    let read = if cfg!(windows) { name.to_ascii_uppercase() } else { name.to_owned() };
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| read.starts_with(prefix));
    if NAMES.contains(&&*read) || begins(&OTHERS) || begins(&[overrides::PREFIX]) {
        return None;
    }
    let known = || NAMES.iter().map(|known| (*known).to_owned());
    if let Some(near) = nearest_within(&read.to_ascii_uppercase(), known(), NEAR) {
        return Some(near);
    }
    // `KERNELMILL_OVERIDE_saxpy`.
    let second = read.match_indices('_').nth(1).map_or(read.len(), |(place, _)| place + 1);
    let (head, kernel) = read.split_at(second);
    if nearest_within(head, [overrides::PREFIX.to_owned()], NEAR).is_some() {
        return Some(format!("{}{kernel}", overrides::PREFIX));
    }
    begins(&[PREFIX]).then(|| nearest(&read, known()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Project, SAXPY};
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn misspelt_variables_are_warned_of_and_not_watched() {
        let mut project = Project::new("targets = [\"sm_90\"]", &[("kernels/saxpy.rs", SAXPY)]);
        let quiet = [
            "KERNELMILL_TARGETS",
            "KERNELMILL_OVERRIDE_saxpy2",
            "KERNELMILL_TEST_SIZE",
            "KERNELMILL_FUZZ_SEED",
            "KERNELMILL_TUNE_ROUNDS",
            "MILL_TARGETS",
            "TARGETS",
        ];
        for name in quiet {
            project.set(name, "");
        }
        let warnings = |project: &Project| {
            let outcome = project.build();
            outcome.result.unwrap_or_else(|error| panic!("{error}"));
            let watched = outcome
                .lines
                .iter()
                .find(|line| line.contains("changed=KERNELMIL") && line.contains("GETS_"));
            assert_eq!(watched, None);
            outcome
                .lines
                .into_iter()
                .filter(|line| line.contains("unknown environment variable"))
                .collect::<Vec<_>>()
        };
        assert_eq!(warnings(&project), [""; 0]);
        let misspelt = [
            ("KERNELMILL_TARGET", "KERNELMILL_TARGETS"),
            ("KERNELMILL_OVERIDE_saxpy", "KERNELMILL_OVERRIDE_saxpy"),
            ("KERNELMIL_FMA", "KERNELMILL_FMA"),
            ("kernelmill_math", "KERNELMILL_MATH"),
            ("KERNELMILL_OPTIMIZATION_LEVEL", "KERNELMILL_OPTIMIZATION"),
        ];
        for (name, _) in misspelt {
            project.set(name, "1");
        }
        let said = warnings(&project);
        assert_eq!(said.len(), misspelt.len(), "{said:?}");
        for (name, nearest) in misspelt {
            let expected =
                format!("variable {name}, which has no effect; the nearest is {nearest}");
            assert!(said.iter().any(|line| line.ends_with(&expected)), "{expected}: {said:?}");
        }
    }

    /// The names in a text that are written as those of variables, without what they are set to.
    fn names(text: &str) -> BTreeSet<String> {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        words
            .filter(|word| word.len() > PREFIX.len() && word.starts_with(PREFIX))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn every_variable_of_the_book_is_known() {
        let page =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/settings.md");
        let mut documented = names(&fs::read_to_string(page).unwrap());
        // That is a macro of sources in C++.
        assert!(documented.remove("KERNELMILL_INDEX_WIDTH"));
        assert!(documented.len() > 25, "{documented:?}");
        for name in documented {
            assert_eq!(meant(&name), None, "{name}");
        }
    }
}
