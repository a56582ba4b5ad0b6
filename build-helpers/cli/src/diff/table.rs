//! The comparison of two builds: a row for each kernel and target, with its numbers before and now.

use super::code::{Code, Kernels};
use crate::report::text;
use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, fs, iter, process::Command};

/// What has become of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The same code, and the same numbers.
    Same,
    /// Other code or other numbers.
    Changed,
    /// Another binary with the same numbers, of whose code there is no text.
    Rebuilt,
    /// It was not there before.
    New,
    /// It is not there any more.
    Gone,
}

impl Change {
    /// Its word, in texts and in JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Rebuilt => "rebuilt",
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// A kernel and target of one build or both.
pub(super) struct Row<'k> {
    /// The target, as settings write it.
    pub(super) target: &'k str,
    /// The name of the wrapper.
    pub(super) kernel: &'k str,
    /// What has become of it.
    pub(super) change: Change,
    /// The numbers that differ: what, before, now.
    pub(super) numbers: Vec<(&'static str, String, String)>,
    before: Option<&'k Code>,
    now: Option<&'k Code>,
}

/// The rows, by target and name.
pub(super) struct Table<'k> {
    /// The rows.
    pub(super) rows: Vec<Row<'k>>,
}

impl<'k> Table<'k> {
    /// Compares two builds.
    pub(super) fn new(before: &'k Kernels, now: &'k Kernels) -> Self {
        let keys: BTreeSet<_> = before.keys().chain(now.keys()).collect();
        let row = |key: &'k (String, String)| Row::new(key, before.get(key), now.get(key));
        Self { rows: keys.into_iter().map(row).collect() }
    }

    /// Whether any kernel has changed, is new or is gone. One that may have changed counts: a check that passes says that
    /// none has.
    pub(super) fn has_changes(&self) -> bool {
        self.rows.iter().any(|row| row.change != Change::Same)
    }

    /// Prints a line for each kernel, and the lines of code that differ where they are asked for.
    pub(super) fn print(&self, with_text: bool) -> Result<()> {
        let mut last = "";
        for row in &self.rows {
            if row.target != last {
                println!("{}:", row.target);
                last = row.target;
            }
            let (word, kernel) = (row.change.word(), row.kernel);
            match row.summary() {
                Some(summary) => println!("  {word:<8} {kernel}: {summary}"),
                None => println!("  {word:<8} {kernel}"),
            }
            if with_text {
                print!("{}", row.lines()?);
            }
        }
        Ok(())
    }

    /// `{"sm_90": {"saxpy": {"change": "changed", "registers": {"before": "12", "now": "16"}}}}`, in words of
    /// [`Row::numbers`].
    pub(super) fn as_json(&self) -> Value {
        let mut targets = Map::new();
        for row in &self.rows {
            let mut facts = Map::from_iter([("change".to_owned(), json!(row.change.word()))]);
            for (what, before, now) in &row.numbers {
                let value =
                    |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |it| json!(it));
                facts.insert(
                    what.replace(' ', "_"),
                    json!({ "before": value(before), "now": value(now) }),
                );
            }
            let kernels = targets.entry(row.target).or_insert_with(|| json!({}));
            kernels[row.kernel] = Value::Object(facts);
        }
        Value::Object(targets)
    }
}

impl<'k> Row<'k> {
    fn new(
        (target, kernel): &'k (String, String),
        before: Option<&'k Code>,
        now: Option<&'k Code>,
    ) -> Self {
        let mut numbers = match (before, now) {
            (Some(before), Some(now)) => numbers(before, now),
            _ => Vec::new(),
        };
        let change = match (before, now) {
            (None, _) => Change::New,
            (_, None) => Change::Gone,
            (Some(before), Some(now)) if before.text.is_some() && now.text.is_some() => {
                let is_same = before.text == now.text && numbers.is_empty();
                if is_same { Change::Same } else { Change::Changed }
            }
            (Some(before), Some(now)) if before.fingerprint == now.fingerprint => Change::Same,
            _ if !numbers.is_empty() => Change::Changed,
            (Some(before), Some(now)) => match is_same_binary(before, now) {
                true => Change::Same,
                false => Change::Rebuilt,
            },
        };
        // Other kernels and line tables are in a binary too, so that its size alone is no change.
        if let (Change::Changed | Change::Rebuilt, Some(before), Some(now)) = (change, before, now)
            && before.bytes != now.bytes
        {
            numbers.push(("bytes", before.bytes.to_string(), now.bytes.to_string()));
        }
        Self { target, kernel, change, numbers, before, now }
    }

    /// What changed in numbers: `registers 12 -> 16, instructions 40 -> 44`.
    pub(super) fn summary(&self) -> Option<String> {
        let parts: Vec<_> = self
            .numbers
            .iter()
            .map(|(what, before, now)| format!("{what} {before} -> {now}"))
            .collect();
        match self.change {
            Change::Changed if parts.is_empty() => Some("other code of the same size".to_owned()),
            Change::Changed => Some(parts.join(", ")),
            Change::Rebuilt => {
                let why = "another binary with the same resources; there is no text of its code";
                let parts = iter::once(why.to_owned()).chain(parts);
                Some(parts.collect::<Vec<_>>().join(", "))
            }
            Change::Same | Change::New | Change::Gone => None,
        }
    }

    /// The lines that differ, as git prints them; empty where there are none.
    pub(super) fn lines(&self) -> Result<String> {
        let text = |code: Option<&'k Code>| code.and_then(|code| code.text.as_deref());
        let (Some(before), Some(now)) = (text(self.before), text(self.now)) else {
            return Ok(String::new());
        };
        if before == now {
            return Ok(String::new());
        }
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        fs::write(folder.path().join("before"), before)?;
        fs::write(folder.path().join("now"), now)?;
        let mut command = Command::new("git");
        command.args(["diff", "--no-index", "--no-prefix", "--no-color", "before", "now"]);
        // It ends with 1 where files differ.
        let output = command.current_dir(&folder).output().context("git cannot be started")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Whether two binaries that are not printed have the same bytes.
fn is_same_binary(before: &Code, now: &Code) -> bool {
    !before.binary.is_empty() && before.binary == now.binary
}

/// The numbers that differ.
fn numbers(before: &Code, now: &Code) -> Vec<(&'static str, String, String)> {
    let mut parts = Vec::new();
    let mut compare = |what, before: String, now: String| {
        if before != now {
            parts.push((what, before, now));
        }
    };
    let (old, new) = (before.usage.resources, now.usage.resources);
    compare("registers", text(old.registers), text(new.registers));
    compare("scalar registers", text(old.scalar_registers), text(new.scalar_registers));
    compare("spilled registers", text(old.spilled_registers), text(new.spilled_registers));
    compare("spill stores", text(old.spill_stores), text(new.spill_stores));
    compare("spill loads", text(old.spill_loads), text(new.spill_loads));
    compare("stack", before.usage.stack_text(), now.usage.stack_text());
    compare("shared", text(old.static_shared_bytes), text(new.static_shared_bytes));
    compare("constant", text(old.constant_bytes), text(new.constant_bytes));
    compare("max threads", text(old.max_threads), text(new.max_threads));
    compare("local", text(before.usage.local), text(now.usage.local));
    compare("instructions", text(before.usage.instructions), text(now.usage.instructions));
    if let (None, Some(before), Some(now)) = (before.usage.instructions, &before.text, &now.text) {
        let lines = |text: &str| text.lines().count().to_string();
        compare("lines", lines(before), lines(now));
    }
    let strategy = |code: &Code| text(code.strategy.as_ref());
    compare("strategy", strategy(before), strategy(now));
    parts
}

#[cfg(test)]
mod tests {
    use super::{Change, Code, Row, Table};
    use crate::report::Usage;

    fn code(registers: u32, instructions: usize) -> Code {
        let mut usage = Usage { instructions: Some(instructions), ..Usage::default() };
        usage.resources.registers = Some(registers);
        usage.resources.spill_stores = Some(registers - 8);
        Code { text: Some(format!("{registers} {instructions}")), usage, ..Code::default() }
    }

    fn summary(before: &Code, now: &Code) -> (Change, Option<String>) {
        let key = ("sm_90".to_owned(), "saxpy".to_owned());
        let row = Row::new(&key, Some(before), Some(now));
        (row.change, row.summary())
    }

    /// Acceptance: S3.14.
    #[test]
    fn only_numbers_that_differ_are_said() {
        let said = |before, now| summary(&before, &now).1.unwrap_or_default();
        assert_eq!(said(code(8, 20), code(12, 20)), "registers 8 -> 12, spill stores 0 -> 4");
        assert_eq!(said(code(8, 20), code(8, 22)), "instructions 20 -> 22");
        let other = Code { text: Some("x".to_owned()), ..code(8, 20) };
        assert_eq!(said(code(8, 20), other), "other code of the same size");
        assert_eq!(summary(&code(8, 20), &code(8, 20)), (Change::Same, None));
        // The size of the binary is said, and is no change by itself.
        let larger = |of: Code| Code { bytes: 8, ..of };
        assert_eq!(summary(&code(8, 20), &larger(code(8, 20))), (Change::Same, None));
        assert_eq!(said(code(8, 20), larger(code(8, 22))), "instructions 20 -> 22, bytes 0 -> 8");
        let mut other = code(8, 20);
        (other.usage.resources.constant_bytes, other.usage.resources.max_threads) =
            (Some(16), Some(512));
        assert_eq!(said(code(8, 20), other), "constant - -> 16, max threads - -> 512");
    }

    #[test]
    fn code_that_is_not_printed_is_compared_by_resources_and_fingerprint() {
        let object = |fingerprint: &str, strategy: &str| Code {
            text: None,
            fingerprint: fingerprint.to_owned(),
            binary: fingerprint.into(),
            strategy: Some(strategy.to_owned()),
            ..Code::default()
        };
        let before = object("1", "thread loop");
        assert_eq!(summary(&before, &object("1", "thread loop")).0, Change::Same);
        assert_eq!(summary(&before, &object("2", "thread loop")).0, Change::Rebuilt);
        let larger = Code { bytes: 8, ..object("2", "thread loop") };
        let said = summary(&before, &larger).1.unwrap_or_default();
        assert!(said.ends_with("no text of its code, bytes 0 -> 8"), "{said}");
        // Its sources and settings are others, and what came of them is not.
        let again = Code { binary: before.binary.clone(), ..object("2", "thread loop") };
        assert_eq!(summary(&before, &again), (Change::Same, None));
        let (change, said) = summary(&before, &object("2", "coroutine"));
        assert_eq!(change, Change::Changed);
        assert_eq!(said.as_deref(), Some("strategy thread loop -> coroutine"));
    }

    #[test]
    fn json_has_a_member_for_each_target_and_kernel() {
        let key = |name: &str| ("sm_90".to_owned(), name.to_owned());
        let before = [(key("a"), code(8, 20)), (key("b"), code(8, 20))].into();
        let now = [(key("a"), code(12, 20)), (key("c"), code(8, 20))].into();
        let table = Table::new(&before, &now);
        assert!(table.has_changes());
        let expected = serde_json::json!({ "sm_90": {
            "a": { "change": "changed", "registers": { "before": 8, "now": 12 },
                   "spill_stores": { "before": 0, "now": 4 } },
            "b": { "change": "gone" },
            "c": { "change": "new" },
        } });
        assert_eq!(table.as_json(), expected);
        assert!(!Table::new(&now, &now).has_changes());
        // What may have changed counts.
        let object = |fingerprint: &str| Code {
            fingerprint: fingerprint.to_owned(),
            binary: fingerprint.into(),
            ..Code::default()
        };
        let (before, now) = ([(key("a"), object("1"))].into(), [(key("a"), object("2"))].into());
        assert!(Table::new(&before, &now).has_changes());
    }
}
