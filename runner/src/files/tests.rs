//! Tests of the files: reading, caching, and limits of access.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use speclens_schema::files::{FileKind, Files};

use super::{Buffers, Declared, DiskFiles};

#[test]
fn only_what_is_below_the_directory_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("suite")).unwrap();
    std::fs::write(directory.path().join("secret"), "x").unwrap();
    std::fs::write(directory.path().join("suite/a.json"), "{}").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(directory.path().join("secret"), directory.path().join("suite/link")).unwrap();
    let files = DiskFiles::new(&directory.path().join("suite"), "kindlm.yaml");
    assert_eq!(files.kind("link"), None);
    assert!(files.read("link").is_err());
    assert_eq!(files.kind("a.json"), Some(FileKind::File));
    assert_eq!(files.kind("./x/../a.json"), None, "x does not exist");
    assert_eq!(files.kind("../secret"), None);
    assert!(files.read("../secret").is_err());
    assert!(files.read(directory.path().join("secret").to_str().unwrap()).is_err());
    assert!(files.list(".").contains(&("a.json".to_owned(), FileKind::File)));
    assert_eq!(files.list(".."), []);
}

#[test]
fn beyond_the_directory_only_the_workspace_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    let inside = directory.path().join("workspace/suite");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(directory.path().join("secret"), "x").unwrap();
    std::fs::write(directory.path().join("workspace/run.sh"), "echo").unwrap();
    let script = directory.path().join("workspace/run.sh");
    let top = directory.path().join("workspace");
    std::fs::write(directory.path().join("speclens.yaml"), "").unwrap();
    let alone = DiskFiles::new(&inside, "kindlm.yaml");
    assert_eq!(alone.digest_beyond("../run.sh"), None, "nothing says how far the workspace reaches");
    let read = |path: &str| DiskFiles::new(&inside, "kindlm.yaml").in_workspace(&top).digest_beyond(path).is_some();
    assert!(read("../run.sh") && read(script.to_str().unwrap()));
    assert!(!read("../../secret") && !read("../none") && !read(".."));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../../secret", directory.path().join("workspace/link")).unwrap();
        assert!(!read("../link"));
    }
}

#[cfg(unix)]
#[test]
fn named_files_are_read_within_workspace() {
    use std::os::unix::fs::symlink;

    use speclens_schema::files::Resolved;

    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let suite = root.join("workspace/suite");
    std::fs::create_dir_all(&suite).unwrap();
    std::fs::write(root.join("far.json"), "far").unwrap();
    std::fs::write(root.join("workspace/near.json"), "near").unwrap();
    std::fs::write(suite.join("own.json"), "own").unwrap();
    for (link, target) in [("far", "../../far.json"), ("near", "../near.json"), ("own", "own.json")] {
        symlink(target, suite.join(link)).unwrap();
    }
    let found = |path: &str, is_far| Resolved::Found { kind: FileKind::File, path: path.to_owned(), is_far };
    let alone = DiskFiles::new(&suite, "kindlm.yaml");
    assert_eq!(alone.named("own"), found("own.json", false));
    assert_eq!((alone.named("near"), alone.named("../near.json")), (Resolved::Unread, Resolved::Unread));
    assert!(alone.read_named("near").is_err() && alone.list_named("..").is_empty());
    let editor = DiskFiles::new(&suite, "kindlm.yaml").within(vec![root.join("workspace")]);
    for path in ["near", "../near.json"] {
        assert_eq!(editor.named(path), found("../near.json", false));
        assert_eq!(&*editor.read_named(path).unwrap(), b"near");
    }
    assert_eq!((editor.named("far"), editor.named("../../far.json")), (Resolved::Unread, Resolved::Unread));
    assert_eq!(editor.named("../none"), Resolved::Nothing);
    assert!(editor.list_named("..").contains(&("near.json".to_owned(), FileKind::File)));
    assert!(editor.has_seen(&root.join("workspace/near.json")) && editor.has_read(&root.join("workspace/near.json")));
    let caller = DiskFiles::new(&suite, "kindlm.yaml").within(vec![root.join("workspace")]).following();
    assert_eq!(caller.named("far"), found("../../far.json", true));
    assert_eq!(&*caller.read_named("far").unwrap(), b"far");
    assert_eq!(caller.kind("far"), None, "only what is named outright");
}

#[cfg(unix)]
#[test]
fn patterns_enter_no_loop_and_nothing_beyond() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for (path, text) in [("w/t/a.yaml", "a"), ("w/u/b.yaml", "b"), ("out/c.yaml", "c")] {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    for (link, target) in
        [("w/t/self", "."), ("w/t/up", ".."), ("w/t/u", "../u"), ("w/u/t", "../t"), ("w/out", "../out")]
    {
        symlink(target, root.join(link)).unwrap();
    }
    let files = DiskFiles::new(&root.join("w"), "cli-bench.yaml").following();
    assert_eq!(files.glob_named("**/*.yaml").paths, ["t/a.yaml", "t/u/b.yaml", "u/b.yaml", "u/t/a.yaml"]);
    assert_eq!(files.glob_named("t/**/*.yaml").paths, ["t/a.yaml", "t/u/b.yaml"]);
    assert_eq!(files.glob_named("out/*.yaml").paths, [""; 0]);
    assert_eq!(files.glob_named("../out/*.yaml").paths, ["../out/c.yaml"]);
    assert_eq!(files.glob_named("../*/*.yaml").paths, ["../out/c.yaml"]);
}

#[derive(Debug)]
struct OpenFiles(Vec<(PathBuf, &'static str)>);

impl Buffers for OpenFiles {
    fn text(&self, path: &Path) -> Option<String> {
        self.0.iter().find(|(open, _)| open == path).map(|(_, text)| (*text).to_owned())
    }

    fn below(&self, directory: &Path) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).filter(|path| path.starts_with(directory)).collect()
    }
}

#[test]
fn open_document_takes_precedence() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    std::fs::write(root.join("a.yaml"), "disk").unwrap();
    let open = [(root.join("a.yaml"), "edited"), (root.join("new/b.yaml"), "unsaved")];
    let files = DiskFiles::new(root, "kindlm.yaml").over(Arc::new(OpenFiles(open.to_vec())));
    assert_eq!(&*files.read("./a.yaml").unwrap(), b"edited");
    assert_eq!(&*files.read("new/b.yaml").unwrap(), b"unsaved");
    assert_eq!(files.kind("new/b.yaml"), Some(FileKind::File));
    assert!(files.list("").contains(&("new".to_owned(), FileKind::Directory)));
    assert!(files.has_read(&root.join("a.yaml")) && !files.has_read(&root.join("c.yaml")));
    assert!(files.has_seen(&root.join("c.yaml")), "the directory was listed");
    assert!(!files.has_seen(&root.join("deep/er/c.yaml")));
}

#[test]
fn cache_is_cleared_on_request() {
    let directory = tempfile::tempdir().unwrap();
    let files = DiskFiles::new(directory.path(), "kindlm.yaml");
    assert!(files.read("a").is_err());
    std::fs::write(directory.path().join("a"), "x").unwrap();
    assert!(files.read("a").is_err(), "kept until cleared");
    files.forget();
    assert_eq!(&*files.read("a").unwrap(), b"x");
}

/// Returns the declared files of a suite in `suite/`, seen from there.
fn declared(root: &Path, entries: &[&str]) -> Vec<String> {
    let files = DiskFiles::new(&root.join("suite"), "kindlm.yaml");
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    files.declare(Some(Declared::new(root, &entries)));
    files.declared().into_keys().collect()
}

fn tree(files: &[&str]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for path in files {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    directory
}

#[test]
fn declared_entries_stand_for_files_trees_and_matches() {
    let directory =
        tree(&["suite/kindlm.yaml", "src/a.py", "src/deep/b.py", "src/deep/c.txt", ".env", ".git/x", ".speclens/y"]);
    let root = directory.path();
    assert_eq!(declared(root, &["src"]), ["../src/a.py", "../src/deep/b.py", "../src/deep/c.txt"]);
    assert_eq!(declared(root, &["./src/**/*.py", "src/a.py"]), ["../src/a.py", "../src/deep/b.py"]);
    assert_eq!(declared(root, &["src/deep/b.py/"]), ["../src/deep/b.py"]);
    assert_eq!(declared(root, &["."]).len(), 5, "neither .git nor .speclens");
    assert_eq!(declared(root, &["../src", "/etc", "none", "src/*.md"]), [""; 0]);
}

#[test]
fn files_that_version_control_ignores_are_declared_only_by_name() {
    let directory = tree(&["suite/kindlm.yaml", "src/a.py", "src/a.pyc", "build/out.js"]);
    std::fs::write(directory.path().join(".gitignore"), "*.pyc\nbuild/\n").unwrap();
    assert_eq!(declared(directory.path(), &["src"]), ["../src/a.py"]);
    assert_eq!(declared(directory.path(), &["src/a.pyc"]), ["../src/a.pyc"]);
    assert_eq!(declared(directory.path(), &["build"]), ["../build/out.js"]);
}

#[cfg(unix)]
#[test]
fn links_lead_no_declared_entry_out() {
    let directory = tree(&["suite/kindlm.yaml", "src/a.py", "far/secret"]);
    let root = directory.path().join("work");
    std::fs::create_dir_all(root.join("suite")).unwrap();
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("near"), "x").unwrap();
    for (link, target) in [("src/far", "../../far/secret"), ("src/near", "../near"), ("tree", "../far")] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    assert_eq!(declared(&root, &["src", "tree"]), ["../src/near"]);
}

#[test]
fn every_declared_file_counts_beyond_those_that_are_listed() {
    let names: Vec<String> = (0..100).map(|number| format!("src/{number:03}")).collect();
    let directory = tree(&names.iter().map(String::as_str).chain(["suite/kindlm.yaml"]).collect::<Vec<_>>());
    let root = directory.path();
    let files = DiskFiles::new(&root.join("suite"), "kindlm.yaml");
    files.declare(Some(Declared::new(root, &["src".to_owned()])));
    let first = files.declared();
    assert!(first.len() < 70 && first.contains_key("../src/"), "{first:?}");
    std::fs::write(root.join("src/099"), "other").unwrap();
    assert_eq!(files.declared(), first, "until the cache is cleared");
    assert!(files.has_seen(&root.join("src/099")) && files.has_seen(&root.join("src/new")));
    assert!(!files.has_seen(&root.join("other")) && !files.has_seen(&root.join("src/.git/x")));
    files.forget();
    assert_ne!(files.declared(), first);
}

#[test]
fn tree_has_files_directories_links_and_modes_and_no_recordings() {
    let directory = tree(&["suite/fixture/a", "suite/fixture/deep/b", "suite/fixture/.speclens/x", "far/c"]);
    let root = directory.path().join("suite");
    let files = DiskFiles::new(&root, "cli-bench.yaml");
    let keys = |name: &str| files.tree(name).into_keys().collect::<Vec<_>>();
    assert_eq!(keys("./fixture/"), ["fixture/a", "fixture/deep/", "fixture/deep/b"]);
    assert!(files.has_seen(&root.join("fixture/deep/new")) && !files.has_seen(&root.join("other/new")));
    assert_eq!(keys("../far"), [""; 0], "outside the suite and of every workspace");
    assert_eq!(keys("none"), [""; 0]);
    let files = DiskFiles::new(&root, "cli-bench.yaml").in_workspace(directory.path());
    assert_eq!(files.tree("../far").into_keys().collect::<Vec<_>>(), ["../far/c"]);
}

#[test]
fn large_tree_is_grouped_by_directories_and_every_file_counts() {
    let names: Vec<String> = (0..500).map(|number| format!("fixture/d{}/{number:03}", number % 5)).collect();
    let directory = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let files = DiskFiles::new(directory.path(), "cli-bench.yaml");
    let first = files.tree("fixture");
    assert_eq!(first.len(), 6, "{first:?}");
    std::fs::write(directory.path().join("fixture/d4/499"), "other").unwrap();
    assert_eq!(files.tree("fixture"), first, "until the cache is cleared");
    files.forget();
    let now = files.tree("fixture");
    let changed: Vec<&String> =
        now.iter().filter(|(path, digest)| first.get(*path) != Some(digest)).map(|it| it.0).collect();
    assert_eq!(changed, ["fixture/d4/"]);
}
