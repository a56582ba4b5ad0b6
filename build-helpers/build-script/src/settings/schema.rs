//! The JSON schema of the settings, for editors.
//!
//! The schema is a file of this package, `kernelmill.schema.json`, in [draft 7](https://json-schema.org/draft-07), which
//! editors' TOML support reads. Guaranteed, and tested: it has the keys of the reader (`super::toml_reader`) and no others,
//! each with examples that the reader accepts, and it refuses nothing that the reader accepts. `schema_tests` compares both by
//! Taplo, which editors use. The reader checks more, for example the names of targets.

use serde_json::{Value, json};

/// The JSON schema (draft 7) of `kernelmill.toml` and of the table `[package.metadata.kernelmill]`.
///
/// ```
/// let schema: serde_json::Value = serde_json::from_str(kernelmill_build::SETTINGS_SCHEMA)?;
/// assert!(schema["properties"]["targets"].is_object());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub const SETTINGS_SCHEMA: &str = include_str!("../../kernelmill.schema.json");

/// The JSON schema (draft 7) of a `Cargo.toml`, which checks the tables of settings in it, `[package.metadata.kernelmill]` and
/// `[workspace.metadata.kernelmill]`, and leaves the rest to Cargo.
///
/// ```
/// let schema: serde_json::Value = serde_json::from_str(&kernelmill_build::manifest_schema())?;
/// assert!(schema["properties"]["package"].is_object());
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Panics
///
/// Never: [`SETTINGS_SCHEMA`] is JSON.
#[must_use]
pub fn manifest_schema() -> String {
    let mut settings: Value =
        serde_json::from_str(SETTINGS_SCHEMA).expect("a test reads the schema");
    let schema = settings["$schema"].take();
    // References are what they were, as the definitions are those of the settings.
    let mut definitions = settings["definitions"].take();
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|_, rule| !rule.is_null());
    }
    definitions["settings"] = settings;
    let own = json!({ "$ref": "#/definitions/settings" });
    let table = json!({ "properties": { "metadata": { "properties": { "kernelmill": own } } } });
    let manifest = json!({
        "$schema": schema,
        "title": "The settings of kernelmill in Cargo.toml",
        "type": "object",
        "properties": { "package": table, "workspace": table },
        "definitions": definitions,
    });
    format!("{manifest:#}")
}

#[cfg(test)]
mod tests {
    use super::SETTINGS_SCHEMA;
    use crate::{
        base::report::Report,
        settings::{
            kernel::KERNEL_KEYS,
            sources::SOURCE_KEYS,
            toml_reader::{KEYS, table_at},
            toml_text::TomlText,
        },
    };
    use kernelmill_artifact::Target;
    use serde_json::{Map, Value, json};
    use std::{collections::BTreeSet, mem::discriminant};

    fn schema() -> Value {
        serde_json::from_str(SETTINGS_SCHEMA).unwrap()
    }

    /// A JSON value in TOML: an object becomes an inline table.
    fn toml(value: &Value) -> String {
        let Value::Object(entries) = value else {
            return match value {
                Value::Array(items) => {
                    format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", "))
                }
                _ => value.to_string(),
            };
        };
        let entries = entries.iter().map(|(key, value)| format!("{key:?} = {}", toml(value)));
        format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
    }

    /// What the reader says of a file with this one key, in this table.
    fn faults(key: &str, value: &Value, table: &str) -> Report {
        let text = format!("{table}{key} = {}\n", toml(value)).into();
        let mut report = Report::default();
        let file = TomlText { display: "kernelmill.toml".to_owned(), text };
        table_at(&file, &[], &mut report).expect("it is TOML");
        report
    }

    /// Whether a value is valid by the part of the schema language that the schema uses.
    fn is_valid(root: &Value, schema: &Value, value: &Value) -> bool {
        let number = |key: &str| schema[key].as_u64();
        let length = value.as_array().map_or(0, Vec::len) as u64;
        schema.as_object().unwrap().iter().all(|(key, rule)| match key.as_str() {
            "$ref" => {
                let path = rule.as_str().unwrap().strip_prefix('#').unwrap();
                is_valid(root, root.pointer(path).expect("the definition is there"), value)
            }
            "type" => match rule {
                Value::Array(names) => names.iter().any(|name| is_type(name, value)),
                name => is_type(name, value),
            },
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "anyOf" => rule.as_array().unwrap().iter().any(|any| is_valid(root, any, value)),
            "minimum" => value.as_i64().is_none_or(|it| it >= rule.as_i64().unwrap()),
            "maximum" => value.as_i64().is_none_or(|it| it <= rule.as_i64().unwrap()),
            "minLength" => value.as_str().is_none_or(|it| Some(it.len() as u64) >= number(key)),
            "minItems" => !value.is_array() || Some(length) >= number(key),
            "maxItems" => !value.is_array() || Some(length) <= number(key),
            "items" => value.as_array().into_iter().flatten().all(|it| is_valid(root, rule, it)),
            "properties" => entries(value).all(|(name, value)| {
                rule.get(name).is_none_or(|property| is_valid(root, property, value))
            }),
            "additionalProperties" => {
                let more =
                    entries(value).filter(|(name, _)| schema["properties"].get(name).is_none());
                match rule {
                    Value::Bool(is_allowed) => *is_allowed || more.count() == 0,
                    rule => more.into_iter().all(|(_, value)| is_valid(root, rule, value)),
                }
            }
            "$schema" | "title" | "description" | "default" | "examples" | "definitions" => true,
            other => panic!("the test does not know `{other}`"),
        })
    }

    fn is_type(name: &Value, value: &Value) -> bool {
        match name.as_str().unwrap() {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64(),
            "boolean" => value.is_boolean(),
            other => panic!("the test does not know the type `{other}`"),
        }
    }

    fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
        value.as_object().into_iter().flatten()
    }

    /// The properties of a package, of a kernel and of a source, each with the keys of the reader and the head of the
    /// table that they are in.
    fn properties(
        schema: &Value,
    ) -> Vec<(Map<String, Value>, &'static [&'static str], &'static str)> {
        let at = |pointer: &str| schema.pointer(pointer).unwrap().as_object().unwrap().clone();
        vec![
            (at("/properties"), &KEYS, ""),
            (at("/definitions/kernel/properties"), &KERNEL_KEYS, "[kernels.saxpy]\n"),
            (
                at("/definitions/source/properties"),
                &SOURCE_KEYS,
                "[sources.\"kernels/saxpy.cu\"]\n",
            ),
        ]
    }

    #[test]
    fn the_schema_has_the_keys_of_the_reader() {
        let schema = schema();
        for (properties, keys, _) in properties(&schema) {
            let known: BTreeSet<&str> = keys.iter().copied().collect();
            let named: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
            assert_eq!(named, known);
            assert!(properties.values().all(|property| property["description"].is_string()));
        }
    }

    /// The crate's own page on docs.rs.
    #[test]
    fn the_documentation_of_the_crate_has_every_key_and_kind_of_target() {
        let text = include_str!("../lib.rs");
        let line = |start: &str| {
            let found = text.lines().find(|line| line.starts_with(&format!("//! | `{start}`")));
            found.unwrap_or_else(|| panic!("no row for `{start}`"))
        };
        for key in KEYS.iter().filter(|key| !["kernels", "sources"].contains(*key)) {
            let _ = line(key);
        }
        for (row, keys) in [("kernels.NAME", &KERNEL_KEYS[..]), ("sources", &SOURCE_KEYS)] {
            for key in keys {
                assert!(line(row).contains(&format!("`{key}`")), "{row}.{key}");
            }
        }
        let (_, targets) = text.split_once("//! Targets:").expect("a list");
        let (targets, _) = targets.split_once("//! Also read:").expect("its end");
        let named: Vec<Target> =
            targets.split('`').skip(1).step_by(2).filter_map(|name| name.parse().ok()).collect();
        for target in Target::all() {
            let is_named = named.iter().any(|it| discriminant(it) == discriminant(&target));
            assert!(is_named, "no target like `{target}`");
        }
    }

    #[test]
    fn examples_and_defaults_are_valid_and_accepted_by_the_reader() {
        let schema = schema();
        for (properties, _, table) in properties(&schema) {
            for (key, property) in properties {
                let examples = property["examples"].as_array().expect("there are examples");
                assert!(!examples.is_empty(), "{key}");
                for value in examples.iter().chain(property.get("default")) {
                    let report = faults(&key, value, table);
                    assert!(report.is_empty(), "{key}: {report}");
                    assert!(is_valid(&schema, &property, value), "{key} = {value}");
                }
            }
        }
    }

    #[test]
    fn the_schema_refuses_nothing_that_the_reader_accepts() {
        let schema = schema();
        let mut refused = 0;
        let values = json!([
            true, false, -1, 0, 1, 3, 4, 4_294_967_295_u32, 4_294_967_296_u64, "", "x", "cpu", "own", "auto",
            "none", 1.5, [], ["cpu"], ["cpu", "sm_90"], [1], [1, 1, 1], [1, 1, 0], [1, 1, 1, 1], ["cpu", 1], {},
            { "x": "y" }, { "x": 1 }, { "x": true }, { "x": false }, { "x": 1.5 }, { "x": [] }, { "x": {} },
            { "strip": true }, { "x": { "name": "y" } }, { "x": { "targets": [] } }, { "x": { "min-blocks": 0 } },
        ]);
        for (properties, _, table) in properties(&schema) {
            for (key, property) in properties {
                for value in values.as_array().unwrap() {
                    let is_valid = is_valid(&schema, &property, value);
                    let is_accepted = faults(&key, value, table).is_empty();
                    assert!(is_valid || !is_accepted, "{key} = {value}");
                    refused += usize::from(!is_valid);
                }
            }
        }
        assert!(refused > 500, "the schema refuses {refused} wrong values");
    }
}
