//! The state of the library: everything that a process has made, and what is done with it.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::{
    code::{self, Code},
    config::{Config, Streams},
    execute::{Launch, Order, Registered, next_random},
    graph::Graph,
    memory::{Found, Memory, When},
    module::{Function, Module},
    queue::{Queues, StreamKey, Work},
};

/// What a handle is of.
pub(crate) enum Object {
    Stream { device: i32 },
    Event(Event),
    Module(Module),
    Function(Function),
    Graph(Graph),
    Executable(Arc<Graph>),
}

/// An event.
#[derive(Default)]
pub(crate) struct Event {
    pub(crate) device: i32,
    pub(crate) has_time: bool,
    /// The number of the work that records it.
    pub(crate) recorded: Option<u64>,
    pub(crate) time: Option<Instant>,
}

pub(crate) struct State {
    pub(crate) config: Config,
    pub(crate) is_initialised: bool,
    pub(crate) memory: Memory,
    pub(crate) objects: HashMap<usize, Object>,
    pub(crate) queues: Queues,
    pub(crate) registered: Registered,
    /// The error of each device that stays.
    pub(crate) sticky: HashMap<i32, Code>,
    /// Calls that were wrong, and calls that release something and were made to fail.
    pub(crate) misuses: usize,
    pub(crate) excused: usize,
    /// What was made altogether, and released.
    pub(crate) created: usize,
    pub(crate) released: usize,
    last_handle: usize,
    /// The number of the last launch.
    launches: u64,
    random: u64,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(|| Mutex::new(State::new()));

/// The state, for one call.
pub(crate) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    pub(crate) fn new() -> Self {
        let config = Config::from_environment().unwrap_or_else(|error| {
            eprintln!("fake-hip: {error}");
            std::process::abort();
        });
        let random = if let Streams::Random(seed) = config.streams { seed } else { 0 };
        Self {
            config,
            is_initialised: false,
            memory: Memory::default(),
            objects: HashMap::new(),
            queues: Queues::default(),
            registered: Registered::default(),
            sticky: HashMap::new(),
            misuses: 0,
            excused: 0,
            created: 0,
            released: 0,
            last_handle: 0x1000,
            launches: 0,
            random,
        }
    }

    /// A handle that was never given out.
    pub(crate) fn handle(&mut self) -> usize {
        self.last_handle += 16;
        self.last_handle
    }

    /// A handle of an object.
    pub(crate) fn add(&mut self, object: Object) -> usize {
        let handle = self.handle();
        self.created += usize::from(!matches!(object, Object::Function(_)));
        self.objects.insert(handle, object);
        handle
    }

    /// The number of a launch, or of a node, which has it in each launch of its graph.
    pub(crate) fn launch_number(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// Notes that a call is wrong.
    pub(crate) fn misuse(&mut self, what: &str) {
        eprintln!("fake-hip: {what}");
        self.misuses += 1;
    }

    /// Notes that work has gone wrong on a device, which is of no use any more.
    fn fault(&mut self, device: i32, code: Code, what: &str) {
        eprintln!("fake-hip: {what}");
        self.misuses += 1;
        self.sticky.entry(device).or_insert(code);
    }

    /// Queues work, and does some of it, as the mode says.
    pub(crate) fn submit(&mut self, stream: StreamKey, work: Work) -> u64 {
        let number = self.queues.push(stream, work);
        if self.config.streams == Streams::Eager {
            self.finish(number);
        }
        number
    }

    /// Does some work that nothing waits for, where the mode is a random one.
    pub(crate) fn progress(&mut self) {
        if !matches!(self.config.streams, Streams::Random(_)) {
            return;
        }
        for device in 0..self.config.devices {
            let busy = self.queues.busy(device);
            if !busy.is_empty() && next_random(&mut self.random).is_multiple_of(2) {
                let index = next_random(&mut self.random) as usize % busy.len();
                self.step(busy[index]);
            }
        }
    }

    /// Does work up to that with this number, and no more than it needs.
    pub(crate) fn finish(&mut self, number: u64) {
        while let Some(stream) = self.queues.stream_of(number) {
            self.step(stream);
        }
    }

    /// Does all work of a stream.
    pub(crate) fn finish_stream(&mut self, stream: StreamKey) {
        if let Some(last) = self.queues.last_of(stream) {
            self.finish(last);
        }
    }

    /// Does the first work of a stream, and what it waits for.
    fn step(&mut self, stream: StreamKey) {
        while let Some(number) = self.queues.awaited(stream) {
            self.finish(number);
        }
        let Some(item) = self.queues.pop(stream) else { return };
        if self.sticky.contains_key(&stream.device) {
            return;
        }
        match item.work {
            Work::Copy { target, source, bytes } => self.copy(stream.device, target, source, bytes),
            Work::Fill { target, value, bytes } => {
                if self.is_usable(stream.device, target, bytes) {
                    let target = std::ptr::with_exposed_provenance_mut::<u8>(target);
                    // SAFETY: the memory is there.
                    unsafe { target.write_bytes(value, bytes) };
                }
            }
            Work::Launch(launch) => self.run(stream.device, &launch),
            Work::Graph(graph) => {
                let mut random = next_random(&mut self.random);
                let mode = self.config.streams;
                let launches = graph.ordered(|count| match mode {
                    Streams::Eager => 0,
                    Streams::Lazy => count - 1,
                    Streams::Random(_) => next_random(&mut random) as usize % count,
                });
                launches.into_iter().for_each(|launch| self.run(stream.device, launch));
            }
            Work::Allocate { address } => self.memory.arrive(address),
            Work::Free { address } => self.memory.leave(address),
            Work::Record { event } => {
                if let Some(Object::Event(event)) = self.objects.get_mut(&event)
                    && event.recorded == Some(item.number)
                {
                    event.time = Some(Instant::now());
                }
            }
            Work::Wait { .. } => {}
        }
    }

    /// Runs a launch, unless one before it has gone wrong.
    fn run(&mut self, device: i32, launch: &Launch) {
        if self.sticky.contains_key(&device) {
            return;
        }
        let order = match self.config.streams {
            Streams::Eager => Order::Forward,
            Streams::Lazy => Order::Reverse,
            Streams::Random(_) => Order::Random(next_random(&mut self.random)),
        };
        if let Err(what) = launch.run(&self.memory, order) {
            self.fault(device, code::ILLEGAL_ADDRESS, &what);
        }
    }

    /// Whether memory is there, as far as is known; a fault of the device where it is not.
    fn is_usable(&mut self, device: i32, address: usize, bytes: usize) -> bool {
        let is_usable = self.memory.find(address, bytes, When::Done) != Found::Faulty;
        if !is_usable {
            let what = format!(
                "a copy of {bytes} bytes uses memory at {address:#x} that is not allocated"
            );
            self.fault(device, code::ILLEGAL_ADDRESS, &what);
        }
        is_usable
    }

    fn copy(&mut self, device: i32, target: usize, source: usize, bytes: usize) {
        if self.is_usable(device, target, bytes) && self.is_usable(device, source, bytes) {
            let source = std::ptr::with_exposed_provenance::<u8>(source);
            let target = std::ptr::with_exposed_provenance_mut::<u8>(target);
            // SAFETY: memory of this library is there, and the program promises its own until the stream has
            // come to the copy.
            unsafe { std::ptr::copy(source, target, bytes) };
        }
    }
}
