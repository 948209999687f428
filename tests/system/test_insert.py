"""Components of one's own in the connections of composites that somebody else has written."""
import json


def test_what_is_inserted_is_as_if_it_were_written(measure):
    """At an `out` and at an `in` port: the same statistics but for their order and the names of
    the platform and its model."""
    def statistics(platform):
        done = measure(f"tests/system/insert.heddle --platform {platform}")
        found = json.loads(done.stats_file.read_text())
        del found["platform"], found["stamp"]["model"]
        return found
    assert statistics("inserted") == statistics("by_hand")
