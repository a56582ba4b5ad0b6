//! Objects that LLVM has made and that are linked into this process.

use std::{env::consts::ARCH, ffi::c_void, thread};

use kernelmill_llvm::{
    Library, find_in_sysroot,
    inkwell::context::Context,
    ir::parse_ir,
    jit::{LinkedObject, Provided},
    machine::Machine,
};
use test_support::tool;

extern "C" fn own(value: i32) -> i32 {
    value * 10
}

/// The object of a module, linked.
fn linked(text: &str, provided: &[Provided<'_>]) -> Result<LinkedObject, String> {
    Library::open(&find_in_sysroot(&tool::rustc().sysroot).unwrap()).unwrap();
    let context = Context::create();
    let triple = format!("{ARCH}-unknown-linux-gnu");
    let machine = Machine::of_host(&triple).unwrap();
    let module = parse_ir(&context, text, machine.data_layout(), &triple).unwrap();
    let object = machine.object(&module).unwrap();
    LinkedObject::link(&object, provided).map_err(|error| error.to_string())
}

#[test]
fn functions_are_called_and_call_what_is_provided() {
    let text = "declare i32 @own(i32)\ndeclare i32 @abs(i32)\n@five = constant i32 5\n\
        define i32 @f(i32 %x) {\n  %a = call i32 @own(i32 %x)\n  %b = call i32 @abs(i32 %a)\n  \
        %c = load i32, ptr @five\n  %d = add i32 %b, %c\n  ret i32 %d\n}\n";
    let address = own as extern "C" fn(i32) -> i32 as *const c_void;
    let object = linked(text, &[("own", address)]).unwrap();
    let function = object.address("f").unwrap();
    // SAFETY: this is the type of the function in the text, and the object stays.
    let function: extern "C" fn(i32) -> i32 = unsafe { std::mem::transmute(function) };
    assert_eq!(function(-3), 35);
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(object.address("f").unwrap(), function as *const c_void));
    });
    // SAFETY: it is a constant of this type.
    assert_eq!(unsafe { *object.address("five").unwrap().cast::<i32>() }, 5);
    let error = object.address("g").unwrap_err().to_string();
    assert!(error.contains('g') && error.contains("not found"), "{error}");
}

/// The mappings of this process, of which an object has some.
#[cfg(target_os = "linux")]
#[test]
fn objects_that_are_dropped_leave_no_memory() {
    let mappings = || std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let rounds = |count| {
        for _ in 0..count {
            let object = linked("define i32 @f() { ret i32 7 }\n", &[]).unwrap();
            assert!(object.address("f").is_ok());
        }
        mappings()
    };
    let before = rounds(5);
    let after = rounds(100);
    assert!(after < before + 50, "{before} mappings have become {after}");
}

#[test]
fn what_nothing_defines_is_named() {
    let text = "declare void @nobody_has_this()\ndefine void @f() { call void @nobody_has_this() ret void }\n";
    let error = linked(text, &[]).unwrap().address("f").unwrap_err().to_string();
    assert!(error.contains("nobody_has_this"), "{error}");
}

#[test]
fn what_is_no_object_is_refused() {
    Library::open(&find_in_sysroot(&tool::rustc().sysroot).unwrap()).unwrap();
    let error = LinkedObject::link(b"no object", &[]).unwrap_err().to_string();
    assert!(error.starts_with("LLVM: "), "{error}");
}
