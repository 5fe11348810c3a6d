//! `trace`: how spans of a running system are converted to evidence, one result for all tests.

use std::collections::{BTreeMap, HashMap, HashSet};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    check::pattern::EcmaPattern,
    document::Document,
    evidence::{CallsGap, Capture, Ended, Evidence, ToolCall, Turn, Usage},
    trace::{
        Exported, LogRecord, SpanContent, ToolUse, asks_for_tools, asks_model, assemble, attribute_text, distinct, said,
    },
};

/// How `speclens trace` receives and reads traces.
///
/// ```yaml
/// trace:
///   spanFilter: { namePattern: "^chat " }
///   spanMapping: { outputTextAttr: app.answer }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Trace {
    /// Port on which `speclens trace --listen` receives traces. KindLM ignores this key.
    #[schemars(range(min = 1, max = 65535), extend("default" = 4318, "x-problems" = of_option("port", "--port")))]
    pub port: Option<u32>,
    /// Milliseconds that `speclens trace --listen` waits for the first span.
    ///
    /// KindLM ignores this key.
    #[schemars(range(min = 1000, max = 9_007_199_254_740_991_u64), extend("default" = 30000))]
    #[schemars(extend("x-problems" = of_option("timeoutMs", "--timeout")))]
    pub timeout_ms: Option<u64>,
    /// Names of the span attributes to read.
    pub span_mapping: Option<SpanMapping>,
    /// Conditions that select spans. All must hold.
    pub span_filter: Option<SpanFilter>,
}

/// Returns the problem of a key that only speclens reads. KindLM has an option with the same meaning.
fn of_option(key: &str, option: &str) -> Value {
    json!([{
        "if": { "not": { "const": null } }, "code": "no-effect", "underline": "key", "unless-wrong": true,
        "message": format!("KindLM ignores `{key}`"),
        "note": format!("it uses its option `{option}` or the default; only `speclens trace` reads this key"),
    }])
}

/// Names of the span attributes to read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanMapping {
    /// Attribute with the output text. The texts of several spans are joined with line breaks.
    #[schemars(extend("default" = "gen_ai.completion.0.content"))]
    pub output_text_attr: Option<String>,
    /// Attribute with the name of the model that answered.
    #[schemars(extend("default" = "gen_ai.response.model"))]
    pub model_attr: Option<String>,
    /// Attribute with the name of the provider.
    #[schemars(extend("default" = "gen_ai.system"))]
    pub system_attr: Option<String>,
    /// Attribute with the number of input tokens.
    #[schemars(extend("default" = "gen_ai.usage.input_tokens"))]
    pub input_tokens_attr: Option<String>,
    /// Attribute with the number of output tokens.
    #[schemars(extend("default" = "gen_ai.usage.output_tokens"))]
    pub output_tokens_attr: Option<String>,
}

/// Conditions that select spans.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanFilter {
    /// Regular expression in ECMAScript syntax that the span's name must match.
    ///
    /// KindLM ignores an invalid pattern, so every span counts.
    #[schemars(extend("x-pattern" = "ecmascript", "x-searches" = "spans", "examples" = ["^chat "]))]
    pub name_pattern: Option<String>,
    /// Required values of attributes, compared as strings.
    #[schemars(extend("x-compared" = "output"))]
    pub attribute_match: Option<BTreeMap<String, String>>,
    /// Minimum duration in milliseconds.
    #[schemars(range(min = 0))]
    pub min_duration_ms: Option<f64>,
}

impl Trace {
    /// Reads the valid parts of the section of a suite.
    pub fn of(document: &Document) -> Trace {
        let section = document.root().and_then(|root| root.get("trace"));
        let value = section.and_then(|section| section.to_checked_value(usize::MAX).ok());
        value.and_then(|value| crate::lenient::lenient(&value)).unwrap_or_default()
    }

    pub fn port(&self) -> u16 {
        self.port.and_then(|port| u16::try_from(port).ok()).unwrap_or(Trace::PORT)
    }

    /// Returns the number of milliseconds to wait for a trace.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms.unwrap_or(Trace::TIMEOUT_MS)
    }

    /// Default of `port`.
    pub const PORT: u16 = 4318;
    pub(crate) const TIMEOUT_MS: u64 = 30_000;

    /// Converts all matching spans to one result, in the form of a model's reply. `None` if no span matches.
    pub fn evidence(&self, spans: &[Exported], logs: &[LogRecord]) -> Option<Evidence> {
        let filter = self.span_filter.clone().unwrap_or_default();
        let pattern = filter.name_pattern.as_deref().and_then(|it| EcmaPattern::compile(it, false).ok());
        let kept = distinct(spans.iter().filter(|it| filter.lets(it, pattern.as_ref())));
        if kept.is_empty() {
            return None;
        }
        let mapping = self.span_mapping.clone().unwrap_or_default();
        let mut records: HashMap<(&[u8], &[u8]), Vec<&LogRecord>> = HashMap::new();
        for event in logs {
            records.entry((&*event.trace_id, &*event.span_id)).or_default().push(event);
        }
        Some(Evidence {
            turns: vec![reply(&kept, &mapping, &records)],
            ended: Some(Ended::RootSpan),
            duration_ms: duration_ms(&kept),
            usage: Some(usage(&kept, &mapping)),
            ..Evidence::default()
        })
    }
}

impl SpanFilter {
    fn lets(&self, exported: &Exported, pattern: Option<&EcmaPattern>) -> bool {
        let is_named = || pattern.is_none_or(|it| matches!(it.find_iter(&exported.span.name).next(), Some(Ok(_))));
        let told = |key: &str| exported.attributes().get(key).and_then(attribute_text);
        let has_all = || self.attribute_match.iter().flatten().all(|(key, value)| told(key).as_ref() == Some(value));
        let is_long = || self.min_duration_ms.is_none_or(|least| took_ms(exported).unwrap_or(0.0) >= least);
        is_named() && has_all() && is_long()
    }
}

fn took_ms(exported: &Exported) -> Option<f64> {
    let (began, ended) = (exported.span.start_time_unix_nano, exported.span.end_time_unix_nano);
    (ended >= began && began > 0).then(|| (ended - began) as f64 / 1_000_000.0)
}

fn duration_ms(spans: &[&Exported]) -> Option<f64> {
    let known: HashSet<(&[u8], &[u8])> = spans.iter().map(|it| (&*it.span.trace_id, &*it.span.span_id)).collect();
    let is_outermost = |it: &&&Exported| !known.contains(&(&*it.span.trace_id, &*it.span.parent_span_id));
    let took: Vec<f64> = spans.iter().filter(is_outermost).filter_map(|it| took_ms(it)).collect();
    (!took.is_empty()).then(|| took.iter().sum())
}

/// Returns the replies of the models as one, with the calls of all.
fn reply(spans: &[&Exported], mapping: &SpanMapping, records: &HashMap<(&[u8], &[u8]), Vec<&LogRecord>>) -> Turn {
    let (mut texts, mut calls, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    let (mut lacks_text, mut lacks_calls) = (false, false);
    for exported in spans {
        let own = &exported.span;
        let of_span = records.get(&(&*own.trace_id, &*own.span_id)).map(Vec::as_slice).unwrap_or_default();
        // Only model calls have an answer: enclosing spans repeat their text.
        let is_reply = asks_model(exported);
        let mut content = if is_reply { said(exported, of_span) } else { SpanContent::default() };
        let is_unseen = content == SpanContent::default() || content.unfinished.is_some();
        let asks = asks_for_tools(exported) && content.calls.is_empty();
        lacks_calls |= exported.is_cut() || is_reply && (is_unseen || asks);
        let key = mapping.output_text_attr.as_deref();
        let text = exported.attributes().text(key.unwrap_or(SpanMapping::OUTPUT_TEXT)).map(str::to_owned);
        lacks_text |= exported.is_cut() || is_reply && text.is_none() && (is_unseen || key.is_some());
        lacks_text |= content.unfinished.is_some();
        texts.extend(text.or_else(|| content.text.take().filter(|_| key.is_none())));
        asked.append(&mut content.calls);
        calls.extend(ToolUse::of(exported));
    }
    // Without spans of the calls, only the calls that the models requested are known.
    let is_untraced = calls.is_empty();
    let calls = if is_untraced { asked } else { calls };
    let call = |(index, call): (usize, ToolUse)| ToolCall {
        id: call.id.unwrap_or_else(|| format!("cmd_tc_{index}")),
        name: call.name,
        arguments: call.arguments,
        result: None,
    };
    Turn {
        text: Capture { cut: lacks_text, ..Capture::whole(texts.join("\n")) },
        calls: calls.into_iter().enumerate().map(call).collect(),
        calls_gap: (is_untraced && lacks_calls).then_some(CallsGap::Untraced),
        ..Turn::default()
    }
}

fn usage(spans: &[&Exported], mapping: &SpanMapping) -> Usage {
    let trace = assemble(spans.iter().copied());
    let told = |key: &Option<String>, known: fn(&crate::evidence::Tokens) -> u64| match key {
        Some(key) => spans.iter().filter_map(|it| it.attributes().first_count(&[key])).fold(0, u64::saturating_add),
        None => trace.spans.iter().filter_map(|span| span.tokens.as_ref()).map(known).fold(0, u64::saturating_add),
    };
    let paid = trace.spans.iter().filter(|span| span.tokens.is_some() || span.cost_usd.is_some());
    let costs: Vec<f64> = paid.map(|span| span.cost_usd).collect::<Option<_>>().unwrap_or_default();
    Usage {
        input_tokens: told(&mapping.input_tokens_attr, |tokens| tokens.input),
        output_tokens: told(&mapping.output_tokens_attr, |tokens| tokens.output),
        cost_usd: (!costs.is_empty()).then(|| costs.iter().sum()),
    }
}

impl SpanMapping {
    pub(crate) const OUTPUT_TEXT: &'static str = "gen_ai.completion.0.content";
}
