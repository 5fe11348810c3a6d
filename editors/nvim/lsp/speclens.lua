-- Neovim 0.11 and later find this by vim.lsp.enable('speclens'); change it with vim.lsp.config('speclens', {...}).
return require('speclens').config()
