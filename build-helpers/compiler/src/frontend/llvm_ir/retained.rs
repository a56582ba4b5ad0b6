//! Parameters in debug information that is generated: code that is not optimised names them by their places alone,
//! and a parameter whose place no back end knows would be lost.

use std::{collections::BTreeMap, fmt::Write as _};

/// The number of the first new node, which no module has.
const FIRST: u32 = 1 << 30;

/// The text of a module in which every function retains the descriptions of its parameters
/// ([`retainedNodes`](https://llvm.org/docs/LangRef.html#disubprogram)).
pub(super) fn retain(text: &str) -> String {
    let mut parameters: BTreeMap<&str, BTreeMap<u32, &str>> = BTreeMap::new();
    for line in text.lines() {
        let Some((node, body)) = line.split_once(" = !DILocalVariable(") else { continue };
        let number = field(body, "arg: ").and_then(|number| number.parse().ok());
        if let (Some(number), Some(scope)) = (number, field(body, "scope: ")) {
            parameters.entry(scope).or_default().insert(number, node);
        }
    }
    let (mut retained, mut nodes) = (String::with_capacity(text.len()), String::new());
    for line in text.lines() {
        let of_line = || {
            let (node, body) = line.split_once(" = distinct !DISubprogram(")?;
            Some((parameters.get(node)?, body))
        };
        let Some((list, body)) = of_line() else {
            retained.push_str(line);
            retained.push('\n');
            continue;
        };
        let number = FIRST + nodes.lines().count() as u32;
        let list = list.values().copied().collect::<Vec<_>>().join(", ");
        let _ = writeln!(nodes, "!{number} = !{{{list}}}");
        let known = field(body, "retainedNodes: ");
        let line = match known {
            Some(known) => {
                let known = format!("retainedNodes: {known}");
                line.replace(&known, &format!("retainedNodes: !{number}"))
            }
            None => {
                let open = line.strip_suffix(')').unwrap_or(line);
                format!("{open}, retainedNodes: !{number})")
            }
        };
        retained.push_str(&line);
        retained.push('\n');
    }
    retained + &nodes
}

/// The value of a field of a node, up to the next one.
fn field<'t>(body: &'t str, name: &str) -> Option<&'t str> {
    // The last, for a name may be any text.
    let (_, rest) = body.rsplit_once(name)?;
    rest.split([',', ')']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_retain_their_parameters_in_order() {
        let text = "!8 = distinct !DISubprogram(name: \"k\", unit: !0, retainedNodes: !3)\n\
                    !9 = distinct !DISubprogram(name: \"f\", unit: !0)\n\
                    !10 = distinct !DISubprogram(name: \"none\", unit: !0)\n\
                    !11 = !DILocalVariable(name: \"b, scope: !9\", arg: 2, scope: !8, file: !1)\n\
                    !12 = !DILocalVariable(name: \"a\", arg: 1, scope: !8, file: !1)\n\
                    !13 = !DILocalVariable(name: \"local\", scope: !8, file: !1)\n\
                    !14 = !DILocalVariable(name: \"x\", arg: 1, scope: !9)\n";
        let retained = retain(text);
        let has = |part: &str| assert!(retained.contains(part), "{part}: {retained}");
        has("!DISubprogram(name: \"k\", unit: !0, retainedNodes: !1073741824)\n");
        has("!DISubprogram(name: \"f\", unit: !0, retainedNodes: !1073741825)\n");
        has("!DISubprogram(name: \"none\", unit: !0)\n");
        has("!1073741824 = !{!12, !11}\n!1073741825 = !{!14}\n");
    }
}
