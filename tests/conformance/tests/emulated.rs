//! Kernels whose instructions only newer processors have than those that the suite is compiled for, on
//! the emulator.

mod common;

use common::{folder, lower};
use kernelmill_artifact::{PanicRecord, TensorMapData};
use ptx_emulator::{
    Device, Fault, FaultKind, Launch, Loaded, Module, Options, Order, Properties, TensorMap,
};

/// The kernels of a file on an emulated device.
struct Emulated {
    device: Device,
    loaded: Loaded,
    module: Module,
    text: String,
}

impl Emulated {
    fn new(file: &str, target: &str) -> Self {
        let text = std::fs::read_to_string(folder().join("kernels").join(file)).unwrap();
        let name = format!("emulated_{target}_{file}");
        let source = lower(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        let text = source.assembly(target).unwrap_or_else(|error| panic!("{error}"));
        let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(module.unsupported(), []);
        let device = Device::new(Properties::of_capability(90));
        let loaded = device.load(&module).unwrap();
        Self { device, loaded, module, text }
    }

    /// The address of some bytes, followed by a number of elements, as a slice is passed.
    fn slice(&self, bytes: &[u8], elements: usize) -> [[u8; 8]; 2] {
        let address = self.device.allocate(bytes.len(), 256).unwrap();
        self.device.write(address, bytes).unwrap();
        [address.to_le_bytes(), (elements as u64).to_le_bytes()]
    }

    /// What is passed for a tensor of bytes at an address, with the descriptor of a driver or without one.
    fn map(&self, map: &TensorMap, is_encoded: bool) -> Vec<u8> {
        let mut data = TensorMapData { address: map.address, ..TensorMapData::NOTHING };
        let strides = [u64::from(map.element_bytes)].into_iter().chain(map.strides.iter().copied());
        for (d, stride) in strides.enumerate() {
            (data.sizes[d], data.strides[d]) = (map.sizes[d], stride);
            data.box_sizes[d] = map.box_sizes[d];
        }
        data.swizzle = (map.swizzle / 16).saturating_sub(1);
        if is_encoded {
            (data.descriptor, data.is_encoded) = (map.encode().unwrap(), 1);
        }
        let words = data.descriptor.iter().chain([&data.address]).chain(&data.sizes);
        let words = words.chain(&data.strides).flat_map(|word| word.to_le_bytes());
        let halves = data.box_sizes.iter().chain([&data.swizzle, &data.is_encoded]);
        let mut bytes: Vec<u8> = words.chain(halves.flat_map(|it| it.to_le_bytes())).collect();
        bytes.resize(TensorMapData::BYTES as usize, 0);
        bytes
    }

    fn launch(&self, kernel: &str, launch: &Launch<'_>, order: Order) -> Result<(), Box<Fault>> {
        let options = Options { order, detect_races: true, ..Options::default() };
        let [record, _] = self.slice(&[0; size_of::<PanicRecord>()], 0);
        let mut arguments = launch.arguments.to_vec();
        let kernel_of_module = self.module.kernel(kernel).unwrap();
        // Kernels that may panic are given a record of panics behind their arguments.
        if kernel_of_module.parameters.len() == arguments.len() + 1 {
            arguments.push(&record);
        }
        let launch = &Launch { arguments: &arguments, ..*launch };
        let report = self.device.launch(&self.loaded, kernel, launch, &options);
        report.map(drop).map_err(Box::new)
    }

    fn floats(&self, address: u64, count: usize) -> Vec<f32> {
        let mut bytes = vec![0; 4 * count];
        self.device.read(address, &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
    }

    /// What a kernel writes to `count` floats, its last argument, with a block of `threads`, in an order.
    fn run(
        &self,
        kernel: &str,
        threads: u32,
        arguments: &[&[u8]],
        count: usize,
        order: Order,
    ) -> Vec<f32> {
        let output = self.slice(&vec![0; 4 * count], count);
        let arguments = [arguments, &[&output[0], &output[1]]].concat();
        let launch = Launch { block: [threads, 1, 1], arguments: &arguments, ..Launch::default() };
        self.launch(kernel, &launch, order).unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
        self.floats(u64::from_le_bytes(output[0]), count)
    }
}

const ORDERS: [Order; 4] = [Order::Forward, Order::Reverse, Order::Random(1), Order::Random(2)];

#[test]
fn copies_in_bulk() {
    let on = Emulated::new("groups.rs", "compute_90");
    assert!(on.text.contains("cp.async.bulk"));
    let x: Vec<f32> = (0..3 * 256).map(|i| (i * 37 % 101) as f32).collect();
    let bytes: Vec<u8> = x.iter().flat_map(|it| it.to_le_bytes()).collect();
    let sum = |t: usize| (0..3).map(|round| x[256 * round + 255 - t]).sum::<f32>();
    let expected: Vec<f32> = (0..256).map(sum).collect();
    for order in ORDERS {
        let input = on.slice(&bytes, x.len());
        let arguments: [&[u8]; 3] = [&3_u32.to_le_bytes(), &input[0], &input[1]];
        assert_eq!(on.run("copies_in_bulk", 256, &arguments, 256, order), expected, "{order:?}");
    }
}

#[test]
fn products_of_groups() {
    let on = Emulated::new("groups.rs", "sm_90a");
    assert!(on.text.contains("wgmma.mma_async"));
    // Small whole numbers, and their bits in half precision.
    let numbers: Vec<u32> = (0..2 * 2048).map(|i| i * i % 31 % 8).collect();
    let half = |number: &u32| half_of(*number).to_le_bytes();
    let bytes = |numbers: &[u32]| numbers.iter().flat_map(half).collect::<Vec<u8>>();
    let (a, b) = numbers.split_at(2048);
    let dot = |at: usize| {
        let (row, column) = (&a[at / 64 * 32..][..32], &b[at % 64 * 32..][..32]);
        row.iter().zip(column).map(|(x, y)| x * y).sum::<u32>() as f32
    };
    let expected: Vec<f32> = (0..4096).map(dot).collect();
    for order in ORDERS {
        let (left, right) = (on.slice(&bytes(a), 2048), on.slice(&bytes(b), 2048));
        let arguments: [&[u8]; 4] = [&left[0], &left[1], &right[0], &right[1]];
        assert_eq!(on.run("group_product", 128, &arguments, 4096, order), expected, "{order:?}");
    }
}

/// A matrix of 45 by 22 floats whose rows are so many bytes apart, in boxes of 16 by 8.
fn matrix(address: u64, stride: u64, swizzle: u32) -> TensorMap {
    let (sizes, box_sizes) = (vec![45, 22], vec![16, 8]);
    TensorMap { address, element_bytes: 4, sizes, strides: vec![stride], box_sizes, swizzle }
}

/// Boxes that hang over the edges, by descriptors of the driver's and without them.
#[test]
fn boxes_of_tensors() {
    for (target, is_encoded) in [("compute_90", true), ("compute_90", false), ("compute_75", true)]
    {
        let on = Emulated::new("boxes.rs", target);
        assert_eq!(on.text.contains("cp.async.bulk.tensor"), target == "compute_90");
        let values: Vec<f32> = (0..48 * 22).map(|i| i as f32).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|it| it.to_le_bytes()).collect();
        let mut expected = vec![-1.0_f32; 56 * 22];
        for (x, y) in (0..45).flat_map(|x| (0..22).map(move |y| (x, y))) {
            expected[56 * y + x] = 2.0 * values[48 * y + x];
        }
        for (order, swizzles) in ORDERS.into_iter().zip([[0, 0], [64, 0], [0, 64], [64, 64]]) {
            let input = u64::from_le_bytes(on.slice(&bytes, 0)[0]);
            let before = vec![-1.0_f32; 56 * 22];
            let before: Vec<u8> = before.iter().flat_map(|it| it.to_le_bytes()).collect();
            let output = u64::from_le_bytes(on.slice(&before, 0)[0]);
            let maps = [matrix(input, 192, swizzles[0]), matrix(output, 224, swizzles[1])];
            let maps = maps.map(|map| on.map(&map, is_encoded));
            let arguments: [&[u8]; 2] = [&maps[0], &maps[1]];
            let (grid, block) = ([3, 3, 1], [64, 1, 1]);
            let launch = Launch { grid, block, arguments: &arguments, ..Launch::default() };
            on.launch("boxes_moved", &launch, order).unwrap();
            assert_eq!(on.floats(output, 56 * 22), expected, "{target} {is_encoded} {order:?}");
        }
    }
}

/// What is no descriptor, or one of other dimensions, is a fault.
#[test]
fn descriptors_are_looked_at_when_they_are_used() {
    let on = Emulated::new("boxes.rs", "compute_90");
    let memory = u64::from_le_bytes(on.slice(&[0; 8192], 0)[0]);
    let launch = |map: &[u8]| {
        let arguments: [&[u8]; 2] = [map, map];
        let launch = Launch { block: [64, 1, 1], arguments: &arguments, ..Launch::default() };
        on.launch("boxes_moved", &launch, Order::Forward)
    };
    let mut map = on.map(&matrix(memory, 192, 0), true);
    launch(&map).unwrap();
    map[40] ^= 1;
    let fault = launch(&map).unwrap_err();
    let not_written = "a tensor map that was not written by `cuTensorMapEncodeTiled`";
    assert_eq!(fault.kind, FaultKind::InvalidOperand { reason: not_written.to_owned() });
    let cube = TensorMap {
        sizes: vec![45, 2, 2],
        strides: vec![192, 384],
        box_sizes: vec![16, 8, 1],
        ..matrix(memory, 192, 0)
    };
    let fault = launch(&on.map(&cube, true)).unwrap_err();
    let other_rank = "a tensor map of 3 dimensions, but the instruction is for 2";
    assert_eq!(fault.kind, FaultKind::InvalidOperand { reason: other_rank.to_owned() });
    // Past the end of the memory, which the host refuses.
    let far = TensorMap { sizes: vec![45, 50], ..matrix(memory, 192, 0) };
    let (map, grid) = (on.map(&far, true), [3, 6, 1]);
    let arguments: [&[u8]; 2] = [&map, &map];
    let launch = Launch { grid, block: [64, 1, 1], arguments: &arguments, ..Launch::default() };
    let fault = on.launch("boxes_moved", &launch, Order::Forward).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { .. }), "{fault}");
}

/// The bits in half precision of a whole number below 8.
fn half_of(number: u32) -> u16 {
    [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700][number as usize]
}
