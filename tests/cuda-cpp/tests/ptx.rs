//! Inline PTX of single instructions on every target, through clang.

use std::sync::OnceLock;

use cuda_cpp::{Launch, Source, Value, lower, written};
use half::f16;

fn ptx() -> &'static Source {
    static SOURCE: OnceLock<Source> = OnceLock::new();
    // Not with the other kernels, which are compiled for the oldest devices too.
    let text = include_str!("../newer/ptx.cu");
    SOURCE.get_or_init(|| lower(&written("ptx", text)).unwrap_or_else(|error| panic!("{error}")))
}

/// Words of all kinds, by a generator of random numbers.
fn random(count: usize) -> Vec<u32> {
    let mut state = 0x2545_f491_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..count).map(next).collect()
}

#[test]
fn integers_are_as_ptx_has_them() {
    let mut numbers = random(80);
    numbers[..6].copy_from_slice(&[0, 0, u32::MAX, 1, 0x8000_0000, u32::MAX]);
    // 40 threads: amounts of shifts are more than a word has bits, too.
    let arguments = [Value::Words(vec![0; 40 * 19]), Value::Words(numbers.clone())];
    for after in ptx().run("integers", Launch::linear(1, 40), &arguments) {
        for (thread, found) in after[0].words().as_chunks::<19>().0.iter().enumerate() {
            let (a, b) = (numbers[2 * thread], numbers[2 * thread + 1]);
            let thread = u32::try_from(thread).expect("a small number");
            let (c, lane) = (thread.wrapping_mul(0x0101_0101), thread % 32);
            let signed = i64::from(a.cast_signed()) * i64::from(b.cast_signed());
            let wide = u64::from(a) * u64::from(b);
            let joined = (u64::from(b) << 32) | u64::from(a);
            let [high, low] = [(wide >> 32) as u32, wide as u32];
            let expected = [
                a.wrapping_sub(b),
                (signed >> 32) as u32,
                high,
                a.wrapping_mul(b).wrapping_add(c),
                high ^ low,
                if thread < 32 { a << thread } else { 0 },
                (a.cast_signed() >> thread.min(31)).cast_unsigned(),
                a >> 7,
                ((joined << lane) >> 32) as u32,
                (joined >> lane) as u32,
                a & b | a & c | b & c,
                // The cases 2, 3 and 4 of a, b and c.
                !a & b | a & !b & !c,
                a.count_ones(),
                a.leading_zeros(),
                a.reverse_bits(),
                lane,
                (1 << lane) - 1,
                a ^ b,
                31_u32.wrapping_sub(a.leading_zeros()),
            ];
            assert_eq!(*found, expected, "thread {thread}");
        }
    }
}

#[test]
fn fields_are_as_ptx_has_them() {
    let mut numbers = random(40 * 4);
    for (thread, own) in numbers.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // Positions and lengths inside of a word, beyond it, and with bits that do not count.
        own[2] = [own[2] % 34, own[2] % 300, own[2], 31, 32][thread % 5];
        own[3] = [own[3] % 34, own[3] % 300, own[3], 0, 40, 32, 1][thread % 7];
    }
    let arguments = [Value::Words(vec![0; 40 * 13]), Value::Words(numbers.clone())];
    for after in ptx().run("fields", Launch::linear(1, 40), &arguments) {
        let found = after[0].words().as_chunks::<13>().0.iter();
        for (thread, (found, own)) in found.zip(numbers.as_chunks::<4>().0).enumerate() {
            let [a, b, position, length] = *own;
            let selector = position.wrapping_mul(0x0101_0101) ^ length;
            let wide = (u64::from(b) << 32) | u64::from(a);
            let [one, two] = [wide, wide << 1].map(u64::cast_signed);
            let tripled = wide.wrapping_mul(3);
            let expected = [
                field(a, position, length, false),
                field(a, position, length, true),
                inserted(a, b, position, length),
                permuted(wide, selector),
                permuted(wide, 0x3715),
                a.cast_signed().min(b.cast_signed()).cast_unsigned(),
                a.max(b),
                (one.min(two) >> 32) as u32,
                a,
                tripled as u32,
                (tripled >> 32) as u32,
                a.rotate_left(16),
                (one.max(two) >> 32) as u32,
            ];
            assert_eq!(*found, expected, "thread {thread}: {own:x?}");
        }
    }
}

/// The bit at an index, as `bfe` is written down bit by bit.
fn field(a: u32, position: u32, length: u32, is_signed: bool) -> u32 {
    let (position, length) = (position & 255, length & 255);
    let bit = |index: u32| a >> index & 1;
    let has_sign = is_signed && length > 0;
    let sign = if has_sign { bit((position + length).saturating_sub(1).min(31)) } else { 0 };
    let is_inside = |index: u32| index < length && position + index < 32;
    let of = |index| if is_inside(index) { bit(position + index) } else { sign };
    (0..32).map(|index| of(index) << index).sum()
}

/// `b` with the lowest bits of `a` at a position.
fn inserted(a: u32, b: u32, position: u32, length: u32) -> u32 {
    let (position, length) = (position & 255, length & 255);
    let from = |index: u32| index.checked_sub(position).filter(|it| *it < length);
    let of = |index| from(index).map_or(b >> index & 1, |it| a >> it & 1);
    (0..32).map(|index| of(index) << index).sum()
}

/// Bytes of eight, each by four bits of a selector.
fn permuted(bytes: u64, selector: u32) -> u32 {
    let of = |place: usize| {
        let chosen = selector >> (4 * place);
        let byte = bytes.to_le_bytes()[chosen as usize & 7];
        if chosen & 8 == 0 { byte } else { (byte.cast_signed() >> 7).cast_unsigned() }
    };
    u32::from_le_bytes([0, 1, 2, 3].map(of))
}

#[test]
fn halves_are_rounded_once() {
    let numbers = [1.5_f32, -0.1, 1000.25, 3.0e-5, 65504.0, 0.333, -7.75, 2.0e-7];
    let half = |index: usize| f16::from_f32(numbers[index % numbers.len()]);
    let pair = |index: usize| {
        u32::from(half(index).to_bits()) | u32::from(half(index + 3).to_bits()) << 16
    };
    let pairs: Vec<u32> = (0..32 * 3).map(|index| pair(index + index / 8)).collect();
    let arguments = [Value::Words(vec![0; 32 * 8]), Value::Words(pairs.clone())];
    let after = ptx().run_on_cpu("halves", Launch::linear(1, 32), &arguments);
    let after = after.unwrap_or_else(|error| panic!("{error}"));
    for (thread, found) in after[0].words().as_chunks::<8>().0.iter().enumerate() {
        let halves = |which: usize| {
            let word = pairs[3 * thread + which];
            [word as u16, (word >> 16) as u16].map(|bits| f16::from_bits(bits).to_f64())
        };
        let [a, b, c] = [halves(0), halves(1), halves(2)];
        let both = |of: &dyn Fn(usize) -> f64| {
            let [low, high] = [0, 1].map(|index| u32::from(f16::from_f64(of(index)).to_bits()));
            low | high << 16
        };
        let single = a[0] as f32;
        let expected = [
            both(&|i| a[i] + b[i]),
            both(&|i| a[i] * b[i]),
            both(&|i| a[i].mul_add(b[i], c[i])),
            single.to_bits(),
            u32::from(f16::from_f32(single * 1.0001).to_bits()),
            u32::from(f16::from_f32(single * 1.0001).to_bits()) << 16
                | u32::from(f16::from_f32(-single).to_bits()),
            [pairs[3 * thread] as u16, (pairs[3 * thread] >> 16) as u16]
                .map(|bits| f16::from_bits(bits & 0x3fff).to_f64().exp2())
                .map(|value| u32::from(f16::from_f64(value).to_bits()))
                .into_iter()
                .rev()
                .fold(0, |word, bits| word << 16 | bits),
            u32::from(f16::from_f64(a[0].tanh()).to_bits()),
        ];
        assert_eq!(*found, expected, "thread {thread}");
    }
}

#[test]
fn approximations_are_the_functions() {
    let numbers: Vec<f32> = (1..=32).map(|i| (i as f32 - 16.5) / 4.0).collect();
    let arguments = [Value::floats(&[0.0; 32 * 6]), Value::floats(&numbers)];
    let after = ptx().run_on_cpu("approximations", Launch::linear(1, 32), &arguments);
    let after = after.unwrap_or_else(|error| panic!("{error}"));
    for (x, found) in numbers.iter().zip(after[0].numbers().as_chunks::<6>().0) {
        let wide = f64::from(*x);
        let (square, fused) = (f64::from(x * x), x.mul_add(*x, 1.0));
        let expected = [
            wide.tanh(),
            wide.exp2(),
            square.log2(),
            1.0 / wide,
            1.0 / square.sqrt(),
            f64::from(fused),
        ];
        for (found, expected) in found.iter().zip(expected) {
            let error = (f64::from(*found) - expected).abs();
            assert!(error <= 4e-7 * expected.abs().max(0.1), "{x}: {found} for {expected}");
        }
    }
}

/// The flag of a carry is no operand of either instruction: only NVIDIA's targets have it.
const CARRIES: &str = r#"
__global__ void carries(unsigned int *out, const unsigned int *numbers) {
  unsigned int low, high;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(low) : "r"(numbers[0]), "r"(numbers[1]));
  asm volatile("addc.u32 %0, %1, 0;" : "=r"(high) : "r"(numbers[2]));
  out[0] = low;
  out[1] = high;
}
__global__ void sums(unsigned int *out, unsigned int a) {
  asm("add.u32 %0, %1, 1;" : "=r"(*out) : "r"(a));
}
"#;

#[test]
fn only_what_has_no_other_meaning_is_for_every_target() {
    let source = lower(&written("carries", CARRIES)).unwrap_or_else(|error| panic!("{error}"));
    let names = |source: &Source, target: &str| {
        let found = source.signatures(target);
        found.iter().map(|it| it.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(&source, "compute_80"), ["carries", "sums"]);
    let all = ["integers", "fields", "halves", "approximations"];
    for target in ["cpu", "gfx1100"] {
        assert_eq!(names(&source, target), ["sums"]);
        assert_eq!(names(ptx(), target), all);
        let artifact = ptx().compile(target).unwrap_or_else(|error| panic!("{target}: {error}"));
        assert_eq!(artifact.kernels.len(), all.len());
    }
    let unsupported: Vec<_> = source.lowered.unsupported.iter().collect();
    assert!(unsupported.iter().all(|it| it.symbol.contains("carries")), "{unsupported:?}");
    assert!(unsupported.iter().any(|it| it.reason == "inline PTX (`add.cc.u32`)" && it.line > 0));
    assert!(ptx().lowered.unsupported.is_empty());
}

/// NVIDIA's compiler gets the assembly as it is written.
#[test]
fn assembly_stays_where_it_is_of_the_target() {
    let carries = lower(&written("carries", CARRIES)).unwrap_or_else(|error| panic!("{error}"));
    for (source, instruction) in [
        (ptx(), "tanh.approx.f32"),
        (ptx(), "lop3.b32"),
        (ptx(), "prefetch.global.L2"),
        (&carries, "add.cc.u32"),
    ] {
        let artifact = source.compile("compute_80").unwrap_or_else(|error| panic!("{error}"));
        let text = String::from_utf8(artifact.bytes).expect("PTX is text");
        assert!(text.contains(instruction), "{instruction}");
    }
}
