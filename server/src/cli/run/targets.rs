//! The reports to write, and their targets.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{anyhow, bail, ensure};
use speclens_runner::files::lexical;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportTarget {
    pub(super) kind: ReportKind,
    /// The file; `None` for standard output.
    pub(super) file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportKind {
    Human,
    /// A page for browsers.
    Html,
    Json,
    Junit,
    Sarif,
    Github,
    /// Documentation of KindLM suites, as Markdown, or as JSON in a file with that ending.
    Compliance,
    /// ClawSpec reports: files in a directory.
    ClawSpec,
}

impl ReportTarget {
    pub(super) fn is_json(&self) -> bool {
        self.file.as_ref().and_then(|file| file.extension()).is_some_and(|extension| extension == "json")
    }
}

impl FromStr for ReportTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<ReportTarget, String> {
        let (kind, file) = match text.split_once('=') {
            Some((_, "")) => return Err("the file has no name".to_owned()),
            Some((kind, file)) => (kind, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let kind = match kind {
            "human" => ReportKind::Human,
            "html" => ReportKind::Html,
            "json" => ReportKind::Json,
            "junit" => ReportKind::Junit,
            "sarif" => ReportKind::Sarif,
            "github" => ReportKind::Github,
            "compliance" => ReportKind::Compliance,
            "clawspec" => ReportKind::ClawSpec,
            other => {
                return Err(format!(
                    "unknown report `{other}`; choose human, html, json, junit, sarif, github, compliance or clawspec"
                ));
            }
        };
        Ok(ReportTarget { kind, file })
    }
}

/// Returns the reports with their targets. There is always a readable one on standard output. An unwritable target is
/// an error: a run may take long, and its results would be lost.
pub(super) fn targets(wanted: &[ReportTarget]) -> anyhow::Result<Vec<ReportTarget>> {
    let mut targets = wanted.to_vec();
    let prints = |target: &&ReportTarget| target.file.is_none() && target.kind != ReportKind::ClawSpec;
    let on_stdout = targets.iter().filter(prints).count();
    ensure!(
        on_stdout <= 1,
        "only one report can go to standard output; give the others a file, as in `--report junit=FILE`"
    );
    let of_clawspec = targets.iter().filter(|target| target.kind == ReportKind::ClawSpec).count();
    ensure!(of_clawspec <= 1, "the reports of ClawSpec can be written to only one directory; name one");
    let mut files = HashSet::new();
    for (kind, file) in targets.iter().filter_map(|target| Some((target.kind, target.file.as_deref()?))) {
        ensure!(
            files.insert(lexical(&std::path::absolute(file)?)),
            "two reports would be written to `{}`; name a different file for each",
            file.display()
        );
        if kind == ReportKind::ClawSpec {
            ensure!(!file.is_file(), "cannot write reports to `{}`: not a directory", file.display());
            continue;
        }
        writable(file)?;
    }
    if on_stdout == 0 {
        targets.push(ReportTarget { kind: ReportKind::Human, file: None });
    }
    Ok(targets)
}

/// Whether a report can be written to a file, as far as that can be checked without creating one.
fn writable(file: &Path) -> anyhow::Result<()> {
    let shown = format!("`{}`", file.display());
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_spec = file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
    ensure!(!is_spec, "cannot write a report to {shown}: suites and settings have this extension; name another file");
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_dir() => {
            bail!("cannot write a report to {shown}: it is a directory; name a file")
        }
        Ok(metadata) if metadata.is_file() => match fs::OpenOptions::new().append(true).open(file) {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(anyhow!("cannot write a report to {shown}: {error}; make the file writable, or name another one"))
            }
        },
        // A pipe or a device is opened only once, by the writer.
        Ok(_) => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound && error.kind() != io::ErrorKind::NotADirectory => {
            Err(anyhow!("cannot write a report to {shown}: {error}"))
        }
        Err(_) if !parent.is_dir() => {
            bail!(
                "cannot write a report to {shown}: the directory `{}` does not exist; create it first",
                parent.display()
            )
        }
        Err(_) => {
            use rustix::fs::{Access, access};
            access(parent, Access::WRITE_OK | Access::EXEC_OK).map_err(|error| {
                let error = io::Error::from(error);
                anyhow!(
                    "cannot write a report to {shown}: {error}; make `{}` writable, or name another one",
                    parent.display()
                )
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ReportKind, ReportTarget, targets};

    #[test]
    fn reports_without_a_file_share_no_standard_output() {
        let target = |text: &str| text.parse::<ReportTarget>();
        assert!(target("json=").is_err() && target("xml").is_err());
        let [json, junit] = ["json", "junit"].map(|text| target(text).unwrap());
        assert!(targets(&[json.clone(), junit]).is_err());
        assert_eq!(targets(std::slice::from_ref(&json)).unwrap(), [json]);
        assert_eq!(targets(&[]).unwrap()[0].kind, ReportKind::Human);
    }

    #[test]
    fn no_report_replaces_another_one_or_a_suite() {
        let refused = |words: &[&str]| {
            let wanted: Vec<ReportTarget> = words.iter().map(|word| word.parse().unwrap()).collect();
            targets(&wanted).unwrap_err().to_string()
        };
        assert!(refused(&["json=./a", "junit=a"]).starts_with("two reports would be written to `a`"));
        assert!(refused(&["clawspec=a", "clawspec=b"]).contains("only one directory"));
        for name in ["kindlm.yaml", "speclens.yml"] {
            let message = refused(&[&format!("json={name}")]);
            assert!(message.starts_with(&format!("cannot write a report to `{name}`: suites")), "{message}");
        }
    }
}
