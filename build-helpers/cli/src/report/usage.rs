//! What a kernel takes of its device, and what is counted in its SASS.

use crate::package::Built;
use kernelmill_build::manifest::{Binary, BinaryKind, CompiledKernel, Ptx, Resources};
use serde_json::{Value, json};

/// What a kernel takes, and what is counted in its code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// As the compiler says.
    pub(crate) resources: Resources,
    /// Instructions that read or write the stack; of cubins.
    pub(crate) local: Option<usize>,
    /// All instructions; of cubins.
    pub(crate) instructions: Option<usize>,
}

/// A number as text; `-` where it is not known.
pub(crate) fn text<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

impl Usage {
    /// The numbers under the names that the manifest has for them, with `local` and `instructions`.
    pub(super) fn as_json(&self) -> Value {
        let mut facts = json!(self.resources);
        for (name, count) in [("local", self.local), ("instructions", self.instructions)] {
            if let Some(count) = count {
                facts[name] = json!(count);
            }
        }
        facts
    }

    /// The bytes on the stack; `?` where recursion leaves those of a cubin's kernel open.
    pub(crate) fn stack_text(&self) -> String {
        match (self.resources.stack_bytes, self.resources.registers) {
            (None, Some(_)) => "?".to_owned(),
            (bytes, _) => text(bytes),
        }
    }

    /// The numbers, under [`HEAD`](super::HEAD).
    pub(super) fn row(&self) -> String {
        let Resources { spill_stores, spill_loads, spilled_registers, .. } = self.resources;
        let registers = match self.resources.scalar_registers {
            Some(scalar) => format!("{}+{scalar}", text(self.resources.registers)),
            None => text(self.resources.registers),
        };
        let stores = match spilled_registers {
            Some(count) => format!("{count} reg"),
            None => text(spill_stores),
        };
        let (loads, stack) = (text(spill_loads), self.stack_text());
        let shared = text(self.resources.static_shared_bytes);
        let constant = text(self.resources.constant_bytes);
        let threads = text(self.resources.max_threads);
        let (local, instructions) = (text(self.local), text(self.instructions));
        format!(
            "{registers:>9}  {stores:>6}  {loads:>5}  {stack:>5}  {shared:>6}  {constant:>8}  {threads:>7}  \
             {local:>5}  {instructions:>12}"
        )
    }
}

/// The name of a kernel's wrapper, its symbol where it has none, and the name of its variant behind it.
pub(crate) fn name(built: &Built, kernel: &CompiledKernel) -> String {
    let name = wrapper(built, kernel);
    match &kernel.variant {
        Some(variant) => format!("{name} [{}]", variant.name),
        None => name.to_owned(),
    }
}

/// The name of a kernel's wrapper.
pub(crate) fn wrapper<'b>(built: &'b Built, kernel: &'b CompiledKernel) -> &'b str {
    let kernels = &built.manifest.kernels;
    let known = kernels.iter().find(|known| known.symbol == kernel.symbol);
    known.map_or(&kernel.symbol, |known| &known.name)
}

/// What a kernel takes: its resources and, for a cubin, what is counted in its SASS.
pub(crate) fn usage(binary: &Binary, kernel: &CompiledKernel, sass: &str) -> Usage {
    let resources = kernel.resources;
    if binary.kind != BinaryKind::Cubin {
        return Usage { resources, ..Usage::default() };
    }
    let (mut local, mut instructions) = (0, 0);
    // An instruction has its address in front: `/*0010*/  STL [R1], R2 ;`.
    for line in sass.lines().filter(|line| line.trim().starts_with("/*")) {
        instructions += 1;
        let is_local = |word: &str| word.starts_with("STL") || word.starts_with("LDL");
        local += usize::from(line.split_whitespace().any(is_local));
    }
    Usage { resources, local: Some(local), instructions: Some(instructions) }
}

/// The line of a file of PTX: the oldest driver that reads it.
pub(super) fn driver(binary: &Binary) -> Option<String> {
    let Ptx { version, cuda, .. } = binary.ptx.as_ref()?;
    let cuda = cuda.as_ref().map_or_else(
        || "a driver that is newer than this kernelmill".to_owned(),
        |cuda| format!("the driver of CUDA {cuda} or later"),
    );
    Some(format!("{}: PTX {version}, which needs {cuda}", binary.file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(kind: &str, resources: &str) -> Binary {
        let text = format!(
            r#"{{"file": "a", "source": "a.rs", "target": "t", "kind": "{kind}", "bytes": 1, "fingerprint": "0",
            "kernels": [{{"symbol": "k", "entry": "k", "static_shared_bytes": 16, "panics": false,
            "resources": {resources}}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn row(kind: &str, resources: &str, sass: &str) -> String {
        let binary = binary(kind, resources);
        let row = usage(&binary, &binary.kernels[0], sass).row();
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Acceptance: S3.8.
    #[test]
    fn what_is_recorded_and_what_is_counted_stands_in_a_row() {
        let sass = "\t.text.k:\n        /*0000*/  STL.64 [R1], R2 ;\n.L_x_0:\n        \
                    /*0010*/  @P0 LDL R0, [R1] ;\n        /*0020*/  EXIT ;\n";
        let cubin = r#"{"registers": 32, "spill_stores": 24, "spill_loads": 40, "stack_bytes": 256,
            "static_shared_bytes": 16, "constant_bytes": 364, "max_threads": 512}"#;
        assert_eq!(row("cubin", cubin, sass), "32 24 40 256 16 364 512 2 3");
        let recursive = r#"{"registers": 32, "spill_stores": 0, "spill_loads": 0}"#;
        assert_eq!(row("cubin", recursive, ""), "32 0 0 ? - - - 0 0");
        let amd = r#"{"registers": 60, "scalar_registers": 20, "spilled_registers": 3,
            "stack_bytes": 16, "static_shared_bytes": 0, "constant_bytes": 280, "max_threads": 1024}"#;
        assert_eq!(row("code-object", amd, ""), "60+20 3 reg - 16 0 280 1024 - -");
        assert_eq!(row("object", r#"{"stack_bytes": 64}"#, ""), "- - - 64 - - - - -");
    }
}
