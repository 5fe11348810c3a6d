-- Without trust a run asks first.

local scenario = {}

function scenario.setup()
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' } })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  local function health()
    T.client()
    vim.cmd.checkhealth('speclens')
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    vim.cmd.bdelete()
    return text
  end

  test(':checkhealth says that the folder is not trusted', function()
    assert(health():find('refund-desk is not trusted: the first run asks', 1, true), health())
  end)

  test('a refused run does not run', function()
    T.replace('echo hello', 'echo hello; echo yes >> ran.txt')
    T.answer = 'Cancel'
    T.run_lens('name: greets', '▶ Run')
    wait('the question', function()
      return #T.questions == 1
    end)
    is({ 'Trust and run', 'Cancel' }, T.questions[1])
  end)

  test('an answer of trust runs, and is not asked for again', function()
    T.replace('echo hello', 'echo hello; echo yes >> ran.txt')
    T.answer = 'Trust and run'
    T.run_lens('name: greets', '▶ Run')
    T.state('greets', '✓ passed')
    is(2, #T.questions)
    is({ 'yes' }, vim.fn.readfile('ran.txt')) -- once, so not after the refusal
    T.replace('echo hello;', 'echo hello you;')
    T.state('greets', '⚠ stale')
    T.run_lens('name: greets', '▶ Run')
    T.state('greets', '✓ passed')
    is(2, #T.questions)
  end)

  test(':checkhealth names the trusted folder', function()
    assert(health():find('refund-desk is trusted: tests may run', 1, true), health())
  end)
end

return scenario
