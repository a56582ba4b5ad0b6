//! The page of `--timings`: a [Gantt chart](https://en.wikipedia.org/wiki/Gantt_chart) of what each thread did when, and a
//! table of all units. It needs no network.

use super::events::{Events, Step, Thread};
use anyhow::Result;
use minijinja::{Environment, Value, context};
use std::{collections::BTreeMap, time::Duration};

const PAGE: &str = include_str!("../../templates/pages/timings.html");
const STYLE: &str = include_str!("../../templates/pages/style.css");

/// The most marks of time that the chart has behind the one at its beginning.
const MARKS: f64 = 8.0;

/// Renders the page.
pub(super) fn render(events: &Events, took: Duration) -> Result<String> {
    let (begin, end) = (events.begin(), events.end());
    let length = (end - begin).max(1.0);
    let share = |time: f64| format!("{:.3}", 100.0 * time / length);
    let bar = |step: &Step| {
        context! {
            subject => step.subject(),
            label => label(step),
            class => step.category.replace(' ', "-"),
            left => share(step.start - begin),
            width => share(step.took),
            seconds => seconds(step.took),
        }
    };
    let mut threads: BTreeMap<Thread, Vec<&Step>> = BTreeMap::new();
    for step in &events.finished {
        threads.entry(step.thread).or_default().push(step);
    }
    let threads = threads.into_iter().map(|(thread, steps)| {
        let name = format!("{} {}", events.packages.get(&thread.0).map_or("", |it| it), thread.1);
        let of = |is_unit: bool| {
            steps.iter().filter(|it| it.is_unit() == is_unit).map(|it| bar(it)).collect::<Vec<_>>()
        };
        context! { name, stages => of(false), units => of(true) }
    });
    let mut units: Vec<_> = events.units().collect();
    units.sort_by(|one, other| other.took.total_cmp(&one.took));
    let rows = units.iter().map(|step| {
        let busy = context! {
            package => events.package(step),
            name => step.name.clone(),
            stage => step.category.clone(),
            target => step.target.clone().unwrap_or_default(),
            thread => step.thread.1,
            start => seconds(step.start - begin),
            seconds => seconds(step.took),
        };
        busy
    });
    let step = step(length);
    let marks = (0..).map(|mark| step * f64::from(mark)).take_while(|time| *time <= length);
    let marks = marks.map(|time| context! { left => share(time), seconds => seconds(time) });
    let packages: Vec<_> = events.packages.values().cloned().collect();
    let subject = if packages.is_empty() { "a build".to_owned() } else { packages.join(", ") };
    let values = context! {
        title => format!("Times of {subject}"),
        style => Value::from_safe_string(STYLE.to_owned()),
        took => seconds(took.as_secs_f64() * 1e6),
        kernels => seconds(length),
        made => events.made(),
        stored => events.stored,
        marks => marks.collect::<Vec<_>>(),
        threads => threads.collect::<Vec<_>>(),
        rows => rows.collect::<Vec<_>>(),
    };
    Ok(Environment::new().render_named_str("timings.html", PAGE, values)?)
}

/// The text in the bar of a unit: first what differs between those of one source, as a short bar cuts the rest.
fn label(step: &Step) -> String {
    let first = step.target.as_ref().unwrap_or(&step.category);
    format!("{first}: {}", step.name)
}

/// The time between two marks, of 1, 2 or 5 and zeros, in the unit of the length.
fn step(length: f64) -> f64 {
    let ten = 10f64.powf((length / MARKS).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * ten);
    steps.into_iter().find(|step| length / step <= MARKS).unwrap_or(length)
}

/// Microseconds as seconds.
fn seconds(micros: f64) -> String {
    format!("{:.2}", micros / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::events::tests::example;

    #[test]
    fn marks_stand_at_round_times() {
        for (length, expected) in [(2.57, 0.5), (8.0, 1.0), (8.1, 2.0), (39.0, 5.0), (61.0, 10.0)] {
            let found = step(length * 1e6);
            assert!((found - expected * 1e6).abs() < 1.0, "{length}: {found}");
        }
    }

    #[test]
    fn the_page_has_a_bar_for_each_step_and_names_are_text() {
        let mut events = example();
        let mut last = events.running.remove(0);
        last.took = 400_000.0;
        events.finished.push(last);
        let page = render(&events, Duration::from_secs(5)).unwrap();
        assert_eq!(page.matches("class=\"bar compile\"").count(), 2, "{page}");
        assert_eq!(page.matches("class=\"bar front-end\"").count(), 1, "{page}");
        // From 1.5 s to 4 s of a build from 1 s to 4 s.
        assert!(page.contains("left:16.667%;width:83.333%"), "{page}");
        assert!(page.contains("k&#x2f;&lt;b&gt;.rs"), "{page}");
        assert!(!page.contains("<b>.rs") && !page.contains("http"), "{page}");
        // A short bar shows the target before the rest is cut.
        assert!(page.contains(">front end: k&#x2f;"), "{page}");
    }

    #[test]
    fn the_page_of_a_build_without_kernels_says_so() {
        let page = render(&Events::default(), Duration::from_secs(5)).unwrap();
        assert!(page.contains("<h1>Times of a build</h1>"), "{page}");
        assert!(page.contains("nothing that they depend on has changed"), "{page}");
        assert!(!page.contains("<table>"), "{page}");
    }
}
