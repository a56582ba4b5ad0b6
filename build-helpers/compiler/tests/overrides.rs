//! Files that stand for one stage of a kernel.

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::{
    Artifact, CodeStage, Config, Error, Lowered, Override, OverrideCode, RustSource,
};

const TWO: &str = "use kernelmill_device::prelude::*;
    #[kernel]
    pub fn first(x: &[u32], mut y: DisjointSlice<u32>) {
        let i = thread::index_1d();
        if let Some(out) = y.get_mut(i) { *out = x[i.get()] + 41; }
    }
    #[kernel]
    pub fn second(mut y: DisjointSlice<u32>) {
        if let Some(out) = y.get_mut(thread::index_1d()) { *out += 43; }
    }";

fn compile(source: &RustSource, lowered: &Lowered, target: &str) -> Result<Artifact, Error> {
    let config = Config::new(target.parse().unwrap());
    compiler().compile(&job("two", source, lowered, &config))
}

/// The text of the kernel `first` at a stage.
fn code(source: &RustSource, lowered: &Lowered, target: &str, stage: CodeStage) -> String {
    let config = Config::new(target.parse().unwrap());
    let job = job("two", source, lowered, &config);
    let (_, codes) = compiler().compile_with_code(&job, &[stage]).unwrap();
    codes.into_iter().find(|code| code.kernel == "first").unwrap().text
}

fn with(lowered: &Lowered, code: OverrideCode) -> Lowered {
    let (kernel, file) = ("first".to_owned(), "edited".to_owned());
    Lowered { overrides: vec![Override { kernel, file, code }], ..lowered.clone() }
}

fn has(artifact: &Artifact, text: &str) -> bool {
    artifact.bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

/// Acceptance: S3.10.
#[test]
fn ir_of_one_target_stands_for_the_kernel_on_every_target() {
    let (source, lowered) = lower("two", TWO);
    let ir = code(&source, &lowered, "cpu", CodeStage::FrontEnd);
    assert!(ir.contains(", 41"), "{ir}");
    let edited = with(&lowered, OverrideCode::FrontEnd(ir.replace(", 41", ", 4711")));
    for target in ["compute_80", "cpu", "gfx942"] {
        let text = code(&source, &edited, target, CodeStage::Assembly);
        let is_there = text.contains("4711") || text.contains("0x1267");
        assert!(is_there && !text.contains(", 41"), "{target}: {text}");
    }
    let artifact = compile(&source, &edited, "compute_80").unwrap();
    assert!(has(&artifact, ", 4711;") && has(&artifact, ", 43;") && !has(&artifact, ", 41;"));
    // What was dumped stands for itself.
    let same = with(&lowered, OverrideCode::FrontEnd(ir));
    let [same, plain] =
        [&same, &lowered].map(|it| code(&source, it, "compute_80", CodeStage::Assembly));
    // Constants of one name were linked with the source's.
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.contains("alloc_")).map(str::to_owned).collect()
    };
    assert_eq!(lines(&same), lines(&plain));
}

/// Acceptance: S3.10.
#[test]
fn the_front_end_of_another_source_stands_for_a_kernel() {
    let (source, lowered) = lower("two", TWO);
    let other = "use kernelmill_device::prelude::*;
        #[kernel]
        pub fn other(x: &[u32], mut y: DisjointSlice<u32>) {
            let i = thread::index_1d();
            if let Some(out) = y.get_mut(i) { *out = x[i.get()] + 4711; }
        }";
    let (_, other) = lower("other", other);
    let code = OverrideCode::Lowered { modules: other.modules, symbol: "other".to_owned() };
    let artifact = compile(&source, &with(&lowered, code), "compute_80").unwrap();
    assert!(has(&artifact, ", 4711;") && has(&artifact, ", 43;") && !has(&artifact, ", 41;"));
    assert!(has(&artifact, ".entry first(") && !has(&artifact, ".entry other("));
}

/// Acceptance: S3.10.
#[test]
fn ptx_stands_for_the_kernel_in_text_and_in_cubins_and_nowhere_else() {
    let (source, lowered) = lower("two", TWO);
    let ptx = code(&source, &lowered, "compute_80", CodeStage::Assembly);
    assert_eq!(ptx.matches(", 41;").count(), 1, "{ptx}");
    let edited = with(&lowered, OverrideCode::Ptx(ptx.replace(", 41;", ", 4711;")));
    let artifact = compile(&source, &edited, "compute_80").unwrap();
    assert!(has(&artifact, ", 4711;") && has(&artifact, ", 43;") && !has(&artifact, ", 41;"));
    assert!(code(&source, &edited, "compute_80", CodeStage::Assembly).contains(", 4711;"));
    assert_eq!(
        compile(&source, &edited, "cpu").unwrap(),
        compile(&source, &lowered, "cpu").unwrap()
    );
    if common::toolchain().ptxas.is_some() {
        let [edited, plain] = [&edited, &lowered].map(|it| compile(&source, it, "sm_80").unwrap());
        assert_ne!(edited.bytes, plain.bytes);
        assert_eq!(edited.kernels, plain.kernels);
        let constant = 4711_u32.to_le_bytes();
        let has = |artifact: &Artifact| artifact.bytes.windows(4).any(|it| it == constant);
        assert!(has(&edited) && !has(&plain));
    }
}

/// Acceptance: S3.10.
#[test]
fn what_is_not_the_kernel_is_refused_with_its_file() {
    let (source, lowered) = lower("two", TWO);
    let refused =
        |code| compile(&source, &with(&lowered, code), "compute_80").unwrap_err().to_string();
    let said = refused(OverrideCode::FrontEnd("define void @f() { ret void }".to_owned()));
    let expected = "edited cannot replace the kernel `first`: it has no function `__kernelmill_entry_first`; \
                    begin with the stage `ir` of the kernel, which `KERNELMILL_DUMP=ir` writes";
    assert_eq!(said, expected);
    let text = "define void @__kernelmill_entry_first(i32 %0) { ret void }";
    let said = refused(OverrideCode::FrontEnd(text.to_owned()));
    let expected = "its parameters are (i32), and those of the kernel (ptr, i64, ptr, i64)";
    assert!(said.ends_with(expected), "{said}");
    let said = refused(OverrideCode::FrontEnd("define what".to_owned()));
    assert!(said.starts_with("edited cannot replace the kernel `first`: "), "{said}");
    let said = refused(OverrideCode::Ptx(".visible .entry third() { ret; }".to_owned()));
    assert!(said.ends_with("`first`: it has no entry `first`, only: `third`"), "{said}");
}
