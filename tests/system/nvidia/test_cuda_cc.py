"""`heddle cuda-cc` compiles CUDA programs by clang alone, which then run on NVIDIA's machines."""
import os
import re
import shutil
from pathlib import Path

import pytest

from harness import ANY, BUILD, HEDDLE, ROOT, call, cuda_headers

PROGRAMS = Path(__file__).parents[2] / "programs/cuda"
MACHINE = "platforms/a100.heddle --mode functional"
pytestmark = pytest.mark.skipif(not shutil.which("clang++-19"), reason="clang-19 is missing")


@pytest.fixture
def compiled(tmp_path):
    def compile_program(name, *options):
        program = tmp_path / name
        call([HEDDLE, "cuda-cc", *cuda_headers(), PROGRAMS / f"{name}.cu", "-o", program,
              *options], env={"PATH": "/usr/bin:/bin"})
        return program
    return compile_program


MISTAKES = {
    "outside": ("cudaErrorIllegalAddress", r"cudaDeviceSynchronize: kernel void outside<float>"
                r"\(float\*, long long\), .*mistakes\.cu:8: .* \(block 0,0,0 thread 0,0,0\)"),
    "block": ("cudaErrorInvalidConfiguration", "a block of 5000 and a grid of 5000 threads"),
    "shared": ("cudaErrorInvalidValue",
               "1048576 bytes of dynamic shared memory; the kernel has up to 49152"),
    "free": ("cudaErrorInvalidValue", "cudaFree: 0x.* is host memory that CUDA has not allocated")}


def test_messages_are_in_cudas_words(run, compiled):
    program = compiled("mistakes")
    for mistake, (error, message) in MISTAKES.items():
        done = run(f"{MACHINE} -- {program} {mistake}", f"^{error}$", message,
                   status=3 if mistake == "outside" else 0)
        words = done.stderr.replace(str(PROGRAMS), "")  # the folder may have any name
        assert not re.search("HIP|hip|work-|wavefront|LDS|compute unit|_Z", words)


@pytest.mark.full
def test_math_keeps_the_published_bounds(run, compiled):
    run(f"{MACHINE} -- {compiled('math_errors', '-lmpfr', '-lgmp')}", "^PASS")


def test_ptx_is_for_the_architecture_that_was_asked_for(tmp_path):
    ptx = tmp_path / "a.ptx"
    for option in ("-arch=sm_90", "-gencode=arch=compute_90,code=sm_90"):
        call([HEDDLE, "cuda-cc", "--ptx", PROGRAMS / "halves.cu", option, "-o", ptx])
        assert ".target sm_90" in ptx.read_text()


def test_disassembler_shows_the_ptx_of_a_program(tmp_path):
    """All of it, of one architecture; a container that is damaged is named."""
    ptx, program = tmp_path / "a.ptx", tmp_path / "a.o"
    for more in (["--ptx", "-o", ptx], ["-c", "-o", program]):
        call([HEDDLE, "cuda-cc", *cuda_headers(), PROGRAMS / "halves.cu", *more])
    shown = call([HEDDLE, "disasm", program]).stdout
    assert shown.startswith("# PTX of sm_80\n") and shown.count("# PTX") == 1
    kernels = re.findall(r"\.entry (\w+)", ptx.read_text())
    assert kernels and re.findall(r"\.entry (\w+)", shown) == kernels
    assert call([HEDDLE, "disasm", "--mcpu", "sm_80", program]).stdout == shown
    call([HEDDLE, "disasm", "--mcpu", "sm_90", program], "holds no GPU code for sm_90", status=1)
    whole = bytearray(program.read_bytes())
    whole[whole.index(bytes.fromhex("50ed55ba")) + 4] = 77  # its version
    program.write_bytes(whole)
    call([HEDDLE, "disasm", program], "a fat binary of version 77", status=1)


SMALL = """#include <cstdio>
#ifndef SMALL
#error the definition is lost
#endif
__global__ void k(int *p) { *p = 7; }
int main() { int *p; cudaMallocManaged(&p, 4); k<<<1, 1>>>(p); cudaDeviceSynchronize();
             std::printf("%d\\n", *p); }
"""
WORDS = [
    "-G -lineinfo -Xptxas -v -ccbin g++ --std c++17 -t 4 -diag-suppress 177 -ftz=true -rdc=false "
    "-maxrregcount=32 --resource-usage --use_fast_math -Xcompiler -Wall",
    "-std c++17 -arch native -code=sm_80 --cudart static -lcudart_static -lcuda -lcurand -restrict "
    "-extra-device-vectorization -src-in-ptx --disable-warnings -Werror all-warnings -m64 "
    "-Xcudafe --diag_suppress=177 -Xnvlink --suppress -fmad=false -Wno-deprecated-gpu-targets "
    "-Xlinker -rpath,/tmp -Xlinker --as-needed -forward-unknown-to-host-compiler"]


@pytest.mark.parametrize("words", WORDS)
def test_options_of_nvcc_are_understood(tmp_path, words):
    """Also those in quotes, with several words, and NVIDIA's headers are not taken."""
    (tmp_path / "a.cu").write_text(SMALL)
    (tmp_path / "toolkit").mkdir()
    (tmp_path / "toolkit/cuda_runtime.h").write_text("#error of another toolkit\n")
    told = call([HEDDLE, "cuda-cc", *words.split(), "-Xcompiler", '-O1 "-DSMALL",-Wall', "-I",
                 tmp_path / "toolkit", f"-I{tmp_path}/toolkit", tmp_path / "a.cu", "--output-file",
                 tmp_path / "x", "-DSMALL"])
    assert os.access(tmp_path / "x", os.X_OK) and not told.stderr


def test_of_several_architectures_one_is_taken_that_all_machines_run(tmp_path):
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    for numbers, taken in (((50, 80, 90), 80), ((90, 70), 70), ((120,), 90)):
        words = [w for n in numbers for w in ("-gencode", f"arch=compute_{n},code=sm_{n}")]
        told = call([HEDDLE, "cuda-cc", "--ptx", *words, tmp_path / "a.cu", "-o", tmp_path / "p"])
        assert f".target sm_{taken}\n" in (tmp_path / "p").read_text()
        assert ("newer than clang 19: takes sm_90" in told.stderr) == (numbers == (120,))


def test_other_sources_are_host_code(run, tmp_path):
    """C is C, and C++ is not CUDA, unless -x cu says so; -odir, -lib, -E."""
    (tmp_path / "c.c").write_text(
        "#include <cuda_runtime_api.h>\n#include <stdlib.h>\n"
        "int seven(int new)\n{\n    int *p = malloc(4), count;\n    *p = new;\n"
        "    return cudaGetDeviceCount(&count) == cudaSuccess && count == 1 ? *p : 0;\n}\n")
    (tmp_path / "d.cpp").write_text(
        "#ifdef __CUDACC__\n#error CUDA\n#endif\nint twice(int x) { return 2 * x; }\n")
    (tmp_path / "a.cu").write_text(
        '#include <cstdio>\nextern "C" int seven(int);\nint twice(int);\n'
        '__global__ void k() {}\nint main() { std::printf("%d\\n", twice(seven(7))); }\n')
    (tmp_path / "objects").mkdir()
    for source in ("c.c", "d.cpp"):
        call([HEDDLE, "cuda-cc", "-std=c++17", "-c", "-odir", tmp_path / "objects",
              tmp_path / source])
    call([HEDDLE, "cuda-cc", "-lib", tmp_path / "c.c", tmp_path / "d.cpp", "-o",
          tmp_path / "libparts.a"])
    call([HEDDLE, "cuda-cc", *cuda_headers(), "-c", tmp_path / "a.cu", "-o", tmp_path / "a.o"])
    for words in (["a.cu", "c.c", "d.cpp"], ["a.o", "libparts.a"],
                  ["a.o", "objects/c.o", "objects/d.o"]):
        call([HEDDLE, "cuda-cc", *(tmp_path / word for word in words), "-o", tmp_path / "x"])
        run(f"{MACHINE} -- {tmp_path}/x", "^14$")
    call([HEDDLE, "cuda-cc", "-x", "cu", "-c", tmp_path / "d.cpp", "-o", tmp_path / "d.o"],
         r"d\.cpp:2:2: error: CUDA", status=1)
    assert "int twice(int x)" in call([HEDDLE, "cuda-cc", "-E", tmp_path / "d.cpp"]).stdout


@pytest.mark.parametrize("words, message", [
    ((), "an argument is expected"),
    (("-O2",), "there is no source"),
    (("-c",), "there is no source"),
    (("nothere.cu",), "cannot read 'nothere.cu': No such file"),
    (("a.cu", "-o"), "'-o' needs a value"),
    (("a.cu", "--default-stream", "own"), "'own' is not legacy, null or per-thread"),
    (("a.cu", "-arch=gfx90a"), "'gfx90a' names no architecture such as sm_80"),
    (("a.cu", "b.cu", "-c", "-o", "x.o"), "several sources do not go into one file"),
])
def test_mistakes_of_the_command_line_are_named(words, message):
    call([HEDDLE, "cuda-cc", *words], message, status=1 if "nothere.cu" in words else 2)


def test_each_function_with_a_twin_for_streams_of_threads_has_it():
    """--default-stream per-thread calls what the library has."""
    symbols = call(["nm", "-D", BUILD / "components/cuda/libcudart.so.12"]).stdout
    header = (ROOT / "components/cuda/include/heddle/per_thread_streams.h").read_text()
    twins = re.findall(r"(cuda\w+)(_pt[sd][sz])\b", symbols)
    assert sorted(re.findall(r"#define (\w+) +\1(\w+)", header)) == sorted(set(twins))


def test_instruction_that_is_not_executed_is_named(run, tmp_path):
    """A warning when the module is loaded; the launch that reaches it fails, others go on."""
    instruction = "tcgen05.wait::ld.sync.aligned"
    (tmp_path / "a.cu").write_text(f"""#include <cstdio>
__global__ void good(int *p) {{ *p = 7; }}
__global__ void bad(int *p)
{{
    asm volatile("{instruction};");
}}
int main()
{{
    int *p;
    cudaMallocManaged(&p, 4);
    bad<<<1, 1>>>(p);
    std::printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
    good<<<1, 1>>>(p);
    std::printf("%s %d\\n", cudaGetErrorName(cudaDeviceSynchronize()), *p);
}}
""")
    call([HEDDLE, "cuda-cc", *cuda_headers(), "-arch=sm_80", tmp_path / "a.cu", "-o",
          tmp_path / "a"])
    place = rf"a\.cu:5: {re.escape(instruction)} is not executed \(kernel 'bad\(int\*\)'\)"
    run(f"{MACHINE} -- {tmp_path / 'a'}", f"^heddle: warning: .*{place}",
        f"^heddle: cudaLaunchKernel: .*{place}", "^cudaErrorLaunchFailure$", "^cudaSuccess 7$",
        status=3)


@pytest.mark.parametrize("text, message", [
    ("#include <cub/not_there.cuh>", "includes cub/not_there.cuh: headers of NVIDIA's; install"),
    ("#include <cublas_v2.h>", "includes cublas_v2.h: a library of NVIDIA's, machine code that"),
    ("int k = cuInit(0);", r"calls CUDA's driver \(cuInit\(\)\), whose functions heddle does not")])
def test_libraries_that_are_not_there_are_named(tmp_path, text, message):
    (tmp_path / "a.cu").write_text(f"#include <cstdio>\n{text}\nint main() {{}}\n")
    call([HEDDLE, "cuda-cc", *cuda_headers(), tmp_path / "a.cu", "-o", tmp_path / "a"],
         rf"a\.cu' {message}", status=1)


def test_closed_libraries_are_named(tmp_path):
    (tmp_path / "a.cu").write_text("int main() {}\n")
    told = call([HEDDLE, "cuda-cc", tmp_path / "a.cu", "-lcublas", "-lcufft", "-lnvidia-ml", "-lm",
                 "-o", tmp_path / "a"], "'-lcublas' is a library of NVIDIA's, machine code that "
                "heddle does not execute; put kernels of your own in the place of its calls",
                status=2)
    assert re.findall(r"'(-l\S+)' is", told.stderr) == ["-lcublas", "-lcufft", "-lnvidia-ml"]


@pytest.mark.full
@pytest.mark.skipif(not Path("/usr/include/thrust").is_dir(), reason="libthrust-dev is missing")
def test_thrust_and_cub_of_the_distribution_work(run, tmp_path):
    program = tmp_path / "x"
    call([HEDDLE, "cuda-cc", PROGRAMS / "headers/thrust_and_cub.cu", "-o", program])
    run(f"{MACHINE} -- {program}", "^PASS")
    run(f"platforms/rtx3070.heddle --generic -- {program}", "^PASS")


@pytest.mark.full
def test_kernels_of_modules_with_more_instructions_than_ids_take_time(run, tmp_path):
    """By the remainders of their numbers; one kernel that has too many is named."""
    lines = "add.u32 %0, %0, 1;\\n" * 100
    (tmp_path / "a.cu").write_text(f"""#include <cstdio>
#define A(x) asm volatile("{lines}" : "+r"(x));
#define B(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x)
#define C(x) B(x) B(x) B(x) B(x) B(x) B(x) B(x) B(x) B(x) B(x) B(x)
__global__ void a(unsigned *p) {{ unsigned x = *p; C(x) C(x) C(x) *p = x; }}
__global__ void b(unsigned *p) {{ unsigned x = *p; C(x) C(x) C(x) *p = x; }}
__global__ void c(unsigned *p) {{ unsigned x = *p; C(x) C(x) C(x) C(x) C(x) C(x) *p = x; }}
int main(int argc, char **)
{{
    unsigned *p;
    cudaMallocManaged(&p, 4);
    a<<<1, 1>>>(p);
    b<<<1, 1>>>(p);
    if (argc > 1)
        c<<<1, 1>>>(p);
    cudaError_t error = cudaDeviceSynchronize();
    std::printf("%s %u\\n", cudaGetErrorName(error), *p);
}}
""")
    call([HEDDLE, "cuda-cc", tmp_path / "a.cu", "-o", tmp_path / "a"])
    small = "platforms/rtx3070.heddle --generic --set sms=1 --set channels=2"
    run(f"{small} -- {tmp_path}/a", "^cudaSuccess 66000$")
    run(f"{small} -- {tmp_path}/a more", "more than 65536 instructions of PTX in a kernel and the "
        "functions of its module", status=ANY)


def test_device_code_of_several_files_and_of_archives_is_linked(run, tmp_path):
    """Functions, variables, a class with virtual functions, static variables of one name, kernels.
    An archive is named by its file or by -l."""
    for name in ("main", "parts"):
        call([HEDDLE, "cuda-cc", "-dc", PROGRAMS / f"separate/{name}.cu", "-o",
              tmp_path / f"{name}.o"])
    call(["ar", "rcs", tmp_path / "libparts.a", tmp_path / "parts.o"])
    for words in ([tmp_path / "parts.o"], [tmp_path / "libparts.a"], ["-L", tmp_path, "-lparts"]):
        call([HEDDLE, "cuda-cc", tmp_path / "main.o", *words, "-o", tmp_path / "whole"])
        run(f"{MACHINE} -- {tmp_path}/whole", "^PASS")


def test_what_no_file_defines_is_named(tmp_path):
    """With the place that uses it, and the nearest name with its file."""
    (tmp_path / "a.cu").write_text(
        "__device__ float scale_by(float x);\nextern __device__ int table[4];\n"
        "__global__ void k(float *p)\n{\n    *p = scale_by(*p) + table[1];\n}\n"
        "int main() { k<<<1, 1>>>(0); }\n")
    (tmp_path / "b.cu").write_text("__device__ float scaleby(float x) { return 2 * x; }\n")
    place = r"a\.cu:5:\d+: error: nothing defines 'scale_by\(float\)', which device code uses"
    for name, words, messages in (
            ("a", cuda_headers(),
             [place + r" \(-rdc=true", r"a\.cu:5:\d+: error: nothing defines 'table'"]),
            ("ab", ["-rdc=true", tmp_path / "b.cu"],
             [place + r"; did you mean 'scaleby\(float\)' of .*b\.cu\?$"])):
        told = call([HEDDLE, "cuda-cc", tmp_path / "a.cu", *words, "-o", tmp_path / name],
                    messages[0], status=1)
        assert all(re.search(message, told.stderr, re.M) for message in messages), told.stderr
        assert not (tmp_path / name).exists()


def test_device_code_of_another_compiler_is_not_linked(tmp_path):
    (tmp_path / "a.s").write_text('.section __nv_relfatbin,"a"\n.long 0xba55ed50\n'
                                  '.section __nv_module_id,"a"\n.asciz "x"\n')
    call(["cc", "-c", tmp_path / "a.s", "-o", tmp_path / "a.o"])
    call([HEDDLE, "cuda-cc", tmp_path / "a.o", "-o", tmp_path / "x"],
         r"the device code of '.*a\.o' is not of heddle cuda-cc", status=1)


def test_mistakes_of_the_source_are_clangs(tmp_path):
    source = tmp_path / "wrong.cu"
    source.write_text("__global__ void k() { int x = nothing; }\nint main() {}\n")
    call([HEDDLE, "cuda-cc", source, "-o", tmp_path / "x"],
         r"wrong\.cu:1:\d+: error: use of undeclared identifier 'nothing'", status=1)
    assert not os.path.exists(tmp_path / "x")


def test_blocks_that_wait_for_a_cluster_that_does_not_come_are_a_deadlock(run, tmp_path):
    source, program = tmp_path / "lost.cu", tmp_path / "lost"
    source.write_text("""#include <cooperative_groups.h>
        __global__ void __cluster_dims__(2, 1, 1) lost()
        {
            if (threadIdx.x < 32)
                cooperative_groups::this_cluster().sync();
            else
                __syncthreads();
        }
        int main() { lost<<<4, 64>>>(); return cudaDeviceSynchronize(); }""")
    call([HEDDLE, "cuda-cc", "-arch=sm_90", source, "-o", program])
    run(f"platforms/h100.heddle --mode functional -- {program}",
        "barrier.cluster.*deadlock: it waits for threads of its cluster", status=4)


def test_clusters_of_kernels_go_into_ptx(tmp_path):
    """Constants, of templates, too; in a header, which is not looked at, they are refused."""
    source, header, ptx = tmp_path / "a.cu", tmp_path / "a.h", tmp_path / "a.ptx"
    source.write_text("""const int N = 2;
        template <int K> __global__ void __cluster_dims__(K, N) k() {}
        __global__ void plain() {}
        template __global__ void k<4>();
        template __global__ void k<3>();
        int main() {}""")
    call([HEDDLE, "cuda-cc", "--ptx", "-arch=sm_90", source, "-o", ptx])
    found = re.findall(r"\.entry (\w+)\([^)]*\)\n(?:\.explicit\w+\n\.(\w+ [\d, ]+))?",
                       ptx.read_text())
    assert sorted(found) == [("_Z1kILi3EEvv", "reqnctapercluster 3, 2, 1"),
                             ("_Z1kILi4EEvv", "reqnctapercluster 4, 2, 1"), ("_Z5plainv", "")]
    header.write_text("__global__ void __cluster_dims__(2, 1, 1) k() {}\n")
    source.write_text('#include "a.h"\nint main() {}\n')
    call([HEDDLE, "cuda-cc", source, "-o", tmp_path / "x"],
         r"a\.h:1:\d+: error: __cluster_dims__ in a header", status=1)
