//! Items of several forms, and files whose root is a list.

use expect_test::expect;

use super::{check_choice, check_labels, completions};
use crate::ide::tests::fixture::Fixture;

#[test]
fn tasks_are_at_the_root_of_their_file() {
    check_labels(
        "//- /cli-bench-tasks.yaml\n- id: a\n  $0\n",
        expect!["intent assert setup max_turns difficulty category repeat env scaffold teardown timeout"],
    );
    check_labels(
        "//- /cli-bench-tasks.yaml\n- id: a\n  intent: b\n- $0\n",
        expect!["id intent assert setup max_turns difficulty category repeat env scaffold teardown timeout"],
    );
    check_labels("//- /cli-bench-tasks.yaml\n- id: a\n  difficulty: $0\n", expect!["easy medium hard"]);
    check_labels("//- /cli-bench-tasks.yaml\n$0\n", expect!["- id - intent - assert"]);
}

#[test]
fn an_assertion_has_one_key() {
    check_labels(
        "//- /cli-bench-tasks.yaml\n- id: a\n  assert:\n    - $0\n",
        expect![
            "exit_code output_contains output_equals error_contains file_exists file_contains ran not_ran run_count verify"
        ],
    );
    check_labels("//- /cli-bench-tasks.yaml\n- id: a\n  assert:\n    - exit_code: 0\n      $0\n", expect![[r#""#]]);
    check_labels(
        "//- /cli-bench-tasks.yaml\n- id: a\n  assert:\n    - verify:\n        $0\n",
        expect!["run output_contains output_equals"],
    );
}

#[test]
fn a_task_or_a_file_of_tasks_can_be_written() {
    check_labels(
        "//- /cli-bench.yaml\ncli: git\ntasks:\n  - $0\n",
        expect![[
            r#"id intent assert setup max_turns difficulty category repeat env scaffold teardown timeout "file://tasks/*.yaml""#
        ]],
    );
    check_labels(
        "//- /cli-bench.yaml\ncli: git\ntasks:\n  - in$0\n",
        expect![[
            r#"intent id assert setup max_turns difficulty category repeat env scaffold teardown timeout "file://tasks/*.yaml""#
        ]],
    );
    check_choice(
        "//- /cli-bench.yaml\ncli: git\ntasks:\n  - in$0\n",
        "intent",
        expect![[r#"
            +   - intent:·
        "#]],
    );
}

#[test]
fn items_are_offered_in_empty_brackets() {
    for (fixture, label, text) in [
        ("//- /cli-bench-tasks.yaml\n- id: a\n  assert: [$0]\n", "run_count", "{ run_count:  }"),
        ("//- /cli-bench-tasks.yaml\n- id: a\n  assert: [ $0 ]\n", "exit_code", "{ exit_code:  }"),
        ("//- /cli-bench-tasks.yaml\n- id: a\n  assert: [{ exit_code: 0 }, $0 ]\n", "ran", "{ ran:  }"),
        ("//- /clawspec-scenarios.yaml\nscenarios:\n- name: a\n  then: [ $0 ]\n", "log_entry", "{ type: log_entry, "),
        ("tests:\n  - expect: { toolCalls: [ $0 ] }\n", "tool", "{ tool:  }"),
        ("tests:\n  - expect: { judge: [ $0 ] }\n", "criteria", "{ criteria:  }"),
    ] {
        let items = completions(&Fixture::parse(fixture));
        let item = items.iter().find(|item| item.label == label).unwrap_or_else(|| panic!("{fixture}: {items:#?}"));
        assert!(item.edit.text.starts_with(text), "{fixture}: {item:?}");
    }
}
