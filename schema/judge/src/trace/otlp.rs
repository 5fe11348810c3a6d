//! The relevant parts of OTLP messages, in both forms: protobuf by field numbers, JSON by names.
//!
//! JSON is read as exporters write it: numbers may be strings, ids are hexadecimal, and `null` means absent.

use prost::Message;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Number, Value};

/// Defines messages: each field with its type, the function that reads it from JSON, and its place in protobuf.
macro_rules! messages {
    ($($(#[$about:meta])* $name:ident {
        $($(#[$meta:meta])* $field:ident: $type:ty = $read:tt ($($place:tt)*),)*
    })*) => {$(
        $(#[$about])*
        #[derive(Clone, PartialEq, Message, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $($(#[$meta])* #[prost($($place)*)] #[serde(deserialize_with = $read)] pub $field: $type,)*
        }
    )*};
}

messages! {
    TracesRequest {
        resource_spans: Vec<ResourceSpans> = "present" (message, repeated, tag = "1"),
    }

    ResourceSpans {
        resource: Option<Resource> = "present" (message, optional, tag = "1"),
        #[serde(alias = "instrumentationLibrarySpans")]
        scope_spans: Vec<ScopeSpans> = "present" (message, repeated, tag = "2"),
    }

    Resource {
        attributes: Vec<KeyValue> = "present" (message, repeated, tag = "1"),
    }

    ScopeSpans {
        spans: Vec<Span> = "present" (message, repeated, tag = "2"),
    }

    Span {
        /// The id of its trace: 16 bytes.
        trace_id: Vec<u8> = "id" (bytes = "vec", tag = "1"),
        /// The id: 8 bytes.
        span_id: Vec<u8> = "id" (bytes = "vec", tag = "2"),
        /// The parent span; empty for an outermost one.
        parent_span_id: Vec<u8> = "id" (bytes = "vec", tag = "4"),
        name: String = "present" (string, tag = "5"),
        /// Start time, in nanoseconds since the Unix epoch; 0 if unknown.
        start_time_unix_nano: u64 = "nanoseconds" (fixed64, tag = "7"),
        end_time_unix_nano: u64 = "nanoseconds" (fixed64, tag = "8"),
        attributes: Vec<KeyValue> = "present" (message, repeated, tag = "9"),
        /// Number of attributes that the exporter left out.
        dropped_attributes_count: u32 = "count" (uint32, tag = "10"),
        events: Vec<Event> = "present" (message, repeated, tag = "11"),
        dropped_events_count: u32 = "count" (uint32, tag = "12"),
        status: Option<Status> = "present" (message, optional, tag = "15"),
    }

    Event {
        name: String = "present" (string, tag = "2"),
        attributes: Vec<KeyValue> = "present" (message, repeated, tag = "3"),
    }

    Status {
        message: String = "present" (string, tag = "2"),
        code: i32 = "status_code" (int32, tag = "3"),
    }

    LogsRequest {
        resource_logs: Vec<ResourceLogs> = "present" (message, repeated, tag = "1"),
    }

    ResourceLogs {
        scope_logs: Vec<ScopeLogs> = "present" (message, repeated, tag = "2"),
    }

    ScopeLogs {
        log_records: Vec<LogRecord> = "present" (message, repeated, tag = "2"),
    }

    LogRecord {
        /// Time of the record, in nanoseconds since the Unix epoch.
        time_unix_nano: u64 = "nanoseconds" (fixed64, tag = "1"),
        body: Option<AnyValue> = "present" (message, optional, tag = "5"),
        attributes: Vec<KeyValue> = "present" (message, repeated, tag = "6"),
        trace_id: Vec<u8> = "id" (bytes = "vec", tag = "9"),
        span_id: Vec<u8> = "id" (bytes = "vec", tag = "10"),
        event_name: String = "present" (string, tag = "12"),
    }

    MetricsRequest {
        resource_metrics: Vec<ResourceMetrics> = "present" (message, repeated, tag = "1"),
    }

    ResourceMetrics {
        resource: Option<Resource> = "present" (message, optional, tag = "1"),
        scope_metrics: Vec<ScopeMetrics> = "present" (message, repeated, tag = "2"),
    }

    ScopeMetrics {
        metrics: Vec<Metric> = "present" (message, repeated, tag = "2"),
    }

    Metric {
        name: String = "present" (string, tag = "1"),
        sum: Option<Sum> = "present" (message, optional, tag = "7"),
    }

    Sum {
        data_points: Vec<NumberPoint> = "present" (message, repeated, tag = "1"),
        aggregation_temporality: i32 = "temporality" (int32, tag = "2"),
    }

    NumberPoint {
        attributes: Vec<KeyValue> = "present" (message, repeated, tag = "7"),
        /// Start of the counting, in nanoseconds since the Unix epoch.
        start_time_unix_nano: u64 = "nanoseconds" (fixed64, tag = "2"),
        time_unix_nano: u64 = "nanoseconds" (fixed64, tag = "3"),
        as_double: Option<f64> = "fraction" (double, optional, tag = "4"),
        as_int: Option<i64> = "whole" (sfixed64, optional, tag = "6"),
    }

    KeyValue {
        key: String = "present" (string, tag = "1"),
        value: Option<AnyValue> = "present" (message, optional, tag = "2"),
    }

    List {
        values: Vec<AnyValue> = "present" (message, repeated, tag = "1"),
    }

    Mapping {
        values: Vec<KeyValue> = "present" (message, repeated, tag = "1"),
    }
}

impl Status {
    pub const ERROR: i32 = 2;
}

impl Sum {
    pub(crate) const DELTA: i32 = 1;
}

#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(from = "Members")]
pub struct AnyValue {
    /// The value; `None` if it is empty.
    #[prost(oneof = "OtelValue", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub held: Option<OtelValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub enum OtelValue {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Truth(bool),
    #[prost(int64, tag = "3")]
    Whole(i64),
    #[prost(double, tag = "4")]
    Fraction(f64),
    #[prost(message, tag = "5")]
    List(List),
    #[prost(message, tag = "6")]
    Mapping(Mapping),
    /// Bytes; in JSON the string that encodes them.
    #[prost(bytes = "vec", tag = "7")]
    Bytes(Vec<u8>),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Members {
    string_value: Option<String>,
    bool_value: Option<bool>,
    #[serde(deserialize_with = "whole")]
    int_value: Option<i64>,
    #[serde(deserialize_with = "fraction")]
    double_value: Option<f64>,
    array_value: Option<List>,
    kvlist_value: Option<Mapping>,
    bytes_value: Option<String>,
}

impl From<Members> for AnyValue {
    fn from(members: Members) -> AnyValue {
        let held = (members.string_value.map(OtelValue::Text))
            .or(members.bool_value.map(OtelValue::Truth))
            .or(members.int_value.map(OtelValue::Whole))
            .or(members.double_value.map(OtelValue::Fraction))
            .or(members.array_value.map(OtelValue::List))
            .or(members.kvlist_value.map(OtelValue::Mapping))
            .or(members.bytes_value.map(|text| OtelValue::Bytes(text.into_bytes())));
        AnyValue { held }
    }
}

/// The response to a request: empty if everything was accepted.
#[derive(Clone, PartialEq, Message)]
pub struct Response {
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub rejected: i64,
    #[prost(string, tag = "2")]
    pub error_message: String,
}

#[derive(Clone, PartialEq, Message, serde::Serialize)]
pub struct Refusal {
    /// The code of gRPC.
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Number>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Number(number) => Ok(Some(number)),
        Value::String(text) => Ok(text.trim().parse().ok()),
        Value::Null => Ok(None),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => Err(D::Error::custom("expected a number")),
    }
}

fn nanoseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let fraction = |number: &Number| number.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64);
    let number = number(deserializer)?;
    Ok(number.and_then(|number| number.as_u64().or_else(|| fraction(&number))).unwrap_or_default())
}

fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    Ok(nanoseconds(deserializer)?.try_into().unwrap_or(u32::MAX))
}

fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    // Writers that only know floating-point numbers write integers as such.
    let fraction = |number: &Number| number.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    Ok(number(deserializer)?.and_then(|number| number.as_i64().or_else(|| fraction(&number))))
}

fn fraction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(number(deserializer)?.and_then(|number| number.as_f64()))
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads an id in hexadecimal. Any other text is kept: ids are only compared with each other.
fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
    Ok(from_hexadecimal(&text).unwrap_or_else(|| text.into_bytes()))
}

fn from_hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? * 16 + digit(*low)?)).collect()
}

fn code<'de, D: Deserializer<'de>>(deserializer: D, names: &[(&str, i32)]) -> Result<i32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let named = value.as_str().and_then(|name| names.iter().find(|(known, _)| *known == name));
    let numbered = || value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).map(|code: f64| code as i32);
    Ok(named.map(|(_, code)| *code).or_else(numbered).unwrap_or_default())
}

fn status_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    code(deserializer, &[("STATUS_CODE_OK", 1), ("STATUS_CODE_ERROR", Status::ERROR)])
}

fn temporality<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    code(deserializer, &[("AGGREGATION_TEMPORALITY_DELTA", Sum::DELTA), ("AGGREGATION_TEMPORALITY_CUMULATIVE", 2)])
}
