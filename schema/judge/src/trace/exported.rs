//! Exported spans, each with the program that it comes from; attributes, by name; and counters of costs.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::otlp::{AnyValue, KeyValue, LogRecord, LogsRequest, MetricsRequest, OtelValue, Span, Sum, TracesRequest};

pub type TraceId = Vec<u8>;

#[derive(Clone, Debug)]
pub struct Exported {
    pub span: Span,
    pub program: Arc<[KeyValue]>,
}

impl Exported {
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes(&self.span.attributes)
    }

    pub fn is_root(&self) -> bool {
        self.span.parent_span_id.iter().all(|byte| *byte == 0)
    }

    /// Whether its program left out attributes or events.
    pub fn is_cut(&self) -> bool {
        self.span.dropped_attributes_count > 0 || self.span.dropped_events_count > 0
    }

    /// Returns the start time, in microseconds since the Unix epoch.
    pub fn started_us(&self) -> Option<i64> {
        microseconds(self.span.start_time_unix_nano)
    }

    pub fn ended_us(&self) -> Option<i64> {
        microseconds(self.span.end_time_unix_nano)
    }
}

/// Converts nanoseconds to microseconds; `None` for 0, which means unknown.
pub(super) fn microseconds(nanoseconds: u64) -> Option<i64> {
    i64::try_from(nanoseconds / 1000).ok().filter(|us| *us > 0)
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub metric: String,
    pub series: String,
    /// Start of the counting, in microseconds since the Unix epoch.
    pub since_us: i64,
    pub at_us: i64,
    pub value: f64,
    /// Whether it is the increment since the previous value, rather than the total.
    pub is_delta: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Signals {
    pub spans: Vec<Exported>,
    /// Number of spans without the id of a trace. They may belong to any.
    pub unassigned: usize,
    pub logs: Vec<LogRecord>,
    pub points: Vec<Point>,
}

/// The metrics that are read: the cost of acts.
pub(super) const COSTS: [&str; 2] = ["openclaw.cost.usd", "gen_ai.usage.cost"];

impl From<TracesRequest> for Signals {
    fn from(request: TracesRequest) -> Signals {
        let mut signals = Signals::default();
        for of_program in request.resource_spans {
            let program: Arc<[KeyValue]> = of_program.resource.unwrap_or_default().attributes.into();
            for span in of_program.scope_spans.into_iter().flat_map(|of_library| of_library.spans) {
                match span.trace_id.iter().all(|byte| *byte == 0) {
                    true => signals.unassigned += 1,
                    false => signals.spans.push(Exported { span, program: Arc::clone(&program) }),
                }
            }
        }
        signals
    }
}

impl From<LogsRequest> for Signals {
    fn from(request: LogsRequest) -> Signals {
        let records = request.resource_logs.into_iter().flat_map(|it| it.scope_logs).flat_map(|it| it.log_records);
        let logs = records.filter(|record| !record.trace_id.is_empty()).collect();
        Signals { logs, ..Signals::default() }
    }
}

impl From<MetricsRequest> for Signals {
    fn from(request: MetricsRequest) -> Signals {
        let mut points = Vec::new();
        for of_program in request.resource_metrics {
            let program = of_program.resource.unwrap_or_default();
            let metrics = of_program.scope_metrics.into_iter().flat_map(|it| it.metrics);
            for metric in metrics.filter(|metric| COSTS.contains(&metric.name.as_str())) {
                let Some(sum) = metric.sum else { continue };
                let is_delta = sum.aggregation_temporality == Sum::DELTA;
                points.extend(sum.data_points.into_iter().filter_map(|point| {
                    Some(Point {
                        metric: metric.name.clone(),
                        series: format!("{:?}{:?}", program.attributes, point.attributes),
                        since_us: microseconds(point.start_time_unix_nano).unwrap_or(0),
                        at_us: microseconds(point.time_unix_nano)?,
                        value: point.as_double.or(point.as_int.map(|it| it as f64)).filter(|it| it.is_finite())?,
                        is_delta,
                    })
                }));
            }
        }
        Signals { points, ..Signals::default() }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [KeyValue]);

impl<'a> Attributes<'a> {
    pub fn get(self, key: &str) -> Option<&'a OtelValue> {
        self.0.iter().find(|it| it.key == key)?.value.as_ref()?.held.as_ref()
    }

    pub fn text(self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            OtelValue::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            OtelValue::Truth(_)
            | OtelValue::Whole(_)
            | OtelValue::Fraction(_)
            | OtelValue::List(_)
            | OtelValue::Mapping(_)
            | OtelValue::Bytes(_) => None,
        }
    }

    pub(crate) fn first_text(self, keys: &[&str]) -> Option<&'a str> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// Returns the number in an attribute, even if it is written as text.
    pub fn number(self, key: &str) -> Option<f64> {
        let number = match self.get(key)? {
            OtelValue::Whole(number) => Some(*number as f64),
            OtelValue::Fraction(number) => Some(*number),
            OtelValue::Text(text) => text.trim().parse().ok(),
            OtelValue::Truth(_) | OtelValue::List(_) | OtelValue::Mapping(_) | OtelValue::Bytes(_) => None,
        };
        number.filter(|number: &f64| number.is_finite())
    }

    pub(crate) fn first_number(self, keys: &[&str]) -> Option<f64> {
        keys.iter().find_map(|key| self.number(key))
    }

    pub fn first_count(self, keys: &[&str]) -> Option<u64> {
        // Counts are far below what a double counts exactly.
        self.first_number(keys).filter(|number| *number >= 0.0).map(|number| number as u64)
    }

    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a OtelValue)> {
        self.0.iter().filter_map(|it| Some((it.key.as_str(), it.value.as_ref()?.held.as_ref()?)))
    }

    /// Returns the value of an attribute as JSON. A text that is JSON is parsed: exporters that support only flat
    /// attributes write nested ones that way.
    pub fn json(self, key: &str) -> Option<Value> {
        Some(match self.get(key)? {
            OtelValue::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            other => as_json(other),
        })
    }
}

pub(super) fn as_json(held: &OtelValue) -> Value {
    match held {
        OtelValue::Text(text) => Value::String(text.clone()),
        OtelValue::Truth(truth) => Value::Bool(*truth),
        OtelValue::Whole(number) => Value::from(*number),
        OtelValue::Fraction(number) => Value::from(*number),
        OtelValue::List(list) => Value::Array(list.values.iter().map(any_as_json).collect()),
        OtelValue::Mapping(mapping) => {
            let members = mapping.values.iter();
            Value::Object(
                members.map(|it| (it.key.clone(), it.value.as_ref().map_or(Value::Null, any_as_json))).collect(),
            )
        }
        OtelValue::Bytes(_) => Value::Null,
    }
}

pub(super) fn any_as_json(value: &AnyValue) -> Value {
    value.held.as_ref().map_or(Value::Null, as_json)
}

/// Returns a value as text for comparisons; `None` if it is not a single value.
pub fn as_text(held: &OtelValue) -> Option<String> {
    match held {
        OtelValue::Text(text) => Some(text.clone()),
        OtelValue::Truth(truth) => Some(truth.to_string()),
        OtelValue::Whole(number) => Some(number.to_string()),
        OtelValue::Fraction(number) => Some(crate::check::json::number_text(*number)),
        OtelValue::List(_) | OtelValue::Mapping(_) | OtelValue::Bytes(_) => None,
    }
}

#[derive(Clone, Debug, Default)]
pub struct CostCounters {
    points: Vec<Point>,
}

/// Maximum number of values; older ones are removed first.
const MAX_POINTS: usize = 10_000;

impl CostCounters {
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
