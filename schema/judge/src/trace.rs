//! Exported traces and their meaning: OpenTelemetry's protocol and Opik's REST API become
//! [`evidence::Trace`](crate::evidence::Trace). Pure: the runner receives them.
//!
//! ```text
//! OTLP, protobuf or JSON ── otlp ──▶ Exported ── join: which trace is that of the act ── assemble ──▶ Trace
//! Opik, JSON lines ───────────────── opik ────── join ───────────────────────────────────────────▶ Trace
//! ```

mod assemble;
mod attributes;
mod content;
mod exported;
mod file;
mod join;
mod meaning;
pub mod opik;
pub mod otlp;
mod spending;

pub use assemble::{MAX_SPANS, assemble};
pub use attributes::{Attributes, as_text as attribute_text};
pub use content::{SpanContent, ToolUse, said};
pub use exported::{Exported, LogEvent, Point, Signals, TraceId};
pub use file::{FileError, Stored, read_file};
pub use join::{ATTEMPT_ATTRIBUTE, Ambiguous, Candidate, Clues, ExportedTrace, join};
pub use meaning::{asks_model, is_outermost};
pub use spending::Spending;
