//! Lines of a block scalar that are not indented: `---` ends its text.

use ropey::Rope;

use crate::fault::{Fault, FaultKind};

/// Reports `---` directly below the indicator of a block scalar as a part of its text.
pub(super) fn markers(text: &Rope, faults: &mut [Fault]) {
    for fault in faults.iter_mut().filter(|fault| fault.kind == FaultKind::SecondDocument) {
        let line = text.byte_to_line(fault.range.start.min(text.len_bytes()));
        if line.checked_sub(1).is_some_and(|above| opens_block_text(&String::from(text.line(above)))) {
            fault.kind = FaultKind::MarkerInBlockText;
        }
    }
}

/// Returns whether a line ends with the indicator of a block scalar.
fn opens_block_text(line: &str) -> bool {
    let words = line.split(" #").next().unwrap_or_default().trim_end();
    let head = words.trim_end_matches(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
    let before = head.strip_suffix(['|', '>']);
    words.len() - head.len() <= 2 && before.is_some_and(|before| before.ends_with(' '))
}
