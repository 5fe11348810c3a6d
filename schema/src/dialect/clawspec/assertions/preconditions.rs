//! Preconditions: assertions about the environment, usually under `given`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    act::Until,
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::ScopedEvidence,
        statements::{Statement, Subject},
        words::{OneFile, RunText, VariableName, WebAddress},
    },
    evidence::{Address, Answer, Context, FilesNeed, Need, Presence, ResponseNeed, SeenFile, VariablesNeed},
    lint_node::LintNode,
    seen::{Found, Observed},
    verdict::{At, Judged, Mismatch, Row},
    words::Name,
};

/// A file or directory exists.
///
/// ```yaml
/// - type: file_present
///   path: SKILL.md
/// ```
///
/// The path is literal, without wildcards; links are followed. speclens resolves relative paths against the root of
/// the workspace, ClawSpec against its working directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-synonyms" = ["file_exists"], "x-problems" = [{
    "if": { "required": ["path"], "properties": { "path": { "pattern": r"[*?\[]" } } },
    "at": "path", "code": "contradiction",
    "message": "wildcards in `{value}` are not expanded, so this assertion always fails",
    "note": "`artifact_exists` expands wildcards", "help": "change the type to `artifact_exists`",
    "fix": { "at": "type", "write": "artifact_exists" },
}]))]
pub struct FilePresent {
    /// File or directory that must exist.
    #[schemars(extend("examples" = ["SKILL.md"]))]
    pub path: OneFile,
}

fn path_need(path: &str, scope: &Scope, context: &Context) -> Option<FilesNeed> {
    let pattern = scope.expand(path, context).ok()?;
    Some(FilesNeed { pattern, moment: scope.moment, ..FilesNeed::default() })
}

fn look<'e>(path: &str, seen: &ScopedEvidence<'e>, until: Until) -> Result<(String, Found<&'e SeenFile>), Row> {
    let pattern = seen.expand("path", path)?;
    let want = FilesNeed { pattern: pattern.clone(), moment: seen.scope.moment, ..FilesNeed::default() };
    let found = seen.file("path", &want, until)?;
    Ok((pattern, found))
}

impl AssertionType for FilePresent {
    const NAME: &'static str = "file_present";
    const SUBJECT: &'static str = "path";
    const OPPOSITE: Option<&'static str> = Some("file_absent");

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "path", Subject::one_file(node), true).collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        path_need(&self.path, scope, context).map(Need::Files).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (path, found) = look(&self.path, seen, Until::TimeLimit)?;
        Ok(match found {
            Found::Yes(_, proof) => Row::pass("path", proof),
            Found::No(proof) => seen.missing("path", &path, proof, format!("File not found: {path}")),
        })
    }
}

/// A file or directory does not exist.
///
/// ```yaml
/// - type: file_absent
///   path: memory/drafts/{{today}}-output.md
/// ```
///
/// In `given`, it makes sure that a file from an earlier run is not mistaken for a new one. The path is literal,
/// without wildcards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend(
    "x-synonyms" = [
        "file_not_exists", "file_not_present", "file_missing", "artifact_absent", "artifact_not_exists",
        "artifact_missing", "state_file_absent",
    ],
))]
pub struct FileAbsent {
    /// File or directory that must not exist.
    #[schemars(extend("x-literal" = "passes", "examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: OneFile,
}

impl AssertionType for FileAbsent {
    const NAME: &'static str = "file_absent";
    const SUBJECT: &'static str = "path";
    const OPPOSITE: Option<&'static str> = Some("file_present");

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "path", Subject::one_file(node), false).collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        path_need(&self.path, scope, context).map(Need::Files).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (path, found) = look(&self.path, seen, Until::End)?;
        Ok(Row::absent("path", found, |file| {
            let kind = if file.directory { "a directory" } else { "a file" };
            Mismatch::new(format!("File exists: {path}"), format!("no file or directory at {path}"), kind)
        }))
    }
}

/// The gateway is healthy: its health endpoint responds with status 200.
///
/// ```yaml
/// - type: gateway_healthy
/// ```
///
/// The request goes to `/health` at the configured gateway. ClawSpec always uses `http://localhost:18789/health`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GatewayHealthy {
    /// URL to use instead. ClawSpec does not document this key, but reads it.
    #[schemars(extend("examples" = ["http://127.0.0.1:18789/health"]))]
    #[schemars(with = "Option<WebAddress>", extend("x-synonyms" = ["url"]))]
    pub endpoint: Option<RunText>,
}

impl GatewayHealthy {
    fn need(&self, scope: &Scope, context: &Context) -> Option<ResponseNeed> {
        let address = match &self.endpoint {
            None => Address::Gateway("/health".to_owned()),
            Some(endpoint) => Address::Url(scope.expand(endpoint, context).ok()?),
        };
        Some(ResponseNeed { address, moment: scope.moment })
    }
}

impl AssertionType for GatewayHealthy {
    const NAME: &'static str = "gateway_healthy";

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        self.need(scope, context).map(Need::Response).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let field = if self.endpoint.is_some() { "endpoint" } else { "" };
        let Some(want) = self.need(seen.scope, seen.act.context()) else {
            return Err(Row::unknown(field, "the address contains a template variable without a value in this run"));
        };
        let (answer, proof) = seen.response(field, &want, "the gateway's health")?;
        Ok(match answer.status {
            Some(200) => Row::pass(field, proof),
            Some(status) => Row::fail(
                field,
                proof,
                Mismatch::new(format!("Gateway returned {status}"), "status 200", format!("status {status}")),
            ),
            None => {
                let reason = answer.error.clone().unwrap_or_else(|| "no response".to_owned());
                Row::fail(field, proof, Mismatch::new(reason.clone(), "status 200", reason))
            }
        })
    }
}

/// Environment variables are set and not empty.
///
/// ```yaml
/// - type: env_present
///   vars: [RESEND_API_KEY, ATTIO_API_KEY]
/// ```
///
/// ClawSpec also accepts an empty variable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-other-names" = ["env_set"]))]
pub struct EnvPresent {
    /// Names of the variables.
    #[schemars(with = "Vec<VariableName>", extend("x-compared" = "name", "examples" = [["RESEND_API_KEY"]]))]
    #[schemars(extend("x-non-empty" = "list the environment variables that must be set"))]
    #[schemars(extend("x-other-names" = ["var", "name", "names", "variable", "variables"]))]
    pub vars: Vec<Name>,
}

impl EnvPresent {
    fn need(&self, scope: &Scope) -> VariablesNeed {
        VariablesNeed { names: self.vars.iter().map(|name| name.0.clone()).collect(), moment: scope.moment }
    }
}

impl AssertionType for EnvPresent {
    const NAME: &'static str = "env_present";
    const SUBJECT: &'static str = "vars";

    fn needs(&self, scope: &Scope, _context: &Context) -> Vec<Need> {
        if self.vars.is_empty() { Vec::new() } else { vec![Need::Variables(self.need(scope))] }
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        if self.vars.is_empty() {
            return Err(Row::unknown("vars", "the list is empty, so nothing is checked"));
        }
        let need = Need::Variables(self.need(seen.scope));
        let Answer::Variables(answer) = seen.act.answer(&need, "the environment").at("vars")? else {
            return Err(Row::unknown("vars", "the environment was not observed"));
        };
        let observed = Observed::new(answer, None);
        let (answer, proof) = observed.complete().at("vars")?;
        let mut missing: Vec<(usize, &str, &str)> = Vec::new();
        for (index, name) in self.vars.iter().enumerate() {
            match answer.get(&name.0) {
                Some(Presence::Set) => {}
                Some(Presence::Empty) => missing.push((index, name, "is empty")),
                Some(Presence::Absent) => missing.push((index, name, "is not set")),
                None => return Err(Row::unknown("vars", format!("`{name}` was not observed")).at_item(index)),
            }
        }
        let Some((first, ..)) = missing.first() else { return Ok(Row::pass("vars", proof)) };
        let names: Vec<&str> = missing.iter().map(|(_, name, _)| *name).collect();
        let actual: Vec<String> = missing.iter().map(|(_, name, state)| format!("{name} {state}")).collect();
        let message = format!("Missing env vars: {}", names.join(", "));
        Ok(Row::fail("vars", proof, Mismatch::new(message, "every variable is set", actual.join(", "))).at_item(*first))
    }
}
