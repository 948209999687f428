"""A program that makes each of its calls of HIP, or with `cuda` of CUDA, as often as its argument
says. With `every` these are all functions of CUDA, without good arguments."""
import ctypes
import re
import sys

CUDA = "cuda" in sys.argv
library = ctypes.CDLL("libcudart.so.12" if CUDA else "libamdhip64.so.5")


class Calls:
    """Functions by their names in HIP."""

    def __getattr__(self, name):
        if CUDA:
            name = {"hipHostMalloc": "cudaHostAlloc", "hipHostFree": "cudaFreeHost"}.get(
                name, name.replace("hip", "cuda"))
        return getattr(library, name)


hip = Calls()
hip.hipGetErrorString.restype = ctypes.c_char_p
number, words = ctypes.c_int(), (ctypes.c_size_t * 2)()
handle, memory = ctypes.c_void_p(), ctypes.c_void_p()
out, room = ctypes.byref(number), ctypes.create_string_buffer(4096)
stream, event = ctypes.c_void_p(), ctypes.c_void_p()


def must(error):
    assert error == 0, hip.hipGetErrorString(error)


must(hip.hipStreamCreate(ctypes.byref(stream)))
must(hip.hipEventCreate(ctypes.byref(event)))

ONE = [  # a call each
    lambda: hip.hipGetDeviceCount(out),
    lambda: hip.hipGetDevice(out),
    lambda: hip.hipSetDevice(0),
    lambda: hip.hipGetDeviceProperties(room, 0),
    lambda: hip.hipDeviceGetAttribute(out, 1, 0),
    lambda: hip.hipRuntimeGetVersion(out),
    lambda: hip.hipMemGetInfo(words, ctypes.byref(words, 8)),
    lambda: hip.hipGetLastError(),
    lambda: hip.hipPeekAtLastError(),
    lambda: hip.hipGetErrorString(0) and 0,
    lambda: hip.hipStreamQuery(stream),
    lambda: hip.hipStreamSynchronize(stream),
    lambda: hip.hipEventQuery(event),
    lambda: hip.hipDeviceSynchronize(),
    lambda: hip.hipDeviceCanAccessPeer(out, 0, 0),
]
PAIRS = [  # two calls each
    lambda: hip.hipMalloc(ctypes.byref(memory), 4096) or hip.hipFree(memory),
    lambda: hip.hipHostMalloc(ctypes.byref(memory), 4096, 0) or hip.hipHostFree(memory),
    lambda: hip.hipStreamCreate(ctypes.byref(handle)) or hip.hipStreamDestroy(handle),
    lambda: hip.hipEventCreate(ctypes.byref(handle)) or hip.hipEventDestroy(handle),
]



def every():
    """What a program calls, as the table has it: not what compilers do, and no structure that comes
    back by value."""
    with open("components/cuda/api/cuda_calls.tab", encoding="ascii") as table:
        names = re.findall(r"^(?:12: )?(?:\w+ )*(?:const char \*)?(cuda\w+)\(", table.read(), re.M)
    names.remove("cudaCreateChannelDesc")
    return [getattr(library, name) for name in names]


if __name__ == "__main__":
    functions = every() if "every" in sys.argv else []
    for _ in range(int(sys.argv[1])):
        for function in functions:
            function(*[ctypes.c_size_t(0)] * 10)
        for call in ONE + PAIRS if not functions else []:
            must(call())
    print(len(functions) or len(ONE) + 2 * len(PAIRS), "calls a round")
