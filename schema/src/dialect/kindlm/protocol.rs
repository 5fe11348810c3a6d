//! Protocol for tool calls and structured output of a command: lines of standard output that
//! begin with `{"kindlm":`. All other lines are text.

use serde_json::{Value, json};

use crate::{
    check::{
        json::{self, JsonErrorKind},
        text::{self, trim, trim_start},
    },
    evidence::{Capture, MaskingLoss, Output, ToolCall},
    mask::MASK_CHARACTER,
};

const EVENT_PREFIX: &str = r#"{"kindlm":"#;

pub(crate) fn interpret(stdout: &Capture) -> Output {
    let mut output = Output { cut: stdout.cut, concealed: stdout.concealed, ..Output::default() };
    let content = stdout.hidden_text();
    // Most outputs have no events, and may be large.
    if !content.contains(EVENT_PREFIX) {
        let last = content.rfind('\n').map_or(0, |newline| newline + 1);
        let is_begun = stdout.cut && EVENT_PREFIX.starts_with(trim_start(&content[last..]));
        trim(if is_begun { &content[..last] } else { &content }).clone_into(&mut output.text);
        return output;
    }
    // An output may be large: its lines are appended as they are read, and the text is trimmed in place.
    let mut text = String::with_capacity(content.len());
    let mut separator = "";
    let mut generated = 0;
    let mut lines = content.split('\n').peekable();
    while let Some(line) = lines.next() {
        let event = trim_start(line);
        // If the stream was truncated, the last line may be the beginning of an event.
        if stdout.cut && lines.peek().is_none() && (event.starts_with(EVENT_PREFIX) || EVENT_PREFIX.starts_with(event))
        {
            break;
        }
        match read(event) {
            Line::Text => {
                text.push_str(separator);
                text.push_str(line);
                separator = "\n";
            }
            Line::TooDeep => output.cut = true,
            Line::ToolCall { id, name, arguments } => {
                let id = id.unwrap_or_else(|| {
                    generated += 1;
                    format!("cmd_tc_{}", generated - 1)
                });
                output.tool_calls.push(ToolCall { id, name, arguments, result: None });
            }
            Line::OutputJson(data) => output.json = data,
        }
    }
    output.text = text;
    let trimmed = trim(&output.text);
    let start = trimmed.as_ptr() as usize - output.text.as_ptr() as usize;
    let end = start + trimmed.len();
    output.text.truncate(end);
    output.text.drain(..start);
    output
}

/// Returns what a command writes to report a text and calls of tools.
pub(crate) fn written(text: &str, calls: &[ToolCall]) -> String {
    let line = |call: &ToolCall| event(Some(&call.id).filter(|id| !id.is_empty()), &call.name, &call.arguments);
    let text = Some(text.to_owned()).filter(|text| !text.is_empty());
    calls.iter().map(line).chain(text).collect::<Vec<_>>().join("\n")
}

/// Returns the line that reports a call.
pub(crate) fn event(id: Option<&String>, name: &str, arguments: &Value) -> String {
    let id = id.map(|id| format!("\"id\":{},", json!(id))).unwrap_or_default();
    format!("{EVENT_PREFIX}\"tool_call\",{id}\"name\":{},\"arguments\":{arguments}}}", json!(name))
}

/// Returns the parts that masking hid, apart from the inside of strings. Compares both interpretations while the
/// unmasked text is available.
pub(crate) fn concealed(before: &Capture, masked: &Capture) -> MaskingLoss {
    let (before, masked) = (interpret(before), interpret(masked));
    let call = |call: &ToolCall| json!([call.id, call.name, call.arguments]);
    let calls = |output: &Output| output.tool_calls.iter().map(call).collect::<Value>();
    let json_is_kept = match (&before.json, &masked.json) {
        (None, None) => true,
        (Some(before), Some(masked)) => is_kept(before, masked),
        (Some(_), None) | (None, Some(_)) => false,
    };
    let text_is_kept = text::length(&before.text) == text::length(&masked.text)
        && before.text.matches('\n').count() == masked.text.matches('\n').count();
    if !(is_kept(&calls(&before), &calls(&masked)) && json_is_kept && text_is_kept && before.cut == masked.cut) {
        return MaskingLoss::Everything;
    }
    let same = match (json::parse(&before.text), json::parse(&masked.text)) {
        (Ok(before), Ok(masked)) => is_kept(&before, &masked),
        (Err(before), Err(masked)) => (before.kind == JsonErrorKind::Limit) == (masked.kind == JsonErrorKind::Limit),
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    };
    if same { MaskingLoss::Nothing } else { MaskingLoss::Json }
}

/// Returns whether masking changed a value inside of its strings only, which show it.
fn is_kept(before: &Value, masked: &Value) -> bool {
    let shows = |before: &str, masked: &str| before == masked || masked.contains(MASK_CHARACTER);
    match (before, masked) {
        (Value::String(before), Value::String(masked)) => shows(before, masked),
        (Value::Array(before), Value::Array(masked)) => {
            before.len() == masked.len() && before.iter().zip(masked).all(|(before, masked)| is_kept(before, masked))
        }
        (Value::Object(before), Value::Object(masked)) => {
            before.len() == masked.len()
                && before.iter().zip(masked).all(|((before_key, before), (masked_key, masked))| {
                    shows(before_key, masked_key) && is_kept(before, masked)
                })
        }
        (before, masked) => before == masked,
    }
}

enum Line {
    Text,
    /// Possibly an event, but nested too deeply to be read, so its content is missing.
    TooDeep,
    ToolCall {
        id: Option<String>,
        name: String,
        arguments: Value,
    },
    OutputJson(Option<Value>),
}

fn read(line: &str) -> Line {
    if !line.starts_with(EVENT_PREFIX) {
        return Line::Text;
    }
    let mut members = match json::parse(line) {
        Ok(Value::Object(members)) => members,
        Err(error) if error.kind == JsonErrorKind::Limit => return Line::TooDeep,
        Ok(_) | Err(_) => return Line::Text,
    };
    match members.get("kindlm").and_then(Value::as_str) {
        Some("tool_call") => {
            let Some(Value::String(name)) = members.shift_remove("name") else { return Line::Text };
            let id = match members.shift_remove("id") {
                Some(Value::String(id)) => Some(id),
                Some(_) | None => None,
            };
            let arguments = match members.shift_remove("arguments") {
                Some(arguments @ (Value::Object(_) | Value::Array(_))) => arguments,
                Some(_) | None => Value::Object(serde_json::Map::new()),
            };
            Line::ToolCall { id, name, arguments }
        }
        Some("output_json") => Line::OutputJson(members.shift_remove("data")),
        Some(_) | None => Line::Text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::interpret;
    use crate::evidence::{Capture, Output, ToolCall};

    #[track_caller]
    fn check(stdout: &str, text: &str, calls: &[(&str, &str, serde_json::Value)], json: Option<serde_json::Value>) {
        let tool_calls = calls
            .iter()
            .map(|(id, name, arguments)| ToolCall {
                id: (*id).to_owned(),
                name: (*name).to_owned(),
                arguments: arguments.clone(),
                result: None,
            })
            .collect();
        let expected = Output { text: text.to_owned(), json, tool_calls, ..Output::default() };
        assert_eq!(interpret(&Capture::whole(stdout)), expected);
    }

    #[test]
    fn events_vanish_from_the_text() {
        check(
            "Starting\n{\"kindlm\":\"tool_call\",\"name\":\"a\",\"arguments\":{\"x\":1}}\n  Found\r\n\n{\"kindlm\": \"output_json\",\"data\":[1]}\r\nDone\n",
            "Starting\n  Found\r\n\nDone",
            &[("cmd_tc_0", "a", json!({"x": 1}))],
            Some(json!([1])),
        );
    }

    #[test]
    fn generated_ids_count_only_calls_without_one() {
        check(
            "{\"kindlm\":\"tool_call\",\"name\":\"a\",\"id\":\"\"}\n{\"kindlm\":\"tool_call\",\"name\":\"\",\"id\":7}\n{\"kindlm\":\"tool_call\",\"name\":\"b\",\"arguments\":\"x\"}\n{\"kindlm\":\"tool_call\",\"name\":\"c\",\"arguments\":[1]}",
            "",
            &[
                ("", "a", json!({})),
                ("cmd_tc_0", "", json!({})),
                ("cmd_tc_1", "b", json!({})),
                ("cmd_tc_2", "c", json!([1])),
            ],
            None,
        );
    }

    #[test]
    fn what_only_looks_like_an_event_is_text() {
        for line in [
            "{ \"kindlm\":\"tool_call\",\"name\":\"a\"}",
            "{\"kindlm\" :\"tool_call\",\"name\":\"a\"}",
            "{\"name\":\"a\",\"kindlm\":\"tool_call\"}",
            "{\"kindlm\":\"tool_call\"}",
            "{\"kindlm\":\"tool_call\",\"name\":1}",
            "{\"kindlm\":\"other\",\"name\":\"a\"}",
            "{\"kindlm\":1}",
            "{\"kindlm\":\"tool_call\",\"name\":\"a\"} x",
            "{\"kindlm\":\"tool_call\",\"name\":\"a\"",
        ] {
            check(line, line, &[], None);
        }
    }

    #[test]
    fn later_data_replaces_earlier_and_may_take_it_back() {
        let event = |data: &str| format!("{{\"kindlm\":\"output_json\"{data}}}\n");
        check(&(event(",\"data\":1") + &event(",\"data\":null")), "", &[], Some(json!(null)));
        check(&(event(",\"data\":1") + &event("")), "", &[], None);
    }

    #[test]
    fn marks_and_blanks_before_an_event_do_not_count() {
        check("\u{feff}\u{a0}\t{\"kindlm\":\"tool_call\",\"name\":\"a\"}", "", &[("cmd_tc_0", "a", json!({}))], None);
    }

    #[test]
    fn half_an_event_at_the_cut_is_no_text() {
        for end in ["{", "{\"kindlm\":\"tool_call\",\"na", ""] {
            let output = interpret(&Capture { cut: true, ..Capture::whole(format!("a\n{end}")) });
            assert_eq!((output.text.as_str(), output.cut), ("a", true));
        }
        assert_eq!(interpret(&Capture { cut: true, ..Capture::whole("a\nb") }).text, "a\nb");
    }

    #[test]
    fn an_event_that_is_too_deep_makes_the_output_incomplete() {
        let deep = format!("{{\"kindlm\":\"output_json\",\"data\":{}{}}}", "[".repeat(6000), "]".repeat(6000));
        let output = interpret(&Capture::whole(deep));
        assert!(output.cut && output.text.is_empty() && output.json.is_none());
    }
}
