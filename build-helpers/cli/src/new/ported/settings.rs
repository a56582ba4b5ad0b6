//! The settings of a package for the kernels of a CUDA program: instances of templates, and contracts that its text lets suppose.

use super::{Port, program::Kernel, text::words};

impl Port<'_> {
    pub(super) fn settings(&self) -> String {
        let mut text = String::new();
        for kernel in &self.program.kernels {
            let rules = rules(kernel);
            let instances = self.instances(kernel);
            if kernel.template.is_empty() && rules.is_empty() {
                continue;
            }
            let table = format!("[package.metadata.kernelmill.kernels.{}]\n", kernel.name);
            // Without instances it is no kernel that settings could be of.
            if !kernel.template.is_empty() && instances.is_empty() {
                text += &format!(
                    "\n# TODO: what the template is instantiated for.\n# {table}# instances = [\"float\"]\n"
                );
                continue;
            }
            text += &format!("\n{table}");
            if !kernel.template.is_empty() {
                let listed: Vec<_> =
                    instances.iter().map(|(text, _)| format!("{text:?}")).collect();
                text += &format!("instances = [{}]\n", listed.join(", "));
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
