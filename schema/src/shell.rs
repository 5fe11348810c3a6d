//! Open quotes at a position of a shell command.

use std::collections::VecDeque;

/// Quoting context of a position in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quotes {
    None,
    Single,
    Double,
    /// Text of a here-document with expansion.
    Here,
    /// Text of a here-document without expansion.
    Verbatim,
}

pub(crate) fn quotes_at(command: &str, at: usize) -> Quotes {
    let mut quotes = Quotes::None;
    let mut announced: VecDeque<HereDocument> = VecDeque::new();
    let mut letters = command[..at].char_indices();
    while let Some((place, letter)) = letters.next() {
        quotes = match (quotes, letter) {
            (Quotes::None | Quotes::Double, '\\') => {
                letters.next();
                quotes
            }
            (Quotes::None, '<') if command[place..].starts_with("<<") => {
                announced.extend(here_document(&command[place..]));
                // Skips all of `<<` or `<<<`.
                let signs = command[place..].len() - command[place..].trim_start_matches('<').len();
                letters.by_ref().take(signs - 1).for_each(drop);
                quotes
            }
            (Quotes::None, '\n') if !announced.is_empty() => {
                let mut begin = place + 1;
                while let Some(document) = announced.pop_front() {
                    let Some(lines) = command.get(begin..) else { break };
                    let ends = |line: &str| {
                        let line = line.trim_end_matches('\n');
                        (if document.indented { line.trim_start_matches('\t') } else { line }) == document.ends_with
                    };
                    if !lines.split_inclusive('\n').any(ends) {
                        // Without an end, it is a bit shift, or a mistake.
                        continue;
                    }
                    let text: usize = lines.split_inclusive('\n').take_while(|line| !ends(line)).map(str::len).sum();
                    if at < begin + text {
                        return document.quotes;
                    }
                    begin += text + lines[text..].split_inclusive('\n').next().map_or(0, str::len);
                }
                letters = command[..at.max(begin)].char_indices();
                letters.by_ref().take_while(|(place, _)| place + 1 < begin).for_each(drop);
                quotes
            }
            (Quotes::None, '\'') => Quotes::Single,
            (Quotes::None, '"') => Quotes::Double,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => Quotes::None,
            (same, _) => same,
        };
    }
    quotes
}

struct HereDocument {
    ends_with: String,
    quotes: Quotes,
    /// Whether leading tabs of its last line are ignored.
    indented: bool,
}

/// Reads the word after `<<`. `None` for `<<<`.
fn here_document(rest: &str) -> Option<HereDocument> {
    let word = rest.strip_prefix("<<").filter(|word| !word.starts_with('<'))?;
    let (word, indented) = word.strip_prefix('-').map_or((word, false), |word| (word, true));
    let word = word.trim_start_matches([' ', '\t']);
    let quote = word.chars().next().filter(|first| "'\"".contains(*first));
    let ends_with = match quote {
        Some(quote) => word[1..].split(quote).next(),
        None => word.split(|letter: char| letter.is_whitespace() || ";&|<>()".contains(letter)).next(),
    };
    let ends_with = ends_with?.replace('\\', "");
    let is_verbatim = quote.is_some() || word.starts_with('\\');
    let quotes = if is_verbatim { Quotes::Verbatim } else { Quotes::Here };
    (!ends_with.is_empty()).then_some(HereDocument { ends_with, quotes, indented })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_followed_as_the_shell_does() {
        for (before, quotes) in [
            ("a ", Quotes::None),
            ("a '", Quotes::Single),
            ("a 'b' ", Quotes::None),
            ("a \"it's ", Quotes::Double),
            ("a '\" ", Quotes::Single),
            ("a \\' ", Quotes::None),
            ("a \"\\\" ", Quotes::Double),
        ] {
            assert_eq!(quotes_at(before, before.len()), quotes, "{before}");
        }
    }

    #[test]
    fn here_documents_have_rules_of_their_own() {
        for (command, quotes) in [
            ("cat <<'E'\n@\nE", Quotes::Verbatim),
            ("cat <<\\E\n@\nE", Quotes::Verbatim),
            ("cat <<E\nit's\n@\nE\n", Quotes::Here),
            ("cat <<-E | sort\n\t@\n\tE\n", Quotes::Here),
            ("cat <<A <<'B'\na\nA\n@\nB\n", Quotes::Verbatim),
            ("cat <<E\nit's\nE\necho @", Quotes::None),
            ("cat <<E\nit's\nE\necho '@'", Quotes::Single),
            ("cat <<E @\nE", Quotes::None),
            ("cat <<<E\necho @\nE", Quotes::None),
            ("echo $((1<<2))\necho @", Quotes::None),
            ("echo '<<E'\necho @\nE", Quotes::None),
        ] {
            assert_eq!(quotes_at(command, command.find('@').unwrap()), quotes, "{command}");
        }
    }
}
