//! Random choices that can be repeated: the same seed makes the same ones.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::ops::Range;

/// A small generator.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns a number below the limit; 0 where there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// Returns one of several texts.
    pub(crate) fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    /// Returns an edit somewhere in a text: what goes, and what comes.
    pub(crate) fn edit(&mut self, text: &str) -> (Range<usize>, String) {
        let boundary = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let start = boundary(self.below(text.len() + 1));
        let end = match self.below(4) {
            0 => boundary((start + self.below(12)).min(text.len())).max(start),
            1 => boundary((start + self.below(120)).min(text.len())).max(start),
            _ => start,
        };
        let comes = match self.below(4) {
            0 => String::new(),
            // A piece of the text ends up elsewhere.
            1 => {
                let from = boundary(self.below(text.len() + 1));
                text[from..boundary((from + self.below(200)).min(text.len())).max(from)].to_owned()
            }
            _ => (0..=self.below(2)).map(|_| SIGNS[self.below(SIGNS.len())]).collect(),
        };
        (start..end, comes)
    }
}

/// What people type, and what means something in YAML or in a format.
const SIGNS: &[&str] = &[
    "\"",
    "'",
    "[",
    "{",
    "}",
    "]",
    ":",
    "- ",
    "-",
    "\n",
    "\n- ",
    "\n  - ",
    "  ",
    " ",
    "\t",
    "&e ",
    "*e",
    "*other",
    "#",
    "é",
    "🦀",
    "|",
    "null",
    "x",
    "name",
    "id: y\n",
    "tests:\n",
    "scenarios:\n",
    "tasks:\n",
    "{{today}}",
    "<<: *e\n",
    "\r\n",
    "---\n",
    "...\n",
    "# speclens: allow(unknown-key)\n",
    "\u{feff}",
    "\u{a0}",
    "&a ",
    "*a",
    "{{x}}",
    "file://",
    "ran: ",
    "- exit_code: 0\n",
    "(",
    "*",
    "..",
    "~",
    "0",
    "<<: *a\n",
    "\u{a0}: x: y",
    "\u{3000}",
    "\u{2028}",
    "\u{85}",
    "\u{7f}",
    "e\u{301}",
    "👩\u{200d}🔬",
    "\r",
    " []\n",
];
