/* Mistakes of programs that a message must name. Usage: opencl_mistakes unset|pointer|stack
 * [threads] */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "opencl_check.h"

static bool has_threads;

static void CL_CALLBACK take_state(cl_event event, cl_int state, void *data)
{
    (void)event;
    *(cl_int *)data = state;
}

/* The program waits for events that only it could set. */
static void *wait_for_unset(void *called)
{
    cl_int error, state = 0;
    cl_command_queue queue = make_queue(0);
    cl_event event = clCreateUserEvent(context, &error), marker;
    OK(error);
    OK(clEnqueueMarkerWithWaitList(queue, 1, &event, &marker));
    OK(clEnqueueMarkerWithWaitList(queue, 1, &marker, NULL));
    if (has_threads) /* the library has a thread, too */
        OK(clSetEventCallback(marker, CL_COMPLETE, take_state, called));
    OK(clFinish(queue));
    EXPECT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &marker));
    OK(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL));
    CHECK(state < 0);
    EXPECT(CL_INVALID_OPERATION, clSetUserEventStatus(event, CL_COMPLETE));
    OK(clReleaseEvent(marker));
    OK(clReleaseEvent(event));
    event = clCreateUserEvent(context, &error);
    OK(error);
    EXPECT(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &event));
    OK(clReleaseEvent(event));
    OK(clReleaseCommandQueue(queue));
    return NULL;
}

static void pass_wrong_pointer(void)
{
    cl_command_queue queue = make_queue(0);
    clEnqueueWriteBuffer(queue, make_buffer(64, NULL), CL_TRUE, 0, 64, (void *)64, 0, NULL, NULL);
}

/* No thread can be made with stacks of this size. The next callback has one again. */
static void ask_for_large_stacks(void)
{
    static cl_int refused = 1, called = 1;
    pthread_attr_t usual, large;
    cl_int error;
    cl_event event = clCreateUserEvent(context, &error);
    OK(error);
    CHECK(pthread_getattr_default_np(&usual) == 0 && pthread_attr_init(&large) == 0);
    CHECK(pthread_attr_setstacksize(&large, (size_t)1 << 50) == 0);
    CHECK(pthread_setattr_default_np(&large) == 0);
    EXPECT(CL_OUT_OF_HOST_MEMORY, clSetEventCallback(event, CL_COMPLETE, take_state, &refused));
    CHECK(pthread_setattr_default_np(&usual) == 0);
    OK(clSetEventCallback(event, CL_COMPLETE, take_state, &called));
    OK(clSetUserEventStatus(event, CL_COMPLETE));
    for (int i = 0; i < 1000 && called == 1; i++)
        usleep(1000);
    CHECK(called == CL_COMPLETE && refused == 1);
    OK(clReleaseEvent(event));
}

int main(int argc, char **argv)
{
    static cl_int called = 1;
    pthread_t thread;
    has_threads = argc > 2;
    begin();
    if (has_threads) {
        CHECK(pthread_create(&thread, NULL, wait_for_unset, &called) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(called < 0);
    } else if (argc > 1 && strcmp(argv[1], "unset") == 0) {
        wait_for_unset(NULL);
    } else if (argc > 1 && strcmp(argv[1], "stack") == 0) {
        ask_for_large_stacks();
    } else {
        pass_wrong_pointer();
    }
    return end();
}
