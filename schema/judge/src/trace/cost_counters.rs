//! The cost of acts, from counters of the acting program.

use std::collections::HashMap;

use super::exported::Point;

/// The values of cost counters, as they arrived.
#[derive(Clone, Debug, Default)]
pub struct CostCounters {
    points: Vec<Point>,
}

/// Maximum number of values; older ones are removed first.
const MAX_POINTS: usize = 10_000;

impl CostCounters {
    /// Adds values.
    pub fn add(&mut self, points: Vec<Point>) {
        self.points.extend(points);
        let surplus = self.points.len().saturating_sub(MAX_POINTS);
        self.points.drain(..surplus);
    }

    /// Returns the US dollars counted between two times, both in microseconds since the Unix epoch.
    ///
    /// `None` if that is not known: nothing was counted after the beginning, or the earlier value of a counter that has
    /// been running for longer is not known.
    pub fn between(&self, from_us: i64, to_us: i64) -> Option<f64> {
        let mut series: HashMap<(&str, &str), Vec<&Point>> = HashMap::new();
        for point in &self.points {
            series.entry((&point.metric, &point.series)).or_default().push(point);
        }
        // Two metrics that count the same must not be added.
        let mut sums: HashMap<&str, f64> = HashMap::new();
        for ((metric, _), mut points) in series {
            points.sort_by_key(|point| point.at_us);
            points.dedup_by_key(|point| point.at_us);
            let inside = |point: &&&Point| point.at_us > from_us && point.at_us <= to_us;
            let Some(last) = points.iter().rfind(inside) else { continue };
            let spent = if last.is_delta {
                points.iter().filter(inside).map(|point| point.value).sum()
            } else if last.since_us >= from_us {
                last.value
            } else {
                let before = points.iter().rfind(|point| point.at_us <= from_us && point.since_us == last.since_us)?;
                last.value - before.value
            };
            *sums.entry(metric).or_default() += spent;
        }
        sums.into_values().reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(since_us: i64, at_us: i64, value: f64, is_delta: bool) -> Point {
        Point { metric: "openclaw.cost.usd".to_owned(), series: String::new(), since_us, at_us, value, is_delta }
    }

    #[track_caller]
    fn check(points: Vec<Point>, expected: Option<f64>) {
        let mut spending = CostCounters::default();
        spending.add(points);
        assert_eq!(spending.between(100, 200), expected);
    }

    #[test]
    fn cost_of_an_act_is_what_was_added_while_it_went_on() {
        check(vec![point(0, 90, 1.0, false), point(0, 150, 1.5, false), point(0, 300, 9.0, false)], Some(0.5));
        check(vec![point(110, 150, 0.25, false)], Some(0.25));
        check(vec![point(0, 90, 1.0, true), point(90, 150, 0.5, true), point(150, 190, 0.25, true)], Some(0.75));
    }

    #[test]
    fn cost_is_unknown_where_the_counter_was_not_read_before_or_not_since() {
        check(vec![point(0, 150, 1.5, false)], None);
        check(vec![point(0, 90, 1.5, false)], None);
        check(Vec::new(), None);
    }
}
