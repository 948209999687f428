"""What is declared, as pages and tables: `heddle doc`, `heddle dot --html` and `heddle params`.

markup     what pages share: style, texts of documentation comments, files
params     the command `heddle params`: parameters as a table
reference  `heddle doc`: a page a component, as Markdown and as HTML
walk       `heddle dot --html`: a platform as one page to walk through, and the command `heddle dot`

The facts are those of `heddle dump --json --part reference` and `--part diagrams`
(docs/reference/dump.md).
"""
