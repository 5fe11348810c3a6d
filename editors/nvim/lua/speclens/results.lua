-- The results of the tests: signs beside them, a list of those that failed, and a line with their numbers. The server says what is known.

local M = {}

--- Whether signs are shown.
M.signs = true

local namespace = vim.api.nvim_create_namespace('speclens.results')

local SIGNS = {
  passed = { '✓', 'DiagnosticOk' },
  failed = { '✗', 'DiagnosticError' },
  error = { '!', 'DiagnosticError' },
  unknown = { '?', 'DiagnosticWarn' },
  running = { '…', 'DiagnosticInfo' },
}

--- The order of the states in a line of numbers.
local STATES = { 'failed', 'error', 'running', 'unknown', 'passed' }

local files = {} -- the tests of files, by URI
local asking = {} -- whether the tests of a file are to be asked for again, by URI

local function each_result(file, act)
  for _, test in ipairs(file and file.tests or {}) do
    if type(test.result) == 'table' then
      act(test, test.result)
    end
  end
end

local function show_signs(uri)
  local buf = vim.uri_to_bufnr(uri)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  each_result(M.signs and files[uri], function(test, result)
    local sign = SIGNS[result.state]
    -- A later change may have removed the line.
    if sign and test.range.start.line < vim.api.nvim_buf_line_count(buf) then
      vim.api.nvim_buf_set_extmark(buf, namespace, test.range.start.line, 0, { sign_text = sign[1], sign_hl_group = sign[2], priority = 11 })
    end
  end)
end

--- Asks for the tests of a file. One request at a time: the answer to the last one counts.
local function ask(request, uri)
  if asking[uri] ~= nil then
    asking[uri] = true
    return
  end
  asking[uri] = false
  local sent = request('speclens/tests', { uri = uri }, function(failure, answer)
    local again = asking[uri]
    asking[uri] = nil
    if not failure and answer then
      files[uri] = answer.files[1]
      show_signs(uri)
      vim.api.nvim_exec_autocmds('User', { pattern = 'SpeclensResults', data = { uri = uri } })
    end
    if again then
      ask(request, uri)
    end
  end)
  if not sent then
    asking[uri] = nil -- the server is going away
  end
end

--- The server says that the tests of a file have changed. Lists of files are not shown here.
---@param request function sends a request: method, parameters, handler
---@param uri? string
function M.changed(request, uri)
  if type(uri) == 'string' then
    ask(request, uri)
  end
end

--- Forgets requests that a server that has ended never answers.
function M.forget()
  asking = {}
end

--- The names of the tests of a file that failed.
function M.failed(uri)
  local names = {}
  each_result(files[uri], function(test, result)
    if result.state == 'failed' or result.state == 'error' then
      table.insert(names, test.name)
    end
  end)
  return names
end

--- Puts the failing assertions of all files that are open into the quickfix list, and opens it. Returns their number.
function M.list_failures(encoding)
  local items = {}
  for uri, file in pairs(files) do
    each_result(file, function(_, result)
      if result.state == 'failed' or result.state == 'error' then
        for _, message in ipairs(result.messages) do
          local item = vim.lsp.util.locations_to_items({ { uri = uri, range = message.range } }, encoding)[1]
          table.insert(items, vim.tbl_extend('force', item, { text = vim.split(message.message, '\n')[1], type = 'E' }))
        end
      end
    end)
  end
  table.sort(items, function(one, other)
    return one.filename .. ('%09d'):format(one.lnum) < other.filename .. ('%09d'):format(other.lnum)
  end)
  vim.fn.setqflist({}, ' ', { title = 'failing assertions', items = items })
  if #items > 0 then
    vim.cmd('botright copen')
  end
  return #items
end

--- The numbers of the tests of a buffer by their results, such as `✗1 ✓3`, for a status line. Empty without any result.
---@param buf? integer
function M.statusline(buf)
  local counts = {}
  each_result(files[vim.uri_from_bufnr(buf or 0)], function(_, result)
    counts[result.state] = (counts[result.state] or 0) + 1
  end)
  local parts = {}
  for _, state in ipairs(STATES) do
    if counts[state] then
      table.insert(parts, SIGNS[state][1] .. counts[state])
    end
  end
  return table.concat(parts, ' ')
end

return M
