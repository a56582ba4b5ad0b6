//! Programs as CUDA C++.

use crate::{
    operators::{ATOMICS, PRELUDE},
    program::{
        BINS, ELEMENTS, Form, Function, INPUTS, INTS, Int, Lanes, Place, Program, REALS, Real,
        Statement, Test, WarpOperation,
    },
};
use std::fmt::Write as _;

/// A file with these kernels. Each takes its parameter `n`, the array that it reads, its results (one
/// for each thread), the counters that all blocks share, and the structures of each thread's own.
#[must_use]
pub fn source(programs: &[&Program]) -> String {
    let mut text = format!("#include <cuda_fp16.h>\n{PRELUDE}");
    for program in programs {
        text.push_str(&kernel(program));
    }
    text
}

/// One kernel with the functions that it uses.
fn kernel(program: &Program) -> String {
    let mut text = entry(program);
    // A function calls those before it only.
    for (number, function) in program.functions.iter().enumerate().rev() {
        if text.contains(&format!("{}_f{number}(", program.name)) {
            text.insert_str(0, &self::function(&program.name, number, function));
        }
    }
    text
}

fn entry(program: &Program) -> String {
    let (fields, is_row) = (program.fields, program.block[1] == 1);
    let mut printer = Printer {
        program: &program.name,
        text: String::new(),
        depth: 1,
        kernel: true,
        fields,
        is_row,
    };
    printer.statements(&program.body);
    printer.line("store:;");
    printer.line("u32 result = 17u;");
    let ints = (0..INTS).map(|at| format!("v{at}"));
    let reals = (0..REALS).map(|at| format!("bits_of(w{at})"));
    let elements = (0..ELEMENTS).map(|at| format!("a[{at}]"));
    for value in ints.chain(reals).chain(elements) {
        printer.line(&format!("result = result * 31u + {value};"));
    }
    printer.line("out[I] = result;");
    let threads = program.threads();
    let members: String = (0..fields).map(|field| format!(" u32 f{field};")).collect();
    let mut head = format!(
        "\nstruct {0}_item {{{members} }};\nextern \"C\" __global__ void __launch_bounds__({threads}) {0}(u32 n, const u32 *__restrict__ x, \
         u32 *out, u32 *bins, u32 *slots) {{\n",
        program.name
    );
    if program.has_shared() {
        let _ = writeln!(
            head,
            "  __shared__ u32 tile[{threads}];\n  __shared__ u32 pool[{BINS}];\n  tile[T] = 0;\n  \
             if (T == 0u) for (u32 at = 0; at < {BINS}u; ++at) pool[at] = 0;\n  __syncthreads();"
        );
    }
    head.push_str(&declarations(&program.body, 0));
    format!("{head}{}}}\n", printer.text)
}

fn function(program: &str, number: usize, function: &Function) -> String {
    let mut printer =
        Printer { program, text: String::new(), depth: 1, kernel: false, fields: 0, is_row: false };
    printer.statements(&function.body);
    let result = printer.int(&function.result);
    printer.line(&format!("return {result};"));
    let how = if function.is_inline { "" } else { "__noinline__ " };
    format!(
        "\n__device__ {how}u32 {program}_f{number}(u32 v0, u32 v1, u32 n, const u32 *x) {{\n{}{}}}\n",
        declarations(&function.body, 2),
        printer.text
    )
}

/// Every variable, but the first ones, which are parameters.
fn declarations(body: &[Statement], given: usize) -> String {
    let mut text = String::new();
    let ints: Vec<_> = (given..INTS).map(|at| format!("v{at} = 0")).collect();
    let _ = writeln!(text, "  u32 {}, a[{ELEMENTS}] = {{0}};", ints.join(", "));
    // 0, which no compiler knows: nvcc 13.5 takes 0.0f / 0.0f to be equal to itself where it computes both.
    let reals: Vec<_> = (0..REALS).map(|at| format!("w{at} = (float)(n >> 31)")).collect();
    let _ = writeln!(text, "  float {};", reals.join(", "));
    let mut numbers = Vec::new();
    numbered(body, &mut numbers);
    for number in numbers {
        let _ = writeln!(text, "  u32 {number} = 0;");
    }
    text
}

/// The names of the counters of loops and of masks.
fn numbered(body: &[Statement], names: &mut Vec<String>) {
    for statement in body {
        match statement {
            Statement::Loop { id, .. } | Statement::OwnLoop { id, .. } => {
                names.push(format!("c{id}"))
            }
            Statement::Elect { id, .. } => names.push(format!("m{id}")),
            _ => {}
        }
        statement.bodies().into_iter().for_each(|body| numbered(body, names));
    }
}

struct Printer<'p> {
    program: &'p str,
    text: String,
    depth: usize,
    kernel: bool,
    fields: usize,
    /// Whether blocks have one row of threads.
    is_row: bool,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "  ".repeat(self.depth));
    }

    fn nested(&mut self, body: &[Statement]) {
        self.depth += 1;
        self.statements(body);
        self.depth -= 1;
    }

    fn statements(&mut self, body: &[Statement]) {
        body.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Set(to, value) => {
                let value = self.int(value);
                self.line(&format!("v{to} = {value};"));
            }
            Statement::SetReal(to, value) => {
                let value = self.real(value);
                self.line(&format!("w{to} = {value};"));
            }
            Statement::SetElement(at, value) => {
                let (at, value) = (self.int(at), self.int(value));
                self.line(&format!("a[{at} % {ELEMENTS}u] = {value};"));
            }
            Statement::If(test, yes, no) => {
                let test = self.test(test);
                self.line(&format!("if ({test}) {{"));
                self.nested(yes);
                if !no.is_empty() {
                    self.line("} else {");
                    self.nested(no);
                }
                self.line("}");
            }
            Statement::Loop { id, form, most, test, body } => {
                self.looping((*id, *form, *most), test, body);
            }
            Statement::Break(test, id) => {
                let test = self.test(test);
                self.line(&format!("if ({test}) goto end_{id};"));
            }
            Statement::Continue(test, id) => {
                let test = self.test(test);
                self.line(&format!("if ({test}) goto next_{id};"));
            }
            Statement::Return(test, value) => {
                let test = self.test(test);
                let value = self.int(value);
                let how =
                    if self.kernel { "goto store".to_owned() } else { format!("return {value}") };
                self.line(&format!("if ({test}) {how};"));
            }
            Statement::Switch(on, cases) => self.switch(on, cases),
            _ => self.among_threads(statement),
        }
    }

    fn looping(&mut self, (id, form, most): (usize, Form, u32), test: &Test, body: &[Statement]) {
        let test = self.test(test);
        match form {
            Form::For => {
                self.line(&format!("for (c{id} = 0; c{id} < {most}u && ({test}); ++c{id}) {{"));
            }
            Form::While => {
                self.line(&format!("c{id} = 0;"));
                self.line("while (true) {");
                self.line(&format!("  if (c{id} >= {most}u || !({test})) break;"));
                self.line(&format!("  ++c{id};"));
            }
            Form::DoWhile => {
                self.line(&format!("c{id} = 0;"));
                self.line("do {");
                self.line(&format!("  ++c{id};"));
            }
        }
        self.nested(body);
        self.line(&format!("  next_{id}:;"));
        match form {
            Form::DoWhile => self.line(&format!("}} while (c{id} < {most}u && ({test}));")),
            Form::For | Form::While => self.line("}"),
        }
        self.line(&format!("end_{id}:;"));
    }

    fn switch(&mut self, on: &Int, cases: &[(Vec<Statement>, bool)]) {
        let on = self.int(on);
        self.line(&format!("switch ({on} % {}u) {{", cases.len() + 1));
        for (number, (body, falls)) in cases.iter().enumerate() {
            self.line(&format!("case {number}:"));
            self.nested(body);
            if !falls {
                self.line("  break;");
            }
        }
        self.line("default: break;");
        self.line("}");
    }

    /// What threads do with each other.
    fn among_threads(&mut self, statement: &Statement) {
        match statement {
            Statement::SyncThreads => self.line("__syncthreads();"),
            Statement::SyncWarp(lanes) => {
                self.line(&format!("__syncwarp({});", mask(*lanes)));
            }
            Statement::Exchange { to, value, from } => {
                let (value, from) = (self.int(value), self.int(from));
                self.line(&format!("tile[T] = {value};"));
                self.line("__syncthreads();");
                self.line(&format!("v{to} = tile[{from} % (blockDim.x * blockDim.y)];"));
                self.line("__syncthreads();");
            }
            Statement::Tally { to, atomic, index, value, from } => {
                let [index, value, from] = [index, value, from].map(|value| self.int(value));
                let start = ATOMICS[*atomic].start;
                self.line(&format!("if (T < {BINS}u) pool[T] = {start}u;"));
                self.line("__syncthreads();");
                let place = format!("&pool[{index} % {BINS}u]");
                self.atomic(*atomic, "u32 unused;", "unused", &place, &value);
                self.line("__syncthreads();");
                self.line(&format!("v{to} = pool[{from} % {BINS}u];"));
                self.line("__syncthreads();");
            }
            Statement::Warp { to, operation, value, lane, lanes } => {
                let (value, lane) = (self.int(value), self.int(lane));
                let text = warp(*operation, &value, &lane, *lanes);
                self.line(&format!("v{to} = {text};"));
            }
            Statement::ShuffleReal { to, value, bits } => {
                let value = self.real(value);
                self.line(&format!("w{to} = __shfl_xor_sync(0xffffffffu, {value}, {bits});"));
            }
            Statement::Elect { id, test, body } => {
                let test = self.test(test);
                self.line(&format!("m{id} = __ballot_sync(0xffffffffu, {test});"));
                self.line(&format!("if (m{id} >> (T & 31u) & 1u) {{"));
                self.nested(body);
                self.line("}");
                self.line("__syncwarp();");
            }
            Statement::Halves(low, high) => {
                self.line("if ((T & 16u) == 0u) {");
                self.nested(low);
                self.line("} else {");
                self.nested(high);
                self.line("}");
                self.line("__syncwarp();");
            }
            Statement::Atomic { atomic, index, value } => {
                let (index, value) = (self.int(index), self.int(value));
                let place = format!("&bins[{}u + {index} % {BINS}u]", atomic * BINS);
                self.atomic(*atomic, "u32 unused;", "unused", &place, &value);
            }
            Statement::Own { to, atomic, value } => {
                let value = self.int(value);
                let place = format!("&slots[I * {}u]", self.fields);
                self.atomic(*atomic, "", &format!("v{to}"), &place, &value);
            }
            Statement::OwnLoop { id, most, atomic, value } => {
                let value = self.int(value);
                let place = format!("&slots[I * {}u]", self.fields);
                self.line(&format!("for (c{id} = 0; c{id} < {most}u; ++c{id})"));
                self.atomic(*atomic, "u32 unused;", "unused", &place, &value);
            }
            Statement::Fields { to, read: [a, b], writes, through } => {
                // As people write it, which compilers know most about; it always holds.
                let (own, guard) = if self.is_row { ("K", "if (K < 65536) ") } else { ("J", "") };
                let item = |index: &str| format!("(({}_item *)slots)[{index}]", self.program);
                let through =
                    if *through { format!("{own} + (int)(n >> 31)") } else { own.to_owned() };
                let (own, other) = (item(own), item(&through));
                let mut lines =
                    vec![format!("{guard}{{ u32 before = {own}.f{a} * 3u + {own}.f{b};")];
                for (field, value) in writes {
                    lines.push(format!("  {other}.f{field} = {};", self.int(value)));
                }
                lines.push(format!("  v{to} = before * 5u + {own}.f{a} * 7u + {own}.f{b}; }}"));
                lines.iter().for_each(|line| self.line(line));
            }
            _ => {}
        }
    }

    fn atomic(&mut self, number: usize, before: &str, old: &str, place: &str, value: &str) {
        let text = ATOMICS[number].text.replace("$p", place).replace("$a", value);
        self.line(&format!("{{ {before} {} }}", text.replace("$o", old)));
    }

    fn int(&self, value: &Int) -> String {
        match value {
            Int::Constant(value) => format!("{value}u"),
            Int::Variable(at) => format!("v{at}"),
            Int::Counter(id) => format!("c{id}"),
            Int::Elected(id) => format!("m{id}"),
            Int::Place(place) => match place {
                Place::Thread => "T",
                Place::Column => "threadIdx.x",
                Place::Row => "threadIdx.y",
                Place::Lane => "(T & 31u)",
                Place::Warp => "(T >> 5)",
                Place::Block => "blockIdx.x",
                Place::Index => "I",
                Place::Count => "n",
            }
            .to_owned(),
            Int::Input(at) => format!("x[{} % {INPUTS}u]", self.int(at)),
            Int::Element(at) => format!("a[{} % {ELEMENTS}u]", self.int(at)),
            Int::Coordinate { of, most, is_rest } => {
                let operator = if *is_rest { '%' } else { '/' };
                format!("({} {operator} (n % {most}u + 1u))", self.int(of))
            }
            Int::Unary(operator, a) => operator.text.replace("$a", &self.int(a)),
            Int::Binary(operator, a, b) => operands(operator.text, &self.int(a), &self.int(b)),
            Int::Select(test, a, b) => {
                format!("({} ? {} : {})", self.test(test), self.int(a), self.int(b))
            }
            Int::Call(number, a, b) => {
                format!("{}_f{number}({}, {}, n, x)", self.program, self.int(a), self.int(b))
            }
            Int::FromReal(operator, a) => operator.text.replace("$a", &self.real(a)),
        }
    }

    fn real(&self, value: &Real) -> String {
        match value {
            Real::Constant(value) => format!("({value:?}f)"),
            Real::Variable(at) => format!("w{at}"),
            Real::FromInt(operator, a) => operator.text.replace("$a", &self.int(a)),
            Real::Unary(operator, a) => operator.text.replace("$a", &self.real(a)),
            Real::Binary(operator, a, b) => operands(operator.text, &self.real(a), &self.real(b)),
            Real::Select(test, a, b) => {
                format!("({} ? {} : {})", self.test(test), self.real(a), self.real(b))
            }
        }
    }

    fn test(&self, test: &Test) -> String {
        match test {
            Test::Constant(value) => value.to_string(),
            Test::Int(operator, a, b) => operands(operator.text, &self.int(a), &self.int(b)),
            Test::Real(operator, a, b) => operands(operator.text, &self.real(a), &self.real(b)),
            Test::And(a, b) => format!("(({}) && ({}))", self.test(a), self.test(b)),
            Test::Or(a, b) => format!("(({}) || ({}))", self.test(a), self.test(b)),
        }
    }
}

/// The text of an operation with its operands, of which the first may hold what stands for the
/// second.
fn operands(text: &str, a: &str, b: &str) -> String {
    let parts: Vec<_> = text.split("$a").map(|part| part.replace("$b", b)).collect();
    parts.join(a)
}

fn mask(lanes: Lanes) -> String {
    match lanes {
        Lanes::All => "0xffffffffu".to_owned(),
        Lanes::Low => "0xffffu".to_owned(),
        Lanes::High => "0xffff0000u".to_owned(),
        Lanes::Elected(id) => format!("m{id}"),
    }
}

fn warp(operation: WarpOperation, value: &str, lane: &str, lanes: Lanes) -> String {
    let mask = mask(lanes);
    match operation {
        WarpOperation::Xor(bits) => format!("__shfl_xor_sync({mask}, {value}, {bits})"),
        WarpOperation::Index => {
            let lane = match lanes {
                Lanes::Low => format!("(int)({lane} & 15u)"),
                Lanes::High => format!("(int)({lane} & 15u | 16u)"),
                _ => format!("(int)({lane} & 31u)"),
            };
            format!("__shfl_sync({mask}, {value}, {lane})")
        }
        WarpOperation::First => format!("__shfl_sync({mask}, {value}, __ffs((int){mask}) - 1)"),
        WarpOperation::Up(by, width) => format!("__shfl_up_sync({mask}, {value}, {by}u, {width})"),
        WarpOperation::Down(by, width) => {
            format!("__shfl_down_sync({mask}, {value}, {by}u, {width})")
        }
        WarpOperation::Ballot => format!("__ballot_sync({mask}, ({value} & 3u) == 1u)"),
        WarpOperation::Any => format!("(u32)(__any_sync({mask}, ({value} & 15u) == 1u) != 0)"),
        WarpOperation::All => format!("(u32)(__all_sync({mask}, ({value} & 15u) != 1u) != 0)"),
        WarpOperation::Match => format!("__match_any_sync({mask}, {value} % 3u)"),
        WarpOperation::Sum => format!("__reduce_add_sync({mask}, {value})"),
        WarpOperation::Greatest => format!("__reduce_max_sync({mask}, {value})"),
    }
}
