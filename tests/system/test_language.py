"""Descriptions: what is checked in is correct and formatted, and mistakes are named."""
import glob
import json
import re

import pytest

from harness import ROOT

PLATFORMS = (glob.glob("platforms/*.heddle") + glob.glob("tests/system/*.heddle")
             + glob.glob("tests/system/hang/*.heddle"))
LIBRARY = glob.glob("components/*/*/*.heddle")
EXAMPLES = glob.glob("docs/examples/*/*.heddle") + glob.glob("tests/system/newcomer/base/*.heddle")


@pytest.mark.parametrize("file", sorted(PLATFORMS))
def test_platform_has_no_errors(heddle, file):
    heddle(f"check {file}")


@pytest.mark.parametrize("file", sorted(LIBRARY))
def test_library_has_no_errors(heddle, file):
    heddle(f"check {file}")


@pytest.mark.parametrize("name", ["tiny", "array"])
def test_newcomers_files_have_no_errors_before_the_mistake(heddle, name):
    heddle(f"check tests/system/newcomer/base/{name}.heddle")


def test_descriptions_are_formatted(heddle):
    assert len(PLATFORMS) > 10 and len(LIBRARY) > 30 and len(EXAMPLES) > 5
    heddle(" ".join(["fmt --check", *PLATFORMS, *LIBRARY, *EXAMPLES]))


def test_unknown_parameter_is_named(run):
    run("platforms/tiny.heddle --set gpu.array=2 -- vectoradd", "arrays", status=1)


def test_unknown_option_is_answered_with_the_known_one(run):
    run("platforms/tiny.heddle --stat x -- vectoradd", "stats", status=2)


@pytest.mark.parametrize("setting", ["gpu.cp.vgprs=128", "gpu.sa[0].cu[2].lds=32KiB"])
def test_command_processor_and_compute_units_agree_on_resources(heddle, setting):
    heddle(f"check platforms/tiny.heddle --set '{setting}'",
           "simds, wavefronts, vgprs, sgprs and lds", status=1)


def test_circle_of_interconnects_without_bubble_is_an_error(heddle):
    heddle("check platforms/r9nano_x8_fabric.heddle --set topology=ring"
           " --set gpu.router.bubble=false", "E0506", "circle of 8 interconnects", status=1)


@pytest.mark.parametrize("platform", sorted(glob.glob("platforms/*.heddle")))
def test_each_number_of_a_platform_says_what_it_rests_on(heddle, platform):
    """One of five kinds, and a source, which only an assumption need not have."""
    rows = json.loads(heddle(f"params {platform} --json").stdout)
    kinds = {"measured", "published", "derived", "fitted", "assumed"}
    assert [r["parameter"] for r in rows if r["basis"] not in kinds] == []
    assert [r["parameter"] for r in rows if r["basis"] != "assumed" and not r["said_by"]] == []
    assert len(rows) > 50


def test_word_of_a_source_is_checked(heddle, tmp_path):
    """A list of sources shows what the comment of a setting says, and --set what is set."""
    source = heddle("params platforms/r9nano.heddle --sources --set gpu.l2.latency=20cy").stdout
    assert re.search(r"^gpu\.sa.*\.l1v.*\.latency +125cy .* measured +a load that", source, re.M)
    assert re.search(r"^gpu\.l2\[\*\]\.latency +20cy .* override", source, re.M)
    text = (ROOT / "platforms/tiny.heddle").read_text().replace("Measured:", "Mesured:", 1)
    (tmp_path / "tiny.heddle").write_text(text)
    heddle(f"check {tmp_path}/tiny.heddle", "warning: 'Mesured:' is no kind of source .*W0710")
