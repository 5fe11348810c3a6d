//! Paths that lead somewhere.

use std::ops::Range;

use speclens_schema::{document::Document, files::Files, json_schema::SpecFile, shape::Word};

use super::walk;

/// A path in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The bytes of the path.
    pub range: Range<usize>,
    /// The path as it is written, relative to the suite's directory.
    pub path: String,
}

/// Every path to something that exists.
pub fn links(document: &Document, file: SpecFile, files: &dyn Files) -> Vec<Link> {
    let keys = walk::keys_with(file, "x-file");
    let shapes = walk::Shapes::new(document, file);
    let mut found = Vec::new();
    walk::scalars(document, &mut |node, place| {
        let Some(path) = node.text().filter(|path| !place.is_key() && !path.is_empty()) else { return };
        if !place.key().is_some_and(|key| keys.contains(key.as_str())) {
            return;
        }
        let shape = shapes.at(&place.pointer());
        if matches!(shape.and_then(|shape| shape.word()), Some(Word::File(_))) && files.kind(path).is_some() {
            found.push(Link { range: node.own_range(), path: path.to_owned() });
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::links;
    use crate::ide::fixture::Fixture;

    #[test]
    fn paths_to_files_that_exist_are_links() {
        let text = "tests:\n  - name: 😀\n    expect:\n      output: {format: json, schemaFile: s/a.json}\n  - name: \"open\n  - expect:\n      output:\n        schemaFile: 's/none.json'\n//- /s/a.json\n{}\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let fixture = Fixture::parse(&format!("//- /kindlm.yaml\n{text}"));
            let found = links(&fixture.document, fixture.file, &fixture.files);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(&fixture.text()[found[0].range.clone()], "s/a.json");
        }
    }
}
