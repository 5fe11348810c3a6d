-- :checkhealth speclens

local M = {}

local function check_program(cmd)
  local program = cmd[1]
  local path = vim.fn.exepath(program)
  if path == '' then
    vim.health.error(('`%s` is not an executable program'):format(program), {
      'put `speclens` on your PATH (`cargo install --path server` in its repository),',
      "or name it: require('speclens').setup({ cmd = { '/path/of/speclens', 'lsp' } })",
    })
    return
  end
  local ok, answer = pcall(function()
    return vim.system({ path, '--version' }, { text = true }):wait(10000)
  end)
  local version = ok and vim.trim(answer.stdout or ''):match('^speclens (%d+%.%d+%.%S+)$')
  local needed = require('speclens').version_needed
  if not version then
    vim.health.error(('%s is not speclens: unexpected output of --version'):format(path))
  elseif not vim.startswith(version, needed .. '.') then
    vim.health.warn(('%s is version %s, but this plugin needs %s.x'):format(path, version, needed))
  else
    vim.health.ok(('%s, version %s'):format(path, version))
  end
end

--- The trusted folder that contains a folder, if there is one.
local function trusted_by(program, folder)
  local ok, answer = pcall(function()
    return vim.system({ program, 'trust', '--list' }, { text = true }):wait(10000)
  end)
  return vim.iter(ok and vim.split(answer.stdout or '', '\n', { trimempty = true }) or {}):find(function(trusted)
    return folder == trusted or vim.startswith(folder, trusted .. '/')
  end)
end

local function check_client(client)
  local bufs = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':~:.')
  end, vim.tbl_keys(client.attached_buffers))
  vim.health.ok(('server running in %s, for %s'):format(client.config.root_dir or '?', table.concat(bufs, ', ')))
  if vim.tbl_get(client.config, 'init_options', 'trusted') then
    vim.health.ok('trusted by configuration: tests may run')
    return
  end
  local root = client.config.root_dir and vim.uv.fs_realpath(client.config.root_dir)
  local by = root and trusted_by(client.config.cmd[1], root)
  if by then
    vim.health.ok(('%s is trusted: tests may run'):format(by))
  else
    vim.health.info(('%s is not trusted: the first run asks; `:Speclens trust` trusts it'):format(root or 'the folder'))
  end
end

function M.check()
  vim.health.start('speclens')
  if vim.fn.has('nvim-0.10') == 0 then
    vim.health.error('Neovim 0.10 or later is required')
    return
  end
  local clients = vim.lsp.get_clients({ name = 'speclens' })
  local config = clients[1] and clients[1].config or require('speclens').chosen_config()
  if type(config.cmd) == 'table' then
    check_program(config.cmd)
  end
  for _, client in ipairs(clients) do
    check_client(client)
  end
  if #clients == 0 then
    vim.health.warn('no server is running', {
      'call require("speclens").setup(), then open a spec with filetype yaml, such as kindlm.yaml',
    })
  end
end

return M
