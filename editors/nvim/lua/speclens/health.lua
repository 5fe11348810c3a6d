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

local function check_client(client)
  local bufs = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':~:.')
  end, vim.tbl_keys(client.attached_buffers))
  vim.health.ok(('server running in %s, for %s'):format(client.config.root_dir or '?', table.concat(bufs, ', ')))
  if vim.tbl_get(client.config, 'init_options', 'trusted') then
    vim.health.ok('trusted by configuration: tests may run')
  else
    vim.health.info('not trusted by configuration: the first run asks, unless you trusted the folder with `:Speclens trust` or `speclens trust`')
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
