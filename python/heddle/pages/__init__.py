"""Pages of what is declared: `heddle doc` and `heddle dot --html`.

page       what both share: style, texts of documentation comments, files
reference  `heddle doc`: a page a component, as Markdown and as HTML
walk       `heddle dot --html`: a platform as one page to walk through, and the command `heddle dot`

The facts are those of `heddle dump --json --part reference` and `--part diagrams`
(docs/reference/dump.md).
"""
