//! Deadlines and cancellation: no process and no directory is left.

use super::*;

async fn cancel_when(suite: &Suite, file: &Path) {
    while !file.exists() {
        tokio::task::yield_now().await;
    }
    suite.cancel.cancel();
}

#[tokio::test]
async fn deadline_of_the_task_ends_command_and_attempt() {
    let suite = Suite::new();
    let action = task(|action, _| action.timeout_ms = Some(300));
    let worked = suite.work(&action, &running(&["echo begun; sleep 60"])).await;
    assert_eq!(error_of(&worked), (RunErrorKind::TimedOut, "the test did not end within 300 ms and was stopped"));
    let ran = &commands(&worked)[0];
    assert_eq!((stdout(ran), ran.timed_out, ran.exit.unwrap().code), ("begun\n", true, Some(124)));
    close(worked).await;

    let worked = suite.work(&action, &model([Step::Hangs])).await;
    assert_eq!(error_of(&worked).0, RunErrorKind::TimedOut);
    close(worked).await;

    let slow = task(|action, _| (action.timeout_ms, action.setup) = (Some(300), vec!["sleep 60".to_owned()]));
    let worked = suite.work(&slow, &model([])).await;
    assert_eq!(error_of(&worked).0, RunErrorKind::TimedOut);
    close(worked).await;
}

#[tokio::test]
async fn cancelling_at_any_stage_ends_the_attempt_runs_teardown_and_removes_the_directory() {
    for stage in ["setup", "help", "model", "command"] {
        let suite = Suite::new();
        let mark = suite.path("mark");
        let hang = format!("echo $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 60", mark.display());
        suite.write("tool", &format!("#!/bin/sh\n{hang}\n"));
        fs::set_permissions(suite.path("tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let torn = suite.path("torn");
        let action = task(|action, all| {
            all.cli = suite.path("tool").display().to_string();
            action.setup = vec![if stage == "setup" { hang.clone() } else { "true".to_owned() }];
            action.teardown = vec![format!("echo > {}", torn.display())];
        });
        let model = match stage {
            "command" => running(&[&hang]),
            _ => model([Step::Hangs]),
        };
        let mode = if stage == "help" { HelpMode::Injected } else { HelpMode::None };
        let cancel = async {
            if stage == "model" {
                model.asked.notified().await;
                suite.cancel.cancel();
            } else {
                cancel_when(&suite, &mark).await;
            }
        };
        let (worked, ()) = tokio::join!(suite.work_in(&action, &model, mode), cancel);
        assert_eq!(error_of(&worked).0, RunErrorKind::Cancelled, "{stage}");
        let directory = worked.directory();
        assert_eq!(close(worked).await, [""; 0], "{stage}");
        assert!(!directory.exists() && torn.exists(), "{stage}");
        assert!(stage == "model" || !is_running(&mark), "{stage}");
    }
}

#[tokio::test]
async fn dropping_an_attempt_leaves_no_process_and_no_directory() {
    let suite = Suite::new();
    let mark = suite.path("mark");
    let hang = format!("pwd > '{0}.place'; echo $$ > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 60", mark.display());
    let (action, model) = (task(|_, _| {}), running(&[&hang]));
    {
        let working = suite.work(&action, &model);
        let begun = async {
            while !mark.exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = working => panic!("the command goes on for long"),
            () = begun => {}
        }
    }
    let place = fs::read_to_string(suite.path("mark.place")).unwrap();
    assert!(!Path::new(place.trim()).exists());
    while is_running(&mark) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn server_that_setup_starts_serves_agent_and_teardown_and_ends_with_the_attempt() {
    let suite = Suite::new();
    let mark = suite.path("pid");
    let action = task(|action, _| {
        action.setup = vec![format!("sleep 60 > /dev/null 2>&1 & echo $! > '{}'", mark.display())];
        action.teardown = vec![format!("kill -0 $(cat '{}')", mark.display())];
    });
    let alive = format!("kill -0 $(cat '{}') && echo alive", mark.display());
    let worked = suite.work(&action, &running(&[&alive])).await;
    assert_eq!(stdout(&commands(&worked)[0]), "alive\n");
    assert_eq!(close(worked).await, [""; 0]);
    assert!(!is_running(&mark));
}
