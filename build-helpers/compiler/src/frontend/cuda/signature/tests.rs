use super::*;
use std::{fmt::Write as _, fs, path::Path};

/// The kernels as text, one a paragraph.
fn describe(kernels: &[CudaKernel]) -> String {
    let mut text = String::new();
    for CudaKernel { signature, full_name, obstacles } in kernels {
        let _ = writeln!(text, "{full_name}");
        let _ = writeln!(text, "  {signature}  {}:{}", signature.file, signature.line);
        for obstacle in obstacles {
            let _ = writeln!(text, "  ! {obstacle}");
        }
    }
    text
}

#[test]
fn scratch() {
    let path = std::env::var("SCRATCH").unwrap();
    for path in path.split(',') {
        let text = fs::read_to_string(path).unwrap();
        let now = std::time::Instant::now();
        let kernels = read(&text, "kernels/x.cu").unwrap();
        let took = now.elapsed();
        println!("{}", describe(&kernels));
        println!(
            "{path}: {} kernels, {} with obstacles, {took:?}, {} bytes",
            kernels.len(),
            kernels.iter().filter(|k| !k.obstacles.is_empty()).count(),
            text.len()
        );
    }
    let _ = Path::new("");
}
