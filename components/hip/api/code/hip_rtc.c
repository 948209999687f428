/* hipRTC: programs that hold device code as text and have it compiled while they run.
 *
 * A program is a source with headers, until it is compiled; then it has code, a log, and the
 * mangled names of the expressions that were asked about. An expression is found by a table of
 * addresses that is compiled after the source: what is at an entry's address is what the
 * expression means. Error codes are those of HIP 5.2's library, but that it ends with the program
 * where a pointer is null or a handle unknown. */
#define __HIP_PLATFORM_AMD__
#include <ctype.h>
#include <hip/hiprtc.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/hip/api/hip_handle.h"
#include "components/hip/api/hip_internal.h"
#include "components/hip/turns/hip_turns.h"

#include "hip_rtc_compiler.h"

#define NAME_TABLE "__heddle_hiprtc_names"

enum { RTC_MAJOR = 9, RTC_MINOR = 0 }; /* as HIP 5.2's hiprtcVersion() says */

struct expression {
    char *text;
    char *lowered; /* NULL until compiled */
};

struct program {
    char *name, *source;
    struct hip_rtc_header *headers;
    size_t header_count;
    struct expression *expressions;
    size_t expression_count, expression_capacity;
    bool is_compiled;
    struct hip_rtc_result result; /* empty until compiled */
};

/* Locks; `function` of hipRTC is what messages name from now on. Neither needs the platform. */
static void rtc_enter(const char *function)
{
    hip_set_step(function);
    hip_turns_check_caller();
    hip_lock();
}

/* A function of hipRTC: its body holds the lock. */
#define RTC_DEFINE(name, arguments, ...)                                                           \
    static hiprtcResult name##_body(__VA_ARGS__);                                                  \
    hiprtcResult name(__VA_ARGS__)                                                                 \
    {                                                                                              \
        rtc_enter(#name);                                                                          \
        hiprtcResult rtc_result = name##_body arguments;                                           \
        hip_unlock();                                                                              \
        return rtc_result;                                                                         \
    }                                                                                              \
    static hiprtcResult name##_body(__VA_ARGS__)

static struct program *find_program(hiprtcProgram handle)
{
    return hip_handle_find(HIP_HANDLE_RTC_PROGRAM, handle);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(hip_allocate(size), text, size);
}

static void release_result(struct program *program)
{
    for (size_t i = 0; i < program->expression_count; i++) {
        hip_release(program->expressions[i].lowered);
        program->expressions[i].lowered = NULL;
    }
    hip_release(program->result.code);
    hip_release(program->result.log);
    program->result = (struct hip_rtc_result){0};
}

/* ---- what the compiler reads ---- */

/* A line that makes messages and __FILE__ name `name` from the next one on. */
static void print_line(FILE *out, size_t number, const char *name)
{
    fprintf(out, "\n#line %zu \"", number);
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            fputc('\\', out);
        fputc((unsigned char)*name < ' ' ? ' ' : *name, out);
    }
    fputs("\"\n", out);
}

static char *make_source(const struct program *program)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("#include <hip/hip_runtime.h>\n#include <hip/hip_fp16.h>\n", out);
    print_line(out, 1, program->name);
    fputs(program->source, out);
    if (program->expression_count > 0) {
        print_line(out, 1, "name expression");
        fputs("extern \"C\" { extern __device__ const void *const " NAME_TABLE "[]; "
              "__attribute__((used)) __device__ const void *const " NAME_TABLE "[] = {",
              out);
        for (size_t i = 0; i < program->expression_count; i++) {
            print_line(out, i + 1, "name expression");
            fprintf(out, "(const void *)&%s,", program->expressions[i].text);
        }
        fputs("\n}; }\n", out);
    }
    fclose(out);
    return text;
}

/* The value of an option that names the target, or NULL. `*is_next`: the value is the next option.
 */
static const char *target_of(const char *option, bool *is_next)
{
    static const char *const names[] = {"--offload-arch", "--gpu-architecture", "--cuda-gpu-arch",
                                        "-arch"};
    *is_next = false;
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(option, names[i], length) != 0)
            continue;
        if (option[length] == '=')
            return option + length + 1;
        if (option[length] == '\0') {
            *is_next = true;
            return NULL;
        }
    }
    return NULL;
}

/* Takes out of the options those that name the target; the last one counts. */
static const char *extract_target(const char **options, size_t *count)
{
    const char *target = NULL;
    size_t remaining = 0;
    for (size_t i = 0; i < *count; i++) {
        bool is_next = false;
        const char *value = options[i] ? target_of(options[i], &is_next) : NULL;
        if (is_next && i + 1 < *count)
            value = options[++i];
        if (value)
            target = value;
        else
            options[remaining++] = options[i];
    }
    *count = remaining;
    return target;
}

/* ---- compiled code ---- */

static const char *symbol_at(const struct code_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->symbol_count; i++)
        if (object->symbols[i].address == address)
            return object->symbols[i].name;
    return NULL;
}

/* Finds what each expression is called in the code. */
static void lower_names(struct program *program)
{
    struct code_object object;
    const struct code_object_symbol *table = NULL;
    bool is_sound = code_object_read(&object, program->result.code, program->result.code_bytes);
    if (is_sound)
        table = code_object_find_symbol(&object, NAME_TABLE);
    if (table && table->size == program->expression_count * sizeof(uint64_t)) {
        uint8_t *image = hip_allocate(object.span);
        code_object_load(&object, 0, image);
        for (size_t i = 0; i < program->expression_count; i++) {
            uint64_t address;
            memcpy(&address, image + table->address + i * sizeof address, sizeof address);
            const char *name = symbol_at(&object, address);
            program->expressions[i].lowered = name ? copy_text(name) : NULL;
        }
        hip_release(image);
    }
    code_object_release(&object);
}

static hiprtcResult compile_program(struct program *program, const char *target,
                                    const char **options, size_t count)
{
    char *source = make_source(program);
    if (!source)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    const struct hip_rtc_job job = {.source = source,
                                    .headers = program->headers,
                                    .header_count = program->header_count,
                                    .target = target,
                                    .options = options,
                                    .option_count = count};
    hip_rtc_compile(&job, &program->result);
    hip_release(source);
    if (!program->result.has_compiler)
        hip_say_call("%s", program->result.log + strlen("heddle: "));
    if (!program->result.code)
        return HIPRTC_ERROR_COMPILATION;
    if (program->expression_count > 0)
        lower_names(program);
    return HIPRTC_SUCCESS;
}

static hiprtcResult compile_for(hiprtcProgram handle, const char *target, const char **options,
                                size_t count)
{
    struct program *program = find_program(handle);
    if (!program)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    release_result(program);
    program->is_compiled = true;
    if (target)
        return compile_program(program, target, options, count);
    program->result.log =
        copy_text("heddle: there is no device whose target could be taken, and no option names one "
                  "(--offload-arch=)\n");
    return HIPRTC_ERROR_COMPILATION;
}

/* The platform is opened only where the options name no target, which is that of the current device
 * then. */
hiprtcResult hiprtcCompileProgram(hiprtcProgram handle, int count, const char **options)
{
    bool is_sound = count == 0 || (count > 0 && options);
    size_t option_count = is_sound ? (size_t)count : 0;
    const char **kept_options = hip_allocate((option_count + 1) * sizeof *kept_options);
    for (size_t i = 0; i < option_count; i++)
        kept_options[i] = options[i];
    const char *target = extract_target(kept_options, &option_count);
    if (target)
        rtc_enter(__func__);
    else if (hip_enter(__func__) == hipSuccess)
        target = hip.devices[hip_current_device()].info.isa;
    hiprtcResult result = is_sound ? compile_for(handle, target, kept_options, option_count)
                          : find_program(handle) ? HIPRTC_ERROR_INVALID_INPUT
                                                 : HIPRTC_ERROR_INVALID_PROGRAM;
    hip_unlock();
    hip_release(kept_options);
    return result;
}

/* ---- programs ---- */

static void release_program(struct program *program)
{
    release_result(program);
    for (size_t i = 0; i < program->header_count; i++) {
        hip_release(program->headers[i].name);
        hip_release(program->headers[i].text);
    }
    for (size_t i = 0; i < program->expression_count; i++)
        hip_release(program->expressions[i].text);
    hip_release(program->headers);
    hip_release(program->expressions);
    hip_release(program->name);
    hip_release(program->source);
    hip_release(program);
}

RTC_DEFINE(hiprtcCreateProgram, (handle, source, name, count, headers, names),
           hiprtcProgram *handle, const char *source, const char *name, int count,
           const char **headers, const char **names)
{
    if (!handle)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (!source || !*source || count < 0 || (count > 0 && (!headers || !names)))
        return HIPRTC_ERROR_INVALID_INPUT;
    for (int i = 0; i < count; i++)
        if (!headers[i] || !names[i] || !*names[i])
            return HIPRTC_ERROR_INVALID_INPUT;
    struct program *program = hip_allocate(sizeof *program);
    program->source = copy_text(source);
    program->name = copy_text(name && *name ? name : "program");
    program->headers = hip_allocate((size_t)count * sizeof *program->headers);
    program->header_count = (size_t)count;
    for (int i = 0; i < count; i++)
        program->headers[i] = (struct hip_rtc_header){copy_text(names[i]), copy_text(headers[i])};
    *handle = hip_handle_add(HIP_HANDLE_RTC_PROGRAM, program);
    return HIPRTC_SUCCESS;
}

RTC_DEFINE(hiprtcDestroyProgram, (handle), hiprtcProgram *handle)
{
    if (!handle)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!*handle)
        return HIPRTC_SUCCESS;
    struct program *program = find_program(*handle);
    if (!program)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    hip_handle_remove(*handle);
    release_program(program);
    *handle = NULL;
    return HIPRTC_SUCCESS;
}

/* An expression as it is compared: without spaces, and without the '&' that may be in front. */
static char *plain_expression(const char *text)
{
    char *plain = hip_allocate(strlen(text) + 1), *end = plain;
    for (; *text; text++)
        if (!isspace((unsigned char)*text) && !(end == plain && *text == '&'))
            *end++ = *text;
    return plain;
}

static const struct expression *find_expression(const struct program *program, const char *text)
{
    const struct expression *match = NULL;
    char *wanted = plain_expression(text);
    for (size_t i = 0; i < program->expression_count && !match; i++) {
        char *plain = plain_expression(program->expressions[i].text);
        match = strcmp(plain, wanted) == 0 ? &program->expressions[i] : NULL;
        hip_release(plain);
    }
    hip_release(wanted);
    return match;
}

RTC_DEFINE(hiprtcAddNameExpression, (handle, text), hiprtcProgram handle, const char *text)
{
    struct program *program = find_program(handle);
    if (!text)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!program)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (program->is_compiled)
        return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    text += strspn(text, " \t\n&");
    if (!*text)
        return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    if (find_expression(program, text))
        return HIPRTC_SUCCESS;
    grow_list(program->expressions, program->expression_count + 1, program->expression_capacity,
              HIP_LIBRARY);
    program->expressions[program->expression_count++] = (struct expression){copy_text(text), NULL};
    return HIPRTC_SUCCESS;
}

RTC_DEFINE(hiprtcGetLoweredName, (handle, text, lowered), hiprtcProgram handle, const char *text,
           const char **lowered)
{
    const struct program *program = find_program(handle);
    if (!text || !lowered)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (!program)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (!program->is_compiled)
        return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    const struct expression *expression = find_expression(program, text);
    if (!expression || !expression->lowered)
        return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    *lowered = expression->lowered;
    return HIPRTC_SUCCESS;
}

/* ---- what was compiled: nothing, of 0 bytes, until then ---- */

RTC_DEFINE(hiprtcGetProgramLogSize, (handle, size), hiprtcProgram handle, size_t *size)
{
    const struct program *program = find_program(handle);
    if (!size || !program)
        return size ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_ERROR_INVALID_INPUT;
    const char *log = program->result.log;
    *size = log && *log ? strlen(log) + 1 : 0;
    return HIPRTC_SUCCESS;
}

RTC_DEFINE(hiprtcGetProgramLog, (handle, log), hiprtcProgram handle, char *log)
{
    const struct program *program = find_program(handle);
    if (!log || !program)
        return log ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_ERROR_INVALID_INPUT;
    const char *result_log = program->result.log;
    if (result_log && *result_log)
        strcpy(log, result_log);
    return HIPRTC_SUCCESS;
}

RTC_DEFINE(hiprtcGetCodeSize, (handle, size), hiprtcProgram handle, size_t *size)
{
    const struct program *program = find_program(handle);
    if (!size || !program)
        return size ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_ERROR_INVALID_INPUT;
    *size = program->result.code_bytes;
    return HIPRTC_SUCCESS;
}

RTC_DEFINE(hiprtcGetCode, (handle, code), hiprtcProgram handle, char *code)
{
    const struct program *program = find_program(handle);
    if (!code || !program)
        return code ? HIPRTC_ERROR_INVALID_PROGRAM : HIPRTC_ERROR_INVALID_INPUT;
    if (program->result.code)
        memcpy(code, program->result.code, program->result.code_bytes);
    return HIPRTC_SUCCESS;
}

/* ---- the rest ---- */

hiprtcResult hiprtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return HIPRTC_ERROR_INVALID_INPUT;
    *major = RTC_MAJOR;
    *minor = RTC_MINOR;
    return HIPRTC_SUCCESS;
}

const char *hiprtcGetErrorString(hiprtcResult result)
{
#define X(name) [name] = #name
    static const char *const names[] = {
        X(HIPRTC_SUCCESS),
        X(HIPRTC_ERROR_OUT_OF_MEMORY),
        X(HIPRTC_ERROR_PROGRAM_CREATION_FAILURE),
        X(HIPRTC_ERROR_INVALID_INPUT),
        X(HIPRTC_ERROR_INVALID_PROGRAM),
        X(HIPRTC_ERROR_INVALID_OPTION),
        X(HIPRTC_ERROR_COMPILATION),
        X(HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE),
        X(HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION),
        X(HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION),
        X(HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID),
        X(HIPRTC_ERROR_INTERNAL_ERROR),
    };
#undef X
    return (unsigned)result < ARRAY_COUNT(names) ? names[result] : "Invalid HIPRTC error code";
}
