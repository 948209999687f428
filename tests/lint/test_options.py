"""What `heddle run` hands to a platform is what something asks for: a key that is spelt otherwise
on one of the two sides would be lost in silence, or refused. Lists of words in help are whole."""
import re

from house import ROOT

ROW = re.compile(r'^(?:OPTION|AGAIN)\(\w+, "([^"]+)",\s+(?:NULL|"([^"]+)"),\s+(\w+),\s+\w+,(.*?)"',
                 re.M | re.S)
HANDED = re.compile(r'(?:hand_over|hand_over_number|options_put)'
                    r'\((?:&?[\w>-]+, |sizeof \w+, )*"([^"]+)"')
HANDED_TIME = re.compile(r'hand_over_time\(\w+, [\w>-]+, "([^"]+)", "([^"]+)"\)')
ASKED = re.compile(r'\boption_(?:text|line|file|folder|flag|number|word|is_set_early)'
                   r'\(\s*"([^"]+)"')


def sources(*folders):
    return "".join(path.read_text() for folder in folders
                   for path in sorted((ROOT / folder).rglob("*.c")))


def keys_of_rows():
    rows = (ROOT / "command/options/options.def").read_text()
    for name, argument, kind, rest in ROW.findall(rows):
        if re.search(r"'[=:]'", rest):
            named = kind.startswith(("READ", "WRITE")) and re.match(r"([a-z]+)=", argument)
            yield name[2:] + (f" {named[1]}" if named else "")


def test_keys_are_handed_and_asked_for():
    hands = sources("command", "components/hip")
    handed = set(keys_of_rows()) | set(HANDED.findall(hands))
    handed.update(key for pair in HANDED_TIME.findall(hands) for key in pair)
    asked = set(ASKED.findall(sources("runtime", "components")))
    assert handed - asked == set(), "nothing asks for these keys"
    assert asked - handed == set(), "these keys are never handed over"


def test_help_of_checks_names_all_of_them():
    rows = (ROOT / "command/options/options.def").read_text()
    text = re.search(r'OPTION\(checks, (.*?)\)\n', rows, re.S)[1]
    checks = re.findall(r'^CHECK\(\w+, "(\w+)"\)',
                        (ROOT / "components/checks/finding.def").read_text(), re.M)
    assert checks and set(checks) - set(re.findall(r"\w+", text)) == set()
