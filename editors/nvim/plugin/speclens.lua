-- Here rather than in setup(), so that it also works with only vim.lsp.enable('speclens').
if vim.g.loaded_speclens then
  return
end
vim.g.loaded_speclens = true

vim.api.nvim_create_user_command('Speclens', function(args)
  require('speclens').command(args.fargs)
end, {
  nargs = '+',
  desc = 'Run agent test specs and manage the speclens server',
  complete = function(lead)
    return require('speclens').complete(lead)
  end,
})

vim.api.nvim_create_autocmd('LspAttach', {
  group = vim.api.nvim_create_augroup('speclens', {}),
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == 'speclens' then
      require('speclens').attached(client, event.buf)
    end
  end,
})
