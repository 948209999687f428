"""The estimate of a launch with gaps, computed again from its windows in the statistics, by its
definition in components/sampling/launch_gaps.h. For test_sampled_mode.py."""
import math

from sample_model import check_close


def check_launch(launch, record):
    """What is left out takes the mean of the instructions a cycle around it."""
    windows = [text.split() for text in launch["windows"]]
    cycles = record["cycles"] - launch["left_out"]
    for before, here in zip(windows, windows[1:]):
        speeds = [float(w[0]) / float(w[1]) for w in (before, here)]
        speed = speeds[0] if "thin" in here else sum(speeds) / 2
        cycles += float(here[2]) / speed
    if launch["behind"]:
        cycles += launch["behind"] * float(windows[-1][1]) / float(windows[-1][0])
    check_close(f"cycles of launch {launch['launch']}", launch["cycles"], cycles)
    assert record["wavefront_instructions"] == launch["wavefront_instructions"]
    left_out = sum(float(w[2]) for w in windows) + launch["behind"]
    executed = launch["wavefront_instructions"] - launch["detailed_wavefront_instructions"]
    assert executed <= left_out or math.isclose(executed, left_out)
    assert len(windows) < 2 or executed > 0
