//! A stage of the pipeline, and the loop that runs stages.

use kernelmill_llvm::crash;

use super::{
    capture::Capture,
    session::{Goal, Session},
};
use crate::{Error, code::CodeStage, job::Options, plugin};

/// What a caller asks of the pipeline: stages say by it whether they are wanted.
pub(super) struct Request<'a> {
    pub(super) goal: Goal,
    pub(super) options: &'a Options,
}

/// A stage: a function over the session, whether a request wants it, and the plugins that work after
/// it.
pub(super) struct Stage {
    /// What it does, for the report of a crash.
    name: &'static str,
    run: fn(&mut Session<'_, '_>) -> Result<(), Error>,
    is_wanted: fn(&Request<'_>) -> bool,
    /// Runs whether the stage itself is wanted or not.
    hook: Option<plugin::Stage>,
    /// The form that code has after it and its plugins, whether it is wanted or not.
    code: Option<CodeStage>,
}

/// A stage that every request wants.
pub(super) const fn run(
    name: &'static str,
    run: fn(&mut Session<'_, '_>) -> Result<(), Error>,
) -> Stage {
    Stage { name, run, is_wanted: |_| true, hook: None, code: None }
}

impl Stage {
    /// The stage, where a request wants it.
    pub(super) const fn when(self, is_wanted: fn(&Request<'_>) -> bool) -> Self {
        Self { is_wanted, ..self }
    }

    /// The stage, with plugins after it.
    pub(super) const fn then(self, hook: plugin::Stage) -> Self {
        Self { hook: Some(hook), ..self }
    }

    /// The stage, after which code has this form.
    pub(super) const fn shows(self, code: CodeStage) -> Self {
        Self { code: Some(code), ..self }
    }
}

/// Runs the stages that are wanted, and after each the plugins that work there.
pub(super) fn run_all(
    stages: &[Stage],
    session: &mut Session<'_, '_>,
    (goal, capture): (Goal, &Capture),
) -> Result<(), Error> {
    let request = Request { goal, options: &session.job.config.options };
    for stage in stages {
        if (stage.is_wanted)(&request) {
            crash::step(stage.name);
            (stage.run)(session)?;
        }
        if let Some(hook) = stage.hook {
            crash::step("plugins");
            session.tools.plugins.run(hook, session.context, session.module, &session.site)?;
        }
        if let Some(code) = stage.code {
            capture.take(session, code)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::STAGES;

    /// The order that `docs/src/internals/compiler.md` promises, with the hooks of plugins.
    ///
    /// Acceptance: S0.10.
    #[test]
    fn stages_and_hooks_run_in_the_order_that_is_promised() {
        let names = STAGES.iter().flat_map(|stage| {
            let hook = stage.hook.map(|hook| format!("{hook:?}"));
            [Some(stage.name.to_owned()), hook].into_iter().flatten()
        });
        let promised = [
            "linking of the source",
            "rules of marked code",
            "FrontEnd",
            "linking of libraries",
            "linking of operations",
            "Finalize",
            "passing of launch state",
            "creation of entries",
            "internalisation",
            "MidPipeline",
            "optimisation",
            "Optimized",
            "workarounds",
            "Late",
            "check of markers",
            "validation",
        ];
        let found: Vec<_> = names.filter(|name| promised.contains(&&**name)).collect();
        assert_eq!(found, promised);
    }
}
