-- With a general YAML server on the same buffer, nothing appears twice.

local scenario = {}

function scenario.setup()
  vim.api.nvim_create_autocmd('FileType', {
    pattern = 'yaml',
    callback = function(event)
      vim.lsp.start({
        name = 'yaml-language-server',
        cmd = { vim.env.YAML_LANGUAGE_SERVER, '--stdio' },
        root_dir = vim.fn.getcwd(),
        settings = { yaml = { validate = true, completion = true, hover = true, schemaStore = { enable = false } } },
      }, { bufnr = event.buf })
    end,
  })
  vim.api.nvim_exec_autocmds('FileType', { pattern = 'yaml' })
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' }, trusted = true })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  --- `source: text` of every underlined range, as often as it occurs.
  local function all()
    local list = vim.tbl_map(function(it)
      return ('%s: %s'):format(it.source, T.underlined(it))
    end, vim.diagnostic.get(T.buf))
    table.sort(list)
    return list
  end

  --- Waits until both servers have reported on the text: each answers in order, so the answer to a later request comes after.
  local function settled()
    for _, client in ipairs(vim.lsp.get_clients({ bufnr = T.buf })) do
      local answered
      local request = vim.fn.has('nvim-0.11') == 1 and function(...)
        return client:request(...)
      end or client.request
      request('textDocument/documentSymbol', { textDocument = vim.lsp.util.make_text_document_params(T.buf) }, function()
        answered = true
      end, T.buf)
      wait(client.name .. ' answers', function()
        return answered
      end)
    end
  end

  test('both attach', function()
    wait('two clients', function()
      local clients = vim.lsp.get_clients({ bufnr = T.buf })
      return #clients == 2 and clients[1].initialized and clients[2].initialized
    end)
  end)

  test('a misspelled key is there once', function()
    wait('the diagnostic', function()
      return #T.problems() == 1
    end)
    settled()
    is({ 'speclens: kindlm: 1', 'speclens: notContain' }, all()) -- the first is a remark
  end)

  test('lenses are there once', function()
    T.state('greets', 'Run')
    is({ '▶ Run' }, T.titles('name: greets'))
  end)

  test('a failing claim is there once', function()
    T.run_lens('name: finds the order', '▶ Run')
    wait('the failure', function()
      return #T.diagnostics('speclens run') == 1
    end)
    settled()
    is({ 'speclens run: "54321"', 'speclens: kindlm: 1', 'speclens: notContain' }, all())
  end)

  test('a key is offered once', function()
    local line = T.line('contains: [hello]')
    vim.api.nvim_buf_set_lines(T.buf, line, line, false, { '        m' })
    local params = vim.lsp.util.make_position_params(0, 'utf-16')
    params.position = { line = line, character = 9 }
    local answers = assert(vim.lsp.buf_request_sync(T.buf, 'textDocument/completion', params, 20000))
    local count = 0
    for _, answer in pairs(answers) do
      for _, item in ipairs(answer.result and (answer.result.items or answer.result) or {}) do
        count = count + (item.label == 'maxLength' and 1 or 0)
      end
    end
    is(1, count)
  end)
end

return scenario
