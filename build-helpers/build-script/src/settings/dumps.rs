//! Dumps that are asked for: the stages that `KERNELMILL_DUMP` names, and where they go.

use kernelmill_compiler::diagnostic::Code;
use std::{collections::BTreeSet, path::PathBuf};

use super::package::Package;
use crate::{
    base::{environment::BuildEnvironment, report::Report},
    dump::{FOLDER, Stage},
};
use kernelmill_artifact::Target;
use kernelmill_compiler::CodeStage;

const STAGES: &str = "KERNELMILL_DUMP";
const PLACE: &str = "KERNELMILL_DUMP_DIR";

/// The dumps of a build. Nothing that is embedded depends on them.
#[derive(Debug, Default)]
pub(crate) struct Dumps {
    /// None: nothing is dumped.
    pub(crate) stages: BTreeSet<Stage>,
    /// A folder of the user's; otherwise it is in `OUT_DIR`.
    place: Option<PathBuf>,
}

impl Dumps {
    /// Reads the variables; names of stages that there are not are reported.
    pub(super) fn read(environment: &BuildEnvironment, report: &mut Report) -> Self {
        let mut stages = BTreeSet::new();
        let text = environment.text(STAGES).unwrap_or_default();
        for name in text.split([',', ' ']).filter(|name| !name.is_empty()) {
            match name.parse::<Stage>() {
                _ if name == "all" => stages.extend(Stage::ALL),
                Ok(stage) => _ = stages.insert(stage),
                Err(error) => report.plain(
                    Code::Variable,
                    format!("the environment variable {STAGES} has `{name}`: {error}"),
                    "write names of stages with commas between them, or `all`",
                ),
            }
        }
        Self { stages, place: environment.path(PLACE) }
    }

    /// The folder of a package's dumps.
    pub(crate) fn folder(&self, package: &Package) -> PathBuf {
        match &self.place {
            Some(place) => package.root.join(place).join(&package.name),
            None => package.out_dir.join(FOLDER),
        }
    }

    /// Whether the folder is kernelmill's own, which has nothing of anybody else's in it.
    pub(crate) fn is_own(&self) -> bool {
        self.place.is_none()
    }

    /// The stages of the compiler's pipeline that they are of, for a target.
    pub(crate) fn code(&self, target: &Target) -> Vec<CodeStage> {
        let all: Vec<_> = Stage::of_target(target).into_iter().filter_map(code).collect();
        let is_translation = |stage: &CodeStage| CodeStage::TRANSLATIONS.contains(stage);
        self.of(&all).into_iter().filter(|stage| !is_translation(stage)).collect()
    }

    /// The languages that kernels in WGSL are translated to for them.
    pub(crate) fn translations(&self) -> Vec<CodeStage> {
        self.of(&CodeStage::OF_WGSL)
    }

    /// Those of the compiler's stages that are among `all`.
    fn of(&self, all: &[CodeStage]) -> Vec<CodeStage> {
        let stages = self.stages.iter().filter_map(|it| code(*it));
        let mut stages: Vec<_> = stages.filter(|stage| all.contains(stage)).collect();
        stages.dedup();
        stages
    }
}

/// The compiler's stage behind one; `None` for what is made of its binary.
fn code(stage: Stage) -> Option<CodeStage> {
    match stage {
        Stage::Ir => Some(CodeStage::FrontEnd),
        Stage::Linked => Some(CodeStage::Linked),
        Stage::Opt => Some(CodeStage::Optimized),
        Stage::Ptx | Stage::Asm => Some(CodeStage::Assembly),
        Stage::Wgsl => Some(CodeStage::Wgsl),
        Stage::Msl => Some(CodeStage::Msl),
        Stage::Hlsl => Some(CodeStage::Hlsl),
        Stage::Sass => None,
    }
}
