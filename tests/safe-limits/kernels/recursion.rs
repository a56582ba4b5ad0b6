//! Safe kernels that call themselves as often as the host says, in every way that Rust has for it.

use core::fmt;
use kernelmill_device::prelude::*;

/// The sum of a number for each level, which no loop computes.
#[inline(never)]
fn sum(depth: u32, x: &[u32]) -> u32 {
    if depth == 0 { 1 } else { sum(depth - 1, x).rotate_left(x[0]) ^ depth }
}

#[kernel]
pub fn direct(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = sum(depth, x);
    }
}

/// One thread of a block, each with its own depth otherwise.
#[kernel]
pub fn one_thread(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let own = if i.get() == 37 { depth } else { i.get() as u32 % 5 };
    if let Some(y) = y.get_mut(i) {
        *y = sum(own, x);
    }
}

fn even(depth: u32, x: &[u32]) -> u32 {
    if depth == 0 { 1 } else { odd(depth - 1, x).rotate_left(x[0]) ^ depth }
}

#[inline(never)]
fn odd(depth: u32, x: &[u32]) -> u32 {
    let own = [x[0]; 40];
    if depth == 0 { 2 } else { even(depth - 1, &own).wrapping_mul(3) ^ own[depth as usize % 40] }
}

#[kernel]
pub fn mutual(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = even(depth, x);
    }
}

/// Much memory below the deepest level.
#[inline(never)]
fn leaf(x: &[u32]) -> u32 {
    let mut own = [0_u32; 1 << 17];
    for (place, value) in own.iter_mut().enumerate() {
        *value = x[place % x.len()].wrapping_add(place as u32);
    }
    own[x[0] as usize % own.len()]
}

#[inline(never)]
fn to_leaf(depth: u32, x: &[u32]) -> u32 {
    if depth == 0 { leaf(x) } else { to_leaf(depth - 1, x).rotate_left(x[0]) ^ depth }
}

#[kernel]
pub fn large_leaf(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = to_leaf(depth, x);
    }
}

trait Step {
    fn go(&self, depth: u32, next: &dyn Step) -> u32;
}

struct Left(u32);
struct Right(u32);

impl Step for Left {
    #[inline(never)]
    fn go(&self, depth: u32, next: &dyn Step) -> u32 {
        if depth == 0 { self.0 } else { next.go(depth - 1, self).rotate_left(self.0) ^ depth }
    }
}

impl Step for Right {
    #[inline(never)]
    fn go(&self, depth: u32, next: &dyn Step) -> u32 {
        if depth == 0 { 7 } else { next.go(depth - 1, self).wrapping_mul(self.0) ^ depth }
    }
}

#[kernel]
pub fn through_traits(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let (left, right) = (Left(x[0]), Right(x[1]));
    let steps: [&dyn Step; 2] = [&left, &right];
    if let Some(y) = y.get_mut(thread::index_1d()) {
        *y = steps[x[0] as usize % 2].go(depth, steps[x[1] as usize % 2]);
    }
}

struct Node(u32, Option<Box<Node>>);

/// A list whose destructor calls itself for each node.
#[kernel]
pub fn dropped(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        let mut list = Node(x[0], None);
        for level in 0..depth {
            list = Node(level ^ list.0, Some(Box::new(list)));
        }
        *y = list.0 ^ list.1.as_ref().map_or(0, |next| next.0);
    }
}

struct Nested(u32);

impl fmt::Display for Nested {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { to.write_str("0") } else { write!(to, "({})", Nested(self.0 - 1)) }
    }
}

/// A recursion in the text of a panic.
#[kernel]
pub fn in_messages(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    if let Some(y) = y.get_mut(thread::index_1d()) {
        assert!(x[0] != 3, "{}", Nested(depth));
        *y = 5;
    }
}

/// Between two barriers.
#[kernel]
pub fn between_barriers(depth: u32, x: &[u32], mut tile: BlockArray<u32, 64>, mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    tile.write(thread::block_index(), x[0]);
    let seen = tile.sync()[5];
    let own = sum(depth, x).wrapping_add(seen);
    thread::sync_threads();
    if let Some(y) = y.get_mut(i) {
        *y = own;
    }
}

/// Between barriers that some threads do not come to.
#[kernel]
pub fn between_turns(depth: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    let mut own = 0;
    for _ in 0..i.get() % 3 {
        own ^= sum(depth, x);
        thread::sync_threads();
    }
    if let Some(y) = y.get_mut(i) {
        *y = own;
    }
}
