//! Loops that end in different rounds, for kernels and for the host that checks them.

/// How many steps a number takes to become one of a few; `None` where that is more than `limit`.
pub(crate) fn steps(start: u32, limit: u32) -> Option<u32> {
    let (mut value, mut step) = (start, 0);
    while value % 16 != 3 {
        if step == limit {
            return None;
        }
        value = value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) >> 1;
        step += 1;
    }
    Some(step * 1000 + value % 1000)
}

/// What `samples` numbers around `i` give together.
pub(crate) fn all_steps(i: u32, samples: u32, limit: u32) -> u32 {
    let mut sum = 0_u32;
    for sample in 0..samples * samples {
        let column = i * samples + sample % samples;
        let row = i / 7 * samples + sample / samples;
        match steps(column.wrapping_mul(31) ^ row, limit) {
            Some(steps) => sum = sum.wrapping_add(steps),
            None => sum ^= sample + 1,
        }
    }
    sum
}

/// A loop in a loop that goes on with the outer one, ends it, or returns, by what `i` is.
pub(crate) fn nested(i: u32, outer: u32) -> u32 {
    let mut sum = i;
    'rounds: for round in 0..outer {
        let mut inner = round;
        loop {
            inner += 1;
            sum = sum.wrapping_mul(3) ^ inner;
            if sum % 5 == 1 {
                sum = sum.rotate_left(inner);
                continue 'rounds;
            }
            if sum % 37 == 2 {
                break 'rounds;
            }
            if sum % 101 == 7 {
                return inner * 1000 + round;
            }
            if inner > round + 6 {
                break;
            }
        }
        sum = sum.wrapping_add(inner);
    }
    sum
}

/// The greatest common divisor, with how many divisions it took.
pub(crate) fn divisor(mut a: u32, mut b: u32) -> [u32; 2] {
    let mut count = 0;
    while b != 0 {
        (a, b) = (b, a % b);
        count += 1;
    }
    [a, count]
}

/// Three waves of a number, added up over `samples`, as a colour.
pub(crate) fn colour(x: f32, samples: u32) -> [f32; 3] {
    let mut sum = [0.0_f32; 3];
    for sample in 0..samples {
        let phase = (x + sample as f32).sqrt() * 0.25;
        let wave = |shift: f32| 0.5 - 0.5 * (phase + shift).cos();
        sum = [sum[0] + wave(0.0), sum[1] + wave(0.5), sum[2] + (1.0 + x).ln().log2()];
    }
    sum
}

/// An array with one element replaced, as one number.
pub(crate) fn folded(other: u32, t: u32) -> u32 {
    let mut array = [t + 1, 8, other, 5];
    array[(t % 4) as usize] = other;
    array.iter().fold(7, |all: u32, next| all.wrapping_mul(31).wrapping_add(*next))
}
