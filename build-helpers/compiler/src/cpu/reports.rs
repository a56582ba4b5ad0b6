//! The reports of a kernel's passes, on their way to [`PassReport`]s.

use std::cell::RefCell;

use crate::{Pass, PassFact, PassOutcome, PassReport};

/// Adds the reports of passes on a kernel, or on the module.
#[derive(Clone, Copy)]
pub(super) struct Reports<'r> {
    all: &'r RefCell<Vec<PassReport>>,
    kernel: Option<&'r str>,
}

impl<'r> Reports<'r> {
    pub(super) fn of_module(all: &'r RefCell<Vec<PassReport>>) -> Self {
        Self { all, kernel: None }
    }

    pub(super) fn of_kernel(self, kernel: &'r str) -> Self {
        Self { kernel: Some(kernel), ..self }
    }

    /// The kernel as it is called in the source.
    pub(super) fn kernel(&self) -> &'r str {
        self.kernel.unwrap_or("")
    }

    pub(super) fn add(&self, pass: Pass, outcome: PassOutcome, fact: Option<PassFact>) {
        let kernel = self.kernel.map(str::to_owned);
        self.all.borrow_mut().push(PassReport { pass, kernel, outcome, fact });
    }

    /// A pass that ran, and changed so many things.
    pub(super) fn count(&self, pass: Pass, count: u64) {
        self.add(pass, PassOutcome::of(count > 0), Some(PassFact::Count { count }));
    }
}
