/* __managed__ variables, which clang has for HIP only. The headers put them into a section of their
 * own. Here clang's intermediate code of the device gets the annotation that makes them managed in
 * PTX. To the host they are variables of threads, whose addresses it asks for by an intrinsic: in
 * its place is a function that loads a pointer, which the runtime library sets when it is first
 * needed. Called by command_cuda_cc.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "command/command_say.h"

#include "cuda_cc.h"

static const char section[] = ", section \"heddle_managed\"";

bool cuda_cc_has_managed(struct cuda_cc *cc, const char *source)
{
    size_t size;
    const char *text = cc->relocatable ? NULL : cuda_cc_read(cc, source, &size);
    return text && strstr(text, "__managed__");
}

static void write_bytes(FILE *to, const char *from, const char *end)
{
    fwrite(from, 1, (size_t)(end - from), to);
}

static bool line_holds(const char *line, const char *end, const char *part)
{
    const char *at = strstr(line, part);
    return at && at < end;
}

static bool is_managed(const char *line, const char *end)
{
    return *line == '@' && line_holds(line, end, section);
}

/* The name that begins at '@', up to a space or bracket. */
static const char *name_at(struct cuda_cc *cc, const char *at)
{
    return region_strndup(cc->c->region, at, strcspn(at, " ,)\n"));
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* Opens the file again that `text` was read from, to write what it becomes. */
static FILE *rewrite(const char *path, const char *text)
{
    FILE *file = text ? fopen(path, "w") : NULL;
    if (text && !file)
        command_say("cannot write '%s': %s", path, strerror(errno));
    return file;
}

bool cuda_cc_managed_ptx(struct cuda_cc *cc, const char *ir, const char *ptx)
{
    unsigned node = 1000000; /* clang's have lower numbers */
    size_t size;
    const char *text = cuda_cc_read(cc, ir, &size), *marks = "";
    FILE *to = rewrite(ir, text);
    if (!to)
        return false;
    for (const char *line = text, *end; *line; line = end) {
        end = next_line(line);
        if (!is_managed(line, end)) {
            write_bytes(to, line, end);
            continue;
        }
        const char *at = strstr(line, section);
        write_bytes(to, line, at);
        write_bytes(to, at + strlen(section), end);
        marks = region_printf(cc->c->region,
                              "%s!%u = !{ptr addrspace(1) %s, !\"managed\", i32 1}\n"
                              "!nvvm.annotations = !{!%u}\n",
                              marks, node, name_at(cc, line), node);
        node++;
    }
    fputs(marks, to);
    words line = cuda_cc_begin_ir(cc, "-S", ptx);
    cuda_cc_add(cc, &line, ir);
    return fclose(to) == 0 && cuda_cc_run(cc, &line);
}

static const char asking[] = "ptr @llvm.threadlocal.address.p0(ptr ",
                  plain[] = "@__cudaRegisterVar(",
                  pointer_of[] = "\ndefine internal ptr @heddle.managed(ptr %variable) {\n"
                                 "  %known = load ptr, ptr %variable\n"
                                 "  %none = icmp eq ptr %known, null\n"
                                 "  br i1 %none, label %first, label %there\n"
                                 "first:\n"
                                 "  %handle = load ptr, ptr @__cuda_gpubin_handle\n"
                                 "  %done = call i8 @__cudaInitModule(ptr %handle)\n"
                                 "  %set = load ptr, ptr %variable\n"
                                 "  ret ptr %set\n"
                                 "there:\n"
                                 "  ret ptr %known\n}\n"
                                 "declare i8 @__cudaInitModule(ptr)\n";

/* True if it is the name, and not the beginning of another one. */
static bool is_name(const char *text, const char *name, char behind)
{
    size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && text[length] == behind;
}

/* A line of the host's code, in which `name` is a pointer to the variable. False: it is another's.
 */
static bool write_host_line(FILE *to, const char *line, const char *end, const char *name)
{
    const char *asks = strstr(line, asking), *registers = strstr(line, plain);
    if (asks && asks < end) {
        const char *begin = strstr(line, "call "), *at = strchr(asks + strlen(asking), '@');
        if (!at || at >= end || !begin || begin > asks || !is_name(at, name, ')'))
            return false;
        write_bytes(to, line, begin);
        fprintf(to, "call ptr @heddle.managed(ptr %s", name);
        write_bytes(to, at + strlen(name), end);
        return true;
    }
    const char *at = registers && registers < end ? strchr(registers + 1, '@') : NULL;
    if (!at || at >= end || !is_name(at, name, ','))
        return false;
    write_bytes(to, line, registers);
    fputs("@__cudaRegisterManagedVar(", to);
    write_bytes(to, registers + strlen(plain), end);
    return true;
}

static bool compile_ir(struct cuda_cc *cc, const char *ir, const char *object)
{
    const char *const first[] = {CUDA_CC_COMPILER,     "-x", "ir", "-Wno-override-module",
                                 "-Qunused-arguments", "-O2"},
                      *const last[] = {"-c", "-o", object, ir};
    words line = {0};
    for (size_t i = 0; i < ARRAY_COUNT(first); i++)
        cuda_cc_add(cc, &line, first[i]);
    for (size_t i = 0; i < cc->both.count; i++)
        if (cc->both.items[i][0] == '-' && strchr("Ofm", cc->both.items[i][1]))
            cuda_cc_add(cc, &line, cc->both.items[i]);
    for (size_t i = 0; i < ARRAY_COUNT(last); i++)
        cuda_cc_add(cc, &line, last[i]);
    return cuda_cc_run(cc, &line);
}

bool cuda_cc_managed_object(struct cuda_cc *cc, const char *ir, const char *object)
{
    size_t size;
    words names = {0};
    const char *text = cuda_cc_read(cc, ir, &size);
    FILE *to = rewrite(ir, text);
    if (!to)
        return false;
    for (const char *line = text, *end; *line; line = end) {
        end = next_line(line);
        bool written = is_managed(line, end);
        if (written) {
            const char *name = name_at(cc, line);
            cuda_cc_add(cc, &names, name);
            fprintf(to, "%s = internal global ptr null\n", name);
        }
        for (size_t i = 0; i < names.count && !written; i++)
            written = write_host_line(to, line, end, names.items[i]);
        if (!written)
            write_bytes(to, line, end);
    }
    if (names.count > 0)
        fputs(pointer_of, to);
    return fclose(to) == 0 && compile_ir(cc, ir, object);
}
