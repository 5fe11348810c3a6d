-- Tasks of cli-bench that models attempt: scripts answer in their place.

local scenario = {}

function scenario.setup()
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' }, trusted = true })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  local function failures()
    return T.diagnostics('speclens run')
  end

  --- Number of runs of the polite model.
  local function runs()
    return #vim.fn.readfile('runs.txt')
  end

  local function transcript()
    return vim.iter(vim.api.nvim_list_bufs()):find(function(it)
      return vim.api.nvim_buf_get_name(it):find('speclens://transcript/greet', 1, true)
    end)
  end

  test('lenses are above each task of a suite, and above the tasks in its files', function()
    T.open('greeter/cli-bench.yaml')
    for _, title in ipairs({ '▶ Run', 'Run with…', 'Dry run' }) do
      T.above('id: wave', title)
    end
    is('▶ Run file', T.titles('cli: echo')[1])
    T.open('greeter/tasks/greet.yaml')
    for _, title in ipairs({ '▶ Run file through ../cli-bench.yaml', '▶ Run', 'Run with…' }) do
      T.above('id: greet', title)
    end
  end)

  test('the lens of a dry run opens a page that says what would run', function()
    T.run_lens('id: greet', 'Dry run')
    local buf = wait('the page', function()
      return vim.iter(vim.api.nvim_list_bufs()):find(function(it)
        return vim.api.nvim_buf_get_name(it):find('speclens://dry-run/greet', 1, true)
      end)
    end)
    is('markdown', vim.bo[buf].filetype)
    local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    for _, part in ipairs({ '# greet: dry run', 'attempted by scripted/polite', 'would run' }) do
      assert(text:find(part, 1, true), text)
    end
    vim.cmd.bwipeout(buf)
    vim.api.nvim_set_current_win(vim.fn.bufwinid(T.buf))
    vim.cmd.only()
  end)

  test('a lens runs a task, and an assertion that fails is a diagnostic on its line', function()
    T.answer = 'scripted/polite'
    T.run_lens('id: greet', 'Run with…')
    T.above('id: greet', '✗ 1 assertion failed')
    is({ 'scripted/polite', 'scripted/silent', 'the models of the suite' }, T.questions[1])
    wait('the failure', function()
      return #failures() == 1
    end)
    is(T.line('output_contains'), failures()[1].lnum)
    assert(failures()[1].message:find('hello world', 1, true), failures()[1].message)
    is(1, runs())
  end)

  test('an assertion that is corrected is judged again, and nothing runs', function()
    T.above('id: greet', '✗ 1 assertion failed')
    T.replace('hello moon', 'hello world')
    T.above('id: greet', '✓ passed')
    is({}, failures())
    is(1, runs())
  end)

  test('the lens leads to the transcript, a page of Markdown that follows the assertions', function()
    T.run_lens('id: greet', '✗ 1 assertion failed')
    local buf = wait('the page', transcript)
    is('markdown', vim.bo[buf].filetype)
    local function text()
      return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    end
    for _, part in ipairs({ '# greet', '## ✗ scripted/polite', '> I greet.', 'hello world' }) do
      assert(text():find(part, 1, true), text())
    end
    vim.api.nvim_set_current_win(vim.fn.bufwinid(T.buf))
    T.replace('hello moon', 'hello world')
    wait('the corrected page', function()
      return text():find('## ✓ scripted/polite', 1, true)
    end)
    vim.cmd.only()
  end)

  test(':Speclens run-with asks for another model, and the lens shows both', function()
    T.answer = 'scripted/silent'
    T.cursor('output_contains')
    vim.cmd.Speclens('run-with')
    T.above('id: greet', '✗ 0/1 polite · ✗ 0/1 silent')
    T.replace('hello moon', 'hello world')
    T.above('id: greet', '✓ 1/1 polite · ✗ 0/1 silent')
    is(1, runs())
  end)

  test('an edited script makes the result stale', function()
    local spec = T.buf
    T.above('id: greet', '✗ 0/1 polite')
    vim.cmd.edit('greeter/polite.script.yaml')
    vim.fn.append(0, '# another')
    vim.cmd.write()
    vim.cmd.buffer(spec)
    T.above('id: greet', 'stale')
  end)

  test('the lens of the suite tells of the tasks in its files', function()
    T.open('greeter/cli-bench.yaml')
    T.run_lens('id: wave', '▶ Run')
    T.above('id: wave', '✓ passed')
    vim.cmd.Speclens('run-file')
    wait('another run', function()
      return runs() > 2
    end)
  end)
end

return scenario
