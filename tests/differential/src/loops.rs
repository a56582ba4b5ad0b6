//! Loops that threads leave in different rounds and by several ways, with values that are used
//! after them.

use super::Body;

/// A loop with a limit in its head, one or two ways out of its middle, and perhaps a `return`.
pub(super) fn several_exits(body: &mut Body<'_>, depth: usize, pad: &str) -> String {
    let (name, declaration) = body.target(pad);
    let (counter, limit) = (body.name(), body.expression(1));
    let known = body.variables.len();
    body.variables.extend([name.clone(), counter.clone()]);
    let (first, second) = (body.condition(), body.condition());
    let (inner, value, left) = (body.block(depth), body.expression(2), body.expression(1));
    let second = match body.random.below(3) {
        0 => format!("if {second} {{ return {left}; }}"),
        1 => format!("if {second} {{ {name} ^= {left}; break; }}"),
        _ => format!("if {second} {{ {name} = {name}.wrapping_add({left}); continue; }}"),
    };
    body.variables.truncate(known);
    // Both are used by what comes after the loop.
    body.variables.extend([name.clone(), counter.clone()]);
    let rounds = 3 + body.random.below(12);
    format!(
        "{declaration}{pad}let mut {counter}: u32 = 0;\n{pad}while {counter} < {limit} % {rounds} \
         {{\n{pad}    {counter} += 1;\n{pad}    if {first} {{ break; }}\n{inner}{pad}    {second}\n\
         {pad}    {name} = {name}.rotate_left(3) ^ {value};\n{pad}}}\n"
    )
}

/// A loop in a loop: the inner one goes on with the outer one, ends it, or only itself.
pub(super) fn labelled(body: &mut Body<'_>, depth: usize, pad: &str) -> String {
    let (name, declaration) = body.target(pad);
    let (outer, inner, limit) = (body.name(), body.name(), body.expression(1));
    // Some outer loops are the same for all threads.
    let limit = if body.random.below(2) == 0 { "n".to_owned() } else { limit };
    let known = body.variables.len();
    body.variables.extend([name.clone(), outer.clone(), inner.clone()]);
    let conditions = [body.condition(), body.condition(), body.condition()];
    let (nested, value) = (body.block(depth + 1), body.expression(2));
    let result = body.expression(1);
    let ways = [
        format!("if {} {{ {name} ^= {inner}; continue '{outer}; }}", conditions[0]),
        format!("if {} {{ {name} = {result}; break '{outer}; }}", conditions[1]),
        format!("if {} {{ return {name} ^ {outer}; }}", conditions[2]),
    ];
    let wanted = 1 + body.random.below(7);
    let ways: Vec<_> = ways
        .into_iter()
        .enumerate()
        .filter(|(place, _)| wanted >> place & 1 == 1)
        .map(|(_, way)| format!("{pad}        {way}\n"))
        .collect();
    body.variables.truncate(known);
    body.variables.push(name.clone());
    format!(
        "{declaration}{pad}'{outer}: for {outer} in 0..{limit} % 6 {{\n{pad}    \
         let mut {inner}: u32 = {outer};\n{pad}    loop {{\n{pad}        {inner} += 1;\n\
         {pad}        if {inner} > 8 {{ break; }}\n{}{nested}{pad}        \
         {name} = {name}.wrapping_mul(5) ^ {value};\n{pad}    }}\n\
         {pad}    {name} = {name}.wrapping_sub({inner}.rotate_left({outer}));\n{pad}}}\n",
        ways.concat()
    )
}

/// How fast a point flees: a loop over floats whose limit is another exit.
pub(super) fn escape(body: &mut Body<'_>, pad: &str) -> String {
    let (x, y, step) = (body.name(), body.name(), body.name());
    let (left, top, limit) = (body.expression(1), body.expression(1), body.expression(1));
    let out = match body.random.below(3) {
        0 => format!("return {left}"),
        1 => format!("{{ {x} = -1.0; break }}"),
        _ => "break".to_owned(),
    };
    let (seen, steps) = (body.name(), format!("{step}s"));
    body.variables.extend([steps.clone(), seen.clone()]);
    format!(
        "{pad}let ({x}0, {y}0) = (({left} & 0xff) as f32 * 0.015625 - 2.5, \
         ({top} % 77) as f32 * 0.03125 - 1.25);\n\
         {pad}let (mut {x}, mut {y}, mut {step}) = (0.0_f32, 0.0_f32, 0_u32);\n\
         {pad}while {x} * {x} + {y} * {y} < 16.0 {{\n{pad}    if {step} == {limit} % 20 {{ {out} }}\n\
         {pad}    ({x}, {y}) = ({x} * {x} - {y} * {y} + {x}0, 2.0 * {x} * {y} + {y}0);\n\
         {pad}    {step} += 1;\n{pad}}}\n\
         {pad}let mut {steps}: u32 = {step};\n\
         {pad}let mut {seen}: u32 = ({x} * 64.0 + {y}) as u32 ^ ({y} * {y} * 8.0) as u32;\n"
    )
}
