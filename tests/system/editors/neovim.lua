-- Runs in headless Neovim with the files of dsl/editor: opens FILE, waits for the server, and writes
-- what a user would see to RESULT, as JSON.
local file, result = vim.env.FILE, vim.env.RESULT
local told = { messages = {} }

local function wait(what, condition)
  if not vim.wait(20000, condition, 20) then
    error(what .. ' did not come')
  end
end

local function place(text)
  local line = vim.fn.search('\\V' .. text, 'w')
  vim.fn.cursor(line, vim.fn.match(vim.fn.getline(line), '\\V' .. text) + 1)
end

local function request(method, more)
  local params = vim.lsp.util.make_position_params()
  for key, value in pairs(more or {}) do
    params[key] = value
  end
  local answers = assert(vim.lsp.buf_request_sync(0, method, params, 20000))
  local _, answer = next(answers)
  assert(answer and not answer.error, vim.inspect(answer))
  return answer.result
end

local function run()
  vim.cmd('edit ' .. file)
  told.filetype = vim.bo.filetype
  told.highlighted = vim.fn.synIDattr(vim.fn.synID(1, 1, 1), 'name')
  wait('the server', function() return #vim.lsp.buf_get_clients(0) > 0 end)
  wait('a diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
  told.diagnostics = vim.diagnostic.get(0)
  place('wais')
  vim.cmd('normal! cwways')
  vim.cmd('stopinsert')
  wait('the end of the diagnostic', function() return #vim.diagnostic.get(0) == 0 end)
  place('ways')
  told.hover = request('textDocument/hover').contents.value
  told.definition = request('textDocument/definition').uri
  place('16KiB')
  told.unit = request('textDocument/hover').contents.value
  local above = vim.fn.search('top -> l1', 'w') - 1
  vim.fn.append(above, '    l2.')
  local items = request('textDocument/completion', { position = { line = above, character = 7 } })
  told.completion = vim.tbl_map(function(one) return one.label end, items)
  vim.fn.deletebufline('%', above + 1)
  place('l2 : cache')
  vim.lsp.buf.rename('second')
  wait('the rename', function() return vim.fn.search('second : cache', 'nw') > 0 end)
  vim.lsp.buf.formatting_sync(nil, 20000)
  told.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n') .. '\n'
end

local ok, problem = pcall(run)
told.problem = not ok and tostring(problem) or nil
vim.fn.writefile({ vim.fn.json_encode(told) }, result)
vim.cmd('qall!')
