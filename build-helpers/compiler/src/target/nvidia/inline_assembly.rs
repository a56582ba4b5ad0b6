//! The version of PTX that inline assembly needs.
//!
//! LLVM writes inline assembly as it stands, so the version that LLVM's own instructions need says nothing of it. PTX of
//! an older version means the same in a newer one: only the header changes. A cubin gets the newest version that its
//! ptxas reads, as no driver reads that PTX. In PTX itself a newer version shuts older drivers out, so it gets the
//! version that its instructions need, by a table that the tests hold against ptxas. The sections "PTX ISA Notes" of the
//! [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#instruction-set) are its source.

use kernelmill_artifact::PtxVersion;

/// What LLVM writes around inline assembly.
const BEGIN: &str = "// begin inline asm";
const END: &str = "// end inline asm";

/// Words of instructions that are newer than PTX 6.3: what such a word starts with, up to a dot; what it has one of behind
/// that, after a dot and up to one (after `::` up to anything), where it is not empty; and the oldest version, 74 for 7.4.
///
/// Not in it: `min` and `max` of three floating-point numbers (8.8), which their words do not tell.
const NEWER: &[(&str, &[&str], u32)] = &[
    ("", &["L1::", "L2::"], 74),
    ("", &["b128"], 83),
    ("", &["mmio"], 82),
    ("", &["oob"], 81),
    ("", &["s16x2", "u16x2"], 80),
    ("", &["xorsign"], 72),
    ("%aggr_smem_size", &[], 81),
    ("%clusterid", &[], 78),
    ("%current_graph_exec", &[], 80),
    ("%reserved_smem_offset_begin", &[], 76),
    ("alloca", &[], 73),
    ("applypriority", &[], 74),
    ("atom", &["v2", "v4", "v8"], 81),
    ("barrier.cluster", &["acquire", "relaxed", "release"], 80),
    ("cp.async.bulk", &[], 80),
    ("cp.async.bulk", &["shared::cta.global"], 86),
    ("cp.reduce.async.bulk", &[], 80),
    ("createpolicy", &[], 74),
    ("cvt", &["e4m3x2", "e5m2x2"], 81),
    ("cvt", &["rs"], 87),
    ("cvt.f32.bf16", &[], 71),
    ("cvta.param", &[], 77),
    ("discard", &[], 74),
    ("elect", &[], 80),
    ("ex2", &["f16", "f16x2"], 70),
    ("fence.acquire", &[], 86),
    ("fence.mbarrier_init", &[], 80),
    ("fence.proxy.alias", &[], 75),
    ("fence.proxy.async", &[], 80),
    ("fence.proxy.tensormap::generic", &[], 83),
    ("fence.release", &[], 86),
    ("isspacep.param", &[], 77),
    ("ld", &["v8", "v4.b64", "v4.f64", "v4.s64", "v4.u64"], 88),
    ("ldmatrix", &[], 65),
    ("lop3", &["and", "or"], 82),
    ("max", &["relu.s32"], 80),
    ("mbarrier", &["acquire", "relaxed", "release", "shared::cluster"], 80),
    ("mbarrier", &["complete_tx", "expect_tx"], 80),
    ("mbarrier", &["parity"], 71),
    ("min", &["relu.s32"], 80),
    ("mma", &[], 65),
    ("mma", &["and", "sp"], 71),
    ("mma", &["e4m3", "e5m2"], 84),
    ("mma", &["sp::ordered_metadata"], 85),
    ("movmatrix", &[], 78),
    ("multimem", &[], 81),
    ("prefetch.tensormap", &[], 80),
    ("red", &["async", "v2", "v4", "v8"], 81),
    ("st", &["v8", "v4.b64", "v4.f64", "v4.s64", "v4.u64"], 88),
    ("st.async", &[], 81),
    ("stackrestore", &[], 73),
    ("stacksave", &[], 73),
    ("tanh", &[], 70),
    ("tensormap", &[], 83),
    ("wgmma", &["sp"], 82),
];

/// Whether a row of the table is about a word.
fn is_about((start, parts, _): &(&str, &[&str], u32), word: &str) -> bool {
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with('.');
    let has = |part: &str| {
        let mut found = word.match_indices(part).map(|(at, _)| word.split_at(at));
        found.any(|(before, rest)| {
            before.ends_with('.') && (part.ends_with("::") || is_end(&rest[part.len()..]))
        })
    };
    let rest = word.strip_prefix(start);
    rest.is_some_and(|rest| start.is_empty() || is_end(rest))
        && (parts.is_empty() || parts.iter().any(|part| has(part)))
}

/// PTX of LLVM, in the version that its inline assembly needs; `newest` is that of the ptxas that assembles it.
pub(super) fn with_version(ptx: Vec<u8>, newest: Option<u32>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&ptx) else { return ptx };
    let Some(own) = PtxVersion::of(&ptx) else { return ptx };
    let Some(needed) = newest.filter(|_| text.contains(BEGIN)).or_else(|| needed(text)) else {
        return ptx;
    };
    let needed = PtxVersion { major: needed / 10, minor: needed % 10 };
    if needed <= own {
        return ptx;
    }
    let header = |version: PtxVersion| format!(".version {}.{}", version.major, version.minor);
    text.replacen(&header(own), &header(needed), 1).into_bytes()
}

/// The oldest version that has what stands in inline assembly, as far as the table knows it.
fn needed(text: &str) -> Option<u32> {
    let inline = text.split(BEGIN).skip(1).filter_map(|part| part.split(END).next());
    inline.filter_map(needed_of).max()
}

/// The oldest version that has some instructions, as far as the table knows them.
fn needed_of(text: &str) -> Option<u32> {
    let is_between = |char: char| char.is_whitespace() || ";,{}()[]".contains(char);
    let words = text.split(is_between);
    let versions = words.flat_map(|word| NEWER.iter().filter(move |row| is_about(row, word)));
    versions.map(|(.., version)| *version).max()
}

/// The oldest version that has the instructions of PTX of another compiler, as far as the table knows them; `None` where it
/// knows of none.
pub(crate) fn version_needed(text: &str) -> Option<PtxVersion> {
    needed_of(text).map(|needed| PtxVersion { major: needed / 10, minor: needed % 10 })
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    /// An instruction of an architecture, with the oldest version of PTX that has it.
    const EXAMPLES: &[(&str, &str, u32)] = &[
        ("75", "ld.global.L1::no_allocate.f32 %f1, [%d1];", 74),
        ("80", "st.global.L2::cache_hint.f32 [%d1], %f1, %d2;", 74),
        ("80", "cp.async.ca.shared.global.L2::128B [%r1], [%d1], 4;", 74),
        ("80", "{ .reg .b128 %q; mov.b128 %q, {%d1, %d2}; }", 83),
        ("75", "ld.mmio.relaxed.sys.global.u32 %r1, [%d1];", 82),
        ("90", "fma.rn.oob.f16 %h1, %h1, %h2, %h2;", 81),
        ("90", "max.relu.s16x2 %r1, %r2, %r3;", 80),
        ("90", "add.u16x2 %r1, %r2, %r3;", 80),
        ("86", "min.xorsign.abs.f32 %f1, %f2, %f2;", 72),
        ("90", "mov.u32 %r1, %aggr_smem_size;", 81),
        ("75", "mov.u64 %d1, %current_graph_exec;", 80),
        ("80", "mov.b32 %r1, %reserved_smem_offset_begin;", 76),
        ("75", "alloca.u64 %d1, 16;", 73),
        ("80", "applypriority.global.L2::evict_normal [%d1], 128;", 74),
        ("90", "atom.global.v2.f32.add {%f1, %f2}, [%d1], {%f1, %f2};", 81),
        ("90", "barrier.cluster.arrive.release;", 80),
        ("90", "cp.async.bulk.commit_group;", 80),
        ("90", "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 16;", 80),
        (
            "90",
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2];",
            86,
        ),
        ("90", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [%r1], 16;", 80),
        ("80", "createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;", 74),
        ("89", "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;", 81),
        ("89", "cvt.rn.f16x2.e5m2x2 %r1, %h1;", 81),
        ("100a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;", 87),
        ("80", "cvt.f32.bf16 %f1, %h1;", 71),
        ("75", "cvta.param.u64 %d1, %d2;", 77),
        ("80", "discard.global.L2 [%d1], 128;", 74),
        ("90", "elect.sync %r1|%p1, -1;", 80),
        ("75", "ex2.approx.f16 %h1, %h2;", 70),
        ("90", "fence.acquire.gpu;", 86),
        ("90", "fence.release.gpu;", 86),
        ("90", "fence.mbarrier_init.release.cluster;", 80),
        ("75", "fence.proxy.alias;", 75),
        ("90", "fence.proxy.async.shared::cta;", 80),
        ("90", "fence.proxy.tensormap::generic.release.gpu;", 83),
        ("75", "isspacep.param %p1, %d1;", 77),
        ("100", "ld.global.v4.f64 {%d1, %d2, %d1, %d2}, [%d1];", 88),
        ("75", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", 65),
        ("75", "lop3.or.b32 %r1|%p1, %r1, %r2, %r3, 3, %p1;", 82),
        ("90", "max.relu.s32 %r1, %r2, %r3;", 80),
        ("90", "min.relu.s32 %r1, %r2, %r3;", 80),
        ("90", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", 80),
        ("90", "mbarrier.arrive.expect_tx.shared.b64 %d1, [%r1], 16;", 80),
        ("80", "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r2;", 71),
        (
            "75",
            "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {%r3}, {%r1, %r2};",
            65,
        ),
        (
            "80",
            "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r1, %r2, %r3, %r1}, \
             {%r1, %r2, %r3, %r1}, {%r1, %r2}, {%r1, %r2, %r3, %r1};",
            71,
        ),
        (
            "89",
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f1, %f2, %f1, %f2}, \
             {%r1, %r2, %r3, %r1}, {%r1, %r2}, {%f1, %f2, %f1, %f2};",
            84,
        ),
        (
            "80",
            "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f1, %f2}, \
             {%r1, %r2}, {%r1, %r2}, {%f1, %f2, %f1, %f2}, %r1, 0;",
            85,
        ),
        ("75", "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", 78),
        ("90", "multimem.red.relaxed.sys.global.add.f32 [%d1], %f1;", 81),
        ("90", "prefetch.tensormap [%d1];", 80),
        ("90", "red.global.v2.f32.add [%d1], {%f1, %f2};", 81),
        ("100", "st.global.v4.b64 [%d1], {%d1, %d2, %d1, %d2};", 88),
        ("90", "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", 81),
        ("75", "stackrestore.u64 %d1;", 73),
        ("75", "stacksave.u64 %d1;", 73),
        ("75", "tanh.approx.f32 %f1, %f2;", 70),
        ("90a", "tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;", 83),
        (
            "90a",
            "{ .reg .f32 %s<4>; \
             wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%s0, %s1, %s2, %s3}, %d1, %d2, %r1, 0, 1, \
             1, 1, 0, 0; }",
            82,
        ),
    ];

    /// Rows whose version ptxas cannot be asked for, since the architectures that have such an instruction need a newer one.
    const OF_NEWER_ARCHITECTURES: &[&str] = &["%clusterid"];

    fn module(arch: &str, version: u32, body: &str) -> String {
        format!(
            "//\n.version {}.{}\n.target sm_{arch}\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<4>;\n.reg .f32 %f<4>;\n.reg .b64 %d<4>;\n.reg .b16 %h<4>;\n.reg .pred %p<4>;\n\
             mov.b64 %d1, 0;\nmov.b32 %r1, 0;\n\
             \t{BEGIN}\n\t{body}\n\t{END}\nret;\n}}\n",
            version / 10,
            version % 10
        )
    }

    /// The versions that there are, the oldest first.
    fn versions() -> impl DoubleEndedIterator<Item = u32> {
        let all: Vec<_> = PtxVersion::all().map(|it| it.major * 10 + it.minor).collect();
        all.into_iter()
    }

    /// Acceptance: S0.12.
    #[test]
    fn the_table_is_that_of_ptxas() {
        let ptxas = test_support::tool::nvidia("ptxas").expect("ptxas");
        let folder = test_support::temporary_folder();
        let (input, output) = (folder.path().join("a.ptx"), folder.path().join("a.cubin"));
        let said = |arch: &str, version, body: &str| {
            fs::write(&input, module(arch, version, body)).unwrap();
            let mut command = Command::new(&ptxas);
            command.arg(format!("-arch=sm_{arch}")).arg(&input).arg("-o").arg(&output);
            let run = command.output().unwrap();
            let text = String::from_utf8_lossy(&[run.stdout, run.stderr].concat()).into_owned();
            (!run.status.success()).then_some(text)
        };
        let mut faults = Vec::new();
        for (arch, body, version) in EXAMPLES {
            let before = versions().rfind(|it| it < version).unwrap();
            let found = needed(&module(arch, 63, body));
            if found != Some(*version) {
                faults.push(format!("{body} needs {version}, and the table says {found:?}"));
            }
            if let Some(said) = said(arch, *version, body) {
                faults.push(format!("{body} for sm_{arch} in {version}: {said}"));
            }
            if said(arch, before, body).is_none() {
                faults.push(format!("{body} for sm_{arch}: ptxas takes it in {before} already"));
            }
        }
        for row in NEWER.iter().filter(|row| !OF_NEWER_ARCHITECTURES.contains(&row.0)) {
            let words = |body: &'static str| body.split([' ', ',']);
            let mut examples = EXAMPLES.iter().filter(|(.., version)| *version == row.2);
            if !examples.any(|(_, body, _)| {
                words(body).any(|word| is_about(row, word.trim_end_matches(';')))
            }) {
                faults.push(format!("no example shows {row:?}"));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn only_the_header_of_ptx_with_inline_assembly_changes() {
        let policy = "createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;";
        let old = module("80", 70, policy);
        let changed = |text: &str, newest| {
            String::from_utf8(with_version(text.as_bytes().to_vec(), newest)).unwrap()
        };
        assert_eq!(changed(&old, None), module("80", 74, policy));
        assert_eq!(changed(&old, Some(88)), module("80", 88, policy));
        // Never an older one than LLVM's own instructions need.
        assert_eq!(changed(&module("80", 81, policy), None), module("80", 81, policy));
        // Old instructions, and what is no inline assembly, stay.
        let plain = module("80", 70, "mov.u32 %r1, %laneid;");
        assert_eq!(changed(&plain, None), plain);
        let outside = old.replace(BEGIN, "//");
        assert_eq!(changed(&outside, Some(88)), outside);
    }
}
