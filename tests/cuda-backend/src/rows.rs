//! Copies of rows on a device, against plain loops. `hip-backend`, `wgsl` and the suite of `mixed-sources` have this file too.

use kernelmill::{Device, Rows};

/// Copies rows to the device, on a stream of its own to another buffer, and back.
///
/// # Panics
///
/// Where one of the copies fails, or is another one.
pub fn copy_rows(device: &Device) {
    let rows = Rows { count: 5, width: 7 };
    let host: Vec<u16> = (1..=50).collect();
    let mut first = device.zeros::<u16>(70).unwrap();
    first.slice_mut(3..).copy_rows_from(12, &host, 10, rows).unwrap();
    let mut expected = vec![0; 70];
    for row in 0..5 {
        expected[3 + row * 12..][..7].copy_from_slice(&host[row * 10..][..7]);
    }
    assert_eq!(first.download().unwrap(), expected);
    let stream = device.new_stream().unwrap();
    let mut second = device.upload(&[9_u16; 30]).unwrap();
    let part = Rows { count: 3, width: 4 };
    second.copy_rows_from_buffer(&stream, 8, &first.slice(15..), 12, part).unwrap();
    // The copy is queued: reading waits for it.
    let mut back = vec![0; 18];
    second.copy_rows_to(8, &mut back, 7, part).unwrap();
    let mut expected = vec![0; 18];
    for row in 0..3 {
        expected[row * 7..][..4].copy_from_slice(&host[(row + 1) * 10..][..4]);
    }
    assert_eq!(back, expected);
    let between = second.download().unwrap();
    assert_eq!([&between[4..8], &between[20..]].concat(), [9; 14]);
    let refused = second.copy_rows_to(3, &mut back, 7, part).unwrap_err();
    assert!(matches!(refused, kernelmill::Error::Rows { pitch: 3, .. }), "{refused}");
}
