//! Multiplications and additions with one rounding (`fma`), which WGSL and Vulkan allow to have two. A device that has two is
//! found when a module is loaded, by an entry point of the module; there the numbers are added as integers, as processors
//! without a unit for them do it.

use kernelmill_artifact::{FUSED, FUSED_PROBES};

/// The function of `f32`, and what it needs.
const F32: &str = "
fn jam(x: u64, count: i32) -> u64 {
    if count <= 0i { return x; }
    if count > 63i { return select(0lu, 1lu, x != 0lu); }
    let n = u32(count);
    return (x >> n) | select(0lu, 1lu, (x << (64u - n)) != 0lu);
}
fn parts32(x: f32) -> vec2<i32> {
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    if bits < 0x800000u {
        let zeros = countLeadingZeros(bits) - 8u;
        return vec2<i32>(bitcast<i32>(bits << zeros), -149i - bitcast<i32>(zeros));
    }
    return vec2<i32>(bitcast<i32>((bits & 0x7fffffu) | 0x800000u), bitcast<i32>(bits >> 23u) - 150i);
}
fn soft_fma32(x: f32, y: f32, z: f32) -> f32 {
    let bx = bitcast<u32>(x); let by = bitcast<u32>(y); let bz = bitcast<u32>(z);
    let ax = bx & 0x7fffffffu; let ay = by & 0x7fffffffu; let az = bz & 0x7fffffffu;
    if ax >= 0x7f800000u || ay >= 0x7f800000u || ax == 0u || ay == 0u { return x * y + z; }
    if az >= 0x7f800000u { return z; }
    if az == 0u { return x * y; }
    let px = parts32(x); let py = parts32(y); let pz = parts32(z);
    var p = (u64(bitcast<u32>(px.x)) * u64(bitcast<u32>(py.x))) << 14u;
    var q = u64(bitcast<u32>(pz.x)) << 38u;
    let pe = px.y + py.y - 14i;
    let qe = pz.y - 38i;
    var e = max(pe, qe);
    p = jam(p, e - pe);
    q = jam(q, e - qe);
    var sign = (bx ^ by) & 0x80000000u;
    var s = p + q;
    if sign != (bz & 0x80000000u) {
        if p == q { return 0.0f; }
        s = p - q;
        if q > p { s = q - p; sign = bz & 0x80000000u; }
    }
    let shift = u32(leading64(s)) - 1u;
    s = s << shift;
    e = e - bitcast<i32>(shift) + 189i;
    if e <= 0i { s = jam(s, 1i - e); e = 1i; }
    let rest = s & 0x7ffffffffflu;
    var m = u32(s >> 39u);
    if rest > 0x4000000000lu || (rest == 0x4000000000lu && (m & 1u) != 0u) { m = m + 1u; }
    if e > 254i { return float_of(sign | 0x7f800000u); }
    let bits = min((u32(e - 1i) << 23u) + m, 0x7f800000u);
    return float_of(sign | bits);
}
fn fma32(a: f32, b: f32, c: f32) -> f32 {
    if fused32 == 1u { return fma(a, b, c); }
    return soft_fma32(a, b, c);
}
";

/// The same of `f64`.
const F64: &str = "
struct Wide { high: u64, low: u64 }
fn jam_wide(x: Wide, count: i32) -> Wide {
    if count <= 0i { return x; }
    if count > 127i { return Wide(0lu, select(0lu, 1lu, (x.high | x.low) != 0lu)); }
    if count > 63i {
        let n = u32(count - 64i);
        let lost = select(0lu, x.high << (64u - n), n > 0u) | x.low;
        return Wide(0lu, (x.high >> n) | select(0lu, 1lu, lost != 0lu));
    }
    let n = u32(count);
    return Wide(x.high >> n, (x.high << (64u - n)) | (x.low >> n) | select(0lu, 1lu, (x.low << (64u - n)) != 0lu));
}
struct Parts { mantissa: u64, exponent: i32 }
fn parts64(x: f64) -> Parts {
    let bits = bitcast<u64>(x) & 0x7ffffffffffffffflu;
    if bits < 0x10000000000000lu {
        let zeros = u32(leading64(bits)) - 11u;
        return Parts(bits << zeros, -1074i - bitcast<i32>(zeros));
    }
    return Parts((bits & 0xffffffffffffflu) | 0x10000000000000lu, i32(bits >> 52u) - 1075i);
}
fn soft_fma64(x: f64, y: f64, z: f64) -> f64 {
    let bx = bitcast<u64>(x); let by = bitcast<u64>(y); let bz = bitcast<u64>(z);
    let mask = 0x7ffffffffffffffflu; let infinite = 0x7ff0000000000000lu;
    let ax = bx & mask; let ay = by & mask; let az = bz & mask;
    if ax >= infinite || ay >= infinite || ax == 0lu || ay == 0lu { return x * y + z; }
    if az >= infinite { return z; }
    if az == 0lu { return x * y; }
    let px = parts64(x); let py = parts64(y); let pz = parts64(z);
    let high = high64(px.mantissa, py.mantissa); let low = px.mantissa * py.mantissa;
    var p = Wide((high << 20u) | (low >> 44u), low << 20u);
    var q = Wide(pz.mantissa << 9u, 0lu);
    let pe = px.exponent + py.exponent - 20i;
    let qe = pz.exponent - 73i;
    var e = max(pe, qe);
    p = jam_wide(p, e - pe);
    q = jam_wide(q, e - qe);
    let top = 0x8000000000000000lu;
    var sign = (bx ^ by) & top;
    var s = Wide(0lu, p.low + q.low);
    s.high = p.high + q.high + select(0lu, 1lu, s.low < p.low);
    if sign != (bz & top) {
        if p.high == q.high && p.low == q.low { return 0.0lf; }
        if q.high > p.high || (q.high == p.high && q.low > p.low) {
            let swapped = p; p = q; q = swapped;
            sign = bz & top;
        }
        s = Wide(p.high - q.high - select(0lu, 1lu, p.low < q.low), p.low - q.low);
    }
    if s.high == 0lu { s = Wide(s.low, 0lu); e = e - 64i; }
    let shift = bitcast<i32>(u32(leading64(s.high))) - 1i;
    if shift < 0i { s = jam_wide(s, 1i); }
    if shift > 0i {
        let n = u32(shift);
        s = Wide((s.high << n) | (s.low >> (64u - n)), s.low << n);
    }
    var v = s.high | select(0lu, 1lu, s.low != 0lu);
    e = e - shift + 64i + 1085i;
    if e <= 0i { v = jam(v, 1i - e); e = 1i; }
    let rest = v & 0x3fflu;
    var m = v >> 10u;
    if rest > 0x200lu || (rest == 0x200lu && (m & 1lu) != 0lu) { m = m + 1lu; }
    if e > 2046i { return double_of(sign | infinite); }
    let bits = min((u64(u32(e - 1i)) << 52u) + m, infinite);
    return double_of(sign | bits);
}
fn fma64(a: f64, b: f64, c: f64) -> f64 {
    if fused64 == 1u { return fma(a, b, c); }
    return soft_fma64(a, b, c);
}
";

/// What a text needs that calls these functions: their definitions, and the entry points that find out whether they are needed.
pub(super) fn used_by(text: &str) -> String {
    let [single, double] = ["fma32(", "fma64("].map(|name| text.contains(name));
    let mut written = String::new();
    if single || double {
        written += &format!("var<private> fused32: u32 = {}u;\n{F32}", FUSED[0]);
        written += "
@group(0) @binding(0) var<storage, read_write> probe32: array<u32>;
@compute @workgroup_size(1, 1, 1)
fn find_fused32() {
    let a = bitcast<f32>(probe32[0]);
    let b = bitcast<f32>(probe32[1]);
    let product = a * b;
    probe32[2] = bitcast<u32>(product);
    probe32[3] = bitcast<u32>(fma(a, b, -product));
}
";
    }
    if double {
        written += &format!("var<private> fused64: u32 = {}u;\n{F64}", FUSED[1]);
        written += "
@group(0) @binding(0) var<storage, read_write> probe64: array<u32>;
fn probed64(index: u32) -> f64 { return bitcast<f64>(long_of(probe64[2u * index], probe64[2u * index + 1u])); }
@compute @workgroup_size(1, 1, 1)
fn find_fused64() {
    let product = probed64(0u) * probed64(1u);
    let rounded = bitcast<u64>(product);
    probe64[4] = u32(rounded);
    probe64[5] = u32(rounded >> 32u);
    let rest = bitcast<u64>(fma(probed64(0u), probed64(1u), -product));
    probe64[6] = u32(rest);
    probe64[7] = u32(rest >> 32u);
}
";
    }
    written
}

/// The entry points that may be in a text, and the names that the run time knows them by.
pub(super) fn entries() -> [(String, String); 2] {
    let [single, double] = FUSED_PROBES.map(str::to_owned);
    [("find_fused32".to_owned(), single), ("find_fused64".to_owned(), double)]
}
