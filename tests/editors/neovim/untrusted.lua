-- Without trust a run asks first.

local scenario = {}

function scenario.setup()
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' } })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  --- Answers the server's next question; gives the choices that it offered.
  local function answer(title)
    local asked = {}
    local select = vim.ui.select
    vim.ui.select = function(items, options, done)
      vim.ui.select = select
      for _, item in ipairs(items) do
        asked[#asked + 1] = item.title
      end
      for _, item in ipairs(items) do
        if item.title == title then
          return done(item)
        end
      end
      done(nil)
    end
    return asked
  end

  local function ran()
    return vim.uv.fs_stat('ran.txt') ~= nil
  end

  test('a refused run does not run', function()
    T.replace('echo hello', 'echo hello; echo yes >> ran.txt')
    T.state('greets', 'Run')
    local asked = answer('Cancel')
    T.run_lens('name: greets', '▶ Run')
    wait('the question', function()
      return #asked > 0
    end)
    is({ 'Trust and run', 'Cancel' }, asked)
    assert(not ran())
  end)

  test('an answer of trust runs, and is not asked for again', function()
    T.replace('echo hello', 'echo hello; echo yes >> ran.txt')
    local asked = answer('Trust and run')
    T.run_lens('name: greets', '▶ Run')
    wait('the question', function()
      return #asked > 0
    end)
    T.state('greets', '✓ passed')
    assert(ran())
    asked = answer('Cancel')
    T.replace('echo hello;', 'echo hello you;')
    T.run_lens('name: greets', '▶ Run')
    T.state('greets', '✓ passed')
    is({}, asked)
  end)
end

return scenario
