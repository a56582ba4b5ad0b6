//! Blurs a photograph and finds its edges.

mod filter;
mod kernels;
mod picture;
mod reference;
mod scene;

use filter::filter;
use kernelmill::Device;
use picture::{read, write};
use std::{
    error::Error,
    path::{Path, PathBuf},
    time::Instant,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (picture, stem) = match std::env::args_os().nth(1) {
        Some(path) => (read(Path::new(&path))?, PathBuf::from(path).with_extension("")),
        None => (scene::draw(960, 640), PathBuf::from("photo")),
    };
    let device = Device::best()?;
    let start = Instant::now();
    let (blurred, edges) = filter(&device, &picture)?;
    let seconds = start.elapsed().as_secs_f64();
    let checked = reference::compare(&picture, &blurred, &edges)?;
    let (width, height) = (picture.width, picture.height);
    for (name, pixels) in [("blurred", blurred), ("edges", edges)] {
        let mut path = stem.clone().into_os_string();
        path.push(format!("-{name}.png"));
        write(Path::new(&path), width, height, &pixels)?;
        println!("photo: wrote {}", path.display());
    }
    println!(
        "photo: {width}x{height} blurred and its edges found in {:.1} ms on {}; {checked} pixels right",
        1e3 * seconds,
        device.name(),
    );
    Ok(())
}
