/* A plain C program whose device code is text that hipRTC compiles: kernels by their own name and
 * by name expressions, headers, options, a log with a warning and one with an error, and calls that
 * are wrong. Arguments: [elements] [option ...]. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call, wanted)                                                                         \
    do {                                                                                           \
        int must_error = (int)(call);                                                              \
        if (must_error != (int)(wanted)) {                                                         \
            printf("FAIL rtc: line %d: %s gives %d\n", __LINE__, #call, must_error);               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define HIP_MUST(call) MUST(call, hipSuccess)
#define RTC_MUST(call) MUST(call, HIPRTC_SUCCESS)

static void fail(const char *why)
{
    printf("FAIL rtc: %s\n", why);
    exit(1);
}

static const char source[] =
    "#include \"shapes/offset.h\"\n"
    "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, unsigned n)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int unused;\n"
    "    if (i < n)\n"
    "        y[i] = a * x[i] + y[i];\n"
    "}\n"
    "namespace shapes {\n"
    "__constant__ int bias = 1;\n"
    "__device__ int seen;\n"
    "template <typename T, int N> __global__ void scale(T *x, unsigned n)\n"
    "{\n"
    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        x[i] = x[i] * N + offset<T>() + bias + OPTION;\n"
    "    if (i == 0)\n"
    "        atomicAdd(&seen, (int)sizeof(T));\n"
    "}\n"
    "}\n";

static const char header[] = "#pragma once\n"
                             "#include \"units.h\"\n"
                             "template <typename T> __device__ T offset() { return UNIT; }\n";

static hipFunction_t function_of(hipModule_t module, const char *name)
{
    hipFunction_t function;
    HIP_MUST(hipModuleGetFunction(&function, module, name));
    return function;
}

static void launch(hipFunction_t function, unsigned n, void **arguments)
{
    HIP_MUST(
        hipModuleLaunchKernel(function, (n + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL));
}

static char *log_of(hiprtcProgram program)
{
    size_t size = 0;
    RTC_MUST(hiprtcGetProgramLogSize(program, &size));
    char *text = calloc(1, size + 1);
    RTC_MUST(hiprtcGetProgramLog(program, text));
    if (size > 0 && strlen(text) != size - 1)
        fail("the log has another size than it says");
    return text;
}

static void must_say(char *log, const char *what)
{
    if (!strstr(log, what)) {
        printf("FAIL rtc: '%s' is not in the log:\n%s\n", what, log);
        exit(1);
    }
}

static const char *const expressions[] = {"shapes::scale<int, 3>", "& shapes::scale< double,4 >",
                                          "&shapes::seen", "saxpy"};
enum { EXPRESSIONS = sizeof expressions / sizeof expressions[0] };

static hiprtcProgram make_program(int count, char *const *options)
{
    const char *headers[] = {header, "#define UNIT 5\n"}, *names[] = {"shapes/offset.h", "units.h"};
    const char **all = malloc((size_t)(count + 2) * sizeof *all);
    all[0] = "-DOPTION=2";
    all[1] = "-Wunused-variable";
    for (int i = 0; i < count; i++)
        all[i + 2] = options[i];
    hiprtcProgram program;
    RTC_MUST(hiprtcCreateProgram(&program, source, "saxpy.cu", 2, headers, names));
    for (int i = 0; i < EXPRESSIONS; i++)
        RTC_MUST(hiprtcAddNameExpression(program, expressions[i]));
    if (hiprtcCompileProgram(program, count + 2, all) != HIPRTC_SUCCESS) {
        printf("%s", log_of(program));
        fail("the program does not compile");
    }
    free(all);
    return program;
}

static void check_names(hiprtcProgram program)
{
    static const char *const wanted[] = {"_ZN6shapes5scaleIiLi3EEEvPT_j",
                                         "_ZN6shapes5scaleIdLi4EEEvPT_j", "_ZN6shapes4seenE",
                                         "saxpy"};
    for (int i = 0; i < EXPRESSIONS; i++) {
        const char *name = NULL;
        RTC_MUST(hiprtcGetLoweredName(program, expressions[i], &name));
        if (!name || strcmp(name, wanted[i]) != 0) {
            printf("FAIL rtc: '%s' is called '%s', not '%s'\n", expressions[i], name, wanted[i]);
            exit(1);
        }
    }
    const char *name = NULL;
    RTC_MUST(hiprtcGetLoweredName(program, "shapes::scale<int,3>", &name));
    MUST(hiprtcGetLoweredName(program, "shapes::scale<int,4>", &name),
         HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
}

static hipModule_t load(hiprtcProgram program)
{
    size_t size = 0;
    hipModule_t module;
    RTC_MUST(hiprtcGetCodeSize(program, &size));
    char *code = malloc(size);
    RTC_MUST(hiprtcGetCode(program, code));
    HIP_MUST(hipModuleLoadData(&module, code));
    free(code);
    return module;
}

static void run_saxpy(hipModule_t module, unsigned n)
{
    float a = 3, *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    void *dx, *dy;
    for (unsigned i = 0; i < n; i++)
        x[i] = (float)(i % 1000), y[i] = (float)(i % 77);
    HIP_MUST(hipMalloc(&dx, n * sizeof *x));
    HIP_MUST(hipMalloc(&dy, n * sizeof *y));
    HIP_MUST(hipMemcpy(dx, x, n * sizeof *x, hipMemcpyHostToDevice));
    HIP_MUST(hipMemcpy(dy, y, n * sizeof *y, hipMemcpyHostToDevice));
    launch(function_of(module, "saxpy"), n, (void *[]){&a, &dx, &dy, &n});
    HIP_MUST(hipMemcpy(y, dy, n * sizeof *y, hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        if (y[i] != a * x[i] + (float)(i % 77))
            fail("saxpy: wrong element");
    HIP_MUST(hipFree(dx));
    HIP_MUST(hipFree(dy));
    free(x);
    free(y);
}

static void run_scale(hipModule_t module, const char *name, const char *seen, unsigned n)
{
    double *x = malloc(n * sizeof *x);
    hipDeviceptr_t where;
    size_t size;
    void *dx;
    int bytes = 0;
    for (unsigned i = 0; i < n; i++)
        x[i] = i / 8.0;
    HIP_MUST(hipMalloc(&dx, n * sizeof *x));
    HIP_MUST(hipMemcpy(dx, x, n * sizeof *x, hipMemcpyHostToDevice));
    launch(function_of(module, name), n, (void *[]){&dx, &n});
    HIP_MUST(hipMemcpy(x, dx, n * sizeof *x, hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; i++)
        if (x[i] != i / 8.0 * 4 + 5 + 1 + 2)
            fail("scale: wrong element");
    HIP_MUST(hipModuleGetGlobal(&where, &size, module, seen));
    HIP_MUST(hipMemcpyDtoH(&bytes, where, sizeof bytes));
    if (size != sizeof bytes || bytes != (int)sizeof *x)
        fail("the device variable has another value");
    HIP_MUST(hipFree(dx));
    free(x);
}

/* Errors name the place in the source, in a header, and in an expression. */
static void check_errors(void)
{
    const char *headers[] = {"\nint wrong = missing;\n"}, *names[] = {"bad.h"}, *unused = NULL;
    hiprtcProgram program;
    RTC_MUST(hiprtcCreateProgram(&program, "#include <bad.h>\n\n__global__ void k() { error }\n",
                                 "broken.cu", 1, headers, names));
    RTC_MUST(hiprtcAddNameExpression(program, "k"));
    RTC_MUST(hiprtcAddNameExpression(program, "nothing<int>"));
    MUST(hiprtcCompileProgram(program, 0, NULL), HIPRTC_ERROR_COMPILATION);
    char *log = log_of(program);
    must_say(log, "bad.h:2:13: error: use of undeclared identifier 'missing'");
    must_say(log, "broken.cu:3:23: error: use of undeclared identifier 'error'");
    must_say(log, "name expression:2:16: error: use of undeclared identifier 'nothing'");
    free(log);
    size_t size = 1;
    RTC_MUST(hiprtcGetCodeSize(program, &size));
    MUST(size, 0);
    MUST(hiprtcGetLoweredName(program, "k", &unused), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    MUST(hiprtcAddNameExpression(program, "j"), HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    const char *wrong = "--no-such-option", *other = "--version";
    MUST(hiprtcCompileProgram(program, 1, &wrong), HIPRTC_ERROR_COMPILATION);
    log = log_of(program);
    must_say(log, "no-such-option");
    free(log);
    RTC_MUST(hiprtcDestroyProgram(&program));
    RTC_MUST(hiprtcCreateProgram(&program, "// nothing", NULL, 0, NULL, NULL));
    MUST(hiprtcCompileProgram(program, 1, &other), HIPRTC_ERROR_COMPILATION);
    log = log_of(program);
    must_say(log, "has not written a code object");
    free(log);
    RTC_MUST(hiprtcDestroyProgram(&program));
}

/* Each call that wants a program, with one that was destroyed and with none. */
static void check_handle(hiprtcProgram program)
{
    char text[8];
    size_t size;
    const char *name;
    MUST(hiprtcAddNameExpression(program, "k"), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcCompileProgram(program, 0, NULL), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcGetLoweredName(program, "k", &name), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcGetProgramLogSize(program, &size), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcGetProgramLog(program, text), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcGetCodeSize(program, &size), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcGetCode(program, text), HIPRTC_ERROR_INVALID_PROGRAM);
}

static void check_misuse(void)
{
    const char *text = "// nothing", *name = NULL, *none = NULL;
    hiprtcProgram program = NULL, gone;
    size_t size = 1;
    int number = 0;
    MUST(hiprtcVersion(NULL, &number), HIPRTC_ERROR_INVALID_INPUT);
    RTC_MUST(hiprtcVersion(&number, &number));
    MUST(hiprtcCreateProgram(NULL, text, "p", 0, NULL, NULL), HIPRTC_ERROR_INVALID_PROGRAM);
    MUST(hiprtcCreateProgram(&program, NULL, "p", 0, NULL, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcCreateProgram(&program, "", "p", 0, NULL, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcCreateProgram(&program, text, "p", -1, NULL, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcCreateProgram(&program, text, "p", 1, NULL, &text), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcCreateProgram(&program, text, "p", 1, &text, &none), HIPRTC_ERROR_INVALID_INPUT);
    RTC_MUST(hiprtcCreateProgram(&program, text, NULL, 0, NULL, NULL));
    MUST(hiprtcAddNameExpression(program, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcAddNameExpression(program, " &"), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    MUST(hiprtcGetLoweredName(program, "k", &name),
         HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    MUST(hiprtcGetLoweredName(program, "k", NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcCompileProgram(program, -1, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcCompileProgram(program, 1, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcGetProgramLogSize(program, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcGetProgramLog(program, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcGetCodeSize(program, NULL), HIPRTC_ERROR_INVALID_INPUT);
    MUST(hiprtcGetCode(program, NULL), HIPRTC_ERROR_INVALID_INPUT);
    RTC_MUST(hiprtcGetProgramLogSize(program, &size));
    MUST(size, 0);
    MUST(hiprtcDestroyProgram(NULL), HIPRTC_ERROR_INVALID_INPUT);
    gone = program;
    RTC_MUST(hiprtcDestroyProgram(&program));
    RTC_MUST(hiprtcDestroyProgram(&program)); /* which is NULL now */
    check_handle(gone);
    check_handle(NULL);
    MUST(hiprtcDestroyProgram(&gone), HIPRTC_ERROR_INVALID_PROGRAM);
    for (int i = -2; i < 2000; i++)
        if (!hiprtcGetErrorString((hiprtcResult)i))
            fail("an error has no text");
    MUST(strcmp(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION"), 0);
    HIP_MUST(hipGetLastError()); /* which is HIP's own */
}

/* A child has no GPU, but it may compile for a target that it names. */
static void check_child(void)
{
    const char *target = "--offload-arch=gfx803";
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        hiprtcProgram program;
        RTC_MUST(hiprtcCreateProgram(&program, "// nothing", NULL, 0, NULL, NULL));
        RTC_MUST(hiprtcCompileProgram(program, 1, &target));
        RTC_MUST(hiprtcDestroyProgram(&program));
        _exit(0);
    }
    if (child < 0 || (waitpid(child, &status, 0) == child && status != 0))
        fail("a child cannot compile");
}

/* The library has a second name, under which it is the same one. */
static void check_library(void)
{
    void *library = dlopen("libhiprtc.so.5", RTLD_NOW);
    if (!library || dlsym(library, "hiprtcVersion") != dlsym(RTLD_DEFAULT, "hiprtcVersion"))
        fail("libhiprtc.so.5 is another library, or none");
    dlclose(library);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
    const char *scale, *seen;
    hiprtcProgram program = make_program(argc > 2 ? argc - 2 : 0, argv + 2);
    char *log = log_of(program);
    must_say(log, "saxpy.cu:5:9: warning: unused variable 'unused'");
    free(log);
    check_names(program);
    RTC_MUST(hiprtcGetLoweredName(program, expressions[1], &scale));
    RTC_MUST(hiprtcGetLoweredName(program, expressions[2], &seen));
    hipModule_t module = load(program);
    run_saxpy(module, n);
    run_scale(module, scale, seen, n);
    RTC_MUST(hiprtcDestroyProgram(&program));
    HIP_MUST(hipModuleUnload(module));
    check_errors();
    check_misuse();
    check_library();
    check_child();
    printf("PASS rtc\n");
    return 0;
}
