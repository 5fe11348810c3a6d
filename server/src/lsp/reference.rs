//! The reference as a file next to the user's settings: hover links to its lines. It needs no server, editors open
//! files without asking, and it always matches this version. If it cannot be written, there are no links.

use std::{fs, path::PathBuf, sync::OnceLock};

use speclens_schema::{json_schema::SpecFile, problem::Code, reference};
use tower_lsp_server::gen_lsp_types::Uri;

use crate::{ide::hover::Page, trust};

struct Written {
    text: String,
    address: Uri,
}

/// Writes the reference while the client starts: the first problems link to it.
pub(super) fn prepare() {
    written();
}

static WRITTEN: OnceLock<Option<Written>> = OnceLock::new();

fn written() -> Option<&'static Written> {
    WRITTEN.get_or_init(write).as_ref()
}

pub(super) fn address(file: SpecFile, page: &Page) -> Option<String> {
    let written = written()?;
    let line = reference::line_of(&written.text, file, &page.path, page.tag, page.key.as_deref())?;
    Some(format!("{}#L{}", written.address.0, line + 1))
}

pub(super) fn page_of(code: Code) -> Option<Uri> {
    Some(Uri(format!("{}#{}", written()?.address.0, code.as_str())))
}

/// Writes it, unless it is there. It is read-only, so that it is not edited by accident.
fn write() -> Option<Written> {
    let text = reference::reference();
    let path: PathBuf = trust::state_directory()?.join(concat!("reference-", env!("CARGO_PKG_VERSION"), ".md"));
    if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
        trust::write_whole(&path, &text).ok()?;
    }
    let mut permissions = fs::metadata(&path).ok()?.permissions();
    if !permissions.readonly() {
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).ok()?;
    }
    Some(Written { text, address: Uri(url::Url::from_file_path(&path).ok()?.into()) })
}
