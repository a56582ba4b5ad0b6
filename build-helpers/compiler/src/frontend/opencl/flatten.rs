//! Removal of address spaces from a module's text: the pipeline starts from one address space, and infers
//! others where the target has them.

/// The text of a module without address spaces. Casts between them become casts of a pointer to itself,
/// which LLVM drops; it renames intrinsics for their new types when it reads the text.
pub(super) fn flatten(text: &str) -> String {
    // What is quoted is data or a name: every second part.
    let parts = text.split('"').enumerate().map(|(index, part)| match index % 2 {
        0 => flatten_code(part),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("\"")
}

fn flatten_code(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(" addrspace(") {
        flat.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    flat.push_str(rest);
    flat.replace("addrspacecast ", "bitcast ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_spaces_go_from_code_and_stay_in_text() {
        let text = "%1 = addrspacecast ptr addrspace(3) @x to ptr\n@s = c\"ptr addrspace(3)\"";
        assert_eq!(flatten(text), "%1 = bitcast ptr @x to ptr\n@s = c\"ptr addrspace(3)\"");
    }
}
