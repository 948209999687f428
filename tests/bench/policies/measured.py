"""What the measurements of policies share: a program on a platform, its statistics, and rows of
tables."""
import argparse
import json
import subprocess
import sys
import tempfile


def statistics(heddle, platform, sets, program):
    """Statistics of a run that must pass. program: path and arguments."""
    with tempfile.NamedTemporaryFile(suffix='.json') as stats:
        command = [heddle, 'run', platform, '--generic', *sets, '--stats', stats.name,
                   '--stats-no-host', '--', *map(str, program)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 or 'PASS' not in done.stdout:
            sys.exit(f'{" ".join(command)}: exit status {done.returncode}\n{done.stdout}')
        return json.load(open(stats.name))


def line(cells):
    return '| ' + ' | '.join(cells) + ' |'


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument('heddle')
    parser.add_argument('programs')
    parser.add_argument('--write')
    parser.add_argument('--check')
    parser.add_argument('--all', action='store_true')
    return parser.parse_args()
