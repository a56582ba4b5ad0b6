//! Points of the acceptance table, as `docs/acceptance.toml` has them.

use serde::Deserialize;

/// The points of one origin, with consecutive numbers from 1.
pub(super) struct Section {
    /// What stands before the number.
    pub(super) prefix: &'static str,
    /// How many points there are.
    pub(super) count: usize,
    /// What they are about.
    pub(super) title: &'static str,
}

/// All points that there are, in the order of the page.
pub(super) const SECTIONS: [Section; 6] = [
    Section { prefix: "S0.", count: 13, title: "Compiler core" },
    Section { prefix: "S1.", count: 13, title: "External device functions" },
    Section { prefix: "S2.", count: 12, title: "Plugins" },
    Section { prefix: "S3.", count: 14, title: "Compiled kernels" },
    Section { prefix: "S4.", count: 13, title: "Module cache" },
    Section { prefix: "C", count: 25, title: "Checks of other projects" },
];

impl Section {
    /// The identifiers of its points.
    pub(super) fn ids(&self) -> impl Iterator<Item = String> {
        (1..=self.count).map(|number| format!("{}{number}", self.prefix))
    }
}

/// The content of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Table {
    /// Every point.
    #[serde(default)]
    pub(super) point: Vec<Point>,
    /// Points that were broken by hand.
    #[serde(default)]
    pub(super) broken: Vec<Broken>,
}

/// A point. At most one of the reasons is given.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Point {
    /// Its identifier: `S2.1` or `C22`.
    pub(super) id: String,
    /// What it asks, in a sentence.
    pub(super) asks: String,
    /// Why it has no tests: what is not built.
    pub(super) open: Option<String>,
    /// What its tests leave out.
    pub(super) partly: Option<String>,
    /// Why it has no meaning here. Tests may show how its purpose is met otherwise.
    pub(super) not_applicable: Option<String>,
    /// The file of the decision that says so, below `docs/src/adr`.
    pub(super) adr: Option<String>,
}

/// A change that breaks a point, and a test that was seen to fail with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Broken {
    /// The identifier of the point.
    pub(super) point: String,
    /// What was changed, and where.
    pub(super) change: String,
    /// The name of the test's function.
    pub(super) test: String,
}

impl Table {
    /// The point with an identifier.
    pub(super) fn find(&self, id: &str) -> Option<&Point> {
        self.point.iter().find(|point| point.id == id)
    }
}
