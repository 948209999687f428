/* OpenCL C becomes code objects, and what their kernels are is read from them. Each test has a
 * cache of its own. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "components/opencl/compiler/opencl_compiler.h"

static char folder[] = "/tmp/heddle-test-opencl-XXXXXX";

static void begin(void)
{
    if (!opencl_compiler_is_available("gfx803"))
        cr_skip_test("clang-19, lld-19 or rocm-device-libs is missing: no OpenCL C was compiled");
    cr_assert(mkdtemp(folder));
    setenv("HEDDLE_CACHE", folder, 1);
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (strncmp(folder, "/tmp/heddle-test-opencl-", 24) == 0)
        cr_expect_eq(system(command), 0);
}

TestSuite(opencl_compiler, .init = begin, .fini = end);

static struct opencl_text text_of(const char *bytes)
{
    return (struct opencl_text){NULL, bytes, strlen(bytes)};
}

static enum opencl_build_status build(const char *source, const char *options, const char *target,
                                      bool link, struct opencl_built *built)
{
    const struct opencl_text text = text_of(source);
    const struct opencl_job job = {
        .sources = &text, .source_count = 1, .options = options, .target = target, .links = link};
    return opencl_compile(&job, built);
}

static void must_build(const char *source, const char *options, const char *target,
                       struct opencl_built *built)
{
    enum opencl_build_status status = build(source, options, target, true, built);
    cr_assert_eq(status, OPENCL_BUILD_OK, "%s", built->log);
    cr_assert_eq(opencl_binary_kind(built->bytes, built->size), OPENCL_BINARY_EXECUTABLE);
}

static void must_fail(const char *source, const char *options, const char *why)
{
    struct opencl_built built;
    cr_expect_eq(build(source, options, "gfx803", true, &built), OPENCL_BUILD_FAILED);
    cr_expect_null(built.bytes);
    cr_expect(strstr(built.log, why), "no '%s' in: %s", why, built.log);
    cr_expect(!strstr(built.log, "/proc/") && !strstr(built.log, "/opencl/"), "%s", built.log);
    opencl_built_release(&built);
}

static const char plain[] = "kernel void k(global int *a) { a[get_global_id(0)] *= 2; }";

/* ---- sources ---- */

/* gfx942 has no file of its own in the device library. */
ParameterizedTestParameters(opencl_compiler, builds_for_a_target)
{
    static char targets[2][16] = {"gfx906", "gfx942"};
    return cr_make_param_array(char[16], targets, 2);
}

ParameterizedTest(char (*target)[16], opencl_compiler, builds_for_a_target)
{
    struct opencl_built built;
    must_build("kernel void k(global float *a) {\n"
               "  a[0] = sin(a[1]) + native_exp(a[2]) + sub_group_reduce_add(a[3]);\n"
               "  a[1] = work_group_reduce_add(a[4]); printf(\"%d\\n\", 3); }",
               "-cl-std=CL2.0", *target, &built);
    cr_expect_str_eq(built.log, "");
    opencl_built_release(&built);
}

Test(opencl_compiler, builds_what_old_suites_write)
{
    struct opencl_built built;
    must_build("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
               "#pragma OPENCL EXTENSION cl_amd_fp64 : enable\n"
               "#pragma OPENCL EXTENSION cl_khr_byte_addressable_store : enable\n"
               "#pragma OPENCL EXTENSION cl_amd_media_ops : enable\n"
               "#pragma OPENCL EXTENSION cl_khr_global_int32_base_atomics : enable\n"
               "inline float twice(float x) { return 2 * x; }\n"
               "__constant sampler_t unused = CLK_FILTER_NEAREST;\n"
               "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
               "void k(__global float *a, __global uint *u, __local double *l) {\n"
               "  l[get_local_id(0)] = twice(a[0]); barrier(CLK_LOCAL_MEM_FENCE);\n"
               "  a[0] = (float)l[1]; u[0] = amd_bitalign(u[1], u[2], 7u); atom_inc(u + 4); }\n",
               "-cl-opt-disable -w", "gfx803", &built);
    cr_expect_str_eq(built.log, "");
    opencl_built_release(&built);
}

Test(opencl_compiler, takes_several_sources_as_one_text_and_headers_from_memory)
{
    const struct opencl_text sources[] = {text_of("#include <sub/one.h>\nkernel void k("),
                                          text_of("global int *a) { *a = ONE; }")};
    const struct opencl_text headers[] = {{"sub/one.h", "#include \"two.h\"\n", 17},
                                          {"sub/two.h", "#define ONE 1\n", 14}};
    const struct opencl_text other[] = {headers[0], {"sub/two.h", "#define ONE 2\n", 14}};
    struct opencl_built one, two;
    struct opencl_job job = {sources, headers, 2, 2, "", "gfx803", true};
    cr_expect_eq(opencl_compile(&job, &one), OPENCL_BUILD_OK, "%s", one.log);
    job.headers = other;
    cr_expect_eq(opencl_compile(&job, &two), OPENCL_BUILD_OK);
    cr_expect(one.size != two.size || memcmp(one.bytes, two.bytes, one.size) != 0);
    opencl_built_release(&one);
    opencl_built_release(&two);
}

Test(opencl_compiler, says_what_is_wrong_with_a_source)
{
    must_fail("kernel void k() { nothing(); }", NULL, "<source>:1:19: error: use of undeclared");
    must_fail("int f(int);\nkernel void k(global int *a) { *a = f(1); }", NULL,
              "error: undefined hidden symbol: f");
    must_fail("kernel void k(global int *a) { local int l[16385]; l[*a] = 1;\n"
              "barrier(1); *a = l[1]; }",
              NULL, "local memory (65540) exceeds limit (65536)");
    must_fail("#include \"missing.h\"\n", NULL, "'missing.h' file not found");
    must_fail("kernel void k() { int unused; }", "-Wall -Werror", "unused variable");
    must_fail("#pragma OPENCL EXTENSION made_up : enable\nkernel void k() {}", "-Werror",
              "'made_up' unknown");
}

Test(opencl_compiler, leaves_out_the_mark_that_editors_put_in_front)
{
    struct opencl_built built;
    must_build("\xef\xbb\xbf__kernel void k(__global int *a) { *a = 1; }", "", "gfx803", &built);
    cr_assert_str_empty(built.log);
    opencl_built_release(&built);
}

Test(opencl_compiler, has_no_headers_of_the_host)
{
    must_fail("#include <stdio.h>\n__kernel void k() {}", "", "'stdio.h' file not found");
}

Test(opencl_compiler, takes_all_local_memory_there_is)
{
    struct opencl_built built;
    must_build("kernel void k(global int *a) { local int l[16384]; l[*a] = 1; barrier(1);\n"
               "*a = l[1]; }",
               NULL, "gfx803", &built);
    opencl_built_release(&built);
}

Test(opencl_compiler, warns_of_kernels_with_pipes)
{
    struct opencl_built built;
    must_build("kernel void k(read_only pipe int i, global int *a) { *a = 1; }", "-cl-std=CL2.0",
               "gfx803", &built);
    cr_expect(strstr(built.log, "argument 0 of kernel 'k' is a pipe"), "%s", built.log);
    opencl_built_release(&built);
}

Test(opencl_compiler, links_functions_for_images_to_compiled_and_to_whole_programs)
{
    const char *source = "kernel void k(read_only image2d_t i, sampler_t s, global float4 *a)\n"
                         "{ *a = read_imagef(i, s, (float2)(0.5f, 1.5f)); }";
    struct opencl_built object, linked, whole;
    cr_assert_eq(build(source, NULL, "gfx90a", false, &object), OPENCL_BUILD_OK);
    const struct opencl_text text = {.bytes = (const char *)object.bytes, .size = object.size};
    cr_expect_eq(opencl_link(&text, 1, NULL, "gfx90a", &linked), OPENCL_BUILD_OK, "%s", linked.log);
    must_build(source, NULL, "gfx90a", &whole);
    cr_expect_eq(linked.size, whole.size);
    cr_expect_str_eq(whole.log, "");
    opencl_built_release(&object);
    opencl_built_release(&linked);
    opencl_built_release(&whole);
}

Test(opencl_compiler, names_what_is_missing)
{
    struct opencl_built built;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    cr_expect_not(opencl_compiler_is_available("gfx803"));
    cr_expect_eq(build(plain, NULL, "gfx803", true, &built), OPENCL_BUILD_COMPILER_MISSING);
    cr_expect(strstr(built.log, "install clang-19"), "%s", built.log);
    opencl_built_release(&built);
    setenv("PATH", path, 1);
    free(path);
    cr_expect_eq(build(plain, NULL, "gfx1030", true, &built), OPENCL_BUILD_COMPILER_MISSING);
    opencl_built_release(&built);
}

Test(opencl_compiler, defines_the_extensions_that_it_lists)
{
    struct opencl_built built;
    char source[4096] = "", *end = source;
    const char *at = opencl_compiler_extensions("gfx803");
    for (size_t length; *at; at += length + (at[length] == ' ')) {
        length = strcspn(at, " ");
        end +=
            sprintf(end, "#ifndef %.*s\n#error %.*s\n#endif\n", (int)length, at, (int)length, at);
    }
    strcpy(end, plain);
    must_build(source, "-cl-std=CL2.0", "gfx803", &built);
    opencl_built_release(&built);
    cr_expect_str_eq(opencl_compiler_extensions("gfx1030"), "");
}

/* ---- options ---- */

struct option_case {
    char options[96];
    enum opencl_build_status status;
    char log[48];
};

ParameterizedTestParameters(opencl_compiler, reads_options)
{
    static struct option_case cases[] = {
        {"-D A=1 -DB -D 'C=a b' -D D=\\\"x\\\"", OPENCL_BUILD_OK, ""},
        {"-cl-fast-relaxed-math -cl-mad-enable\t-w -cl-denorms-are-zero", OPENCL_BUILD_OK, ""},
        {"-cl-std=CL3.0 -cl-kernel-arg-info -cl-no-subgroup-ifp -O3 -g", OPENCL_BUILD_OK, ""},
        {"-cl-std=CL1.1 -cl-strict-aliasing -I /nowhere", OPENCL_BUILD_OK, ""},
        {"-cl-unknown", OPENCL_BUILD_INVALID_OPTIONS, "unknown option '-cl-unknown'"},
        {"-cl-std=CL9", OPENCL_BUILD_INVALID_OPTIONS, "'-cl-std=CL9'"},
        {"-w word", OPENCL_BUILD_INVALID_OPTIONS, "'word'"},
        {"-D", OPENCL_BUILD_INVALID_OPTIONS, "nothing follows the option -D"},
        {"-create-library", OPENCL_BUILD_INVALID_OPTIONS, "'-create-library'"},
        {"-o /tmp/x", OPENCL_BUILD_INVALID_OPTIONS, "'-o'"},
        {"-Wl,-o,x", OPENCL_BUILD_INVALID_OPTIONS, "'-Wl,-o,x'"},
        {"-Xclang -load", OPENCL_BUILD_INVALID_OPTIONS, "'-Xclang'"},
    };
    return cr_make_param_array(struct option_case, cases, ARRAY_COUNT(cases));
}

ParameterizedTest(struct option_case *each, opencl_compiler, reads_options)
{
    struct opencl_built built;
    cr_expect_eq(build(plain, each->options, "gfx803", false, &built), each->status, "%s: %s",
                 each->options, built.log);
    cr_expect(strstr(built.log, each->log), "%s: %s", each->options, built.log);
    opencl_built_release(&built);
}

Test(opencl_compiler, options_change_the_code)
{
    static const char source[] = "kernel void k(global float *a) { *a = a[1] / a[2] + X; }";
    static const char *const options[] = {"-DX=1", "-DX=2",
                                          "-DX=1 -cl-fp32-correctly-rounded-divide-sqrt",
                                          "-DX=1 -cl-fast-relaxed-math", "-DX=1 -cl-opt-disable"};
    struct opencl_built built[5];
    for (int i = 0; i < 5; i++) {
        must_build(source, options[i], "gfx803", &built[i]);
        for (int before = 0; before < i; before++) {
            cr_expect(built[i].size != built[before].size
                          || memcmp(built[i].bytes, built[before].bytes, built[i].size) != 0,
                      "%s makes what %s makes", options[i], options[before]);
        }
    }
    for (int i = 0; i < 5; i++)
        opencl_built_release(&built[i]);
}

/* ---- linking ---- */

static struct opencl_text compile(const char *source, struct opencl_built *built)
{
    cr_assert_eq(build(source, NULL, "gfx803", false, built), OPENCL_BUILD_OK, "%s", built->log);
    cr_assert_eq(opencl_binary_kind(built->bytes, built->size), OPENCL_BINARY_OBJECT);
    return (struct opencl_text){NULL, (const char *)built->bytes, built->size};
}

Test(opencl_compiler, links_objects_and_libraries)
{
    struct opencl_built first, second, third, library, code;
    struct opencl_text objects[] = {
        compile("int f(int x); kernel void k(global int *a) { *a = f(*a); }", &first),
        compile("int g(int x); int f(int x) { return g(x) + 1; }", &second),
        compile("int g(int x) { printf(\"%d\\n\", x); return x; }", &third)};
    cr_assert_eq(opencl_link(objects + 1, 2, "-create-library", "gfx803", &library),
                 OPENCL_BUILD_OK, "%s", library.log);
    cr_expect_eq(opencl_binary_kind(library.bytes, library.size), OPENCL_BINARY_LIBRARY);
    objects[1] = (struct opencl_text){NULL, (const char *)library.bytes, library.size};
    cr_assert_eq(opencl_link(objects, 2, NULL, "gfx803", &code), OPENCL_BUILD_OK, "%s", code.log);
    cr_expect_eq(opencl_binary_kind(code.bytes, code.size), OPENCL_BINARY_EXECUTABLE);
    opencl_built_release(&code);

    cr_expect_eq(opencl_link(objects, 1, NULL, "gfx803", &code), OPENCL_BUILD_FAILED);
    cr_expect(strstr(code.log, "undefined hidden symbol: f"), "%s", code.log);
    opencl_built_release(&code);
    objects[2] = objects[1];
    cr_expect_eq(opencl_link(objects, 3, NULL, "gfx803", &code), OPENCL_BUILD_FAILED);
    cr_expect(strstr(code.log, "multiply defined"), "%s", code.log);
    opencl_built_release(&code);
    cr_expect_eq(opencl_link(objects, 2, NULL, "gfx906", &code), OPENCL_BUILD_FAILED);
    cr_expect(strstr(code.log, "not all that is to be linked"), "%s", code.log);
    opencl_built_release(&code);
    cr_expect_eq(opencl_link(objects, 2, "-DX", "gfx803", &code), OPENCL_BUILD_INVALID_OPTIONS);
    opencl_built_release(&code);
    opencl_built_release(&first);
    opencl_built_release(&second);
    opencl_built_release(&third);
    opencl_built_release(&library);
}

Test(opencl_compiler, refuses_damaged_objects)
{
    struct opencl_built built, code;
    struct opencl_text object = compile(plain, &built);
    for (size_t size = 0; size < object.size; size += size < 64 ? 1 : 97) {
        cr_expect_eq(opencl_binary_kind(object.bytes, size), OPENCL_BINARY_UNKNOWN, "%zu bytes",
                     size);
    }
    memset(built.bytes + built.size / 2, 0xff, built.size / 4);
    cr_expect_eq(opencl_link(&object, 1, NULL, "gfx803", &code), OPENCL_BUILD_FAILED);
    cr_expect_neq(code.log[0], '\0');
    opencl_built_release(&code);
    opencl_built_release(&built);
}

/* ---- the cache ---- */

/* Entries of the cache; `damage`: the first one found is emptied. */
static int count_entries(bool damage)
{
    char path[512];
    int count = 0;
    snprintf(path, sizeof path, "%s/opencl", folder);
    DIR *directory = opendir(path);
    for (const struct dirent *each; directory && (each = readdir(directory));) {
        if (each->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/opencl/%s", folder, each->d_name);
        cr_expect(!damage || truncate(path, 100) == 0);
        count++;
    }
    if (directory)
        closedir(directory);
    return count;
}

static void write_header(const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/a b.h", folder);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fputs(text, file);
    fclose(file);
}

Test(opencl_compiler, keeps_builds_with_their_logs)
{
    static const char source[] = "#warning \"once\"\nkernel void k(global int *a) { *a = 1; }";
    struct opencl_built first, second;
    must_build(source, NULL, "gfx803", &first);
    cr_expect(strstr(first.log, "once"), "%s", first.log);
    for (int damaged = 0; damaged < 2; damaged++) {
        cr_expect_eq(count_entries(damaged), 1);
        must_build(source, NULL, "gfx803", &second);
        cr_expect_str_eq(first.log, second.log);
        cr_expect_eq(first.size, second.size);
        cr_expect_eq(memcmp(first.bytes, second.bytes, first.size), 0);
        opencl_built_release(&second);
    }
    must_build(source, "-DOTHER", "gfx803", &second);
    cr_expect_eq(count_entries(false), 2);
    opencl_built_release(&second);
    opencl_built_release(&first);
}

Test(opencl_compiler, builds_again_when_a_header_file_has_changed)
{
    static const char source[] = "#include \"a b.h\"\nkernel void k(global int *a) { *a = N; }";
    struct opencl_built first, second;
    char options[64];
    snprintf(options, sizeof options, "-I %s", folder);
    write_header("#define N 1\n");
    must_build(source, options, "gfx803", &first);
    write_header("#define N 2\n");
    must_build(source, options, "gfx803", &second);
    cr_expect_neq(memcmp(first.bytes, second.bytes, first.size), 0);
    opencl_built_release(&second);
    opencl_built_release(&first);
}

/* ---- facts ---- */

Test(opencl_compiler, tells_arguments_and_attributes_of_kernels)
{
    struct opencl_built built;
    struct opencl_facts facts;
    char error[320];
    must_build("kernel __attribute__((reqd_work_group_size(8, 4, 2)))\n"
               "__attribute__((vec_type_hint(float4)))\n"
               "void k(global const float *restrict in, volatile global uint4 *out,\n"
               "       constant int *c, local double *l, float2 value) { out[0] = (uint)in[0]; }",
               "-cl-kernel-arg-info", "gfx803", &built);
    cr_assert(opencl_facts_read(&facts, built.bytes, built.size, error), "%s", error);
    cr_assert_eq(facts.kernel_count, 1);
    const struct opencl_kernel *kernel = &facts.kernels[0];
    cr_expect_str_eq(kernel->name, "k");
    cr_expect_str_eq(kernel->attributes, "reqd_work_group_size(8,4,2) vec_type_hint(float4)");
    cr_assert_eq(kernel->argument_count, 5);
    static const struct opencl_argument expected[] = {
        {OPENCL_ARGUMENT_BUFFER, OPENCL_ADDRESS_GLOBAL, 0, true, true, false, false, "float*", "in",
         0, 8, 0},
        {OPENCL_ARGUMENT_BUFFER, OPENCL_ADDRESS_GLOBAL, 0, false, false, true, false, "uint4*",
         "out", 8, 8, 0},
        {OPENCL_ARGUMENT_BUFFER, OPENCL_ADDRESS_CONSTANT, 0, true, false, false, false, "int*", "c",
         16, 8, 0},
        {OPENCL_ARGUMENT_LOCAL, OPENCL_ADDRESS_LOCAL, 0, false, false, false, false, "double*", "l",
         24, 4, 8},
        {OPENCL_ARGUMENT_VALUE, OPENCL_ADDRESS_PRIVATE, 0, false, false, false, false, "float2",
         "value", 32, 8, 0},
    };
    for (int i = 0; i < 5; i++) {
        const struct opencl_argument *is = &kernel->arguments[i], *should = &expected[i];
        cr_expect_eq(is->kind, should->kind, "%d", i);
        cr_expect_eq(is->address_space, should->address_space, "%d", i);
        cr_expect_eq(is->is_const, should->is_const, "%d", i);
        cr_expect_eq(is->is_restrict, should->is_restrict, "%d", i);
        cr_expect_eq(is->is_volatile, should->is_volatile, "%d", i);
        cr_expect_str_eq(is->type_name, should->type_name);
        cr_expect_str_eq(is->name, should->name);
        cr_expect_eq(is->offset, should->offset, "%d", i);
        cr_expect_eq(is->size, should->size, "%d", i);
        cr_expect_eq(is->pointee_align, should->pointee_align, "%d", i);
    }
    opencl_facts_release(&facts);
    opencl_built_release(&built);
}

Test(opencl_compiler, tells_formats_of_printf)
{
    struct opencl_built built;
    struct opencl_facts facts;
    char error[320];
    must_build("kernel void k(int4 v, long n, float f) {\n"
               "  printf(\"a:%v4d\\t%s\\n\", v, \"text\"); printf(\"%ld %f\", n, f); }",
               NULL, "gfx90a", &built);
    cr_assert(opencl_facts_read(&facts, built.bytes, built.size, error), "%s", error);
    cr_assert_eq(facts.format_count, 2);
    int first = facts.formats[0].argument_bytes[0] == 8; /* which one comes first is open */
    const struct opencl_format *formats[] = {&facts.formats[first], &facts.formats[1 - first]};
    cr_expect_str_eq(formats[0]->text, "a:%v4d\t%s\n");
    cr_assert_eq(formats[0]->argument_count, 2);
    cr_expect_eq(formats[0]->argument_bytes[0], 16);
    cr_expect_str_eq(formats[1]->text, "%ld %f");
    cr_assert_eq(formats[1]->argument_count, 2);
    cr_expect_eq(formats[1]->argument_bytes[0], 8);
    cr_expect_eq(formats[1]->argument_bytes[1], 4);
    cr_expect_neq(formats[0]->number, formats[1]->number);
    opencl_facts_release(&facts);
    opencl_built_release(&built);
}

Test(opencl_compiler, says_what_is_no_code_object)
{
    struct opencl_facts facts;
    char error[320] = "";
    cr_expect_not(opencl_facts_read(&facts,
                                    "\x7f"
                                    "ELF and no more",
                                    16, error));
    cr_expect_neq(error[0], '\0');
}
