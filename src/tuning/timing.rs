//! Paired measurements: all candidates run in every round, in another order each time, and each is compared with the
//! first one of the same round. What slows the whole machine down for a while slows both, and the median of the ratios
//! leaves out what hits one.

use std::time::Duration;

/// How much faster than the first one a candidate has to be to be chosen: less is taken for noise.
const LEAST_GAIN: f64 = 0.03;

/// How long one measurement takes at least: the clock and the first launch do not count then.
const LEAST_TIME: Duration = Duration::from_millis(2);

/// The most launches of one measurement.
const MOST_LAUNCHES: u32 = 4096;

/// What was measured of one candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// The median time of a launch.
    pub(super) time: Duration,
    /// The median of its times in parts of those of the first candidate in the same rounds.
    pub(super) ratio: f64,
}

/// How many launches of the first candidate take long enough to be measured; `measure` gives the time of so many.
pub(super) fn launches<E>(mut measure: impl FnMut(u32) -> Result<Duration, E>) -> Result<u32, E> {
    let mut count = 1;
    while count < MOST_LAUNCHES && measure(count)? < LEAST_TIME {
        count *= 2;
    }
    Ok(count)
}

/// Measures `candidates` in `rounds` rounds; `measure` gives the time of one measurement of a candidate, and
/// `progress` hears of each round that is done.
pub(super) fn rounds<E>(
    (candidates, rounds, launches): (usize, usize, u32),
    mut measure: impl FnMut(usize) -> Result<Duration, E>,
    mut progress: impl FnMut(usize) -> Result<(), E>,
) -> Result<Vec<Measured>, E> {
    let mut times = vec![Vec::with_capacity(rounds); candidates];
    for round in 0..rounds {
        for place in 0..candidates {
            let candidate = (place + round) % candidates;
            times[candidate].push(measure(candidate)?);
        }
        progress(round + 1)?;
    }
    let measured = |own: &Vec<Duration>| {
        let pairs = own.iter().zip(&times[0]);
        let ratios = pairs.map(|(own, first)| own.as_secs_f64() / first.as_secs_f64().max(1e-9));
        let seconds = own.iter().map(Duration::as_secs_f64);
        let time = Duration::from_secs_f64(median(seconds) / f64::from(launches));
        Measured { time, ratio: median(ratios) }
    };
    Ok(times.iter().map(measured).collect())
}

/// The candidate that is chosen: the fastest, or the first where none is clearly faster.
pub(super) fn choose(measured: &[Measured]) -> usize {
    let ratios = measured.iter().map(|it| it.ratio).enumerate();
    let fastest = ratios.min_by(|(_, one), (_, other)| one.total_cmp(other));
    fastest.filter(|(_, ratio)| *ratio <= 1.0 - LEAST_GAIN).map_or(0, |(place, _)| place)
}

/// The middle number, of an even number of them the upper; 0 of none.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Candidates with these times; each fourth measurement of all takes a hundred times as long, and rounds become
    /// slower and slower.
    fn of(times: &[u64]) -> Vec<Measured> {
        let mut count = 0;
        let measure = |candidate: usize| {
            count += 1;
            let drift = 1000 + count;
            let burst = if count % 4 == 0 { 100 } else { 1 };
            Ok::<_, Infallible>(Duration::from_nanos(times[candidate] * drift * burst))
        };
        rounds((times.len(), 15, 10), measure, |_| Ok(())).unwrap()
    }

    #[test]
    fn the_fastest_is_chosen_in_spite_of_bursts_and_drift() {
        let measured = of(&[100, 90, 120, 80, 85]);
        assert_eq!(choose(&measured), 3);
        assert!((measured[3].ratio - 0.8).abs() < 0.01, "{measured:?}");
        assert!((measured[2].ratio - 1.2).abs() < 0.02, "{measured:?}");
        assert_eq!((measured[0].ratio, measured[0].time.as_micros()), (1.0, 10));
    }

    #[test]
    fn the_first_is_kept_where_nothing_is_clearly_faster() {
        assert_eq!(choose(&of(&[100, 99, 98, 110])), 0);
        assert_eq!(choose(&of(&[100])), 0);
    }

    #[test]
    fn every_candidate_is_measured_in_every_round_and_none_is_always_first() {
        let mut order = Vec::new();
        let measure = |candidate| {
            order.push(candidate);
            Ok::<_, Infallible>(Duration::from_nanos(1))
        };
        let mut done = Vec::new();
        rounds((3, 3, 1), measure, |round| {
            done.push(round);
            Ok(())
        })
        .unwrap();
        assert_eq!((order, done), (vec![0, 1, 2, 1, 2, 0, 2, 0, 1], vec![1, 2, 3]));
    }

    #[test]
    fn a_measurement_has_as_many_launches_as_the_clock_needs() {
        let of = |each: Duration| launches(|count| Ok::<_, Infallible>(each * count)).unwrap();
        assert_eq!(of(Duration::from_millis(3)), 1);
        assert_eq!(of(Duration::from_micros(100)), 32);
        assert_eq!(of(Duration::ZERO), 4096);
    }
}
