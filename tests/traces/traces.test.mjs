// Real exporters send to the receiver: small agents, instrumented with OpenTelemetry's SDKs for Node and Python, are judged
// by a KindLM suite and by ClawSpec assertions.
// Needs the development build (or `SPECLENS_BIN`) and the SDKs of tests/traces/get; what is not installed is skipped.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { program as builtProgram } from "../editors/support.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const program = builtProgram();
const cache = process.env.SPECLENS_TRACES_CACHE ?? join(root, "target/traces-cache");

const kindlm = `kindlm: 1
project: shop
suite: { name: clerk }
tests:
  - name: looks-up-the-order
    command: "true"
    expect:
      toolCalls: [{ tool: lookup_order, argsMatch: { order_id: "42" } }]
      output: { contains: [shipped] }
      latency: { maxMs: 60000 }
`;

const clawspec = `version: "1.0"
target: { type: skill, path: skills/clerk, trigger: /clerk }
scenarios:
  - name: looks up the order
    tags: [negative]
    when: { invoke: /clerk }
    then:
      - { type: llm_call_count, min: 2, max: 2 }
      - { type: tool_sequence, mode: strict, expected: [lookup_order] }
      - { type: model_used, expected: gpt-4o }
      - { type: trace_token_budget, max_input_tokens: 270, max_output_tokens: 50 }
      - { type: per_span_budget, max_tokens: 180 }
      - { type: no_span_errors }
      - { type: tool_not_invoked, tool: delete_order }
      - { type: trace_duration, max_ms: 60000 }
`;

const agents = {
  "Node, JSON": [`node ${here}/agent.mjs json`, "node"],
  "Node, protobuf, gzip": [`node ${here}/agent.mjs protobuf gzip`, "node"],
  "Python, protobuf": [`${cache}/python/bin/python ${here}/agent.py none`, "python"],
  "Python, protobuf, gzip": [`${cache}/python/bin/python ${here}/agent.py gzip`, "python"],
};

const run = (directory, suite, command) =>
  new Promise((resolve) => {
    const options = ["trace", suite, "--listen", "--port", "0", "--command", command];
    const started = spawn(program, options, {
      cwd: directory,
      env: { ...process.env, SPECLENS_TRACES_CACHE: cache, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    for (const stream of [started.stdout, started.stderr]) stream.on("data", (data) => (text += data));
    started.on("close", (code) => resolve({ code, text }));
  });

for (const [name, [command, sdk]] of Object.entries(agents)) {
  const skip = existsSync(join(cache, sdk, ".stamp")) ? false : `the SDK for ${sdk} is not installed`;
  test(`agent that exports with ${name} is judged by both formats`, { skip, timeout: 120_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), "speclens-traces-"));
    try {
      mkdirSync(join(directory, "skills/clerk/tests"), { recursive: true });
      writeFileSync(join(directory, "kindlm.yaml"), kindlm);
      writeFileSync(join(directory, "clawspec.yaml"), "report_dir: reports\n");
      writeFileSync(join(directory, "skills/clerk/SKILL.md"), "# clerk\n");
      writeFileSync(join(directory, "skills/clerk/tests/scenarios.yaml"), clawspec);
      for (const suite of ["kindlm.yaml", "skills/clerk/tests/scenarios.yaml"]) {
        const { code, text } = await run(directory, suite, command);
        assert.equal(code, 0, text);
        assert.match(text, /1 passed|passed/, text);
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}
