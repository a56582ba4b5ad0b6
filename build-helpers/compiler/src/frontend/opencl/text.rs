//! OpenCL C without includes: the text of a program that a device's compiler is given.
//!
//! What is conditional stays so: only the device's compiler knows its extensions. The first line has the
//! arguments that it is to be given, as the run time reads them.

use std::fmt::Write as _;

use super::arguments;
use crate::frontend::cuda::CudaSource;

/// How the line of arguments begins. The run time knows it too.
const ARGUMENTS: &str = "// kernelmill:";

/// The text of a program, from what clang's `-frewrite-includes` has printed.
///
/// `contracts` is whether floating-point operations may be contracted, as OpenCL C lets them unless it is told.
pub(super) fn of_program(expanded: &str, source: &CudaSource, contracts: bool) -> String {
    let mut text = format!("{ARGUMENTS}{}\n", for_device(&source.arguments));
    text.push_str("#define __KERNELMILL__ 1\n");
    for (name, value) in &source.defines {
        // As a compiler defines a macro that is given no value.
        let value = if value.is_empty() { "1" } else { value };
        let _ = writeln!(text, "#define {name} {value}");
    }
    if !contracts {
        text.push_str("#pragma OPENCL FP_CONTRACT OFF\n");
    }
    let root = format!("{}/", source.package_root.display());
    let own = (source.input().to_string_lossy(), &*source.display);
    for line in expanded.lines() {
        match marker(line, &root, (&own.0, own.1)) {
            Marker::None => text.push_str(line),
            Marker::Place(place) => text.push_str(&place),
            Marker::Builtin => continue,
        }
        text.push('\n');
    }
    text
}

/// The arguments for the device's compiler, each with a space before it: those of OpenCL, and macros.
fn for_device(given: &[String]) -> String {
    let translated = arguments::translate(given);
    let is_for_all = |it: &&String| {
        let is_known = ["-cl-", "-D", "-U"].iter().any(|start| it.starts_with(start));
        is_known && !it.starts_with("-cl-ext") && !it.contains(char::is_whitespace)
    };
    translated.iter().filter(is_for_all).map(|argument| format!(" {argument}")).collect()
}

/// What a line of the preprocessor's output is.
#[derive(Debug, PartialEq, Eq)]
enum Marker {
    /// A line of a source.
    None,
    /// Where the next line comes from, as every compiler takes it.
    Place(String),
    /// The same, of a file that there is not.
    Builtin,
}

/// Reads `# 12 "kernels/a.cl" 2`. The source itself, given by its path, has the name that people know; other files of
/// the package are named as seen from there, and all others by their name alone, so that no path of a checkout
/// gets into a program.
fn marker(line: &str, root: &str, (path, display): (&str, &str)) -> Marker {
    let place = line.strip_prefix("# ").and_then(|rest| rest.split_once(' '));
    let Some((number, rest)) = place else { return Marker::None };
    let file = rest.strip_prefix('"').and_then(|rest| rest.rsplit_once('"'));
    let (Ok(number), Some((file, _))) = (number.parse::<u32>(), file) else { return Marker::None };
    if file.starts_with('<') {
        return Marker::Builtin;
    }
    let file = if file == path { display } else { file.strip_prefix(root).unwrap_or(file) };
    let file = if file.starts_with('/') { file.rsplit('/').next().unwrap_or(file) } else { file };
    Marker::Place(format!("#line {number} \"{file}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_lines_without_a_path_of_the_machine() {
        let cases = [
            ("# 1 \"<built-in>\" 1", Marker::Builtin),
            ("# 2 \"kernels/a.cl\"", Marker::Place("#line 2 \"kernels/a.cl\"".to_owned())),
            ("# 3 \"/w/app/k/b.clh\" 1 3", Marker::Place("#line 3 \"k/b.clh\"".to_owned())),
            ("# 4 \"/opt/include/c.clh\" 2", Marker::Place("#line 4 \"c.clh\"".to_owned())),
            ("# 5 \"/w/k/d.cl\"", Marker::Place("#line 5 \"../k/d.cl\"".to_owned())),
            ("# define N 4", Marker::None),
            ("#pragma unroll", Marker::None),
            ("  x[0] = 1;", Marker::None),
        ];
        for (line, expected) in cases {
            assert_eq!(marker(line, "/w/app/", ("/w/k/d.cl", "../k/d.cl")), expected, "{line}");
        }
    }

    #[test]
    fn a_program_has_its_arguments_and_macros() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let source = CudaSource {
            path: "/w/app/a.cl".into(),
            display: "a.cl".to_owned(),
            package_root: "/w/app".into(),
            includes: Vec::new(),
            defines: vec![("N".to_owned(), "4 + 1".to_owned()), ("M".to_owned(), String::new())],
            arguments: texts(&[
                "-cl-std=CL1.1",
                "-O3",
                "-DX=2",
                "-DY=a b",
                "-Wall",
                "-cl-mad-enable",
            ]),
            instances: Vec::new(),
        };
        let expanded = "# 1 \"<built-in>\"\n# 1 \"a.cl\"\nkernel void k() {}\n";
        let expected = "// kernelmill: -cl-std=CL1.2 -DX=2 -cl-mad-enable\n#define __KERNELMILL__ 1\n\
                        #define N 4 + 1\n#define M 1\n#pragma OPENCL FP_CONTRACT OFF\n\
                        #line 1 \"a.cl\"\nkernel void k() {}\n";
        assert_eq!(of_program(expanded, &source, false), expected);
        let contracted = expected.replace("#pragma OPENCL FP_CONTRACT OFF\n", "");
        assert_eq!(of_program(expanded, &source, true), contracted);
    }
}
