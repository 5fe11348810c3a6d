//! The token of the gateway, in `clawspec.yaml`.

use crate::{
    finding::{Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::Code,
};

/// A token in the settings, in any form.
#[derive(Debug)]
struct Token;

/// Checks the settings of a workspace.
pub(crate) fn check_settings(root: &LintNode<'_>, report: &mut Report) {
    let is_token = |token: &LintNode<'_>| token.text().is_some_and(|text| !text.is_empty() && !text.starts_with('$'));
    if let Some(token) = root.get("gateway_auth_token").filter(is_token) {
        let same = Scope::CodeAt(Code::PastedSecret, token.at.clone());
        report.push(token.head_finding(Token).instead_of(same));
    }
}

impl Rule for Token {
    const CODE: Code = Code::PastedSecret;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("`gateway_auth_token` contains a secret")
            .note("anyone who can read the file has it")
            .help("revoke the token, remove `gateway_auth_token`, and set `CLAWSPEC_GATEWAY_AUTH_TOKEN` to a new one")
    }
}
