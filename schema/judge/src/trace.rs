//! Exported traces and their meaning: OpenTelemetry's protocol and Opik's REST API become
//! [`evidence::Trace`](crate::evidence::Trace). Pure: the runner receives them.
//!
//! ```text
//! OTLP, protobuf or JSON ── otlp ──▶ Exported ── match_trace: which trace is that of the act ── assemble ──▶ Trace
//! Opik, JSON lines ───────────────── opik ────── match_trace ───────────────────────────────────────────▶ Trace
//! ```

mod assemble;
mod attributes;
mod content;
mod conventions;
mod cost_counters;
mod exported;
mod file;
mod match_trace;
pub mod opik;
pub mod otlp;

pub use assemble::{MAX_SPANS, assemble, has_ended};
pub use attributes::{Attributes, as_text as attribute_text};
pub use content::{SpanContent, ToolUse, said};
pub use conventions::asks_model;
pub use cost_counters::CostCounters;
pub use exported::{Exported, Point, Signals, TraceId};
pub use file::{FileError, Stored, read_file};
pub use match_trace::{ATTEMPT_ATTRIBUTE, Ambiguous, Candidate, ExportedTrace, MatchedTraces, TraceClues, match_trace};
pub use otlp::LogRecord;
