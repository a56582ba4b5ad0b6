//! What a page says that a command prints, against what it printed.

/// The lines of a page that are not among those that were printed, in their order.
pub(super) fn missing(page: &str, printed: &str) -> Vec<String> {
    let printed: Vec<_> = printed.lines().map(plain).collect();
    let mut rest = printed.as_slice();
    let mut missing = Vec::new();
    for line in page.lines() {
        match rest.iter().position(|it| *it == plain(line)) {
            Some(at) => rest = &rest[at + 1..],
            None => missing.push(line.to_owned()),
        }
    }
    missing
}

/// A line without what differs from machine to machine: the processor, how many threads it has, how many bytes a
/// binary has, and Cargo's hashes.
fn plain(line: &str) -> String {
    let words: Vec<_> = line.split(' ').collect();
    let mut plain = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).copied().unwrap_or_default();
        let is_number = word.chars().all(|letter| letter.is_ascii_digit()) && !word.is_empty();
        let is_counted = next.starts_with("bytes") || next.starts_with("thread");
        plain.push(match *word {
            _ if is_number && is_counted => "N".to_owned(),
            "x86_64" | "aarch64" => "CPU".to_owned(),
            "thread" => "threads".to_owned(),
            word => without_hash(word),
        });
    }
    plain.join(" ")
}

/// A path in which Cargo's hashes are the same.
fn without_hash(word: &str) -> String {
    let part = |part: &str| match part.rsplit_once('-') {
        Some((name, hash))
            if hash.len() == 16 && hash.chars().all(|letter| letter.is_ascii_hexdigit()) =>
        {
            format!("{name}-HASH")
        }
        _ => part.to_owned(),
    };
    word.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_machines_differ_in_may_differ() {
        let page = "3 * 1 + 2 = 5 on x86_64 CPU, 2 threads\n  a.o  16296 bytes\ntarget/my-kernels-1568c373f6219bab/out:\n";
        let same = "   Compiling\n3 * 1 + 2 = 5 on aarch64 CPU, 1 thread\n  a.o  7 bytes\ntarget/my-kernels-0000c373f6219bab/out:\n";
        assert_eq!(missing(page, same), [""; 0]);
        let other = same.replace("= 5", "= 6");
        assert_eq!(missing(page, &other), ["3 * 1 + 2 = 5 on x86_64 CPU, 2 threads"]);
        assert_eq!(missing("a\nb\n", "b\na\n"), ["b"], "the order counts");
    }
}
