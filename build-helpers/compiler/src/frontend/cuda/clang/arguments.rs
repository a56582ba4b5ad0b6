//! Arguments of nvcc as clang takes them.

/// What becomes of an argument of nvcc.
enum Rule {
    /// It means nothing here.
    Drop,
    /// It means nothing here, and neither does the argument after it, which is its value.
    DropWithValue,
    /// clang has it under another name.
    Replace(&'static str),
    /// The argument after it is one of the host's compiler.
    Forward,
}

/// What nvcc takes and clang does not. What is not in the table is passed on.
const TABLE: &[(&str, Rule)] = {
    use Rule::*;
    &[
        // What clang always does.
        ("--expt-relaxed-constexpr", Drop),
        ("-expt-relaxed-constexpr", Drop),
        ("--expt-extended-lambda", Drop),
        ("-expt-extended-lambda", Drop),
        ("--extended-lambda", Drop),
        ("-extended-lambda", Drop),
        // The level, debug information and fused operations are the pipeline's.
        ("-O", Drop),
        ("-O0", Drop),
        ("-O1", Drop),
        ("-O2", Drop),
        ("-O3", Drop),
        ("-g", Drop),
        ("-G", Drop),
        ("--device-debug", Drop),
        ("-lineinfo", Drop),
        ("--generate-line-info", Drop),
        ("--use_fast_math", Drop),
        ("-use_fast_math", Drop),
        // The target is the configuration's.
        ("-arch", DropWithValue),
        ("--gpu-architecture", DropWithValue),
        ("-code", DropWithValue),
        ("--gpu-code", DropWithValue),
        ("-gencode", DropWithValue),
        ("--generate-code", DropWithValue),
        ("-m64", Drop),
        ("--machine", DropWithValue),
        // How nvcc itself works.
        ("-ptx", Drop),
        ("--ptx", Drop),
        ("-cubin", Drop),
        ("-fatbin", Drop),
        ("-c", Drop),
        ("-dc", Drop),
        ("-rdc", DropWithValue),
        ("--relocatable-device-code", DropWithValue),
        ("-t", DropWithValue),
        ("--threads", DropWithValue),
        ("--split-compile", DropWithValue),
        ("-ccbin", DropWithValue),
        ("--compiler-bindir", DropWithValue),
        ("--default-stream", DropWithValue),
        ("-default-stream", DropWithValue),
        ("--allow-unsupported-compiler", Drop),
        ("-allow-unsupported-compiler", Drop),
        ("--keep", Drop),
        ("--source-in-ptx", Drop),
        ("--resource-usage", Drop),
        ("--ptxas-options", DropWithValue),
        ("-Xptxas", DropWithValue),
        ("--nvlink-options", DropWithValue),
        ("-Xnvlink", DropWithValue),
        ("--maxrregcount", DropWithValue),
        ("-maxrregcount", DropWithValue),
        ("--fmad", DropWithValue),
        ("-fmad", DropWithValue),
        ("--ftz", DropWithValue),
        ("-ftz", DropWithValue),
        ("--prec-div", DropWithValue),
        ("-prec-div", DropWithValue),
        ("--prec-sqrt", DropWithValue),
        ("-prec-sqrt", DropWithValue),
        ("-diag-suppress", DropWithValue),
        ("--diag-suppress", DropWithValue),
        ("--diag_suppress", DropWithValue),
        ("-Xcudafe", DropWithValue),
        ("-w", Replace("-w")),
        ("--disable-warnings", Replace("-w")),
        ("--Werror", DropWithValue),
        // Words that clang writes otherwise.
        ("--std", Replace("-std")),
        ("-std", Replace("-std")),
        ("--define-macro", Replace("-D")),
        ("--undefine-macro", Replace("-U")),
        ("--include-path", Replace("-I")),
        ("--system-include", Replace("-isystem")),
        ("--pre-include", Replace("-include")),
        ("-Xcompiler", Forward),
        ("--compiler-options", Forward),
    ]
};

/// The arguments for clang.
///
/// # Errors
///
/// A text that names the argument whose value is missing.
pub(super) fn translate(arguments: &[String]) -> Result<Vec<String>, String> {
    let mut translated = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (name, mut value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (argument.as_str(), None),
        };
        let Some((_, rule)) = TABLE.iter().find(|(known, _)| *known == name) else {
            translated.push(argument.clone());
            continue;
        };
        let mut next = || match value.take() {
            Some(value) => Ok(value),
            None => arguments
                .next()
                .cloned()
                .ok_or_else(|| format!("the argument {name} lacks its value")),
        };
        match rule {
            Rule::Drop => {}
            Rule::DropWithValue => drop(next()?),
            Rule::Replace("-w") => translated.push("-w".to_owned()),
            Rule::Replace("-std") => translated.push(format!("-std={}", next()?)),
            Rule::Replace(word) => translated.extend([(*word).to_owned(), next()?]),
            Rule::Forward => translated.extend(next()?.split(',').map(ToOwned::to_owned)),
        }
    }
    Ok(translated)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], expected: &[&str]) {
        let arguments: Vec<String> = arguments.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(translate(&arguments).unwrap(), expected, "{arguments:?}");
    }

    #[test]
    fn what_only_nvcc_knows_is_dropped_with_its_value() {
        check(&["--expt-relaxed-constexpr", "-O3", "-lineinfo", "--use_fast_math"], &[]);
        check(&["-gencode", "arch=compute_80,code=sm_80", "-arch=sm_90", "-Xptxas", "-v"], &[]);
        check(&["-DX=1", "-Ifolder", "-Wall"], &["-DX=1", "-Ifolder", "-Wall"]);
    }

    #[test]
    fn what_clang_writes_otherwise_is_translated() {
        check(&["--std=c++20"], &["-std=c++20"]);
        check(&["--std", "c++14", "-w"], &["-std=c++14", "-w"]);
        check(
            &["-Xcompiler", "-fPIC,-Wall", "--compiler-options=-fopenmp"],
            &["-fPIC", "-Wall", "-fopenmp"],
        );
        check(&["--define-macro", "A=2", "--include-path=h"], &["-D", "A=2", "-I", "h"]);
    }

    #[test]
    fn an_argument_without_its_value_is_named() {
        let error = translate(&["-arch".to_owned()]).unwrap_err();
        assert_eq!(error, "the argument -arch lacks its value");
    }
}
