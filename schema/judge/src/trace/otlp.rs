//! The relevant parts of OTLP messages, in both forms: protobuf by field numbers, JSON by names.
//!
//! JSON is read as exporters write it: numbers may be strings, ids are hexadecimal, and `null` means absent.

use std::fmt;

use prost::Message;
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Number, Value};

/// A request to `/v1/traces`.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TracesRequest {
    /// The spans, by program.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub resource_spans: Vec<ResourceSpans>,
}

/// The spans of one program.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSpans {
    /// The program.
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    /// The spans, by library.
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "present", alias = "instrumentationLibrarySpans")]
    pub scope_spans: Vec<ScopeSpans>,
}

/// An exporting program.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Resource {
    /// The attributes.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub attributes: Vec<KeyValue>,
}

/// The spans of one library.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeSpans {
    /// The spans.
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub spans: Vec<Span>,
}

/// A span.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Span {
    /// The id of its trace: 16 bytes.
    #[prost(bytes = "vec", tag = "1")]
    #[serde(deserialize_with = "id")]
    pub trace_id: Vec<u8>,
    /// The id: 8 bytes.
    #[prost(bytes = "vec", tag = "2")]
    #[serde(deserialize_with = "id")]
    pub span_id: Vec<u8>,
    /// The parent span; empty for an outermost one.
    #[prost(bytes = "vec", tag = "4")]
    #[serde(deserialize_with = "id")]
    pub parent_span_id: Vec<u8>,
    /// The name.
    #[prost(string, tag = "5")]
    #[serde(deserialize_with = "present")]
    pub name: String,
    /// Start time, in nanoseconds since the Unix epoch; 0 if unknown.
    #[prost(fixed64, tag = "7")]
    #[serde(deserialize_with = "nanoseconds")]
    pub start_time_unix_nano: u64,
    /// End time.
    #[prost(fixed64, tag = "8")]
    #[serde(deserialize_with = "nanoseconds")]
    pub end_time_unix_nano: u64,
    /// The attributes.
    #[prost(message, repeated, tag = "9")]
    #[serde(deserialize_with = "present")]
    pub attributes: Vec<KeyValue>,
    /// The events.
    #[prost(message, repeated, tag = "11")]
    #[serde(deserialize_with = "present")]
    pub events: Vec<Event>,
    /// The status.
    #[prost(message, optional, tag = "15")]
    pub status: Option<Status>,
}

/// An event in a span.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Event {
    /// The name.
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub name: String,
    /// The attributes.
    #[prost(message, repeated, tag = "3")]
    #[serde(deserialize_with = "present")]
    pub attributes: Vec<KeyValue>,
}

/// The status of a span.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    /// The error message.
    #[prost(string, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub message: String,
    /// 2 for an error.
    #[prost(int32, tag = "3")]
    #[serde(deserialize_with = "status_code")]
    pub code: i32,
}

impl Status {
    /// The status code of an error.
    pub const ERROR: i32 = 2;
}

/// A request to `/v1/logs`.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogsRequest {
    /// The records, by program.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub resource_logs: Vec<ResourceLogs>,
}

/// The records of one program.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceLogs {
    /// The records, by library.
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub scope_logs: Vec<ScopeLogs>,
}

/// The records of one library.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeLogs {
    /// The records.
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub log_records: Vec<LogRecord>,
}

/// A log record.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogRecord {
    /// Time of the record, in nanoseconds since the Unix epoch.
    #[prost(fixed64, tag = "1")]
    #[serde(deserialize_with = "nanoseconds")]
    pub time_unix_nano: u64,
    /// The body.
    #[prost(message, optional, tag = "5")]
    pub body: Option<AnyValue>,
    /// The attributes.
    #[prost(message, repeated, tag = "6")]
    #[serde(deserialize_with = "present")]
    pub attributes: Vec<KeyValue>,
    /// The id of its trace.
    #[prost(bytes = "vec", tag = "9")]
    #[serde(deserialize_with = "id")]
    pub trace_id: Vec<u8>,
    /// The id of its span.
    #[prost(bytes = "vec", tag = "10")]
    #[serde(deserialize_with = "id")]
    pub span_id: Vec<u8>,
    /// The name of its event.
    #[prost(string, tag = "12")]
    #[serde(deserialize_with = "present")]
    pub event_name: String,
}

/// A request to `/v1/metrics`.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MetricsRequest {
    /// The metrics, by program.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub resource_metrics: Vec<ResourceMetrics>,
}

/// The metrics of one program.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceMetrics {
    /// The program.
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    /// The metrics, by library.
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub scope_metrics: Vec<ScopeMetrics>,
}

/// The metrics of one library.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScopeMetrics {
    /// The metrics.
    #[prost(message, repeated, tag = "2")]
    #[serde(deserialize_with = "present")]
    pub metrics: Vec<Metric>,
}

/// A metric.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metric {
    /// The name.
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub name: String,
    /// The values, if it is a sum.
    #[prost(message, optional, tag = "7")]
    pub sum: Option<Sum>,
}

/// The values of a sum.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sum {
    /// The values.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub data_points: Vec<NumberPoint>,
    /// 1 if each value is the increment since the previous one, 2 if it is the total.
    #[prost(int32, tag = "2")]
    #[serde(deserialize_with = "temporality")]
    pub aggregation_temporality: i32,
}

impl Sum {
    /// The temporality of increments.
    pub(crate) const DELTA: i32 = 1;
}

/// A value of a metric.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NumberPoint {
    /// The attributes of its series.
    #[prost(message, repeated, tag = "7")]
    #[serde(deserialize_with = "present")]
    pub attributes: Vec<KeyValue>,
    /// Start of the counting, in nanoseconds since the Unix epoch.
    #[prost(fixed64, tag = "2")]
    #[serde(deserialize_with = "nanoseconds")]
    pub start_time_unix_nano: u64,
    /// Time of the value.
    #[prost(fixed64, tag = "3")]
    #[serde(deserialize_with = "nanoseconds")]
    pub time_unix_nano: u64,
    /// The value of a floating-point metric.
    #[prost(double, optional, tag = "4")]
    #[serde(deserialize_with = "fraction")]
    pub as_double: Option<f64>,
    /// The value of an integer metric.
    #[prost(sfixed64, optional, tag = "6")]
    #[serde(deserialize_with = "whole")]
    pub as_int: Option<i64>,
}

/// An attribute.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeyValue {
    /// The name.
    #[prost(string, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub key: String,
    /// The value.
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

/// A value of an attribute.
#[derive(Clone, PartialEq, Message)]
pub struct AnyValue {
    /// The value; `None` if it is empty.
    #[prost(oneof = "OtelValue", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub held: Option<OtelValue>,
}

/// The content of a value.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum OtelValue {
    /// A string.
    #[prost(string, tag = "1")]
    Text(String),
    /// A boolean.
    #[prost(bool, tag = "2")]
    Truth(bool),
    /// An integer.
    #[prost(int64, tag = "3")]
    Whole(i64),
    /// A floating-point number.
    #[prost(double, tag = "4")]
    Fraction(f64),
    /// A list.
    #[prost(message, tag = "5")]
    List(List),
    /// A mapping.
    #[prost(message, tag = "6")]
    Mapping(Mapping),
    /// Bytes; in JSON the string that encodes them.
    #[prost(bytes = "vec", tag = "7")]
    Bytes(Vec<u8>),
}

/// A list of values.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub struct List {
    /// The values.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub values: Vec<AnyValue>,
}

/// A mapping of values.
#[derive(Clone, PartialEq, Message, Deserialize)]
#[serde(default)]
pub struct Mapping {
    /// The members.
    #[prost(message, repeated, tag = "1")]
    #[serde(deserialize_with = "present")]
    pub values: Vec<KeyValue>,
}

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnyValue, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = AnyValue;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value such as {\"stringValue\": \"text\"}")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<AnyValue, M::Error> {
                let mut held = None;
                while let Some(name) = members.next_key::<String>()? {
                    held = match name.as_str() {
                        "stringValue" => members.next_value::<Option<String>>()?.map(OtelValue::Text),
                        "boolValue" => members.next_value::<Option<bool>>()?.map(OtelValue::Truth),
                        "intValue" => {
                            whole(members.next_value::<Value>()?).map_err(M::Error::custom)?.map(OtelValue::Whole)
                        }
                        "doubleValue" => {
                            fraction(members.next_value::<Value>()?).map_err(M::Error::custom)?.map(OtelValue::Fraction)
                        }
                        "arrayValue" => members.next_value::<Option<List>>()?.map(OtelValue::List),
                        "kvlistValue" => members.next_value::<Option<Mapping>>()?.map(OtelValue::Mapping),
                        "bytesValue" => {
                            members.next_value::<Option<String>>()?.map(|it| OtelValue::Bytes(it.into_bytes()))
                        }
                        _ => {
                            members.next_value::<IgnoredAny>()?;
                            held
                        }
                    };
                }
                Ok(AnyValue { held })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The response to a request: empty if everything was accepted.
#[derive(Clone, PartialEq, Message)]
pub struct Response {
    /// The rejected part.
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

/// The rejected part of a request.
#[derive(Clone, PartialEq, Message)]
pub struct PartialSuccess {
    /// The number of rejected spans, records or points.
    #[prost(int64, tag = "1")]
    pub rejected: i64,
    /// The reason.
    #[prost(string, tag = "2")]
    pub error_message: String,
}

/// The reason for refusing a request.
#[derive(Clone, PartialEq, Message, serde::Serialize)]
pub struct Refusal {
    /// The code of gRPC.
    #[prost(int32, tag = "1")]
    pub code: i32,
    /// The reason.
    #[prost(string, tag = "2")]
    pub message: String,
}

/// Reads a number that may be written as a string, or `null`.
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

fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    // Writers that only know floating-point numbers write integers as such.
    let fraction = |number: &Number| number.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    Ok(number(deserializer)?.and_then(|number| number.as_i64().or_else(|| fraction(&number))))
}

fn fraction<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(number(deserializer)?.and_then(|number| number.as_f64()))
}

/// Reads a value that may be `null`.
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

/// Reads a code by its number or its name.
fn code<'de, D: Deserializer<'de>>(deserializer: D, names: &[(&str, i32)]) -> Result<i32, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let named = value.as_str().and_then(|name| names.iter().find(|(known, _)| *known == name));
    let numbered = || value.as_i64().or_else(|| value.as_str()?.parse().ok()).and_then(|code| code.try_into().ok());
    Ok(named.map(|(_, code)| *code).or_else(numbered).unwrap_or_default())
}

fn status_code<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    code(deserializer, &[("STATUS_CODE_OK", 1), ("STATUS_CODE_ERROR", Status::ERROR)])
}

fn temporality<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    code(deserializer, &[("AGGREGATION_TEMPORALITY_DELTA", Sum::DELTA), ("AGGREGATION_TEMPORALITY_CUMULATIVE", 2)])
}
