//! The state of a path.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
};

use speclens_schema::evidence::{Answer, Content, Need, PathState};

use super::{View, answer, directory, empty, text, view};

async fn at(path: &str, view: &View) -> PathState {
    match answer(&Need::Path { path: path.to_owned(), content: true }, view).await {
        Answer::Path(state) => state,
        other => panic!("{other:?}"),
    }
}

fn held(state: &PathState) -> (&str, bool) {
    match state {
        PathState::File { content } => text(content.as_ref()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn kinds_of_paths_are_distinguished_with_links_followed() {
    let directory = directory();
    let root = directory.path();
    fs::write(root.join("file"), "one\ntwo \u{e4}").unwrap();
    fs::create_dir(root.join("empty")).unwrap();
    symlink("file", root.join("link")).unwrap();
    symlink("empty", root.join("to-directory")).unwrap();
    symlink("gone", root.join("nowhere")).unwrap();
    symlink("circle", root.join("circle")).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let view = view(root);
    for path in ["file", "./file", "empty/../link", "{{workdir}}/file", root.join("file").to_str().unwrap()] {
        assert_eq!(held(&at(path, &view).await), ("one\ntwo ä", false), "{path}");
    }
    for path in ["empty", "to-directory", "."] {
        assert_eq!(at(path, &view).await, PathState::Directory, "{path}");
    }
    assert_eq!(at("socket", &view).await, PathState::Other);
    let beside = ["circle", "empty", "file", "link", "nowhere", "socket", "to-directory"].map(str::to_owned).to_vec();
    for path in ["fiel", "nowhere", "circle"] {
        assert_eq!(at(path, &view).await, PathState::Missing { beside: beside.clone() }, "{path}");
    }
    for path in ["empty/x", "file/x", "gone/x"] {
        assert_eq!(at(path, &view).await, PathState::Missing { beside: Vec::new() }, "{path}");
    }
}

#[tokio::test]
async fn home_and_variables_in_a_path_are_not_expanded() {
    let (directory, view) = empty();
    for name in ["~", "$HOME"] {
        fs::create_dir(directory.path().join(name)).unwrap();
        fs::write(directory.path().join(name).join("x"), "here").unwrap();
        assert_eq!(held(&at(&format!("{name}/x"), &view).await), ("here", false), "{name}");
    }
}

#[tokio::test]
async fn long_file_is_cut_before_half_a_character() {
    let directory = directory();
    fs::write(directory.path().join("long"), "é".repeat(10)).unwrap();
    fs::write(directory.path().join("exact"), "ab€").unwrap();
    fs::write(directory.path().join("binary"), b"a\xff\xc3").unwrap();
    let view = View { limit: 5, ..view(directory.path()) };
    assert_eq!(held(&at("long", &view).await), ("éé", true));
    assert_eq!(held(&at("exact", &view).await), ("ab€", false));
    assert_eq!(held(&at("binary", &view).await), ("a\u{fffd}\u{fffd}", false));
}

#[tokio::test]
async fn content_is_read_only_where_it_is_wanted() {
    let (directory, view) = empty();
    fs::write(directory.path().join("file"), "x").unwrap();
    let need = Need::Path { path: "file".to_owned(), content: false };
    let found = answer(&need, &view).await;
    assert_eq!(found, Answer::Path(PathState::File { content: None }));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn file_that_cannot_be_read_says_why() {
    let (_directory, view) = empty();
    let PathState::File { content: Some(Content::Unreadable(reason)) } = at("/proc/self/mem", &view).await else {
        panic!("readable")
    };
    assert!(!reason.is_empty());
}

#[tokio::test]
async fn at_most_a_few_hundred_names_beside_a_missing_path_are_kept() {
    let (directory, view) = empty();
    for index in 0..400 {
        fs::write(directory.path().join(format!("{index:03}")), "").unwrap();
    }
    let PathState::Missing { beside } = at("x", &view).await else { panic!("there") };
    assert_eq!((beside.len(), beside[0].as_str(), beside[299].as_str()), (300, "000", "299"));
}
