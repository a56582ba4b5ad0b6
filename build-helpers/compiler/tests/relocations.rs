//! Symbols of the program that plugins name, and what stands for them in binaries.

mod common;
#[expect(unreachable_pub, reason = "as it is in a crate of its own")]
#[path = "plugins/scale.rs"]
mod scale;

use std::sync::Arc;

use common::{compiler, job, lower};
use kernelmill_compiler::{Artifact, Compiler, Config};
use scale::Scale;

const SCALED: &str = "
use kernelmill_device::prelude::*;

unsafe extern \"C\" {
    safe fn __kernelmill_scale() -> f32;
}

#[kernel]
pub fn scaled(mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = *out * __kernelmill_scale() + __kernelmill_scale();
    }
}
";

fn with_scale() -> Compiler {
    let toolchain = compiler().toolchain().clone();
    Compiler::new(toolchain).unwrap().with_plugins(vec![Arc::new(Scale)]).unwrap()
}

/// Acceptance: S2.9.
#[test]
fn a_symbol_is_a_variable_that_the_host_finds_and_no_pass_knows_its_value() {
    let page = include_str!("../../../docs/src/guide/plugins.md");
    assert!(page.contains(include_str!("plugins/scale.rs")), "the page shows another plugin");
    let compiler = with_scale();
    let (source, lowered) = lower("scaled", SCALED);
    let mut targets = vec!["compute_75", "gfx1100"];
    targets.extend(test_support::tool::nvidia("ptxas").map(|_| "sm_90"));
    for target in targets {
        let config = Config::new(target.parse().unwrap());
        let job = job("scaled", &source, &lowered, &config);
        let artifact = compiler.compile(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.relocations, [("scale".to_owned(), 4)], "{target}");
        let name = b"__kernelmill_relocation_scale";
        assert!(artifact.bytes.windows(name.len()).any(|it| it == name), "{target}");
        assert_eq!(Artifact::from_bytes(&artifact.to_bytes()), Some(artifact), "{target}");
        let module = compiler.inspect(&job).unwrap();
        let variable = "@__kernelmill_relocation_scale = protected ";
        let variable = module.lines().find(|line| line.starts_with(variable));
        let is_global = variable.is_some_and(|it| it.contains("addrspace(1) global float"));
        assert!(is_global, "{target}: {module}");
        assert_eq!(module.matches("load float, ptr addrspace(1) @__kernelmill_").count(), 1);
    }
    let config = Config::new("compute_75".parse().unwrap());
    let ptx = compiler.assembly(&job("scaled", &source, &lowered, &config)).unwrap();
    assert!(ptx.contains(".visible .global .align 4 .f32 __kernelmill_relocation_scale"), "{ptx}");
}

/// On the CPU the program's linker resolves it, and a kernel that names none has none anywhere.
///
/// Acceptance: S2.9.
#[test]
fn the_cpu_imports_what_gpus_are_given() {
    let compiler = with_scale();
    let (source, lowered) = lower("scaled", SCALED);
    let config = Config::new("cpu".parse().unwrap());
    let job_of_cpu = job("scaled", &source, &lowered, &config);
    assert_eq!(compiler.compile(&job_of_cpu).unwrap().relocations, []);
    assert!(compiler.inspect(&job_of_cpu).unwrap().contains("declare float @scale()"));
    let plain =
        SCALED.replace("__kernelmill_scale();", "2.0;").replace("* __kernelmill_scale()", "");
    let (source, lowered) = lower("plain", &plain);
    let config = Config::new("compute_75".parse().unwrap());
    let artifact = compiler.compile(&job("plain", &source, &lowered, &config)).unwrap();
    assert_eq!(artifact.relocations, []);
}
