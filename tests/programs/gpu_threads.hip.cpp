// One host thread for each GPU: each works in its own stream and in the stream per thread, hands results on through host memory
// and peer copies, and meets the others at barriers. Arguments: [elements] [rounds].
#include "check.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

__global__ void mix(int *data, const int *other, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] = data[i] * factor + other[i];
    }
}

class meeting {
  public:
    explicit meeting(int count) : count_(count), left_(count) {}
    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        int round = round_;
        if (--left_ == 0) {
            left_ = count_;
            round_++;
            all_.notify_all();
        }
        all_.wait(lock, [&] { return round != round_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable all_;
    int count_, left_, round_ = 0;
};

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1, 500), rounds = size_argument(argc, argv, 2, 2), count = 0;
    size_t bytes = n * sizeof(int);
    HIP_MUST(hipGetDeviceCount(&count));
    meeting all(count);
    std::vector<int *> data(count), inbox(count);
    std::vector<std::vector<int>> want(count, std::vector<int>(n)), got(count, std::vector<int>(n));
    std::vector<std::thread> threads;
    for (int d = 0; d < count; d++) {
        for (int i = 0; i < n; i++) {
            want[d][i] = i + 100 * d;
        }
    }
    auto work = [&](int d) {
        hipStream_t stream;
        HIP_MUST(hipSetDevice(d));
        HIP_MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
        allocate(&data[d], bytes);
        allocate(&inbox[d], bytes);
        HIP_MUST(hipMemcpyAsync(data[d], want[d].data(), bytes, hipMemcpyHostToDevice, stream));
        HIP_MUST(hipStreamSynchronize(stream));
        all.wait();
        for (int round = 0; round < rounds; round++) {
            int next = (d + 1) % count;
            HIP_MUST(hipMemcpyPeerAsync(inbox[next], next, data[d], d, bytes, hipStreamPerThread));
            HIP_MUST(hipStreamSynchronize(hipStreamPerThread));
            all.wait();
            mix<<<blocks_for(n, 64), 64, 0, stream>>>(data[d], inbox[d], n, round + 2);
            HIP_MUST(hipGetLastError());
            HIP_MUST(hipStreamSynchronize(stream));
            all.wait();
        }
        HIP_MUST(hipMemcpyAsync(got[d].data(), data[d], bytes, hipMemcpyDeviceToHost, stream));
        HIP_MUST(hipStreamSynchronize(stream));
        HIP_MUST(hipStreamDestroy(stream));
    };
    for (int d = 0; d < count; d++) {
        threads.emplace_back(work, d);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (int round = 0; round < rounds; round++) {
        std::vector<std::vector<int>> old = want;
        for (int d = 0; d < count; d++) {
            for (int i = 0; i < n; i++) {
                want[d][i] = static_cast<int>(static_cast<unsigned>(old[d][i]) * (round + 2) + old[(d + count - 1) % count][i]);
            }
        }
    }
    for (int d = 0; d < count; d++) {
        if (!same_or_report("gpu_threads", got[d], want[d])) {
            return 1;
        }
    }
    return pass("gpu_threads");
}
