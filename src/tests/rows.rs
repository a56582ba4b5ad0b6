//! Copies of rows on the CPU, at once and queued.

use crate::{Device, Rows};

const WIDTH: usize = 3;

/// Where rows begin, by their pitch: in the host's slice, in one buffer and in another.
const HOST: usize = 4;
const FIRST: usize = 5;
const SECOND: usize = 3;

fn devices() -> [Device; 3] {
    [Device::cpu(), Device::cpu_sequential(), Device::cpu_async()].map(Result::unwrap)
}

#[test]
fn rows_go_there_between_buffers_and_back() {
    for device in devices() {
        let rows = Rows { count: 4, width: WIDTH };
        let host: Vec<u32> = (1..=16).collect();
        let mut first = device.zeros::<u32>(22).unwrap();
        first.slice_mut(2..).copy_rows_from(FIRST, &host, HOST, rows).unwrap();
        let mut expected = vec![0; 22];
        for row in 0..4 {
            expected[2 + row * FIRST..][..WIDTH].copy_from_slice(&host[row * HOST..][..WIDTH]);
        }
        assert_eq!(first.download().unwrap(), expected);
        let mut second = device.upload(&[7_u32; 12]).unwrap();
        let stream = device.new_stream().unwrap();
        let two = Rows { count: 2, width: 2 };
        let middle = first.slice(2 + FIRST..);
        second.slice_mut(1..).copy_rows_from_buffer(&stream, SECOND, &middle, FIRST, two).unwrap();
        assert_eq!(second.download().unwrap(), [7, 5, 6, 7, 9, 10, 7, 7, 7, 7, 7, 7]);
        let mut back = [0; 8];
        let whole = Rows { count: 2, width: 3 };
        second.copy_rows_to(6, &mut back, 5, whole).unwrap();
        assert_eq!(back, [7, 5, 6, 0, 0, 7, 7, 7]);
    }
}

#[test]
fn rows_cross_between_devices() {
    let [now, _, queued] = devices();
    let source = now.upload(&[1_u16, 2, 3, 4, 5, 6]).unwrap();
    let mut target = queued.zeros::<u16>(4).unwrap();
    let rows = Rows { count: 2, width: 2 };
    let of_target = queued.stream();
    target.copy_rows_from_buffer(&of_target, 2, &source.slice(1..), 3, rows).unwrap();
    assert_eq!(target.download().unwrap(), [2, 3, 5, 6]);
    let refused = target.copy_rows_from_buffer(&now.stream(), 2, &source.slice(1..), 3, rows);
    assert!(matches!(refused.unwrap_err(), crate::Error::WrongDevice { .. }));
}

#[test]
fn rows_that_are_not_there_or_overlap_are_refused() {
    let device = Device::cpu().unwrap();
    let mut buffer = device.zeros::<u8>(10).unwrap();
    let mut host = [0; 10];
    let rows = Rows { count: 3, width: 4 };
    let text = |error: crate::Error| error.to_string();
    assert_eq!(
        text(buffer.copy_rows_from(4, &[0; 12], 4, rows).unwrap_err()),
        "copy_rows_from: 3 rows of 4 elements with a pitch of 4 need 12 elements, but the buffer has 10"
    );
    let narrow = Rows { count: 2, width: 4 };
    assert_eq!(
        text(buffer.copy_rows_to(6, &mut host, 3, narrow).unwrap_err()),
        "copy_rows_to: the pitch of the host slice, 3 elements, is less than the width of the rows, 4 elements: rows \
         would overlap"
    );
    let (other, stream) = (device.zeros::<u8>(9).unwrap(), device.stream());
    let found = buffer.copy_rows_from_buffer(&stream, 6, &other.slice(..), 6, narrow).unwrap_err();
    assert!(text(found).ends_with("need 10 elements, but the source buffer has 9"));
    for huge in [usize::MAX, usize::MAX / 2] {
        assert!(buffer.copy_rows_from(huge, &host, 4, narrow).is_err());
    }
    // Nothing at all is anywhere.
    for none in [Rows { count: 0, width: 100 }, Rows { count: 100, width: 0 }] {
        buffer.copy_rows_from(0, &[], 0, none).unwrap();
        buffer.copy_rows_to(1, &mut host, 1, none).unwrap();
        buffer.copy_rows_from_buffer(&stream, 0, &other.slice(..), 0, none).unwrap();
    }
    // The last row ends with the memory.
    buffer.copy_rows_from(6, &[1; 8], 4, narrow).unwrap();
    assert_eq!(buffer.download().unwrap(), [1, 1, 1, 1, 0, 0, 1, 1, 1, 1]);
}

/// Rows that fit neither side of a copy: both are told.
#[test]
fn both_sides_of_a_copy_are_told() {
    let mut buffer = Device::cpu().unwrap().zeros::<u8>(8).unwrap();
    let rows = Rows { count: 3, width: 4 };
    let error = buffer.copy_rows_from(4, &[0; 20], 3, rows).unwrap_err();
    let lines = [
        "copy_rows_from: 3 rows of 4 elements with a pitch of 4 need 12 elements, but the buffer has 8 (KM1014)",
        "copy_rows_from: the pitch of the host slice, 3 elements, is less than the width of the rows, 4 elements: rows \
         would overlap (KM1014)",
    ];
    assert_eq!(error.to_string(), format!("2 errors in one call:\n  {}\n  {}", lines[0], lines[1]));
}
