// The JSON Schema works in other tools, too: Ajv in its strict mode, reading YAML with the `yaml` package, accepts the shipped
// examples and every recorded configuration that KindLM accepts, and rejects those that KindLM rejects for their form.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const require = createRequire(import.meta.url)
const Ajv = require('ajv/dist/2020').default
const { parse } = require('yaml')

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const read = (...path) => readFileSync(join(root, ...path), 'utf8')

function validator(name) {
  const text = read('schema/json', `${name}.schema.json`)
  const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false, allErrors: true })
  for (const word of new Set(text.match(/(?<=")(x-[a-z-]+|markdownDescription)(?=":)/g))) ajv.addKeyword(word)
  return ajv.compile(JSON.parse(text))
}

// Valid by their form: inconsistent names are found by rules, and sections for prompts may be empty here.
const form = new Set([
  'config-invalid-conversation-duplicate-turn',
  'config-invalid-models-empty',
  'config-invalid-prompts-empty',
  'config-invalid-xref-duplicate-model',
  'config-invalid-xref-model',
  'config-invalid-xref-provider',
  'config-invalid-yaml-duplicate-key',
])

test('the examples fit the schema', () => {
  const fits = validator('kindlm')
  const examples = readdirSync(join(root, 'schema/examples')).filter((name) => existsSync(join(root, 'schema/examples', name, 'kindlm.yaml')))
  assert.ok(examples.length >= 3)
  for (const name of examples) assert.ok(fits(parse(read('schema/examples', name, 'kindlm.yaml'))), `${name}: ${JSON.stringify(fits.errors)}`)
})

test('every schema compiles in the strict mode', () => {
  const names = readdirSync(join(root, 'schema/json')).filter((name) => name.endsWith('.schema.json') && !name.startsWith('report.'))
  assert.ok(names.length >= 4)
  for (const name of names) validator(name.replace('.schema.json', ''))
})

test('recorded configurations fit when the original takes them', () => {
  const fits = validator('kindlm')
  const names = readdirSync(join(root, 'tests/specs/kindlm-cases')).filter((name) => name.startsWith('config-'))
  assert.ok(names.length >= 20)
  for (const name of names) {
    const valid = name.startsWith('config-valid-') || form.has(name)
    let suite
    try {
      suite = parse(read('tests/specs/kindlm-cases', name, 'kindlm.yaml'), { logLevel: 'silent', uniqueKeys: false })
    } catch (error) {
      assert.ok(!valid, `${name}: ${error}`)
      continue
    }
    assert.equal(fits(suite), valid, `${name}: ${JSON.stringify(fits.errors)}`)
  }
})

test('the settings schema compiles, and knows its codes', () => {
  const fits = validator('speclens')
  assert.ok(fits({ severity: { unused: 'off' } }))
  assert.ok(!fits({ severity: { 'no-such-code': 'off' } }))
})
