//! Port of a CUDA program: its kernels as they are, settings for them, and a program that launches each.

use super::program::{Kernel, Launch, Parameter, Program, line_of, words};
use anyhow::{Context as _, Result, ensure};
use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

/// What a port writes and says.
pub(super) struct Ported {
    /// The kernel file and the headers beside it, with their paths in the package.
    pub(super) files: Vec<(String, String)>,
    /// What the manifest gets.
    pub(super) settings: String,
    pub(super) main: String,
    /// What is left to the user.
    pub(super) notes: Vec<String>,
}

/// Headers of C++ that kernels without `std::` do not need.
const OF_HOST: [&str; 15] = [
    "algorithm",
    "chrono",
    "fstream",
    "functional",
    "iomanip",
    "iostream",
    "map",
    "memory",
    "numeric",
    "random",
    "sstream",
    "string",
    "thread",
    "unordered_map",
    "vector",
];

/// What host code may use that becomes something else, and what that is.
const LIBRARIES: [(&str, &str); 7] = [
    ("cublas", "the cuBLAS library"),
    ("cufft", "the cuFFT library"),
    ("curand", "the cuRAND library"),
    ("cusparse", "the cuSPARSE library"),
    ("thrust::", "Thrust"),
    ("cudaTextureObject_t", "textures"),
    ("cudaGraphLaunch", "CUDA graphs: see the page of the book on graphs of launches"),
];

pub(super) fn port(file: &Path) -> Result<Ported> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_cuda = file.extension().is_some_and(|it| it == "cu");
    ensure!(is_cuda, "{}: a CUDA program is a file with the extension .cu", file.display());
    let program = Program::read(&text);
    ensure!(!program.kernels.is_empty(), "{}: no `__global__` function is in it", file.display());
    let mut notes = Vec::new();
    let path = format!("kernels/{name}");
    let mut files = vec![(path.clone(), without_host(&text, &program))];
    headers(file.parent().unwrap_or(Path::new("")), &text, &mut files, &mut notes);
    for (name, range) in &program.host {
        let (from, to) = (line_of(&text, range.start), line_of(&text, range.end));
        notes.push(format!(
            "`{name}` (lines {from} to {to}) is host code: it is between `#if 0` and `#endif` in {path}, to be ported and removed"
        ));
    }
    for name in &program.constants {
        notes.push(format!(
            "`{name}` is written by `kernels.variables().{name}()?.write(&values)?`"
        ));
    }
    for (word, what) in LIBRARIES.iter().filter(|(word, _)| text.contains(word)) {
        notes.push(format!("`{word}`: {what} is not taken over"));
    }
    let port = Port { text: &text, program: &program };
    let (settings, main) = (port.settings(), port.main(name, &mut notes));
    Ok(Ported { files, settings, main, notes })
}

/// The text of a program whose host code is not compiled.
fn without_host(text: &str, program: &Program) -> String {
    let mut kept = String::new();
    let mut at = 0;
    for (_, range) in &program.host {
        kept += &text[at..range.start];
        let line = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
        kept +=
            &format!("{line}#if 0  // host code, to be ported\n{}\n#endif", &text[range.clone()]);
        at = range.end;
    }
    kept += &text[at..];
    if program.kernels.iter().any(|kernel| kernel.body.contains("std::")) {
        return kept;
    }
    let is_of_host = |line: &str| {
        let name = included(line).and_then(|it| it.strip_prefix('<')?.strip_suffix('>'));
        name.is_some_and(|name| OF_HOST.contains(&name))
    };
    let line = |line: &str| match is_of_host(line) {
        true => format!("// {line}\n"),
        false => format!("{line}\n"),
    };
    kept.lines().map(line).collect()
}

/// What a line includes, with its quotes or brackets.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix('#')?.trim_start().strip_prefix("include")?;
    Some(rest.trim())
}

/// Takes along the headers in quotes that are beside a file or below its folder.
fn headers(folder: &Path, text: &str, files: &mut Vec<(String, String)>, notes: &mut Vec<String>) {
    for name in text.lines().filter_map(included) {
        let Some(name) = name.strip_prefix('"').and_then(|it| it.split('"').next()) else {
            continue;
        };
        let path = format!("kernels/{name}");
        if files.iter().any(|(known, _)| *known == path) {
            continue;
        }
        let is_below = !name.split(['/', '\\']).any(|part| part == "..") && !name.starts_with('/');
        match fs::read_to_string(folder.join(name)) {
            Ok(header) if is_below => {
                files.push((path, header.clone()));
                headers(folder, &header, files, notes);
            }
            _ => notes.push(format!(
                "the header `{name}` is not copied: it is not in the file's folder; name its folder with the setting `include`"
            )),
        }
    }
}

struct Port<'p> {
    text: &'p str,
    program: &'p Program,
}

/// An instance of a template: what the settings call it, and what Rust does.
type Instance = (String, Vec<String>);

impl Port<'_> {
    fn launches<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = &'a Launch> {
        self.program.launches.iter().filter(|launch| launch.kernel == kernel.name)
    }

    /// A number, also by the name of a constant.
    fn number(&self, text: &str) -> Option<u32> {
        let digits = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
        if let Ok(number) = digits.parse() {
            return Some(number);
        }
        let is_name = words(text) == [text.trim()];
        let mut lines = self.text.lines().filter(|_| is_name).filter_map(|line| {
            let line = line.split("//").next().unwrap_or_default().trim().trim_end_matches(';');
            let (head, value) = match line.strip_prefix("#define ") {
                Some(rest) => rest.trim().split_once(char::is_whitespace)?,
                None => line.split_once('=').filter(|(head, _)| words(head).contains(&"int"))?,
            };
            let is_it = words(head).last().is_some_and(|name| *name == text.trim());
            let value = value.trim().trim_matches(['(', ')']);
            is_it.then(|| value.parse().ok()).flatten()
        });
        lines.next()
    }

    /// The instance that a launch is of; `None` where the text does not tell it.
    fn instance(&self, kernel: &Kernel, launch: &Launch) -> Option<Instance> {
        let mut written = launch.template.clone();
        let missing = kernel.template.iter().skip(written.len());
        let deduced: Option<Vec<_>> =
            missing.map(|name| self.deduced(kernel, launch, name)).collect();
        written.extend(deduced?);
        let rust = written.iter().map(|argument| match rust_type(argument) {
            Some(ty) => Some(ty.to_owned()),
            None => self.number(argument).map(|number| number.to_string()),
        });
        Some((written.join(", "), rust.collect::<Option<_>>()?))
    }

    /// The argument of a template parameter, by the type that an argument of the launch is declared with.
    fn deduced(&self, kernel: &Kernel, launch: &Launch, name: &str) -> Option<String> {
        let place = kernel.parameters.iter().position(|it| it.ty == name && it.is_pointer)?;
        let argument = launch.arguments.get(place)?;
        let mut statements = self.text.split([';', '{', '}', '\n']);
        statements.find_map(|statement| {
            let statement = statement.trim();
            let (ty, _) = statement.split_once('*')?;
            let ty = ty.trim();
            let is_it = words(&statement[ty.len()..]).contains(&argument.as_str());
            (is_it && rust_type(ty).is_some()).then(|| ty.to_owned())
        })
    }

    /// The instances of a template that the program launches.
    fn instances(&self, kernel: &Kernel) -> Vec<Instance> {
        let mut found: Vec<Instance> = Vec::new();
        for instance in self.launches(kernel).filter_map(|launch| self.instance(kernel, launch)) {
            if !found.contains(&instance) {
                found.push(instance);
            }
        }
        found
    }

    fn settings(&self) -> String {
        let mut text = String::new();
        for kernel in &self.program.kernels {
            let rules = rules(kernel);
            let instances = self.instances(kernel);
            if kernel.template.is_empty() && rules.is_empty() {
                continue;
            }
            text += &format!("\n[package.metadata.kernelmill.kernels.{}]\n", kernel.name);
            if !kernel.template.is_empty() {
                let listed: Vec<_> =
                    instances.iter().map(|(text, _)| format!("{text:?}")).collect();
                let list = format!("instances = [{}]\n", listed.join(", "));
                text += &match listed.is_empty() {
                    true => "# TODO: what the template is instantiated for, for example `instances = [\"float\"]`.\n"
                        .to_owned(),
                    false => list,
                };
            }
            if !rules.is_empty() {
                let rules: Vec<_> = rules.iter().map(|rule| format!("{rule:?}")).collect();
                text += &format!(
                    "# What the text lets suppose. Check and complete it: with a contract the wrapper is safe.\n# requires = [{}]\n",
                    rules.join(", ")
                );
            }
        }
        text
    }

    fn main(&self, file: &str, notes: &mut Vec<String>) -> String {
        let (mut calls, mut functions) = (String::new(), String::new());
        let mut names = BTreeSet::new();
        for kernel in &self.program.kernels {
            let instances = match kernel.template.is_empty() {
                true => vec![(String::new(), Vec::new())],
                false => self.instances(kernel),
            };
            if instances.is_empty() {
                notes.push(format!(
                    "the template `{}` has no launch here whose arguments are known: list its `instances` in Cargo.toml, and launch it",
                    kernel.name
                ));
            }
            for instance in instances {
                let wanted = identifier(&format!("launch_{}", kernel.name), &mut names);
                let is_it = |launch: &&Launch| {
                    kernel.template.is_empty()
                        || self.instance(kernel, launch).as_ref() == Some(&instance)
                };
                let launch = self.launches(kernel).find(is_it);
                calls += &format!("    {wanted}(&device, &kernels)?;\n");
                functions += &self.function(&wanted, kernel, &instance, launch);
            }
        }
        format!(
            "//! Launches the kernels of `kernels/{file}`. What `fill_in` names is to be written in its place.

use kernelmill::{{Device, Launch}};

mod kernels {{
    kernelmill::include_kernels!();
}}

fn main() -> kernelmill::Result<()> {{
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
{calls}    Ok(())
}}
{functions}
/// A value that the program has to say.
fn fill_in<T>(what: &str) -> T {{
    todo!(\"{{what}}\")
}}
"
        )
    }

    /// The function that launches a kernel.
    fn function(
        &self,
        name: &str,
        kernel: &Kernel,
        (_, arguments): &Instance,
        launch: Option<&Launch>,
    ) -> String {
        let mut text = match launch {
            Some(Launch { line, .. }) => {
                format!("\n/// `{}`, which the program launches in line {line}.\n", kernel.name)
            }
            None => format!("\n/// `{}`, which the program does not launch.\n", kernel.name),
        };
        let head = format!(
            "fn {name}(device: &Device, kernels: &kernels::Kernels) -> kernelmill::Result<()> {{\n"
        );
        text += &head;
        let mut names: BTreeSet<_> =
            ["device", "kernels", "stream", "launch"].map(str::to_owned).into();
        let (mut passed, mut results) = (Vec::new(), Vec::new());
        for (place, parameter) in kernel.parameters.iter().enumerate() {
            let given = launch.and_then(|launch| launch.arguments.get(place));
            let what = match given {
                Some(given) => format!("`{}`: the program passes `{given}`", parameter.name),
                None => format!("`{}`", parameter.name),
            };
            if !parameter.is_pointer {
                passed.push(format!("fill_in({what:?})"));
                continue;
            }
            let own = identifier(&parameter.name, &mut names);
            let element = element(kernel, parameter, arguments);
            let mutable = if parameter.is_const { "" } else { "mut " };
            let what = format!(
                "elements of {what}{}",
                given.map_or(String::new(), |it| self.allocated(it))
            );
            let _ = writeln!(
                text,
                "    let {mutable}{own} = device.zeros::<{element}>(fill_in({what:?}))?;"
            );
            passed.push(format!("&{mutable}{own}"));
            if !parameter.is_const {
                results.push(own);
            }
        }
        let _ = writeln!(text, "    let launch = {};", self.configuration(launch));
        let generic = match arguments.is_empty() {
            true => String::new(),
            false => format!("::<{}>", arguments.join(", ")),
        };
        let passed: String = passed.iter().map(|it| format!(", {it}")).collect();
        let _ = writeln!(
            text,
            "    // SAFETY: to be checked: the kernel stays within its buffers, and no two threads race."
        );
        let _ = writeln!(
            text,
            "    unsafe {{ kernels.{}{generic}(&device.stream(), launch{passed})? }};",
            raw(&kernel.name)
        );
        for own in results {
            let _ = writeln!(text, "    println!(\"{own}: {{:?}}\", {own}.download()?);");
        }
        text + "    Ok(())\n}\n"
    }

    /// What the program says of the size of a buffer.
    fn allocated(&self, name: &str) -> String {
        let mut calls = self.text.match_indices("cudaMalloc").filter_map(|(at, _)| {
            let call = self.text[at..].split(';').next()?;
            words(call)
                .contains(&name)
                .then(|| call.split_whitespace().collect::<Vec<_>>().join(" "))
        });
        calls.next().map_or(String::new(), |call| format!(", of `{call}`"))
    }

    fn configuration(&self, launch: Option<&Launch>) -> String {
        let part = |index: usize, what: &str| {
            let written = launch.and_then(|launch| launch.configuration.get(index));
            let Some(written) = written else { return vec![format!("fill_in({what:?})")] };
            let sizes = self.dimensions(written);
            let one = |size: String| match self.number(&size) {
                Some(number) => number.to_string(),
                None => format!("fill_in({:?})", format!("{what}: `{size}`")),
            };
            sizes.into_iter().map(one).collect()
        };
        let (mut grid, mut block) = (part(0, "blocks"), part(1, "threads of a block"));
        let dimensions = grid.len().max(block.len());
        for sizes in [&mut grid, &mut block] {
            sizes.resize(dimensions, "1".to_owned());
        }
        let mut text = format!("Launch::grid([{}], [{}])", grid.join(", "), block.join(", "));
        let shared = launch.and_then(|launch| launch.configuration.get(2));
        if let Some(shared) = shared.filter(|shared| *shared != "0") {
            text += &format!(
                ".shared_bytes(fill_in({:?}))",
                format!("bytes of shared memory: `{shared}`")
            );
        }
        text
    }

    /// The sizes in `dim3(..)`, or in the declaration of a variable of that type.
    fn dimensions(&self, text: &str) -> Vec<String> {
        let declared = self.text.split("dim3").skip(1).find_map(|rest| {
            let rest = rest.trim_start().strip_prefix(text)?.trim_start().strip_prefix('(')?;
            rest.split(");").next()
        });
        let listed = text.strip_prefix("dim3(").and_then(|it| it.strip_suffix(')'));
        match listed.or(declared) {
            Some(list) => super::program::split(list),
            None => vec![text.to_owned()],
        }
    }
}

/// The type of Rust for the elements of a buffer.
fn element(kernel: &Kernel, parameter: &Parameter, arguments: &[String]) -> String {
    let place = kernel.template.iter().position(|name| *name == parameter.ty);
    match place.and_then(|place| arguments.get(place)) {
        Some(argument) => argument.clone(),
        None => rust_type(&parameter.ty)
            .map_or_else(|| format!("kernels::{}", parameter.ty), str::to_owned),
    }
}

/// The type of Rust that a scalar of C++ is in wrappers.
fn rust_type(ty: &str) -> Option<&'static str> {
    Some(match ty.trim() {
        "bool" => "bool",
        "char" | "signed char" | "int8_t" => "i8",
        "unsigned char" | "uint8_t" => "u8",
        "short" | "int16_t" => "i16",
        "unsigned short" | "uint16_t" => "u16",
        "int" | "signed" | "int32_t" => "i32",
        "unsigned" | "unsigned int" | "uint32_t" | "uint" => "u32",
        "long" | "long long" | "int64_t" => "i64",
        "unsigned long" | "unsigned long long" | "uint64_t" => "u64",
        "size_t" => "usize",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    })
}

/// Rules that hold where the text is as it looks: each thread has an index along `x`, tests it against a length, and uses it alone.
fn rules(kernel: &Kernel) -> Vec<String> {
    let dense: String = kernel.body.split_whitespace().collect();
    let own = [
        "=blockIdx.x*blockDim.x+threadIdx.x;",
        "=blockDim.x*blockIdx.x+threadIdx.x;",
        "=threadIdx.x+blockIdx.x*blockDim.x;",
        "=threadIdx.x+blockDim.x*blockIdx.x;",
    ];
    let index = own.iter().find_map(|text| {
        let before = dense.split_once(text)?.0;
        let word = *words(before).last()?;
        let declared = ["unsignedint", "unsigned", "size_t", "int", "auto"];
        declared.iter().find_map(|ty| word.strip_prefix(ty))
    });
    let Some(index) = index.filter(|index| !index.is_empty()) else { return Vec::new() };
    let numbers = kernel.parameters.iter().filter(|it| !it.is_pointer);
    let bound = numbers.map(|it| it.name.as_str()).find(|name| {
        dense.contains(&format!("if({index}<{name})"))
            || dense.contains(&format!("if({index}>={name})return"))
    });
    let Some(bound) = bound else { return Vec::new() };
    let pointers = kernel.parameters.iter().filter(|it| it.is_pointer);
    let by_index = pointers.filter(|it| {
        let text = kernel.body.replace(' ', "");
        let uses = words(&text).iter().filter(|word| **word == it.name).count();
        uses > 0 && uses == text.matches(&format!("{}[{index}]", it.name)).count()
    });
    let mut rules: Vec<_> = by_index.map(|it| format!("{}.len >= {bound}", it.name)).collect();
    if !rules.is_empty() {
        rules.push("grid.x * block.x <= 2147483648".to_owned());
        rules.push("grid.y * grid.z * block.y * block.z == 1".to_owned());
    }
    rules
}

/// A name as an identifier in small letters that is not taken yet.
fn identifier(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut small = String::new();
    for c in name.chars() {
        if c.is_uppercase()
            && !small.is_empty()
            && !small.ends_with(|it: char| it == '_' || it.is_ascii_digit())
        {
            small.push('_');
        }
        small.extend(c.to_lowercase());
    }
    let small = if is_keyword(&small) { small + "_" } else { small };
    let numbered = (2..).map(|number| format!("{small}_{number}"));
    let mut names = std::iter::once(small.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The name of a wrapper.
fn raw(name: &str) -> String {
    if is_keyword(name) { format!("r#{name}") } else { name.to_owned() }
}

/// Whether a name of C++ is a word of Rust.
fn is_keyword(name: &str) -> bool {
    let keywords = [
        "as", "dyn", "fn", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub",
        "ref", "type", "unsafe", "use", "where", "async", "await", "box", "yield", "trait",
    ];
    keywords.contains(&name)
}
