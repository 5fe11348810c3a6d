-- The plugin's features in Neovim.

local scenario = {}

function scenario.setup()
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' }, trusted = true })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  local function failures()
    return T.diagnostics('speclens run')
  end

  test('attaches to a spec', function()
    is('speclens', T.client().name)
  end)

  test('a misspelled key is a diagnostic on that key', function()
    wait('the diagnostic', function()
      return #T.problems() == 1
    end)
    local it = T.problems()[1]
    is('notContain', T.underlined(it))
    is(vim.diagnostic.severity.ERROR, it.severity)
    T.replace('notContain:', 'notContains:')
    wait('none', function()
      return #T.problems() == 0
    end)
  end)

  test('a problem can be ignored in the workspace, in settings that come into being', function()
    T.replace('contains: [hello]', 'contains: []')
    local it = wait('the warning', function()
      return vim.iter(T.diagnostics('speclens')):find(function(it)
        return it.message:find('is empty, so nothing is checked', 1, true)
      end)
    end)
    vim.api.nvim_win_set_cursor(0, { it.lnum + 1, it.col })
    local title = ('Ignore `%s` in this workspace'):format(it.code)
    local offered = {}
    vim.lsp.buf.code_action({
      filter = function(action)
        table.insert(offered, action.title)
        return action.title == title
      end,
      apply = true,
    })
    wait(title, function()
      return vim.iter(vim.api.nvim_list_bufs()):any(function(buf)
        return vim.endswith(vim.api.nvim_buf_get_name(buf), 'speclens.yaml')
      end) or #offered > 0 and not vim.tbl_contains(offered, title) and error(vim.inspect(offered))
    end)
    wait('no warning', function()
      return not vim.iter(T.diagnostics('speclens')):any(function(other)
        return other.message == it.message
      end)
    end)
    local settings = vim.fn.bufnr('speclens.yaml')
    is({ 'severity:', ('  %s: off'):format(it.code) }, vim.api.nvim_buf_get_lines(settings, 0, 2, false))
    vim.api.nvim_buf_delete(settings, { force = true })
    vim.fn.delete('speclens.yaml')
  end)

  test('a key is completed while typing', function()
    local line = T.line('contains: [hello]')
    vim.api.nvim_buf_set_lines(T.buf, line, line, false, { '        max' })
    vim.api.nvim_win_set_cursor(0, { line + 1, 0 })
    -- Typed like a user who looks at the list before choosing; headless, waiting has to be a key, too.
    local seen
    _G.wait_for_list = function()
      seen = vim.wait(20000, function()
        return #vim.fn.complete_info({ 'items' }).items > 0
      end, 20)
    end
    vim.api.nvim_feedkeys(vim.keycode('A<C-x><C-o><Cmd>lua wait_for_list()<CR><C-y>'), 'tx', false)
    assert(seen, 'never seen: a list of keys')
    local text = vim.api.nvim_buf_get_lines(T.buf, line, line + 1, false)[1]
    assert(vim.startswith(text, '        maxLength:'), text)
  end)

  test('lenses are above the file and each test', function()
    local titles = { greets = '▶ Run', ['finds the order'] = '▶ Run', ['never apologises'] = '! has errors' }
    for name, title in pairs(titles) do
      wait('a lens above ' .. name, function()
        return T.titles('name: ' .. name)[1] == title
      end)
    end
    is('▶ Run file', T.titles('kindlm: 1')[1])
  end)

  test('a lens runs a test that passes', function()
    T.run_lens('name: greets', '▶ Run')
    T.state('greets', '✓ passed')
    is({}, failures())
  end)

  test('a failing claim is a diagnostic on the claim, and correcting it is enough', function()
    T.run_lens('name: finds the order', '▶ Run')
    T.state('finds the order', '✗ 1 assertion')
    wait('the failure', function()
      return #failures() == 1
    end)
    local it = failures()[1]
    is(T.line('order_id'), it.lnum)
    assert(it.message:find('54321') and it.message:find('12345'), it.message)
    local function shown()
      for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = T.buf })) do
        if hint.inlay_hint.position.line == T.line('order_id') then
          return hint.inlay_hint.label
        end
      end
    end
    wait('the result on its line', function()
      return shown() == '✗ got 12345'
    end)
    T.replace('54321', '12345')
    wait('no failure', function()
      return #failures() == 0
    end)
    wait('the new result on its line', function()
      return shown() ~= '✗ got 12345'
    end)
    T.state('finds the order', '✓ passed')
  end)

  test('editing the command makes the result stale', function()
    T.state('finds the order', '✗ 1 assertion')
    T.replace('sh agent.sh', 'sh ./agent.sh')
    T.state('finds the order', '⚠ stale')
    wait('no failure', function()
      return #failures() == 0
    end)
  end)

  test('editing the script that a command names makes the result stale', function()
    T.state('finds the order', '✗ 1 assertion')
    T.edit_script(vim.list_extend({ 'echo good morning' }, T.script_lines))
    T.state('finds the order', '⚠ stale')
    T.edit_script(T.script_lines)
    T.state('finds the order', '✗ 1 assertion')
  end)

  test(':Speclens run and run-file', function()
    T.replace('notContain:', 'notContains:')
    wait('no problem', function()
      return #T.problems() == 0
    end)
    vim.cmd.Speclens('run-file')
    T.state('never apologises', '✓ passed')
    T.state('finds the order', '✗ 1 assertion')
    T.replace('echo hello', 'echo hello again')
    T.state('greets', '⚠ stale')
    T.cursor('contains: [hello]')
    vim.cmd.Speclens('run')
    T.state('greets', '✓ passed')
  end)

  test('signs, the list of failures and the status line follow the results', function()
    T.cursor('contains: [hello]')
    vim.cmd.Speclens('run')
    T.state('greets', '✓ passed')
    T.state('finds the order', '✗ 1 assertion')
    local function sign(name)
      local line = T.line('name: ' .. name)
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(T.buf, -1, { line, 0 }, { line, -1 }, { details = true })) do
        if mark[4].sign_hl_group and vim.startswith(mark[4].sign_hl_group, 'Diagnostic') and mark[4].priority == 11 then
          return vim.trim(mark[4].sign_text)
        end
      end
    end
    wait('the signs', function()
      return sign('greets') == '✓' and sign('finds the order') == '✗'
    end)
    assert(vim.startswith(require('speclens').statusline(T.buf), '✗1'), require('speclens').statusline(T.buf))
    vim.cmd.Speclens('failures')
    local list = vim.fn.getqflist()
    is(1, #list)
    is({ T.buf, T.line('order_id') + 1 }, { list[1].bufnr, list[1].lnum })
    assert(list[1].text:find('order_id', 1, true), list[1].text)
    vim.cmd.cclose()

    T.replace('54321', '12345')
    wait('the sign of success', function()
      return sign('finds the order') == '✓'
    end)
    T.replace('12345', '54321')
    wait('the sign of failure', function()
      return sign('finds the order') == '✗'
    end)
    T.replace('echo hello', 'sleep 0.3; echo bye')
    wait('no sign of an older command', function()
      return sign('greets') == '?'
    end)
    T.cursor('contains: [hello]')
    vim.cmd.Speclens('run')
    wait('its failure', function()
      return sign('greets') == '✗'
    end)
    T.replace('54321', '12345')
    wait('one failure', function()
      return vim.startswith(require('speclens').statusline(T.buf), '✗1 ')
    end)
    vim.cmd.Speclens('run-failed')
    wait('a second run', function()
      return sign('greets') == '…'
    end)
    wait('its end', function()
      return sign('greets') == '✗'
    end)
  end)

  test(':Speclens transcript shows what the last run did', function()
    T.cursor('order_id')
    vim.cmd.Speclens('transcript')
    local buf = wait('the window', function()
      return vim.iter(vim.api.nvim_list_bufs()):find(function(it)
        return vim.api.nvim_buf_get_name(it):find('speclens://transcript/finds the order', 1, true)
      end)
    end)
    local text = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
    assert(text:find('status: delivered', 1, true), text)
    vim.cmd.only()
  end)

  test('an open transcript follows the claims', function()
    T.state('finds the order', '✗ 1 assertion')
    T.cursor('order_id')
    vim.cmd.Speclens('transcript')
    local function text()
      local buf = vim.iter(vim.api.nvim_list_bufs()):find(function(it)
        return vim.api.nvim_buf_get_name(it):find('speclens://transcript/finds the order', 1, true)
      end)
      return buf and table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n') or ''
    end
    wait('a failing claim', function()
      return text():find('✗', 1, true)
    end)
    T.replace('54321', '12345')
    wait('no failing claim', function()
      return not text():find('✗', 1, true) and text():find('✓', 1, true)
    end)
    vim.cmd.only()
  end)

  test('the dash of a test belongs to it', function()
    vim.api.nvim_set_current_buf(T.buf)
    T.replace('echo hello', 'echo hello at the dash')
    T.state('greets', '⚠ stale')
    vim.api.nvim_win_set_cursor(0, { T.line('name: greets') + 1, 0 })
    vim.cmd.Speclens('run')
    T.state('greets', '✓ passed')
  end)

  test('a test under way offers to stop it', function()
    T.replace('echo hello', 'sleep 600')
    T.run_lens('name: greets', '▶ Run')
    T.state('greets', '■ Stop')
    T.run_lens('name: greets', '■ Stop')
    T.state('greets', '⊘ cancelled')
  end)

  if vim.lsp.codelens.enable then -- 0.12 has this key
    test('grx runs and stops without a question', function()
      T.replace('echo hello', 'sleep 600')
      -- Inside the test, where there is no lens.
      T.cursor('command: sleep 600')
      vim.api.nvim_feedkeys('grx', 'xm', false)
      T.state('greets', '■ Stop')
      T.cursor('name: greets')
      vim.api.nvim_feedkeys('grx', 'xm', false)
      T.state('greets', '⊘ cancelled')
    end)
  end

  test(':Speclens stop ends a run', function()
    T.replace('echo hello', 'sleep 600')
    T.run_lens('name: greets', '▶ Run')
    T.state('greets', '… running')
    vim.cmd.Speclens('stop')
    wait('the end of the run', function()
      return not table.concat(T.titles('name: greets')):find('running', 1, true)
    end)
    for _, it in ipairs(failures()) do
      assert(it.lnum > T.line('name: finds the order'), it.message) -- those of earlier tests stay
    end
  end)

  test('what a run found is accepted, and assertions are written from it', function()
    T.replace('notContain:', 'notContains:')
    T.state('finds the order', '✗ 1 assertion')
    wait('the results of this text', function()
      return #T.problems() == 0 and #failures() == 1
    end)
    local function act(title, line, column)
      vim.api.nvim_win_set_cursor(0, { line + 1, column })
      local offered = {}
      vim.lsp.buf.code_action({
        filter = function(action)
          table.insert(offered, action.title)
          return vim.startswith(action.title, title)
        end,
        apply = true,
      })
      return offered
    end
    local function text()
      return table.concat(vim.api.nvim_buf_get_lines(T.buf, 0, -1, false), '\n')
    end
    local offered = act('Accept what the run found', T.line('order_id'), 23)
    wait('the accepted value', function()
      return text():find('order_id: "12345"', 1, true) or #offered > 0 and not vim.iter(offered):any(function(title)
        return vim.startswith(title, 'Accept')
      end) and error(vim.inspect(offered))
    end)
    T.state('finds the order', '✓ passed')
    T.state('finds the order', 'faults noticed')
    act('Write assertions for `finds the order`', T.line('name: finds the order'), 10)
    wait('the written assertions', function()
      return text():find('trajectory:', 1, true)
    end)
    T.state('finds the order', '✓ passed')
  end)

  test(':Speclens completes its subcommands', function()
    is({ 'ask', 'check', 'dry-run', 'failures', 'judge', 'log', 'preconditions', 'restart', 'run', 'run-failed', 'run-file', 'run-with', 'stop', 'transcript', 'trust' }, vim.fn.getcompletion('Speclens ', 'cmdline'))
    is({ 'run', 'run-failed', 'run-file', 'run-with' }, vim.fn.getcompletion('Speclens ru', 'cmdline'))
  end)

  test(':Speclens restart brings a new server', function()
    local client = T.client()
    local old = client.id
    vim.schedule(function() -- while the old server ends
      T.request(client, 'textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params(T.buf) })
    end)
    vim.cmd.Speclens('restart')
    wait('another client', function()
      local client = vim.lsp.get_clients({ bufnr = T.buf, name = 'speclens' })[1]
      return client and client.id ~= old and client.initialized
    end)
    wait('the diagnostic', function()
      return #T.problems() == 1
    end)
    T.state('greets', 'Run')
  end)

  test(':checkhealth speclens finds the program, its version and the server', function()
    vim.cmd.checkhealth('speclens')
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    for _, words in ipairs({ 'version 0.1.', 'server running', 'kindlm.yaml', 'trusted' }) do
      assert(text:find(words, 1, true), text)
    end
    assert(not text:find('ERROR', 1, true) and not text:find('WARNING', 1, true), text)
    vim.cmd.bdelete()
  end)

  test('other YAML files are left alone', function()
    vim.cmd.edit('compose.yaml')
    is('yaml', vim.bo.filetype)
    is({}, vim.lsp.get_clients({ bufnr = 0 }))
  end)

  test('the server stops with its client', function()
    T.stop(T.client())
    wait('no client', function()
      return #vim.lsp.get_clients({ bufnr = T.buf }) == 0
    end)
  end)
end

return scenario
