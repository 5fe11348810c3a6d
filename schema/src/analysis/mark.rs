//! The comment that says what a file is: an unknown word in it.

use crate::{
    document::{Document, Pointer},
    json_schema::SpecFile,
    kind,
    problem::{Code, Edit, Fix, Problem},
    words::nearest,
};

/// As far into a file as such a comment is looked for.
const HEAD: usize = 4096;

/// Says that the word of `# speclens: dialect=...` is no kind, and how the file is read instead.
pub(super) fn lint(document: &Document, file: SpecFile) -> Option<Problem> {
    let text = document.text();
    let end = text.len_bytes().min(HEAD);
    let head = String::from(text.byte_slice(..text.char_to_byte(text.byte_to_char(end))));
    let Some(Err(word)) = kind::said(&head) else { return None };
    let start = word.as_ptr() as usize - head.as_ptr() as usize;
    let range = start..start + word.len();
    let near = nearest(word, SpecFile::ALL.iter().map(|file| file.as_str()));
    let right = near.unwrap_or(file.as_str());
    let help = format!("write `{right}`");
    let problem =
        Problem::new(Code::InvalidSetting, Pointer::root(), range.clone(), format!("unknown dialect `{word}`"))
            .with_note(format!("the file is read as {}", file.title()))
            .with_help(&help);
    Some(problem.with_fix(Fix::guess(help, vec![Edit::new(range, right)])))
}
