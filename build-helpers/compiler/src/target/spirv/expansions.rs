//! Intrinsics that LLVM's back end for SPIR-V has no code for, or wrong code, up to version 22 at least: as functions of
//! plain instructions. A rotation by 0 becomes a shift by as many bits as there are, which SPIR-V has no result for.

/// The intrinsics, by the part of their names between `llvm.` and the type.
const NAMES: [&str; 12] = [
    "is.fpclass",
    "fshl",
    "fshr",
    "sadd.with.overflow",
    "ssub.with.overflow",
    "smul.with.overflow",
    "scmp",
    "ucmp",
    "fptosi.sat",
    "fptoui.sat",
    "bitreverse",
    "ldexp",
];

/// What the name of a function that stands for an intrinsic begins with.
const PREFIX: &str = "__kernelmill_llvm.";

/// Whether an intrinsic is replaced.
pub(in crate::target) fn has(intrinsic: &str) -> bool {
    of(intrinsic).is_some()
}

/// The name of the function that stands for an intrinsic, for the text.
pub(in crate::target) fn name(intrinsic: &str) -> Option<String> {
    of(intrinsic).map(|_| format!("{PREFIX}{}", intrinsic.trim_start_matches("llvm.")))
}

/// The kind of an intrinsic, the width of its integers, and the other type of its name.
fn of(intrinsic: &str) -> Option<(&'static str, u32, &str)> {
    let rest = intrinsic.strip_prefix("llvm.")?;
    let kind = NAMES.into_iter().find(|kind| rest.starts_with(&format!("{kind}.")))?;
    let types = &rest[kind.len() + 1..];
    if kind == CLASS {
        let known = matches!(types, "f32" | "f64");
        return known.then_some((kind, if types == "f32" { 32 } else { 64 }, types));
    }
    if kind == SCALED {
        let float = types.strip_suffix(".i32").filter(|it| matches!(*it, "f32" | "f64"))?;
        return Some((kind, if float == "f32" { 32 } else { 64 }, float));
    }
    let mut types = types.split('.');
    let width = types.next()?.strip_prefix('i')?.parse().ok()?;
    let other = types.next().unwrap_or_default();
    // Comparisons give a byte in Rust; their name has the type that is compared at its end.
    let is_scalar = matches!(other, "" | "f32" | "f64" | "i8" | "i16" | "i32" | "i64");
    (matches!(width, 8 | 16 | 32 | 64) && is_scalar).then_some((kind, width, other))
}

/// Which of the kinds of a number it is.
const CLASS: &str = "is.fpclass";

/// A number times a power of two.
const SCALED: &str = "ldexp";

/// Tests the kind of a number: of the bits that LLVM numbers the kinds by, the one that it has. See
/// [`llvm.is.fpclass`](https://llvm.org/docs/LangRef.html#llvm-is-fpclass).
fn class(name: &str, width: u32, float: &str) -> String {
    let (ty, float) = (format!("i{width}"), if float == "f32" { "float" } else { "double" });
    let mantissa = if width == 32 { 23 } else { 52 };
    let (sign, infinity) =
        (1_u64 << (width - 1), ((1_u64 << (width - 1 - mantissa)) - 1) << mantissa);
    let (quiet, least) = (infinity | 1 << (mantissa - 1), 1_u64 << mantissa);
    let most = sign - 1;
    format!(
        "define internal i1 @{name}({float} %x, i32 %k) {{\n  %b = bitcast {float} %x to {ty}\n  \
         %m = and {ty} %b, {most}\n  %n = icmp slt {ty} %b, 0\n  \
         %zero = icmp eq {ty} %m, 0\n  %small = icmp ult {ty} %m, {least}\n  \
         %finite = icmp ult {ty} %m, {infinity}\n  %infinite = icmp eq {ty} %m, {infinity}\n  \
         %quiet = icmp uge {ty} %m, {quiet}\n  \
         %c1 = select i1 %n, i32 32, i32 64\n  %c2 = select i1 %n, i32 16, i32 128\n  \
         %c3 = select i1 %n, i32 8, i32 256\n  %c4 = select i1 %n, i32 4, i32 512\n  \
         %c5 = select i1 %quiet, i32 2, i32 1\n  \
         %s1 = select i1 %infinite, i32 %c4, i32 %c5\n  %s2 = select i1 %finite, i32 %c3, i32 %s1\n  \
         %s3 = select i1 %small, i32 %c2, i32 %s2\n  %s4 = select i1 %zero, i32 %c1, i32 %s3\n  \
         %w = and i32 %s4, %k\n  %r = icmp ne i32 %w, 0\n  ret i1 %r\n}}\n"
    )
}

/// A number times a power of two, which is as many as three factors: one would be no number, or a subnormal one that is
/// rounded twice ([`scalbn` of musl](https://git.musl-libc.org/cgit/musl/tree/src/math/scalbn.c)).
fn scaled(name: &str, width: u32) -> String {
    let (ty, float, mantissa, most) = match width {
        32 => ("i32", "float", 23, 127),
        _ => ("i64", "double", 52, 1023),
    };
    let least = 1 - most;
    // A factor that is small leaves room for all digits of the one before.
    let step = least + mantissa + 1;
    let power = |exponent: i32| format!("0x{:016X}", 2_f64.powi(exponent).to_bits());
    let (large, small) = (power(most), power(step));
    let mut text = format!("define internal {float} @{name}({float} %x0, i32 %n0) {{\n");
    for at in 0..2 {
        let next = at + 1;
        text += &format!(
            "  %large{at} = icmp sgt i32 %n{at}, {most}\n  %small{at} = icmp slt i32 %n{at}, {least}\n  \
             %f{at} = select i1 %large{at}, {float} {large}, {float} 1.0\n  \
             %g{at} = select i1 %small{at}, {float} {small}, {float} %f{at}\n  \
             %x{next} = fmul {float} %x{at}, %g{at}\n  \
             %d{at} = select i1 %large{at}, i32 {most}, i32 0\n  \
             %e{at} = select i1 %small{at}, i32 {step}, i32 %d{at}\n  %n{next} = sub i32 %n{at}, %e{at}\n"
        );
    }
    text + &format!(
        "  %above = icmp sgt i32 %n2, {most}\n  %below = icmp slt i32 %n2, {least}\n  \
         %p = select i1 %above, i32 {most}, i32 %n2\n  %q = select i1 %below, i32 {least}, i32 %p\n  \
         %biased = add i32 %q, {most}\n  %wide = zext i32 %biased to i64\n  \
         %word = shl i64 %wide, {mantissa}\n  %bits = trunc i64 %word to {ty}\n  \
         %factor = bitcast {ty} %bits to {float}\n  %r = fmul {float} %x2, %factor\n  ret {float} %r\n}}\n"
    )
}

/// The bits of an integer in the opposite order: neighbours change places, then pairs of them, and so on.
fn reversed(name: &str, width: u32) -> String {
    let ty = format!("i{width}");
    let mut text = format!("define internal {ty} @{name}({ty} %x0) {{\n");
    let steps = width.ilog2();
    for step in 0..steps {
        let (size, next) = (1_u32 << step, step + 1);
        // Every other group of `size` bits, the lowest first.
        let group = (1_u64 << size) - 1;
        let mask = (0..width / (2 * size)).fold(0, |mask, at| mask | group << (at * 2 * size));
        text += &format!(
            "  %h{step} = lshr {ty} %x{step}, {size}\n  %l{step} = and {ty} %h{step}, {mask}\n  \
             %k{step} = and {ty} %x{step}, {mask}\n  %u{step} = shl {ty} %k{step}, {size}\n  \
             %x{next} = or {ty} %l{step}, %u{step}\n"
        );
    }
    text + &format!("  ret {ty} %x{steps}\n}}\n")
}

/// The definition of the function that stands for an intrinsic, as LLVM's textual IR.
pub(in crate::target) fn definition(intrinsic: &str) -> String {
    let (Some((kind, width, other)), Some(name)) = (of(intrinsic), name(intrinsic)) else {
        return String::new();
    };
    let ty = format!("i{width}");
    let body = match kind {
        CLASS => return class(&name, width, other),
        SCALED => return scaled(&name, width),
        "bitreverse" => return reversed(&name, width),
        "fshl" => shift(width, true),
        "fshr" => shift(width, false),
        "sadd.with.overflow" => sum(&ty, "add", "%a"),
        "ssub.with.overflow" => sum(&ty, "sub", "%b"),
        "smul.with.overflow" => product(width),
        "scmp" => return comparison(&name, &ty, other, "s"),
        "ucmp" => return comparison(&name, &ty, other, "u"),
        "fptosi.sat" => return saturated(&name, width, other, true),
        _ => return saturated(&name, width, other, false),
    };
    let (result, parameters) = match kind {
        "fshl" | "fshr" => (ty.clone(), format!("{ty} %a, {ty} %b, {ty} %s")),
        _ => (format!("{{ {ty}, i1 }}"), format!("{ty} %a, {ty} %b")),
    };
    format!("define internal {result} @{name}({parameters}) {{\n{body}}}\n")
}

fn shift(width: u32, left: bool) -> String {
    let (ty, most) = (format!("i{width}"), width - 1);
    let start = format!("  %m = and {ty} %s, {most}\n  %w = xor {ty} %m, {most}\n");
    let shifts = match left {
        true => {
            format!("  %l = shl {ty} %a, %m\n  %h = lshr {ty} %b, 1\n  %r = lshr {ty} %h, %w\n")
        }
        false => {
            format!("  %h = shl {ty} %a, 1\n  %l = shl {ty} %h, %w\n  %r = lshr {ty} %b, %m\n")
        }
    };
    format!("{start}{shifts}  %o = or {ty} %l, %r\n  ret {ty} %o\n")
}

/// An overflow shows in the signs: that of the result is neither that of `%a` nor that of `second`, where a difference
/// is the sum with a number of the other sign.
fn sum(ty: &str, operation: &str, second: &str) -> String {
    let (x, y) = if second == "%a" { ("%a", "%b") } else { ("%a", "%n") };
    let negated = format!("  %n = xor {ty} %b, -1\n");
    format!(
        "{negated}  %r = {operation} {ty} %a, %b\n  %p = xor {ty} {x}, %r\n  %q = xor {ty} {y}, %r\n  \
         %u = and {ty} %p, %q\n  %o = icmp slt {ty} %u, 0\n{}",
        pair(ty)
    )
}

/// The pair of a result and whether it has overflowed.
fn pair(ty: &str) -> String {
    let ty = format!("{{ {ty}, i1 }}");
    let first = ty.trim_start_matches("{ ").split(',').next().unwrap_or_default();
    format!(
        "  %f = insertvalue {ty} poison, {first} %r, 0\n  %g = insertvalue {ty} %f, i1 %o, 1\n  ret {ty} %g\n"
    )
}

fn product(width: u32) -> String {
    let ty = format!("i{width}");
    if width == 64 {
        return format!(
            "  %r = mul i64 %a, %b\n  %h = call i64 @_Z6mul_hill(i64 %a, i64 %b)\n  %s = ashr i64 %r, 63\n  \
             %o = icmp ne i64 %h, %s\n{}",
            pair(&ty)
        );
    }
    let wide = format!("i{}", width * 2);
    format!(
        "  %x = sext {ty} %a to {wide}\n  %y = sext {ty} %b to {wide}\n  %z = mul {wide} %x, %y\n  \
         %r = trunc {wide} %z to {ty}\n  %s = sext {ty} %r to {wide}\n  %o = icmp ne {wide} %s, %z\n{}",
        pair(&ty)
    )
}

/// What a definition calls that the module may not declare.
pub(in crate::target) const DECLARATIONS: &str = "declare i64 @_Z6mul_hill(i64, i64)\n";

fn comparison(name: &str, result: &str, compared: &str, sign: &str) -> String {
    format!(
        "define internal {result} @{name}({compared} %a, {compared} %b) {{\n  %g = icmp {sign}gt {compared} %a, %b\n  \
         %l = icmp {sign}lt {compared} %a, %b\n  %p = select i1 %g, {result} 1, {result} 0\n  \
         %r = select i1 %l, {result} -1, {result} %p\n  ret {result} %r\n}}\n"
    )
}

/// A conversion of a number that is in range, or 0, and the ends of the range beside it. The ends are powers of two, which
/// every floating-point type has.
fn saturated(name: &str, width: u32, float: &str, signed: bool) -> String {
    let (ty, float) = (format!("i{width}"), if float == "f32" { "float" } else { "double" });
    let bits = if signed { width - 1 } else { width };
    // Of `float` LLVM reads the bits of a `double` that has the same value.
    let bound = |negative: bool| {
        let value = 2_f64.powi(bits as i32);
        format!("0x{:016X}", if negative { -value } else { value }.to_bits())
    };
    let (high, convert) = (bound(false), if signed { "fptosi" } else { "fptoui" });
    let low = if signed { bound(true) } else { "0.0".to_owned() };
    let most = (1_u128 << bits) - 1;
    let least = if signed { format!("-{}", 1_u128 << bits) } else { "0".to_owned() };
    format!(
        "define internal {ty} @{name}({float} %x) {{\n  %h = fcmp oge {float} %x, {high}\n  \
         %l = fcmp olt {float} %x, {low}\n  %n = fcmp uno {float} %x, %x\n  %hl = or i1 %h, %l\n  \
         %out = or i1 %hl, %n\n  %in = select i1 %out, {float} 0.0, {float} %x\n  \
         %c = {convert} {float} %in to {ty}\n  %d = select i1 %h, {ty} {most}, {ty} %c\n  \
         %r = select i1 %l, {ty} {least}, {ty} %d\n  ret {ty} %r\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intrinsics_of_words_are_replaced_by_functions() {
        assert_eq!(name("llvm.fshl.i32").as_deref(), Some("__kernelmill_llvm.fshl.i32"));
        assert_eq!(of("llvm.fptosi.sat.i64.f32"), Some(("fptosi.sat", 64, "f32")));
        assert_eq!(of("llvm.ucmp.i8.i32"), Some(("ucmp", 8, "i32")));
        assert_eq!(of("llvm.ldexp.f64.i32"), Some(("ldexp", 64, "f64")));
        assert_eq!(of("llvm.bitreverse.i16"), Some(("bitreverse", 16, "")));
        for other in [
            "llvm.fshl.v4i32",
            "llvm.fshl.i128",
            "llvm.uadd.with.overflow.i32",
            "fshl",
            "llvm.ldexp.f32.i64",
        ] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
