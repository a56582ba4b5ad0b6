//! Fills of device memory.
//!
//! CUDA Driver API, "Memory Management".

use std::ffi::{c_uchar, c_uint, c_ushort};

use super::call::call;
use crate::base::error::Result;
use crate::base::handle::Handle;
use crate::context;
use crate::memory::copy::Fill;
use crate::work::Work;
use cudarc::driver::sys::CUresult;

/// Fills in the order of the legacy default stream, and waits for it.
fn now(fill: Fill) -> Result<()> {
    let context = context::usable()?;
    context::refuse_during_capture()?;
    fill.check(context.ordinal)?;
    let legacy = context.legacy();
    context.refuse_legacy_capture(legacy)?;
    context.push(legacy, Vec::new(), Work::Fill(fill))?.wait();
    context.report()
}

/// Fills in the order of a stream.
fn later(stream: Handle, fill: Fill) -> Result<()> {
    let (context, stream) = context::resolve(stream)?;
    fill.check(context.ordinal)?;
    stream.submit(Work::Fill(fill))
}

fn line(address: u64, value: u32, element_bytes: usize, width: usize) -> Fill {
    Fill { address, pitch: 0, width, height: 1, value, element_bytes }
}

/// The functions for one length of an element: lines and rows, now and later.
macro_rules! fills {
    ($value:ty, $bytes:literal, $now:ident, $later:ident, $rows_now:ident, $rows_later:ident) => {
        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $now(address: u64, value: $value, count: usize) -> CUresult {
            call(stringify!($now), || now(line(address, value.into(), $bytes, count)))
        }

        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $later(
            address: u64,
            value: $value,
            count: usize,
            stream: Handle,
        ) -> CUresult {
            call(stringify!($later), || later(stream, line(address, value.into(), $bytes, count)))
        }

        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $rows_now(
            address: u64,
            pitch: usize,
            value: $value,
            width: usize,
            height: usize,
        ) -> CUresult {
            call(stringify!($rows_now), || {
                let (value, element_bytes) = (value.into(), $bytes);
                now(Fill { address, pitch, width, height, value, element_bytes })
            })
        }

        #[unsafe(no_mangle)]
        pub(crate) extern "C" fn $rows_later(
            address: u64,
            pitch: usize,
            value: $value,
            width: usize,
            height: usize,
            stream: Handle,
        ) -> CUresult {
            call(stringify!($rows_later), || {
                let (value, element_bytes) = (value.into(), $bytes);
                later(stream, Fill { address, pitch, width, height, value, element_bytes })
            })
        }
    };
}

fills!(c_uchar, 1, cuMemsetD8_v2, cuMemsetD8Async, cuMemsetD2D8_v2, cuMemsetD2D8Async);
fills!(c_ushort, 2, cuMemsetD16_v2, cuMemsetD16Async, cuMemsetD2D16_v2, cuMemsetD2D16Async);
fills!(c_uint, 4, cuMemsetD32_v2, cuMemsetD32Async, cuMemsetD2D32_v2, cuMemsetD2D32Async);
