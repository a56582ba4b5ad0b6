//! Trampolines: the symbols that llvm-sys links against, each a jump through its slot of a table.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicPtr, Ordering},
};

use crate::functions::for_each_function;

/// The assembly of one trampoline and its slot. The slots of all functions lie one after the
/// other in a section of their own, so they form a table in the order of the list.
#[cfg(any(test, all(target_arch = "x86_64", not(target_vendor = "apple"))))]
macro_rules! x86_64_elf {
    ($name:ident) => {
        concat!(
            ".pushsection .data.kernelmill_llvm,\"aw\",@progbits\n",
            ".Lkernelmill_slot_",
            stringify!($name),
            ": .quad 0\n",
            ".popsection\n",
            ".globl ",
            stringify!($name),
            "\n",
            ".type ",
            stringify!($name),
            ",@function\n",
            stringify!($name),
            ": jmpq *.Lkernelmill_slot_",
            stringify!($name),
            "(%rip)\n",
        )
    };
}

#[cfg(any(test, all(target_arch = "x86_64", target_vendor = "apple")))]
macro_rules! x86_64_macho {
    ($name:ident) => {
        concat!(
            ".section __DATA,__kmllvm\n",
            "Lkernelmill_slot_",
            stringify!($name),
            ": .quad 0\n",
            ".text\n",
            ".globl _",
            stringify!($name),
            "\n",
            "_",
            stringify!($name),
            ": jmpq *Lkernelmill_slot_",
            stringify!($name),
            "(%rip)\n",
        )
    };
}

#[cfg(any(test, all(target_arch = "aarch64", not(target_vendor = "apple"))))]
macro_rules! aarch64_elf {
    ($name:ident) => {
        concat!(
            ".pushsection .data.kernelmill_llvm,\"aw\",@progbits\n",
            ".Lkernelmill_slot_",
            stringify!($name),
            ": .quad 0\n",
            ".popsection\n",
            ".globl ",
            stringify!($name),
            "\n",
            ".type ",
            stringify!($name),
            ",@function\n",
            stringify!($name),
            ":\n",
            "adrp x16, .Lkernelmill_slot_",
            stringify!($name),
            "\n",
            "ldr x16, [x16, :lo12:.Lkernelmill_slot_",
            stringify!($name),
            "]\n",
            "br x16\n",
        )
    };
}

#[cfg(any(test, all(target_arch = "aarch64", target_vendor = "apple")))]
macro_rules! aarch64_macho {
    ($name:ident) => {
        concat!(
            ".section __DATA,__kmllvm\n",
            "Lkernelmill_slot_",
            stringify!($name),
            ": .quad 0\n",
            ".text\n",
            ".p2align 2\n",
            ".globl _",
            stringify!($name),
            "\n",
            "_",
            stringify!($name),
            ":\n",
            "adrp x16, Lkernelmill_slot_",
            stringify!($name),
            "@PAGE\n",
            "ldr x16, [x16, Lkernelmill_slot_",
            stringify!($name),
            "@PAGEOFF]\n",
            "br x16\n",
        )
    };
}

#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple")))]
use aarch64_elf as trampoline;
#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
use aarch64_macho as trampoline;
#[cfg(all(target_arch = "x86_64", not(target_vendor = "apple")))]
use x86_64_elf as trampoline;
#[cfg(all(target_arch = "x86_64", target_vendor = "apple"))]
use x86_64_macho as trampoline;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("kernelmill-llvm builds on x86-64 and aarch64 hosts");

#[cfg(any(test, not(target_vendor = "apple")))]
macro_rules! table_start_elf {
    () => {
        concat!(
            ".pushsection .data.kernelmill_llvm,\"aw\",@progbits\n",
            ".p2align 3\n",
            ".globl kernelmill_llvm_table\n",
            ".hidden kernelmill_llvm_table\n",
            "kernelmill_llvm_table:\n",
            ".popsection\n",
            ".text\n",
        )
    };
}

#[cfg(any(test, target_vendor = "apple"))]
macro_rules! table_start_macho {
    () => {
        concat!(
            ".section __DATA,__kmllvm\n",
            ".p2align 3\n",
            ".globl _kernelmill_llvm_table\n",
            ".private_extern _kernelmill_llvm_table\n",
            "_kernelmill_llvm_table:\n",
        )
    };
}

#[cfg(not(target_vendor = "apple"))]
use table_start_elf as table_start;
#[cfg(target_vendor = "apple")]
use table_start_macho as table_start;

macro_rules! define {
    ($($name:ident)*) => {
        /// The functions, in the order of their slots.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        #[cfg(target_arch = "x86_64")]
        std::arch::global_asm!(table_start!(), $(trampoline!($name)),*, options(att_syntax));
        #[cfg(target_arch = "aarch64")]
        std::arch::global_asm!(table_start!(), $(trampoline!($name)),*);
    };
}
for_each_function!(define);

unsafe extern "C" {
    #[link_name = "kernelmill_llvm_table"]
    static TABLE: [AtomicPtr<c_void>; NAMES.len()];
}

/// Fills the slot of every function with the address that `find` gives for its name; functions
/// that the library lacks end the process with a message if they are ever called.
pub(crate) fn fill(find: impl Fn(&'static str) -> Option<*mut c_void>) {
    // SAFETY: the assembly above lays out one slot of 8 bytes a name, aligned to 8 and writable.
    let table = unsafe { &TABLE };
    for (slot, name) in table.iter().zip(NAMES) {
        let address = find(name).unwrap_or(absent as extern "C" fn() -> ! as *mut c_void);
        slot.store(address, Ordering::Release);
    }
}

/// The target of trampolines for functions that the library lacks. Opening a library checks those
/// that the compiler calls, so only other users of inkwell or llvm-sys reach it.
extern "C" fn absent() -> ! {
    eprintln!("kernelmill: a function was called that the opened LLVM library does not have");
    std::process::abort()
}

#[cfg(test)]
mod tests {

    use crate::{
        Library, find_in_sysroot,
        inkwell::context::Context,
        ir::{ModuleExt, parse_ir},
        machine::Machine,
    };

    fn open() -> Library {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let sysroot = std::process::Command::new(rustc).args(["--print", "sysroot"]).output();
        let sysroot = String::from_utf8(sysroot.unwrap().stdout).unwrap();
        Library::open(&find_in_sysroot(sysroot.trim().as_ref()).unwrap()).unwrap()
    }

    /// Assembles the text of two trampolines and gives the assembly that LLVM reads from it. LLVM
    /// ends the process where the text is wrong.
    fn assemble(triple: &str, text: &str) -> Vec<u8> {
        open();
        let context = Context::create();
        let machine = Machine::new(triple, "", "", true).unwrap();
        let lines: String = text
            .lines()
            .map(|line| format!("module asm \"{}\"\n", line.replace('"', "\\22")))
            .collect();
        let module = parse_ir(&context, &lines, machine.data_layout(), triple).unwrap();
        assert!(module.functions().is_empty());
        machine.object(&module).unwrap()
    }

    fn contains(bytes: &[u8], part: &str) -> bool {
        bytes.windows(part.len()).any(|window| window == part.as_bytes())
    }

    #[test]
    fn the_trampolines_of_every_host_assemble() {
        let elf = "x86_64-unknown-linux-gnu";
        let objects = [
            (elf, concat!(table_start_elf!(), x86_64_elf!(LLVMFirst), x86_64_elf!(LLVMSecond))),
            (
                "aarch64-unknown-linux-gnu",
                concat!(table_start_elf!(), aarch64_elf!(LLVMFirst), aarch64_elf!(LLVMSecond)),
            ),
            (
                "arm64-apple-macosx",
                concat!(
                    table_start_macho!(),
                    aarch64_macho!(LLVMFirst),
                    aarch64_macho!(LLVMSecond)
                ),
            ),
            (
                "x86_64-apple-macosx",
                concat!(table_start_macho!(), x86_64_macho!(LLVMFirst), x86_64_macho!(LLVMSecond)),
            ),
        ];
        for (triple, text) in objects {
            let object = assemble(triple, text);
            for symbol in ["LLVMFirst", "LLVMSecond", "kernelmill_llvm_table"] {
                assert!(contains(&object, symbol), "{triple} lacks {symbol}");
            }
        }
    }
}
