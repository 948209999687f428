/* Mistakes of programs that a message must name. Usage: opencl_mistakes unset|pointer. */
#include "opencl_check.h"

/* The program waits for events that only it could set. */
static void wait_for_unset(void)
{
    cl_int error, state = 0;
    cl_command_queue queue = make_queue(0);
    cl_event event = clCreateUserEvent(context, &error), marker;
    OK(error);
    OK(clEnqueueMarkerWithWaitList(queue, 1, &event, &marker));
    OK(clEnqueueMarkerWithWaitList(queue, 1, &marker, NULL));
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
}

static void pass_wrong_pointer(void)
{
    cl_command_queue queue = make_queue(0);
    clEnqueueWriteBuffer(queue, make_buffer(64, NULL), CL_TRUE, 0, 64, (void *)64, 0, NULL, NULL);
}

int main(int argc, char **argv)
{
    begin();
    if (argc > 1 && strcmp(argv[1], "unset") == 0)
        wait_for_unset();
    else
        pass_wrong_pointer();
    return end();
}
