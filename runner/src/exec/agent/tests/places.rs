//! Directory, scaffold, environment, `setup` and `teardown`.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

#[tokio::test]
async fn scaffold_is_copied_with_modes_and_inner_links() {
    let suite = Suite::new();
    suite.write("fixture/bin/run", "#!/bin/sh\necho ran\n");
    suite.write("fixture/locked/file", "x");
    fs::set_permissions(suite.path("fixture/bin/run"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(suite.path("fixture/locked"), PermissionsExt::from_mode(0o555)).unwrap();
    symlink("bin/run", suite.path("fixture/alias")).unwrap();
    symlink("../locked/nowhere", suite.path("fixture/bin/dangling")).unwrap();
    let action = task(|_, all| all.scaffold = Some("fixture".to_owned()));
    let worked = suite.work(&action, &running(&["./alias && readlink bin/dangling && cat locked/file"])).await;
    assert_eq!(stdout(&commands(&worked)[0]), "ran\n../locked/nowhere\nx");
    let directory = worked.directory();
    let mode = fs::metadata(directory.join("locked")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o555);
    close(worked).await;
    assert!(!directory.exists(), "read-only directories are removed, too");
    fs::set_permissions(suite.path("fixture/locked"), PermissionsExt::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn scaffold_of_the_task_wins_and_one_that_is_absent_is_an_error() {
    let suite = Suite::new();
    suite.write("own/name", "own");
    let action = |name: &str| {
        task(|action, all| (action.scaffold, all.scaffold) = (Some(name.to_owned()), Some("none".to_owned())))
    };
    let worked = suite.work(&action("own"), &running(&["cat name"])).await;
    assert_eq!(stdout(&commands(&worked)[0]), "own");
    close(worked).await;
    for (name, part) in
        [("absent", "cannot read the scaffold `absent`: No such file"), ("own/name", "is not a directory")]
    {
        let model = model([]);
        let worked = suite.work(&action(name), &model).await;
        let (kind, message) = error_of(&worked);
        assert!(kind == RunErrorKind::Workspace && message.contains(part), "{message}");
        assert!(model.requests.lock().unwrap().is_empty());
        close(worked).await;
    }
}

#[tokio::test]
async fn links_that_lead_out_of_the_scaffold_and_special_files_are_refused() {
    let suite = Suite::new();
    suite.write("secret", "s");
    suite.write("fixture/sub/deep/file", "x");
    suite.write("fixture/x/file", "x");
    let bad = suite.path("fixture/bad");
    let absolute = suite.path("fixture/x").display().to_string();
    // The last one leads up from where the other link leads, which is less deep than it is written.
    symlink("../../x", suite.path("fixture/sub/deep/up")).unwrap();
    let action = task(|action, _| action.scaffold = Some("fixture".to_owned()));
    for target in ["../secret", "/etc/passwd", &absolute, "../fixture/x", "sub/deep/up/../.."] {
        symlink(target, &bad).unwrap();
        let worked = suite.work(&action, &running(&["true"])).await;
        let (kind, message) = error_of(&worked);
        assert_eq!(kind, RunErrorKind::Workspace, "{target}");
        let said = format!("the link `bad` of the scaffold `fixture` leads out of the scaffold, to `{target}`");
        assert!(message.starts_with(&said), "{message}");
        close(worked).await;
        fs::remove_file(&bad).unwrap();
    }
    symlink("sub/deep/up/file", &bad).unwrap();
    let worked = suite.work(&action, &running(&["cat bad"])).await;
    assert_eq!(stdout(&commands(&worked)[0]), "x");
    close(worked).await;
    fs::remove_file(&bad).unwrap();
    std::os::unix::net::UnixListener::bind(&bad).unwrap();
    let worked = suite.work(&action, &running(&["true"])).await;
    assert!(error_of(&worked).1.contains("`bad` of the scaffold `fixture` is a pipe, a socket or a device"));
    close(worked).await;
}

#[tokio::test]
async fn workdir_is_created_used_again_and_not_removed() {
    let suite = Suite::new();
    suite.write("fixture/data/file", "new");
    suite.write("outside/file", "untouched");
    let action = task(|_, all| {
        all.workdir = Some("box/inner".to_owned());
        all.scaffold = Some("fixture".to_owned());
    });
    let worked = suite.work(&action, &running(&["rm -r data; ln -s ../../outside data; pwd"])).await;
    assert_eq!(worked.attempt.notes, [""; 0]);
    assert_eq!(stdout(&commands(&worked)[0]).trim(), suite.path("box/inner").canonicalize().unwrap().to_str().unwrap());
    close(worked).await;
    let worked = suite.work(&action, &running(&["cat data/file"])).await;
    assert_eq!(stdout(&commands(&worked)[0]), "new");
    assert_eq!(worked.attempt.notes, ["the `workdir` was not empty when the test began: it contained `data`"]);
    close(worked).await;
    assert!(suite.path("box/inner/data/file").exists());
    assert_eq!(fs::read_to_string(suite.path("outside/file")).unwrap(), "untouched");

    let into_itself = task(|_, all| (all.workdir, all.scaffold) = (Some("box".to_owned()), Some(".".to_owned())));
    let worked = suite.work(&into_itself, &model([])).await;
    assert!(error_of(&worked).1.contains("copied into itself"), "{:?}", error_of(&worked));
    close(worked).await;
}

#[tokio::test]
async fn two_attempts_in_one_workdir_never_overlap() {
    let suite = Suite::new();
    let action = task(|_, all| all.workdir = Some("box".to_owned()));
    let first = suite.work(&action, &running(&["true"])).await;
    let waited = async {
        while suite.notes.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        // The first attempt still holds it.
        fs::write(suite.path("box/left"), "").unwrap();
        close(first).await;
    };
    let model = running(&["ls"]);
    let (worked, ()) = tokio::join!(suite.work(&action, &model), waited);
    assert_eq!(stdout(&commands(&worked)[0]), "left\n");
    let place = suite.path("box").canonicalize().unwrap();
    assert_eq!(*suite.notes.lock().unwrap(), [format!("waiting for another test to finish in {}", place.display())]);

    // Waiting can be cancelled.
    let waiting = suite.work(&action, &model);
    let (cancelled, ()) = tokio::join!(waiting, async { suite.cancel.cancel() });
    assert_eq!(error_of(&cancelled).0, RunErrorKind::Cancelled);
    close(worked).await;
}

#[tokio::test]
async fn environment_is_that_of_the_program_without_keys_and_with_env() {
    let mut suite = Suite::new();
    suite.keys = ["PATH".to_owned(), "HOME".to_owned()].into();
    let action = task(|action, all| {
        all.env = [("A", "suite"), ("B", "suite"), ("WHERE", "{{workdir}}/x"), ("HOME", "/set")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        action.env = BTreeMap::from([("B".to_owned(), "task".to_owned())]);
    });
    let worked = suite.work(&action, &running(&["/usr/bin/env"])).await;
    let text = stdout(&commands(&worked)[0]);
    let directory = worked.directory().display().to_string();
    for line in ["A=suite", "B=task", &format!("WHERE={directory}/x"), "HOME=/set", "TERM=dumb"] {
        assert!(text.lines().any(|it| it == line), "{line}: {text}");
    }
    // A shell sets its own PATH, and may export it.
    let path = std::env::var("PATH").unwrap();
    assert!(!text.lines().any(|line| line == format!("PATH={path}")), "{text}");
    assert_eq!(worked.site.as_ref().unwrap().environment.set["B"], "task");
    close(worked).await;
}

#[tokio::test]
async fn setup_runs_before_the_model_and_its_first_failure_ends_the_attempt() {
    let suite = Suite::new();
    let action = |own: &str| {
        task(|action, all| {
            all.setup = vec!["echo suite >> order".to_owned()];
            action.setup = vec![own.to_owned(), "echo task >> order".to_owned()];
            action.teardown = vec!["cat order > \"$OLDPWD/../torn\"; exit 4".to_owned()];
            all.env = BTreeMap::from([("OLDPWD".to_owned(), suite.path("fixture").display().to_string())]);
        })
    };
    suite.write("fixture/x", "");
    let worked = suite.work(&action("true"), &running(&["cat order"])).await;
    assert_eq!(stdout(&commands(&worked)[0]), "suite\ntask\n");
    assert_eq!(evidence(&worked).files.as_ref().unwrap().files, [], "what setup writes is not of the agent");
    close(worked).await;

    let model = model([]);
    let worked = suite.work(&action("seq 20 >&2; exit 7"), &model).await;
    let (kind, message) = error_of(&worked);
    assert_eq!(kind, RunErrorKind::Setup);
    assert_eq!(
        message,
        "the `setup` command `seq 20 >&2; exit 7` ended with exit code 7; the end of its standard \
         error:\n13\n14\n15\n16\n17\n18\n19\n20"
    );
    assert!(model.requests.lock().unwrap().is_empty());
    let directory = worked.directory();
    assert_eq!(close(worked).await.len(), 1, "teardown runs all the same, and fails with a note");
    assert!(!directory.exists());
}
