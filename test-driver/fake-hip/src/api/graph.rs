//! Graphs of launches.

use std::{
    ffi::{c_char, c_uint, c_void},
    slice,
    sync::Arc,
};

use kernelmill::__codegen::abi::Geometry;

use super::{give, handle};
use crate::{
    call::{call, current},
    code::{self, Code},
    graph::Graph,
    memory::{Found, When},
    queue::Work,
    state::{Object, State},
};

/// `hipKernelNodeParams`.
#[repr(C)]
struct KernelNodeParameters {
    block: [c_uint; 3],
    extra: *mut *mut c_void,
    function: *mut c_void,
    grid: [c_uint; 3],
    parameters: *mut *mut c_void,
    dynamic_shared_bytes: c_uint,
}

impl State {
    fn graph(&mut self, handle: usize) -> Result<&mut Graph, Code> {
        if !matches!(self.objects.get(&handle), Some(Object::Graph(_))) {
            return self.refuse(code::INVALID_VALUE, "a handle that is not a graph");
        }
        match self.objects.get_mut(&handle) {
            Some(Object::Graph(graph)) => Ok(graph),
            _ => Err(code::INVALID_VALUE),
        }
    }

    fn executable(&mut self, handle: usize) -> Result<Arc<Graph>, Code> {
        match self.objects.get(&handle) {
            Some(Object::Executable(graph)) => Ok(Arc::clone(graph)),
            _ => self.refuse(code::INVALID_VALUE, "a handle that is not an executable graph"),
        }
    }

    /// Adds a node with a launch to a graph; its handle.
    ///
    /// # Safety
    ///
    /// There is a pointer for each argument, to as many bytes as it has.
    unsafe fn add_node(
        &mut self,
        graph: usize,
        dependencies: &[usize],
        node: &KernelNodeParameters,
    ) -> Result<usize, Code> {
        let own = self.graph(graph)?;
        let (device, before): (_, Option<Vec<_>>) =
            (own.device, dependencies.iter().map(|it| own.index_of(*it)).collect());
        let Some(before) = before else {
            return self.refuse(code::INVALID_VALUE, "a node depends on a node of another graph");
        };
        if (1..before.len()).any(|at| before[..at].contains(&before[at])) {
            return self.refuse(code::INVALID_VALUE, "a node depends on another twice");
        }
        let function = self.function(node.function.addr())?;
        if function.device != device || node.parameters.is_null() || !node.extra.is_null() {
            let what = "a node of another device, without arguments, or with `extra`";
            return self.refuse(code::INVALID_VALUE, what);
        }
        let &KernelNodeParameters { grid, block, dynamic_shared_bytes, .. } = node;
        let geometry = Geometry { grid, block, dynamic_shared_bytes, reserved: 0 };
        self.check_shape(&function, &geometry)?;
        // SAFETY: promised.
        let launch = unsafe { self.prepare(function, geometry, node.parameters)? };
        let handle = self.handle();
        self.graph(graph)?.add(handle, launch, before);
        Ok(handle)
    }

    /// Queues the launches of an executable graph.
    fn launch_graph(&mut self, executable: usize, stream: usize) -> Result<(), Code> {
        let graph = self.executable(executable)?;
        let stream = self.work_stream(stream)?;
        if graph.device != stream.device {
            return self.refuse(code::INVALID_VALUE, "a graph is launched on another device");
        }
        let is_there = |module| matches!(self.objects.get(&module), Some(Object::Module(_)));
        if !graph.launches().all(|launch| is_there(launch.module)) {
            let what = "a graph is launched with kernels of a module that is unloaded";
            return self.refuse(code::INVALID_VALUE, what);
        }
        let is_given_back =
            |address: &usize| self.memory.find(*address, 1, When::Queued) == Found::Faulty;
        if graph.launches().any(|launch| launch.buffers.iter().any(is_given_back)) {
            return self
                .refuse(code::INVALID_VALUE, "a graph is launched with memory that was freed");
        }
        self.submit(stream, Work::Graph(graph));
        Ok(())
    }

    /// Gives a graph or an executable graph back.
    fn release_graph(&mut self, handle: usize) {
        self.objects.remove(&handle);
        self.released += 1;
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipGraphCreate(graph: *mut *mut c_void, flags: c_uint) -> Code {
    call("hipGraphCreate", |state| {
        if flags != 0 {
            return state.refuse(code::INVALID_VALUE, "a graph with flags");
        }
        let made = state.add(Object::Graph(Graph::new(current())));
        // SAFETY: the caller's place.
        unsafe { give(graph, handle(made)) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipGraphAddKernelNode(
    node: *mut *mut c_void,
    graph: *mut c_void,
    dependencies: *const *mut c_void,
    count: usize,
    parameters: *const KernelNodeParameters,
) -> Code {
    call("hipGraphAddKernelNode", |state| {
        if parameters.is_null() || (count > 0 && dependencies.is_null()) {
            return state.refuse(code::INVALID_VALUE, "a node without its parameters");
        }
        let dependencies: Vec<usize> = match count {
            0 => Vec::new(),
            // SAFETY: the caller gives that many handles.
            _ => unsafe { slice::from_raw_parts(dependencies, count) }
                .iter()
                .map(|handle| handle.addr())
                .collect(),
        };
        // SAFETY: the caller promises the parameters, and the arguments that they name.
        unsafe {
            let made = state.add_node(graph.addr(), &dependencies, &*parameters)?;
            give(node, handle(made))
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn hipGraphInstantiate(
    executable: *mut *mut c_void,
    graph: *mut c_void,
    _error_node: *mut *mut c_void,
    log: *mut c_char,
    log_bytes: usize,
) -> Code {
    call("hipGraphInstantiate", |state| {
        if log.is_null() && log_bytes > 0 {
            return state.refuse(code::INVALID_VALUE, "a log whose address is null");
        }
        let own = Arc::new(state.graph(graph.addr())?.clone());
        let made = state.add(Object::Executable(own));
        // SAFETY: the caller's place.
        unsafe { give(executable, handle(made)) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn hipGraphLaunch(executable: *mut c_void, stream: *mut c_void) -> Code {
    call("hipGraphLaunch", |state| state.launch_graph(executable.addr(), stream.addr()))
}

#[unsafe(no_mangle)]
extern "C" fn hipGraphDestroy(graph: *mut c_void) -> Code {
    call("hipGraphDestroy", |state| {
        state.graph(graph.addr())?;
        state.release_graph(graph.addr());
        Ok(())
    })
}

/// What is queued of it is still done.
#[unsafe(no_mangle)]
extern "C" fn hipGraphExecDestroy(executable: *mut c_void) -> Code {
    call("hipGraphExecDestroy", |state| {
        state.executable(executable.addr())?;
        state.release_graph(executable.addr());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    const NOTHING: KernelNodeParameters = KernelNodeParameters {
        block: [1; 3],
        extra: ptr::null_mut(),
        function: ptr::null_mut(),
        grid: [1; 3],
        parameters: ptr::null_mut(),
        dynamic_shared_bytes: 0,
    };

    #[test]
    fn handles_are_of_their_own_kind_until_they_are_given_back() {
        let mut state = State::new();
        let graph = state.add(Object::Graph(Graph::new(0)));
        let executable = state.add(Object::Executable(Arc::new(Graph::new(0))));
        let wrong = Some(code::INVALID_VALUE);
        assert_eq!(state.graph(executable).err(), wrong);
        assert_eq!(state.executable(graph).err(), wrong);
        assert_eq!(state.launch_graph(graph, 0), Err(code::INVALID_VALUE));
        assert_eq!(state.launch_graph(executable, 0), Ok(()));
        assert_eq!(state.misuses, 3);
        for handle in [graph, executable] {
            state.release_graph(handle);
        }
        assert_eq!(state.graph(graph).err(), wrong);
        assert_eq!(state.launch_graph(executable, 0), Err(code::INVALID_VALUE));
        assert_eq!((state.misuses, state.created, state.released), (5, 2, 2));
    }

    #[test]
    fn a_node_is_of_a_function_and_depends_on_nodes_of_its_graph() {
        let mut state = State::new();
        let graph = state.add(Object::Graph(Graph::new(0)));
        let other = state.handle();
        // SAFETY: no argument is read.
        let mut add = |before: &[usize]| unsafe { state.add_node(graph, before, &NOTHING) };
        assert_eq!(add(&[other]), Err(code::INVALID_VALUE));
        assert_eq!(add(&[]), Err(code::INVALID_HANDLE));
        assert_eq!(state.misuses, 2);
        assert_eq!(state.graph(graph).unwrap().launches().count(), 0);
    }

    #[test]
    fn a_graph_is_launched_on_its_own_device() {
        let mut state = State::new();
        state.config.devices = 2;
        let executable = state.add(Object::Executable(Arc::new(Graph::new(1))));
        assert_eq!(state.launch_graph(executable, 0), Err(code::INVALID_VALUE));
        assert_eq!(state.misuses, 1);
    }
}
