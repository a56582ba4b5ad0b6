//! What code is told of its blocks, and objects that cannot be linked.

use super::*;
use crate::jit::rust::library::open;
use crate::{
    device::Device,
    jit::program::{Binary, Origin, made_once, programs},
};
use kernelmill_artifact::{ArtifactKind, CPU_THREAD_MEMORY};
use kernelmill_llvm::ir::parse_ir;
use kernelmill_store::KeyBuilder;

/// A kernel whose function for whole blocks writes their sizes where its first argument says.
const SIZES: &str = "\
@kernelmill_cpu_sizes = constant { i32, i32, i64, i64, i32, i32, i32, i32, ptr, ptr, ptr, ptr, ptr } \
{ i32 1, i32 0, i64 0, i64 0, i32 64, i32 0, i32 1, i32 0, ptr @run, ptr null, ptr null, ptr null, ptr null }
define internal void @run(ptr %arguments, ptr %block) {
  %at = getelementptr inbounds i8, ptr %block, i64 16
  %geometry = load ptr, ptr %at
  %x_at = getelementptr inbounds i8, ptr %geometry, i64 12
  %x = load i32, ptr %x_at
  %y_at = getelementptr inbounds i8, ptr %geometry, i64 16
  %y = load i32, ptr %y_at
  %out = load ptr, ptr %arguments
  store i32 %x, ptr %out
  %next = getelementptr inbounds i8, ptr %out, i64 4
  store i32 %y, ptr %next
  ret void
}
";

/// What the passes make of that kernel, for blocks of a size if one is given.
fn optimized(block: Option<[u32; 3]>) -> String {
    open().unwrap();
    let context = Context::create();
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let machine = Machine::of_host(&triple).unwrap();
    let module = parse_ir(&context, SIZES, machine.data_layout(), &triple).unwrap();
    if let Some(block) = block {
        assume_block(&context, &module, "sizes", block).unwrap();
    }
    machine.run(&module, super::super::PASSES).unwrap();
    module.to_text()
}

#[test]
fn functions_for_whole_blocks_know_the_size_that_is_chosen() {
    let known = optimized(Some([48, 2, 1]));
    assert!(known.contains("store i32 48") && known.contains("store i32 2"), "{known}");
    let unknown = optimized(None);
    assert!(!unknown.contains("store i32 48") && !unknown.contains("store i32 2"), "{unknown}");
}

#[test]
fn a_kernel_that_bitcode_does_not_have_is_told() {
    open().unwrap();
    let context = Context::create();
    let module = context.create_module("empty");
    let error = assume_block(&context, &module, "sizes", [1; 3]).unwrap_err();
    assert_eq!(
        error,
        "internal error of kernelmill: the bitcode has no symbol `kernelmill_cpu_sizes`; please report it"
    );
}

#[test]
fn every_thread_has_memory_of_its_own() {
    let symbols = symbols::provided();
    let (_, memory) = symbols.iter().find(|(name, _)| *name == CPU_THREAD_MEMORY).unwrap();
    // SAFETY: this is its type.
    let memory: extern "C" fn() -> *mut u8 = unsafe { std::mem::transmute(*memory) };
    let own = memory() as usize;
    assert_eq!((own, own % 64), (memory() as usize, 0));
    let other = std::thread::spawn(move || memory() as usize).join().unwrap();
    assert_ne!(own, other);
}

/// A program that compiles for each request does not grow: neither the process nor what it keeps of programs.
#[test]
fn a_thousand_programs_that_are_dropped_leave_nothing() {
    open().unwrap();
    let context = Context::create();
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let machine = Machine::of_host(&triple).unwrap();
    let module = parse_ir(&context, SIZES, machine.data_layout(), &triple).unwrap();
    let object = machine.object(&module).unwrap();
    let device = Device::cpu().unwrap();
    let limits = BTreeMap::from([("sizes", LaunchLimits::NONE)]);
    // The same program again and again, with one in between that is another each time.
    let linked = |round: u32| {
        let number = if round.is_multiple_of(2) { 0 } else { round };
        let key = KeyBuilder::new("dropped").part("number", number.to_string()).finish();
        let make = || Ok(Binary::new(ArtifactKind::Object, object.clone(), ""));
        let (made, origin) = made_once(&device, "sizes", key, None, make).unwrap();
        (link(key, &made, &limits).unwrap(), origin)
    };
    let (held, _) = linked(0);
    let (same, origin) = linked(0);
    assert!(Arc::ptr_eq(&held, &same) && origin == Origin::Memory);
    drop((held, same));
    for round in 0..1000 {
        let (linked, origin) = linked(round);
        assert_eq!((linked.strategy("sizes").is_some(), origin), (true, Origin::Compiler));
        drop(linked);
        let entries = LINKED.lock().unwrap().as_ref().map_or(0, HashMap::len);
        assert!(entries <= 2 && programs() <= 2, "round {round}: {entries}, {}", programs());
    }
}

#[test]
fn damaged_objects_are_what_llvm_says_of_them() {
    open().unwrap();
    let key = KeyBuilder::new("damaged").finish();
    let limits = BTreeMap::from([("sizes", LaunchLimits::NONE)]);
    let made = Made::new(key, Binary::new(ArtifactKind::Object, b"no object".to_vec(), ""));
    let error = link(key, &made, &limits).err().unwrap();
    assert!(error.starts_with("LLVM: "), "{error}");
}
