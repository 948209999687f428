// Ends and children of all kinds, for what becomes of a run's files: `processes HOW`. Each HOW but
// the last ones runs a small kernel first.
//
//   plain        returns from main
//   quick        _exit(0): nothing that stands at the end of a program is done
//   abort        ends by a signal
//   exec         replaces itself by `true`
//   child-idle   forks; the child uses no HIP and returns from main
//   child-uses   forks; the child calls HIP, which must be refused
//   child-exec   forks; the child executes this program again, with plain
//   two          forks first; both use HIP
//   handler      a handler of its own calls exit() in the middle of a call of HIP
//   flag         a handler of its own notes the signal; the program ends orderly
//   spin         a kernel that never ends, after one that does
//   host         computes on the host for ever, after a kernel
//   nothing      calls no HIP
#include "check.hpp"

#include <csignal>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

static volatile std::sig_atomic_t noted;

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2;
}

__global__ void spin(volatile int *flag)
{
    int loops = 0;
    while (*flag == 0) {
        loops++; // it goes on, so that it is no deadlock
    }
    *flag = loops;
}

static void use(void)
{
    std::vector<int> data(64);
    for (int i = 0; i < 64; i++) {
        data[i] = i;
    }
    int *device = to_device(data);
    twice<<<1, 64>>>(device);
    HIP_MUST(hipMemcpy(data.data(), device, 64 * sizeof(int), hipMemcpyDeviceToHost));
    free_device_memory();
    if (data[63] != 126) {
        std::printf("FAIL processes: wrong result\n");
        std::exit(1);
    }
}

static void spin_for_ever(void)
{
    std::vector<int> zero(1, 0);
    int *flag = to_device(zero);
    spin<<<1, 64>>>(flag);
    std::fprintf(stderr, "ready\n");
    hipError_t error = hipDeviceSynchronize();
    std::printf("FAIL processes: came back with %s\n", hipGetErrorName(error));
}

static int end_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void leave(int)
{
    std::exit(0);
}

static void note(int)
{
    noted = 1;
}

int main(int argc, char **argv)
{
    const std::string how = argc > 1 ? argv[1] : "plain";
    pid_t child = how == "two" ? fork() : 0;
    if (how == "nothing") {
        return pass("processes");
    }
    std::signal(SIGUSR1, SIG_DFL);
    use();
    if (how == "quick") {
        _exit(0);
    } else if (how == "abort") {
        std::abort();
    } else if (how == "exec") {
        execlp("true", "true", nullptr);
    } else if (how.compare(0, 6, "child-") == 0) {
        child = fork();
        if (child == 0 && how == "child-uses") {
            int count = 0;
            return hipGetDeviceCount(&count) == hipErrorNotInitialized ? 0 : 1;
        }
        if (child == 0 && how == "child-exec") {
            execl("/proc/self/exe", argv[0], "plain", nullptr);
        }
        if (child == 0) {
            return 0;
        }
    } else if (how == "handler") {
        std::signal(SIGTERM, leave);
        spin_for_ever();
    } else if (how == "flag") {
        std::signal(SIGTERM, note);
        std::fprintf(stderr, "ready\n");
        while (!noted) {
            use();
        }
    } else if (how == "spin") {
        spin_for_ever();
    } else if (how == "host") {
        std::fprintf(stderr, "ready\n");
        for (volatile unsigned i = 0;; i = i + 1) {
        }
    }
    if (child > 0 && end_of(child) != 0) {
        std::printf("FAIL processes: the child\n");
        return 1;
    }
    return pass("processes");
}
