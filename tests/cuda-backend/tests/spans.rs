//! Spans of the crate `tracing`: each load, launch, copy and compilation at run time, with what is known of it.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use cuda_backend::{Kernels, clean_child};
use kernelmill::{Device, Launch, jit};
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};

/// A span: its name, its fields, and how often it was entered and left.
#[derive(Clone, Debug, Default)]
struct Seen {
    name: &'static str,
    fields: BTreeMap<&'static str, String>,
    entered: usize,
    left: usize,
}

/// A subscriber that keeps what it sees of kernelmill.
#[derive(Clone, Default)]
struct Collector {
    seen: Arc<Mutex<BTreeMap<u64, Seen>>>,
    next: Arc<AtomicU64>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

impl Collector {
    fn with(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        change(self.seen.lock().unwrap().get_mut(&id.into_u64()).unwrap());
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "kernelmill"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let mut seen = Seen { name: span.metadata().name(), ..Seen::default() };
        span.record(&mut seen);
        self.seen.lock().unwrap().insert(id, seen);
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        self.with(id, |seen| values.record(seen));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        self.with(id, |seen| seen.entered += 1);
    }

    fn exit(&self, id: &Id) {
        self.with(id, |seen| seen.left += 1);
    }
}

#[test]
fn loads_launches_and_copies_are_spans() {
    clean_child("loads_launches_and_copies_are_spans", &[], || {
        let collector = Collector::default();
        let device = Device::cuda(0).unwrap();
        tracing::subscriber::with_default(collector.clone(), || {
            let kernels = Kernels::load(&device).unwrap();
            let (x, mut y) =
                (device.upload(&[1.0_f32; 8]).unwrap(), device.zeros::<f32>(8).unwrap());
            let launch = Launch::grid([2], [4]);
            kernels.saxpy(&device.stream(), launch, 3.0, &x, &mut y).unwrap();
            assert_eq!(y.download().unwrap(), [3.0; 8]);
            let empty =
                ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }";
            let source = jit::Source::ptx("own.ptx", empty);
            jit::Compiler::new().compile(&device, &source).unwrap();
        });
        let seen: Vec<Seen> = collector.seen.lock().unwrap().values().cloned().collect();
        let names: Vec<_> = seen.iter().map(|seen| seen.name).collect();
        assert_eq!(names, ["load", "copy", "launch", "copy", "compile", "load"], "{seen:?}");
        assert!(seen.iter().all(|seen| (seen.entered, seen.left) == (1, 1)), "{seen:?}");
        let field = |index: usize, name| seen[index].fields.get(name).map(String::as_str);
        assert_eq!(field(0, "source"), Some("kernels/saxpy.rs"));
        assert_eq!((field(1, "method"), field(1, "bytes")), (Some("upload"), Some("32")));
        assert_eq!((field(2, "kernel"), field(2, "target")), (Some("saxpy"), Some("compute_75")));
        assert_eq!((field(2, "grid"), field(2, "block")), (Some("[2, 1, 1]"), Some("[4, 1, 1]")));
        assert_eq!((field(3, "method"), field(3, "grid")), (Some("download"), None));
        assert_eq!(field(3, "device"), Some(&*device.to_string()));
        let compiled = (field(4, "source"), field(4, "origin"));
        assert_eq!(compiled, (Some("own.ptx"), Some("compiler")));
        // Without a subscriber there are none.
        let kernels = Kernels::load(&device).unwrap();
        let (x, mut y) = (device.upload(&[1.0_f32; 8]).unwrap(), device.zeros::<f32>(8).unwrap());
        kernels.saxpy(&device.stream(), Launch::grid([2], [4]), 3.0, &x, &mut y).unwrap();
        assert_eq!(collector.seen.lock().unwrap().len(), 6);
    });
}
