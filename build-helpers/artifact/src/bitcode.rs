//! Bitcode in a program: a module of kernels that is compiled when the program runs, and what its compiler must know
//! before it opens LLVM.
//!
//! The build writes it, the run time reads it. Guaranteed: what [`Bitcode::from_bytes`] gives is what
//! [`Bitcode::to_bytes`] was given; bytes that were changed or cut off are `None`.

/// What the symbol of a constant begins with whose value is chosen when a program runs; its type and its name follow,
/// with `_` between.
pub const CONSTANT_PREFIX: &str = "__kernelmill_constant_";

/// What the symbol of a kernel in code for the CPU begins with; in bitcode its entry follows.
pub const CPU_KERNEL_PREFIX: &str = "kernelmill_cpu_";

/// The function of the run time that code for the CPU from bitcode calls for the memory of the thread that it runs on: in
/// the place of thread-local variables, which a loader of objects has no memory for.
pub const CPU_THREAD_MEMORY: &str = "__kernelmill_thread_memory";

/// The bytes of that memory, which is aligned to as many.
pub const CPU_THREAD_MEMORY_BYTES: usize = 64;

/// What the bytes begin with: a name, and the version of the form.
const MAGIC: &[u8; 8] = b"KMBC\0\0\0\x01";

/// A module of kernels in LLVM bitcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitcode {
    /// The version of the LLVM that wrote it: major, minor, patch.
    pub llvm: [u32; 3],
    /// The oldest version of PTX that has what its kernels use: 78 for 7.8; 0 of a module for the CPU.
    pub ptx: u32,
    /// The constants whose values can be chosen, by name.
    pub constants: Vec<BitcodeConstant>,
    /// The module.
    pub module: Vec<u8>,
}

/// A constant of a module whose value can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BitcodeConstant {
    /// Its name in the source.
    pub name: String,
    /// Its type, as Rust has it: `u32`.
    pub ty: String,
}

impl BitcodeConstant {
    /// The constant with a symbol in compiled code; `None` for any other symbol.
    ///
    /// ```
    /// use kernelmill_artifact::BitcodeConstant;
    /// let constant = BitcodeConstant::of_symbol("__kernelmill_constant_u32_TILE_WIDTH").unwrap();
    /// assert_eq!((&*constant.name, &*constant.ty), ("TILE_WIDTH", "u32"));
    /// assert_eq!(constant.symbol(), "__kernelmill_constant_u32_TILE_WIDTH");
    /// assert_eq!(BitcodeConstant::of_symbol("main"), None);
    /// ```
    #[must_use]
    pub fn of_symbol(symbol: &str) -> Option<Self> {
        let (ty, name) = symbol.strip_prefix(CONSTANT_PREFIX)?.split_once('_')?;
        Some(Self { name: name.to_owned(), ty: ty.to_owned() })
    }

    /// Its symbol in compiled code.
    #[must_use]
    pub fn symbol(&self) -> String {
        format!("{CONSTANT_PREFIX}{}_{}", self.ty, self.name)
    }
}

impl Bitcode {
    /// As bytes that are embedded in a program.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        for number in [self.llvm[0], self.llvm[1], self.llvm[2], self.ptx] {
            content.extend(number.to_le_bytes());
        }
        content.extend((self.constants.len() as u64).to_le_bytes());
        let names = self.constants.iter().flat_map(|it| [it.name.as_bytes(), it.ty.as_bytes()]);
        for part in names.chain([&*self.module]) {
            content.extend((part.len() as u64).to_le_bytes());
            content.extend(part);
        }
        [MAGIC, &checksum(&content).to_le_bytes()[..], &content].concat()
    }

    /// What [`Bitcode::to_bytes`] has written; `None` for anything else.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (sum, content) = rest.split_at_checked(8)?;
        if sum != checksum(content).to_le_bytes() {
            return None;
        }
        let mut rest = content;
        let mut numbers = [0; 4];
        for number in &mut numbers {
            let (bytes, after) = rest.split_at_checked(4)?;
            *number = u32::from_le_bytes(bytes.try_into().ok()?);
            rest = after;
        }
        let (count, after) = rest.split_at_checked(8)?;
        rest = after;
        let mut part = || {
            let (length, after) = rest.split_at_checked(8)?;
            let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
            let (part, after) = after.split_at_checked(length)?;
            rest = after;
            Some(part.to_vec())
        };
        let mut constants = Vec::new();
        for _ in 0..u64::from_le_bytes(count.try_into().ok()?) {
            let mut text = || String::from_utf8(part()?).ok();
            constants.push(BitcodeConstant { name: text()?, ty: text()? });
        }
        let module = part()?;
        let [major, minor, patch, ptx] = numbers;
        rest.is_empty().then_some(Self { llvm: [major, minor, patch], ptx, constants, module })
    }
}

/// The checksum of bytes: [FNV-1a] with 64 bits, which finds damage and is no protection from intent.
///
/// [FNV-1a]: https://datatracker.ietf.org/doc/html/rfc9923
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_embedded_is_read_as_it_was_written_and_damage_is_found() {
        let constant = BitcodeConstant { name: "TILE".to_owned(), ty: "u32".to_owned() };
        let bitcode =
            Bitcode { llvm: [22, 1, 0], ptx: 78, constants: vec![constant], module: vec![1, 2, 3] };
        let bytes = bitcode.to_bytes();
        assert_eq!(Bitcode::from_bytes(&bytes).as_ref(), Some(&bitcode));
        for end in 0..bytes.len() {
            assert_eq!(Bitcode::from_bytes(&bytes[..end]), None, "{end}");
            let mut changed = bytes.clone();
            changed[end] ^= 1;
            assert_eq!(Bitcode::from_bytes(&changed), None, "{end}");
        }
        assert_eq!(Bitcode::from_bytes(&[&bytes[..], b"x"].concat()), None);
    }
}
