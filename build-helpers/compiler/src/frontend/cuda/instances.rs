//! Instances of templates that a source does not instantiate itself: the settings list them.
//!
//! A compiler instantiates what a function takes the address of. So it gets a text in which a function does that for
//! each instance, and includes the source before it: the source is compiled as it is, in the same run, and what is said
//! of it has its lines. The text is no file that people know; what is said of a line of it is about an instance.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use super::source::{CudaKernel, CudaSource, TemplateInstance};
use crate::{
    diagnostic::{Message, MessageSeverity},
    frontend::paths::normal,
};
use kernelmill_artifact::VariableDeclaration;

/// What compilers call the text.
const FILE: &str = "kernelmill-instances";

/// What messages of nvcc call the function for an instance.
const FUNCTION: &str = "__km_instance_";

/// Takes the text, which is no file, out of the files that a compiler has read.
pub(super) fn remove_text(inputs: &mut Vec<PathBuf>, root: &Path) {
    inputs.retain(|path| *path != root.join(FILE));
}

/// The text that instantiates: a line for each instance.
pub(super) fn text(instances: &[TemplateInstance]) -> String {
    let mut text = format!("#line 1 \"{FILE}\"\n");
    for (number, TemplateInstance { template, arguments, .. }) in (1..).zip(instances) {
        let scope = template.rsplit_once("::").map(|(scope, _)| scope);
        let using = scope.map_or_else(String::new, |scope| format!("using namespace {scope}; "));
        let function = match arguments.trim_start().starts_with('<') {
            true => {
                let (list, parameters) = with_parameters(arguments);
                format!("static_cast<void (*)({parameters})>(&{template}<{list}>)")
            }
            false => format!("&{template}<{arguments}>"),
        };
        let _ = writeln!(text, "inline void {FUNCTION}{number}() {{ {using}(void){function}; }}");
    }
    text
}

/// `<float, 16>(float *, int)` as `float, 16` and `float *, int`.
fn with_parameters(arguments: &str) -> (&str, &str) {
    let arguments = arguments.trim().trim_start_matches('<');
    let (list, parameters) = arguments.rsplit_once(">(").unwrap_or((arguments, ""));
    (list, parameters.strip_suffix(')').unwrap_or(parameters))
}

/// The messages of a compiler that was given the [text] behind a source: what is said of a line of it is said of the
/// instance in its place, and what it warns of there is left out.
///
/// [text]: text()
pub(super) fn about_instances(messages: Vec<Message>, source: &CudaSource) -> Vec<Message> {
    if source.instances.is_empty() {
        return messages;
    }
    let mut all = Vec::new();
    let mut refused = Vec::new();
    for mut message in messages {
        message.details.retain(|detail| !detail.contains("In file included from <built-in>"));
        for detail in &mut message.details {
            *detail = without_text(detail, &source.instances);
        }
        let Some((file, line)) = message.place.clone() else {
            all.push(message);
            continue;
        };
        if file != FILE {
            message.place = Some((file.trim_start_matches("./").to_owned(), line));
            all.push(message);
            continue;
        }
        let Some(instance) = nth(&source.instances, line) else { continue };
        let TemplateInstance { template, written, place, .. } = instance;
        match message.severity {
            MessageSeverity::Warning => {}
            // The first error of an instance says it; others follow from it.
            MessageSeverity::Error if refused.contains(&line) => {}
            MessageSeverity::Error => {
                refused.push(line);
                let reason = match is_undetermined(&message.text) {
                    true => format!(
                        "no template of this name takes these arguments, or several do: to choose one of several, \
                         add the types of its parameters, `<{written}>(float *, int)`"
                    ),
                    false => message.text,
                };
                let text =
                    format!("the instance `{written}` of the template `{template}`: {reason}");
                let place = place.clone();
                let severity = MessageSeverity::Error;
                all.push(Message { severity, text, place, details: Vec::new() });
            }
            // "in instantiation of function template specialization 'scale<float>' requested here"
            MessageSeverity::Note => {
                let text = format!("in the instance `{written}` of the template `{template}`");
                let (severity, place) = (MessageSeverity::Note, place.clone());
                let note = Message { severity, text, place, details: Vec::new() };
                if !refused.contains(&line) && all.last() != Some(&note) {
                    all.push(note);
                }
            }
        }
    }
    all
}

/// Whether a compiler says that it does not know which function is meant: that no template fits, or several.
fn is_undetermined(text: &str) -> bool {
    text.starts_with("cannot determine which instance of")
        || text.starts_with("address of overloaded function")
}

fn nth(instances: &[TemplateInstance], line: u32) -> Option<&TemplateInstance> {
    instances.get(usize::try_from(line).ok()?.checked_sub(1)?)
}

/// "at line 3 of kernelmill-instances", as people know the place.
fn without_text(detail: &str, instances: &[TemplateInstance]) -> String {
    let Some((before, after)) = detail.split_once(&format!(" of {FILE}")) else {
        return detail.to_owned();
    };
    let Some((before, line)) = before.rsplit_once(" at line ") else { return detail.to_owned() };
    let line = line.trim_matches('"').parse().ok();
    let Some(instance) = line.and_then(|line| nth(instances, line)) else {
        return detail.to_owned();
    };
    let written = &instance.written;
    format!("{before} by the instance `{written}` of the settings{}", after.trim_start_matches('"'))
}

/// Names the source itself in what was read of it, where a compiler has read it as an included file. What the source
/// has comes before what its headers have.
pub(super) fn name_source(
    source: &CudaSource,
    kernels: &mut [CudaKernel],
    variables: &mut [VariableDeclaration],
) {
    if source.instances.is_empty() {
        return;
    }
    let named = |file: &str| match normal(&source.package_root.join(file)) == source.path {
        true => source.display.clone(),
        false => file.trim_start_matches("./").to_owned(),
    };
    let is_other = |file: &str| file != source.display;
    kernels.iter_mut().for_each(|it| it.signature.file = named(&it.signature.file).into());
    kernels.sort_by_key(|it| is_other(&it.signature.file));
    variables.iter_mut().for_each(|it| it.file = named(&it.file).into());
    variables.sort_by_key(|it| is_other(&it.file));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(instances: &[(&str, &str)]) -> CudaSource {
        let instance = |(template, arguments): &(&str, &str)| TemplateInstance {
            template: (*template).to_owned(),
            arguments: (*arguments).to_owned(),
            written: (*arguments).to_owned(),
            place: Some(("Cargo.toml".to_owned(), 12)),
        };
        CudaSource {
            path: "/w/app/kernels/a.cu".into(),
            display: "kernels/a.cu".to_owned(),
            package_root: "/w/app".into(),
            includes: Vec::new(),
            defines: Vec::new(),
            arguments: Vec::new(),
            instances: instances.iter().map(instance).collect(),
        }
    }

    #[test]
    fn an_instance_is_a_line_that_takes_an_address() {
        let source =
            source(&[("ns::scale", "float, 16"), ("over", "<Pair<int>, 1>(int *, f(*)())")]);
        assert_eq!(
            text(&source.instances),
            "#line 1 \"kernelmill-instances\"\n\
             inline void __km_instance_1() { using namespace ns; (void)&ns::scale<float, 16>; }\n\
             inline void __km_instance_2() { \
             (void)static_cast<void (*)(int *, f(*)())>(&over<Pair<int>, 1>); }\n"
        );
    }

    #[test]
    fn what_is_said_of_the_text_is_said_of_the_settings() {
        let source = source(&[("ns::scale", "float"), ("ns::scale", "floot")]);
        let said = "\
kernelmill-instances(2): error: identifier \"floot\" is undefined
  inline void __km_instance_2() { (void)&ns::scale<floot>; }

kernelmill-instances(2): error: expected an expression
  inline void

kernelmill-instances(1): warning #177-D: unused
  inline void

./kernels/a.cu(7): error: no operator
          detected during instantiation of \"void scale<T>()\" at line 1 of kernelmill-instances
";
        let messages = super::super::message::parse(said, Path::new("/w/app"));
        let shown: Vec<_> =
            about_instances(messages, &source).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "error: the instance `floot` of the template `ns::scale`: identifier \"floot\" is undefined\n --> \
                 Cargo.toml:12",
                "error: no operator\n --> kernels/a.cu:7\n  | detected during instantiation of \"void scale<T>()\" by \
                 the instance `float` of the settings",
            ]
        );
    }
}
