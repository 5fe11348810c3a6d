//! Exported traces and their meaning: OpenTelemetry's protocol and Opik's REST API become
//! [`evidence::Trace`](crate::evidence::Trace). Pure: the runner receives them.
//!
//! ```text
//! OTLP, protobuf or JSON ── otlp ──▶ Exported ── match_trace: which trace is that of the act ── assemble ──▶ Trace
//! Opik, JSON lines ───────────────── opik ────── match_trace ───────────────────────────────────────────▶ Trace
//! ```

mod asked;
mod assemble;
mod content;
mod conventions;
mod exported;
mod file;
mod match_trace;
pub mod opik;
pub mod otlp;

pub use asked::{SentMessage, asked, messages_of, result_of};
pub use assemble::{MAX_SPANS, assemble, distinct, has_ended, have_ended};
pub use content::{SpanContent, ToolUse, said};
pub use conventions::{asks_for_tools, asks_model};
pub use exported::{Attributes, CostCounters, Exported, Point, Signals, TraceId, as_text as attribute_text};
pub use file::{FileError, Stored, is_stored, read_file};
pub use match_trace::{ATTEMPT_ATTRIBUTE, Ambiguous, Candidate, ExportedTrace, MatchedTraces, TraceClues, match_trace};
pub use otlp::LogRecord;
