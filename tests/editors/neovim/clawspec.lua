-- A ClawSpec workspace with a scripted gateway.

local scenario = {}

function scenario.setup()
  require('speclens').setup({ cmd = { vim.env.SPECLENS_BIN, 'lsp' }, trusted = true })
end

function scenario.tests(T)
  local test, wait, is = T.test, T.wait, T.is

  local function failures()
    return vim.tbl_filter(function(it)
      return it.severity == vim.diagnostic.severity.ERROR
    end, T.diagnostics('speclens run'))
  end

  --- The buffer of a page about the scenario.
  local function page(name)
    return vim.iter(vim.api.nvim_list_bufs()):find(function(it)
      return vim.api.nvim_buf_get_name(it):find('speclens://' .. name .. '/newsletter-drafts', 1, true)
    end)
  end

  local function text(buf)
    return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
  end

  local function back()
    vim.api.nvim_set_current_win(vim.fn.bufwinid(T.buf))
    vim.cmd.only()
  end

  --- Waits until the cursor is in this file.
  local function arrived(pattern)
    wait('the file ' .. pattern, function()
      return vim.api.nvim_buf_get_name(0):find(pattern) ~= nil
    end)
  end

  test('the lens of the preconditions opens a page, and nothing is triggered', function()
    T.open('clawspec/skills/newsletter/tests/scenarios.yaml')
    T.run_lens('name: newsletter-drafts', 'Preconditions')
    local buf = wait('the page', function()
      return page('preconditions')
    end)
    is('markdown', vim.bo[buf].filetype)
    assert(text(buf):find('A run would start now', 1, true), text(buf))
    is(0, vim.fn.isdirectory('clawspec/memory/drafts'))
    back()
  end)

  test('a scenario runs from its lens, and a failure is on its field', function()
    T.run_lens('name: newsletter-drafts', '▶ Run')
    T.above('name: newsletter-drafts', '✓ passed')
    is({}, failures())
    T.replace('guaranteed', 'Spring')
    T.above('name: newsletter-drafts', '✗ 1 assertion failed')
    wait('the failure', function()
      return #failures() == 1
    end)
    is(T.line('Spring]'), failures()[1].lnum)
    assert(T.underlined(failures()[1]):find('Spring', 1, true), T.underlined(failures()[1]))

    -- The word in the artifact.
    local related = failures()[1].user_data.lsp.relatedInformation[1]
    vim.lsp.util.show_document(related.location, T.client().offset_encoding, { focus = true })
    arrived('clawspec/memory/drafts/.*%-newsletter%.md$')
    assert(vim.api.nvim_get_current_line():find('Spring', 1, true), vim.api.nvim_get_current_line())
    vim.api.nvim_set_current_buf(T.buf)
  end)

  test('the path of a log leads to the line that was found', function()
    T.cursor('memory/logs/run.log')
    vim.lsp.buf.definition()
    arrived('clawspec/memory/logs/run%.log$')
    assert(vim.api.nvim_get_current_line():find('^draft saved: '), vim.api.nvim_get_current_line())
    vim.api.nvim_set_current_buf(T.buf)
  end)

  test('the lens of the result leads to the transcript with its spans', function()
    T.run_lens('name: newsletter-drafts', '✓ passed')
    local buf = wait('the page', function()
      return page('transcript')
    end)
    for _, part in ipairs({ '### Gateway', '### Spans', '█' }) do
      assert(text(buf):find(part, 1, true), text(buf))
    end
    back()
  end)

  test(':Speclens judge judges what is there, and says so', function()
    T.cursor('name: newsletter-drafts')
    vim.cmd.Speclens('judge')
    T.above('name: newsletter-drafts', 'evaluated without a run')
  end)
end

return scenario
