//! The plugin through the whole compiler: every target, what it says, and that it is not there where
//! it is off.

#[path = "../../compiler/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::{compiler, job, lower};
use kernelmill_compiler::{Artifact, Compiler, Config, Error, PanicLevel, plugin::Plugin};

const TARGETS: [&str; 3] = ["sm_90", "gfx1100", "cpu"];

fn with_plugin() -> Compiler {
    let plugins: Vec<Arc<dyn Plugin>> = vec![Arc::new(kernelmill_sanitize::plugin())];
    Compiler::new(compiler().toolchain().clone()).unwrap().with_plugins(plugins).unwrap()
}

fn config(target: &str, meta: &str) -> Config {
    let mut config = Config::new(target.parse().unwrap());
    if !meta.is_empty() {
        config.params.meta.insert("sanitize".into(), meta.into());
    }
    config
}

fn compile(
    compiler: &Compiler,
    name: &str,
    text: &str,
    config: &Config,
) -> Result<Artifact, Error> {
    let (source, lowered) = lower(name, text);
    compiler.compile(&job(name, &source, &lowered, config))
}

const KERNELS: &str = "
use kernelmill_device::prelude::*;

#[kernel]
pub fn mirror(x: &[f32], mut y: DisjointSlice<f32>) {
    static mut TILE: SharedArray<f32, 64> = SharedArray::UNINIT;
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    unsafe { TILE[t] = *x.get_unchecked(i.get()) };
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = unsafe { TILE[63 - t] };
    }
}
";

#[test]
fn checks_are_compiled_for_every_target() {
    let compiler = with_plugin();
    for target in TARGETS {
        let config = config(target, "");
        let artifact = compile(&compiler, "mirror", KERNELS, &config)
            .unwrap_or_else(|error| panic!("{target}: {error}"));
        let has = |text: &str| artifact.messages.iter().any(|message| message.contains(text));
        assert!(
            has("out of bounds: `x` has {u64} elements, and element {i64} is read"),
            "{target}"
        );
        assert!(has("data race: the shared array `TILE` is written here"), "{target}");
        assert!(artifact.locations.iter().any(|place| place.line == 8), "{target}");
        // The cells: three of 8 bytes for each of 64 elements.
        let shared = artifact.kernels[0].static_shared_bytes;
        assert!(shared >= 64 * 4 + 3 * 8 * 64, "{target}: {shared}");
    }
}

/// Facts of the code: atomic operations in the memory of the block, which the kernel itself has none
/// of, and one more barrier, behind which the records are clear.
#[test]
fn the_code_has_records_in_shared_memory() {
    let (source, lowered) = lower("mirror", KERNELS);
    let plain = config("compute_75", "");
    for (target, atomics, barrier) in [
        ("compute_75", [".shared.exch.b64", ".shared.max.u64"], "bar.sync"),
        ("gfx1100", ["ds_storexchg_rtn_b64", "ds_max"], "s_barrier"),
    ] {
        let config = Config { target: target.parse().unwrap(), ..plain.clone() };
        let job = job("mirror", &source, &lowered, &config);
        let with = with_plugin().assembly(&job).unwrap();
        let without = compiler().assembly(&job).unwrap();
        for atomic in atomics {
            assert!(with.contains(atomic) && !without.contains(atomic), "{target}: {with}");
        }
        let count = |code: &str| code.matches(barrier).count();
        assert_eq!(count(&with), count(&without) + 1, "{target}: {with}");
    }
}

#[test]
fn switched_off_it_changes_no_byte() {
    let compiler = with_plugin();
    for target in TARGETS {
        let off = config(target, "bounds=off,races=off");
        let with = compile(&compiler, "mirror", KERNELS, &off).unwrap();
        let plain = config(target, "");
        let without = compile(common::compiler(), "mirror", KERNELS, &plain).unwrap();
        assert_eq!(with.to_bytes(), without.to_bytes(), "{target}");
        let on = compile(&compiler, "mirror", KERNELS, &plain).unwrap();
        assert_ne!(on.bytes, without.bytes, "{target}");
    }
}

#[test]
fn each_kind_of_check_can_be_left_out() {
    let compiler = with_plugin();
    for (meta, bounds, races) in [("races=off", true, false), ("bounds=off", false, true)] {
        let config = config("compute_75", meta);
        let artifact = compile(&compiler, "mirror", KERNELS, &config).unwrap();
        let has = |text: &str| artifact.messages.iter().any(|message| message.contains(text));
        assert_eq!((has("out of bounds"), has("a race")), (bounds, races), "{meta}");
    }
    let error = compile(&compiler, "mirror", KERNELS, &config("cpu", "race=off")).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("`race=off` is not an option: write bounds=off or races=off"),
        "{message}"
    );
}

#[test]
fn with_silent_panics_it_says_only_that_something_is_wrong() {
    let mut config = config("compute_75", "");
    config.params.panics = PanicLevel::None;
    let artifact = compile(&with_plugin(), "mirror", KERNELS, &config).unwrap();
    assert!(artifact.kernels[0].panics && artifact.messages.is_empty(), "{:?}", artifact.messages);
}

/// What is said of the one kernel of a source.
fn notes(name: &str, text: &str, target: &str) -> Vec<String> {
    let artifact = compile(&with_plugin(), name, text, &config(target, "")).unwrap();
    artifact.kernels[0].notes.clone()
}

#[test]
fn what_is_not_checked_is_said() {
    assert_eq!(notes("mirror", KERNELS, "compute_75"), ["sanitize: 4 accesses checked"]);
    let unknown = "
use kernelmill_device::prelude::*;
#[kernel]
pub fn unknown(mut y: DisjointSlice<f32>, address: u64) {
    let from = address as *const f32;
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = unsafe { *from };
    }
}
";
    let said = notes("unknown", unknown, "compute_75");
    let expected = "sanitize: accesses to memory of unknown size or in libraries are not checked: \
                    kernels/unknown.rs:7";
    assert!(said.contains(&expected.to_owned()), "{said:?}");
    let large = KERNELS.replace("64>", "3200>");
    let said = notes("large", &large, "compute_75");
    let expected = "sanitize: the shared array `TILE`: races are not checked: there is not enough \
                    shared memory to remember accesses";
    assert!(said.contains(&expected.to_owned()), "{said:?}");
    // Room for cells of half the size.
    let medium = KERNELS.replace("64>", "2000>");
    assert_eq!(notes("medium", &medium, "compute_75"), ["sanitize: 4 accesses checked"]);
    let dynamic = "
use kernelmill_device::prelude::*;
#[kernel]
pub fn dynamic(mut y: DisjointSlice<f32>) {
    // SAFETY: elements are read after the barrier.
    let tile = unsafe { DynamicSharedArray::<f32>::get() };
    let (i, t) = (thread::index_1d(), thread::thread_idx().x as usize);
    unsafe { tile.as_mut_ptr().add(t).write(1.0) };
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = unsafe { tile.as_mut_ptr().add(t).read() };
    }
}
";
    let said = notes("dynamic", dynamic, "compute_75");
    let expected =
        "sanitize: races in the dynamic shared memory are detected in its first 4096 bytes only";
    assert!(said.contains(&expected.to_owned()), "{said:?}");
    let recursive = "
use kernelmill_device::prelude::*;
fn sum(x: &[f32], i: usize) -> f32 { if i == 0 { x[0] } else { x[i] + sum(x, i / 2) * 2.0 + sum(x, i / 3) } }
#[kernel]
pub fn recursive(x: &[f32], mut y: DisjointSlice<f32>) {
    let i = thread::index_1d();
    if let Some(y) = y.get_mut(i) { *y = sum(x, i.get()) }
}
";
    let said = notes("recursive", recursive, "cpu");
    let expected = "sanitize: `recursive::sum` is not checked: it is recursive, called by address, or assembly";
    assert!(said.contains(&expected.to_owned()), "{said:?}");
}
