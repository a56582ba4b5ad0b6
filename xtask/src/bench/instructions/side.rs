//! One side of the comparison: a kernel in PTX, run on the emulator.

use super::{
    cases::{Argument, Case},
    checks,
};
use anyhow::{Context as _, Result, anyhow, ensure};
use ptx_emulator::{Coverage, Device, Launch, Module, Options, Properties};

/// Bytes of a panic record, which a kernel that can panic has the address of behind its own parameters.
const RECORD_BYTES: usize = 280;

/// A kernel in PTX.
pub(super) struct Side<'a> {
    ptx: &'a str,
}

/// Instructions that ran, all threads together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    pub(super) all: u64,
    /// Those that nothing but the checks needs.
    pub(super) checks: u64,
}

impl<'a> Side<'a> {
    /// The text that has the kernel.
    pub(super) fn find(texts: &'a [String], kernel: &str) -> Result<Self> {
        let start = format!(".entry {kernel}(");
        let text = texts.iter().find(|text| text.contains(&start));
        let ptx = text.with_context(|| format!("no PTX has the kernel {kernel}"))?;
        Ok(Self { ptx })
    }

    /// Runs the kernel with the inputs of a case: what was counted, and the bytes of the output.
    pub(super) fn run(&self, case: &Case) -> Result<(Count, Vec<u8>)> {
        let module = Module::parse(self.ptx).map_err(|error| anyhow!("{error}"))?;
        let device = Device::new(Properties::of_capability(90));
        let loaded = device.load(&module)?;
        let (mut values, output) = pass(case, &device)?;
        let kernel = module.kernel(case.kernel).context("the text has the kernel")?;
        let record = device.allocate(RECORD_BYTES, 256)?;
        device.fill(record, RECORD_BYTES, 0)?;
        if kernel.parameters.len() > values.len() {
            values.push(record.to_le_bytes().to_vec());
        }
        let arguments: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let (grid, block) = (case.grid, case.block);
        let launch = Launch { grid, block, arguments: &arguments, ..Launch::default() };
        let report = device
            .launch(&loaded, case.kernel, &launch, &Options::default())
            .map_err(|failure| anyhow!("{}: {failure}", case.kernel))?;
        let mut state = [0; 4];
        device.read(record, &mut state)?;
        ensure!(state == [0; 4], "{} has panicked", case.kernel);
        let mut bytes = vec![0; output.before.len()];
        device.read(output.address, &mut bytes)?;
        ensure!(bytes != output.before, "{} has written nothing", case.kernel);
        Ok((self.count(case, &report.coverage)?, bytes))
    }

    /// What ran, all of it and what is for checks alone.
    fn count(&self, case: &Case, coverage: &Coverage) -> Result<Count> {
        let of_checks = checks::lines(self.ptx, case.kernel)?;
        let mut count = Count { all: 0, checks: 0 };
        for covered in coverage.instructions() {
            count.all += covered.count;
            if of_checks.contains(&covered.line) {
                count.checks += covered.count;
            }
        }
        Ok(count)
    }
}

/// Memory that a kernel writes.
struct Written<'a> {
    address: u64,
    before: &'a [u8],
}

/// The parameters of a kernel for a case, whose slices are put into memory, and where its output is.
fn pass<'a>(case: &'a Case, device: &Device) -> Result<(Vec<Vec<u8>>, Written<'a>)> {
    let (mut values, mut output) = (Vec::new(), None);
    for (index, argument) in case.arguments.iter().enumerate() {
        match argument {
            Argument::Value(bytes) => values.push(bytes.clone()),
            Argument::Slice { bytes, length } => {
                let address = device.allocate(bytes.len(), 256)?;
                device.write(address, bytes)?;
                values.push(address.to_le_bytes().to_vec());
                values.push(length.to_le_bytes().to_vec());
                if index == case.output {
                    output = Some(Written { address, before: bytes });
                }
            }
        }
    }
    Ok((values, output.context("the case has an output")?))
}

#[cfg(test)]
mod tests {
    use super::{super::cases::case, Side};

    /// `y[i] += a * x[i]` with a check of the length of `x`, as LLVM writes it.
    const SAXPY: &str = "\
.version 7.8
.target sm_90
.address_size 64
.visible .entry saxpy(
\t.param .f32 saxpy_param_0,
\t.param .u64 saxpy_param_1,
\t.param .u64 saxpy_param_2,
\t.param .u64 saxpy_param_3,
\t.param .u64 saxpy_param_4,
\t.param .u64 saxpy_param_5
)
{
\t.reg .pred \t%p<3>;
\t.reg .b32 \t%r<9>;
\t.reg .b64 \t%rd<9>;
\tmov.u32 \t%r1, %ctaid.x;
\tmov.u32 \t%r2, %ntid.x;
\tmov.u32 \t%r3, %tid.x;
\tmad.lo.s32 \t%r4, %r1, %r2, %r3;
\tcvt.u64.u32 \t%rd1, %r4;
\tld.param.b64 \t%rd2, [saxpy_param_4];
\tsetp.ge.u64 \t%p1, %rd1, %rd2;
\t@%p1 bra \t$L__BB0_2;
\tld.param.b64 \t%rd3, [saxpy_param_2];
\tsetp.ge.u64 \t%p2, %rd1, %rd3;
\t@%p2 bra \t$L__BB0_3;
\tld.param.b32 \t%r5, [saxpy_param_0];
\tld.param.b64 \t%rd4, [saxpy_param_1];
\tld.param.b64 \t%rd5, [saxpy_param_3];
\tshl.b64 \t%rd6, %rd1, 2;
\tadd.s64 \t%rd7, %rd4, %rd6;
\tadd.s64 \t%rd8, %rd5, %rd6;
\tld.global.b32 \t%r6, [%rd7];
\tld.global.b32 \t%r7, [%rd8];
\tfma.rn.f32 \t%r8, %r5, %r6, %r7;
\tst.global.b32 \t[%rd8], %r8;
$L__BB0_2:
\tret;
$L__BB0_3:
\tld.param.b64 \t%rd4, [saxpy_param_5];
\tst.global.b32 \t[%rd4], 1;
\texit;
}
";

    #[test]
    fn a_kernel_runs_with_its_inputs_and_is_counted() {
        let (case, texts) = (case("saxpy").unwrap(), [SAXPY.to_owned()]);
        let side = Side::find(&texts, "saxpy").unwrap();
        let (count, bytes) = side.run(&case).unwrap();
        let (inside, threads) = (10_003, case.threads());
        assert_eq!(count.checks, 3 * inside);
        assert_eq!(count.all, 9 * threads + (3 + 10) * inside);
        assert!(case.compare(&bytes, &bytes).is_ok());
        assert!(Side::find(&texts, "other").is_err());
    }

    /// The length of `x` is 0: the first thread panics.
    #[test]
    fn a_kernel_that_panics_is_no_figure() {
        let case = case("saxpy").unwrap();
        let texts = [SAXPY.replace("%rd1, %rd3;", "%rd1, 0;")];
        let message = Side::find(&texts, "saxpy").unwrap().run(&case).unwrap_err().to_string();
        assert_eq!(message, "saxpy has panicked");
    }
}
