//! The same text as other people and tools indent its lists.

/// How far the dashes of a list are from the column of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListStyle {
    /// In the column of the key, as PyYAML and Kubernetes write them.
    Flat,
    /// By two columns, as Prettier writes them.
    Indented,
    /// By four columns.
    Deep,
}

impl ListStyle {
    pub(crate) const ALL: [ListStyle; 3] = [ListStyle::Flat, ListStyle::Indented, ListStyle::Deep];

    fn offset(self) -> usize {
        match self {
            ListStyle::Flat => 0,
            ListStyle::Indented => 2,
            ListStyle::Deep => 4,
        }
    }

    /// Returns the text with each list that begins below a key moved to this style. Every line stays a line; the text
    /// may be damaged, and what belongs to no list stays as it is.
    pub(crate) fn of(self, text: &str) -> String {
        let mut out = String::new();
        // The lists around the line, from the outside in: the column of the dashes before, and by how much they move.
        let mut lists: Vec<(usize, isize)> = Vec::new();
        let mut key: Option<usize> = None;
        let mut block_text: Option<usize> = None;
        for line in text.split_inclusive('\n') {
            let words = line.trim_start_matches(' ');
            let indent = line.len() - words.len();
            let shifted = |lists: &[(usize, isize)]| {
                let by: isize = lists.iter().map(|(_, by)| by).sum();
                format!("{}{words}", " ".repeat(indent.saturating_add_signed(by)))
            };
            let in_block_text = block_text.is_some_and(|outer| indent > outer);
            if words.trim().is_empty() || words.starts_with('#') || in_block_text {
                out.push_str(&if words.trim().is_empty() { line.to_owned() } else { shifted(&lists) });
                continue;
            }
            if ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| words.starts_with(mark)) {
                out.push_str(line);
                continue;
            }
            let is_item = is_dash(words);
            while lists.last().is_some_and(|(dashes, _)| indent < *dashes || (indent == *dashes && !is_item)) {
                lists.pop();
            }
            if let Some(key) = key.filter(|key| is_item && indent >= *key)
                && lists.last().is_none_or(|(dashes, _)| *dashes < indent)
            {
                lists.push((indent, (key + self.offset()).cast_signed() - indent.cast_signed()));
            }
            out.push_str(&shifted(&lists));
            let mut rest = words;
            while is_dash(rest) {
                rest = rest[1..].trim_start_matches(' ');
            }
            let begin = indent + words.len() - rest.len();
            let content = rest.split(" #").next().unwrap_or_default().trim_end();
            let is_key = content.ends_with(':') && !content.starts_with(['"', '\'', '[', '{']);
            key = is_key.then_some(begin);
            let mark = content.rsplit([' ', ':']).next().unwrap_or_default();
            let opens_text =
                mark.starts_with(['|', '>']) && mark.len() <= 2 && (mark == content || content.contains(':'));
            block_text = opens_text.then_some(if mark == content { indent } else { begin });
        }
        out
    }
}

fn is_dash(words: &str) -> bool {
    words.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
}
