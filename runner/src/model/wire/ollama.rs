//! Ollama's chat: `POST /api/chat`.

use serde_json::{Value, json};
use speclens_schema::evidence::{Ends, Unfinished};

use super::{
    chat::{self, Style},
    values::{Counts, found, is_text, joined, object, text_at, unread, usage},
};
use crate::model::{Reply, Request};

const COUNTS: Counts<'_> = Counts { sent: &["/prompt_eval_count"], received: &["/eval_count"], total: None };

pub(super) fn body(model: &str, request: &Request) -> Value {
    let sampling = &request.sampling;
    let options = object([
        ("temperature", sampling.temperature.map(|it| json!(it))),
        ("num_predict", sampling.max_tokens.map(|it| json!(it))),
        ("top_p", sampling.top_p.map(|it| json!(it))),
        ("seed", sampling.seed.map(|it| json!(it))),
        ("stop", sampling.stop.as_ref().map(|it| json!(it))),
    ]);
    let has_options = options.as_object().is_some_and(|options| !options.is_empty());
    object([
        ("model", Some(json!(model))),
        ("messages", Some(chat::messages(request, &Style { has_texts_and_ids: false, empty: json!("") }))),
        ("stream", Some(json!(false))),
        ("options", has_options.then_some(options)),
        ("tools", chat::tools(request)),
    ])
}

pub(super) fn reply(body: &Value) -> Result<Reply, &'static str> {
    let message = found(body, "/message").ok_or("`message`")?;
    let is_cut = body.get("done") == Some(&Value::Bool(false));
    let calls = chat::calls(message, "ollama_call")?;
    Ok(Reply {
        text: joined(message.get("content")),
        calls_gap: None,
        usage: usage(body, &COUNTS),
        carried: text_at(message, "/thinking").filter(|_| !calls.is_empty()).map(|text| json!({ "thinking": text })),
        unfinished: Ends::OLLAMA
            .unfinished(body.get("done_reason"))
            .or(is_cut.then_some(Unfinished::CutOff))
            .or_else(|| unread(message.get("content"), is_text)),
        calls,
    })
}
