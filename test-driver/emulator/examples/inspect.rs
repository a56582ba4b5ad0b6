//! Prints the kernels of PTX files and what of them the emulator lacks.
//!
//! `cargo run -p ptx-emulator --example inspect -- FILE...`

use ptx_emulator::Module;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let module = match Module::parse(&std::fs::read_to_string(&path)?) {
            Ok(module) => module,
            Err(errors) => {
                println!("{path}:\n{errors}");
                continue;
            }
        };
        let (capability, suffix) = module.target();
        println!("{path}: sm_{capability}{}", suffix.map_or(String::new(), String::from));
        for kernel in module.kernels() {
            println!(
                "  {}: {} parameters, {} bytes of shared memory",
                kernel.name,
                kernel.parameters.len(),
                kernel.static_shared_bytes
            );
        }
        for unsupported in module.unsupported() {
            println!("  line {}: `{}` is not supported", unsupported.line, unsupported.what);
        }
    }
    Ok(())
}
