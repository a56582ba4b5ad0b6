//! The package that is built: what Cargo says of it, its `Cargo.toml`, its workspace's, and its
//! `kernelmill.toml`.

use super::{
    toml_text::{TomlText, entry},
    tool_limits,
};
use crate::{
    base::{environment::BuildEnvironment, error::Error, paths, report::Report},
    tuning,
};
use cargo_metadata::MetadataCommand;
use kernelmill_artifact::target::nearest_within;
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{ToolLimits, limit_told};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use toml::de::{DeTable, DeValue};

/// The package that is built.
pub(crate) struct Package {
    /// Its folder.
    pub(crate) root: PathBuf,
    pub(crate) name: String,
    /// The part of its version that Cargo keeps apart in one program: `1`, `0.3`, `0.0.2`.
    pub(crate) major: String,
    /// The edition that its kernels are compiled in.
    pub(crate) edition: String,
    /// Its features, and the names that `RUSTFLAGS` define, as `--cfg` takes them.
    pub(crate) cfgs: Vec<String>,
    /// Where the build script may write.
    pub(crate) out_dir: PathBuf,
    /// The triple that the application is built for.
    pub(crate) target: String,
    /// What each process of a tool may take.
    pub(crate) limits: ToolLimits,
    pub(crate) rustc: PathBuf,
    /// What that prints for `-vV`, once it was asked.
    pub(crate) rustc_version: OnceLock<String>,
    pub(crate) cargo: PathBuf,
    pub(crate) manifest: TomlText,
    /// `kernelmill.toml` beside `Cargo.toml`.
    pub(crate) settings: Option<TomlText>,
    /// The `Cargo.toml` of the workspace, where it may say something.
    pub(crate) workspace: Option<TomlText>,
    /// The file of tuned launches, where there is one.
    pub(crate) tuning: Option<TomlText>,
}

/// Refuses files whose names are nearly that of the settings' file: whoever wrote one thinks that it counts.
fn refuse_likely_names(root: &Path) -> Result<(), Error> {
    const NAME: &str = "kernelmill.toml";
    let letters = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let files = fs::read_dir(root).into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    let is_likely = |name: &String| {
        let letters = letters(name);
        letters.ends_with(".toml") && nearest_within(&letters, [NAME.to_owned()], 2).is_some()
    };
    let mut likely: Vec<_> = names.filter(is_likely).collect();
    likely.sort();
    let mut report = Report::default();
    for name in likely {
        let message = format!(
            "`{name}` is beside Cargo.toml, and no settings are read from a file of this name"
        );
        report.plain(
            Code::SettingsFile,
            message,
            format!("rename it to `{NAME}`, or, if it has no settings of kernelmill, to a name that is less similar"),
        );
    }
    report.into_result(Error::Settings)
}

/// Warns of a file of settings beside the `Cargo.toml` of a workspace that has no package there, which nobody reads.
fn warn_of_unread(environment: &BuildEnvironment, root: &Path, workspace: &Path) {
    let Some(folder) = workspace.parent().filter(|folder| *folder != root) else { return };
    let settings = folder.join("kernelmill.toml");
    if settings.is_file() && !has_table(workspace, "package") {
        environment.cargo.watch(Path::new(&paths::relative(root, &settings)));
        environment.cargo.warn(&format!(
            "{} is read for no package: the workspace has none in this folder; write what it says as \
             `[workspace.metadata.kernelmill]` in {}, for all packages, or move it beside the Cargo.toml of a package",
            paths::relative(root, &settings),
            paths::relative(root, workspace)
        ));
    }
}

impl Package {
    /// Reads the package that Cargo runs the build script for.
    ///
    /// # Errors
    ///
    /// [`Error::NotInBuildScript`], [`Error::Io`], or [`Error::Toolchain`] where Cargo does not
    /// say which workspace the package is in.
    pub(crate) fn read(environment: &BuildEnvironment) -> Result<Self, Error> {
        let root = paths::normal(Path::new(&environment.given("CARGO_MANIFEST_DIR")?));
        let cargo = PathBuf::from(environment.given("CARGO")?);
        let manifest = TomlText::read(&root, &root.join("Cargo.toml"))?;
        let own_settings = root.join("kernelmill.toml");
        // A link to nothing is there too.
        let is_there = own_settings.symlink_metadata().is_ok();
        if is_there && !own_settings.is_file() {
            let mut report = Report::default();
            let help = "remove it, or put the settings into a file of this name";
            report.plain(
                Code::SettingsFile,
                "`kernelmill.toml` is a folder, a broken link or a special file",
                help,
            );
            return Err(Error::Settings(report));
        }
        if !is_there {
            refuse_likely_names(&root)?;
        }
        let settings = is_there.then(|| TomlText::read(&root, &own_settings)).transpose()?;
        let tuning = root.join(tuning::FILE);
        let tuning = tuning.exists().then(|| TomlText::read(&root, &tuning)).transpose()?;
        let facts = Facts::of(&manifest.text);
        let Workspace { manifest: workspace, edition } =
            Workspace::of(&cargo, &root, &manifest, &facts)?;
        environment.cargo.watch(Path::new("Cargo.toml"));
        if settings.is_some() {
            environment.cargo.watch(Path::new("kernelmill.toml"));
        }
        if tuning.is_some() {
            environment.cargo.watch(Path::new(tuning::FILE));
        }
        let workspaces = match &workspace {
            Some(workspace) => Some(paths::normal(&root.join(&workspace.display))),
            // It says nothing yet.
            None => root
                .ancestors()
                .skip(1)
                .map(|it| it.join("Cargo.toml"))
                .find(|it| has_table(it, "workspace")),
        };
        if let Some(path) = workspaces {
            warn_of_unread(environment, &root, &path);
            environment.cargo.watch(path.strip_prefix(&root).unwrap_or(&path));
        }
        let edition = match facts.edition {
            Edition::Written(edition) => edition,
            Edition::Inherited => edition.unwrap_or_else(|| DEFAULT_EDITION.to_owned()),
        };
        Ok(Self {
            name: environment.given("CARGO_PKG_NAME")?,
            major: compatible_part(&environment.given("CARGO_PKG_VERSION")?),
            edition,
            cfgs: cfgs(environment),
            out_dir: PathBuf::from(environment.given("OUT_DIR")?),
            target: environment.given("TARGET")?,
            limits: tool_limits::read(environment)?,
            rustc: PathBuf::from(environment.given("RUSTC")?),
            rustc_version: OnceLock::new(),
            cargo,
            manifest,
            settings,
            workspace,
            tuning,
            root,
        })
    }

    /// Watches a file or folder, unless the build itself writes it.
    pub(crate) fn watch(&self, environment: &BuildEnvironment, path: &Path) {
        if !path.starts_with(&self.out_dir) {
            environment.cargo.watch(path.strip_prefix(&self.root).unwrap_or(path));
        }
    }
}

/// Whether a `Cargo.toml` has a table of this name, in whatever form it is written.
fn has_table(manifest: &Path, name: &str) -> bool {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    DeTable::parse(&text).is_ok_and(|table| entry(table.get_ref(), name).is_some())
}

/// What Cargo gives `--cfg` for the package, by what it tells build scripts.
fn cfgs(environment: &BuildEnvironment) -> Vec<String> {
    let given = |name| environment.given(name).unwrap_or_default();
    let (features, flags) = (given("CARGO_CFG_FEATURE"), given("CARGO_ENCODED_RUSTFLAGS"));
    let features = features.split(',').filter(|name| !name.is_empty());
    let mut cfgs: Vec<_> = features.map(|name| format!("feature={name:?}")).collect();
    let mut flags = flags.split('\u{1f}');
    while let Some(flag) = flags.next() {
        let cfg = if flag == "--cfg" { flags.next() } else { flag.strip_prefix("--cfg=") };
        cfgs.extend(cfg.map(str::to_owned));
    }
    cfgs
}

/// The edition of a package that names none.
const DEFAULT_EDITION: &str = "2015";

/// What matters of a `Cargo.toml` before its settings are read.
struct Facts {
    edition: Edition,
    /// Whether the text names its workspace's folder.
    names_workspace: bool,
    /// Whether it is that of a workspace.
    is_workspace: bool,
}

enum Edition {
    Written(String),
    Inherited,
}

impl Facts {
    /// A text that is not TOML has no facts: Cargo has read it before, and says so itself.
    fn of(text: &str) -> Self {
        let table = DeTable::parse(text).map(toml::Spanned::into_inner).unwrap_or_default();
        let package = entry(&table, "package").and_then(DeValue::as_table);
        let edition = match package.and_then(|package| entry(package, "edition")) {
            Some(DeValue::String(edition)) => Edition::Written(edition.to_string()),
            Some(_) => Edition::Inherited,
            None => Edition::Written(DEFAULT_EDITION.to_owned()),
        };
        let names_workspace = package.is_some_and(|package| entry(package, "workspace").is_some());
        let is_workspace = entry(&table, "workspace").is_some();
        Self { edition, names_workspace, is_workspace }
    }
}

/// What a package has from its workspace.
#[derive(Default)]
struct Workspace {
    /// The `Cargo.toml` of the workspace, where it may say something.
    manifest: Option<TomlText>,
    /// The edition of the package as Cargo resolves it, where Cargo was asked.
    edition: Option<String>,
}

impl Workspace {
    /// Reads the workspace's `Cargo.toml`, if it may say something about this package. Only then, and
    /// for an inherited edition, is Cargo asked: that takes as long as everything else together.
    fn of(cargo: &Path, root: &Path, manifest: &TomlText, facts: &Facts) -> Result<Self, Error> {
        let inherits = matches!(facts.edition, Edition::Inherited);
        let is_root = facts.is_workspace;
        let may_say_something = |folder: &Path| {
            fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| {
                Facts::of(&text).is_workspace && (inherits || text.contains("metadata"))
            })
        };
        let is_member = facts.names_workspace || root.ancestors().skip(1).any(may_say_something);
        if is_root && !inherits {
            return Ok(Self { manifest: Some(manifest.clone()), edition: None });
        }
        if !is_root && !is_member {
            return Ok(Self::default());
        }
        let own = root.join("Cargo.toml");
        let metadata = MetadataCommand::new()
            .cargo_path(cargo)
            .manifest_path(&own)
            .no_deps()
            .other_options(["--offline".to_owned()])
            .exec()
            .map_err(|error| {
                let error = error.to_string();
                let limit = limit_told(&error);
                Error::Toolchain(format!("`cargo metadata` failed{limit}: {error}"))
            })?;
        let is_own = |package: &&cargo_metadata::Package| {
            paths::normal(package.manifest_path.as_std_path()) == paths::normal(&own)
        };
        let edition = metadata.packages.iter().find(is_own).map(|it| it.edition.to_string());
        let path = metadata.workspace_root.join("Cargo.toml");
        let manifest = TomlText::read(root, path.as_std_path())?;
        Ok(Self { manifest: Some(manifest), edition })
    }
}

/// The part of a version that decides whether Cargo takes two for compatible.
fn compatible_part(version: &str) -> String {
    let mut parts = version.split(['.', '-', '+']);
    let mut kept = vec![parts.next().unwrap_or("0")];
    while kept.len() < 3 && kept.last() == Some(&"0") {
        kept.push(parts.next().unwrap_or("0"));
    }
    kept.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_versions_share_their_part() {
        for (version, part) in [("1.2.3", "1"), ("0.3.9", "0.3"), ("0.0.2-beta", "0.0.2")] {
            assert_eq!(compatible_part(version), part);
        }
    }

    #[test]
    fn editions_are_read_in_every_form() {
        let edition = |text: &str| match Facts::of(text).edition {
            Edition::Written(edition) => edition,
            Edition::Inherited => "inherited".to_owned(),
        };
        assert_eq!(edition("[package]\nedition = \"2024\""), "2024");
        assert_eq!(edition("[package]\nedition.workspace = true"), "inherited");
        assert_eq!(edition("[package]\nname = \"x\""), "2015");
    }
}
