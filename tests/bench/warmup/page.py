"""Tables that stand between two marks of a page."""


def option(arguments, name):
    """The value behind `name`, taken out of the arguments; None: it is not there."""
    if name not in arguments:
        return None
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at:at + 2]
    return value


def publish(text, target, begin, end):
    """Prints it, or puts it between the marks of the page `target`."""
    if not target:
        print(text)
        return
    with open(target) as file:
        page = file.read()
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    with open(target, "w") as file:
        file.write(f"{before}{begin}\n\n{text}\n\n{end}{after}")
