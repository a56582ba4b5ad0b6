//! Kernels that panic in the thread whose element is 0, each in its own way.

use kernelmill_device::prelude::*;

fn checked(x: &[u32], i: usize) -> u32 {
    let value = x[i];
    assert!(value > 0, "element {i} is {value}, {:>+7.2} {:#06x} {{}}", value as f32 - 0.5, i);
    value
}

/// A message with four values, in a function that becomes part of the kernel.
#[kernel]
pub fn formatted(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = checked(x, i.get());
    }
}

/// Two numbers that differ.
#[kernel]
pub fn compared(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        assert_ne!(x[i.get()], 0, "at {}", i.get());
        assert_eq!(x[i.get()] > 0, true);
        *out = x[i.get()];
    }
}

/// An error that is unwrapped.
#[kernel]
pub fn unwrapped(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let value: Result<u32, i8> = if x[i.get()] == 0 { Err(-3) } else { Ok(x[i.get()]) };
        *out = value.expect("a number");
    }
}

/// Nothing that is expected to be something.
#[kernel]
pub fn expected(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()].checked_sub(1).expect("more than nothing") + 1;
    }
}

const UNIT: &str = "kg";
static NAMES: [&str; 3] = ["length", "größe", "weight"];

fn positive(x: u32, name: &str) -> u32 {
    assert!(x > 0, "{name:>8} {name:?} is {x} {UNIT}, {UNIT:.1} {}", UNIT);
    x
}

/// Texts that a function is given, one of a table by the thread.
#[kernel]
pub fn named(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = positive(x[i.get()] + 1, "first") - 1;
        *out = positive(*out, NAMES[i.get() % 3]);
    }
}

fn smaller(x: u32) -> Result<u32, &'static str> {
    if x == 0 {
        return Err("there is nothing that is \"smaller\" than 0");
    }
    x.checked_add(1 << 31).map(|_| x - 1).ok_or("too large")
}

/// An error that is a text.
#[kernel]
pub fn explained(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = smaller(x[i.get()]).unwrap() + 1;
    }
}

/// Something that is expected by a text, part of a longer one.
#[kernel]
pub fn missed(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let name = NAMES[i.get() % 3].get(..i.get() % 5).unwrap_or("nothing");
        *out = x[i.get()].checked_sub(1).expect(name) + 1;
    }
}

/// Texts that differ.
#[kernel]
pub fn spelt(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let word = if x[i.get()] == 0 { "zero" } else { "some" };
        assert_eq!(word, "some", "of {}", NAMES[0]);
        *out = x[i.get()];
    }
}

/// Checked arithmetic.
#[kernel]
pub fn overflown(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = (i32::MIN / (x[i.get()] as i32 - 1)) as u32 & 0 | x[i.get()];
    }
}

/// More memory than there is.
#[kernel]
pub fn exhausted(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let bytes = if x[i.get()] == 0 { 1 << 60 } else { 8 };
        let mut memory: Vec<u8> = Vec::with_capacity(bytes);
        memory.push(1);
        // SAFETY: the element that was pushed.
        let one = unsafe { core::ptr::read_volatile(memory.as_ptr()) };
        *out = x[i.get()] + u32::from(one) - 1;
    }
}

fn descend(x: &[u32], i: usize, depth: u32) -> u32 {
    if depth == 0 { 100 / x[i] } else { descend(x, i, depth - 1) + 1 - x[i] / x[i] }
}

/// A division in a function that calls itself.
#[kernel]
pub fn divided(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[i.get()] + descend(x, i.get(), 3) * 0;
    }
}

/// What can be done with a number.
trait Step {
    fn step(&self, x: u32) -> u32;
}

struct Nothing;

impl Step for Nothing {
    fn step(&self, x: u32) -> u32 {
        x
    }
}

struct Check;

impl Step for Check {
    fn step(&self, x: u32) -> u32 {
        assert!(x != 0, "nothing to take");
        x
    }
}

#[inline(never)]
fn apply(step: &dyn Step, x: u32) -> u32 {
    step.step(x)
}

/// In a function that is called through a pointer by another, which was passed it.
#[kernel]
pub fn passed(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let x = x[i.get()];
        let step: &dyn Step = if x % 2 == 0 { &Check } else { &Nothing };
        *out = apply(step, x);
    }
}

/// More memory than addresses name.
#[kernel]
pub fn overfull(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let count = if x[i.get()] == 0 { usize::MAX } else { 1 };
        let mut memory: Vec<u64> = Vec::with_capacity(count);
        memory.push(1);
        // SAFETY: the element that was pushed.
        let one = unsafe { core::ptr::read_volatile(memory.as_ptr()) };
        *out = x[i.get()] + one as u32 - 1;
    }
}
