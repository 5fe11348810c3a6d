-- A test is a sentence and a function. Prints `ok NAME`, or `not ok NAME: REASON`, for each, then ends Neovim.

local T = { failed = 0 }

T.buf = vim.api.nvim_get_current_buf()
T.original = vim.api.nvim_buf_get_lines(T.buf, 0, -1, false)
local script = vim.fs.joinpath(vim.fs.dirname(vim.api.nvim_buf_get_name(T.buf)), 'agent.sh')
local script_lines = vim.fn.readfile(script)

local function say(verdict, name)
  io.stdout:write(verdict .. ' ' .. name:gsub('\n', '\n  ') .. '\n')
end

--- Waits for an event, with a deadline in case it does not come.
function T.wait(what, seen)
  local answer
  local came = vim.wait(20000, function()
    answer = seen()
    return answer
  end, 20)
  if not came then
    error('never seen: ' .. what, 2)
  end
  return answer
end

function T.is(expected, actual)
  if not vim.deep_equal(expected, actual) then
    error(('expected %s, got %s'):format(vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

function T.test(name, check)
  -- Every test begins with the suite on disk.
  vim.api.nvim_set_current_buf(T.buf)
  if not vim.deep_equal(T.original, vim.api.nvim_buf_get_lines(T.buf, 0, -1, false)) then
    vim.api.nvim_buf_set_lines(T.buf, 0, -1, false, T.original)
  end
  local ok, reason = xpcall(check, debug.traceback)
  if ok then
    return say('ok', name)
  end
  T.failed = T.failed + 1
  local seen = vim.tbl_map(function(it)
    return ('%s: %s'):format(it.source, it.message)
  end, vim.diagnostic.get(T.buf))
  say('not ok', ('%s: %s\ndiagnostics: %s\nlenses: %s'):format(name, reason, vim.inspect(seen), vim.inspect(T.titles())))
end

--- Opens another file from disk; later tests begin with it.
function T.open(path)
  vim.cmd.edit({ path, bang = true })
  T.buf = vim.api.nvim_get_current_buf()
  T.original = vim.api.nvim_buf_get_lines(T.buf, 0, -1, false)
  T.client()
end

function T.finish()
  for _, client in ipairs(vim.lsp.get_clients()) do
    T.stop(client)
  end
  -- A Neovim that quits while it still writes to a server that has ended can end with SIGPIPE.
  T.wait('the end of the servers', function()
    return #vim.lsp.get_clients() == 0
  end)
  vim.cmd(T.failed == 0 and 'qa!' or 'cq!')
end

function T.stop(client)
  if vim.fn.has('nvim-0.11') == 1 then
    client:stop()
  else
    client.stop()
  end
end

--- Sends a request whose answer is nobody's business but the client's.
function T.request(client, method, params)
  if vim.fn.has('nvim-0.11') == 1 then
    client:request(method, params, nil, T.buf)
  else
    client.request(method, params, nil, T.buf)
  end
end

-- Screen contents ---------------------------------------------------------------------------------------------------

function T.client()
  return T.wait('the client', function()
    local client = vim.lsp.get_clients({ bufnr = T.buf, name = 'speclens' })[1]
    return client and client.initialized and client
  end)
end

function T.diagnostics(source)
  return vim.tbl_filter(function(it)
    return it.source == source
  end, vim.diagnostic.get(T.buf))
end

--- The errors in the text.
function T.problems()
  return vim.tbl_filter(function(it)
    return it.severity == vim.diagnostic.severity.ERROR or it.code == 'unknown-key' -- a hint while it is typed
  end, T.diagnostics('speclens'))
end

--- The text that a diagnostic underlines.
function T.underlined(it)
  return table.concat(vim.api.nvim_buf_get_text(T.buf, it.lnum, it.col, it.end_lnum, it.end_col, {}), '\n')
end

--- The 0-based line that contains `text`.
function T.line(text)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(T.buf, 0, -1, false)) do
    if line:find(text, 1, true) then
      return i - 1
    end
  end
  error('no line with ' .. text, 2)
end

--- The lenses that Neovim shows, all or those of the line that contains `text`. Shown, rather than requested from the server.
function T.lenses(text)
  local lenses = vim.lsp.codelens.enable and vim.lsp.codelens.get({ bufnr = T.buf }) or vim.lsp.codelens.get(T.buf)
  local line = text and T.line(text)
  return vim.iter(lenses)
    :map(function(it)
      return it.lens or it -- 0.12 tells the client, too
    end)
    :filter(function(lens)
      return not line or lens.range.start.line == line
    end)
    :totable()
end

function T.titles(text)
  return vim.tbl_map(function(lens)
    return lens.command and lens.command.title or '?'
  end, T.lenses(text))
end

function T.state(test, words)
  T.above('name: ' .. test, words)
end

--- Waits for a lens with these words on the line that contains `text`.
function T.above(text, words)
  T.wait(('“%s” above %s'):format(words, text), function()
    return vim.iter(T.titles(text)):any(function(title)
      return title:find(words, 1, true) ~= nil
    end)
  end)
end

-- User actions ------------------------------------------------------------------------------------------------------

function T.cursor(text)
  local line = T.line(text)
  local column = vim.api.nvim_buf_get_lines(T.buf, line, line + 1, false)[1]:find(text, 1, true)
  vim.api.nvim_win_set_cursor(0, { line + 1, column - 1 })
end

local choice -- of a lens

--- The choices of each question that the server asked; answered by `T.answer`.
T.questions = {}

vim.ui.select = function(items, options, done)
  local is_lens = options.kind == 'codelens'
  local wanted = is_lens and choice or T.answer
  local titles = vim.tbl_map(options.format_item, items)
  if not is_lens then
    table.insert(T.questions, titles)
  end
  for i, item in ipairs(items) do
    if titles[i]:find(wanted, 1, true) then
      return done(item)
    end
  end
  error(('no %s among %s'):format(wanted, vim.inspect(titles)))
end

--- Runs the lens with this title on the line, by `vim.lsp.codelens.run()` and, where the line has several, a choice from its list.
function T.run_lens(text, title)
  T.wait('a lens ' .. title, function()
    return vim.tbl_contains(T.titles(text), function(it)
      return it:find(title, 1, true) ~= nil
    end, { predicate = true })
  end)
  T.cursor(text)
  choice = title
  vim.lsp.codelens.run()
end

function T.replace(old, new)
  local line = T.line(old)
  local text = vim.api.nvim_buf_get_lines(T.buf, line, line + 1, false)[1]
  local from, to = text:find(old, 1, true)
  vim.api.nvim_buf_set_text(T.buf, line, from - 1, line, to, { new })
  vim.api.nvim_exec_autocmds('TextChanged', { buffer = T.buf }) -- what the main loop does after typing
end

--- Edits the script that a command names, in Neovim, and saves it.
function T.edit_script(lines)
  vim.cmd.edit(vim.fn.fnameescape(script))
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines or script_lines)
  vim.cmd.write()
  vim.cmd.buffer(T.buf)
end

T.script_lines = script_lines

return T
