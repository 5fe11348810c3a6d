-- speclens for Neovim: starts the server and gives its commands names. The meaning of specs and the results of runs come from the server.
-- Neovim 0.10 lacks vim.lsp.config, 0.10 and 0.11 lack code lenses that refresh themselves: each difference is handled in one place below.

local M = {}

local results = require('speclens.results')

--- The numbers of the tests of a buffer by their results, for a status line.
M.statusline = results.statusline

--- Files that are specs by their names. The one list of them in this plugin.
M.files = {
  ['kindlm.yaml'] = true,
  ['kindlm.yml'] = true,
  ['cli-bench.yaml'] = true,
  ['cli-bench.yml'] = true,
  ['clawspec.yaml'] = true,
  ['clawspec.yml'] = true,
  ['coverage-ledger.yaml'] = true,
  ['speclens.yaml'] = true,
}

--- Files that are specs by their names and places.
M.places = {
  '/tests/scenarios%.yaml$',
  '/tests/pipeline%.yaml$',
  '/tests/pipelines/[^/]+%.ya?ml$',
  '/tests/handoffs/[^/]+%.ya?ml$',
  '/tests/baselines%.yaml$',
}

--- File name endings of scripted models.
local SCRIPT = '.script.yaml'

--- Whether a buffer begins like a spec, or is in the suite of a `cli-bench.yaml`: task files and contracts may have any name.
--- The server then decides, and reports nothing about other files.
local function holds_spec(buf, name)
  local head = '\n' .. table.concat(vim.api.nvim_buf_get_lines(buf, 0, 200, false), '\n') .. '\n'
  local function has(...)
    for _, pattern in ipairs({ ... }) do
      if not head:find(pattern) then
        return false
      end
    end
    return true
  end
  return has('\n# ?speclens: dialect=')
    or has('\nkindlm:%s*%S')
    or has('\ncli:%s*%S', '\ntasks:')
    or has('\n%- ', '\n[ -]+intent:', '\n[ -]+assert:')
    or has('\ntarget:', '\nscenarios:')
    or has('\nversion:', '\nhandoff:')
    or has('\nversion:', '\npipeline:')
    or (name ~= '' and vim.fs.root(buf, { 'cli-bench.yaml', 'cli-bench.yml' }) ~= nil)
end

--- Whether a file is a contract by its name and place.
local function has_place(name)
  return vim.iter(M.places):any(function(place)
    return name:find(place) ~= nil
  end)
end

local function is_spec(buf, name)
  return M.files[vim.fs.basename(name)] or vim.endswith(name, SCRIPT) or has_place(name) or holds_spec(buf, name)
end

M.version_needed = '0.1'

local has_config = vim.fn.has('nvim-0.11') == 1
local has_self_refreshing_lenses = vim.lsp.codelens.enable ~= nil -- 0.12

---@param buf integer
---@return string? root nil where speclens has nothing to say
local function root(buf)
  local name = vim.api.nvim_buf_get_name(buf)
  if is_spec(buf, name) then
    return vim.fs.root(buf, { 'speclens.yaml', 'clawspec.yaml', '.git' })
      or has_place(name) and (name:match('^(.*)/skills/') or name:match('^(.*)/agents/')) -- these are in a workspace of ClawSpec
      or vim.fs.root(buf, { 'cli-bench.yaml', 'cli-bench.yml', 'kindlm.yaml', 'kindlm.yml' })
      or vim.fs.dirname(name)
  end
end

--- Calls a method of a client: 0.11 made them methods, before they were fields.
local function call(client, method, ...)
  if has_config then
    return client[method](client, ...)
  end
  return client[method](...)
end

local function notify(message, level)
  vim.notify('speclens: ' .. message, level or vim.log.levels.INFO)
end

local function clients(buf)
  return vim.lsp.get_clients({ name = 'speclens', bufnr = buf })
end

-- Code lenses before 0.12 -------------------------------------------------------------------------------------------

local asked, ask_again = {}, {} -- by client and buffer: a client that was stopped never answers

--- vim.lsp.codelens.refresh() of 0.10 drops a refresh that comes while another is under way, and with it the result of a run.
local function refresh_lenses(client, buf)
  if not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local key = client.id .. ':' .. buf
  if asked[key] then
    ask_again[key] = true
    return
  end
  asked[key] = true
  local sent = call(client, 'request', 'textDocument/codeLens', { textDocument = vim.lsp.util.make_text_document_params(buf) }, function(...)
    asked[key] = nil
    vim.lsp.codelens.on_codelens(...)
    if ask_again[key] then
      ask_again[key] = nil
      refresh_lenses(client, buf)
    end
  end, buf)
  if not sent then
    asked[key] = nil -- the server is going away
  end
end

local function lens_refresh_handler(_, _, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  for buf in pairs(client and client.attached_buffers or {}) do
    refresh_lenses(client, buf)
  end
  return vim.NIL
end

-- Answers of the server ---------------------------------------------------------------------------------------------

--- The server commands that return pages, with the part of the buffer's name that identifies the page.
local PAGES = { ['speclens.showTranscript'] = 'transcript', ['speclens.dryRun'] = 'dry-run', ['speclens.preconditions'] = 'preconditions' }

--- Pages that are fixed at the time of the request: another request would observe the present again.
local MOMENTARY = { ['speclens.preconditions'] = true }

local function title_of(command, arguments)
  return PAGES[command] .. '/' .. arguments[1].test
end

local function buffer_of(title)
  return vim.fn.bufnr('^' .. vim.fn.fnameescape('speclens://' .. title) .. '$')
end

local function set_text(buf, text)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n'))
  vim.bo[buf].modifiable = false
end

local shown = {} -- commands and arguments of the pages that were shown, by title

--- Shows a page in a window of its own, the same for the same test.
local function show_text(title, text, language)
  local name = 'speclens://' .. title
  local buf = buffer_of(title)
  if buf == -1 then
    buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buf, name)
  end
  set_text(buf, text)
  vim.bo[buf].filetype = language == 'markdown' and 'markdown' or ''
  local window = vim.fn.bufwinid(buf)
  if window == -1 then
    vim.cmd('botright split')
    vim.api.nvim_win_set_buf(0, buf)
  end
end

--- Has the server execute a command; `done` gets the result.
local function execute(client, command, arguments, done)
  call(client, 'request', 'workspace/executeCommand', { command = command, arguments = arguments }, function(failure, result)
    if failure then
      notify(failure.message, vim.log.levels.ERROR)
    elseif done then
      done(result)
    end
  end)
end

local asked_for = {} -- by title: how often its page was asked for again

--- Asks again for a page that was shown.
local function refresh_page(client, command, arguments)
  local title = title_of(command, arguments)
  local number = (asked_for[title] or 0) + 1
  asked_for[title] = number
  execute(client, command, arguments, function(result)
    local buf = buffer_of(title)
    -- Answers may overtake each other: the one to the last request counts.
    if buf ~= -1 and asked_for[title] == number then
      set_text(buf, result.text)
    end
  end)
end

local function show_page(client, command, arguments)
  execute(client, command, arguments, function(result)
    if type(result) ~= 'table' or not result.text then
      return -- the server has said why
    end
    local title = title_of(command, arguments)
    show_text(title, result.text, result.language)
    if MOMENTARY[command] then
      return
    end
    shown[title] = { command = command, arguments = arguments }
    -- A change during the request did not find a window to refresh.
    refresh_page(client, command, arguments)
  end)
end

--- The results of a spec have changed: its visible pages are requested again.
local function refresh_pages(client, uri)
  for title, page in pairs(shown) do
    local buf = buffer_of(title)
    if page.arguments[1].uri == uri and buf ~= -1 and vim.fn.bufwinid(buf) ~= -1 then
      refresh_page(client, page.command, page.arguments)
    end
  end
end

-- Configuration -----------------------------------------------------------------------------------------------------

--- The client's configuration: lsp/speclens.lua returns it, and 0.10 starts with it.
function M.config()
  local config = {
    name = 'speclens',
    cmd = { 'speclens', 'lsp' },
    filetypes = { 'yaml' },
    -- Called by 0.11 and later: only files with the right names get a client, not all of YAML.
    root_dir = function(buf, start)
      local dir = root(buf)
      if dir then
        start(dir)
      end
    end,
    -- Client-side effects of lenses.
    commands = {},
  }
  for command in pairs(PAGES) do
    config.commands[command] = function(of_lens, context)
      local client = assert(vim.lsp.get_client_by_id(context.client_id or clients(context.bufnr)[1].id))
      show_page(client, command, of_lens.arguments)
    end
  end
  config.capabilities = vim.lsp.protocol.make_client_capabilities()
  config.capabilities.experimental = { testItems = true, commands = { commands = vim.tbl_keys(PAGES) } }
  config.handlers = {
    ['speclens/testsChanged'] = function(_, params, context)
      local client = vim.lsp.get_client_by_id(context.client_id)
      if client then
        results.changed(function(...)
          return call(client, 'request', ...)
        end, params.uri)
      end
    end,
  }
  if not has_self_refreshing_lenses then
    config.capabilities.workspace.codeLens = { refreshSupport = true }
    config.handlers['workspace/codeLens/refresh'] = lens_refresh_handler
  end
  return config
end

local chosen -- what setup() was given, as client configuration

--- The configuration with the user's options.
function M.chosen_config()
  return has_config and vim.lsp.config.speclens or vim.tbl_deep_extend('force', M.config(), chosen or {})
end

--- Starts the server for a buffer, if it is a spec.
local function start(buf)
  local dir = root(buf)
  if dir then
    vim.lsp.start(vim.tbl_extend('force', M.chosen_config(), { root_dir = dir }), { bufnr = buf })
  end
end

--- @param options? { cmd?: string[], trusted?: boolean, signs?: boolean, settings?: table } and whatever else vim.lsp.ClientConfig knows
function M.setup(options)
  chosen = vim.deepcopy(options or {})
  chosen.init_options = vim.tbl_extend('keep', chosen.init_options or {}, { trusted = chosen.trusted, settings = chosen.settings })
  chosen.settings = chosen.settings and { speclens = chosen.settings }
  results.signs = chosen.signs ~= false
  chosen.trusted, chosen.signs = nil, nil
  if has_config then
    vim.lsp.config('speclens', chosen)
    vim.lsp.enable('speclens')
    return
  end
  vim.api.nvim_create_autocmd('FileType', {
    group = vim.api.nvim_create_augroup('speclens.start', {}),
    pattern = 'yaml',
    callback = function(event)
      start(event.buf)
    end,
  })
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].filetype == 'yaml' then
      start(buf)
    end
  end
end

--- Notifies the server that a file was saved. Neovim on Linux watches no files, and a script that a command names is part of the test.
local function tell_saved(event)
  local file = vim.fs.normalize(vim.api.nvim_buf_get_name(event.buf))
  for _, client in ipairs(clients()) do
    local watches = vim.tbl_get(client.capabilities or {}, 'workspace', 'didChangeWatchedFiles', 'dynamicRegistration')
    local dir = client.config.root_dir
    if not watches and dir and vim.startswith(file, vim.fs.normalize(dir) .. '/') then
      call(client, 'notify', 'workspace/didChangeWatchedFiles', { changes = { { uri = vim.uri_from_fname(file), type = 2 } } })
    end
  end
end

--- Called for every buffer of the server.
function M.attached(client, buf)
  vim.api.nvim_create_autocmd('DiagnosticChanged', {
    group = vim.api.nvim_create_augroup('speclens.transcripts.' .. buf, {}),
    buffer = buf,
    callback = function()
      refresh_pages(client, vim.uri_from_bufnr(buf))
    end,
  })
  vim.api.nvim_create_autocmd('BufWritePost', { group = vim.api.nvim_create_augroup('speclens.saved', {}), callback = tell_saved })
  vim.lsp.inlay_hint.enable(true, { bufnr = buf })
  if has_self_refreshing_lenses then
    vim.lsp.codelens.enable(true, { bufnr = buf })
    vim.keymap.set('n', 'grx', M.press, { buffer = buf, desc = 'speclens: run or stop' })
    return
  end
  refresh_lenses(client, buf)
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'TextChanged' }, {
    group = vim.api.nvim_create_augroup('speclens.lenses.' .. buf, {}),
    buffer = buf,
    callback = function()
      for _, it in ipairs(clients(buf)) do
        refresh_lenses(it, buf)
      end
    end,
  })
end

-- :Speclens ---------------------------------------------------------------------------------------------------------

local function with_client(act)
  local client = clients(0)[1]
  if not client then
    notify('no server for this buffer; see :checkhealth speclens', vim.log.levels.WARN)
    return
  end
  act(client)
end

--- Calls `act` with the argument of the server's own *run* action at the cursor: the server knows which test that is.
local function with_test(act)
  with_client(function(client)
    local params = vim.lsp.util.make_range_params(0, client.offset_encoding)
    params.context = { diagnostics = {}, only = { 'source.speclens.run' }, triggerKind = 1 }
    call(client, 'request', 'textDocument/codeAction', params, function(failure, actions)
      if failure then
        return notify(failure.message, vim.log.levels.ERROR)
      end
      for _, action in ipairs(actions or {}) do
        local command = type(action.command) == 'table' and action.command or action
        if command.command == 'speclens.run' then
          return act(client, command.arguments)
        end
      end
      notify('no test at the cursor', vim.log.levels.WARN)
    end, 0)
  end)
end

--- Presses the first lens of the cursor line, *Run* or *Stop*, and elsewhere that of the test. `vim.lsp.codelens.run()` asks which lens.
function M.press()
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  with_client(function(client)
    for _, shown in ipairs(vim.lsp.codelens.get({ bufnr = 0, client_id = client.id })) do
      local command = shown.lens.command
      if shown.lens.range.start.line == line and command then
        return execute(client, command.command, command.arguments)
      end
    end
    with_test(function(_, arguments)
      execute(client, 'speclens.run', arguments)
    end)
  end)
end

local function this_file()
  return { { uri = vim.uri_from_bufnr(0) } }
end

local subcommands = {
  run = function()
    with_test(function(client, arguments)
      execute(client, 'speclens.run', arguments)
    end)
  end,

  ['run-with'] = function()
    with_test(function(client, arguments)
      execute(client, 'speclens.runWith', arguments)
    end)
  end,

  ask = function()
    with_test(function(client, arguments)
      execute(client, 'speclens.ask', arguments)
    end)
  end,

  ['run-file'] = function()
    with_client(function(client)
      execute(client, 'speclens.runFile', this_file())
    end)
  end,

  ['run-failed'] = function()
    with_client(function(client)
      local test = { uri = vim.uri_from_bufnr(0), tests = results.failed(vim.uri_from_bufnr(0)) }
      if #test.tests == 0 then
        return notify('no test of this file failed')
      end
      execute(client, 'speclens.run', { test })
    end)
  end,

  check = function()
    with_client(function(client)
      execute(client, 'speclens.checkWorkspace', {}, function()
        vim.diagnostic.setqflist({ severity = { min = vim.diagnostic.severity.WARN }, title = 'speclens check' })
      end)
    end)
  end,

  failures = function()
    with_client(function(client)
      if results.list_failures(client.offset_encoding) == 0 then
        notify('no assertion of an open file failed')
      end
    end)
  end,

  stop = function()
    with_client(function(client)
      execute(client, 'speclens.cancel', {}, function(result)
        local count = result.cancelled
        notify(('%d %s stopped'):format(count, count == 1 and 'run' or 'runs'))
      end)
    end)
  end,

  transcript = function()
    with_test(function(client, arguments)
      show_page(client, 'speclens.showTranscript', arguments)
    end)
  end,

  ['dry-run'] = function()
    with_test(function(client, arguments)
      show_page(client, 'speclens.dryRun', arguments)
    end)
  end,

  preconditions = function()
    with_test(function(client, arguments)
      show_page(client, 'speclens.preconditions', arguments)
    end)
  end,

  judge = function()
    with_test(function(client, arguments)
      execute(client, 'speclens.judge', arguments)
    end)
  end,

  log = function()
    vim.cmd.tabedit(vim.fn.fnameescape(vim.lsp.get_log_path and vim.lsp.get_log_path() or vim.lsp.log.get_filename()))
  end,

  -- For good: the program remembers the folder. To be trusted by configuration, setup({ trusted = true }).
  trust = function()
    with_client(function(client)
      local dir = client.config.root_dir
      vim.system({ client.config.cmd[1], 'trust', dir }, { text = true }, vim.schedule_wrap(function(done)
        if done.code ~= 0 then
          return notify(vim.trim(done.stderr), vim.log.levels.ERROR)
        end
        call(client, 'notify', 'speclens/trust', { trusted = true })
        notify('tests may now run in ' .. dir)
      end))
    end)
  end,

  restart = function()
    local bufs = {}
    results.forget()
    for _, client in ipairs(clients()) do
      vim.list_extend(bufs, vim.tbl_keys(client.attached_buffers))
      -- Gone for good, else vim.lsp.start() would take the old one again.
      local function gone()
        return vim.lsp.get_client_by_id(client.id) == nil
      end
      -- Requests that plugins or timers still send are refused; nobody waits for their answers.
      client.handlers = setmetatable({}, {
        __index = function()
          return function()
            return vim.NIL
          end
        end,
      })
      call(client, 'stop')
      if not vim.wait(2000, gone, 20) then
        call(client, 'stop', true)
        vim.wait(2000, gone, 20)
      end
    end
    if #bufs == 0 then
      bufs = { vim.api.nvim_get_current_buf() }
    end
    vim.iter(bufs):filter(vim.api.nvim_buf_is_loaded):each(start)
  end,
}

function M.command(words)
  -- `cancel` is another name of `stop`.
  local run = subcommands[words[1] == 'cancel' and 'stop' or words[1]]
  if not run or #words > 1 then
    return notify(('unknown command `:Speclens %s`; the commands are %s'):format(table.concat(words, ' '), table.concat(M.complete(''), ', ')), vim.log.levels.ERROR)
  end
  run()
end

function M.complete(lead)
  local names = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, vim.tbl_keys(subcommands))
  table.sort(names)
  return names
end

return M
