//! Artifacts: a compiled source as a binary, and what the run time must know of it.

use kernelmill_artifact::{ArtifactKind, Resources, Target};
use serde::Serialize;

use crate::{
    base::bytes::{Reader, Writer},
    pass_report::PassReport,
    strategy::Strategy,
};

/// A compiled source: the binary for one target, and what the run time must know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it runs on.
    pub target: Target,
    /// The form of the bytes.
    pub kind: ArtifactKind,
    /// The binary.
    pub bytes: Vec<u8>,
    /// The kernels in it, in the order of the job's signatures.
    pub kernels: Vec<CompiledKernel>,
    /// The source locations that its panics name, by index.
    pub locations: Vec<Location>,
    /// The texts of its panics, by index, as `kernelmill_artifact::render_message` takes them.
    pub messages: Vec<String>,
    /// The symbols of the program whose values it is given when it is loaded, each with the size of the value.
    pub relocations: Vec<(String, u64)>,
    /// For the CPU, the variables that the host reads and writes: the symbol of each in its source, and in the binary.
    pub variables: Vec<(String, String)>,
    /// What the user is to be told although it was compiled, a line each.
    pub warnings: Vec<String>,
    /// What the passes of the CPU back end did, in their order; nothing for other targets.
    pub passes: Vec<PassReport>,
}

/// One kernel of an [`Artifact`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledKernel {
    /// Its symbol in the signatures of the source.
    pub name: String,
    /// Its name in the binary.
    pub entry: String,
    /// Shared memory that it declares, in bytes a block.
    pub static_shared_bytes: u32,
    /// Whether it can panic.
    pub panics: bool,
    /// Whether its blocks wait for each other: it needs a cooperative launch.
    pub cooperative: bool,
    /// For the CPU, the symbol of the constant that describes it.
    pub cpu_symbol: Option<String>,
    /// For the CPU, its lowering strategy.
    pub strategy: Option<Strategy>,
    /// What it takes of the device.
    pub resources: Resources,
    /// What plugins say of it, a sentence each, for people.
    pub notes: Vec<String>,
}

/// A place in a source that a panic can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The calls on the way there, the innermost first, where panics have backtraces.
    pub frames: Vec<SourceFrame>,
}

/// A function on the way to a panic, and the place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function, as written in the source.
    pub function: String,
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

const KINDS: [ArtifactKind; 7] = [
    ArtifactKind::Object,
    ArtifactKind::Ptx,
    ArtifactKind::Cubin,
    ArtifactKind::CodeObject,
    ArtifactKind::Spirv,
    ArtifactKind::OpenClC,
    ArtifactKind::Bitcode,
];

impl Artifact {
    /// The artifact as bytes for a store.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.text(&self.target.to_string());
        let kind = KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0);
        writer.number(kind as u64);
        writer.bytes(&self.bytes);
        writer.number(self.kernels.len() as u64);
        for kernel in &self.kernels {
            writer.text(&kernel.name);
            writer.text(&kernel.entry);
            writer.number(u64::from(kernel.static_shared_bytes));
            writer.number(u64::from(kernel.panics));
            writer.number(u64::from(kernel.cooperative));
            writer.text(kernel.cpu_symbol.as_deref().unwrap_or(""));
            writer.text(&kernel.strategy.as_ref().map_or_else(String::new, json));
            for number in fields(&kernel.resources) {
                writer.number(number.map_or(0, |number| 1 + u64::from(number)));
            }
            writer.number(kernel.notes.len() as u64);
            kernel.notes.iter().for_each(|text| writer.text(text));
        }
        writer.number(self.locations.len() as u64);
        for location in &self.locations {
            writer.text(&location.file);
            writer.number(u64::from(location.line));
            writer.number(u64::from(location.column));
            writer.number(location.frames.len() as u64);
            for frame in &location.frames {
                writer.text(&frame.function);
                writer.text(&frame.file);
                writer.number(u64::from(frame.line));
            }
        }
        for list in [&self.messages, &self.warnings] {
            writer.number(list.len() as u64);
            list.iter().for_each(|text| writer.text(text));
        }
        writer.number(self.relocations.len() as u64);
        for (symbol, bytes) in &self.relocations {
            writer.text(symbol);
            writer.number(*bytes);
        }
        writer.number(self.variables.len() as u64);
        for (symbol, name) in &self.variables {
            writer.text(symbol);
            writer.text(name);
        }
        writer.text(&json(self.passes.as_slice()));
        writer.finish()
    }

    /// Reads what [`Artifact::to_bytes`] wrote; `None` where it is not that.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let target = reader.text()?.parse().ok()?;
        let kind = *KINDS.get(usize::try_from(reader.number()?).ok()?)?;
        let binary = reader.bytes()?.to_vec();
        let kernels = reader.list(|reader| {
            Some(CompiledKernel {
                name: reader.text()?,
                entry: reader.text()?,
                static_shared_bytes: reader.number()?.try_into().ok()?,
                panics: reader.number()? != 0,
                cooperative: reader.number()? != 0,
                cpu_symbol: Some(reader.text()?).filter(|symbol| !symbol.is_empty()),
                strategy: match &*reader.text()? {
                    "" => None,
                    text => Some(serde_json::from_str(text).ok()?),
                },
                resources: resources(reader)?,
                notes: reader.list(Reader::text)?,
            })
        })?;
        let locations = reader.list(|reader| {
            Some(Location {
                file: reader.text()?,
                line: reader.number()?.try_into().ok()?,
                column: reader.number()?.try_into().ok()?,
                frames: reader.list(|reader| {
                    Some(SourceFrame {
                        function: reader.text()?,
                        file: reader.text()?,
                        line: reader.number()?.try_into().ok()?,
                    })
                })?,
            })
        })?;
        let messages = reader.list(Reader::text)?;
        let warnings = reader.list(Reader::text)?;
        let relocations = reader.list(|reader| Some((reader.text()?, reader.number()?)))?;
        let variables = reader.list(|reader| Some((reader.text()?, reader.text()?)))?;
        let passes = serde_json::from_str(&reader.text()?).ok()?;
        reader.end()?;
        Some(Self {
            target,
            kind,
            bytes: binary,
            kernels,
            locations,
            messages,
            relocations,
            variables,
            warnings,
            passes,
        })
    }
}

/// Resources as a list.
fn fields(resources: &Resources) -> [Option<u32>; 9] {
    let Resources {
        registers,
        scalar_registers,
        spill_stores,
        spill_loads,
        spilled_registers,
        stack_bytes,
        static_shared_bytes,
        constant_bytes,
        max_threads,
    } = *resources;
    [
        registers,
        scalar_registers,
        spill_stores,
        spill_loads,
        spilled_registers,
        stack_bytes,
        static_shared_bytes,
        constant_bytes,
        max_threads,
    ]
}

/// Reads the list of [`fields`].
fn resources(reader: &mut Reader<'_>) -> Option<Resources> {
    let mut number = || -> Option<Option<u32>> {
        match reader.number()?.checked_sub(1) {
            None => Some(None),
            Some(number) => Some(Some(number.try_into().ok()?)),
        }
    };
    Some(Resources {
        registers: number()?,
        scalar_registers: number()?,
        spill_stores: number()?,
        spill_loads: number()?,
        spilled_registers: number()?,
        stack_bytes: number()?,
        static_shared_bytes: number()?,
        constant_bytes: number()?,
        max_threads: number()?,
    })
}

/// A value of the crate's own as JSON.
fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("it consists of numbers, texts and lists")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lowering, Pass, PassOutcome};

    #[test]
    fn an_artifact_reads_back_and_a_damaged_one_does_not() {
        let artifact = Artifact {
            target: "sm_90a".parse().unwrap(),
            kind: ArtifactKind::Cubin,
            bytes: vec![1, 2, 3],
            kernels: vec![CompiledKernel {
                name: "saxpy".into(),
                entry: "saxpy".into(),
                static_shared_bytes: 1024,
                panics: true,
                cooperative: true,
                cpu_symbol: Some("kernelmill_cpu_a_saxpy".into()),
                strategy: Some(Strategy {
                    lowering: Lowering::BarrierRegions {
                        barriers: 2,
                        warp_collectives: 0,
                        early_exits: 0,
                        joins: 0,
                    },
                    widths: vec![8, 16],
                    along_y: false,
                    narrow_along_y: false,
                    narrow_width: 0,
                    scalar: None,
                    block: Some([256, 1, 1]),
                    interchanged_loops: 0,
                    jammed_rows: 0,
                }),
                resources: Resources {
                    registers: Some(32),
                    scalar_registers: None,
                    spill_stores: Some(0),
                    spill_loads: Some(8),
                    spilled_registers: Some(1),
                    stack_bytes: Some(u32::MAX),
                    static_shared_bytes: Some(1024),
                    constant_bytes: Some(364),
                    max_threads: Some(512),
                },
                notes: vec!["count: 3 additions".into()],
            }],
            locations: vec![Location {
                file: "kernels/a.rs".into(),
                line: 3,
                column: 9,
                frames: vec![SourceFrame {
                    function: "a::f".into(),
                    file: "kernels/a.rs".into(),
                    line: 3,
                }],
            }],
            messages: vec!["{u32} is wrong".into()],
            relocations: vec![("scale".into(), 4)],
            variables: vec![("table".into(), "kernelmill_variable_a_table".into())],
            warnings: vec!["kernels/a.rs: kernels have no source lines".into()],
            passes: vec![PassReport {
                pass: Pass::SharedMemory,
                kernel: None,
                outcome: PassOutcome::Changed,
                fact: None,
            }],
        };
        let bytes = artifact.to_bytes();
        assert_eq!(Artifact::from_bytes(&bytes), Some(artifact));
        for length in 0..bytes.len() {
            assert_eq!(Artifact::from_bytes(&bytes[..length]), None, "cut at {length}");
        }
        assert_eq!(Artifact::from_bytes(&[bytes.as_slice(), &[0]].concat()), None);
    }
}
