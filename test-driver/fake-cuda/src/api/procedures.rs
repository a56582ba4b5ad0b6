//! `cuGetProcAddress`: functions by name.
//!
//! CUDA Driver API, "Driver Entry Point Access".

use std::ffi::{c_int, c_ulonglong};

use super::call::call;
use super::*;
use crate::base::abi::{Out, Text};
use crate::base::error::Error;
use cudarc::driver::sys::{CUdriverProcAddressQueryResult, CUresult};

/// The address of a function.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Procedure(pub(crate) *const ());

/// Lists the functions of each module with their names.
macro_rules! procedures {
    ($($module:ident: $($name:ident)*;)*) => {
        /// Every function, by its whole name.
        const PROCEDURES: &[(&str, fn() -> Procedure)] = &[
            $($((stringify!($name), || Procedure($module::$name as *const ()))),*),*
        ];
    };
}

procedures! {
    context: cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4 cuCtxDestroy_v2 cuCtxGetApiVersion
        cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetFlags cuCtxGetId cuCtxGetLimit
        cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2
        cuCtxResetPersistingL2Cache cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags
        cuCtxSetLimit cuCtxSynchronize;
    copy: cuMemcpy cuMemcpyAsync cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2
        cuMemcpyDtoH_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeer cuMemcpyPeerAsync;
    copy_rows: cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DAsync_v2
        cuMemcpy3D_v2;
    device: cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute cuDeviceGetByPCIBusId
        cuDeviceGetCount cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceGetName
        cuDeviceGetPCIBusId cuDeviceGetUuid cuDeviceGetUuid_v2 cuDevicePrimaryCtxGetState
        cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain
        cuDevicePrimaryCtxSetFlags_v2 cuDeviceSetMemPool cuDeviceTotalMem_v2;
    error: cuGetErrorName cuGetErrorString;
    event: cuEventCreate cuEventDestroy_v2 cuEventElapsedTime cuEventElapsedTime_v2 cuEventQuery
        cuEventRecord cuEventRecordWithFlags cuEventSynchronize;
    external: cuDestroyExternalMemory cuExternalMemoryGetMappedBuffer cuImportExternalMemory;
    fill: cuMemsetD16Async cuMemsetD16_v2 cuMemsetD2D16Async cuMemsetD2D16_v2 cuMemsetD2D32Async
        cuMemsetD2D32_v2 cuMemsetD2D8Async cuMemsetD2D8_v2 cuMemsetD32Async cuMemsetD32_v2
        cuMemsetD8Async cuMemsetD8_v2;
    function: cuFuncGetAttribute cuFuncGetModule cuFuncGetParamInfo cuFuncSetAttribute
        cuFuncSetCacheConfig cuFuncSetSharedMemConfig;
    graph: cuGraphAddDependencies cuGraphClone cuGraphCreate cuGraphDestroy cuGraphExecDestroy
        cuGraphGetEdges cuGraphGetNodes cuGraphGetRootNodes cuGraphInstantiateWithFlags
        cuGraphInstantiateWithParams cuGraphLaunch cuGraphNodeGetType cuGraphUpload;
    graph_nodes: cuGraphAddChildGraphNode cuGraphAddEmptyNode cuGraphAddHostNode
        cuGraphAddKernelNode cuGraphAddKernelNode_v2 cuGraphAddMemcpyNode cuGraphAddMemsetNode;
    host: cuMemAllocHost_v2 cuMemFreeHost cuMemHostAlloc cuMemHostGetDevicePointer_v2
        cuMemHostGetFlags cuMemHostRegister_v2 cuMemHostUnregister;
    init: cuDriverGetVersion cuGetExportTable cuInit cuProfilerStart cuProfilerStop;
    launch: cuLaunchCooperativeKernel cuLaunchKernel cuLaunchKernelEx;
    memory: cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemFree_v2 cuMemGetAddressRange_v2 cuMemGetInfo_v2
        cuPointerGetAttribute cuPointerGetAttributes;
    module: cuModuleEnumerateFunctions cuModuleGetFunction cuModuleGetFunctionCount
        cuModuleGetGlobal_v2 cuModuleGetLoadingMode cuModuleLoad cuModuleLoadData
        cuModuleLoadDataEx cuModuleLoadFatBinary cuModuleUnload;
    occupancy: cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxActiveClusters
        cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags
        cuOccupancyMaxPotentialClusterSize;
    peer: cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuDeviceCanAccessPeer
        cuDeviceGetP2PAttribute;
    pool: cuMemAllocAsync cuMemAllocFromPoolAsync cuMemFreeAsync cuMemPoolCreate cuMemPoolDestroy
        cuMemPoolGetAccess cuMemPoolGetAttribute cuMemPoolSetAccess cuMemPoolSetAttribute
        cuMemPoolTrimTo;
    stream: cuLaunchHostFunc cuStreamAddCallback cuStreamAttachMemAsync cuStreamBeginCapture_v2
        cuStreamCreate cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamEndCapture
        cuStreamGetCaptureInfo_v2 cuStreamGetCtx cuStreamGetDevice cuStreamGetFlags cuStreamGetId
        cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSynchronize
        cuStreamWaitEvent cuStreamWaitValue32_v2 cuThreadExchangeStreamCaptureMode;
    tensor_map: cuTensorMapEncodeTiled;
    unified: cuMemAdvise cuMemAdvise_v2 cuMemAllocManaged cuMemPrefetchAsync cuMemPrefetchAsync_v2;
    procedures: cuGetProcAddress_v2;
}

/// The version of the driver that a version of a function came with, where that is not the first
/// one that is supported.
const SINCE: &[(&str, c_int)] = &[
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    ("cuDeviceGetUuid_v2", 11040),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuMemAdvise_v2", 12020),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuTensorMapEncodeTiled", 12000),
];

/// The newest version of a function that a program for a version of CUDA knows.
fn find(name: &str, version: c_int) -> Option<Procedure> {
    let known = |name: &str| {
        let since = SINCE.iter().find(|(since, _)| *since == name).map_or(0, |(_, since)| *since);
        let found = PROCEDURES.iter().find(|(known, _)| *known == name);
        found.filter(|_| since <= version).map(|(_, address)| address())
    };
    let versions = (2..=4).rev().map(|number| format!("{name}_v{number}"));
    versions.chain([name.to_owned()]).find_map(|name| known(&name))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cuGetProcAddress_v2(
    name: Text,
    address: Out<Procedure>,
    version: c_int,
    _flags: c_ulonglong,
    status: Out<CUdriverProcAddressQueryResult>,
) -> CUresult {
    call("cuGetProcAddress_v2", || {
        let found = find(name.get()?, version);
        status.set_if_wanted(match found {
            Some(_) => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SUCCESS,
            None => CUdriverProcAddressQueryResult::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        });
        address.set(found.unwrap_or(Procedure(std::ptr::null())))?;
        found.map(|_| ()).ok_or(Error::CUDA_ERROR_NOT_FOUND)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sources of all functions.
    const SOURCES: &[&str] = &[
        include_str!("context.rs"),
        include_str!("copy.rs"),
        include_str!("copy_rows.rs"),
        include_str!("device.rs"),
        include_str!("error.rs"),
        include_str!("event.rs"),
        include_str!("external.rs"),
        include_str!("fill.rs"),
        include_str!("function.rs"),
        include_str!("graph.rs"),
        include_str!("graph_nodes.rs"),
        include_str!("host.rs"),
        include_str!("init.rs"),
        include_str!("launch.rs"),
        include_str!("memory.rs"),
        include_str!("module.rs"),
        include_str!("occupancy.rs"),
        include_str!("peer.rs"),
        include_str!("pool.rs"),
        include_str!("stream.rs"),
        include_str!("tensor_map.rs"),
        include_str!("unified.rs"),
        include_str!("procedures.rs"),
    ];

    #[test]
    fn every_function_is_listed() {
        let declared = SOURCES.iter().flat_map(|source| source.split("extern \"C\" fn ").skip(1));
        let names = declared.map(|rest| rest.split('(').next().unwrap_or_default());
        for name in names.filter(|name| name.starts_with("cu")) {
            assert!(PROCEDURES.iter().any(|(known, _)| *known == name), "{name}");
        }
    }

    #[test]
    fn the_newest_version_that_is_known_is_found() {
        let same = |found: Option<Procedure>, name: &str| {
            let wanted = PROCEDURES.iter().find(|(known, _)| *known == name).unwrap().1();
            found.is_some_and(|found| found.0 == wanted.0)
        };
        assert!(same(find("cuMemAlloc", 12000), "cuMemAlloc_v2"));
        assert!(same(find("cuCtxCreate", 12080), "cuCtxCreate_v4"));
        assert!(same(find("cuCtxCreate", 11080), "cuCtxCreate_v3"));
        assert!(same(find("cuCtxCreate", 11000), "cuCtxCreate_v2"));
        assert!(same(find("cuEventElapsedTime", 12000), "cuEventElapsedTime"));
        assert!(find("cuTexRefCreate", 12080).is_none());
    }
}
