"""`heddle debug`: a real gdb, forwards and backwards; and damaged packets."""
import json
import os
import random
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from harness import HEDDLE, ROOT, call, cuda_cc, hipcc, with_usual_code
from programs import only_full

from heddle.debug import process

PAGE = Path("docs/guide/debug.md").read_text(encoding="utf-8")
TINY = "platforms/tiny.heddle"
CHANNEL = Path("components/checks/debugger/debug_channel.h")


def test_numbers_of_the_channel_are_those_of_its_header():
    text = re.sub(r"/\*.*?\*/", "", CHANNEL.read_text(encoding="utf-8"), flags=re.S)
    enums = dict(re.findall(r"enum debug_(\w+) \{(.*?)\}", text, re.S))
    assert set(enums) == {"ask", "rule_kind", "go", "reason"}
    for kind, body in enums.items():
        names = re.findall(r"DEBUG_(\w+)", body)
        assert [getattr(process, name) for name in names] == [
            number + (kind == "ask") for number in range(len(names))], kind


@pytest.fixture(scope="module")
def squares(tmp_path_factory):
    """The program of the guide, compiled with lines."""
    folder = tmp_path_factory.mktemp("debug")
    source = folder / "squares.cpp"
    source.write_text(re.search(r"^```cpp squares.cpp\n(.*?)^```", PAGE, re.M | re.S)[1])
    call(["env", "-C", folder, *hipcc(), "--offload-arch=gfx803", "-g", "-O1", "squares.cpp", "-o",
          "squares"])
    return folder / "squares"


class Debugged:
    """A program that waits for a debugger."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen(
            with_usual_code([HEDDLE, "debug", *words]), stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, **options)
        self.said = ""
        while not (found := re.search("gdb -x (.*)", self.said)):
            line = self.process.stderr.readline()
            assert line, f"it has ended, and said: {self.said}"
            self.said += line
        self.script = found[1]
        self.port = int(re.search(r"remote [\d.]*:(\d+)", Path(self.script).read_text())[1])

    def gdb(self, *commands):
        """What gdb prints, command for command."""
        words = ["gdb", "-nx", "-batch", "-x", self.script, "-ex", "set width 0"]
        for command in commands:
            words += ["-ex", f"echo \\n(gdb) {command}\\n", "-ex", command]
        env = {**os.environ, "HOME": str(Path(self.script).parent)}
        return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, env=env, check=False).stdout

    def end(self):
        out, err = self.process.communicate()
        return self.process.returncode, out, self.said + err


def blocks():
    """Of the page's sessions: each command with the lines that it shows."""
    session = "".join(re.findall(r"^```gdb\n(.*?)^```", PAGE, re.M | re.S))
    for part in session.split("(gdb) ")[1:]:
        command, *lines = part.strip().split("\n")
        yield command, lines


def test_session_of_the_guide_shows_what_the_page_says(squares):
    debugged = Debugged(TINY, "--", squares)
    commands = list(blocks())
    shown = debugged.gdb(*(command for command, _ in commands))
    parts = re.split(r"^\(gdb\) .*\n", shown, flags=re.M)[1:]
    for (command, lines), part in zip(commands, parts, strict=True):
        for line in lines:
            assert line in part, f"{command}: {part}"
    status, out, _ = debugged.end()
    assert status == 0 and out in ("", "squares[0] at 0x200000000190 is -1\n")


def test_program_under_the_debugger_ends_as_it_does_alone(squares, tmp_path):
    """Status, output, statistics; what is printed twice by copies is shown once."""
    alone, debugged = tmp_path / "alone.json", tmp_path / "debugged.json"
    for options, file in (([], alone), (["--mode", "timing"], tmp_path / "timing.json")):
        call([HEDDLE, "run", *(options or ["--mode", "functional"]), "--stats", file, TINY, "--",
              squares], status=1)
        run = Debugged(TINY, *options, "--stats", debugged, "--", squares)
        shown = run.gdb("break mark", "continue", "delete", "stepi", "reverse-stepi", "continue",
                        "reverse-continue", "continue", "continue")
        assert "mark (" in shown and "exited with code 01" in shown, shown
        assert run.end()[:2] == (1, "squares[0] at 0x200000000190 is -1\n")
        left, right = (json.loads(path.read_text()) for path in (file, debugged))
        for stats in (left, right):
            stats.pop("host"), stats.pop("stamp", None), stats.pop("run", None)
        assert left == right


def test_steps_backwards_lead_over_the_steps_forwards(squares):
    """Each state of some wavefronts, by registers, in both directions."""
    debugged = Debugged(TINY, "--", squares)
    look = ["info registers rip s0 s2 exec vcc v0", "monitor event"]
    steps = 12
    shown = debugged.gdb("break square if $group_x == 1 && $wave == 2", "continue", *look,
                         *(["stepi", *look] * steps), *(["reverse-stepi", *look] * steps))
    states = re.findall(r"^rip .*?\n\d+$", shown, re.M | re.S)
    assert len(states) == 2 * steps + 1, shown
    states = [re.sub(r"\(gdb\).*", "", state) for state in states]
    assert states == states[::-1]
    assert len(set(states)) == steps + 1


def test_step_of_another_wavefront_moves_that_one(squares):
    """In time, where several stand at a breakpoint when it is not their turn."""
    shown = Debugged(TINY, "--mode", "timing", "--", squares).gdb(
        "break square", "continue", "continue", "thread 1", "print/x $rip", "stepi",
        "print/x $rip", "kill")
    before, after = re.findall(r"^\$\d+ = (0x\w+)", shown, re.M)
    assert 0 < int(after, 16) - int(before, 16) <= 8, shown


RACE = """#include <hip/hip_runtime.h>
__global__ void turn(int *out) {
    __shared__ int held[256];
    int i = threadIdx.x;
    held[i] = i;
    out[i] = held[255 - i];
}
int main() {
    int *out;
    if (hipMalloc((void **)&out, 1024) != hipSuccess)
        return 2;
    turn<<<1, 256>>>(out);
    return hipDeviceSynchronize();
}
"""


def test_finding_and_access_to_lds_stop_forwards_and_backwards(tmp_path):
    source, program = tmp_path / "race.cpp", tmp_path / "race"
    source.write_text(RACE)
    call([*hipcc(), "--offload-arch=gfx803", "-g", "-O1", source, "-o", program])
    shown = Debugged(TINY, "--check", "races", "--", program).gdb(
        "continue", "info registers wave", "continue", "reverse-continue", "info registers wave",
        "awatch -l *(int *)($lds + 4 * 255)", "continue", "info registers wave",
        "reverse-continue", "kill")
    assert shown.count("nothing orders the two (64 times)") == 2, shown
    assert re.findall(r"^wave +0x(\d)", shown, re.M) == ["2", "2", "3"], shown
    assert "Old value = 0\nNew value = 255" in shown and "New value = 0\n" in shown, shown


def test_program_that_faults_says_so_and_goes_back_from_there(squares, tmp_path):
    source, program = tmp_path / "fault.cpp", tmp_path / "fault"
    source.write_text(Path(squares).with_suffix(".cpp").read_text().replace(
        "marks[i] = -1", "marks[i * 100000] = -1"))
    call([*hipcc(), "--offload-arch=gfx803", "-g", "-O1", source, "-o", program])
    shown = Debugged(TINY, "--", program).gdb("continue", "monitor disas 1", "reverse-stepi",
                                              "kill")
    assert "store of 4 bytes" in shown and "is out of bounds" in shown, shown
    assert "mark (" in shown and "flat_store_dword" in shown, shown


def test_steps_are_of_cycles_when_asked(squares):
    shown = Debugged(TINY, "--mode", "timing", "--", squares).gdb(
        "monitor event", "monitor step 3 cycles", "stepi", "monitor event", "kill")
    before, after = (int(text) for text in re.findall(r"in cycle (\d+)", shown))
    assert after - before >= 3, shown
    shown = Debugged(TINY, "--", squares).gdb("monitor step 3 cycles", "kill")
    assert "without timing there are no cycles" in shown, shown


STORES = """#include <hip/hip_runtime.h>
__global__ void add(int *p, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    p[i] = p[i] + n;
    if (i % 256 == 0)
        atomicAdd(&p[1500], n);
}
int main()
{
    int *p, *q, five = 5, got;
    if (hipMalloc((void **)&p, 8192) != hipSuccess || hipMemset(p, 0, 8192) != hipSuccess
        || hipHostMalloc((void **)&q, 8192, 0) != hipSuccess)
        return 2;
    q[0] = 7;
    add<<<8, 128>>>(p, 3);
    if (hipMemcpyAsync(p, &five, 4, hipMemcpyHostToDevice, 0) != hipSuccess)
        return 2;
    add<<<8, 128>>>(p, 10);
    add<<<1, 64>>>(q, 1);
    if (hipDeviceSynchronize() != hipSuccess)
        return 2;
    q[0] = 100;
    add<<<1, 64>>>(q, 1);
    return hipMemcpy(&got, p, 4, hipMemcpyDeviceToHost) == hipSuccess ? got + q[0] : 2;
}
"""


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_values_are_seen_when_the_wavefront_stores_them(tmp_path, mode):
    """Also while caches hold them, and what the host writes by copies or itself."""
    source, program = tmp_path / "add.cpp", tmp_path / "add"
    source.write_text(STORES)
    call([*hipcc(), "--offload-arch=gfx803", "-g", "-O1", source, "-o", program])
    argument = "*(int *)*(long *)($s6 + ((long)$s7 << 32))"
    shown = Debugged(TINY, "--mode", mode, "--", program).gdb(
        "break add if $launch == 2", "watch *(int *)0x200000000000", "continue", "continue",
        "print *(int *)0x200000000000", "delete 1", "continue", "delete",
        "break add if $launch >= 3 && $wave == 0", "continue", f"print {argument}", "continue",
        f"print {argument}", "delete", "continue", "watch *(int *)(0x200000000000 + 6000)",
        *["reverse-continue"] * 8, "kill")
    values = re.findall(r"^Old value = (\d+)\nNew value = (\d+)", shown, re.M)
    assert values[:2] == [("0", "3"), ("3", "15")], shown
    assert re.findall(r"^\$\d = (\d+)", shown, re.M) == ["5", "7", "100"], shown
    sums = [0, 3, 6, 9, 12, 22, 32, 42, 52]
    assert values[2:] == [(str(old), str(new)) for new, old in zip(sums, sums[1:])][::-1], shown


GPUS = """#include <hip/hip_runtime.h>
__global__ void mark(int *p, int by)
{
    int kept[4];
    for (int i = 0; i < 4; i++)
        kept[(i + by) % 4] = 10 * threadIdx.x + i;
    p[threadIdx.x] = kept[p[threadIdx.x] & 3];
}
int main()
{
    int *p;
    for (int device = 0; device < 2; device++) {
        if (hipSetDevice(device) != hipSuccess || hipMalloc((void **)&p, 1024) != hipSuccess)
            return 2;
        mark<<<1, 256>>>(p, device);
        if (hipDeviceSynchronize() != hipSuccess)
            return 2;
    }
    return 0;
}
"""


def test_second_gpu_has_the_breakpoint_and_lanes_have_private_memory(tmp_path):
    """Its code is loaded when the first GPU has executed a kernel."""
    source, program = tmp_path / "gpus.cpp", tmp_path / "gpus"
    source.write_text(GPUS)
    call(["hipcc", "--offload-arch=gfx803", "-g", "-O0", source, "-o", program])
    shown = Debugged("platforms/r9nano_x4.heddle", "--", program).gdb(
        "break gpus.cpp:7 if $gpu == 1", "continue", "info registers gpu", "delete",
        "monitor lane 3", "find /w $private, +256, 30, 31", "monitor lane 63",
        "find /w $private, +256, 630, 631", "reverse-continue", "info registers gpu", "kill")
    assert re.findall(r"^gpu +0x(\d)", shown, re.M) == ["1", "0"], shown
    assert shown.count("1 pattern found") == 2, shown


def test_lldb_breaks_at_lines_and_reads_registers(squares):
    debugged = Debugged(TINY, "--", squares)
    words = ["lldb-19", "--no-lldbinit", "-b", "-s", Path(debugged.script).with_suffix(".lldb")]
    for command in ("breakpoint set -f squares.cpp -l 16", "continue", "register read wave v0",
                    "memory read 0x200000000190", "thread step-inst", "process kill"):
        words += ["-o", command]
    shown = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           stdin=subprocess.DEVNULL, check=False).stdout
    assert "mark(marks=" in shown and "squares.cpp:16" in shown, shown
    assert "v0 = {0x00000000 0x00000004 0x00000008" in shown, shown
    assert "0x200000000190: 01 00 00 00 04 00 00 00" in shown, shown
    assert "stop reason = instruction step into" in shown, shown


def test_machine_interface_of_gdb_does_what_editors_ask(squares):
    """What the C++ extension of VS Code sends."""
    debugged = Debugged(TINY, "--", squares)
    asked = ["-gdb-set mi-async off", "-gdb-set architecture i386:x86-64", "-gdb-set sysroot /",
             f"-target-select remote 127.0.0.1:{debugged.port}",
             "-break-insert -f squares.cpp:16", "-exec-continue", "-thread-info",
             "-stack-list-frames 0 3", "-data-evaluate-expression $v0[3]",
             "-data-read-memory-bytes 0x200000000190 4", "-exec-step-instruction",
             "-exec-step-instruction --reverse", "-break-delete 1", "-exec-continue --reverse",
             "-interpreter-exec console kill"]
    shown = subprocess.run(["gdb", "-nx", "-i=mi", "/bin/true"], input="\n".join(asked) + "\n",
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           check=False).stdout
    for said in ('reason="breakpoint-hit"', 'func="mark"', 'value="12"', 'contents="01000000"',
                 "No more reverse-execution history", 'func="__HIP_BlockDim::operator()"'):
        assert said in shown, shown


def test_what_is_no_program_for_a_debugger_is_refused(squares):
    refused = [HEDDLE, "debug", TINY]
    call([*refused, "--threads", "2", "--", squares], "one process on one thread", status=2)
    call([*refused, "--port", "70000", "--", squares], "port 70000", status=1)
    call([*refused, "--", "/bin/true"], "ended before a kernel ran", status=1)
    call(refused, "name a program", status=2)


CUDA = """__device__ int counts[64];
__device__ __noinline__ int fold(int x, int depth)
{
    int kept[4];
    for (int k = 0; k < 4; k++)
        kept[(k + x) & 3] = 5 * k;
    return depth ? kept[1] + fold(x + 1, depth - 1) : kept[x & 3] + 1;
}
__global__ void work(int *out)
{
    extern __shared__ int shared[];
    int i = threadIdx.x;
    shared[i] = i + 7;
    __syncthreads();
    if (i % 3 == 0)
        out[i] = fold(shared[63 - i], 2);
    else
        out[i] = shared[i] * 2;
    atomicAdd(&counts[i % 4], 1);
}
int main()
{
    int *out, back[64];
    if (cudaMalloc((void **)&out, 256) != cudaSuccess)
        return 2;
    work<<<2, 64, 256>>>(out);
    return cudaMemcpy(back, out, 256, cudaMemcpyDeviceToHost) == cudaSuccess ? back[4] : 2;
}
"""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda")
    (folder / "work.cu").write_text(CUDA)
    cuda_cc(folder / "work.cu", folder / "work")
    return folder / "work"


@pytest.mark.parametrize("machine, mode", [("rtx3070", "functional"), ("rtx3070", "timing"),
                                           *only_full(("a100", "functional"), ("a100", "timing"))])
def test_warps_are_debugged_as_wavefronts_are(cuda, machine, mode):
    """Kernels, lines, conditions, registers, shared memory, a variable, and who wrote a word."""
    debugged = Debugged(f"platforms/{machine}.heddle", "--set", "sms=4", "--mode", mode, "--", cuda)
    shown = debugged.gdb(
        "break work.cu:18 if $group_x == 1 && $wave == 0", "continue", "info registers exec wave",
        "monitor registers", "monitor disas 1", "x/2dw $lds + 12", "delete", "continue",
        "watch *(int *)&counts", "reverse-continue", "print (int)counts", "info registers wave",
        "reverse-continue", "print (int)counts", "kill")
    assert "hit Breakpoint 1, work ()" in shown and "work.cu:18" in shown, shown
    assert "exec           0xb6db6db6" in shown, shown
    assert re.search(r"^%rd\d+ +b64 +0x0 0x1 0x2 0x3 .*0x1f$", shown, re.M), shown
    assert re.search(r"^%rd\d+ +b64 +- 0x4 0x8 - 0x10 0x14 .*0x7c$", shown, re.M), shown
    assert re.search(r"^=> 0x\w+  \d+: [a-z].*;  \(work.cu:18\)$", shown, re.M), shown
    assert "0x10000000000c:\t10\t11" in shown, shown
    assert "Old value = 32\nNew value = 24" in shown, shown
    assert re.findall(r"^\$\d = (\d+)", shown, re.M) == ["24", "16"], shown
    assert "Old value = 24\nNew value = 16" in shown, shown


def test_steps_of_a_warp_lead_back_over_those_forwards(cuda):
    """Into a function, whose frames have registers and local memory of their own."""
    debugged = Debugged("platforms/rtx3070.heddle", "--", cuda)
    look, steps = ["info registers rip exec", "monitor registers", "monitor event"], 14
    shown = debugged.gdb(
        "break fold", "continue", *look, *(["stepi", *look] * steps),
        *(["reverse-stepi", *look] * steps), "kill")
    states = [re.sub(r"\(gdb\).*", "", state)
              for state in re.findall(r"^rip .*?\n\d+$", shown, re.M | re.S)]
    assert len(states) == 2 * steps + 1 and states == states[::-1], shown
    assert len(set(states)) == steps + 1, shown


def test_local_memory_is_that_of_the_lane_that_was_named(cuda):
    """Lane i has x = 70 - i, and keeps 5 k at (k + x) % 4; lanes 0, 3, 6 and so on are there."""
    debugged = Debugged("platforms/rtx3070.heddle", "--", cuda)
    shown = debugged.gdb(
        "break work.cu:7 if $wave == 0", "continue", "monitor lane 3", "x/4dw $private",
        "monitor lane 6", "x/4dw $private", "monitor lane 1", "monitor lane 32", "kill")
    assert re.findall(r"^0x1100\w+:(.*)$", shown, re.M) == ["\t5\t10\t15\t0", "\t0\t5\t10\t15"]
    assert "lane 3 is active" in shown and "lane 1 is off" in shown, shown
    assert "lanes are 0 to 31" in shown, shown


def test_lines_of_the_ptx_are_places_too(cuda):
    debugged = Debugged("platforms/rtx3070.heddle", "--", cuda)
    text = next(Path(debugged.script).parent.glob("*.ptx"))
    line = 1 + next(i for i, row in enumerate(text.read_text().splitlines()) if "bar.sync" in row)
    shown = debugged.gdb(f"break {text.name}:{line}", "continue", "monitor disas 1", "kill")
    assert re.search(rf"^=> 0x\w+  {line}: bar.sync 0;  \(work.cu:14\)$", shown, re.M), shown


def test_findings_and_faults_of_ptx_are_stops(cuda, tmp_path):
    source, program = tmp_path / "race.cu", tmp_path / "race"
    source.write_text(RACE.replace("#include <hip/hip_runtime.h>", "")
                      .replace("hip", "cuda").replace("out[i] =", "out[i == 255 ? 1 << 30 : i] ="))
    cuda_cc(source, program)
    shown = Debugged("platforms/rtx3070.heddle", "--check", "races", "--", program).gdb(
        "continue", "info registers wave", "continue", "monitor disas 1", "kill")
    assert "heddle: race: two wavefronts access" in shown, shown
    assert re.findall(r"^wave +0x(\d)", shown, re.M) == ["4"], shown
    assert re.search(r"^=> .* st.global.u32 .*\(race.cu:6\)$", shown, re.M), shown


@pytest.mark.skipif(not shutil.which("rocminfo"), reason="AMD's runtime is missing")
def test_breakpoint_at_code_that_is_loaded_later_is_hit_on_amds_runtime(squares):
    """The first kernels are the runtime's own. Forwards only: its threads place memory."""
    debugged = Debugged("platforms/r9nano.heddle", "--stack", "rocm", "--", squares)
    shown = debugged.gdb("break mark", "continue", "info registers wave group_x", "next",
                         "reverse-stepi", "detach")
    assert re.search(r"hit Breakpoint 1, .*mark", shown), shown
    assert re.findall(r"^(?:wave|group_x) +0x(\d)", shown, re.M) == ["0", "0"], shown
    assert re.search(r"^17\t}", shown, re.M) and "not support this command" in shown, shown
    shown = debugged.gdb("continue")  # another one, where the first has left
    assert "exited with code 01" in shown, shown
    assert re.match(r"squares\[0\] at 0x\w+ is -1\n", debugged.end()[1])


OPENCL = r"""#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
static const char *text = "__kernel void mark(__global int *marks)\n{\n"
                          "    int i = get_global_id(0);\n    marks[i] = i + 3;\n}\n";
int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    size_t global = 128, local = 64;
    clGetPlatformIDs(1, &platform, 0);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0);
    cl_context context = clCreateContext(0, 1, &device, 0, 0, 0);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, 0);
    cl_program program = clCreateProgramWithSource(context, 1, &text, 0, 0);
    if (clBuildProgram(program, 1, &device, "-g", 0, 0))
        return 2;
    cl_mem memory = clCreateBuffer(context, 0, 512, 0, 0);
    cl_kernel kernel = clCreateKernel(program, "mark", 0);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clEnqueueNDRangeKernel(queue, kernel, 1, 0, &global, &local, 0, 0, 0);
    return clFinish(queue);
}
"""


def test_kernel_of_opencl_has_lines(tmp_path):
    source, program = tmp_path / "mark.c", tmp_path / "mark"
    source.write_text(OPENCL)
    call(["gcc", source, "-o", program, "-lOpenCL"])
    shown = Debugged(TINY, "--", program).gdb(
        "break mark if $group_x == 1", "continue", "info registers group_x", "next",
        "watch *(int *)0x200000000104", "continue", "kill")
    assert re.search(r"hit Breakpoint 1, mark \(.*<source>:3", shown), shown
    assert re.search(r"^group_x +0x1", shown, re.M) and re.search(r"^4\tin", shown, re.M), shown
    assert "Old value = 0\nNew value = 68" in shown, shown


class Client:
    """Of the protocol, by hand."""

    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=20)

    def send(self, data, damaged=False):
        check = (sum(data) + damaged) & 255
        self.connection.sendall(b"$%s#%02x" % (data, check))

    def receive(self):
        """An answer with what acknowledges it; "" when the other side is gone."""
        got = b""  # the console's packets, O and hexadecimal digits, come before the answer
        while not re.search(rb"\$(?!O[0-9a-f]*#)[^#]*#..$", got) and got != b"-":
            piece = self.connection.recv(1 << 16)
            if not piece:
                return ""
            got += piece
        return got.decode("latin-1")


@pytest.mark.parametrize("seed", [1])
def test_damaged_packets_leave_the_program_as_it_is(squares, seed, full):
    """Packets that are cut, changed, or mixed up; whatever comes back, the next good one is
    answered, and the program ends as it should."""
    chance, debugged = random.Random(seed), Debugged(TINY, "--", squares)
    good = [b"qSupported:xmlRegisters=i386", b"?", b"g", b"p10", b"p6f", b"m200000000190,4",
            b"Z0,200000002000,1", b"z0,200000002000,1", b"Z2,200000000190,4", b"z2,200000000190,4",
            b"qXfer:features:read:target.xml:0,fff", b"qXfer:libraries:read::0,1000", b"Hg1",
            b"qXfer:threads:read::0,1000", b"qfThreadInfo", b"qThreadExtraInfo,1", b"T1",
            b"qRcmd,6576656e74", b"vCont?", b"vCont;s:1", b"bs", b"G00", b"M0,1:00", b"X0,1:a"]
    client = Client(debugged.port)
    for _ in range(100000 if full else 300):
        data = bytearray(chance.choice(good))
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(data) + 1)
            data[at:at + chance.randrange(3)] = bytes(chance.choices(
                b"0123456789abcdef,:;.-\x00\xffZqv", k=chance.randrange(3)))
        data = bytes(data).replace(b"#", b"").replace(b"$", b"").replace(b"\3", b"")
        if not data or data[:1] in b"ckD" or data.startswith((b"vCont;c", b"vKill", b"bc")):
            continue
        damaged = chance.random() < 0.1
        client.send(data, damaged)
        answer = client.receive()
        assert (answer == "-") == damaged, data
        if "$W" in answer:  # steps led over the last event
            assert debugged.end()[0] == 1
            debugged = Debugged(TINY, "--", squares)
            client = Client(debugged.port)
    client.send(b"?")
    assert "T05" in client.receive()
    client.connection.close()
    shown = debugged.gdb("continue", "continue")
    assert "exited with code 01" in shown, shown
    assert debugged.end()[0] == 1
