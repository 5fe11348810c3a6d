//! Exported spans, each with the program that it comes from.

use std::sync::Arc;

use super::{
    attributes::Attributes,
    otlp::{KeyValue, LogRecord, LogsRequest, MetricsRequest, Span, Sum, TracesRequest},
};

/// The id of a trace.
pub type TraceId = Vec<u8>;

/// An exported span.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The span.
    pub span: Span,
    /// The attributes of its program.
    pub program: Arc<[KeyValue]>,
}

impl Exported {
    /// Returns the attributes of the span.
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes(&self.span.attributes)
    }

    /// Returns whether it has no parent.
    pub fn is_root(&self) -> bool {
        self.span.parent_span_id.iter().all(|byte| *byte == 0)
    }

    /// Returns the start time, in microseconds since the Unix epoch.
    pub fn started_us(&self) -> Option<i64> {
        microseconds(self.span.start_time_unix_nano)
    }

    /// Returns the end time.
    pub fn ended_us(&self) -> Option<i64> {
        microseconds(self.span.end_time_unix_nano)
    }
}

/// Converts nanoseconds to microseconds; `None` for 0, which means unknown.
pub(super) fn microseconds(nanoseconds: u64) -> Option<i64> {
    i64::try_from(nanoseconds / 1000).ok().filter(|us| *us > 0)
}

/// A value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The metric.
    pub metric: String,
    /// The identity of a series of the same metric.
    pub series: String,
    /// Start of the counting, in microseconds since the Unix epoch.
    pub since_us: i64,
    /// Time of the value.
    pub at_us: i64,
    /// The value.
    pub value: f64,
    /// Whether it is the increment since the previous value, rather than the total.
    pub is_delta: bool,
}

/// The content of one request.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// Spans.
    pub spans: Vec<Exported>,
    /// Number of spans without the id of a trace. They may belong to any.
    pub unassigned: usize,
    /// Records of logs that belong to spans.
    pub logs: Vec<LogRecord>,
    /// Values of the metrics that are read.
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
                match span.trace_id.is_empty() {
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
