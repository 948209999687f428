"""What the micro-benchmarks should give on a platform of the R9 Nano kind, from its description
alone: `heddle dump --json`.

Latencies follow from three rules of the components' descriptions. A wire takes its cycles each way,
a crossbar its latency. What says it has a latency of L answers L - 1 cycles after it took a
request. A compute unit goes on one cycle after the answer, when its SIMD has its turn, every fourth
cycle.
"""
import math


class Platform:
    def __init__(self, dump):
        self.params = {i['path']: {k: v['value'] for k, v in i['params'].items()}
                       for i in dump['instances'] + dump['parts']}
        self.wires = dump['connections']
        self.links = {link['name']: link for link in dump['links']}
        self.hz = dump['clocks'][0]['hz']

    def get(self, path, name):
        return self.params[path][name]

    def count(self, start):
        return sum(1 for path in self.params if path.startswith(start)
                   and '.' not in path[len(start):])

    def wire(self, start, end):
        """Cycles of the first connection between paths that begin so."""
        for w in self.wires:
            if w['from'].startswith(start) and w['to'].startswith(end):
                return w['latency_cy']
        raise KeyError((start, end))

    def one_way(self, start, end, size):
        """Cycles of a message of `size` bytes over the first connection between paths that begin
        so, which has a latency or a link. Less than a cycle rounds up."""
        for w in self.wires:
            if w['from'].startswith(start) and w['to'].startswith(end):
                link = self.links.get(w.get('link'))
                return w['latency_cy'] if link is None else self.cycles(
                    link['latency_ps'] + size * 10**12 / link['bandwidth_bytes_per_s'])
        raise KeyError((start, end))

    def cycles(self, ps):
        return math.ceil(ps * self.hz / 10**12)


CU, L1V, L1S, L2, DRAM = ('gpu.sa[0].cu[0]', 'gpu.sa[0].l1v[0]', 'gpu.sa[0].l1s', 'gpu.l2[0]',
                          'gpu.dram[0]')
LINE = 64


def turn(p, cycles):
    simds = p.get(CU, 'simds')
    return math.ceil((cycles + 1) / simds) * simds


def vector_l1(p):
    wires = 2 * p.wire(CU + '.vmem', L1V)
    return (p.get(CU, 'vmem_latency') + wires + p.get(L1V + '.translation', 'latency')
            + p.get(L1V, 'latency') - 1)


def scalar_l1(p):
    wires = 2 * p.get('gpu.sa[0].scalar_bus', 'latency')
    return wires + p.get(L1S + '.translation', 'latency') + p.get(L1S, 'latency') - 1


def to_l2(p):
    return 2 * p.get('gpu.memory_xbar', 'latency') + p.get(L2, 'latency') - 1


def to_dram(p):
    return 2 * p.wire(L2 + '.bottom', DRAM) + p.get(DRAM, 'latency') - 1


def to_hbm(p, *extra):
    part = DRAM + '.timing'
    ns = sum(p.get(part, name) for name in ('tcl', 'tburst', 'controller') + extra)
    return 2 * p.wire(L2 + '.bottom', DRAM) + p.cycles(ns)


def to_l2_tlb(p):
    return 2 * p.wire(L1V + '.translate', 'gpu.l2tlb') + p.get('gpu.l2tlb', 'latency') - 1


def to_walk(p):
    ways = [p.one_way('gpu.l2tlb.bottom', 'mmu', size) for size in (20, 19)]
    return sum(ways) + p.get('mmu', 'walk_latency') - 1


def lds(p):
    return p.get(CU, 'lds_latency')


def units(p):
    return sum(p.count(f'gpu.sa[{i}].cu[') for i in range(p.count('gpu.sa[')))


def head_of_line(inputs, outputs):
    """Share of an output's cycles used when each of many inputs offers one request at a time, to a
    random output (Karol, Hluchyj and Morgan, IEEE Trans. Communications, 1987: queues of M/D/1)."""
    a = inputs / outputs
    return 1 + a - math.sqrt(1 + a * a)


def l2_banks(p):
    return p.count('gpu.l2[')


def l2_peak(p):
    return l2_banks(p) * p.get('gpu.memory_xbar', 'width')


def dram_peak(p):
    return l2_banks(p) * p.get(DRAM, 'width') * LINE


def mshr_bound(p, below):
    """Every miss holds one of a bank's MSHRs from the lookup of its tag to the answer."""
    return l2_banks(p) * p.get(L2, 'mshrs') * LINE / (below + p.get(L2, 'latency'))


def hbm_peak(p):
    part = DRAM + '.timing'
    seconds = p.get(part, 'tccd_s') * 1e-12
    return l2_banks(p) * p.get(part, 'channels') * LINE / seconds / p.hz


def hbm_refresh(p):
    part = DRAM + '.timing'
    return p.get(part, 'trfc') / p.get(part, 'trefi')


def resident(p, wavefronts, vgprs=4, sgprs=16, lds_bytes=0):
    """Wavefronts of one compute unit for work-groups of so many, whose wavefronts are spread
    evenly."""
    pool = 'gpu.cp.pool'

    def up(value, granularity):
        return math.ceil(value / granularity) * granularity
    a_simd = min(p.get(pool, 'wavefronts'),
                 p.get(pool, 'vgprs') // up(vgprs, p.get(pool, 'vgpr_granularity')),
                 p.get(pool, 'sgprs') // up(sgprs, p.get(pool, 'sgpr_granularity')))
    groups = min(p.get(pool, 'work_groups'), a_simd * p.get(pool, 'simds') // wavefronts)
    if lds_bytes:
        groups = min(groups, p.get(pool, 'lds') // up(lds_bytes, p.get(pool, 'lds_granularity')))
    return groups * wavefronts
