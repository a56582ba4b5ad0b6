//! What a module was compiled for, by its triple and data layout, and what the front end takes of it.

use crate::frontend::cuda::clang::unsupported::Language;

/// How the line of the triple starts, and that of the data layout.
const TRIPLE: &str = "target triple = ";
const LAYOUT: &str = "target datalayout = ";

/// What a module was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Nvidia,
    Amd,
    /// OpenCL's machine.
    OpenCl,
    /// A processor, or nothing.
    Host,
}

impl Origin {
    /// The origin of a module with this text, or everything by which it cannot be taken: how its line starts, and why.
    pub(super) fn of(text: &str) -> Result<Self, Vec<(&'static str, String)>> {
        let mut faults = Vec::new();
        let triple = value_of(text, TRIPLE);
        let layout = value_of(text, LAYOUT);
        let architecture = triple.split('-').next().unwrap_or_default();
        let origin = match architecture {
            "nvptx64" => Self::Nvidia,
            "amdgcn" | "amdgpu" => Self::Amd,
            "spir64" | "spirv64" => Self::OpenCl,
            "nvptx" | "spir" | "spirv32" | "spirv" | "r600" | "dxil" => {
                let why = format!(
                    "the pointers of its target triple `{triple}` do not have 64 bits: compile the file for \
                     nvptx64, amdgcn, spir64 or a host of 64 bits"
                );
                faults.push((TRIPLE, why));
                Self::Host
            }
            _ => Self::Host,
        };
        let parts = || layout.split('-');
        if parts().any(|part| part == "E") {
            let why = format!(
                "its data layout `{layout}` is big-endian: compile the file for a little-endian machine"
            );
            faults.push((LAYOUT, why));
        }
        let generic = parts().find_map(|part| {
            part.strip_prefix("p:").or_else(|| part.strip_prefix("p0:"))?.split(':').next()
        });
        // A triple with short pointers has them in its layout too.
        let is_said = faults.iter().any(|(start, _)| *start == TRIPLE);
        if let Some(bits) = generic.filter(|bits| *bits != "64" && !is_said) {
            let why = format!(
                "its data layout has pointers of {bits} bits: compile the file for a machine with pointers of 64 \
                 bits"
            );
            faults.push((LAYOUT, why));
        }
        if faults.is_empty() { Ok(origin) } else { Err(faults) }
    }

    /// Whether pointers into this address space, as the file has it, have 32 bits in its layout.
    pub(super) fn is_short(self, address_space: u32) -> bool {
        self == Self::Amd && matches!(address_space, 2 | 3 | 5 | 6)
    }

    /// The address space of constants.
    pub(super) fn constants(self) -> Option<u32> {
        match self {
            Self::Nvidia | Self::Amd => Some(4),
            Self::OpenCl => Some(2),
            Self::Host => None,
        }
    }

    /// What only its own targets have.
    pub(super) fn language(self) -> Language {
        match self {
            Self::Nvidia => Language::NvidiaIr,
            Self::Amd => Language::AmdIr,
            Self::OpenCl | Self::Host => Language::OtherIr,
        }
    }
}

/// The text of `target triple = "..."` and its kind; empty where there is none.
fn value_of<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    line.map_or("", |line| line.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(layout: &str, triple: &str) -> Result<Origin, String> {
        let text = format!("target datalayout = \"{layout}\"\ntarget triple = \"{triple}\"\n");
        Origin::of(&text).map_err(|faults| {
            let lines: Vec<_> =
                faults.into_iter().map(|(start, why)| start.to_owned() + &why).collect();
            lines.join("\n")
        })
    }

    #[test]
    fn every_fault_of_triple_and_layout_is_told_with_its_line() {
        let text = of("E-p:32:32", "powerpc-unknown-linux-gnu").unwrap_err();
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("target datalayout = its data layout `E-p:32:32` is big"),
            "{text}"
        );
        assert!(
            lines[1].starts_with("target datalayout = its data layout has pointers of 32"),
            "{text}"
        );
        let text = of("E-p:32:32", "nvptx-nvidia-cuda").unwrap_err();
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("target triple = the pointers of its target triple"),
            "{text}"
        );
        assert!(lines[1].contains("is big-endian"), "{text}");
        assert_eq!(lines.len(), 2, "short pointers are told once: {text}");
    }

    #[test]
    fn triples_and_layouts_say_what_a_module_is_for() {
        assert_eq!(of("e-p6:32:32-i64:64", "nvptx64-nvidia-cuda"), Ok(Origin::Nvidia));
        assert_eq!(of("e-p:64:64-p1:64:64-p3:32:32", "amdgcn-amd-amdhsa"), Ok(Origin::Amd));
        assert_eq!(of("", "spir64-unknown-unknown"), Ok(Origin::OpenCl));
        assert_eq!(of("e-m:e-i64:64", "x86_64-unknown-linux-gnu"), Ok(Origin::Host));
        assert_eq!(Origin::of("define void @f() { ret void }\n"), Ok(Origin::Host));
        assert!(of("e", "spir-unknown-unknown").unwrap_err().contains("`spir-unknown-unknown`"));
        assert!(of("e-p:32:32", "wasm32-unknown-unknown").unwrap_err().contains("32 bits"));
        assert!(of("E-m:e", "powerpc64-unknown-linux-gnu").unwrap_err().contains("big-endian"));
    }
}
