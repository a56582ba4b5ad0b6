//! The program in Rust that launches each kernel of a CUDA program.

use super::{
    Port,
    buffers::{Buffers, Passed},
    host::Host,
    instances::Instance,
    names::{identifier, raw},
    program::{Kernel, Launch},
    scope::Scope,
    text::{closing, line_of},
};
use std::{collections::BTreeSet, fmt::Write as _};

/// The launches of a function of the host, for one list of template arguments of that.
struct Group<'p> {
    host: Option<&'p Host>,
    launches: Vec<&'p Launch>,
}

impl Port<'_> {
    pub(super) fn main(&self, file: &str, notes: &mut Vec<String>) -> String {
        let (mut calls, mut functions) = (String::new(), String::new());
        let mut names: BTreeSet<_> =
            ["main", "argument", "show", "fill_in", "fill_in_values"].map(str::to_owned).into();
        for group in self.groups() {
            let called = group.host.map_or("kernels", |host| &host.name);
            let called = if called.chars().all(super::names::is_word) { called } else { "kernels" };
            let name = identifier(&format!("launch_{called}"), &mut names);
            calls += &format!("    {name}(&device, &kernels)?;\n");
            functions += &self.function(&name, &group);
        }
        for kernel in &self.program.kernels {
            if !kernel.template.is_empty() && self.instances(kernel).is_empty() {
                notes.push(format!(
                    "the template `{}` has no launch here whose arguments are known: list its `instances` in Cargo.toml, and launch it",
                    kernel.name
                ));
            } else if self.launches(kernel).next().is_none() {
                let name = identifier(&format!("launch_{}", kernel.name), &mut names);
                calls += &format!("    {name}(&device, &kernels)?;\n");
                functions += &self.unlaunched(&name, kernel);
            }
        }
        for note in &self.unread {
            calls = format!("    // TODO: {note}.\n{calls}");
        }
        let helpers = [
            ("argument(", ARGUMENT),
            ("show(", SHOW),
            ("fill_in_values(", FILL_IN_VALUES),
            ("fill_in(", FILL_IN),
        ];
        let helpers = helpers.iter().filter(|(call, _)| functions.contains(call));
        let helpers: String = helpers.map(|(_, text)| *text).collect();
        format!(
            "//! Launches the kernels of `kernels/{file}`. What `fill_in` names is to be written in its place.

use kernelmill::{{Device, Launch}};

mod kernels {{
    kernelmill::include_kernels!();
}}
{}
fn main() -> kernelmill::Result<()> {{
    let device = Device::best()?;
    let kernels = kernels::Kernels::load(&device)?;
{calls}    Ok(())
}}
{functions}{helpers}",
            self.constants_of(&functions)
        )
    }

    /// The constants that functions use.
    fn constants_of(&self, functions: &str) -> String {
        let constants = self.constants.borrow();
        let used = constants.iter().filter(|(_, (rust, _))| {
            functions.split(|c| !super::names::is_word(c)).any(|word| word == rust)
        });
        let mut text = String::new();
        for (name, (rust, number)) in used {
            let place = self.macros.object(name).map(|it| {
                format!(
                    "`#define {name} {}`, {} line {}.",
                    it.text, self.sources[it.source].path, it.line
                )
            });
            let place = place.unwrap_or_else(|| format!("`{name}` of the program."));
            let _ = write!(text, "\n/// {place}\nconst {rust}: usize = {number};\n");
        }
        text
    }

    /// The launches by the functions of the host that they are in.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for launch in &self.program.launches {
            if !self.program.kernels.iter().any(|it| it.name == launch.kernel) {
                continue;
            }
            let is_around =
                |host: &&Host| host.source == launch.source && host.range.contains(&launch.at);
            let host = self.hosts.iter().find(is_around);
            let place = |host: Option<&Host>| host.map(|it| (it.source, it.range.start));
            let known = groups
                .iter_mut()
                .find(|it| place(it.host) == place(host) && it.launches[0].types == launch.types);
            match known {
                Some(group) => group.launches.push(launch),
                None => groups.push(Group { host, launches: vec![launch] }),
            }
        }
        for group in &mut groups {
            group.launches.sort_by_key(|it| it.at);
        }
        groups
    }

    /// The function that does the launches of one of the host.
    fn function(&self, name: &str, group: &Group<'_>) -> String {
        let first = group.launches[0];
        let path = &self.sources[first.source].path;
        let mut text = match group.host {
            Some(host) => {
                let of: Vec<_> =
                    first.types.iter().map(|(name, ty)| format!("{name} = {ty}")).collect();
                let of = if of.is_empty() { String::new() } else { format!(", {}", of.join(", ")) };
                let lines = line_of(&self.sources[host.source].code, host.range.end);
                format!(
                    "\n/// The launches of `{}` ({path}, lines {} to {lines}{of}). Its other code is in comments, to be ported.\n",
                    host.name, host.first_line
                )
            }
            None => format!("\n/// The launches of {path} that are in no function.\n"),
        };
        let mut scope = Scope::new(self, group.host, &first.types);
        let mut buffers = Buffers::default();
        let calls: Vec<_> =
            group.launches.iter().map(|it| self.launch(it, &mut scope, &mut buffers)).collect();
        let mut body = String::new();
        let mut line = group.host.map_or(0, Host::first_statement);
        for (launch, call) in group.launches.iter().zip(calls) {
            let last = self.last_line(launch);
            if let Some(host) = group.host.filter(|_| line <= last) {
                body += &self.comments(host, line..=last, &buffers);
                line = last + 1;
            }
            body += &call;
        }
        if let Some(host) = group.host {
            let end = line_of(&self.sources[host.source].code, host.range.end);
            body += &self.comments(host, line..=end.saturating_sub(1), &buffers);
        }
        let is_known = buffers.all.iter().any(|it| it.is_result);
        for buffer in &buffers.all {
            if if is_known { buffer.is_result } else { buffer.is_mutable } {
                let _ =
                    writeln!(body, "    show({:?}, &{}.download()?);", buffer.name, buffer.name);
            }
        }
        let head = format!(
            "fn {name}(device: &Device, kernels: &kernels::Kernels) -> kernelmill::Result<()> {{\n    let stream = device.stream();\n"
        );
        text += &head;
        let declared = buffers.text();
        let lines = declared.lines().chain(body.lines());
        let code: String = lines.filter(|it| !it.trim_start().starts_with("//")).collect();
        text += &scope.declarations(&code);
        text += &declared;
        text + &body + "    Ok(())\n}\n"
    }

    /// The function for a kernel that the program does not launch.
    fn unlaunched(&self, name: &str, kernel: &Kernel) -> String {
        let mut scope = Scope::new(self, None, &[]);
        let mut buffers = Buffers::default();
        let launch = Launch { kernel: kernel.name.clone(), ..Launch::default() };
        let call = self.call(kernel, &Instance::default(), &launch, &mut scope, &mut buffers);
        let mut text = format!(
            "\n/// `{}`, which the program does not launch.\nfn {name}(device: &Device, kernels: &kernels::Kernels) -> kernelmill::Result<()> {{\n    let stream = device.stream();\n",
            kernel.name
        );
        text += &buffers.text();
        text += &call;
        for buffer in buffers.all.iter().filter(|it| it.is_mutable) {
            let _ = writeln!(text, "    show({:?}, &{}.download()?);", buffer.name, buffer.name);
        }
        text + "    Ok(())\n}\n"
    }

    /// The line that a launch ends on.
    fn last_line(&self, launch: &Launch) -> usize {
        let code = &self.sources[launch.source].code;
        let rest = &code[launch.at..];
        let after = rest.find(">>>").filter(|_| rest.starts_with("<<<")).unwrap_or_default();
        let open = rest[after..].find('(').map(|it| after + it);
        let close = open.and_then(|open| closing(rest, open)).unwrap_or_default();
        line_of(code, launch.at + close)
    }

    /// Lines of the host's code as comments, without what buffers do already.
    fn comments(
        &self,
        host: &Host,
        lines: std::ops::RangeInclusive<usize>,
        buffers: &Buffers,
    ) -> String {
        let source = &self.sources[host.source];
        let both = source.text.lines().zip(source.code.lines()).zip(1..);
        let of_host = both.filter(|(_, line)| {
            lines.contains(line) && !self.macros.leaves_out(host.source, *line)
        });
        let mut kept: Vec<String> = Vec::new();
        for ((text, code), _) in of_host {
            let trimmed = text.trim();
            let is_text = !code.trim().is_empty() || trimmed.starts_with('"');
            let statement = code.trim().strip_suffix(';').unwrap_or_default();
            let done = ["cudaMalloc", "cudaFree", "cudaDeviceSynchronize", "cudaThreadSynchronize"];
            let is_free = trimmed.starts_with("free") && trimmed.ends_with(';');
            let is_done = !statement.is_empty() && done.iter().any(|it| statement.contains(it));
            if !is_text || is_free || is_done || buffers.is_done(statement) {
                continue;
            }
            let text = text.replace('\t', "    ").trim_end().to_owned();
            let indent = text.len() - text.trim_start().len();
            kept.push(text);
            if let Some(rust) = buffers.in_rust(statement) {
                kept.push(format!("{}In Rust: `{rust}`", " ".repeat(indent)));
            }
        }
        let indents = kept.iter().map(|it| it.len() - it.trim_start().len());
        let indent = indents.min().unwrap_or_default();
        kept.iter().map(|it| format!("    // {}\n", &it[indent..])).collect()
    }

    fn launch(&self, launch: &Launch, scope: &mut Scope<'_>, buffers: &mut Buffers) -> String {
        let Some(kernel) = self.program.kernels.iter().find(|it| it.name == launch.kernel) else {
            return String::new();
        };
        let instance = match kernel.template.is_empty() {
            true => Some(Instance::default()),
            false => self.instance(kernel, launch),
        };
        match instance {
            Some(instance) => self.call(kernel, &instance, launch, scope, buffers),
            None => format!(
                "    // TODO: line {} launches the template `{}` with arguments that the text does not tell.\n",
                launch.line, kernel.name
            ),
        }
    }

    fn call(
        &self,
        kernel: &Kernel,
        (_, arguments): &Instance,
        launch: &Launch,
        scope: &mut Scope<'_>,
        buffers: &mut Buffers,
    ) -> String {
        let (mut passed, mut used) = (Vec::new(), Vec::new());
        for (place, parameter) in kernel.parameters.iter().enumerate() {
            let given = launch.arguments.get(place).map(String::as_str);
            let element = self.element(kernel, parameter, arguments);
            if parameter.is_pointer {
                let is_mutable = !parameter.is_const;
                let it = Passed { parameter: &parameter.name, given, element, is_mutable };
                let place = buffers.of(&it, &used, scope);
                used.push((place, is_mutable));
                let mutable = if is_mutable { "mut " } else { "" };
                passed.push(format!("&{mutable}{}", buffers.all[place].name));
                continue;
            }
            let is_scalar = !element.contains("::");
            let value = given.filter(|_| is_scalar).and_then(|given| scope.value(given, &element));
            passed.push(value.unwrap_or_else(|| {
                let what = match given {
                    Some(given) => format!("`{}`: the program passes `{given}`", parameter.name),
                    None => format!("`{}`", parameter.name),
                };
                format!("fill_in({what:?})")
            }));
        }
        let generic = match arguments.is_empty() {
            true => String::new(),
            false => format!("::<{}>", arguments.join(", ")),
        };
        let passed: String = passed.iter().map(|it| format!(", {it}")).collect();
        format!(
            "    let launch = {};\n    // SAFETY: to be checked: the kernel stays within its buffers, and no two threads race.\n    unsafe {{ kernels.{}{generic}(&stream, launch{passed})? }};\n",
            configuration(launch, scope),
            raw(&kernel.name)
        )
    }
}

const ARGUMENT: &str = "
/// A number of the command line.
fn argument<T: std::str::FromStr>(place: usize, name: &str) -> T {
    let number = std::env::args().nth(place).and_then(|it| it.parse().ok());
    number.unwrap_or_else(|| panic!(\"argument {place} is a number, `{name}`\"))
}
";

const FILL_IN_VALUES: &str = "
/// An array that the program has to fill, of so many values.
fn fill_in_values<T>(count: usize, what: &str) -> Vec<T> {
    todo!(\"{count} values of {what}\")
}
";

const FILL_IN: &str = "
/// A value that the program has to say.
fn fill_in<T>(what: &str) -> T {
    todo!(\"{what}\")
}
";

const SHOW: &str = "
/// Prints the first values of a buffer.
fn show<T: std::fmt::Debug>(name: &str, values: &[T]) {
    println!(\"{name}: {:?} of {} values\", &values[..values.len().min(8)], values.len());
}
";

fn configuration(launch: &Launch, scope: &mut Scope<'_>) -> String {
    let mut part = |index: usize, what: &str| {
        let Some(written) = launch.configuration.get(index) else {
            return vec![format!("fill_in({what:?})")];
        };
        let mut sizes = Vec::new();
        for size in scope.dimensions(written) {
            let known = scope.value(&size, "u32");
            sizes.push(
                known.unwrap_or_else(|| format!("fill_in({:?})", format!("{what}: `{size}`"))),
            );
        }
        while sizes.len() > 1 && sizes.last().is_some_and(|it| it == "1") {
            sizes.pop();
        }
        sizes
    };
    let (mut grid, mut block) = (part(0, "blocks"), part(1, "threads of a block"));
    let dimensions = grid.len().max(block.len());
    for sizes in [&mut grid, &mut block] {
        sizes.resize(dimensions, "1".to_owned());
    }
    let mut text = format!("Launch::grid([{}], [{}])", grid.join(", "), block.join(", "));
    if let Some(shared) = launch.configuration.get(2).filter(|shared| *shared != "0") {
        let known = scope.value(shared, "usize");
        let bytes = known.unwrap_or_else(|| {
            format!("fill_in({:?})", format!("bytes of shared memory: `{shared}`"))
        });
        text += &format!(".shared_bytes({bytes})");
    }
    text
}
