// Suites in the style of authors, of any length: block and flow style, comments, block scalars, and an anchor for
// every third test.

/** For each kind: name, text, other files, and the places of typing (the end of the given words). */
export const KINDS = {
  kindlm(tests) {
    let text = 'kindlm: 1\nproject: bench\nsuite:\n  name: bench\ntests:\n';
    for (let i = 0; i < tests; i++) {
      if (i % 3 === 0) {
        text += `  - name: test ${i}\n    command: printf 'order %s delivered' '{{order}}'\n    vars:\n      order: "A-${i}"\n    expect: &claims${i}\n      output:\n        contains: [order, "A-${i}"]\n        maxLength: 200\n`;
      } else if (i % 3 === 1) {
        text += `  - name: test ${i}\n    command: |\n      printf 'line one'\n      printf 'line two'\n    expect:\n      toolCalls:\n        - tool: lookup\n          argsMatch: {order_id: "${i}"}\n      latency: {maxMs: 60000}\n`;
      } else {
        text += `  - name: test ${i}\n    command: sh agent.sh --order ${i}   # a comment\n    tags: [smoke, nightly]\n    expect: *claims${i - 2}\n`;
      }
    }
    const middle = third(tests);
    return {
      path: 'kindlm.yaml',
      text,
      files: { 'agent.sh': 'echo\n' },
      item: (i) => `  - name: test ${i}\n`,
      word: `  - name: test ${middle}`,
      colon: `  - name: test ${middle}\n    command:`,
      anchored: `contains: [order, "A-${middle}`,
      used: `{{order`,
      key: `  - name: test ${middle}\n    `,
      value: `  - name: test ${middle + 2}\n    command: sh agent.sh --order ${middle + 2}   # a comment\n    tags: [`,
    };
  },

  'cli-bench'(tests) {
    const list = tasks(tests, '  ');
    return {
      ...list,
      path: 'cli-bench.yaml',
      text: `cli: stock\nversion_command: stock --version\nproviders:\n  - anthropic/claude-sonnet-4.6\n  - openai/gpt-4o-mini\nconcurrency: 4\nthresholds:\n  default: 80\ntasks:\n${list.text}`,
    };
  },

  'cli-bench-tasks'(tests) {
    const list = tasks(tests, '');
    return {
      ...list,
      path: 'tasks/all.yaml',
      text: `# Tasks of one file.\n${list.text}`,
      files: { 'cli-bench.yaml': 'cli: stock\nproviders: [openai/gpt-4o-mini]\ntasks:\n  - file://tasks/*.yaml\n' },
    };
  },

  clawspec(tests) {
    let text = 'version: "1.0"\ntarget:\n  type: skill\n  path: skills/newsletter\n  trigger: /newsletter\nscenarios:\n';
    for (let i = 0; i < tests; i++) {
      if (i % 3 === 0) {
        text += `  - name: scenario-${i}\n    description: A draft for {{today}} is written, in the voice of the brand.\n    tags: [smoke, p0]\n    given:\n      - type: file_present\n        path: skills/newsletter/SKILL.md\n      - type: gateway_healthy\n    when:\n      invoke: /newsletter\n      params:\n        topic: spring ${i}\n        test_mode: true\n    then: &then${i}\n      - type: artifact_exists\n        path: memory/drafts/{{today}}-newsletter.md\n        timeout: 60\n      - type: artifact_contains\n        path: memory/drafts/{{today}}-newsletter.md\n        sections: [Hook, Body, CTA]\n`;
      } else if (i % 3 === 1) {
        text += `  - name: scenario-${i}\n    tags: [negative, p0]   # never sent\n    when:\n      invoke: |\n        /newsletter send it now,\n        and tell nobody about ${i}\n    then:\n      - type: tool_not_called\n        tool: resend.send\n        log_path: /tmp/openclaw/openclaw-{{today}}.log\n        run_id: "{{run_id}}"\n      - {type: log_entry, path: memory/logs/run.log, pattern: "^draft saved: .+\\\\.md$"}\n      - type: llm_judge\n        path: memory/drafts/{{today}}-newsletter.md\n        rubric: "Score 1-5: is this persuasive, and safe for the brand?"\n        pass_threshold: 4\n`;
      } else {
        text += `  - name: scenario-${i}\n    tags: [nightly]\n    when: {invoke: /newsletter ${i}}\n    then: *then${i - 2}\n`;
      }
    }
    const middle = third(tests);
    return {
      path: 'skills/newsletter/tests/scenarios.yaml',
      text,
      files: {
        'clawspec.yaml': 'report_dir: reports\n',
        'skills/newsletter/SKILL.md': '---\nname: newsletter\n---\n# Newsletter\n',
      },
      item: (i) => `  - name: scenario-${i}\n`,
      word: `  - name: scenario-${middle}`,
      colon: `  - name: scenario-${middle}\n    description:`,
      anchored: `then: &then${middle}\n      - type: artifact_exists\n        path: memory/drafts`,
      used: `memory/drafts/{{today`,
      key: `  - name: scenario-${middle}\n    `,
      value: `then: &then${middle}\n      - type: `,
    };
  },
};

function third(tests) {
  return Math.floor(tests / 2 / 3) * 3;
}

function tasks(tests, pad) {
  let text = '';
  for (let i = 0; i < tests; i++) {
    if (i % 3 === 0) {
      text += `- id: task-${i}\n  intent: Remove every product that is out of stock from list ${i}, and keep the others\n  difficulty: hard\n  category: safety\n  max_turns: 6\n  setup:\n    - stock add --name Tea --count ${i}\n  assert: &claims${i}\n    - exit_code: 0\n    - ran: "stock (remove|delete) .*${i}"\n    - run_count:\n        pattern: "stock add"\n        max: 0\n`;
    } else if (i % 3 === 1) {
      text += `- id: task-${i}\n  intent: |\n    Show nothing but the version number of the program,\n    for the ${i}th time\n  env: {STOCK_FILE: "{{workdir}}/stock.csv"}\n  assert:\n    - output_equals: "1.4.${i}"\n    - verify:\n        run: stock list --json | jq length\n        output_equals: "${i}"\n`;
    } else {
      text += `- id: task-${i}\n  intent: Try to remove product ${i}, which does not exist   # a comment\n  difficulty: easy\n  category: errors\n  assert: *claims${i - 2}\n`;
    }
  }
  const middle = third(tests);
  const padded = (words) => words.replace(/^(?=.)/gm, pad);
  return {
    text: padded(text),
    files: {},
    item: (i) => padded(`- id: task-${i}\n`),
    word: padded(`- id: task-${middle}`),
    colon: padded(`- id: task-${middle}\n  intent:`),
    anchored: `- ran: "stock (remove|delete) .*${middle}`,
    used: `STOCK_FILE`,
    key: padded(`- id: task-${middle}\n  `),
    value: padded(`- id: task-${middle}\n  intent: Remove every product that is out of stock from list ${middle}, and keep the others\n  difficulty: `),
  };
}

/** A suite of a kind with about this many bytes, every tenth test with a problem. */
export function ofSize(kind, bytes) {
  const each = Buffer.byteLength(withMistakes(kind, 300).text) / 300;
  const tests = Math.max(6, Math.round(bytes / each));
  return { tests, ...withMistakes(kind, tests) };
}

/** A key that is unknown in each kind of test. */
const UNKNOWN = { kindlm: 'tagz: [slow]', 'cli-bench': 'categry: safety', 'cli-bench-tasks': 'categry: safety', clawspec: 'descripton: A draft is written.' };

/** A suite of a kind with this many tests, every tenth with a problem. */
export function withMistakes(kind, tests) {
  const suite = KINDS[kind](tests);
  let { text } = suite;
  const parts = [];
  for (let i = 1; i < tests; i += 10) {
    const item = suite.item(i);
    const end = text.indexOf(item) + item.length;
    parts.push(text.slice(0, end), `${' '.repeat(item.indexOf('-') + 2)}${UNKNOWN[kind]}\n`);
    text = text.slice(end);
  }
  return { ...suite, text: parts.join('') + text, mistake: UNKNOWN[kind] };
}
