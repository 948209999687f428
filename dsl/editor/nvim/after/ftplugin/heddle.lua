-- Starts `heddle lsp` for a .heddle file, one for a folder of work. Neovim 0.7 and later.
if vim.fn.executable('heddle') == 0 then
  return
end

-- The folder in which names are looked for: that of the repository, or of the file.
local function root_of(file)
  local git = vim.fn.finddir('.git', vim.fn.fnamemodify(file, ':p:h') .. ';')
  return git ~= '' and vim.fn.fnamemodify(git, ':p:h:h') or vim.fn.fnamemodify(file, ':p:h')
end

local function keys(buffer)
  local function map(key, action)
    vim.keymap.set('n', key, action, { buffer = buffer, silent = true })
  end
  map('K', vim.lsp.buf.hover)
  map('gd', vim.lsp.buf.definition)
  map('grr', vim.lsp.buf.references)
  map('grn', vim.lsp.buf.rename)
  map('gra', vim.lsp.buf.code_action)
  map('gO', vim.lsp.buf.document_symbol)
  vim.bo[buffer].omnifunc = 'v:lua.vim.lsp.omnifunc' -- CTRL-X CTRL-O
end

local buffer = vim.api.nvim_get_current_buf()
local root = root_of(vim.api.nvim_buf_get_name(buffer))
local config = {
  name = 'heddle',
  cmd = { 'heddle', 'lsp' },
  root_dir = root,
  workspace_folders = { { name = root, uri = vim.uri_from_fname(root) } },
}
keys(buffer)
if vim.lsp.start then -- 0.8
  vim.lsp.start(config)
  return
end
heddle_clients = heddle_clients or {}
local id = heddle_clients[root]
if id == nil or vim.lsp.get_client_by_id(id) == nil then
  id = vim.lsp.start_client(config)
  heddle_clients[root] = id
end
vim.lsp.buf_attach_client(buffer, id)
