//! The files that match a pattern in one observation.

use std::{
    fs,
    os::unix::fs::symlink,
    time::{Duration, UNIX_EPOCH},
};

use speclens_schema::evidence::{Content, FilesNeed};

use super::{View, directory, empty, files, files_at, paths, text, view};

#[tokio::test]
async fn patterns_match_as_in_python() {
    let directory = directory();
    let root = directory.path();
    for path in ["a/one.md", "a/two.md", "a/.hidden.md", "a/deep/three.md", ".dot/x.md", "[x].md", "b/one.md", "^.md"] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), path).unwrap();
    }
    symlink("a", root.join("linked")).unwrap();
    symlink("gone", root.join("a/broken.md")).unwrap();
    let view = view(root);
    for (pattern, expected) in [
        ("a/*.md", &["a/one.md", "a/two.md"][..]),
        ("./a/o*", &["./a/one.md"]),
        ("a/.*.md", &["a/.hidden.md"]),
        ("a/**", &["a/deep", "a/one.md", "a/two.md"]),
        ("**/*.md", &["a/one.md", "a/two.md", "b/one.md", "linked/one.md", "linked/two.md"]),
        ("?/one.md", &["a/one.md", "b/one.md"]),
        ("[!a]/one.md", &["b/one.md"]),
        ("[^a].md", &["^.md"]),
        ("[x].md", &[]),
        ("[[]x].md", &["[x].md"]),
        ("*/", &["a/", "b/", "linked/"]),
        ("a/one.md/", &[]),
        ("a/*/../one.md", &["a/deep/../one.md"]),
        (".dot/*", &[".dot/x.md"]),
        ("a", &["a"]),
        ("a/broken.md", &[]),
        ("none/*", &[]),
        ("", &[]),
    ] {
        assert_eq!(paths(&files(files_at(pattern), &view).await), expected, "{pattern}");
    }
    let absolute = format!("{}/b/*", root.display());
    assert_eq!(paths(&files(files_at(&absolute), &view).await), [format!("{}/b/one.md", root.display())]);
}

#[tokio::test]
async fn text_with_wildcards_is_a_path_where_the_need_says_so() {
    let (directory, view) = empty();
    fs::write(directory.path().join("[x].md"), "").unwrap();
    let literal = FilesNeed { literal: true, ..files_at("[x].md") };
    assert_eq!(paths(&files(literal, &view).await), ["[x].md"]);
    let plain = FilesNeed { wildcards: false, ..files_at("[x].md") };
    assert_eq!(paths(&files(plain, &view).await), ["[x].md"]);
    let plain = FilesNeed { wildcards: false, ..files_at("*.md") };
    assert_eq!(paths(&files(plain, &view).await), [""; 0]);
}

#[tokio::test]
async fn answer_holds_kind_time_and_content_of_each_file() {
    let directory = directory();
    let root = directory.path();
    fs::create_dir(root.join("b")).unwrap();
    fs::write(root.join("a"), "text").unwrap();
    let time = UNIX_EPOCH + Duration::from_micros(1_234_567_890);
    fs::File::options().write(true).open(root.join("a")).unwrap().set_modified(time).unwrap();
    let found = files(FilesNeed { content: true, ..files_at("?") }, &view(root)).await;
    assert_eq!((found.waited_ms, found.cut, found.beside.len()), (0, false, 0));
    let [file, other] = found.files.as_slice() else { panic!("{found:?}") };
    assert_eq!((file.directory, file.modified_us, file.seen_after_ms), (false, Some(1_234_567_890), 0));
    assert_eq!(text(file.content.as_ref()), ("text", false));
    assert_eq!((other.directory, &other.content), (true, &None::<Content>));
}

#[tokio::test]
async fn all_files_of_an_answer_share_its_bound() {
    let directory = directory();
    for name in ["a", "b", "c"] {
        fs::write(directory.path().join(name), "12345").unwrap();
    }
    let view = View { limit: 7, ..view(directory.path()) };
    let found = files(FilesNeed { content: true, ..files_at("*") }, &view).await;
    let texts: Vec<_> = found.files.iter().map(|file| text(file.content.as_ref())).collect();
    assert_eq!(texts, [("12345", false), ("12", true), ("", true)]);
}

#[tokio::test]
async fn more_files_than_are_kept_are_said_to_be_cut() {
    let directory = directory();
    for index in 0..1_001 {
        fs::write(directory.path().join(format!("{index:04}")), "").unwrap();
    }
    let found = files(files_at("*"), &view(directory.path())).await;
    assert_eq!((found.files.len(), found.cut), (1_000, true));
    let found = files(files_at("[01]??[0-9]"), &View { limit: 0, ..view(directory.path()) }).await;
    assert!(found.cut);
}

#[tokio::test]
async fn names_beside_a_missing_file_are_reported() {
    let (directory, view) = empty();
    fs::create_dir(directory.path().join("a")).unwrap();
    fs::write(directory.path().join("a/draft.md"), "").unwrap();
    for (pattern, beside) in [("a/drafts.md", &["draft.md"][..]), ("a/x*", &["draft.md"]), ("*/x", &[]), ("x", &["a"])]
    {
        assert_eq!(files(files_at(pattern), &view).await.beside, beside, "{pattern}");
    }
}

#[tokio::test]
async fn pipe_is_found_and_not_read() {
    let (directory, view) = empty();
    let path = directory.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let found = files(FilesNeed { content: true, ..files_at("pipe") }, &view).await;
    let Some(Content::Unreadable(reason)) = &found.files[0].content else { panic!("{found:?}") };
    assert_eq!(reason, "it is not a regular file");
}
