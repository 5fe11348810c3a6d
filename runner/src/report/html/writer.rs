//! Writes HTML. Names of elements and attributes are literals, every other text is escaped, and a link leads to a place
//! in the page: there is no way to write a text from outside that a browser obeys.

use sha2::{Digest, Sha256};

use crate::report::plain;

const STYLE: &str = include_str!("style.css");

const SCRIPT: &str = include_str!("live.js");

/// An attribute: its name, and its value. That of `href` is an id in the page.
pub type Attribute<'a> = (&'static str, &'a str);

#[derive(Debug, Default)]
pub struct Html {
    text: String,
}

/// Returns a page that loads nothing. `title` names it in the browser. `version`: the number of a page that is served,
/// which a script replaces by the next one.
pub fn page(title: &str, version: Option<u64>, content: impl FnOnce(&mut Html)) -> String {
    let mut html = Html { text: "<!doctype html>\n".to_owned() };
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    let script = match version {
        Some(_) => format!("; script-src {}; connect-src 'self'", hash(SCRIPT)),
        None => String::new(),
    };
    let policy = format!("default-src 'none'; style-src {}{script}; base-uri 'none'; form-action 'none'", hash(STYLE));
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.void("meta", &[("charset", "utf-8")]);
            html.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
            html.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            html.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            html.void("meta", &[("name", "referrer"), ("content", "no-referrer")]);
            html.leaf("title", &[], title);
            // The texts that are not escaped are files of this program.
            html.element("style", &[], |html| html.text.push_str(STYLE));
        });
        html.element("body", &[], |html| {
            html.leaf("a", &[("class", "skip"), ("href", "results")], "Skip to the results");
            content(html);
            if let Some(version) = version {
                let number = version.to_string();
                let state = [("id", "live"), ("role", "status"), ("class", "when"), ("data-version", &*number)];
                html.element("aside", &[("aria-label", "State of the page")], |html| {
                    html.leaf("p", &state, "This page follows the files.");
                });
                html.element("script", &[], |html| html.text.push_str(SCRIPT));
            }
        });
    });
    html.text.push('\n');
    html.text
}

impl Html {
    /// Writes an element with its content.
    pub fn element(&mut self, name: &'static str, attributes: &[Attribute<'_>], content: impl FnOnce(&mut Html)) {
        self.void(name, attributes);
        content(self);
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }

    /// Writes an element with a text.
    pub fn leaf(&mut self, name: &'static str, attributes: &[Attribute<'_>], text: &str) {
        self.element(name, attributes, |html| html.push_text(text));
    }

    /// Writes an element that has no content and no end.
    pub fn void(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str(if *name == "href" { "=\"#" } else { "=\"" });
            self.push_escaped(&plain::line(value));
            self.text.push('"');
        }
        self.text.push('>');
    }

    /// Writes a text. Characters that would change how other text is shown are replaced.
    pub fn push_text(&mut self, text: &str) {
        self.push_escaped(&plain::block(text));
    }

    fn push_escaped(&mut self, text: &str) {
        let mut from = 0;
        for (at, letter) in text.match_indices(['&', '<', '>', '"', '\'']) {
            self.text.push_str(&text[from..at]);
            self.text.push_str(match letter {
                "&" => "&amp;",
                "<" => "&lt;",
                ">" => "&gt;",
                "\"" => "&quot;",
                _ => "&#39;",
            });
            from = at + letter.len();
        }
        self.text.push_str(&text[from..]);
    }

    /// Returns the size of what was written, in bytes.
    pub fn size(&self) -> usize {
        self.text.len()
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let of_three = |three: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(three.get(at).copied().unwrap_or_default()));
        let letter = move |at: usize| char::from(LETTERS[bits >> (18 - 6 * at) & 63]);
        let known = three.len() + 1;
        (0..4).map(move |at| if at < known { letter(at) } else { '=' })
    };
    bytes.chunks(3).flat_map(of_three).collect()
}

#[cfg(test)]
mod tests {
    use super::{Html, base64};

    #[test]
    fn text_and_attributes_of_others_are_only_text() {
        let mut html = Html::default();
        html.leaf("p", &[("title", "\"><script>'&\n")], "</p><script>alert(1)</script>\u{1b}[31m\u{202e}&lt;");
        let expected = "<p title=\"&quot;&gt;&lt;script&gt;&#39;&amp;⏎\">&lt;/p&gt;&lt;script&gt;alert(1)\
                        &lt;/script&gt;\u{fffd}&amp;lt;</p>";
        assert_eq!(html.text, expected);
    }

    #[test]
    fn link_leads_to_a_place_in_the_page() {
        let mut html = Html::default();
        html.leaf("a", &[("href", "javascript:alert(1)")], "x");
        assert_eq!(html.text, "<a href=\"#javascript:alert(1)\">x</a>");
    }

    #[test]
    fn base64_has_its_padding() {
        let texts = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }
}
