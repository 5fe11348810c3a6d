-- Files of the other formats, and task files and contracts with arbitrary names.

local scenario = {}

function scenario.setup()
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' } })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  --- Damages one place of a file: the one problem is on `marked`.
  local function damaged(path, old, new, marked)
    T.open(path)
    T.replace(old, new)
    wait('the diagnostic', function()
      return #T.problems() == 1
    end)
    is(marked, T.underlined(T.problems()[1]))
  end

  --- The completion items after `text`.
  local function offered(text)
    local line = T.line(text)
    local params = vim.lsp.util.make_position_params(0, T.client().offset_encoding)
    params.position = { line = line, character = #vim.api.nvim_buf_get_lines(T.buf, line, line + 1, false)[1] }
    local answers = vim.lsp.buf_request_sync(T.buf, 'textDocument/completion', params, 20000)
    local labels = {}
    for _, answer in pairs(answers) do
      for _, item in ipairs(answer.result.items or answer.result) do
        labels[item.label] = true
      end
    end
    return labels
  end

  --- Applies the preferred fix of the one problem.
  local function fix()
    local it = T.problems()[1]
    vim.api.nvim_win_set_cursor(0, { it.lnum + 1, it.col })
    vim.lsp.buf.code_action({
      apply = true,
      filter = function(action)
        return action.isPreferred
      end,
    })
    wait('no diagnostic', function()
      return #T.problems() == 0
    end)
  end

  test('a suite of cli-bench: an unknown key is reported and fixed', function()
    damaged('cli-bench/cli-bench.yaml', 'tasks:', 'task:', 'task')
    fix()
    T.line('tasks:')
  end)

  test('a task file of cli-bench: assertions are checked and completed', function()
    damaged('cli-bench/tasks/basics.yaml', 'output_contains: "Usage"', 'output_contain: "Usage"', 'output_contain')
    fix()
    T.replace('output_contains: "Usage"', 'output_')
    local labels = offered('- output_')
    assert(labels.output_contains and labels.output_equals, vim.inspect(labels))
  end)

  test('the server is started in the folder of the suite, or above the folder of a target', function()
    T.open('cli-bench/tasks/basics.yaml')
    is('cli-bench', vim.fs.basename(T.client().config.root_dir))
    vim.fn.mkdir('loose/agents/website/tests', 'p')
    vim.fn.writefile({ 'version: "1.0"' }, 'loose/agents/website/tests/scenarios.yaml')
    T.open('loose/agents/website/tests/scenarios.yaml')
    is('loose', vim.fs.basename(T.client().config.root_dir))
    -- A script belongs to its suite, wherever that is.
    vim.fn.mkdir('loose/skills/bench', 'p')
    vim.fn.writefile({ 'cli: git', 'tasks: []' }, 'loose/skills/bench/cli-bench.yaml')
    vim.fn.writefile({ 'default: [{ say: a }]' }, 'loose/skills/bench/careful.script.yaml')
    T.open('loose/skills/bench/careful.script.yaml')
    is('bench', vim.fs.basename(T.client().config.root_dir))
  end)

  test('a contract of ClawSpec: types are checked and completed', function()
    damaged('clawspec/skills/newsletter/tests/scenarios.yaml', 'type: file_absent', 'type: file_absnt', 'file_absnt')
    fix()
    T.replace('type: file_absent', 'type: file_abs')
    local labels = offered('type: file_abs')
    assert(labels.file_absent and labels.llm_judge, vim.inspect(labels))
  end)

  test('a scripted model, beside a suite or not: an unknown key is named, keys are completed', function()
    vim.fn.writefile({ 'default:', '  - run: echo I wave' }, 'alone.script.yaml')
    for _, path in ipairs({ 'greeter/polite.script.yaml', 'alone.script.yaml' }) do
      T.open(path)
      T.replace('- run: echo I wave', '- runn: echo I wave')
      local it = wait('the warning', function()
        return T.diagnostics('speclens')[1]
      end)
      is('runn', T.underlined(it))
      T.replace('- runn: echo I wave', '- e')
      assert(offered('- e').expect)
      T.replace('- e', '- run: echo I wave')
      wait('no warning', function()
        return #T.diagnostics('speclens') == 0
      end)
      vim.cmd.write()
    end
  end)

  test('a contract of any name is known by its content', function()
    vim.fn.writefile({ 'version: "1.0"', 'target:', '  type: skill', '  path: skills/a', '  trigger: /a', 'scenarios:', '  - nam: a' }, 'loose.yaml')
    T.open('loose.yaml')
    wait('the diagnostic', function()
      return vim.iter(T.problems()):any(function(it)
        return T.underlined(it) == 'nam'
      end)
    end)
  end)
end

return scenario
