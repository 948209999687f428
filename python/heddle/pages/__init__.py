"""Pages of what is declared: `heddle doc`.

page       style, texts of documentation comments, files
reference  a page a component, as Markdown and as HTML

The facts are those of `heddle dump --json --only reference` (docs/reference/dump.md).
"""
