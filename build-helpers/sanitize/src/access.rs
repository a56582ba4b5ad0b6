//! Memory accesses: the instructions that read and write memory.

use kernelmill_compiler::plugin::{
    Task,
    ir::{Opcode, Type, Value},
};

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    /// Atomic or volatile: never part of a race.
    Atomic,
}

impl Kind {
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "written",
            Self::Atomic => "changed atomically",
        }
    }
}

/// One access of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'c> {
    pub(crate) at: Value<'c>,
    pub(crate) pointer: Value<'c>,
    /// The number of bytes, of 64 bits.
    pub(crate) bytes: Value<'c>,
    /// The size of one element; 1 where that is not known.
    pub(crate) element: u64,
    pub(crate) kind: Kind,
}

/// The accesses that an instruction makes.
pub(crate) fn of<'c>(task: &Task<'_, 'c>, at: Value<'c>) -> Vec<Access<'c>> {
    let typed = |pointer, ty: Type<'c>, kind| {
        let size = task.size_of(ty);
        let bytes = Type::int(task.context(), 64).constant(size);
        vec![Access { at, pointer, bytes, element: size.max(1), kind }]
    };
    match at.opcode() {
        Opcode::Load => typed(at.operand(0), at.ty(), plain(at, Kind::Read)),
        Opcode::Store => typed(at.operand(1), at.operand(0).ty(), plain(at, Kind::Write)),
        Opcode::AtomicRmw | Opcode::AtomicCmpXchg => {
            typed(at.operand(0), at.operand(1).ty(), Kind::Atomic)
        }
        Opcode::Call => of_call(task, at),
        _ => Vec::new(),
    }
}

/// The kind of a load or store. Threads synchronise without barriers by atomic and volatile accesses.
fn plain(at: Value<'_>, kind: Kind) -> Kind {
    if at.is_exact_access() { Kind::Atomic } else { kind }
}

/// The accesses of `memcpy`, `memmove` and `memset`, as LLVM and C name them.
fn of_call<'c>(task: &Task<'_, 'c>, at: Value<'c>) -> Vec<Access<'c>> {
    let name = at.called_function().map(Value::name).unwrap_or_default();
    let name = name.trim_start_matches("llvm.").split('.').next().unwrap_or_default().to_owned();
    let arguments = at.arguments();
    let reads = match name.as_str() {
        "memcpy" | "memmove" => true,
        "memset" => false,
        _ => return Vec::new(),
    };
    let word = Type::int(task.context(), 64);
    let bytes = arguments[2];
    let bytes = if bytes.ty() == word { bytes } else { task.before(at).zero_extend(bytes, word) };
    let access = |pointer, kind| Access { at, pointer, bytes, element: 1, kind };
    let mut found = vec![access(arguments[0], Kind::Write)];
    if reads {
        found.push(access(arguments[1], Kind::Read));
    }
    found
}
