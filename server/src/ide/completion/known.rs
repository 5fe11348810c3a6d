//! Likely values from the location of a file and from the files around it.

use std::collections::BTreeSet;

use speclens_schema::{
    check::headings::headings,
    dialect::{
        Dialect,
        clawspec::{gateway_log::GatewayLog, lower},
    },
    document::{Document, NodeRef, Pointer},
    files::{FileKind, Files},
    json_schema::SpecFile,
    shape::Shape,
    template,
};

use crate::ide::{agents, values};

/// Maximum number of targets found.
const TARGETS: usize = 200;

/// Maximum size, in bytes, of a file that is read for its headings.
const SIZE: usize = 1 << 20;

/// Returns the most likely values at a place, as they would be written, best first.
pub(super) fn likely(document: &Document, file: SpecFile, at: &Pointer, files: &dyn Files) -> Vec<String> {
    if file != SpecFile::CLAWSPEC_SCENARIOS {
        return Vec::new();
    }
    let written = |path: &str| Some(document.find(&Pointer::parse(path))?.text()?.to_owned());
    let filled = |path: &str| written(path).filter(|text| !text.is_empty());
    let own = files.place().strip_suffix("/tests/scenarios.yaml").map(str::to_owned);
    match at.as_str() {
        "/target/path" => own.into_iter().chain(targets(files)).collect::<Distinct>().0,
        "/target/type" => {
            let Some(own) = filled("/target/path").or(own) else { return Vec::new() };
            let is_file = |name: &str| files.kind(&format!("{own}/{name}")) == Some(FileKind::File);
            let is_agent = is_file("SOUL.md") || (!is_file("SKILL.md") && own.starts_with("agents/"));
            vec![if is_agent { "agent" } else { "skill" }.to_owned()]
        }
        "/target/trigger" => {
            let Some(own) = filled("/target/path").or(own) else { return Vec::new() };
            let name = own.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let is_agent = filled("/target/type").map_or(own.starts_with("agents/"), |kind| kind == "agent");
            vec![if is_agent { name.to_owned() } else { format!("/{name}") }]
        }
        place if place.ends_with("/when/invoke") => {
            let own = own.and_then(|own| Some(format!("/{}", own.rsplit('/').next()?)));
            filled("/target/trigger").or(own).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Texts in order, each once.
struct Distinct(Vec<String>);

impl FromIterator<String> for Distinct {
    fn from_iter<T: IntoIterator<Item = String>>(texts: T) -> Distinct {
        let mut seen = BTreeSet::new();
        Distinct(texts.into_iter().filter(|text| seen.insert(text.clone())).collect())
    }
}

/// Returns the skills and agents of the workspace.
fn targets(files: &dyn Files) -> Vec<String> {
    let patterns = ["skills/**/SKILL.md", "agents/**/SOUL.md"];
    let found = patterns.iter().flat_map(|pattern| files.glob(pattern).paths);
    let directories = found.filter_map(|path| Some(path.rsplit_once('/')?.0.to_owned()));
    directories.take(TARGETS).collect()
}

/// Returns the gateway log as a path in a contract.
pub(super) fn log_path(file: SpecFile, files: &dyn Files) -> Option<String> {
    let is_contract = file.dialect() == Some(Dialect::CLAWSPEC) && file.has_cases();
    is_contract.then(|| lower::settings(files).log_path())
}

/// Returns the tools or agents in the configured log of the gateway, if it is in the workspace:
/// other logs are not read while the author types.
pub(super) fn logged(kind: &str, values: values::Values<'_>) -> Vec<String> {
    let Some(path) = values.path_with(Some("clawspec"), &lower::settings(values.files).log_path()) else {
        return Vec::new();
    };
    let Some(path) = values.files.glob(&path).paths.pop() else { return Vec::new() };
    let Some(bytes) = values.files.read(&path).ok().filter(|bytes| bytes.len() <= SIZE) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let log = GatewayLog::read(&text, "", None);
    let names: Vec<String> = match kind {
        "tools" => log.calls.into_iter().map(|call| call.tool).collect(),
        agents::KIND => {
            let callees = log.calls.into_iter().filter_map(|call| call.to_agent);
            log.sessions.into_iter().map(|session| session.agent).chain(callees).collect()
        }
        _ => return Vec::new(),
    };
    names.into_iter().collect::<Distinct>().0
}

/// Returns the headings of the file that the claim around a place is about; if there is no file of today yet,
/// those of the latest file of another day.
pub(super) fn headings_of(claim: NodeRef<'_>, shape: &Shape, values: values::Values<'_>) -> Vec<String> {
    let text = ["path", "output_path"].into_iter().find_map(|key| Some((key, claim.get(key)?.text()?)));
    let Some((key, path)) = text else { return Vec::new() };
    let Some(shape) = shape.step(key, Some(claim)) else { return Vec::new() };
    let content = artifact(path, &shape, values);
    let found = content.as_deref().map(headings).unwrap_or_default();
    found.into_iter().map(|heading| heading.text).filter(|text| !text.is_empty()).collect::<Distinct>().0
}

/// Returns the text of an artifact.
fn artifact(path: &str, shape: &Shape, values: values::Values<'_>) -> Option<String> {
    let read = |path: &str| {
        let bytes = values.files.read(path).ok().filter(|bytes| bytes.len() <= SIZE)?;
        String::from_utf8(bytes.to_vec()).ok()
    };
    let newest = |pattern: &str| {
        let files = values.files.glob(pattern).paths.into_iter().rev();
        files.into_iter().filter(|path| values.files.kind(path) == Some(FileKind::File)).find_map(|path| read(&path))
    };
    let now = values.path(shape, path).and_then(|path| read(&path).or_else(|| newest(&path)));
    now.or_else(|| {
        let mut pattern = path.to_owned();
        let placeholders = shape.template().map(|kind| template::placeholders_of(kind, path)).unwrap_or_default();
        for found in placeholders.iter().rev() {
            pattern.replace_range(found.range(), if found.name == "repo_root" { "." } else { "*" });
        }
        newest(pattern.trim_start_matches("./"))
    })
}
