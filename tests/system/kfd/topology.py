"""What `heddle topology` prints, as tables; and what is known of the shipped platforms."""
import collections

import harness

FIRST_SIMD = 0x80001000

# Of a GPU. Sizes of caches in KiB, memory in MiB, memory bandwidth in GB/s, that of its link to the
# processor in MB/s.
Gpu = collections.namedtuple("Gpu", "count target units waves dies vector_l1 l2 infinity memory "
                                    "bandwidth mhz link")
KNOWN = {
    "apu": Gpu(1, "gfx803", 8, 40, 1, 16, 512, 0, 2048, 34, 1108, 17000),
    "managed4": Gpu(4, "gfx803", 4, 40, 1, 16, 256, 0, 1024, 128, 1000, 32000),
    "mi100": Gpu(1, "gfx908", 120, 40, 1, 16, 8192, 0, 32768, 1229, 1502, 32000),
    "mi210": Gpu(1, "gfx90a", 104, 32, 1, 16, 8192, 0, 65536, 1638, 1700, 32000),
    "mi210_x2": Gpu(2, "gfx90a", 104, 32, 1, 16, 8192, 0, 65536, 1638, 1700, 32000),
    "mi250x": Gpu(2, "gfx90a", 110, 32, 1, 16, 8192, 0, 65536, 1638, 1700, 32000),
    "mi300a": Gpu(1, "gfx942", 228, 32, 6, 32, 4096, 262144, 131072, 5326, 2100, 57900),
    "mi300x": Gpu(1, "gfx942", 304, 32, 8, 32, 4096, 262144, 196608, 5326, 2100, 32400),
    "mi300x_x8": Gpu(8, "gfx942", 304, 32, 8, 32, 4096, 262144, 196608, 5326, 2100, 32400),
    "node8": Gpu(8, "gfx803", 2, 40, 1, 16, 256, 0, 4096, 128, 1000, 64000),
    "packet_direct": Gpu(1, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 1024, 1000, 15750),
    "packet_trace": Gpu(1, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 1024, 1000, 15750),
    "pod64": Gpu(64, "gfx803", 2, 40, 1, 16, 256, 0, 4096, 128, 1000, 64000),
    "r9nano": Gpu(1, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 512, 1000, 15750),
    "r9nano_mgpusim": Gpu(1, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 1024, 1000, 32000),
    "r9nano_x4": Gpu(4, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 512, 1000, 32000),
    "r9nano_x4_l2_all": Gpu(4, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 1024, 1000, 32000),
    "r9nano_x8_fabric": Gpu(8, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 512, 1000, 32000),
    "ring4": Gpu(4, "gfx803", 64, 40, 1, 16, 2048, 0, 4096, 1024, 1000, 32000),
    "tiny": Gpu(1, "gfx803", 4, 40, 1, 16, 256, 0, 1024, 128, 1000, 32000),
}
NO_GPU_OF_AMD = ["a100", "a100_x4", "h100", "qv100", "rtx2060", "rtx3070", "titanx"]
TOO_MANY = ["pod512"]


def properties(text):
    """Lines "name value" as a table; lists stay text."""
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


def files_of(text):
    """{"nodes/0/gpu_id": "0\\n", ...}"""
    parts = (part.split(" <==\n", 1) for part in text.split("==> ")[1:])
    return {name: content[:-1] for name, content in parts}


class Topology:
    """The files of a platform."""

    def __init__(self, platform, *settings):
        words = [harness.HEDDLE, "topology", f"platforms/{platform}.heddle"]
        words += [word for setting in settings for word in ("--set", setting)]
        self.files = files_of(harness.call(words).stdout)

    def node(self, number, *rest):
        return properties(self.files["/".join(["nodes", str(number), *rest, "properties"])])

    def all_of(self, number, kind):
        count = self.node(number)[{"caches": "caches_count", "io_links": "io_links_count",
                                   "p2p_links": "p2p_links_count",
                                   "mem_banks": "mem_banks_count"}[kind]]
        return [self.node(number, kind, str(i)) for i in range(count)]

    @property
    def gpus(self):
        return range(1, sum(name.endswith("/gpu_id") for name in self.files))

    def links(self, number):
        """By the node at the other end."""
        return {link["node_to"]: link for link in self.all_of(number, "io_links")}

    def caches(self, number, level, kind):
        """Those of a level: "data" or "instructions"."""
        found = {"data": 9, "instructions": 10}[kind]
        return [cache for cache in self.all_of(number, "caches")
                if cache["level"] == level and cache["type"] == found]
