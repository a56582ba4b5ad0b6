//! Filters of a photograph whose sides are no multiples of a workgroup's.

use super::{On, groups, numbers};
use crate::kernels::Size;
use kernelmill::{Launch, Result};

const WIDTH: usize = 37;
const HEIGHT: usize = 21;
const SIZE: Size = Size { width: WIDTH as u32, height: HEIGHT as u32 };

fn picture() -> Vec<u32> {
    numbers((WIDTH * HEIGHT) as u32).map(|x| x.wrapping_mul(2_246_822_519)).collect()
}

fn pixel(picture: &[u32], x: i32, y: i32) -> [u32; 4] {
    let x = x.clamp(0, WIDTH as i32 - 1) as usize;
    let y = y.clamp(0, HEIGHT as i32 - 1) as usize;
    picture[y * WIDTH + x].to_le_bytes().map(u32::from)
}

fn packed(color: [u32; 4]) -> u32 {
    u32::from_le_bytes(color.map(|level| level as u8))
}

/// What a filter makes of each pixel.
fn expected(filter: impl Fn(i32, i32) -> [u32; 4]) -> Vec<u32> {
    let places = (0..HEIGHT as i32).flat_map(|y| (0..WIDTH as i32).map(move |x| (x, y)));
    places.map(|(x, y)| packed(filter(x, y))).collect()
}

pub(crate) fn blur(on: &On<'_>) -> Result<()> {
    let picture = picture();
    let source = on.device.upload(&picture)?;
    let mut filtered = on.device.zeros::<u32>(picture.len())?;
    let launch = Launch::grid([groups(WIDTH, 8), groups(HEIGHT, 8)], [8, 8]);
    on.kernels.blur(&on.stream, launch, SIZE, &source, &mut filtered)?;
    let expected = expected(|x, y| {
        let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        let mut sum = [0; 4];
        for (dx, dy) in around {
            let color = pixel(&picture, x + dx, y + dy);
            sum.iter_mut().zip(color).for_each(|(sum, level)| *sum += level);
        }
        sum.map(|sum| sum / 9)
    });
    assert_eq!(filtered.download()?, expected);
    Ok(())
}

pub(crate) fn gray(on: &On<'_>) -> Result<()> {
    let picture = picture();
    let source = on.device.upload(&picture)?;
    let mut filtered = on.device.zeros::<u32>(picture.len())?;
    let launch = Launch::grid([groups(WIDTH, 16), groups(HEIGHT, 4)], [16, 4]);
    on.kernels.gray(&on.stream, launch, SIZE, &source, &mut filtered)?;
    let expected = expected(|x, y| {
        let [red, green, blue, alpha] = pixel(&picture, x, y);
        let level = (red * 77 + green * 150 + blue * 29) >> 8;
        [level, level, level, alpha]
    });
    assert_eq!(filtered.download()?, expected);
    Ok(())
}
