"""What takes long and has found little is marked `full` and run with --full only."""


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also the tests marked `full`")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        left_out = [item for item in items if item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
