//! The arguments of nvcc: which paths and arguments its shell leaves as they are, and the options that change code.

use std::{
    collections::HashSet,
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

use super::source::CudaSource;
use crate::{
    Error,
    diagnostic::{Message, MessageSeverity},
    job::{Options, Params},
};

/// Refuses paths that nvcc does not pass on as they are: it writes them between double quotes into commands for a
/// shell, which replaces variables and runs programs that they name. Of the paths in a folder with such a name the
/// first is reported.
pub(super) fn check_paths<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), Error> {
    let is_changed = |path: &Path| {
        let path = path.to_string_lossy();
        path.contains(['$', '`', '"']) || path.contains("\\\\")
    };
    let mut reported = HashSet::new();
    let is_new = |path: &&Path| {
        let changed = path.ancestors().take_while(|it| is_changed(it)).last();
        changed.is_some_and(|it| reported.insert(it.to_owned()))
    };
    let faults = paths.filter(is_new).map(|path| {
        format!(
            "the path {path:?}: nvcc writes it into a command for a shell, which would expand or run a part of it; \
             remove `$`, `` ` ``, `\"` and double backslashes from the path, or set CARGO_TARGET_DIR if it is in \
             Cargo's target folder"
        )
    });
    refuse(faults.collect())
}

/// A path as nvcc and its tools can be given it in a list, whose parts are separated by commas: relative to the folder
/// that they run in, where that leaves no comma in it.
pub(super) fn in_list(path: &Path, root: &Path) -> Result<PathBuf, Error> {
    let has_comma = |path: &Path| path.to_string_lossy().contains(',');
    if !has_comma(path) {
        return Ok(path.to_path_buf());
    }
    let common =
        path.components().zip(root.components()).take_while(|(ours, roots)| ours == roots).count();
    let up = std::iter::repeat_n(Component::ParentDir, root.components().count() - common);
    let relative: PathBuf = up.chain(path.components().skip(common)).collect();
    if has_comma(&relative) || path.is_relative() {
        return Err(refusal(&[format!(
            "the path {path:?}: nvcc would split it at the comma; remove commas from the path, or set \
             CARGO_TARGET_DIR if it is in Cargo's target folder"
        )]));
    }
    Ok(if relative.as_os_str().is_empty() { ".".into() } else { relative })
}

/// Refuses arguments that the shell would change, which nvcc's backslashes do not keep from it.
pub(super) fn check_arguments(arguments: &[OsString]) -> Result<(), Error> {
    let is_changed = |argument: &&OsString| argument.to_string_lossy().contains(['$', '`']);
    let faults = arguments.iter().filter(is_changed).map(|argument| {
        format!(
            "the argument {argument:?} of `define`, `include` or `arguments` in the settings: nvcc writes it into a \
             command for a shell, which would expand what begins with `$` and run what is between two `` ` ``; \
             define it in the source"
        )
    });
    refuse(faults.collect())
}

/// An error for everything that nvcc's shell would change. Elsewhere than on Unix it starts no such shell.
fn refuse(faults: Vec<String>) -> Result<(), Error> {
    if cfg!(unix) && !faults.is_empty() { Err(refusal(&faults)) } else { Ok(()) }
}

/// The error for what nvcc cannot be given, a message each.
fn refusal(faults: &[String]) -> Error {
    let messages = faults.iter().map(|what| Message {
        severity: MessageSeverity::Error,
        text: format!("nvcc cannot be given {what}"),
        place: None,
        details: Vec::new(),
    });
    Error::Cpp { tool: "nvcc", messages: messages.collect(), kept: None }
}

/// The arguments that every run on a source has.
pub(super) fn source_arguments(source: &CudaSource) -> Result<Vec<OsString>, Error> {
    let mut arguments: Vec<OsString> = Vec::new();
    for folder in &source.includes {
        arguments.extend(["-I".into(), in_list(folder, &source.package_root)?.into_os_string()]);
    }
    for (name, value) in &source.defines {
        let define = if value.is_empty() { name.clone() } else { format!("{name}={value}") };
        // nvcc takes a list; a comma that is part of a value has a backslash.
        arguments.push(format!("-D{}", define.replace(',', "\\,")).into());
    }
    arguments.extend(source.arguments.iter().map(OsString::from));
    arguments.extend(prefix_map(&source.package_root).map(OsString::from));
    Ok(arguments)
}

/// What makes `__FILE__` a path below the package's folder, so that a second checkout has the same code. nvcc hands it to the
/// host's compiler, which preprocesses for devices too, in a list, and to the shell as it is: a folder with other characters
/// than these stays in paths. Microsoft's compiler has no such argument.
fn prefix_map(root: &Path) -> Option<String> {
    let is_plain = |it: char| it.is_alphanumeric() || "/_-.+@".contains(it);
    let root = root.to_str().filter(|it| cfg!(unix) && it.chars().all(is_plain))?;
    Some(format!("-Xcompiler=-fmacro-prefix-map={root}/="))
}

/// The options that change code, as nvcc takes them. nvcc's own defaults are ours.
pub(super) fn option_arguments(params: &Params, options: &Options) -> Vec<String> {
    let mut arguments = Vec::new();
    if params.contract != Params::default().contract {
        arguments.push(format!("-fmad={}", params.contract));
    }
    if options.ftz {
        arguments.push("-ftz=true".to_owned());
    }
    if options.opt_level != Options::default().opt_level {
        arguments.push(format!("-Xptxas=-O{}", options.opt_level));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_that_a_shell_would_change_are_refused() {
        let refused = |path: &str| check_paths([Path::new("/w/a b"), Path::new(path)].into_iter());
        for path in ["a$x.cu", "$(id)/a.cu", "a`id`.cu", "a\"b.cu", "a\\\\b.cu"] {
            let Err(Error::Cpp { messages, .. }) = refused(path) else { panic!("{path}") };
            assert!(messages[0].text.contains(&format!("{path:?}")), "{}", messages[0].text);
        }
        for path in ["/w/a'b;c&d|e(f)g<h>i*j?k[l{m~n#o!p%q^r=s+t,u@v:w-x.cu", "/w/ä.cu", "a\\b"] {
            assert!(refused(path).is_ok(), "{path}");
        }
        let paths = ["/a$x/b.cu", "/w/c`id`.cu", "/a$x/d.cu"].map(Path::new);
        let Err(Error::Cpp { messages, .. }) = check_paths(paths.into_iter()) else {
            panic!("they are refused")
        };
        let texts: Vec<_> = messages.iter().map(|it| it.text.split(": ").next().unwrap()).collect();
        let expected = ["/a$x/b.cu", "/w/c`id`.cu"]
            .map(|path| format!("nvcc cannot be given the path {path:?}"));
        assert_eq!(texts, expected, "a folder is reported once");
    }

    #[cfg(unix)]
    #[test]
    fn arguments_that_a_shell_would_change_are_refused() {
        for argument in ["-DA=\"h $i\"", "-DA=`id`", "-DA=\\$HOME"] {
            let argument = OsString::from(argument);
            let Err(Error::Cpp { messages, .. }) = check_arguments(std::slice::from_ref(&argument))
            else {
                panic!("{argument:?}")
            };
            assert!(messages[0].text.contains(&format!("{argument:?}")), "{}", messages[0].text);
        }
        assert!(check_arguments(&["-DA=\"a;b & c\"".into(), "-lineinfo".into()]).is_ok());
        let both = check_arguments(&["-DA=$A".into(), "-DB=$B".into()]);
        assert!(
            matches!(both, Err(Error::Cpp { messages, .. }) if messages.len() == 2),
            "each has a message"
        );
    }

    #[test]
    fn commas_are_kept_out_of_lists_or_refused() {
        let root = Path::new("/w,x/app");
        let given = |path: &str| in_list(Path::new(path), root);
        let expected = [
            ("/usr/include", "/usr/include"),
            ("/w,x/app/inc", "inc"),
            ("/w,x/target/out", "../target/out"),
            ("/w,x/app", "."),
        ];
        for (path, written) in expected {
            assert_eq!(given(path).unwrap(), Path::new(written), "{path}");
        }
        for path in ["/w,x/app/a,b", "/t,u/out", "a,b.cu"] {
            let Err(Error::Cpp { messages, .. }) = given(path) else { panic!("{path}") };
            let expected = format!("nvcc cannot be given the path {path:?}: nvcc would split it");
            assert!(messages[0].text.starts_with(&expected), "{}", messages[0].text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_cut_off_paths_where_no_list_and_no_shell_changes_them() {
        let map = |root: &str| prefix_map(Path::new(root));
        assert_eq!(map("/w/ä-1.0/a_b").unwrap(), "-Xcompiler=-fmacro-prefix-map=/w/ä-1.0/a_b/=");
        for root in ["/w/a b", "/w/a,b", "/w/a'b", "/w/a;b", "/w/a&b", "/w/a=b", "/w/a\\b", "/w/a*"]
        {
            assert_eq!(map(root), None, "{root}");
        }
    }

    #[test]
    fn options_that_are_nvccs_defaults_need_no_argument() {
        assert!(option_arguments(&Params::default(), &Options::default()).is_empty());
        let params = Params { contract: false, ..Params::default() };
        let options = Options { opt_level: 1, ftz: true, ..Options::default() };
        let expected = ["-fmad=false", "-ftz=true", "-Xptxas=-O1"];
        assert_eq!(option_arguments(&params, &options), expected);
    }
}
