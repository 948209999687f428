// printf in kernels: every conversion, strings longer than one packet, many lanes and wavefronts at once, within
// divergent code, and the returned count. The program's standard output is captured and compared. Arguments: none.
#include "check.hpp"

#include <algorithm>
#include <string>
#include <unistd.h>

__global__ void all_conversions(int *count)
{
    int none = printf("no conversions, 100%%\n");
    int n = printf("%d|%5u|%-6x|%#o|%lld|%llu|%hd|%c|%s|%10.3s|%f|%.2e|%g|%*d|%+i\n", -42, 17u, 255, 8, -5000000000LL,
                   1ull << 63, 70000, 'z', "text", "truncated", 3.5, 12345.678, 0.0001, 6, 77, 5);
    printf("a long string %s and the end\n",
           "that takes more than one packet, since a packet holds only fifty-six bytes of it, and this has more");
    count[0] = n;
    count[1] = none;
}

__global__ void from_all()
{
    if (threadIdx.x % 3 == 1) {
        printf("block %d thread %d: %s\n", static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x),
               threadIdx.x % 2 ? "odd" : "even");
    }
}

// What `work` prints to standard output.
template <typename F> static std::string captured(F work)
{
    char name[] = "/tmp/prints-XXXXXX";
    int file = mkstemp(name), saved = dup(1);
    std::fflush(stdout);
    dup2(file, 1);
    work();
    std::fflush(stdout);
    dup2(saved, 1);
    std::string text(lseek(file, 0, SEEK_END), '\0');
    bool whole = pread(file, &text[0], text.size(), 0) == static_cast<ssize_t>(text.size());
    close(file);
    close(saved);
    unlink(name);
    return whole ? text : "";
}

int main()
{
    int *dcount = device_zeros<int>(2);
    std::string text = captured([&] {
        all_conversions<<<1, 1>>>(dcount);
        HIP_MUST(hipDeviceSynchronize());
    });
    char line[300];
    int n = std::snprintf(line, sizeof line, "%d|%5u|%-6x|%#o|%lld|%llu|%hd|%c|%s|%10.3s|%f|%.2e|%g|%*d|%+i\n", -42, 17u,
                          255, 8, -5000000000LL, 1ull << 63, static_cast<short>(70000), 'z', "text", "truncated", 3.5,
                          12345.678, 0.0001, 6, 77, 5);
    std::string want = "no conversions, 100%\n" + std::string(line) +
                       "a long string that takes more than one packet, since a packet holds only fifty-six bytes of "
                       "it, and this has more and the end\n";
    // HIP counts what is printed, CUDA the arguments.
#ifdef __CUDACC__
    std::vector<int> counts(2), want_counts = {16, 0};
#else
    std::vector<int> counts(2), want_counts = {n, 21};
#endif
    from_device(counts, dcount);
    if (text != want) {
        std::printf("FAIL prints: printed '%s' instead of '%s'\n", text.c_str(), want.c_str());
        return 1;
    }
    if (!same_or_report("prints: counts", counts, want_counts)) {
        return 1;
    }
    text = captured([&] {
        from_all<<<5, 100>>>();
        HIP_MUST(hipStreamSynchronize(nullptr));
    });
    std::vector<std::string> lines, want_lines;
    for (size_t at = 0; at < text.size();) {
        size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    for (int block = 0; block < 5; block++) {
        for (int thread = 1; thread < 100; thread += 3) {
            want_lines.push_back("block " + std::to_string(block) + " thread " + std::to_string(thread) + ": " +
                                 (thread % 2 ? "odd" : "even"));
        }
    }
    std::sort(lines.begin(), lines.end()); // wavefronts print in no particular order
    std::sort(want_lines.begin(), want_lines.end());
    if (lines != want_lines) {
        std::printf("FAIL prints: %zu lines, expected %zu; they differ\n", lines.size(), want_lines.size());
        return 1;
    }
    return pass("prints");
}
