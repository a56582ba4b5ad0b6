//! Names of errors.

use std::ffi::{CStr, c_int};

use super::call::call;
use crate::base::abi::{Out, StaticText};
use crate::base::error::{Error, Result, Status};

fn set(
    text: Out<StaticText>,
    error: c_int,
    success: &'static CStr,
    of: fn(Error) -> &'static CStr,
) -> Result<()> {
    let known = if error == 0 { Some(success) } else { Error::from_code(error).map(of) };
    text.set(known.into())?;
    known.map(|_| ()).ok_or(Error::InvalidValue)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetErrorName(error: c_int, name: Out<StaticText>) -> Status {
    call("cuGetErrorName", || set(name, error, c"CUDA_SUCCESS", Error::name))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetErrorString(error: c_int, text: Out<StaticText>) -> Status {
    call("cuGetErrorString", || set(text, error, c"no error", Error::text))
}
