//! The codes of the run time: the page of the book is made of them, and the sources agree with it.

use std::fmt::Write as _;

use kernelmill::ErrorCode;
use test_support::{root, snapshot};

const HEAD: &str = "# Error codes of the run time\n\n\
    Every error that a program gets from kernelmill (`kernelmill::Error`) has a code, from `Error::code`. What a `main` that \
    returns\nthe error prints has it in the last line, and `cargo kernelmill explain KM1010` prints what is below. A code \
    keeps its meaning.\nErrors of a build have [codes of their own](error-index.md).\n\n\
    This page is made of what the code says (`cargo xtask bless -p cargo-kernelmill run_time_errors`, and a test compares \
    them).\n";

#[test]
fn the_page_of_the_book_is_what_the_registry_says() {
    let mut page = HEAD.to_owned();
    for code in ErrorCode::ALL {
        write!(page, "\n## {code}\n\n{}: `Error::{code:?}`.\n\n", code.title()).unwrap();
        page += code.explanation();
    }
    snapshot::check(root().join("docs/src/reference/run-time-errors.md"), &page);
}

#[test]
fn numbers_are_unique_and_in_order_and_are_read_back() {
    assert!(ErrorCode::ALL.is_sorted_by(|one, next| one.number() < next.number()));
    for code in ErrorCode::ALL {
        assert_eq!(code.number().parse(), Ok(*code));
        assert!(
            code.number().parse::<kernelmill_build::Code>().is_err(),
            "{code} is one of builds"
        );
        assert!(!code.title().ends_with('.'), "{code}");
    }
}

#[test]
fn explanations_say_what_to_do_in_short_lines() {
    for code in ErrorCode::ALL {
        let text = code.explanation();
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{code} has long lines");
        let outside: String = text.split("```").step_by(2).collect();
        assert!(outside.split_whitespace().count() >= 20, "{code} says too little");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{code}");
        assert!(text.matches("```").count().is_multiple_of(2), "{code} has a fence without an end");
    }
}
