//! Hovers of models and providers.

use expect_test::expect;

use super::check;

#[test]
fn model_of_a_task_says_where_it_is_reached_and_with_which_key() {
    check(
        "//- /cli-bench.yaml\nproviders: [google/gemini-2.5-fl$0ash]\n",
        expect![[r#"
            [google/gemini-2.5-flash]
            **gemini-2.5-flash** · model of the provider `google`

            Requests go to `generativelanguage.googleapis.com` with the key in `GEMINI_API_KEY`, which is set.

            One million tokens cost $0.3 (input) and $2.5 (output) (list price of 2026-03-21).
        "#]],
    );
    check(
        "//- /cli-bench.yaml\nproviders: [local/qw$0en3]\n",
        expect![[r#"
            [local/qwen3]
            **qwen3** · model of the provider `local`

            Requests go to `localhost:8000`, without a key.

            One million tokens cost $0 (input) and $0.5 (output) (from `prices` in `speclens.yaml`).
        "#]],
    );
    check(
        "//- /cli-bench.yaml\nproviders: [ollama/lla$0ma3.2]\n",
        expect![[r#"
        [ollama/llama3.2]
        **llama3.2** · model of the provider `ollama`

        Requests go to `localhost:11434`, without a key.

        Its tokens cost nothing.
    "#]],
    );
    check(
        "//- /cli-bench.yaml\nproviders: [meta/lla$0ma-3.3-70b]\n",
        expect![[r#"
            [meta/llama-3.3-70b]
            **llama-3.3-70b** · model of the provider `meta`

            This model cannot be used: unknown provider `meta` in the model id `meta/llama-3.3-70b`; describe it under `providers` in `speclens.yaml`, or set `AI_GATEWAY_API_KEY` to reach it through the AI Gateway.
        "#]],
    );
}

#[test]
fn provider_of_a_suite_says_where_it_is_reached_and_with_which_key() {
    check(
        "providers:\n  open$0ai: { apiKeyEnv: MY_KEY }\n",
        expect![[r#"
            [openai]
            **openai** · mapping

            `{ apiKeyEnv, baseUrl?, organization? }`

            OpenAI, or a service with a compatible chat API.

            A provider that requires a key.

            Requests go to `api.openai.com` with the key in `MY_KEY`, which is set.
        "#]],
    );
    check(
        "providers:\n  anth$0ropic: { apiKeyEnv: OTHER_KEY, baseUrl: 'https://proxy.example:8443/v1' }\n",
        expect![[r#"
            [anthropic]
            **anthropic** · mapping

            `{ apiKeyEnv, baseUrl?, organization? }`

            Anthropic.

            A provider that requires a key.

            Requests go to `proxy.example:8443` with the key in `OTHER_KEY`, which is not set.
        "#]],
    );
    check(
        "providers:\n  oll$0ama: {}\n",
        expect![[r#"
            [ollama]
            **ollama** · mapping

            `{ apiKeyEnv?, baseUrl? }`

            Local models, served by Ollama. Needs no key.

            Local models, served by Ollama.

            Requests go to `localhost:11434`, without a key.
        "#]],
    );
    check(
        "providers:\n  ht$0tp: { url: 'https://agent.example/chat' }\n",
        expect![[r#"
            [http]
            **http** · mapping

            `{ url, method?, headers?, body?, responsePath?, toolCallsPath?, modelIdPath?, usagePaths?, apiKeyEnv? }`

            Any HTTP service, described by its request and by paths into its response.

            ```yaml
            http:
              url: https://agent.example/chat
              headers: { Authorization: "env:AGENT_TOKEN" }
              body: '{"question": "{{user}}"}'
              responsePath: data[0].text
            ```

            Requests go to `agent.example`.
        "#]],
    );
}

#[test]
fn a_scripted_model_says_what_it_plays() {
    let suite = "//- /cli-bench.yaml\ncli: a\nproviders: [scripted/care$0ful]\n";
    check(
        &format!("{suite}//- /careful.script.yaml\ntasks: {{a: [{{say: b}}]}}\nanswers: [{{asked: c, say: d}}]\n"),
        expect![[r#"
            [scripted/careful]
            **careful** · scripted model `careful.script.yaml`

            It has turns for `a`.

            It answers 1 question.
        "#]],
    );
    check(
        suite,
        expect![[r#"
            [scripted/careful]
            **careful** · scripted model `careful.script.yaml`, which does not exist
        "#]],
    );
    check(
        &format!("{suite}//- /careful.script.yaml\ntasks: []\n"),
        expect![[r#"
            [scripted/careful]
            **careful** · scripted model `careful.script.yaml`

            It cannot be used: line 1: expected a mapping of names to lists for `tasks`, found a list.
        "#]],
    );
}
