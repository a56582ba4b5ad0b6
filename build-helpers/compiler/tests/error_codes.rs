//! The registry of error codes: the page of the book is made of it, and messages that tests expect have its codes.

use kernelmill_compiler::diagnostic::Code;
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};
use test_support::{root, snapshot};

const HEAD: &str = "# Error codes\n\n\
    Every error of a build has a code, `error[KM0003]: ..`, but for those of rustc, which have their own. A code keeps \
    its meaning.\n`cargo kernelmill explain KM0003` prints an explanation, and `cargo kernelmill explain` all codes; \
    with `--json` both print JSON.\nErrors of the run time have [codes of their own](run-time-errors.md).\n\n\
    The first example of a code fails with it, and those below build; a test builds them (`tests/error-examples`).\n\n\
    This page is made of what the code says (`cargo xtask bless -p kernelmill-compiler error_index`, and a test compares \
    them).\n";

/// The codes that no message has which a test expects, each with the reason.
const NOT_SEEN: [(Code, &str); 0] = [];

#[test]
fn the_error_index_of_the_book_is_what_the_registry_says() {
    let mut page = HEAD.to_owned();
    for code in Code::ALL {
        write!(page, "\n## {code}\n\n{}.\n\n{}", code.title(), code.explanation()).unwrap();
    }
    snapshot::check(root().join("docs/src/reference/error-index.md"), &page);
}

#[test]
fn numbers_are_unique_and_in_order_and_are_read_back() {
    assert!(Code::ALL.is_sorted_by(|one, next| one.number() < next.number()));
    for code in Code::ALL {
        assert_eq!(code.number().parse(), Ok(*code));
        assert_eq!(code.number().to_lowercase().trim_start_matches("km").parse(), Ok(*code));
        assert!(!code.title().ends_with('.'), "{code}");
    }
    assert_eq!(
        "KM7".parse::<Code>().map_err(|error| error.to_string()),
        Ok(Code::ALL[6]),
        "leading zeros are optional"
    );
    let error = "E0308".parse::<Code>().unwrap_err().to_string();
    assert!(error.starts_with("there is no error code `E0308`: "), "{error}");
}

#[test]
fn every_explanation_has_an_example_that_fails_and_says_what_to_do() {
    for code in Code::ALL {
        let text = code.explanation();
        let fences = text.lines().filter(|line| line.starts_with("```")).count();
        assert!(fences >= 2 && fences.is_multiple_of(2), "{code} has {fences} fences");
        let last = text.trim_end().rsplit("\n\n").next().unwrap();
        let is_told = fences >= 4 || !last.starts_with("```");
        assert!(is_told, "{code} has no text and no example behind the one that fails");
        assert!(text.lines().all(|line| line.chars().count() <= 130), "{code} has long lines");
    }
}

/// A code is seen where a snapshot, a page or a test has a message with it.
#[test]
fn tests_expect_a_message_with_each_code_but_for_those_that_are_listed() {
    let mut seen = BTreeSet::new();
    for folder in ["tests", "build-helpers", "docs/src/reference/validation.md"] {
        for file in files(&root().join(folder)) {
            let text = fs::read_to_string(&file).unwrap_or_default();
            let own = Code::ALL.iter().filter(|code| text.contains(&format!("[{code}]")));
            seen.extend(own.copied());
        }
    }
    for code in Code::ALL {
        let is_listed = NOT_SEEN.iter().any(|(listed, _)| listed == code);
        assert_ne!(
            seen.contains(code),
            is_listed,
            "{code}: {}",
            match is_listed {
                true => "a test expects it: remove it from the list",
                false => "no test expects it: write one",
            }
        );
    }
}

/// The texts that tests compare: snapshots and tests, without the registry.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).expect("a folder of the checkout").map(Result::unwrap) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && name != "explanations" && name != "target" => {
                found.extend(files(&path));
            }
            kind if kind.is_file() && name != "error_codes.rs" && name != "codes" => {
                let is_text = path.extension().is_some_and(|it| it == "rs" || it == "txt");
                found.extend(is_text.then_some(path));
            }
            _ => {}
        }
    }
    found
}
