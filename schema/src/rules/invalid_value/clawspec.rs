//! Invalid strings in ClawSpec files: times, addresses, paths, names of tools, settings.

use crate::{
    check::time,
    dialect::clawspec::{config::Config, template::variable, typed_assertion::TypedAssertion, waiting},
    document::Scalar,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    template::trimmed_placeholders,
};

pub(crate) mod unread;

/// A string that is not valid.
#[derive(Debug)]
enum Invalid {
    /// The time of a baseline.
    Time,
    /// A time that an assertion compares with, and whether templates were expanded.
    ComparedTime { text: String, is_filled: bool },
    /// A path that consists of blanks.
    BlankPath,
    /// A tool name that contains more than a name.
    Tool(String),
}

/// An address without a scheme.
#[derive(Debug)]
struct NotAnAddress(String);

/// A setting that is not expanded as its author expects.
#[derive(Debug)]
enum Setting {
    /// A webhook that is not a path.
    Webhook,
    /// Braces other than `{date}` in the pattern of the log.
    OtherBraces,
    /// A template in the pattern of the log.
    Template,
    /// A variable instead of the token.
    Variable,
}

/// Checks the time of a baseline.
pub(crate) fn check_baseline(baseline: &LintNode<'_>, report: &mut Report) {
    if let Some(when) = baseline.get("captured_at")
        && when.node.scalar() != Some(Scalar::Timestamp)
        && when.text().is_some_and(|text| !text.is_empty() && time::parse(text).is_none())
    {
        report.push(when.finding(Invalid::Time));
    }
}

/// Checks the address of an assertion, and the time that it compares with.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, report: &mut Report) {
    if let Some(endpoint) = assertion.get("endpoint").filter(|_| assertion.name.is_some()) {
        check_address(&endpoint, report);
    }
    if let Some((after, text)) = waiting::compared(assertion) {
        check_compared(&after, text, report);
    }
}

/// Checks a time after its variables are expanded.
fn check_compared(after: &LintNode<'_>, text: &str, report: &mut Report) {
    let found = trimmed_placeholders(text);
    let filled = found.iter().fold(text.to_owned(), |filled, it| {
        let sample = match it.name {
            "today" => "2026-05-14",
            "now" | "run_started_at" => "2026-05-14T12:00:00Z",
            _ => "x",
        };
        filled.replace(it.text, sample)
    });
    let is_known = after.text().is_some() && found.iter().all(|it| variable(it.name).is_some());
    if is_known && time::parse(&filled).is_none() {
        report.push(after.finding(Invalid::ComparedTime { text: text.to_owned(), is_filled: !found.is_empty() }));
    }
}

/// Checks that an address begins with `http://` or `https://`.
fn check_address(address: &LintNode<'_>, report: &mut Report) {
    let Some(text) = address.text().filter(|text| !text.is_empty() && !text.starts_with("{{")) else { return };
    if !text.starts_with("http://") && !text.starts_with("https://") {
        report.push(address.finding(NotAnAddress(text.to_owned())).unless_wrong(address.at.clone()));
    }
}

/// Checks the results of the callee of a handoff.
pub(crate) fn check_handoff(root: &LintNode<'_>, report: &mut Report) {
    let items = |key: &str| root.find(&["callee_produces", key]).map(|list| list.items()).unwrap_or_default();
    for pattern in items("required_artifacts").iter().filter_map(|artifact| artifact.get("path_pattern")) {
        if pattern.text().is_some_and(|text| !text.is_empty() && text.trim().is_empty()) {
            report.push(pattern.finding(Invalid::BlankPath));
        }
    }
    for tool in items("prohibited_actions").iter().filter_map(|action| action.get("tool")) {
        let Some(text) = tool.text().filter(|text| !text.is_empty()) else { continue };
        let has_template = text.contains("{{") || !trimmed_placeholders(text).is_empty();
        if text.trim().is_empty() || text.contains('*') || has_template {
            report.push(tool.finding(Invalid::Tool(text.to_owned())));
        }
    }
}

/// Checks the settings.
pub(crate) fn check_settings(root: &LintNode<'_>, report: &mut Report) {
    if let Some(address) = root.get("gateway_base_url") {
        check_address(&address, report);
    }
    if let Some(place) = root.get("gateway_webhook_endpoint")
        && place.text().is_some_and(|text| !text.is_empty() && !text.starts_with('/'))
    {
        report.push(place.finding(Setting::Webhook));
    }
    if let Some((pattern, text)) = root.get("gateway_log_pattern").and_then(|it| Some((it.clone(), it.text()?))) {
        if text.contains("{{") {
            report.push(pattern.finding(Setting::Template));
        } else if text.replace("{date}", "").contains(['{', '}']) {
            report.push(pattern.finding(Setting::OtherBraces));
        }
    }
    if let Some(token) = root.get("gateway_auth_token")
        && token.text().is_some_and(|text| text.starts_with('$'))
    {
        report.push(token.finding(Setting::Variable));
    }
}

/// Returns the first part in braces that is not `{date}`.
fn first_braces(text: &str) -> &str {
    let starts = text.match_indices('{').map(|(at, _)| &text[at..]);
    let other = starts.into_iter().find(|rest| !rest.starts_with("{date}"));
    match other.and_then(|rest| rest.find('}').map(|end| &rest[..=end])) {
        Some(braces) => braces,
        // A brace without its counterpart.
        None => other.unwrap_or("}"),
    }
}

impl Rule for Invalid {
    const CODE: Code = Code::InvalidValue;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Invalid::Time => {
                let text = location.node().and_then(|node| node.text()).unwrap_or_default();
                MessageParts::new(format!("`{text}` is not a valid time"))
                    .help("write a time, such as `2026-05-14T12:00:00Z`")
            }
            Invalid::ComparedTime { text, is_filled: false } => {
                MessageParts::new(format!("`{text}` is not a valid time"))
                    .help("write a time, such as `2026-05-14T12:00:00Z` or `{{run_started_at}}`")
            }
            Invalid::ComparedTime { text, is_filled: true } => {
                let edits = location.replaced("\"{{run_started_at}}\"");
                MessageParts::new(format!("`{text}` is not a valid time once it is expanded")).remedy(
                    "write `{{run_started_at}}`",
                    Fix::guess,
                    edits,
                )
            }
            Invalid::BlankPath => {
                MessageParts::new("`path_pattern` must not be blank").help("name the file that is handed over")
            }
            Invalid::Tool(text) => MessageParts::new(format!("`{text}` is not the exact name of a tool"))
                .note("wildcards and template variables are not expanded")
                .help("name each tool in full"),
        }
    }
}

impl Rule for NotAnAddress {
    const CODE: Code = Code::InvalidValue;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let text = &self.0;
        // A path is relative to the gateway, at its default address.
        let whole = match text.strip_prefix('/') {
            Some(path) => format!("{}/{path}", Config::GATEWAY),
            None => format!("http://{text}"),
        };
        let words = MessageParts::new(format!("`{text}` is not a valid URL"));
        match location.replaced(&whole).filter(|_| !text.contains("://")) {
            Some(edits) => words.fix_with_help(Some(Fix::guess(format!("write `{whole}`"), edits))),
            None => words.help("begin it with `http://` or `https://`"),
        }
    }
}

impl Rule for Setting {
    const CODE: Code = Code::InvalidValue;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Setting::Webhook => MessageParts::new("`gateway_webhook_endpoint` does not begin with `/`")
                .note("ClawSpec appends it to `gateway_base_url`")
                .help("begin it with `/`"),
            Setting::OtherBraces => {
                let text = location.node().and_then(|node| node.text()).unwrap_or_default();
                MessageParts::new(format!("`{}` is not expanded in `gateway_log_pattern`", first_braces(text)))
                    .help("write `{date}`, or remove the braces")
            }
            Setting::Template => MessageParts::new("`{{date}}` is not expanded in `gateway_log_pattern`")
                .help("write `{date}`, in single braces"),
            Setting::Variable => MessageParts::new("variables are not expanded in `gateway_auth_token`")
                .note("ClawSpec sends this string as the token")
                .help("remove `gateway_auth_token`, and set `CLAWSPEC_GATEWAY_AUTH_TOKEN`"),
        }
    }
}
