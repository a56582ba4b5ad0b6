//! The selected package, and what its build left.

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{Message, Metadata, MetadataCommand, Package, PackageId};
use clap::Args;
use kernelmill_build::manifest::Manifest;
use std::{
    env,
    io::{self, BufReader, IsTerminal as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Which package.
#[derive(Args)]
pub(crate) struct Selection {
    /// The package of the workspace; by default that of the current folder.
    #[arg(long, short)]
    package: Option<String>,
    /// The manifest of the package or workspace.
    #[arg(long)]
    manifest_path: Option<PathBuf>,
    /// A target folder in place of the package's own.
    #[arg(skip)]
    target_dir: Option<PathBuf>,
    /// Whether Cargo shows on a terminal what it compiles.
    #[arg(skip)]
    shows_progress: bool,
}

/// What the build script of a package left.
pub(crate) struct Built {
    /// The package's name.
    pub(crate) name: String,
    /// Its `OUT_DIR`.
    pub(crate) folder: PathBuf,
    /// The facts of the build.
    pub(crate) manifest: Manifest,
}

impl Built {
    /// The outputs of a build, in its `OUT_DIR` or in a copy of it.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        Ok(Self { name: manifest.package.clone(), folder: folder.to_owned(), manifest })
    }

    /// The file of a binary of the manifest.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// The error for a kernel that there is not.
    pub(crate) fn no_kernel(&self, name: &str) -> anyhow::Error {
        let names: Vec<_> = self.manifest.kernels.iter().map(|it| it.name.as_str()).collect();
        anyhow::anyhow!(
            "the package `{}` has no kernel `{name}`; its kernels are {}",
            self.name,
            names.join(", ")
        )
    }
}

impl Selection {
    /// The package with this manifest, built in a target folder of its own: all of it at first, which takes a while.
    pub(crate) fn of_manifest(manifest: PathBuf, target_dir: PathBuf) -> Self {
        let (manifest_path, target_dir) = (Some(manifest), Some(target_dir));
        Self { package: None, manifest_path, target_dir, shows_progress: true }
    }

    /// Runs `cargo check`, which runs build scripts, for these targets or those of the
    /// configuration.
    pub(crate) fn build(&self, targets: Option<&str>) -> Result<Built> {
        self.build_with(targets, &[])
    }

    /// The same with variables of the environment.
    pub(crate) fn build_with(
        &self,
        targets: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Built> {
        let metadata = self.metadata()?;
        let package =
            self.find(&metadata)?.context("no package is selected: name one with `--package`")?;
        let mut command = Command::new(cargo());
        command.args(["check", "--message-format=json-render-diagnostics"]);
        if !(self.shows_progress && io::stderr().is_terminal()) {
            command.arg("--quiet");
        }
        command.args(["--package", &package.id.repr]);
        command.arg("--manifest-path").arg(&package.manifest_path);
        if let Some(folder) = &self.target_dir {
            command.env("CARGO_TARGET_DIR", folder);
        }
        if let Some(targets) = targets {
            command.env("KERNELMILL_TARGETS", targets);
        }
        command.envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let folder = out_dir(command, &package.id)?;
        let name = package.name.to_string();
        let folder = folder.with_context(|| {
            format!(
                "the package `{name}` has no build script: add a `build.rs` that calls `kernelmill_build::compile()`"
            )
        })?;
        if !folder.join(kernelmill_build::manifest::FILE).is_file() {
            bail!(
                "the build script of the package `{name}` does not call `kernelmill_build::compile()`"
            );
        }
        let manifest = Manifest::read(&folder)?;
        Ok(Built { name, folder, manifest })
    }

    /// Cargo's command for the one package selected.
    pub(crate) fn command(&self, subcommand: &str) -> Result<Command> {
        let metadata = self.metadata()?;
        let package =
            self.find(&metadata)?.context("no package is selected: name one with `--package`")?;
        let mut command = Command::new(cargo());
        command.arg(subcommand).args(["--quiet", "--package", &package.id.repr]);
        command.arg("--manifest-path").arg(&package.manifest_path);
        Ok(command)
    }

    /// The folder of the one package selected; `None` where none is named and none is here.
    pub(crate) fn folder(&self) -> Result<Option<PathBuf>> {
        // Without a package here there is no metadata either.
        let is_named = self.package.is_some() || self.manifest_path.is_some();
        let metadata = match self.metadata() {
            Err(_) if !is_named => return Ok(None),
            metadata => metadata?,
        };
        let package = self.find(&metadata)?;
        Ok(package.and_then(|it| it.manifest_path.parent()).map(PathBuf::from))
    }

    /// The target folder of the workspace.
    pub(crate) fn target_directory(&self) -> Result<PathBuf> {
        Ok(self.metadata()?.target_directory.into_std_path_buf())
    }

    /// What cargo knows of the workspace.
    fn metadata(&self) -> Result<Metadata> {
        let mut command = MetadataCommand::new();
        command.cargo_path(cargo()).no_deps();
        if let Some(path) = &self.manifest_path {
            command.manifest_path(path);
        }
        Ok(command.exec()?)
    }

    /// The one package selected: the one that is named, that of the manifest, or that of the current
    /// folder; `None` where a workspace has none there.
    fn find<'m>(&self, metadata: &'m Metadata) -> Result<Option<&'m Package>> {
        if let Some(name) = &self.package {
            let found = metadata.packages.iter().find(|package| *package.name == **name);
            return found.map(Some).with_context(|| {
                let names: Vec<_> =
                    metadata.packages.iter().map(|it| it.name.to_string()).collect();
                format!(
                    "the workspace has no package `{name}`; its packages are {}",
                    names.join(", ")
                )
            });
        }
        let start = match &self.manifest_path {
            Some(path) => path.canonicalize()?.parent().map(Path::to_owned).unwrap_or_default(),
            None => env::current_dir()?.canonicalize()?,
        };
        let folders: Vec<_> = match self.manifest_path {
            Some(_) => vec![start.as_path()],
            None => start.ancestors().collect(),
        };
        let is_in = |package: &&Package, folder: &Path| {
            let own = package.manifest_path.parent().and_then(|it| it.canonicalize().ok());
            own.is_some_and(|own| own == folder)
        };
        let in_folder = |folder: &&Path| metadata.packages.iter().find(|it| is_in(it, folder));
        Ok(folders.iter().find_map(in_folder))
    }
}

/// The cargo that runs this program, or that on `PATH`.
fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// Runs a build; gives the `OUT_DIR` of a package's build script.
fn out_dir(mut command: Command, package: &PackageId) -> Result<Option<PathBuf>> {
    let mut child = command.spawn().context("cargo cannot be started")?;
    let mut folder = None;
    let printed = child
        .stdout
        .take()
        .context("internal error of kernelmill: cargo's output is not piped; please report it")?;
    for message in Message::parse_stream(BufReader::new(printed)) {
        if let Message::BuildScriptExecuted(script) = message?
            && script.package_id == *package
        {
            folder = Some(script.out_dir.into_std_path_buf());
        }
    }
    if !child.wait()?.success() {
        bail!("the package does not build: cargo's errors are above");
    }
    Ok(folder)
}
