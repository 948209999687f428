#!/bin/sh
# What `heddle new` writes works at once, in a folder far from the sources, and its test notices a
# broken component.
# Usage: new_component.sh HEDDLE
set -eu
heddle=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HEDDLE_CACHE="${HEDDLE_CACHE:-$dir/cache}"
cd "$dir"

"$heddle" new component my_filter > said
grep -q 'heddle run my_filter_test.heddle' said
"$heddle" check my_filter_test.heddle
"$heddle" fmt --check my_filter.heddle my_filter_test.heddle
"$heddle" run my_filter_test.heddle --stats good.json
python3 - <<'PYTHON'
import json
stats = json.load(open("good.json"))["components"]
unit = stats["unit"]
assert unit["requests"] == unit["replies"] == stats["tester"]["latency"]["count"] == 10000, stats
PYTHON

# A second time: refused, and nothing changed.
cp my_filter.c before
if "$heddle" new component my_filter 2> refusal; then echo "overwrote my_filter"; exit 1; fi
grep -q 'is there already' refusal
cmp my_filter.c before

# One payload is not passed on.
bytes='mem_write_payload_bytes(LINE)'
sed -i "s/memcpy(to, from, $bytes);/memset(to, 0, $bytes); (void)from;/" my_filter.c
if cmp -s my_filter.c before; then echo "nothing was broken"; exit 1; fi
if "$heddle" run my_filter_test.heddle 2> failure; then
    echo "a lost write went unnoticed"
    exit 1
fi
grep -q 'was answered with 0x' failure

# One answer is never sent.
sed 's/my_filter_top_reply_done(c, m->tag);/;/' before > my_filter.c
if "$heddle" run my_filter_test.heddle 2> hang; then echo "a hang went unnoticed"; exit 1; fi
grep -q 'requests unanswered' hang

"$heddle" new platform my_gpu -o platforms > said
"$heddle" check platforms/my_gpu.heddle
"$heddle" fmt --check platforms/my_gpu.heddle
"$heddle" dot platforms/my_gpu.heddle --svg -o my_gpu.svg
grep -q '</svg>' my_gpu.svg
# A part: another policy than the default one, and as right; and one that names a line that may not
# go is noticed.
"$heddle" new part my_policy -o parts > said
grep -q 'heddle run parts/my_policy_test.heddle' said
"$heddle" fmt --check parts/*.heddle
"$heddle" run parts/my_policy_test.heddle --stats mine.json
"$heddle" run parts/my_policy_test.heddle --set cache.replacement=lru --stats lru.json
python3 - <<'PYTHON'
import json
mine, lru = (json.load(open(f))["components"] for f in ("mine.json", "lru.json"))
assert mine["cache.replacement"]["spared"] > 0, mine
assert mine["cache"]["hits"] != lru["cache"]["hits"], lru
PYTHON
sed -i 's/            return way;/            return 0;/' parts/my_policy.c
if "$heddle" run parts/my_policy_test.heddle --set cache.mshrs=4 2> failure; then
    echo "a wrong victim went unnoticed"
    exit 1
fi
if "$heddle" new policy my_policy 2> failure; then echo "'policy' is no kind"; exit 1; fi
grep -q "is not 'component', 'part' or 'platform'" failure
echo "new component, part and platform work, and broken ones are noticed"
