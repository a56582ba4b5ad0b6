//! The rows `[licenses]`, `[sources]` and `[bans]` of `deny.toml`, checked against `Cargo.lock`.
//!
//! The file is that of [cargo-deny](https://embarkstudios.github.io/cargo-deny/), which is not needed here: to
//! build it takes longer than all other checks, and no binary of it can be counted on. Packages are those that Cargo
//! lists with all features for all platforms; licence expressions are read by the crate `spdx`, as cargo-deny does.
//! A row that is not understood is an error, so that none is there for show.
//!
//! Not checked: `[advisories]`. The database of [RustSec](https://rustsec.org) is a git repository, and the machines that
//! run the tests reach a registry of crates and no git host. The registry's index says which versions are
//! yanked, but Cargo tells nobody. With a network `cargo deny check advisories` does both.

use crate::workspace::Workspace;
use anyhow::{Context as _, Result, bail};
use cargo_metadata::{CargoOpt, Metadata, MetadataCommand, Package};
use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};
use std::collections::{BTreeMap, BTreeSet};

/// What `deny.toml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    graph: Graph,
    /// Checked by cargo-deny alone.
    #[serde(rename = "advisories")]
    _advisories: toml::Table,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Graph {
    all_features: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Licenses {
    /// How sure cargo-deny has to be of a licence's text; here a package has to name its licence.
    #[serde(rename = "confidence-threshold")]
    _confidence_threshold: f64,
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

/// Licences that one package alone may have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Bans {
    multiple_versions: Level,
    wildcards: Level,
    allow_wildcard_paths: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Sources {
    unknown_registry: Level,
    unknown_git: Level,
    allow_registry: Vec<String>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Level {
    Allow,
    Warn,
    Deny,
}

/// What is wrong with packages, and what is only said.
#[derive(Default)]
struct Findings {
    errors: Vec<String>,
    warnings: Vec<String>,
}

/// Checks them.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let rules: Rules = toml::from_str(&workspace.read("deny.toml")?).context("deny.toml")?;
    let mut command = MetadataCommand::new();
    command.manifest_path(workspace.root.join("Cargo.toml")).other_options(["--locked".to_owned()]);
    if rules.graph.all_features {
        command.features(CargoOpt::AllFeatures);
    }
    let findings = check(&command.exec()?, &rules)?;
    findings.warnings.iter().for_each(|warning| println!("warning: {warning}"));
    if !findings.errors.is_empty() {
        bail!("deny.toml does not allow:\n{}", findings.errors.join("\n"));
    }
    println!("advisories are not checked here: see xtask/src/ci/dependencies.rs");
    Ok(())
}

fn check(metadata: &Metadata, rules: &Rules) -> Result<Findings> {
    let mut findings = Findings::default();
    let used: BTreeSet<_> =
        metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| &node.id).collect();
    let packages: Vec<_> = metadata.packages.iter().filter(|it| used.contains(&it.id)).collect();
    rules.licenses.check(&packages, &mut findings)?;
    for package in &packages {
        let is_own = metadata.workspace_members.contains(&package.id);
        rules.sources.check(package, is_own, &mut findings);
        if is_own {
            rules.bans.check_wildcards(package, &mut findings);
        }
    }
    rules.bans.check_versions(&packages, &mut findings);
    println!("{} packages", packages.len());
    Ok(findings)
}

impl Findings {
    fn add(&mut self, level: Level, text: String) {
        match level {
            Level::Allow => {}
            Level::Warn => self.warnings.push(text),
            Level::Deny => self.errors.push(text),
        }
    }
}

impl Licenses {
    fn check(&self, packages: &[&Package], findings: &mut Findings) -> Result<()> {
        let allowed = licensees(&self.allow)?;
        for package in packages {
            let mut allowed = allowed.clone();
            for exception in self.exceptions.iter().filter(|it| it.package == *package.name) {
                allowed.extend(licensees(&exception.allow)?);
            }
            if let Some(problem) = problem_of_licence(package.license.as_deref(), &allowed) {
                findings.errors.push(format!("{} {}: {problem}", package.name, package.version));
            }
        }
        for Exception { package, .. } in &self.exceptions {
            if !packages.iter().any(|it| *it.name == *package) {
                findings.errors.push(format!("an exception for {package}, which is not used"));
            }
        }
        Ok(())
    }
}

fn licensees(names: &[String]) -> Result<Vec<Licensee>> {
    let parse = |name: &String| Licensee::parse(name).with_context(|| format!("licence {name}"));
    names.iter().map(parse).collect()
}

/// What is wrong with a licence, for messages.
fn problem_of_licence(licence: Option<&str>, allowed: &[Licensee]) -> Option<String> {
    let Some(licence) = licence else { return Some("no licence is named".to_owned()) };
    match Expression::parse_mode(licence, ParseMode::LAX) {
        Err(error) => Some(format!("`{licence}` is not a licence expression: {}", error.reason)),
        Ok(expression) => {
            let is_allowed = expression.evaluate(|it| allowed.iter().any(|one| one.satisfies(it)));
            (!is_allowed).then(|| format!("the licence {licence}"))
        }
    }
}

impl Sources {
    fn check(&self, package: &Package, is_own: bool, findings: &mut Findings) {
        let source = package.source.as_ref().map(|source| source.repr.as_str());
        let (level, text) = match source {
            None if is_own => return,
            None => (Level::Deny, "a folder outside of the workspace"),
            Some(text) if text.starts_with("git+") => (self.unknown_git, text),
            Some(text) => {
                let registry = text.split_once('+').map_or(text, |(_, address)| address);
                if self.allow_registry.iter().any(|allowed| allowed == registry) {
                    return;
                }
                (self.unknown_registry, text)
            }
        };
        findings.add(level, format!("{} {}: from {text}", package.name, package.version));
    }
}

impl Bans {
    fn check_wildcards(&self, package: &Package, findings: &mut Findings) {
        for dependency in &package.dependencies {
            let is_path = self.allow_wildcard_paths && dependency.path.is_some();
            if dependency.req.to_string() == "*" && !is_path {
                let text = format!("{}: any version of {}", package.name, dependency.name);
                findings.add(self.wildcards, text);
            }
        }
    }

    fn check_versions(&self, packages: &[&Package], findings: &mut Findings) {
        let mut versions = BTreeMap::<_, BTreeSet<_>>::new();
        for package in packages {
            versions.entry(package.name.as_str()).or_default().insert(package.version.to_string());
        }
        for (name, versions) in versions.into_iter().filter(|(_, versions)| versions.len() > 1) {
            let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
            findings.add(self.multiple_versions, format!("several versions of {name}: {versions}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const RULES: &str = include_str!("../../../deny.toml");

    /// A workspace with one package of its own and one that it depends on.
    fn metadata(other: &Value, requirement: &str) -> Metadata {
        let package = |more: &Value| {
            let mut package = json!({
                "name": "own", "version": "1.0.0", "id": "own", "license": "MIT", "source": null,
                "dependencies": [], "targets": [], "features": {}, "manifest_path": "/w/Cargo.toml",
            });
            more.as_object().unwrap().iter().for_each(|(key, value)| package[key] = value.clone());
            package
        };
        let dependency = json!({
            "name": "other", "req": requirement, "source": null, "kind": null, "optional": false,
            "uses_default_features": true, "features": [], "target": null, "rename": null,
        });
        let node = |id: &str| json!({ "id": id, "dependencies": [], "deps": [], "features": [] });
        let whole = json!({
            "packages": [package(&json!({ "dependencies": [dependency] })), package(other)],
            "workspace_members": ["own"], "workspace_default_members": ["own"],
            "resolve": { "nodes": [node("own"), node("other")], "root": null },
            "workspace_root": "/w", "target_directory": "/w/target", "version": 1, "metadata": null,
        });
        serde_json::from_value(whole).unwrap()
    }

    /// The errors for a dependency that is right but for one field.
    fn errors(field: &str, value: Value) -> Vec<String> {
        let mut other = json!({
            "name": "other", "id": "other", "license": "MIT OR LicenseRef-own",
            "source": "registry+https://github.com/rust-lang/crates.io-index",
        });
        other[field] = value;
        check_without_exceptions(&metadata(&other, "^1"))
    }

    fn check_without_exceptions(metadata: &Metadata) -> Vec<String> {
        let mut rules: Rules = toml::from_str(RULES).unwrap();
        rules.licenses.exceptions.retain(|exception| exception.package == "mdbook-core");
        rules.licenses.exceptions[0].package = "other".to_owned();
        check(metadata, &rules).unwrap().errors
    }

    #[test]
    fn licences_outside_of_the_list_are_errors() {
        assert_eq!(errors("name", json!("other")), [] as [&str; 0]);
        assert_eq!(errors("license", json!("MPL-2.0")), [] as [&str; 0], "an exception");
        assert_eq!(errors("license", json!("MIT/Apache-2.0")), [] as [&str; 0], "the old form");
        let wrong = errors("license", json!("GPL-3.0-only AND MIT"));
        assert_eq!(wrong, ["other 1.0.0: the licence GPL-3.0-only AND MIT"]);
        assert_eq!(errors("license", Value::Null), ["other 1.0.0: no licence is named"]);
        let wrong = errors("license", json!("free for all"));
        assert!(wrong[0].contains("is not a licence expression"), "{wrong:?}");
        let wrong = errors("name", json!("another"));
        assert_eq!(wrong, ["an exception for other, which is not used"]);
    }

    #[test]
    fn sources_outside_of_the_list_are_errors() {
        for source in ["git+https://example.org/x", "registry+https://example.org/index"] {
            let wrong = errors("source", json!(source));
            assert_eq!(wrong, [format!("other 1.0.0: from {source}")]);
        }
        let wrong = errors("source", Value::Null);
        assert_eq!(wrong, ["other 1.0.0: from a folder outside of the workspace"]);
    }

    #[test]
    fn any_version_and_rows_that_are_not_understood_are_errors() {
        let other = json!({
            "name": "other", "id": "other",
            "source": "registry+https://github.com/rust-lang/crates.io-index",
        });
        let wrong = check_without_exceptions(&metadata(&other, "*"));
        assert_eq!(wrong, ["own: any version of other"]);
        let unknown = RULES.replace("unknown-git", "unknown-forge");
        assert!(toml::from_str::<Rules>(&unknown).is_err());
    }
}
