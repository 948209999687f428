"""Looks at the files of AMD's kernel driver as a hostile program would, with the C library's
calls; run by test_kfd_files.py under `heddle run --stack rocm`. It says PASS, or fails."""
import ctypes
import errno
import fcntl
import os
import stat
import struct
import sys

TOPOLOGY = "/sys/devices/virtual/kfd/kfd/topology"
libc = ctypes.CDLL(None, use_errno=True)
libc.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                      ctypes.c_long]
VERSION, INFO = 0xC0406400, 0x40206445  # DRM_IOCTL_VERSION, DRM_IOCTL_AMDGPU_INFO
ACCELERATED, REGISTERS, DEVICE = 0x00, 0x15, 0x16


def fails(reason, call, *arguments):
    try:
        got = call(*arguments)
    except OSError as error:
        assert error.errno == reason, (call, arguments, error)
    else:
        raise AssertionError(f"{call}{arguments} gives {got}")


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def ioctl(fd, request, argument):
    """0, or the reason."""
    ctypes.set_errno(0)
    return 0 if libc.ioctl(fd, request, argument) == 0 else ctypes.get_errno()


def look_at_paths():
    assert read(f"{TOPOLOGY}/nodes/1/gpu_id") == "4096\n"
    for path in ("/sys/devices//virtual/./kfd/kfd/topology/nodes/0/../1/gpu_id",
                 "/sys/class/kfd/kfd/topology/nodes/1/gpu_id",
                 f"/tmp/../{TOPOLOGY}/nodes/../nodes/1/gpu_id"):
        assert read(path) == "4096\n", path
    assert sorted(os.listdir(f"{TOPOLOGY}/nodes")) == ["0", "1"]
    folder = os.open(f"{TOPOLOGY}/nodes", os.O_RDONLY)
    inside = os.open("1/gpu_id", os.O_RDONLY, dir_fd=folder)
    assert os.read(inside, 99) == b"4096\n"
    os.close(inside), os.close(folder)
    assert os.path.realpath(f"{TOPOLOGY}/nodes/../nodes") == f"{TOPOLOGY}/nodes"
    assert "amdgpu" in read("/proc/modules")
    outside = os.path.dirname(os.environ["HEDDLE_TOPOLOGY"])
    hostile = [f"/sys/devices/virtual/kfd/../../../../..{outside}x",
               f"{TOPOLOGY}/nodes/2/gpu_id", "/sys/devices/virtual/kfdx", "/dev/kfd/x",
               "/dev/dri/card0", "/dev/dri/renderD129", "/dev/dri/renderD0128",
               "/dev/dri/renderD128x", "/dev/dri/renderD99999999999"]
    for path in hostile:
        assert not os.path.exists(path), path
        try:
            os.open(path, os.O_RDWR)
        except OSError as error:
            assert error.errno in (errno.ENOENT, errno.ENOTDIR), (path, error)
        else:
            raise AssertionError(path)
    fails(errno.EACCES, os.open, f"{TOPOLOGY}/generation_id", os.O_WRONLY)
    fails(errno.EACCES, os.open, f"{TOPOLOGY}/new", os.O_RDONLY | os.O_CREAT)
    fails(errno.EACCES, open, "/proc/modules", "w")
    fails(errno.ENAMETOOLONG, os.open, f"{TOPOLOGY}/" + 5000 * "x", os.O_RDONLY)
    assert libc.open(None, os.O_RDONLY) == -1 and not os.access(TOPOLOGY + "/nodes", os.W_OK)


def look_at_devices():
    assert os.listdir("/dev/dri") == ["renderD128"]
    for path, number in (("/dev/kfd", None), ("/dev/dri/renderD128", os.makedev(226, 128))):
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        assert not os.get_inheritable(fd) and os.access(path, os.R_OK | os.W_OK)
        for status in (os.stat(path), os.fstat(fd), os.lstat(path)):
            assert stat.S_ISCHR(status.st_mode) and number in (None, status.st_rdev)
        fails(errno.EEXIST, os.open, path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        os.close(fd)
        assert ioctl(fd, VERSION, None) == errno.EBADF


def ask(fd, query, size, register=0, count=0):
    """AMDGPU_INFO: the reason, and 512 bytes which were 0xee."""
    answer = ctypes.create_string_buffer(b"\xee" * 512, 512)
    request = struct.pack("=QII4I", ctypes.addressof(answer), size, query, register, count, 0, 0)
    return ioctl(fd, INFO, request), answer.raw


def look_at_drm():
    fd = os.open("/dev/dri/renderD128", os.O_RDWR)
    name = ctypes.create_string_buffer(b"\xee" * 16, 16)
    version = ctypes.create_string_buffer(
        struct.pack("=3i4x6Q", 0, 0, 0, 4, ctypes.addressof(name), 0, 0, 0, 0), 64)
    assert ioctl(fd, VERSION, version) == 0 and name.raw == b"amdg" + b"\xee" * 12
    assert struct.unpack("=3i4xQ", version.raw[:24]) == (3, 42, 0, len("amdgpu"))
    for bad in (None, 8, 0x7FFFFFFFFFFF):
        assert ioctl(fd, VERSION, bad) == errno.EFAULT and ioctl(fd, INFO, bad) == errno.EFAULT
    struct.pack_into("=QQ", version, 16, 4, 8)  # the name goes to address 8
    assert ioctl(fd, VERSION, version) == errno.EFAULT

    assert ask(fd, ACCELERATED, 4) == (0, b"\x01\0\0\0" + b"\xee" * 508)
    assert ask(fd, DEVICE, 2)[1] == b"\x00\x73" + b"\xee" * 510  # no more than was asked for
    reason, device = ask(fd, DEVICE, 512)
    assert reason == 0 and struct.unpack_from("=I", device, 48)[0] == 4  # compute units
    assert ask(fd, DEVICE, 0)[0] == errno.EINVAL and ask(fd, 0x1234, 4)[0] == errno.EINVAL
    assert ioctl(fd, INFO, struct.pack("=QII4I", 8, 512, DEVICE, 0, 0, 0, 0)) == errno.EFAULT
    assert ask(fd, REGISTERS, 4, 0x263E, 1)[0] == 0
    assert ask(fd, REGISTERS, 4, 0x263E, 2)[0] == errno.EFAULT
    assert ask(fd, REGISTERS, 4, 0x263E, 0xFFFFFFFF)[0] == errno.EINVAL
    assert ioctl(fd, 0xC0086478, version) == errno.ENOTTY
    assert ioctl(fd, 0xC0086478, version) == errno.ENOTTY
    os.close(fd)


def look_at_copies():
    fd = os.open("/dev/dri/renderD128", os.O_RDWR)
    copies = [os.dup(fd), fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 0), os.dup2(fd, 77)]
    os.close(fd)
    for copy in copies:
        assert ask(copy, ACCELERATED, 4)[0] == 0
        os.close(copy)
        assert ask(copy, ACCELERATED, 4)[0] == errno.EBADF
    fd = os.open("/dev/dri/renderD128", os.O_RDWR)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, fd)  # it is no device any more
    assert ask(fd, ACCELERATED, 4)[0] == errno.ENOTTY
    os.close(null), os.close(fd)


def look_at_forks():
    fd = os.open("/dev/dri/renderD128", os.O_RDWR)
    if (child := os.fork()) == 0:
        reasons = ask(fd, ACCELERATED, 4)[0], ctypes.get_errno()
        failed = libc.mmap(None, 4096, 3, 1, fd, 0) == ctypes.c_void_p(-1).value
        os._exit(0 if reasons[0] == errno.EBADF and failed else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert ask(fd, ACCELERATED, 4)[0] == 0
    os.close(fd)


if __name__ == "__main__":
    look_at_paths()
    if "paths" not in sys.argv:
        look_at_devices()
        look_at_drm()
        look_at_copies()
        look_at_forks()
    print("PASS")
