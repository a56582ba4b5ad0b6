//! Kernels whose threads come to the end of a slice, or differ in a condition on their place.

use core::sync::atomic::{AtomicU32, Ordering};
use kernelmill_device::{index::Index2D as Rows, prelude::*};

/// Sums four elements in a row, from the one before its place on.
#[kernel]
pub fn edge_row(shift: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let at = (i.get() + shift as usize).wrapping_sub(1);
        let mut sum = x[at];
        sum += x[at.wrapping_add(3)];
        sum += x[at.wrapping_add(1)];
        sum += x[at.wrapping_add(2)];
        *out = sum;
    }
}

/// Reads backwards: an index that gets smaller from thread to thread.
#[kernel]
pub fn edge_backwards(last: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        *out = x[(last as usize).wrapping_sub(i.get())];
    }
}

/// Counts before it checks: what was counted twice would show.
#[kernel]
pub fn edge_after_count(limit: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        // SAFETY: nobody else has the element.
        let count = unsafe { AtomicU32::from_ptr(out) };
        count.fetch_add(1, Ordering::Relaxed);
        if (i.get() as u32) < limit {
            count.fetch_add(x[i.get() + 1], Ordering::Relaxed);
        }
    }
}

/// Reads the next element where its own is odd.
#[kernel]
pub fn edge_where_odd(x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let mut value = x[i.get()];
        if value % 2 == 1 {
            value += x[i.get() + 1];
        }
        *out = value;
    }
}

/// Sums the pixels around each and copies those at the border.
#[kernel(dim = 2, width = width)]
pub fn edge_image(width: u32, height: u32, x: &[u32], mut y: DisjointSlice<u32, Index2D>) {
    let i = thread::index_2d();
    let Some(out) = y.get_mut(i) else { return };
    let (row, column) = (i.row() as u32, i.column() as u32);
    let here = (row * width + column) as usize;
    if row == 0 || column == 0 || row + 1 >= height || column + 1 >= width {
        *out = x[here];
        return;
    }
    let mut sum = x[here - width as usize];
    sum += x[here + 1];
    sum += x[here - 1];
    sum += x[here + width as usize];
    *out = sum;
}

/// Reads where `places` says.
#[kernel]
pub fn edge_places(places: &[u32], x: &[u32], mut y: DisjointSlice<u32>) {
    let i = thread::index_1d();
    if let Some(out) = y.get_mut(i) {
        let place = places[i.get()] as usize;
        *out = x[place] + place as u32;
    }
}

/// Reads the element at its place or one after it, as a comparison with `a` says.
#[kernel]
pub fn edge_conditions(kind: u32, a: u32, x: &[u32], mut y: DisjointSlice<u32>) {
    let place = thread::index_1d();
    let Some(out) = y.get_mut(place) else { return };
    let i = place.get() as u32;
    let (s, b, back) = (i as i32 - 40, a as i32, 60_u32.wrapping_sub(i));
    let at = place.get();
    macro_rules! read {
        ($condition:expr, $next:literal) => {
            if $condition { x[at] } else { 1000 * x[at + $next] }
        };
    }
    *out = match kind {
        0 => read!(i < a, 1),
        1 => read!(i <= a, 2),
        2 => read!(i > a, 3),
        3 => read!(i >= a, 4),
        4 => read!(i == a, 5),
        5 => read!(i != a, 6),
        6 => read!(s < b, 7),
        7 => read!(s <= b, 8),
        8 => read!(s > b, 9),
        9 => read!(s >= b, 10),
        10 => read!(back < a, 11),
        11 => read!(3 * i > a, 12),
        12 => read!(i > 4 && i <= a || i == 50, 13),
        _ => 0,
    };
}

/// Counts the threads of each element, in rows of any width.
#[kernel(dim = 2, width = width)]
pub fn edge_wide_rows(width: usize, mut y: DisjointSlice<u32, Rows>) {
    if let Some(out) = y.get_mut(thread::index_2d()) {
        *out += 1;
    }
}
