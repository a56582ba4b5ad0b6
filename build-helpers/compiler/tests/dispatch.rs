//! Device functions passed to kernels.

mod common;

use common::{compiler, job, lower};
use kernelmill_compiler::{
    Child, Config, Job, JobSource, Lowered, Lowering, RustSource, TableFunction, exported,
    exported_by,
};
use test_support::InFolder;

const TARGETS: [&str; 3] = ["compute_75", "gfx1100", "cpu"];

const APPLY: &str = "
use kernelmill_device::prelude::*;

#[device_fn]
pub fn square(x: f32) -> f32 {
    x * x
}

#[kernel]
pub fn apply(f: DeviceFn<fn(f32) -> f32>, mut out: DisjointSlice<f32>) {
    if let Some(out) = out.get_mut(thread::index_1d()) {
        *out = f.call(*out);
    }
}

#[kernel]
pub fn fold(fs: &[DeviceFn<fn(u32, u32) -> u32>], x: &[u32], mut out: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = out.get_mut(i) {
        for x in x {
            *out = fs[i.get()].call(*out, *x);
        }
    }
}
";

const OTHERS: &str = "
use kernelmill_device::prelude::*;

#[device_fn]
pub fn halve(x: f32) -> f32 {
    let shade = deferred!(shade: fn(f32) -> f32);
    unsafe { shade(x) }
}

#[device_fn]
pub fn add(left: u32, right: u32) -> u32 {
    left + right
}

#[unsafe(no_mangle)]
pub extern \"C\" fn shade(x: f32) -> f32 {
    0.5 * x
}
";

fn table() -> (InFolder<RustSource>, Lowered) {
    let (source, lowered) = lower("apply", APPLY);
    let (other, others) = lower("others", OTHERS);
    let children = vec![Child { display: other.display.clone(), lowered: others }];
    let functions = ["square", "halve", "add"].iter().zip([70_000_000_001, 2, 3]);
    let functions =
        functions.map(|(name, id)| TableFunction { id, symbol: exported(name) }).collect();
    (source, Lowered { children, functions, ..lowered })
}

#[test]
fn a_call_is_a_choice_among_direct_calls_of_its_type() {
    let (source, lowered) = table();
    for target in TARGETS {
        let config = Config::new(target.parse().unwrap());
        let job = job("apply", &source, &lowered, &config);
        let module = compiler().inspect(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!module.contains("__kernelmill_function"), "{target}: {module}");
        assert!(!module.contains("__kernelmill_deferred"), "{target}: {module}");
        assert!(module.contains("70000000001"), "{target}: {module}");
        let [first, second] = [(); 2].map(|()| compiler().compile(&job).unwrap());
        assert_eq!(first, second, "{target}");
    }
    let config = Config::new("compute_75".parse().unwrap());
    let ptx = compiler().assembly(&job("apply", &source, &lowered, &config)).unwrap();
    assert!(!ptx.contains(".callprototype") && !ptx.contains("_exported_"), "{ptx}");
}

#[test]
fn threads_stay_lanes_on_the_cpu() {
    let (source, lowered) = table();
    let config = Config::new("cpu".parse().unwrap());
    let artifact = compiler().compile(&job("apply", &source, &lowered, &config)).unwrap();
    let strategies = artifact.kernels.iter().filter_map(|it| it.strategy.as_ref());
    let found: Vec<_> = strategies.map(|it| (&it.lowering, &*it.widths)).collect();
    assert_eq!(found, [(&Lowering::ThreadLoop, &[8, 16][..]); 2]);
}

/// The symbol of a function of another package has its package in it, and nothing that an assembler
/// refuses; it calls itself, so that it is there in the code.
/// Acceptance: S1.7.
#[test]
fn functions_of_other_packages_are_found_by_names_that_assemblers_take() {
    let height = "
use kernelmill_device::prelude::*;

#[device_fn]
pub fn h\u{f6}he(x: f32) -> f32 {
    if x > 1000.0 { 1.0 + h\u{f6}he(0.5 * x) } else { x }
}
";
    let (source, mut lowered) = lower("apply_height", APPLY);
    let (other, mut others) = lower("height", height);
    compiler().qualify(&mut others, "fast-colors").unwrap();
    let symbol = "__kernelmill_exported_fast_colors.h_he";
    assert_eq!(compiler().symbols(&others).unwrap().defines, [symbol]);
    lowered.children.push(Child { display: other.display.clone(), lowered: others });
    let own = TableFunction { id: 2, symbol: exported("square") };
    let height = TableFunction { id: 3, symbol: exported_by("fast-colors", "h\u{f6}he") };
    assert_eq!(height.symbol, symbol);
    lowered.functions = vec![height, own];
    let signatures = source.signatures.iter().filter(|kernel| kernel.name == "apply");
    let signatures: Vec<_> = signatures.cloned().collect();
    let with_ptxas = test_support::tool::nvidia("ptxas").map(|_| "sm_75");
    for target in TARGETS.into_iter().chain(with_ptxas) {
        let config = Config::new(target.parse().unwrap());
        let job = Job {
            source: JobSource {
                signatures: &signatures,
                ..job("apply", &source, &lowered, &config).source
            },
            config: &config,
        };
        let module = compiler().inspect(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert!(!module.contains("__kernelmill_deferred"), "{target}: {module}");
        compiler().compile(&job).unwrap_or_else(|error| panic!("{target}: {error}"));
    }
}
