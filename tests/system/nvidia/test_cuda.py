"""CUDA programs: which library they get, on which machines, and what is said where that is not
possible. tests/components/cuda tests the library itself."""
import re
import subprocess
from pathlib import Path

import pytest

from harness import BUILD, ORDERS, ROOT, call, cuda_cc, same_bytes

CUDA = BUILD / "components/cuda"
TINY = "platforms/tiny.heddle --mode functional"


@pytest.fixture
def compiled(tmp_path):
    """A program of C, linked as CUDA's compilers link theirs."""
    def compile_c(text, *options):
        source, program = tmp_path / "a.c", tmp_path / "a"
        source.write_text(text)
        subprocess.run(["cc", "-Wno-implicit-function-declaration", source, "-o", program,
                        *options], check=True)
        return program
    return compile_c


@pytest.mark.parametrize("major", [12, 13])
def test_program_gets_the_library_that_it_was_linked_with(run, compiled, major):
    program = compiled("""
        #include <stdio.h>
        int main(void) {
            int count = -1, error = cudaGetDeviceCount(&count), version = 0;
            cudaRuntimeGetVersion(&version);
            printf("error %d, %d devices, version %d\\n", error, count, version / 1000);
        }""", f"-L{CUDA}", f"-l:libcudart.so.{major}",
        f"-Wl,-rpath-link,{BUILD}/components/hip")
    run(f"{TINY} -- {program}", f"error 100, 0 devices, version {major}",
        r"GPUs of this platform are AMD's \(gfx803\), but the program uses CUDA", status=7)


def test_threads_of_a_program_take_turns(run, compiled):
    """The HIP library stands before the C library, so it orders the threads."""
    program = compiled("""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        int main(void) {
            Dl_info info;
            dladdr(dlsym(RTLD_DEFAULT, "pthread_create"), &info);
            puts(info.dli_fname);
            return cudaPeekAtLastError();
        }""", f"-L{CUDA}", "-l:libcudart.so.12", f"-Wl,-rpath-link,{BUILD}/components/hip")
    run(f"{TINY} -- {program}", r"libamdhip64\.so\.5$")


@pytest.fixture(scope="session")
def calls(tmp_path_factory):
    """Our own program of CUDA's functions, compiled by clang alone."""
    program = tmp_path_factory.mktemp("cuda") / "cuda_calls"
    cuda_cc("tests/programs/cuda_calls.cu", program)
    return program


@pytest.mark.parametrize("mode", ["timing", "functional"])
@pytest.mark.parametrize("machine", ["rtx3070", "a100", "h100"])
def test_functions_do_what_the_manual_says(run, calls, machine, mode):
    run(f"platforms/{machine}.heddle --generic --mode {mode} -- {calls}", "^PASS cuda_calls")


def test_statistics_depend_on_no_order(measure, calls):
    """Blocks of a cooperative launch wait for each other in it."""
    same_bytes(measure, f"platforms/rtx3070.heddle --generic --set sms=4 {{}} -- {calls}",
               [*ORDERS, "--threads=2"])


def test_runtime_inside_of_a_program_is_refused(run, compiled):
    program = compiled("""
        __attribute__((section(".nv_fatbin"), used)) static const char code[] = "code";
        const char *volatile driver = "libcuda.so.1";
        int main(void) { return driver[0] == 0; }""")
    run(f"{TINY} -- {program}", "CUDA's runtime library is linked into",
        "nvcc: -cudart shared; CMake: CUDA_RUNTIME_LIBRARY Shared; clang: -lcudart", status=1)


HEADERS = Path("/usr/local/cuda/include")  # of NVIDIA's toolkit
TABLE = ROOT / "components/cuda/api/cuda_calls.tab"
OWN = [ROOT / f"components/cuda/include/{name}.h"
       for name in ("cuda_runtime_api", "heddle/runtime_templates")]


def rows(major):
    """{function: number of its parameters, None for one that is refused} of the table."""
    found = {}
    for line in TABLE.read_text().splitlines():
        row = re.match(r"(?:(\d+): )?[\w *]*?\b(\w+)\(([^=]*)\) = ", line)
        if row and row[1] in (None, str(major)):
            found[row[2]] = 0 if row[3] == "void" else row[3].count(",") + 1
        elif line.startswith("! "):
            found.update(dict.fromkeys(line.split()[1:]))
    return found


def exports(major):
    lines = call(["nm", "-D", "--defined-only", CUDA / f"libcudart.so.{major}"]).stdout
    return {line.split()[2].split("@")[0] for line in lines.splitlines()}


@pytest.mark.parametrize("major", [12, 13])
def test_library_exports_the_functions_of_the_table(major):
    twins = {f"{name}_{end}" for name in rows(major) for end in ("ptsz", "ptds")}
    names = exports(major) - {f"libcudart.so.{major}"}
    assert set(rows(major)) <= names <= set(rows(major)) | twins


def test_own_headers_declare_what_the_table_has():
    declared = set(re.findall(r"\b((?:__)?cuda\w+)\(", "".join(p.read_text() for p in OWN)))
    called = {name for name, count in rows(12).items() if count is not None}
    inner = {"cudaGetDeviceProperties", "cudaLaunchKernelExC_ptsz",  # by a macro,
             "cudaCreateTextureObject_v2"}                           # or of CUDA 11
    assert {name for name in called - declared if not name.startswith("__")} == inner


@pytest.mark.skipif(not (HEADERS / "cuda_runtime_api.h").exists(), reason="no headers of nvcc")
def test_installed_headers_declare_the_same_functions():
    """Their names, and how many parameters they have."""
    text = "".join((HEADERS / name).read_text(errors="replace") for name in
                   ("cuda_runtime_api.h", "cuda_profiler_api.h", "crt/host_runtime.h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    major = int(re.search(r"#define CUDART_VERSION +(\d+)", text)[1]) // 1000
    if major not in (12, 13):
        pytest.skip("no headers of nvcc")
    declared = re.findall(r"CUDARTAPI\s+(?:CUDARTAPI_CDECL\s+)?(\w+)\s*\(([^()]*)\)\s*;", text)
    table, counts = rows(major), {}
    for name, parameters in declared:
        counts[name] = 0 if parameters.strip() in ("", "void") else parameters.count(",") + 1
    assert len(counts) > 250
    assert set(counts) <= exports(major)
    wrong = {name: (count, table[name]) for name, count in counts.items()
             if table.get(name) not in (None, count)}
    assert not wrong
