"""What takes long and has found little is marked `full` and run with --full only."""


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="also the tests marked `full`")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--full"):
        chosen = {False: [], True: []}
        for item in items:
            chosen[item.get_closest_marker("full") is not None].append(item)
        config.hook.pytest_deselected(items=chosen[True])
        items[:] = chosen[False]
