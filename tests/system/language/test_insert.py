"""Components of one's own in the connections of composites that somebody else has written."""
import json


def test_what_is_inserted_is_as_if_it_were_written(measure):
    """At an `out` and at an `in` port: the same statistics but for their order and the names of
    the platform and its model."""
    def statistics(platform):
        done = measure(f"tests/system/platforms/insert.heddle --platform {platform}")
        found = json.loads(done.stats_file.read_text())
        del found["platform"], found["stamp"]["model"], found["stamp"]["description"]
        return found
    assert statistics("inserted") == statistics("by_hand")


def test_new_component_may_stand_in_a_gpu(heddle, run, tmp_path):
    """What `heddle new` writes passes everything on, fences too."""
    heddle(f"new component step -o {tmp_path}")
    text = open("platforms/tiny.heddle", encoding="utf-8").read()
    (tmp_path / "p.heddle").write_text('import "step";\n' + text.replace(
        "user_queues = queues;", "user_queues = queues; insert step : step at sa.l1v.bottom;"))
    run(f"{tmp_path}/p.heddle -- fences")
