/* Mistakes of programs that a message must name. Usage: opencl_mistakes unset|pointer [threads] */
#include <pthread.h>
#include <stdbool.h>

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
    } else {
        pass_wrong_pointer();
    }
    return end();
}
