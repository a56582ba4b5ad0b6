//! What the host needs of the random kernels: their functions, and tables of them.

use std::fmt::Write as _;

use super::{Case, Checked, Stride, Tile};

/// The kernels of a build. Cases and tiles come with the file that they are in.
pub(crate) struct Kernels {
    pub(crate) cases: Vec<(u64, Case)>,
    pub(crate) tiles: Vec<(u64, Tile)>,
    /// The file of all strides.
    pub(crate) stride_file: u64,
    pub(crate) strides: Vec<Stride>,
    /// The file of all kernels with checks.
    pub(crate) check_file: u64,
    pub(crate) checked: Vec<Checked>,
}

impl Kernels {
    /// The text that the host compiles.
    pub(crate) fn host_side(&self, seed: u64) -> String {
        let mut text = String::new();
        for file in 0..=self.check_file {
            let functions = self.functions(file).replace("\nfn ", "\npub(super) fn ");
            let _ = writeln!(text, "mod functions_{file} {{\n{functions}}}");
        }
        let _ = writeln!(text, "/// The seed of the cases.\npub const SEED: u64 = {seed};");
        let mut table = |name: &str, ty: &str, what: &str, rows: String| {
            let _ = writeln!(text, "/// {what}.\npub const {name}: &[{ty}] = &[\n{rows}];");
        };
        let cases = self.cases.iter().map(|(file, case)| case.host_side(*file)).collect();
        table("CASES", "Case", "Every case", cases);
        let tiles = self.tiles.iter().map(|(file, tile)| tile.host_side(*file)).collect();
        table("TILES", "Tile", "Every kernel of tiles", tiles);
        let strides = self.strides.iter().map(|it| it.host_side(self.stride_file)).collect();
        table("STRIDES", "Stride", "Every kernel of strides", strides);
        let checked = self.checked.iter().map(|it| it.host_side(self.check_file)).collect();
        table("CHECKED", "Checked", "Every kernel with checks", checked);
        text
    }

    /// The functions of a file.
    fn functions(&self, file: u64) -> String {
        let cases = self.cases.iter().filter(|(of, _)| *of == file);
        let tiles = self.tiles.iter().filter(|(of, _)| *of == file);
        let strides = self.strides.iter().filter(|_| file == self.stride_file);
        let checked = self.checked.iter().filter(|_| file == self.check_file);
        cases
            .map(|(_, case)| case.functions.clone())
            .chain(tiles.map(|(_, tile)| tile.functions()))
            .chain(strides.map(|stride| stride.functions().to_owned()))
            .chain(checked.map(|checked| checked.functions().to_owned()))
            .collect()
    }
}
