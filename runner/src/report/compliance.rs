//! A draft of the documentation that the EU AI Act asks for, after KindLM's: what was tested, with which result, and hashes
//! by which a reader can tell that neither the suite nor the evidence was changed later.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use speclens_schema::{
    check::text::hexadecimal,
    dialect::kindlm::config::{Compliance, Framework, Metadata, RiskLevel},
    format::Dialect,
    gates::GateOutcome,
    verdict::Status,
};

use super::SuiteReport;
use crate::event::{CaseResult, SuiteResult};

/// An article, its title, what the tests show about it, and the gates that are its evidence.
type Article = (u32, &'static str, &'static str, &'static [&'static str]);

const ARTICLES: &[Article] = &[
    (
        9,
        "Risk management system",
        "Automated tests of behavior are run again after each change, and name the risks that they are about.",
        &["passRateMin", "deterministicPassRate", "probabilisticPassRate"],
    ),
    (
        10,
        "Evidence about personal data in outputs",
        "Guardrails search outputs for personal data and denied words. Data governance of training is out of scope.",
        &["piiFailuresMax", "keywordFailuresMax"],
    ),
    (12, "Record-keeping", "Each attempt is recorded; the log lists all tests.", &[]),
    (
        13,
        "Transparency",
        "The expectations are readable text, and judges give reasons for their scores.",
        &["judgeAvgMin", "driftScoreMax"],
    ),
    (
        15,
        "Accuracy, robustness and cybersecurity",
        "Outputs are compared with schemas and limits.",
        &["schemaFailuresMax", "latencyMaxMs", "costMaxUsd"],
    ),
];

/// What a reader must know before relying on the report.
const LIMITATIONS: &str = "This is a draft of parts of a documentation, not legal advice, and no statement of conformity. It covers \
                           only what the tests of this suite observed. A test without a result is not a passed test.";

/// Returns the report on the KindLM suites among these as Markdown. `now` is the time, RFC 3339.
pub fn markdown(reports: &[SuiteReport], now: &str) -> String {
    documents(reports).map(|document| document.markdown(now)).collect::<Vec<_>>().join("\n")
}

/// Returns the same as JSON.
pub fn json(reports: &[SuiteReport], now: &str) -> String {
    let suites: Vec<Value> = documents(reports).map(|document| document.json()).collect();
    let report = json!({ "speclens": 1, "generated": now, "limitations": LIMITATIONS, "suites": suites });
    serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
}

fn documents(reports: &[SuiteReport]) -> impl Iterator<Item = Documentation<'_>> {
    let run = reports.iter().filter(|report| report.dialect == Dialect::KINDLM);
    run.filter_map(|report| Some(Documentation { report, result: report.result.as_deref()? }))
}

struct Documentation<'r> {
    report: &'r SuiteReport,
    result: &'r SuiteResult,
}

impl Documentation<'_> {
    fn compliance(&self) -> Compliance {
        let written = self.report.source.document.root().and_then(|root| root.get("compliance")?.to_value().ok());
        written.and_then(|value| Compliance::deserialize(&value).ok()).unwrap_or_default()
    }

    /// Returns the facts about the system that the suite states, each with its name.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let compliance = self.compliance();
        let framework = match compliance.framework {
            Framework::EuAiAct => "EU AI Act (Regulation 2024/1689), selected articles only",
            Framework::Custom => "custom",
        };
        let metadata = compliance.metadata.unwrap_or_default();
        let Metadata { system_name, system_version, risk_level, operator, intended_purpose, data_governance_notes } =
            metadata;
        let risk_level = risk_level.map(|level| match level {
            RiskLevel::High => "high".to_owned(),
            RiskLevel::Limited => "limited".to_owned(),
            RiskLevel::Minimal => "minimal".to_owned(),
        });
        let stated = [
            ("framework", Some(framework.to_owned())),
            ("tool", Some(concat!("speclens ", env!("CARGO_PKG_VERSION")).to_owned())),
            ("suite", self.report.suite.name.clone()),
            ("system", system_name),
            ("version", system_version),
            ("operator", operator),
            ("risk level", risk_level),
            ("intended purpose", intended_purpose),
            ("data governance", data_governance_notes),
        ];
        stated.into_iter().filter_map(|(name, value)| Some((name, self.report.masked(&value?)))).collect()
    }

    fn name_of(&self, case: &CaseResult) -> String {
        self.report.masked(&self.report.suite.cases[case.case].name)
    }

    /// Returns the digests of the suite as it was run, and of all observations.
    fn hashes(&self) -> [(&'static str, String); 2] {
        let suite = Sha256::digest(String::from(self.report.source.document.text()));
        let mut evidence = Sha256::new();
        for run in self.result.cases.iter().flat_map(|case| &case.runs) {
            if let Some(observed) = run.evidence.get() {
                evidence.update(serde_json::to_vec(&*observed).unwrap_or_default());
            }
        }
        [("suite", hexadecimal(&suite)), ("evidence", hexadecimal(&evidence.finalize()))]
    }

    fn models(&self) -> Vec<String> {
        let runs = self.result.cases.iter().flat_map(|case| &case.runs);
        let mut models: Vec<String> = runs.map(|run| run.subject.to_string()).collect();
        models.sort();
        models.dedup();
        models
    }

    fn gates(&self, names: &[&str]) -> impl Iterator<Item = &GateOutcome> {
        self.result.gates.gates.iter().filter(move |gate| names.contains(&gate.name))
    }

    fn markdown(&self, now: &str) -> String {
        let mut text = format!("# EU AI Act: draft of documentation\n\n> {LIMITATIONS}\n\n- generated: {now}\n");
        for (name, value) in self.facts() {
            let _ = writeln!(text, "- {name}: {}", line(&value));
        }
        let _ = writeln!(text, "- models: {}", line(&self.models().join(", ")));
        for (number, title, shows, gates) in ARTICLES {
            let _ = writeln!(text, "\n## Article {number}: {title}\n\n{shows}\n");
            for gate in self.gates(gates) {
                let _ = writeln!(text, "- {}: {}", gate.status.as_str(), line(&gate.message));
            }
            if *number == 12 {
                text.push_str("| test | result | attempts |\n|---|---|---|\n");
                for case in &self.result.cases {
                    let (name, status) = (cell(&self.name_of(case)), case.status.as_str());
                    let _ = writeln!(text, "| {name} | {status} | {} |", case.runs.len());
                }
            }
        }
        text.push_str("\n## Gates\n\n| gate | result | measured | limit |\n|---|---|---|---|\n");
        for gate in &self.result.gates.gates {
            let _ =
                writeln!(text, "| {} | {} | {} | {} |", gate.name, gate.status.as_str(), gate.actual, gate.expected);
        }
        let _ = writeln!(text, "\nVerdict: {}\n\n## Hashes (SHA-256)\n", self.verdict().as_str());
        for (name, hash) in self.hashes() {
            let _ = writeln!(text, "- {name}: `{hash}`");
        }
        let _ = writeln!(text, "- the text above: `{}`", hexadecimal(&Sha256::digest(&text)));
        text
    }

    fn json(&self) -> Value {
        let gate = |gate: &GateOutcome| {
            let message = self.report.masked(&gate.message);
            json!({ "name": gate.name, "status": gate.status, "actual": gate.actual, "expected": gate.expected, "message": message })
        };
        let article = |(number, title, shows, gates): &Article| json!({ "article": number, "title": title, "shows": shows, "gates": self.gates(gates).map(gate).collect::<Vec<_>>() });
        let test = |case: &CaseResult| json!({ "name": self.name_of(case), "status": case.status, "attempts": case.runs.len() });
        let facts = self.facts().into_iter().map(|(name, value)| (name.replace(' ', "_"), Value::from(value)));
        json!({
            "path": self.report.source.path,
            "system": facts.collect::<serde_json::Map<_, _>>(),
            "models": self.models(),
            "articles": ARTICLES.iter().map(article).collect::<Vec<_>>(),
            "tests": self.result.cases.iter().map(test).collect::<Vec<_>>(),
            "gates": self.result.gates.gates.iter().map(gate).collect::<Vec<_>>(),
            "verdict": self.verdict(),
            "sha256": self.hashes().into_iter().map(|(name, hash)| (name.to_owned(), hash.into())).collect::<serde_json::Map<_, Value>>(),
        })
    }

    fn verdict(&self) -> Status {
        self.result.status
    }
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}
