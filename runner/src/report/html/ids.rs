//! The ids of the parts of a page. They consist of numbers: names of tests are not valid in links.

/// The ids of a suite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    pub(super) suite: usize,
}

impl Ids {
    pub(super) fn heading(self) -> String {
        format!("s{}", self.suite + 1)
    }

    pub(super) fn test(self, position: usize) -> String {
        format!("s{}t{}", self.suite + 1, position + 1)
    }

    pub(super) fn attempt(test: &str, position: usize) -> String {
        format!("{test}a{}", position + 1)
    }
}
