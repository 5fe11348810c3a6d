//! Likely values from files: names in logs, headings of artifacts.

use speclens_schema::{
    check::headings::headings, document::NodeRef, files::FileKind, json_schema::SpecFile, shape::Shape, template_syntax,
};

use crate::ide::{names, values};

/// Maximum size, in bytes, of a file that is read for its headings.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Returns the names of a kind in the configured log of runs, if it is in the workspace: other logs are not read while
/// the author types.
pub(super) fn logged(kind: &str, file: SpecFile, values: values::Values<'_>) -> Vec<String> {
    let found = file.serves().and_then(|format| {
        let syntax = template_syntax::syntaxes().find(|syntax| !syntax.known_values.is_empty());
        let path = values.path_with(syntax.map(|syntax| syntax.word), &format.log(values.files)?)?;
        let bytes = values.files.read(&values.files.glob(&path).paths.pop()?).ok()?;
        let text = (bytes.len() <= MAX_FILE_BYTES).then(|| String::from_utf8_lossy(&bytes))?;
        Some(format.names_in_log(kind, &text))
    });
    names::distinct(found.into_iter().flatten())
}

/// Returns the headings of the file that the claim around a place is about; if there is no file of today yet,
/// those of the latest file of another day.
pub(super) fn headings_of(claim: NodeRef<'_>, shape: &Shape, values: values::Values<'_>) -> Vec<String> {
    let text = ["path", "output_path"].into_iter().find_map(|key| Some((key, claim.get(key)?.text()?)));
    let Some((key, path)) = text else { return Vec::new() };
    let Some(shape) = shape.step(key, Some(claim)) else { return Vec::new() };
    let content = artifact(path, &shape, values);
    let found = content.as_deref().map(headings).unwrap_or_default();
    names::distinct(found.into_iter().map(|heading| heading.text).filter(|text| !text.is_empty()))
}

/// Returns the text of an artifact.
fn artifact(path: &str, shape: &Shape, values: values::Values<'_>) -> Option<String> {
    let read = |path: &str| {
        let bytes = values.files.read(path).ok().filter(|bytes| bytes.len() <= MAX_FILE_BYTES)?;
        String::from_utf8(bytes.to_vec()).ok()
    };
    let newest = |pattern: &str| {
        let files = values.files.glob(pattern).paths.into_iter().rev();
        files.into_iter().filter(|path| values.files.kind(path) == Some(FileKind::File)).find_map(|path| read(&path))
    };
    let now = values.path(shape, path).and_then(|path| read(&path).or_else(|| newest(&path)));
    now.or_else(|| {
        let mut pattern = path.to_owned();
        let placeholders =
            shape.template().map(|kind| template_syntax::placeholders_of(kind, path)).unwrap_or_default();
        for found in placeholders.iter().rev() {
            pattern.replace_range(found.range(), if found.name == "repo_root" { "." } else { "*" });
        }
        newest(pattern.trim_start_matches("./"))
    })
}
