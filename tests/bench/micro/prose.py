"""Lines of at most 98 columns for generated pages; tables and pictures stay as they are."""
import re
import textwrap


def wrap(page):
    out, fence = [], False
    for line in page.split('\n'):
        fence ^= line.startswith('```')
        if len(line) <= 98 or line.startswith(('|', '!', '#', '```')):
            out.append(line)
            continue
        indent = '    ' if fence else ' ' * len(re.match(r'(?:- |\d+\. )?', line)[0])
        lines = textwrap.wrap(line, 96 if fence else 98, subsequent_indent=indent,
                              break_long_words=False, break_on_hyphens=False)
        out += [part + ' \\' for part in lines[:-1]] + lines[-1:] if fence else lines
    return '\n'.join(out)


def put(text, name, lines):
    """The page with these lines between the comments that begin and end a generated part."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: begin + "\n".join(lines) + "\n" + end, text,
                  count=1, flags=re.DOTALL)
