"""./dev: what it is not told to do it does not do."""
import pytest

from harness import call

REFUSED = {
    "format x": "format takes nothing, not 'x'",
    "build --all": "build takes nothing, not '--all'",
    "demo quick": "demo takes nothing, not 'quick'",
    "docs all": "docs takes nothing, not 'all'",
    "clean all": "clean takes nothing, not 'all'",
    "lint layout": "lint takes -k NAME or nothing, not 'layout'",
    "fuzz long": "fuzz takes a number of seconds, not 'long'",
    "setup all": "setup takes --full or nothing, not 'all'",
}


@pytest.mark.parametrize("words", REFUSED)
def test_words_that_mean_nothing_are_refused(words):
    call(["./dev", *words.split()], REFUSED[words], status=1)


@pytest.mark.parametrize("words", ["--help", "-h", "format --help", "clean -h", "test unit --help"])
def test_help_does_nothing_else(words):
    done = call(["./dev", *words.split()], "usage: ./dev demo", "remove build folders")
    assert "==" not in done.output
