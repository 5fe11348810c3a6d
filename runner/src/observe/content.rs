//! The content of a file, up to a limit, and the names next to it.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    time::{Duration, Instant},
};

use speclens_schema::{
    check::log_search::FileScan,
    evidence::{Capture, Content, FileSearch},
};

use crate::files::open_regular;

const MAX_NAMES: usize = 300;

/// Number of bytes of a file that are searched at once.
const PIECE: usize = 256 << 10;

const MAX_SEARCH: Duration = Duration::from_secs(60);

const MAX_ENTRIES: usize = 10_000;

/// Reads the beginning of a file. Only a regular file is read: reading a pipe could block forever.
pub(super) fn read(path: &Path, limit: usize) -> Content {
    match bytes(path, limit) {
        Ok((bytes, cut)) => Content::Text(Capture::of_bytes(bytes, cut)),
        Err(error) => Content::Unreadable(error.to_string()),
    }
}

fn bytes(path: &Path, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    let mut reader = open_regular(path)?.take(limit as u64);
    reader.read_to_end(&mut bytes)?;
    let cut = reader.into_inner().read(&mut [0])? > 0;
    Ok((bytes, cut))
}

pub(super) fn search(path: &Path, wanted: &[String]) -> Vec<FileSearch> {
    let mut scan = FileScan::new(wanted);
    let began = Instant::now();
    let mut read = || -> io::Result<()> {
        let mut file = open_regular(path)?;
        let mut piece = vec![0; PIECE];
        let mut searched: u64 = 0;
        while !scan.is_over() {
            let length = match file.read(&mut piece) {
                Ok(0) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                length => length?,
            };
            scan.read(&piece[..length]);
            searched += length as u64;
            if began.elapsed() > MAX_SEARCH {
                let mebibytes = searched >> 20;
                scan.stop(|line| {
                    format!("only {mebibytes} MiB were searched in {} s, up to line {line}", MAX_SEARCH.as_secs())
                });
            }
        }
        Ok(())
    };
    if let Err(error) = read() {
        scan.stop(|line| format!("it cannot be read from line {line} on: {error}"));
    }
    scan.end()
}

pub(crate) fn beside(path: &Path) -> Vec<String> {
    let Some(directory) = path.parent() else { return Vec::new() };
    let entries = fs::read_dir(directory).into_iter().flatten().take(MAX_ENTRIES);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.truncate(MAX_NAMES);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_16_with_a_byte_order_mark_is_text_and_other_encodings_keep_replaced_bytes() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("x.md");
        let text = "geheim: é 😀\n";
        let bytes_of = |mark: &[u8], of: fn(u16) -> [u8; 2]| {
            [mark, &text.encode_utf16().flat_map(of).collect::<Vec<_>>()].concat()
        };
        for (bytes, expected) in [
            (text.as_bytes().to_vec(), text),
            (bytes_of(&[0xff, 0xfe], u16::to_le_bytes), text),
            (bytes_of(&[0xfe, 0xff], u16::to_be_bytes), text),
            (b"caf\xe9 geheim".to_vec(), "caf\u{fffd} geheim"),
        ] {
            fs::write(&place, &bytes).expect("written");
            let Content::Text(found) = read(&place, 1_000) else { panic!("{bytes:?}") };
            assert_eq!((found.text.as_str(), found.cut), (expected, false));
        }
        fs::write(&place, bytes_of(&[0xff, 0xfe], u16::to_le_bytes)).expect("written");
        let Content::Text(part) = read(&place, 7) else { panic!("not text") };
        assert_eq!((part.text.as_str(), part.cut), ("ge", true));
    }
}
