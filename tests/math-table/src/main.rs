//! Measures every function, and writes the table into a file between the lines that mark it.
//!
//! `math-table --points 1000000 --doubles 1000000 --device cpu --write docs/src/reference/math.md`; the reference for
//! `f64` takes about a second for 30,000 points.

use kernelmill::Device;
use math_table::{Measure, Worst};
use std::{env, error::Error, fmt::Write as _, fs, sync::Mutex, thread};

/// The lines around the table.
const MARKS: [&str; 2] = ["<!-- table -->\n", "<!-- end of table -->"];

fn main() -> Result<(), Box<dyn Error>> {
    let (mut points, mut doubles) = (1_000_000, 1_000_000);
    let (mut device, mut file) = ("cpu".to_owned(), None);
    let mut arguments = env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} has no value"))?;
        match name.as_str() {
            "--points" => points = value.parse()?,
            "--doubles" => doubles = value.parse()?,
            "--device" => device = value,
            "--write" => file = Some(value),
            _ => {
                return Err(
                    format!("{name} is none of --points, --doubles, --device and --write").into()
                );
            }
        }
    }
    let device = if device == "cuda" { Device::cuda(0)? } else { Device::cpu()? };
    let table = table(&Measure::new(device)?, [points, doubles])?;
    println!("{table}");
    if let Some(file) = file {
        let text = fs::read_to_string(&file)?;
        let [start, end] = MARKS.map(|mark| text.find(mark).ok_or(format!("{file} lacks {mark}")));
        let (start, end) = (start? + MARKS[0].len(), end?);
        fs::write(&file, format!("{}{table}{}", &text[..start], &text[end..]))?;
    }
    Ok(())
}

/// The table in Markdown, over so many points for `f32` and for `f64`.
fn table(measure: &Measure, points: [usize; 2]) -> kernelmill::Result<String> {
    let mut rows: Vec<(usize, Worst)> = all(measure, points)?;
    rows.sort_by_key(|(function, worst)| (*function, worst.wide));
    let mut text =
        String::from("| function | `f32` | at | `f64` | at |\n| --- | --- | --- | --- | --- |\n");
    for pair in rows.chunks(2) {
        let _ = write!(text, "| {} |", pair[0].1.name);
        for (_, worst) in pair {
            let (x, y) = worst.at;
            let at = if y == 0.0 { format!("{x:e}") } else { format!("{x:e}, {y:e}") };
            let _ = write!(text, " {:.3} | {at} |", worst.error);
        }
        text.push('\n');
    }
    Ok(text)
}

/// Measures all functions, as many at the same time as there are processors.
fn all(measure: &Measure, points: [usize; 2]) -> kernelmill::Result<Vec<(usize, Worst)>> {
    let work: Vec<_> = Measure::functions().flat_map(|it| [(it, false), (it, true)]).collect();
    let (work, rows) = (Mutex::new(work), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let results: Vec<_> = thread::scope(|scope| {
        let work = || -> kernelmill::Result<()> {
            loop {
                let next = work.lock().expect("no worker panics").pop();
                let Some((function, wide)) = next else { return Ok(()) };
                let worst = measure.worst(function, wide, points[usize::from(wide)])?;
                eprintln!(
                    "{} {}: {:.3}",
                    worst.name,
                    if wide { "f64" } else { "f32" },
                    worst.error
                );
                rows.lock().expect("no worker panics").push((function, worst));
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect()
    });
    results.into_iter().collect::<kernelmill::Result<()>>()?;
    Ok(rows.into_inner().expect("no worker panics"))
}
