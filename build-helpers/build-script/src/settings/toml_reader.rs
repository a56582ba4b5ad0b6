//! Reader of settings in TOML.

use super::{
    checks,
    choices::{
        CudaCompiler, ExcessSpills, MATH_LIBRARIES, PANIC_LEVELS, math_library, panic_level,
    },
    contract::Origin,
    kernel::KERNEL_KEYS,
    layer::{KernelLayer, Layer, RuleText, TargetName},
    located::MappedType,
    toml_text::{TomlText, entry},
    unknown_target,
};
use crate::base::report::{Report, place};
use kernelmill_artifact::{
    Target,
    target::{nearest, nearest_within},
};
use kernelmill_compiler::diagnostic::Code;
use kernelmill_compiler::{Options, diagnostic::Diagnostic};
use std::{collections::BTreeMap, ops::Range};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The settings in a file's table of this name, `None` where there is no such table.
pub(super) fn table_at(file: &TomlText, path: &[&str], report: &mut Report) -> Option<Layer> {
    let document = match DeTable::parse(&file.text) {
        Ok(document) => document.into_inner(),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            report.add_text(&file.display, file.text.clone());
            let place = place(&file.display, &file.text, span);
            report.diagnostic(Diagnostic::error(Code::SettingsFile, place, error.message()));
            return None;
        }
    };
    let mut table = &document;
    for (depth, name) in path.iter().enumerate() {
        if *name == TABLE {
            warn_of_typo(file, table, path, report);
        }
        let value = entry(table, name)?;
        match value {
            DeValue::Table(inner) => table = inner,
            _ if depth + 1 == path.len() => {
                let message = format!("`{}` in {} is not a table", path.join("."), file.display);
                let span =
                    table.iter().find(|(key, _)| key.get_ref() == name).map(|(key, _)| key.span());
                let mut reader = Reader { file, report };
                reader.report(
                    Code::SettingsFile,
                    span.unwrap_or_default(),
                    message,
                    format!("write `[{}]`", path.join(".")),
                );
                return None;
            }
            _ => return None,
        }
    }
    let mut reader = Reader { file, report };
    Some(reader.layer(table))
}

/// The name of kernelmill's tables.
const TABLE: &str = "kernelmill";

/// Reports a table whose name is nearly kernelmill's: whoever wrote it thinks that it counts. Beside kernelmill's own
/// a longer name is another's: a plugin's.
fn warn_of_typo(file: &TomlText, table: &DeTable<'_>, path: &[&str], report: &mut Report) {
    let letters = |name: &str| name.to_lowercase().replace(['-', '_', ' '], "");
    let has_own = entry(table, TABLE).is_some();
    let is_typo = |name: &str| {
        let may_be_another = has_own && letters(name).len() > TABLE.len();
        name != TABLE
            && !may_be_another
            && nearest_within(&letters(name), [TABLE.to_owned()], 2).is_some()
    };
    for (name, _) in in_source_order(table) {
        let written = name.get_ref();
        if is_typo(written) {
            let message = format!("unknown table `{written}` in {}", file.display);
            let help = format!("kernelmill's settings are in `[{}]`", path.join("."));
            let mut reader = Reader { file, report: &mut *report };
            reader.report(Code::UnknownSetting, name.span(), message, help);
        }
    }
}

mod sources;
mod thresholds;
mod variants;

type Key<'t, 'i> = (&'t str, &'t Spanned<DeValue<'i>>);

struct Reader<'r> {
    file: &'r TomlText,
    report: &'r mut Report,
}

impl Reader<'_> {
    fn layer(&mut self, table: &DeTable<'_>) -> Layer {
        let mut layer = Layer::default();
        for (name, value) in in_source_order(table) {
            let key = (name.get_ref().as_ref(), value);
            match key.0 {
                "targets" => layer.targets = Some(self.targets(key)),
                "source-dir" => layer.source_dirs = Some(self.texts(key)),
                "source-files" => layer.source_files = Some(self.texts(key)),
                "source-glob" => layer.source_globs = Some(self.patterns(key)),
                "exclude" => layer.excludes = Some(self.patterns(key)),
                "include" => layer.includes = Some(self.texts(key)),
                "arguments" => layer.arguments = Some(self.arguments(key)),
                "define" => layer.defines = Some(self.definitions(key)),
                "types" => layer.types = Some(self.types(key)),
                "nvcc" => layer.nvcc = self.text(key),
                "clang" => layer.clang = self.text(key),
                "host-files" => layer.host_files = Some(self.patterns(key)),
                "device-libraries" => layer.device_libraries = Some(self.texts(key)),
                "thresholds" => layer.thresholds = self.thresholds(key),
                "fma" => layer.fma = self.flag(key),
                "rdc" => layer.rdc = self.flag(key),
                "options" => layer.options = Some(self.options(key)),
                "kernels" => layer.kernels = Some(self.kernels(key)),
                "sources" => layer.sources = Some(self.sources(key)),
                "optimization" => match level(value.get_ref()) {
                    Some(level) => layer.optimization = Some(level),
                    None => self.wrong(key.0, value, "a level from 0 to 3"),
                },
                "panics" => match value.get_ref().as_str().and_then(panic_level) {
                    Some(level) => layer.panics = Some(level),
                    None => self.wrong(key.0, value, PANIC_LEVELS),
                },
                "math" => match value.get_ref().as_str().and_then(math_library) {
                    Some(library) => layer.math = Some(library),
                    None => self.wrong(key.0, value, MATH_LIBRARIES),
                },
                "max-spills" => match number(value.get_ref()) {
                    Some(bytes) => layer.max_spills = Some(bytes),
                    None => self.wrong(key.0, value, "a number of bytes, 0 or more"),
                },
                "excess-spills" => match value.get_ref().as_str().and_then(ExcessSpills::named) {
                    Some(choice) => layer.excess_spills = Some(choice),
                    None => self.wrong(key.0, value, ExcessSpills::NAMES),
                },
                "cuda-compiler" => match value.get_ref().as_str().and_then(CudaCompiler::named) {
                    Some(compiler) => layer.cuda_compiler = Some(compiler),
                    None => self.wrong(key.0, value, CudaCompiler::NAMES),
                },
                unknown => self.unknown(unknown, name.span(), &KEYS),
            }
        }
        layer
    }

    fn flag(&mut self, (name, value): Key<'_, '_>) -> Option<bool> {
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong(name, value, "`true` or `false`");
        }
        flag
    }

    fn text(&mut self, (name, value): Key<'_, '_>) -> Option<String> {
        let text = value.get_ref().as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.wrong(name, value, "a string");
        }
        text.map(str::to_owned)
    }

    /// A text, or a list of texts, with where each stands.
    fn spanned(&mut self, (name, value): Key<'_, '_>) -> Vec<(String, Range<usize>)> {
        let items = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![value],
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((text.to_owned(), item.span())),
                None => self.wrong(name, item, "a string, or a list of strings"),
            }
        }
        texts
    }

    fn texts(&mut self, key: Key<'_, '_>) -> Vec<String> {
        self.spanned(key).into_iter().map(|(text, _)| text).collect()
    }

    /// Texts that are patterns; those that are none are reported and left out.
    fn patterns(&mut self, key: Key<'_, '_>) -> Vec<String> {
        let mut patterns = Vec::new();
        for (text, span) in self.spanned(key) {
            match checks::pattern(key.0, &text) {
                Ok(_) => patterns.push(text),
                Err(fault) => self.report(fault.code, span, fault.message, fault.help),
            }
        }
        patterns
    }

    /// Arguments of compilers; those that break one are reported.
    fn arguments(&mut self, key: Key<'_, '_>) -> Vec<String> {
        let mut arguments: Vec<String> = Vec::new();
        for (text, span) in self.spanned(key) {
            match checks::argument(arguments.last().map(String::as_str), &text) {
                Ok(()) => arguments.push(text),
                Err(fault) => self.report(fault.code, span, fault.message, fault.help),
            }
        }
        arguments
    }

    /// A table of texts by names.
    fn definitions(&mut self, key: Key<'_, '_>) -> BTreeMap<String, String> {
        let mut definitions = self.table(key);
        for (name, _) in key.1.get_ref().as_table().into_iter().flat_map(in_source_order) {
            if let Err(fault) = checks::definition(name.get_ref()) {
                definitions.remove(name.get_ref().as_ref());
                self.report(fault.code, name.span(), fault.message, fault.help);
            }
        }
        definitions
    }

    fn targets(&mut self, key: Key<'_, '_>) -> Vec<TargetName> {
        let mut targets = Vec::new();
        let written = self.spanned(key);
        if written.is_empty() && key.1.get_ref().is_array() {
            let help = "write at least one, for example `[\"cpu\"]`".to_owned();
            self.report(Code::NoTarget, key.1.span(), "no target is named".to_owned(), help);
        }
        for (text, span) in written {
            let mut parts =
                text.split([',', ';', ' ', '\t', '\n']).filter(|part| !part.is_empty()).peekable();
            if parts.peek().is_none() {
                let help = "write one, for example `cpu`".to_owned();
                self.report(Code::NoTarget, span.clone(), "no target is named".to_owned(), help);
            }
            for part in parts {
                if part != "native"
                    && let Err(error) = Target::parse_entry(part)
                {
                    let help = unknown_target::help(&error);
                    self.report(
                        Code::UnknownTarget,
                        span.clone(),
                        format!("unknown target `{part}`"),
                        help,
                    );
                } else {
                    targets.push(TargetName { text: part.to_owned(), origin: String::new() });
                }
            }
        }
        targets
    }

    /// A table of texts; numbers and truth values count as their texts.
    fn table(&mut self, (name, value): Key<'_, '_>) -> BTreeMap<String, String> {
        let mut entries = BTreeMap::new();
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(name, value, "a table, for example `{ NAME = \"value\" }`");
            return entries;
        };
        for (key, value) in in_source_order(table) {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.as_str().to_owned(),
                DeValue::Boolean(true) => String::new(),
                _ => {
                    self.wrong(name, value, "a string, a number or `true`");
                    continue;
                }
            };
            entries.insert(key.get_ref().to_string(), text);
        }
        entries
    }

    /// A table of types of the package by the names of the kernels' own.
    fn types(&mut self, (name, value): Key<'_, '_>) -> BTreeMap<String, MappedType> {
        let mut types = BTreeMap::new();
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(name, value, "a table, for example `{ Params = \"crate::Params\" }`");
            return types;
        };
        for (key, value) in in_source_order(table) {
            let text = value.get_ref().as_str();
            match text.filter(|text| syn::parse_str::<syn::Type>(text).is_ok()) {
                Some(text) => {
                    let origin = Some(self.origin(key.span()));
                    let given = MappedType { path: text.to_owned(), origin };
                    types.insert(key.get_ref().to_string(), given);
                }
                None => {
                    self.wrong(key.get_ref(), value, "a Rust type, for example \"crate::Params\"")
                }
            }
        }
        types
    }

    /// `[options]`, of the compiler.
    fn options(&mut self, (name, value): Key<'_, '_>) -> BTreeMap<String, String> {
        let mut options = BTreeMap::new();
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(name, value, "a table, for example `{ debug-level = 0 }`");
            return options;
        };
        for (key, value) in in_source_order(table) {
            let text = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(number) => number.as_str().to_owned(),
                DeValue::Boolean(flag) => flag.to_string(),
                _ => {
                    self.wrong(key.get_ref(), value, "a string, a number, `true` or `false`");
                    continue;
                }
            };
            let mut alone = Options::default();
            let set = checks::set_option(&mut alone, key.get_ref(), &text);
            match set.and_then(|()| checks::complete(&alone)) {
                Ok(()) => drop(options.insert(key.get_ref().to_string(), text)),
                Err(fault) => self.report(fault.code, key.span(), fault.message, fault.help),
            }
        }
        options
    }

    /// `[kernels.saxpy]`, a table for each kernel.
    fn kernels(&mut self, (name, value): Key<'_, '_>) -> BTreeMap<String, KernelLayer> {
        let mut kernels = BTreeMap::new();
        let Some(table) = value.get_ref().as_table() else {
            self.wrong(name, value, "a table for each kernel, `[kernels.NAME]`");
            return kernels;
        };
        for (key, value) in in_source_order(table) {
            let Some(table) = value.get_ref().as_table() else {
                self.wrong(key.get_ref(), value, "a table, `[kernels.NAME]`");
                continue;
            };
            let layer = self.kernel(table, key.span());
            kernels.insert(key.get_ref().to_string(), layer);
        }
        kernels
    }

    fn kernel(&mut self, table: &DeTable<'_>, span: Range<usize>) -> KernelLayer {
        let origin = Some(self.origin(span));
        let mut layer = KernelLayer { origin, ..KernelLayer::default() };
        for (name, value) in in_source_order(table) {
            let key = (name.get_ref().as_ref(), value);
            match key.0 {
                "requires" => layer.requires = Some(self.rules(key)),
                "parameters" => layer.parameters = Some(self.rules(key)),
                "instances" => layer.instances = Some(self.rules(key)),
                "variants" => layer.variants = Some(self.variants(key)),
                "targets" => layer.targets = Some(self.targets(key)),
                "name" => match value.get_ref().as_str() {
                    Some(text) => layer.name = Some(text.to_owned()),
                    None => self.wrong(key.0, value, "a string, the name of the wrapper"),
                },
                "launch-bounds" => layer.limits.max_block_threads = self.count(key),
                "min-blocks" => layer.limits.min_blocks = self.count(key),
                "max-registers" => layer.limits.max_registers = self.count(key),
                "index-width" => layer.limits.index_width = self.index_width(key),
                "block-size" => layer.limits.block = self.sizes(key),
                "thresholds" => layer.thresholds = self.thresholds(key),
                "cluster" => layer.limits.cluster = self.sizes(key),
                unknown => self.unknown(unknown, name.span(), &KERNEL_KEYS),
            }
        }
        layer
    }

    /// A number of at least one.
    fn count(&mut self, (name, value): Key<'_, '_>) -> u32 {
        let number = number(value.get_ref()).filter(|number| *number > 0);
        if number.is_none() {
            self.wrong(name, value, "a number of at least 1");
        }
        number.unwrap_or_default()
    }

    /// Three such numbers, x first.
    fn sizes(&mut self, (name, value): Key<'_, '_>) -> [u32; 3] {
        let numbers = value.get_ref().as_array().and_then(|items| {
            let numbers = items.iter().map(|item| number(item.get_ref()));
            numbers.collect::<Option<Vec<_>>>()
        });
        match numbers.as_deref() {
            Some(&[x, y, z]) if x > 0 && y > 0 && z > 0 => [x, y, z],
            _ => {
                self.wrong(name, value, "three numbers of at least 1, for example `[2, 1, 1]`");
                [0; 3]
            }
        }
    }

    fn rules(&mut self, key: Key<'_, '_>) -> Vec<RuleText> {
        let texts = self.spanned(key).into_iter();
        let rule = |(text, span): (String, Range<usize>)| {
            // Without the quotation marks, of which there are one or three.
            let written = self.file.text.get(span.clone()).unwrap_or_default();
            let quotes =
                if written.starts_with("\"\"\"") || written.starts_with("'''") { 3 } else { 1 };
            let origin = Some(self.origin(span.start + quotes..span.end - quotes));
            RuleText { text, origin }
        };
        texts.map(rule).collect()
    }

    fn origin(&self, span: Range<usize>) -> Origin {
        let place = place(&self.file.display, &self.file.text, span);
        Origin { place, file: self.file.text.clone() }
    }

    fn wrong(&mut self, name: &str, value: &Spanned<DeValue<'_>>, expected: &str) {
        let written = self.file.text.get(value.span()).unwrap_or_default();
        let message = format!("`{name}` cannot be {written}");
        self.report(Code::SettingValue, value.span(), message, format!("write {expected}"));
    }

    fn unknown(&mut self, name: &str, span: Range<usize>, keys: &[&str]) {
        let known = keys.iter().map(|key| (*key).to_owned());
        let nearest = nearest(name, known).unwrap_or_default();
        let message = format!("unknown key `{name}`");
        self.report(Code::UnknownSetting, span, message, format!("the nearest is `{nearest}`"));
    }

    fn report(&mut self, code: Code, span: Range<usize>, message: String, help: String) {
        self.report.add_text(&self.file.display, self.file.text.clone());
        let place = place(&self.file.display, &self.file.text, span);
        self.report.diagnostic(Diagnostic::error(code, place, message).help(help));
    }
}

/// A table's entries as they are written: the parser sorts them.
fn in_source_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<std::borrow::Cow<'i, str>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

fn number(value: &DeValue<'_>) -> Option<u32> {
    let number = value.as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

fn level(value: &DeValue<'_>) -> Option<u8> {
    let number = value.as_integer()?;
    let level = u8::from_str_radix(number.as_str(), number.radix()).ok()?;
    (level <= 3).then_some(level)
}

/// The keys, as they are written in TOML.
pub(crate) const KEYS: [&str; 25] = [
    "thresholds",
    "max-spills",
    "excess-spills",
    "targets",
    "source-dir",
    "source-files",
    "source-glob",
    "exclude",
    "include",
    "define",
    "arguments",
    "fma",
    "optimization",
    "panics",
    "math",
    "types",
    "cuda-compiler",
    "nvcc",
    "clang",
    "host-files",
    "rdc",
    "device-libraries",
    "options",
    "kernels",
    "sources",
];
