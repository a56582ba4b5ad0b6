//! Programs that write words to a buffer, with the words that they must write.

#![allow(dead_code, reason = "each test program uses a part of this")]

use super::common::{Argument, Bench};
use ptx_emulator::{Fault, Module, Options, Order};

/// A kernel of one block; `%rd1` is the buffer of its results, `%r1` the thread's number and `%rd2` the
/// place of the thread's own word.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Before the kernel.
    pub(crate) globals: &'static str,
    pub(crate) body: &'static str,
    pub(crate) threads: u32,
    /// Whether its threads write the same words on purpose.
    pub(crate) racy: bool,
    /// What the words of the buffer are afterwards; they start as zero.
    pub(crate) expected: Vec<u64>,
}

pub(crate) fn program(name: &'static str, body: &'static str, expected: &[u64]) -> Program {
    Program { name, globals: "", body, threads: 1, racy: false, expected: expected.to_vec() }
}

/// A program in which every thread writes its own word.
pub(crate) fn by_thread(
    name: &'static str,
    body: &'static str,
    word: impl Fn(u64) -> u64,
) -> Program {
    Program {
        name,
        globals: "",
        body,
        threads: 32,
        racy: false,
        expected: (0..32).map(word).collect(),
    }
}

impl Program {
    pub(crate) fn with(self, globals: &'static str) -> Program {
        Program { globals, ..self }
    }

    pub(crate) fn racy(self) -> Program {
        Program { racy: true, ..self }
    }

    fn text(&self) -> String {
        format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n{}\n\
             .visible .entry k(.param .u64 out)\n{{
    .reg .pred %p<20>;\n    .reg .b16 %h<20>;\n    .reg .b32 %r<40>;\n    .reg .b64 %rd<40>;
    .reg .f32 %f<20>;\n    .reg .f64 %fd<20>;
    .local .align 16 .b8 depot[64];\n    .shared .align 16 .b8 tile[512];
    ld.param.u64 %rd1, [out];\n    mov.u32 %r1, %tid.x;\n    mad.wide.u32 %rd2, %r1, 8, %rd1;
{}\n    ret;\n}}\n",
            self.globals, self.body
        )
    }

    fn run(&self, order: Order) -> Result<Vec<u64>, String> {
        let module = Module::parse(&self.text()).map_err(|errors| errors.to_string())?;
        if let Some(found) = module.unsupported().first() {
            return Err(format!("`{}` is not supported", found.what));
        }
        let options = Options { order, detect_races: !self.racy, ..Options::default() };
        self.launch(&options).map_err(|fault| fault.to_string())
    }

    pub(crate) fn launch(&self, options: &Options) -> Result<Vec<u64>, Fault> {
        let bench = Bench::new(&self.text());
        let words = self.expected.len();
        let out = bench.buffer(&vec![0u64; words.max(1)]);
        bench.launch("k", 1, self.threads, &[Argument::Buffer(out)], options)?;
        Ok(bench.values(out, words))
    }
}

/// Runs all programs in two orders and says which went wrong.
pub(crate) fn check(programs: &[Program]) {
    let mut wrong = Vec::new();
    for program in programs {
        for order in [Order::Forward, Order::Random(7)] {
            match program.run(order) {
                Ok(found) if found == program.expected => {}
                Ok(found) => {
                    wrong.push(format!("{}: {found:x?}, not {:x?}", program.name, program.expected))
                }
                Err(error) => wrong.push(format!("{}: {error}", program.name)),
            }
        }
    }
    let count = programs.len();
    assert!(wrong.is_empty(), "{} of {} runs:\n{}", wrong.len(), 2 * count, wrong.join("\n"));
}
