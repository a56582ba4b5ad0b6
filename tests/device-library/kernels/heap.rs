//! Kernels that allocate.

use kernelmill_device::prelude::*;

/// A list that grows, memory of zeros, a value in a box, and one with a large alignment.
#[kernel]
pub fn grows(x: &[u32], mut y: DisjointSlice<u32>) {
    #[repr(align(64))]
    struct Aligned([u32; 3]);

    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let count = x[i.get()] as usize;
        let mut list = Vec::new();
        for number in 0..count {
            list.push(number as u32 * 3);
        }
        list.reverse();
        let zeros = vec![0_u32; count + 1];
        let aligned = Box::new(Aligned([list.len() as u32; 3]));
        let at = (&raw const *aligned).addr();
        let total: Box<u32> = Box::new(list.iter().sum());
        *out = *total + zeros[count] + aligned.0[2] * 1000 + (at % 64) as u32;
    }
}

/// A tree of boxes, given back at its end.
#[kernel]
pub fn trees(x: &[u32], mut y: DisjointSlice<u32>) {
    enum Tree {
        Leaf(u32),
        Node(Box<Tree>, Box<Tree>),
    }

    fn build(depth: u32, value: u32) -> Tree {
        if depth == 0 {
            return Tree::Leaf(value);
        }
        Tree::Node(Box::new(build(depth - 1, 2 * value)), Box::new(build(depth - 1, 2 * value + 1)))
    }

    fn sum(tree: &Tree) -> u32 {
        match tree {
            Tree::Leaf(value) => *value,
            Tree::Node(left, right) => sum(left) + sum(right),
        }
    }

    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = sum(&build(4, x[i.get()]));
    }
}
