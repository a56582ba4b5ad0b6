//! The code of single kernels at the stages of their compilation.

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::{CodeStage, Config, KernelCode};

const TWO: &str = "use kernelmill_device::prelude::*;
    #[inline(never)]
    fn half(x: f32) -> f32 { x * 0.5 }
    #[kernel]
    pub fn first(x: &[f32], mut y: DisjointSlice<f32>) {
        let i = thread::index_1d();
        if let Some(out) = y.get_mut(i) { *out = half(x[i.get()]).sqrt(); }
    }
    #[kernel]
    pub fn second(mut y: DisjointSlice<u32>) {
        if let Some(out) = y.get_mut(thread::index_1d()) { *out += 41; }
    }";

/// The code of one kernel at one stage.
fn find<'a>(codes: &'a [KernelCode], kernel: &str, stage: CodeStage) -> &'a str {
    let found = codes.iter().filter(|code| code.kernel == kernel && code.stage == stage);
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{kernel} {stage:?}");
    &found[0].text
}

/// Acceptance: S3.9.
#[test]
fn each_kernel_is_shown_alone_at_each_stage_and_the_binary_is_the_same() {
    let (source, lowered) = lower("two", TWO);
    for target in ["cpu", "compute_80", "gfx942"] {
        let config = Config::new(target.parse().unwrap());
        let job = job("two", &source, &lowered, &config);
        let (artifact, codes) = compiler().compile_with_code(&job, &CodeStage::ALL).unwrap();
        let plain = compiler().compile(&job).unwrap();
        assert_eq!(artifact, plain, "{target}");
        let order: Vec<_> = codes.iter().map(|code| (code.kernel.as_str(), code.stage)).collect();
        let expected = ["first", "second"].map(|kernel| CodeStage::ALL.map(|it| (kernel, it)));
        assert_eq!(order, expected.concat(), "{target}");
        for stage in CodeStage::ALL {
            let [first, second] = ["first", "second"].map(|kernel| find(&codes, kernel, stage));
            // Debug information names what a module had.
            let code = |text: &str| text.split("\n!").next().unwrap().to_owned();
            assert!(code(first).contains("first") && !code(first).contains("second"), "{first}");
            assert!(code(second).contains("second") && !code(second).contains("first"), "{second}");
        }
        let front = find(&codes, "first", CodeStage::FrontEnd);
        assert!(front.contains("4half") && front.contains("kernelmill_entry_first"), "{front}");
        let opt = find(&codes, "first", CodeStage::Optimized);
        assert!(opt.contains("sqrt") && opt != front, "{opt}");
        if target == "compute_80" {
            let ptx = find(&codes, "second", CodeStage::Assembly);
            assert!(ptx.contains(".visible .entry second(") && ptx.contains(", 41;"), "{ptx}");
            let whole = String::from_utf8(artifact.bytes.clone()).unwrap();
            let line = ptx.lines().find(|line| line.contains(", 41;")).unwrap();
            assert!(whole.contains(line), "the registers are those of the binary: {whole}");
        }
        let again = compiler().compile_with_code(&job, &CodeStage::ALL).unwrap();
        assert_eq!(again, (artifact, codes), "{target}");
    }
}

#[test]
fn only_what_is_wanted_is_captured() {
    let (source, lowered) = lower("two", TWO);
    let config = Config::new("compute_80".parse().unwrap());
    let job = job("two", &source, &lowered, &config);
    let (_, codes) = compiler().compile_with_code(&job, &[CodeStage::Assembly]).unwrap();
    assert_eq!(codes.len(), 2);
    assert!(codes.iter().all(|code| code.stage == CodeStage::Assembly));
    assert_eq!(compiler().compile_with_code(&job, &[]).unwrap().1, []);
}
