//! `speclens coverage`: shows which targets of a ClawSpec workspace are covered by tests.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use serde_json::json;
use speclens_runner::{files::DiskFiles, report::plain};
use speclens_schema::{
    dialect::clawspec::coverage::{Coverage, CoveredTarget, Gap, NESTED_DIRECTORY},
    document::{Document, Encoding, Lines},
    faults,
    json_schema::SpecFile,
    problem::Severity,
    validate,
    words::shell_word,
};

use super::{
    FAILED, PASSED,
    load::shown,
    output::{self, Format},
};
use crate::{clawspec::ClawSpecWorkspace, read::read_text};

/// The options of `speclens coverage`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ledger to use instead of the one in `clawspec.yaml`
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let path = match &args.ledger {
        Some(path) => path.clone(),
        None => {
            let workspace = ClawSpecWorkspace::here()?;
            let written = workspace.settings.ledger_path.as_deref();
            workspace.path("CLAWSPEC_LEDGER_PATH", written, "coverage-ledger.yaml")
        }
    };
    let name = shown(&path);
    ensure!(!path.is_dir(), "the ledger `{name}` is a directory; name a file with `--ledger FILE`");
    ensure!(path.is_file(), "the ledger `{name}` does not exist; create it, or name another one with `--ledger FILE`");
    let (text, unreadable) = read_text(&path);
    if let Some(problem) = unreadable {
        bail!("{name}: {}", problem.message);
    }
    let document = Document::read(&text, SpecFile::CLAWSPEC_LEDGER.scalar_rules());
    let problems =
        faults::problems(&document).into_iter().chain(validate::validate(&document, SpecFile::CLAWSPEC_LEDGER));
    let errors: Vec<_> = problems.filter(|problem| problem.severity == Severity::Error).collect();
    if let Some(first) = errors.first() {
        let line = line_of(&document, first.range.start);
        bail!("{name}:{line}: {}; run `speclens check {}` for all problems", first.message, shell_word(&name));
    }
    let (root, place) = placed(&path)?;
    let coverage = Coverage::of(&document, &DiskFiles::new(&root, &place));
    let text = match args.format {
        Format::Human => human(&coverage, &name, &document),
        Format::Json => json(&coverage, &name, &document)?,
    };
    output::print(&text)?;
    Ok(if coverage.covered() == coverage.targets.len() { PASSED } else { FAILED })
}

fn placed(path: &Path) -> anyhow::Result<(PathBuf, String)> {
    let path = std::fs::canonicalize(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let root = directory.ancestors().nth(2).filter(|_| directory.ends_with(NESTED_DIRECTORY));
    Ok(match root {
        Some(root) => (root.to_owned(), format!("{NESTED_DIRECTORY}/{name}")),
        None => (directory.to_owned(), name),
    })
}

fn line_of(document: &Document, offset: usize) -> usize {
    Lines::new(document.text(), Encoding::Utf16).place(offset).line + 1
}

fn human(coverage: &Coverage, name: &str, document: &Document) -> String {
    let mut text = String::new();
    for (target, gap) in coverage.targets.iter().flat_map(|target| target.gaps.iter().map(move |gap| (target, gap))) {
        let line = line_of(document, gap.range.start);
        let sentence = format!("{name}:{line}: {}: {} ({})", target.id, gap.message, gap.kind.as_str());
        let _ = writeln!(text, "{}", plain::line(&sentence));
    }
    let (covered, all) = (coverage.covered(), coverage.targets.len());
    let _ = writeln!(text, "Coverage: {covered}/{all} items ({:.1}%)", coverage.percent());
    text
}

fn json(coverage: &Coverage, name: &str, document: &Document) -> anyhow::Result<String> {
    let gap = |gap: &Gap| {
        json!({
            "kind": gap.kind.as_str(),
            "message": gap.message,
            "pointer": gap.at.as_str(),
            "line": line_of(document, gap.range.start),
        })
    };
    let target = |target: &CoveredTarget| {
        json!({
            "id": target.id,
            "wave": target.wave,
            "tier": target.tier,
            "covered": target.gaps.is_empty(),
            "gaps": target.gaps.iter().map(gap).collect::<Vec<_>>(),
        })
    };
    output::json(&json!({
        "speclens": 1,
        "ledger": name,
        "targets": coverage.targets.iter().map(target).collect::<Vec<_>>(),
        "totals": {
            "targets": coverage.targets.len(),
            "covered": coverage.covered(),
            "percent": coverage.percent(),
        },
    }))
}
