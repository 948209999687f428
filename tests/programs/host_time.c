/* Spends processor time of its own, in the way that its argument names, and says how much: that is
 * none of the simulator's (docs/reference/outputs.md, "Time of the host"). `device` and `leave`
 * spend none and leave all to the simulator. */
#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HIP_MUST(call)                                                                             \
    do {                                                                                           \
        hipError_t must_error = (call);                                                            \
        if (must_error != hipSuccess) {                                                            \
            printf("FAIL host_time: line %d: %s\n", __LINE__, hipGetErrorName(must_error));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { BYTES = 64 << 10, LONG_BYTES = 8 << 20 };

static double spent; /* seconds */
static sem_t begun;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void spend(double seconds)
{
    double start = now();
    while (now() - start < seconds) {
    }
    spent += now() - start;
}

static void copy(size_t bytes)
{
    char *device, *host = calloc(1, bytes);
    HIP_MUST(hipMalloc((void **)&device, bytes));
    HIP_MUST(hipMemcpy(device, host, bytes, hipMemcpyHostToDevice));
    HIP_MUST(hipMemcpy(host, device, bytes, hipMemcpyDeviceToHost));
    HIP_MUST(hipFree(device));
    free(host);
}

static void *spend_in_thread(void *seconds)
{
    spend(*(double *)seconds);
    return NULL;
}

static void *wait_in_thread(void *unused)
{
    (void)unused;
    sem_post(&begun);
    copy(LONG_BYTES);
    pause();
    return NULL;
}

static void spend_in_callback(hipStream_t stream, hipError_t error, void *seconds)
{
    (void)stream;
    (void)error;
    spend(*(double *)seconds);
}

static void between(double seconds)
{
    copy(BYTES);
    spend(seconds);
    copy(BYTES);
}

static void before(double seconds)
{
    spend(seconds);
    copy(BYTES);
}

static void in_thread(double seconds)
{
    pthread_t thread;
    copy(BYTES);
    pthread_create(&thread, NULL, spend_in_thread, &seconds);
    pthread_join(thread, NULL);
}

static void in_callback(double seconds)
{
    HIP_MUST(hipStreamAddCallback(NULL, spend_in_callback, &seconds, 0));
}

/* Its child starts with clocks of its own. */
static void in_parent(double seconds)
{
    spend(seconds);
    if (fork() == 0) {
        spent = 0;
        between(seconds);
        return;
    }
    wait(NULL);
    _exit(0);
}

static void on_device(double seconds)
{
    (void)seconds;
    copy(LONG_BYTES);
}

/* The end of the program comes while another thread waits in HIP. */
static void leave(double seconds)
{
    pthread_t thread;
    (void)seconds;
    sem_init(&begun, 0, 0);
    pthread_create(&thread, NULL, wait_in_thread, NULL);
    sem_wait(&begun);
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(double seconds);
    } ways[] = {{"between", between},      {"before", before},    {"thread", in_thread},
                {"callback", in_callback}, {"parent", in_parent}, {"device", on_device},
                {"leave", leave}};
    for (size_t i = 0; count == 3 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(arguments[1], ways[i].name) == 0) {
            ways[i].run(atof(arguments[2]));
            printf("PASS host_time spent %.6f\n", spent);
            return 0;
        }
    }
    printf("FAIL host_time: host_time WAY SECONDS\n");
    return 1;
}
