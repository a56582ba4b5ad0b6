//! Names of errors.
//!
//! CUDA Driver API, "Error Handling".

use std::ffi::{CStr, c_int};

use super::call::call;
use crate::base::abi::{Out, StaticText};
use crate::base::error::{self, Error, Result};
use cudarc::driver::sys::CUresult;

fn set(
    text: Out<StaticText>,
    code: c_int,
    success: &'static CStr,
    of: fn(Error) -> &'static CStr,
) -> Result<()> {
    let known = if code == 0 { Some(success) } else { error::from_code(code).map(of) };
    text.set(known.into())?;
    known.map(|_| ()).ok_or(Error::CUDA_ERROR_INVALID_VALUE)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetErrorName(error: c_int, name: Out<StaticText>) -> CUresult {
    call("cuGetErrorName", || set(name, error, c"CUDA_SUCCESS", error::name))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetErrorString(error: c_int, text: Out<StaticText>) -> CUresult {
    call("cuGetErrorString", || set(text, error, c"no error", error::text))
}
