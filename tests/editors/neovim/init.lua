-- The vimrc of the tests: this repository's plugin, one scenario, and no settings of the user.
-- A scenario sets itself up as a vimrc does, before any file is open, and runs its tests once Neovim has started.

vim.opt.runtimepath:prepend(vim.env.SPECLENS_PLUGIN)
vim.opt.swapfile = false
vim.opt.shadafile = 'NONE'
vim.cmd('filetype plugin on')

local scenario = dofile(vim.env.SPECLENS_TESTS .. '/' .. vim.env.SPECLENS_SCENARIO)
scenario.setup()

vim.api.nvim_create_autocmd('VimEnter', {
  once = true,
  callback = vim.schedule_wrap(function()
    local ok, reason = xpcall(function()
      local T = dofile(vim.env.SPECLENS_TESTS .. '/harness.lua')
      scenario.tests(T)
      T.finish()
    end, debug.traceback)
    if not ok then
      io.stdout:write(reason .. '\n')
      vim.cmd('cq!')
    end
  end),
})
