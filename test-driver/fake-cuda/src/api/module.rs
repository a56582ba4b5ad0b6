//! Modules.
//!
//! CUDA Driver API, "Module Management".

use std::{
    ffi::{c_char, c_int, c_uint},
    fs,
    sync::atomic::Ordering,
};

use super::call::call;
use crate::base::abi::{In, Out, Text, enumerators};
use crate::base::error::{Error, Result};
use crate::base::handle::Handle;
use crate::config::{Streams, config};
use crate::context::{self, CONTEXTS};
use crate::module::{MODULES, Module, Refusal, refuse_binary};
use cudarc::driver::sys::{CUmoduleLoadingMode, CUresult};

enumerators! { c_int: CUjit_option
    LOG = CU_JIT_ERROR_LOG_BUFFER;
    LOG_BYTES = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
}

/// What the caller has asked for while a module is loaded: where messages go.
#[derive(Default)]
struct Options {
    log: Option<(Out<c_char>, usize)>,
}

impl Options {
    /// Reads `CUjit_option`s; all but the log of errors make no difference to an emulator.
    fn read(count: c_uint, keys: In<c_int>, values: In<Out<c_char>>) -> Result<Self> {
        let (mut log, mut bytes) = (None, 0);
        for index in 0..count as usize {
            match keys.element(index)? {
                LOG => log = Some(values.element(index)?),
                // The value is a number in the place of a pointer.
                LOG_BYTES => bytes = values.element(index)?.address() as u32 as usize,
                _ => {}
            }
        }
        Ok(Self { log: log.map(|log| (log, bytes)) })
    }

    fn say(&self, text: &str) {
        let Some((log, bytes)) = self.log else { return };
        // A log without room has none of the text.
        let _ = log.set_text(text, bytes);
    }
}

/// Loads PTX, and says why it cannot be loaded.
fn load(loaded: Out<Handle>, text: Result<String, Refusal>, options: &Options) -> Result<()> {
    loaded.check()?;
    let context = context::usable()?;
    context::refuse_during_capture()?;
    match text.and_then(|text| Module::load(context.owner(), &text)) {
        Ok(module) => loaded.set(module.handle),
        Err(refusal) => {
            options.say(&refusal.log);
            eprintln!("fake-cuda: a module was refused: {}", refusal.log);
            Err(refusal.error)
        }
    }
}

/// The text of an image, which ends with a zero if it is text.
fn text(image: In<u8>) -> Result<String, Refusal> {
    let no_image = |error| Refusal { error, log: "the pointer to the image is null".to_owned() };
    let first = image.get().map_err(no_image)?;
    // Machine code has at least four bytes; a text that is shorter has a zero among them.
    let start: Vec<u8> = match first {
        0x7f | 0x50 => image.elements(4).map_err(no_image)?,
        byte => vec![byte],
    };
    if let Some(refusal) = refuse_binary(&start) {
        return Err(refusal);
    }
    let invalid = |error| Refusal { error, log: "the image is not UTF-8 text".to_owned() };
    let text = image.cast::<c_char>().text().get().map_err(invalid)?.to_owned();
    Ok(text)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleLoad(loaded: Out<Handle>, path: Text) -> CUresult {
    call("cuModuleLoad", || {
        let bytes = fs::read(path.get()?).map_err(|_| Error::CUDA_ERROR_FILE_NOT_FOUND)?;
        let text = match refuse_binary(&bytes) {
            Some(refusal) => Err(refusal),
            None => Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned()),
        };
        load(loaded, text, &Options::default())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleLoadData(loaded: Out<Handle>, image: In<u8>) -> CUresult {
    call("cuModuleLoadData", || load(loaded, text(image), &Options::default()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleLoadDataEx(
    loaded: Out<Handle>,
    image: In<u8>,
    count: c_uint,
    keys: In<c_int>,
    values: In<Out<c_char>>,
) -> CUresult {
    call("cuModuleLoadDataEx", || load(loaded, text(image), &Options::read(count, keys, values)?))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleLoadFatBinary(loaded: Out<Handle>, image: In<u8>) -> CUresult {
    call("cuModuleLoadFatBinary", || load(loaded, text(image), &Options::default()))
}

/// The Driver API promises no order between this call and launches of the module. With eager streams it waits for
/// them; with lazy ones it does not, and a launch that comes after it is an asynchronous error.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleUnload(module: Handle) -> CUresult {
    call("cuModuleUnload", || {
        let module = MODULES.remove(module)?;
        let context = CONTEXTS
            .get(module.owner.context)
            .map_err(|_| Error::CUDA_ERROR_CONTEXT_IS_DESTROYED)?;
        match config()?.streams {
            Streams::Eager => context.drain(),
            Streams::Lazy => module.unloaded.store(true, Ordering::Release),
        }
        context.usable()
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleGetFunction(
    function: Out<Handle>,
    module: Handle,
    name: Text,
) -> CUresult {
    call("cuModuleGetFunction", || {
        context::usable()?;
        function.set(MODULES.get(module)?.function(name.get()?)?.handle)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleGetFunctionCount(count: Out<c_uint>, module: Handle) -> CUresult {
    call("cuModuleGetFunctionCount", || count.set(MODULES.get(module)?.names().count() as c_uint))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleEnumerateFunctions(
    functions: Out<Handle>,
    count: c_uint,
    module: Handle,
) -> CUresult {
    call("cuModuleEnumerateFunctions", || {
        let module = MODULES.get(module)?;
        let mut targets = functions.elements(count as usize);
        let names: Vec<String> = module.names().map(str::to_owned).collect();
        names
            .iter()
            .zip(&mut targets)
            .try_for_each(|(name, target)| target.set(module.function(name)?.handle))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleGetGlobal_v2(
    address: Out<u64>,
    bytes: Out<usize>,
    module: Handle,
    name: Text,
) -> CUresult {
    call("cuModuleGetGlobal_v2", || {
        context::usable()?;
        let (found, length) = MODULES.get(module)?.global(name.get()?)?;
        address.set_if_wanted(found);
        bytes.set_if_wanted(length);
        Ok(())
    })
}

/// Everything is loaded at once.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuModuleGetLoadingMode(mode: Out<CUmoduleLoadingMode>) -> CUresult {
    call("cuModuleGetLoadingMode", || mode.set(CUmoduleLoadingMode::CU_MODULE_EAGER_LOADING))
}
