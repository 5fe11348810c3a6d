//! Reads the score in a judge's answer.

use serde_json::Value;

use super::json::parse;
use crate::evidence::ModelReply;

#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    pub value: f64,
    pub reasoning: Option<String>,
}

const REASONING: [&str; 6] = ["reasoning", "reason", "rationale", "explanation", "feedback", "comment"];

/// The scores in a judge's replies to so many requests, and the first reason why a reply has none.
pub fn scores(
    replies: &[ModelReply],
    times: u32,
    read: impl Fn(&str) -> Result<Score, String>,
) -> (Vec<Score>, Option<String>) {
    let (mut scores, mut trouble) = (Vec::new(), None);
    for reply in replies.iter().take(times as usize) {
        let score = match &reply.error {
            Some(error) => Err(format!("the judge did not answer: {error}")),
            None if reply.text.cut => Err("the judge's answer was cut off".to_owned()),
            None => read(&reply.text.text).map_err(|reason| format!("the judge's answer is invalid: {reason}")),
        };
        match score {
            Ok(score) => scores.push(score),
            Err(reason) => trouble = trouble.or(Some(reason)),
        }
    }
    (scores, trouble)
}

/// Reads a score: a number, or a quoted one, under `score`, or under `score` in `result`. The error is the reason why
/// there is none.
pub fn read(text: &str) -> Result<Score, String> {
    let value = only_object(text, "score")?;
    let holder =
        if value.get("score").is_some_and(|score| !score.is_null()) { Some(&value) } else { value.get("result") };
    let score = holder.and_then(|holder| holder.get("score")).filter(|score| !score.is_null());
    let number = match score.ok_or("`score` is missing")? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let number = number.filter(|number| number.is_finite()).ok_or("`score` is not a number")?;
    let said = |holder: &Value| REASONING.iter().find_map(|key| Some(holder.get(*key)?.as_str()?.trim().to_owned()));
    let reasoning = holder.and_then(said).or_else(|| said(&value)).filter(|reasoning| !reasoning.is_empty());
    Ok(Score { value: number, reasoning })
}

/// Returns the object in an answer: the first fenced block, or else the text from the first brace to the last one. The
/// error is the reason why it is none.
pub fn object(text: &str) -> Result<&str, &'static str> {
    const FENCE: &str = "```";
    if let Some((before, block)) = text.split_once(FENCE)
        && let Some((block, behind)) = block.split_once(FENCE)
    {
        // The block may be one of the text that was judged.
        if [before, behind].iter().any(|text| text.contains("\"score\"")) {
            return Err("it contains more than one score");
        }
        return Ok(block.strip_prefix("json").unwrap_or(block).trim());
    }
    let range = text.find('{').zip(text.rfind('}'));
    range.and_then(|(start, end)| text.get(start..=end)).ok_or("it does not contain a JSON object")
}

/// Reads the object in an answer, beside which nothing may say a score, too. `key` is that of the score, in quotes.
pub fn only_object(text: &str, key: &str) -> Result<Value, String> {
    const MORE: &str = "it contains more than one score";
    let said = match text.split_once("</think>") {
        Some((thought, said)) if thought.trim_start().starts_with("<think>") => said,
        Some(_) | None => text,
    };
    let object = object(said)?;
    let start = object.as_ptr().addr() - said.as_ptr().addr();
    let mut beside = [&said[..start], &said[start + object.len()..]].into_iter();
    if beside.any(|text| text.contains(|letter: char| letter.is_ascii_digit()) || text.to_lowercase().contains("score"))
    {
        return Err(MORE.to_owned());
    }
    let value = parse(object).map_err(|error| error.to_string())?;
    // Of keys that are repeated, only the last is read.
    if object.matches(&format!("\"{key}\"")).count() > occurrences(&value, key) {
        return Err(MORE.to_owned());
    }
    Ok(value)
}

/// Returns how often a text is a key or a value.
fn occurrences(value: &Value, text: &str) -> usize {
    match value {
        Value::Object(members) => {
            members.iter().map(|(key, value)| usize::from(key == text) + occurrences(value, text)).sum()
        }
        Value::Array(items) => items.iter().map(|item| occurrences(item, text)).sum(),
        Value::String(value) => usize::from(value == text),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn scores_are_numbers_or_numbers_in_quotes_on_either_level() {
        for (text, value, reasoning) in [
            (r#"{"score": 3}"#, 3.0, None),
            (r#"{"score": "4.5", "reason": "clear"}"#, 4.5, Some("clear")),
            (r#"{"result": {"score": 4, "reasoning": "good"}}"#, 4.0, Some("good")),
            (r#"{"score": null, "result": {"score": " 2 "}, "feedback": "so so"}"#, 2.0, Some("so so")),
            ("Sure:\n```json\n{\"score\": 1, \"reasoning\": \"\"}\n```", 1.0, None),
            ("<think>a score of 0?</think>\n{\"score\": 1, \"reasoning\": \"score\"}", 1.0, Some("score")),
        ] {
            let score = read(text).unwrap();
            assert_eq!((score.value, score.reasoning.as_deref()), (value, reasoning), "{text}");
        }
        for (text, part) in [
            ("5", "not contain a JSON object"),
            ("```json\n{\"score\": 5}\n```\nsays the text, and I say {\"score\": 1}", "more than one score"),
            (r#"{"score": 0, "score": 1}"#, "more than one score"),
            (r#"It said {"score": 1} but I give 0"#, "more than one score"),
            (r#"{"score": 1}, or rather a score of zero"#, "more than one score"),
            (r#"<think>maybe {"score": 1}</think> 0"#, "not contain a JSON object"),
            ("Score: 0\n```\n{\"score\": 1}\n```", "more than one score"),
            ("{score: 5}", "line 1"),
            (r#"{"error": "no route"}"#, "missing"),
            (r#"{"score": true}"#, "not a number"),
            (r#"{"score": "good"}"#, "not a number"),
            (r#"{"score": "nan"}"#, "not a number"),
        ] {
            assert!(read(text).is_err_and(|reason| reason.contains(part)), "{text}: {:?}", read(text));
        }
    }
}
