"""Fragments of the page table on platforms whose TLBs keep pages, and pages of all sizes: programs
find their data."""
import pytest

from programs import only_full

MID_CACHE = "docs/examples/mid_cache/mid_cache.heddle"
SMALL = "--set gpu.arrays=1 --set gpu.banks=2 --set gpu.vram=256MiB"


@pytest.mark.parametrize("platform, fragment", [
    (MID_CACHE, "8KiB"), (MID_CACHE, "64KiB"), ("platforms/tiny.heddle", "8KiB"),
    *only_full((MID_CACHE, "16KiB"), (MID_CACHE, "2MiB"), ("platforms/tiny.heddle", "2MiB"),
               (f"platforms/r9nano.heddle {SMALL}", "8KiB"),
               (f"platforms/r9nano_mgpusim.heddle {SMALL}", "64KiB"),
               (f"platforms/r9nano_x4.heddle {SMALL}", "8KiB"))])
@pytest.mark.parametrize("program", ["spmv", *only_full("transpose", "bfs", "radix_sort")])
def test_tlbs_without_fragments_find_every_page(run, platform, fragment, program):
    run(f"{platform} --generic --set driver.fragment={fragment} -- {program}")


@pytest.mark.parametrize("page, fragment", [("64KiB", "256KiB"), ("2MiB", "2MiB")])
def test_pages_of_other_sizes_are_found(run, page, fragment):
    run(f"{MID_CACHE} --generic --set driver.page_size={page} --set driver.fragment={fragment}"
        " -- spmv")


@pytest.mark.parametrize("fragments", ["true", "false"])
def test_levels_may_differ_in_what_an_entry_covers(run, fragments):
    """First levels that keep pages above a TLB that keeps fragments, and the other way round."""
    run("platforms/mi210.heddle --generic --set gpu.arrays=2 --set gpu.channels=2"
        f" --set gpu.l2=32KiB --set gpu.vram=256MiB --set gpu.xcd.l2tlb.fragments={fragments}"
        f" --set gpu.xcd.sa.l1v.translation.fragments={'false' if fragments == 'true' else 'true'}"
        " -- scratch")
