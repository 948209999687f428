"""The page of `heddle run --view`, served while the run goes on.

status_page   memory that the simulating processes write (runtime/engine/status_page.h), as
              statistics
server        what the page asks for

`heddle run` makes the file of the status pages, starts this as `python3 -m heddle run view FILE`,
and ends it by closing its standard input."""
