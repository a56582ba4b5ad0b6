//! The program in Rust that launches each kernel of a CUDA program.

use super::{
    Port,
    instances::Instance,
    names::{identifier, raw},
    program::{Kernel, Launch, split, words},
};
use std::{collections::BTreeSet, fmt::Write as _};

impl Port<'_> {
    pub(super) fn main(&self, file: &str, notes: &mut Vec<String>) -> String {
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
        for note in &self.unread {
            calls = format!("    // TODO: {note}.\n{calls}");
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
            Some(Launch { line, file, .. }) => {
                let file = file.as_ref().map_or(String::new(), |file| format!(" of {file}"));
                format!(
                    "\n/// `{}`, which the program launches in line {line}{file}.\n",
                    kernel.name
                )
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
            let element = self.element(kernel, parameter, arguments);
            let mutable = if parameter.is_const { "" } else { "mut " };
            let call = given.and_then(|it| self.allocated(it));
            let length = match call.as_deref().and_then(|call| self.length(call)) {
                Some(length) => {
                    let _ = writeln!(text, "    // {}.", call.as_deref().unwrap_or_default());
                    length
                }
                None => {
                    let call = call.map_or(String::new(), |call| format!(", of `{call}`"));
                    format!("fill_in({:?})", format!("elements of {what}{call}"))
                }
            };
            let _ =
                writeln!(text, "    let {mutable}{own} = device.zeros::<{element}>({length})?;");
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

    /// The call of the program that allocates a buffer.
    fn allocated(&self, name: &str) -> Option<String> {
        let mut calls = self.text.match_indices("cudaMalloc").filter_map(|(at, _)| {
            let call = self.text[at..].split(';').next()?;
            words(call)
                .contains(&name)
                .then(|| call.split_whitespace().collect::<Vec<_>>().join(" "))
        });
        calls.next()
    }

    /// How many elements a call allocates, where these are a product of constants.
    fn length(&self, call: &str) -> Option<String> {
        let (_, list) = call.split_once('(')?;
        let size = split(list.trim_end().strip_suffix(')')?).get(1)?.clone();
        // The bracket of a macro around the call.
        let size = match size.matches(')').count() > size.matches('(').count() {
            true => size.strip_suffix(')')?.to_owned(),
            false => size,
        };
        let (sizes, counts): (Vec<_>, Vec<_>) =
            size.split('*').map(str::trim).partition(|factor| factor.starts_with("sizeof"));
        let counts: Option<Vec<_>> = counts.into_iter().map(|it| self.constant(it)).collect();
        let counts = counts.filter(|_| sizes.len() == 1 && sizes[0].ends_with(')'))?;
        Some(if counts.is_empty() { "1".to_owned() } else { counts.join(" * ") })
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
            Some(list) => split(list),
            None => vec![text.to_owned()],
        }
    }
}
