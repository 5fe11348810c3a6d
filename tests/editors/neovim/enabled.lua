-- Without the plugin's setup(): only vim.lsp.enable('speclens'), with the program on PATH. 0.11 and later.

local scenario = {}

function scenario.setup()
  vim.lsp.enable('speclens')
end

function scenario.tests(T)
  T.test('attaches, checks and shows lenses', function()
    T.client()
    T.wait('the diagnostic', function()
      return #T.problems() == 1
    end)
    T.state('greets', 'Run')
  end)

  T.test('leaves other YAML files alone', function()
    vim.cmd.edit('compose.yaml')
    T.is({}, vim.lsp.get_clients({ bufnr = 0 }))
  end)
end

return scenario
