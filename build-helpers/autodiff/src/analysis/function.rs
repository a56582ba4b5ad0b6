//! All analyses of one function, in the order in which they depend on each other.

use kernelmill_llvm::ir::Value;

use super::{
    activity::Activities,
    cfg::Cfg,
    choice::Choices,
    elements::Elements,
    induction::Inductions,
    loops::Loops,
    memory::Memory,
    support::{Facts, unsupported},
};
use crate::{
    Error, Mode, Request, Unsupported,
    rules::{Rules, path},
};

/// The analyses of a prepared function.
pub(crate) struct Analysis<'c> {
    pub(crate) function: Value<'c>,
    pub(crate) cfg: Cfg<'c>,
    pub(crate) memory: Memory<'c>,
    pub(crate) elements: Elements<'c>,
    pub(crate) activities: Activities<'c>,
    pub(crate) loops: Loops,
    pub(crate) inductions: Inductions<'c>,
    pub(crate) choices: Choices<'c>,
}

impl<'c> Analysis<'c> {
    /// Analyses a prepared function.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] with everything that has no derivative.
    pub(crate) fn of(rules: &Rules, request: &Request, function: Value<'c>) -> Result<Self, Error> {
        let unsupported_features =
            |features| Error::Unsupported { function: path(&request.function), features };
        let cfg = Cfg::of(function);
        if cfg.exit.is_none() {
            return Err(Error::Request {
                function: request.function.clone(),
                reason: "it never returns".to_owned(),
            });
        }
        let memory = Memory::of(function, &cfg, rules, request.distinct_pointers);
        let elements = Elements::of(&cfg, &memory);
        let activities = Activities::of(function, &cfg, &memory, rules, request);
        let facts = Facts {
            cfg: &cfg,
            memory: &memory,
            activities: &activities,
            elements: &elements,
            rules,
            mode: request.mode,
            plain_shadows: request.plain_shadows,
        };
        let mut features = unsupported(&facts);
        let loops = match Loops::of(&cfg) {
            Ok(loops) => loops,
            Err(_) if request.mode == Mode::Forward => Loops::none(&cfg),
            Err(block) => {
                if let Some(last) = cfg.blocks[block].terminator() {
                    let message = "a loop has several entries or several back edges; reverse mode needs one of \
                                   each";
                    features.push(Unsupported::at(last, message));
                }
                Loops::none(&cfg)
            }
        };
        if !features.is_empty() {
            return Err(unsupported_features(features));
        }
        let inductions = Inductions::of(&cfg, &loops);
        let choices = Choices::default();
        Ok(Self { function, cfg, memory, elements, activities, loops, inductions, choices })
    }
}
