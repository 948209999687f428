"""CUDA programs: which library they get, on which machines, and what is said where that is not
possible. tests/components/cuda tests the library itself."""
import subprocess

import pytest

from harness import BUILD, ORDERS, ROOT, heddle, same_bytes

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
    heddle(f"cuda-cc {ROOT}/tests/programs/cuda_calls.cu -o {program}")
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
