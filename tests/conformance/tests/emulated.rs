//! Kernels whose instructions only newer processors have than those that the suite is compiled for, on
//! the emulator.

mod common;

use common::{folder, lower};
use ptx_emulator::{Device, Launch, Loaded, Module, Options, Order, Properties};

/// The kernels of `kernels/groups.rs` on an emulated device.
struct Emulated {
    device: Device,
    loaded: Loaded,
    text: String,
}

impl Emulated {
    fn new(target: &str) -> Self {
        let text = std::fs::read_to_string(folder().join("kernels/groups.rs")).unwrap();
        let source = lower("emulated_groups.rs", &text).unwrap_or_else(|error| panic!("{error}"));
        let text = source.assembly(target).unwrap_or_else(|error| panic!("{error}"));
        let module = Module::parse(&text).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(module.unsupported(), []);
        let device = Device::new(Properties::of_capability(90));
        let loaded = device.load(&module).unwrap();
        Self { device, loaded, text }
    }

    /// The address of some bytes, followed by a number of elements, as a slice is passed.
    fn slice(&self, bytes: &[u8], elements: usize) -> [[u8; 8]; 2] {
        let address = self.device.allocate(bytes.len(), 256).unwrap();
        self.device.write(address, bytes).unwrap();
        [address.to_le_bytes(), (elements as u64).to_le_bytes()]
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
        let options = Options { order, detect_races: true, ..Options::default() };
        let report = self.device.launch(&self.loaded, kernel, &launch, &options);
        report.unwrap_or_else(|fault| panic!("{kernel}: {fault}"));
        let mut bytes = vec![0; 4 * count];
        self.device.read(u64::from_le_bytes(output[0]), &mut bytes).unwrap();
        bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
    }
}

const ORDERS: [Order; 4] = [Order::Forward, Order::Reverse, Order::Random(1), Order::Random(2)];

#[test]
fn copies_in_bulk() {
    let on = Emulated::new("compute_90");
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
    let on = Emulated::new("sm_90a");
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

/// The bits in half precision of a whole number below 8.
fn half_of(number: u32) -> u16 {
    [0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700][number as usize]
}
