/* Queues and events against the words of the specification: order, wait lists, user events that are
 * set and that fail, barriers and markers, callbacks from other threads, profiling. */
#include <pthread.h>
#include <stdbool.h>

#include "opencl_check.h"

static const char source[] = "__kernel void append(__global int *log, int number)\n"
                             "{\n"
                             "    log[++log[0]] = number;\n"
                             "}\n";

static cl_kernel append;
static cl_mem log_buffer;
static int log_read[64];

static void clear_log(cl_command_queue queue)
{
    OK(clEnqueueFillBuffer(queue, log_buffer, "\0\0\0\0", 4, 0, sizeof log_read, 0, NULL, NULL));
    OK(clFinish(queue));
}

static void enqueue(cl_command_queue queue, int number, cl_uint count, const cl_event *waits,
                    cl_event *event)
{
    size_t one = 1;
    OK(clSetKernelArg(append, 1, sizeof number, &number));
    OK(clEnqueueNDRangeKernel(queue, append, 1, NULL, &one, NULL, count, waits, event));
}

static void read_log(cl_command_queue queue)
{
    OK(clEnqueueReadBuffer(queue, log_buffer, CL_TRUE, 0, sizeof log_read, log_read, 0, NULL,
                           NULL));
}

static cl_int state_of(cl_event event)
{
    cl_int state = 99;
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
    return state;
}

/* Later commands wait for earlier ones by events alone, and begin in that order. */
static void wait_lists_order_out_of_order_queues(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_int error;
    cl_event user = clCreateUserEvent(context, &error), events[8];
    clear_log(queue);
    for (int i = 0; i < 8; i++)
        enqueue(queue, i, 1, i > 0 ? &events[i - 1] : &user, &events[i]);
    CHECK(state_of(user) == CL_SUBMITTED && state_of(events[0]) == CL_QUEUED);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    EXPECT(CL_INVALID_OPERATION, clSetUserEventStatus(user, CL_COMPLETE));
    OK(clWaitForEvents(1, &events[7]));
    read_log(queue);
    for (int i = 0; i < 8; i++)
        CHECK(log_read[i + 1] == i);
    for (int i = 0; i < 8; i++)
        OK(clReleaseEvent(events[i]));
    OK(clReleaseEvent(user));
    EXPECT(CL_INVALID_EVENT, clReleaseEvent(user));
    OK(clReleaseCommandQueue(queue));
}

static void barriers_and_markers_stand_between(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_event marker, event;
    clear_log(queue);
    for (int i = 0; i < 6; i++) {
        enqueue(queue, i, 0, NULL, NULL);
        OK(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
    }
    OK(clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker));
    enqueue(queue, 6, 1, &marker, &event);
    OK(clWaitForEvents(1, &event));
    CHECK(state_of(marker) == CL_COMPLETE);
    read_log(queue);
    CHECK(log_read[0] == 7);
    for (int i = 0; i < 7; i++)
        CHECK(log_read[i + 1] == i);
    OK(clReleaseEvent(marker));
    OK(clReleaseEvent(event));
    OK(clReleaseCommandQueue(queue));
}

/* A command whose wait list has failed is not executed; nor is what waits for it. Others are. */
static void failing_user_events_end_what_waits(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_int error;
    cl_event user = clCreateUserEvent(context, &error), first, second, free_one;
    clear_log(queue);
    enqueue(queue, 1, 1, &user, &first);
    enqueue(queue, 2, 1, &first, &second);
    enqueue(queue, 3, 0, NULL, &free_one);
    EXPECT(CL_INVALID_VALUE, clSetUserEventStatus(user, CL_RUNNING));
    EXPECT(CL_INVALID_EVENT, clSetUserEventStatus(first, CL_COMPLETE));
    OK(clSetUserEventStatus(user, -77));
    EXPECT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &second));
    OK(clWaitForEvents(1, &free_one));
    CHECK(state_of(user) == -77 && state_of(first) < 0 && state_of(second) < 0);
    EXPECT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
           clEnqueueReadBuffer(queue, log_buffer, CL_TRUE, 0, sizeof log_read, log_read, 1, &user,
                               NULL));
    OK(clFinish(queue));
    read_log(queue);
    CHECK(log_read[0] == 1 && log_read[1] == 3);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(first));
    OK(clReleaseEvent(second));
    OK(clReleaseEvent(free_one));
    OK(clReleaseCommandQueue(queue));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int calls[4], call_count;

static void CL_CALLBACK note(cl_event event, cl_int state, void *number)
{
    (void)event;
    pthread_mutex_lock(&lock);
    calls[call_count++] = state < 0 ? state : *(int *)number;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for_calls(int count)
{
    pthread_mutex_lock(&lock);
    while (call_count < count)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* The program holds a lock that the callback takes, while it registers it. */
static void callbacks_come_from_another_thread(void)
{
    cl_command_queue queue = make_queue(0);
    int numbers[] = {1, 2};
    cl_int error;
    cl_event event, user = clCreateUserEvent(context, &error);
    clear_log(queue);
    enqueue(queue, 1, 0, NULL, &event);
    pthread_mutex_lock(&lock);
    OK(clSetEventCallback(event, CL_COMPLETE, note, &numbers[0]));
    pthread_mutex_unlock(&lock);
    wait_for_calls(1);
    CHECK(calls[0] == 1 && state_of(event) == CL_COMPLETE);
    OK(clSetEventCallback(user, CL_COMPLETE, note, &numbers[1]));
    OK(clSetUserEventStatus(user, -5));
    wait_for_calls(2);
    CHECK(calls[1] == -5);
    EXPECT(CL_INVALID_VALUE, clSetEventCallback(event, CL_QUEUED, note, NULL));
    OK(clReleaseEvent(event));
    OK(clReleaseEvent(user));
    OK(clReleaseCommandQueue(queue));
}

static void *set_later(void *event)
{
    OK(clSetUserEventStatus(event, CL_COMPLETE));
    return NULL;
}

/* One thread waits for what another one sets free. */
static void threads_wait_for_user_events(void)
{
    cl_command_queue queue = make_queue(0);
    cl_int error;
    cl_event user = clCreateUserEvent(context, &error);
    pthread_t thread;
    clear_log(queue);
    enqueue(queue, 5, 1, &user, NULL);
    pthread_create(&thread, NULL, set_later, user);
    OK(clFinish(queue));
    pthread_join(thread, NULL);
    read_log(queue);
    CHECK(log_read[0] == 1 && log_read[1] == 5);
    OK(clReleaseEvent(user));
    OK(clReleaseCommandQueue(queue));
}

static cl_ulong time_of(cl_event event, cl_profiling_info what)
{
    cl_ulong ns = 0;
    OK(clGetEventProfilingInfo(event, what, sizeof ns, &ns, NULL));
    return ns;
}

static void profiling_gives_simulated_time(void)
{
    cl_command_queue queue = make_queue(CL_QUEUE_PROFILING_ENABLE), plain = make_queue(0);
    cl_event first, second, other;
    cl_ulong ns;
    clear_log(queue);
    enqueue(queue, 1, 0, NULL, &first);
    enqueue(queue, 2, 0, NULL, &second);
    enqueue(plain, 3, 1, &second, &other);
    OK(clFinish(queue));
    OK(clFinish(plain));
    CHECK(time_of(first, CL_PROFILING_COMMAND_QUEUED)
          <= time_of(first, CL_PROFILING_COMMAND_SUBMIT));
    CHECK(time_of(first, CL_PROFILING_COMMAND_SUBMIT)
          <= time_of(first, CL_PROFILING_COMMAND_START));
    CHECK(time_of(first, CL_PROFILING_COMMAND_START) <= time_of(first, CL_PROFILING_COMMAND_END));
    CHECK(time_of(first, CL_PROFILING_COMMAND_END) <= time_of(second, CL_PROFILING_COMMAND_START));
    EXPECT(CL_PROFILING_INFO_NOT_AVAILABLE,
           clGetEventProfilingInfo(other, CL_PROFILING_COMMAND_END, sizeof ns, &ns, NULL));
    OK(clReleaseEvent(first));
    OK(clReleaseEvent(second));
    OK(clReleaseEvent(other));
    OK(clReleaseCommandQueue(queue));
    OK(clReleaseCommandQueue(plain));
}

/* The queue, the buffer and the kernel are released before their commands are done. */
static void released_objects_finish_their_commands(void)
{
    int numbers[16];
    cl_command_queue queue = make_queue(0);
    for (int i = 0; i < 16; i++)
        numbers[i] = i;
    cl_mem from = make_buffer(sizeof numbers, numbers), to = make_buffer(sizeof numbers, NULL);
    cl_event event;
    OK(clEnqueueCopyBuffer(queue, from, to, 0, 0, sizeof numbers, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(queue, to, CL_FALSE, 0, sizeof numbers, log_read, 0, NULL, &event));
    OK(clReleaseMemObject(from));
    OK(clReleaseMemObject(to));
    OK(clReleaseCommandQueue(queue));
    OK(clWaitForEvents(1, &event));
    CHECK(memcmp(log_read, numbers, sizeof numbers) == 0);
    OK(clReleaseEvent(event));
}

int main(void)
{
    begin();
    cl_program program = make_program(source, NULL);
    append = make_kernel(program, "append");
    log_buffer = make_buffer(sizeof log_read, NULL);
    OK(clSetKernelArg(append, 0, sizeof log_buffer, &log_buffer));
    wait_lists_order_out_of_order_queues();
    barriers_and_markers_stand_between();
    failing_user_events_end_what_waits();
    profiling_gives_simulated_time();
    released_objects_finish_their_commands();
    threads_wait_for_user_events();
    callbacks_come_from_another_thread();
    OK(clReleaseMemObject(log_buffer));
    OK(clReleaseKernel(append));
    OK(clReleaseProgram(program));
    return end();
}
