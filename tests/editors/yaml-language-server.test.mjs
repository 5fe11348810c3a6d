// The generated schemas in the YAML server of most editors: it reports no problem in the shipped examples, and it
// reports a key that does not exist.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../..')

const examples = [
  ['cli-bench', 'examples-editing/cli-bench/cli-bench.yaml'],
  ['cli-bench-tasks', 'examples-editing/cli-bench/tasks/basics.yaml'],
  ['clawspec', 'examples/clawspec/clawspec.yaml'],
  ['clawspec-scenarios', 'examples/clawspec/skills/newsletter/tests/scenarios.yaml'],
  ['clawspec-scenarios', 'examples/clawspec/agents/brand/tests/scenarios.yaml'],
  ['clawspec-handoff', 'examples/clawspec/skills/newsletter/tests/handoffs/lead-to-brand.yaml'],
  ['clawspec-pipeline', 'examples/clawspec/skills/newsletter/tests/pipeline.yaml'],
  ['clawspec-ledger', 'examples/clawspec/coverage-ledger.yaml'],
  ['clawspec-baselines', 'examples/clawspec/skills/newsletter/tests/baselines.yaml'],
]

/** A minimal client: it opens a document and waits for its diagnostics. */
class Client {
  constructor() {
    this.server = spawn(join(here, 'node_modules/.bin/yaml-language-server'), ['--stdio'], { stdio: ['pipe', 'pipe', 'ignore'] })
    this.buffer = Buffer.alloc(0)
    this.listeners = []
    this.server.stdout.on('data', (data) => this.read(data))
  }

  read(data) {
    this.buffer = Buffer.concat([this.buffer, data])
    for (;;) {
      const end = this.buffer.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/Content-Length: (\d+)/.exec(this.buffer.subarray(0, end))[1])
      if (this.buffer.length < end + 4 + length) return
      const message = JSON.parse(this.buffer.subarray(end + 4, end + 4 + length))
      this.buffer = this.buffer.subarray(end + 4 + length)
      // Every request is answered with the settings.
      if (message.id !== undefined && message.method) this.send({ id: message.id, result: message.params?.items?.map(() => this.settings) ?? null })
      this.listeners.forEach((listener) => listener(message))
    }
  }

  send(message) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    this.server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  wait(fits) {
    return new Promise((resolve) => this.listeners.push((message) => fits(message) && resolve(message)))
  }

  async start(version) {
    this.settings = { validate: true, yamlVersion: version, customTags: [] }
    const answer = this.wait((message) => message.id === 1 && !message.method)
    this.send({ id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } })
    await answer
    this.send({ method: 'initialized', params: {} })
    this.send({ method: 'workspace/didChangeConfiguration', params: { settings: { yaml: this.settings } } })
  }

  async problems(path, text) {
    const uri = `${pathToFileURL(path)}`
    const published = this.wait((message) => message.method === 'textDocument/publishDiagnostics' && message.params.uri === uri)
    this.send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version: 1, text } } })
    return (await published).params.diagnostics.map((found) => `${path}:${found.range.start.line + 1}: ${found.message}`)
  }
}

for (const [kind, path] of examples) {
  test(`${path} fits ${kind}`, { timeout: 60_000 }, async () => {
    const client = new Client()
    try {
      await client.start(kind.startsWith('clawspec') ? '1.1' : '1.2')
      const file = join(root, 'schema', path)
      const head = `# yaml-language-server: $schema=${pathToFileURL(join(root, `schema/json/${kind}.schema.json`))}\n`
      const text = head + readFileSync(file, 'utf8')
      assert.deepEqual(await client.problems(file, text), [])
      const wrong = kind === 'cli-bench-tasks' ? `${text}\n- idd: x\n` : `${text}\nno_such_key: 1\n`
      const found = await client.problems(`${file}.wrong.yaml`, wrong)
      // Some kinds allow any key: the original program ignores it silently.
      if (!['clawspec', 'clawspec-ledger', 'clawspec-baselines'].includes(kind)) assert.notDeepEqual(found, [])
    } finally {
      client.server.kill()
    }
  })
}
