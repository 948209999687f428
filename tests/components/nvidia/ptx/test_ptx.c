/* The parser of PTX: the manual's instructions (instructions.tab), mistakes with their messages
 * (mistakes.tab), layouts, images, and scopes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "components/nvidia/ptx/ptx.h"
#include "components/nvidia/ptx/ptx_forms.h"
#include "components/nvidia/ptx/ptx_object.h"

#define HEAD ".version 8.5\n.target sm_90a\n.address_size 64\n"

static const char BEFORE[] = HEAD
    ".visible .global .align 8 .b32 global;\n"
    ".const .align 4 .b8 constant[64];\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".func (.param .b64 out) function(.param .b64 in);\n"
    ".func device(.param .b64 in);\n"
    ".func nothing;\n"
    ".visible .entry kernel(.param .u64 param)\n{\n"
    ".reg .pred p<10>;\n.reg .b16 h<10>;\n.reg .b32 r<10>;\n.reg .f32 f<10>;\n.reg .b64 l<10>;\n"
    ".reg .f64 d<10>;\n.reg .b128 x<4>;\n.reg .u32 u<10>;\n.reg .s64 s<10>;\n"
    ".local .align 8 .b8 frame[64];\n.shared .align 4 .b8 shared[128];\n"
    "labels: .branchtargets there, end;\n"
    "functions: .calltargets function;\n"
    "shape: .callprototype (.param .b64 _) _ (.param .b64 _);\n"
    "there:\n";
static const char AFTER[] = "\nend:\n    ret;\n}\n";

static struct ptx_error error;

static struct ptx_module *parse(const char *text)
{
    return ptx_parse("folder/test.ptx", text, strlen(text), &error);
}

static struct ptx_module *parse_instruction(const char *line)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s;%s", BEFORE, line, AFTER);
    return parse(text);
}

/* Calls `check` with each line of a table of this folder. */
static unsigned each_line(const char *name, void (*check)(char *line))
{
    char path[500], line[1000];
    unsigned count = 0;
    snprintf(path, sizeof path, "%s/%s", TABLES, name);
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s", path);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || !line[0])
            continue;
        check(line);
        count++;
    }
    fclose(file);
    return count;
}

static bool seen[PTX_OPCODE_COUNT];

static void accepts(char *line)
{
    struct ptx_module *module = parse_instruction(line);
    cr_expect(module, "%s\n%s", line, error.text);
    if (!module)
        return;
    const struct ptx_function *kernel = ptx_find_function(module, "kernel");
    cr_assert_eq(kernel->instruction_count, 2, "%s", line);
    const struct ptx_instruction *instruction = &kernel->instructions[0];
    char name[300];
    size_t length = strcspn(line[0] == '@' ? strchr(line, ' ') + 1 : line, " ");
    ptx_instruction_name(instruction, name, sizeof name);
    cr_expect_eq(strlen(name), length, "%s reads as %s", line, name);
    seen[instruction->opcode] = true;
    ptx_free(module);
}

Test(ptx, instructions_of_the_manual_are_accepted)
{
    unsigned lines = each_line("instructions.tab", accepts);
    cr_expect_gt(lines, 300);
    for (int i = 0; i < PTX_OPCODE_COUNT; i++)
        cr_expect(seen[i], "no line has '%s'", ptx_opcode_name((enum ptx_opcode)i));
}

static void refuses(char *line)
{
    char *words = strstr(line, " => ");
    cr_assert(words, "%s", line);
    *words = '\0';
    struct ptx_module *module = parse_instruction(line);
    cr_expect_null(module, "'%s' was accepted", line);
    cr_expect(module || strstr(error.text, words + 4), "%s\n%s", line, error.text);
    cr_expect(module || error.line >= 20, "%s: line %u", line, error.line);
    ptx_free(module);
}

Test(ptx, mistakes_are_named)
{
    cr_expect_gt(each_line("mistakes.tab", refuses), 60);
}

Test(ptx, every_part_of_a_form_is_a_type_or_a_modifier)
{
    enum ptx_opcode opcode = PTX_OP_ADD;
    const char *modifiers, *operands;
    for (uint32_t i = 0; ptx_form_at(i, &opcode, &modifiers, &operands); i++)
        for (const char *at = modifiers; *at; at++) {
            char part[64];
            size_t length = 0;
            if (*at == '<') {
                cr_expect(ptx_form_class(at + 1, strcspn(at + 1, ">")), "%s", at);
                continue;
            }
            if (*at != '.')
                continue;
            while (!strchr("(){}|<>.*", at[1 + length]))
                length++;
            snprintf(part, sizeof part, "%.*s", (int)length, at + 1);
            bool known = false;
            for (int m = 1; m < PTX_MODIFIER_COUNT; m++)
                known |= strcmp(ptx_modifier_name((enum ptx_modifier)m), part) == 0;
            for (int t = 1; t < PTX_TYPE_COUNT; t++)
                known |= strcmp(ptx_type_name((enum ptx_type)t), part) == 0;
            cr_expect(known, "'%s' of %s%s", part, ptx_opcode_name(opcode), modifiers);
        }
}

/* Whole texts with words of their message; NULL: accepted. */
static const struct {
    const char *text, *message;
} texts[] = {
    {"", "this is no PTX: there is no .version"},
    {"hello world", "unexpected name"},
    {".version 8.5\n", "there is no .target"},
    {".version x\n", "unexpected name; expected number"},
    {".version 8\n.target sm_80\n", ".version needs a number such as 8.5"},
    {".version 8.5\n.target gfx90a\n", "'gfx90a' is no target; write one such as sm_80"},
    {".version 8.5\n.target sm_80\n.address_size 32\n", "compile for a 64-bit host"},
    {HEAD ".extern .global .b32 x;\n", "'x' is extern and no file defines it"},
    {HEAD ".extern .global .b32 x;\n.visible .global .b32 x = 5;\n", NULL},
    {HEAD ".local .b32 x;\n", "a variable in .local is declared inside a function"},
    {HEAD ".reg .b32 x;\n", "a register is declared inside a function"},
    {HEAD ".global .b32 x;\n.global .b32 x;\n", "'x' is declared twice"},
    {HEAD ".entry k()\n{\nret;\n}\n.entry k()\n{\nret;\n}\n", "function 'k' is defined twice"},
    {HEAD ".entry k(.shared .b32 x)\n{\nret;\n}\n", "a parameter is in .param or .reg"},
    {HEAD ".alias a, b;\n", "'b' is no function"},
    {HEAD "/* for ever", "a comment has no end"},
    {HEAD ".section .debug_str {\n", "a .section has no '}'"},
    {HEAD ".section .debug_str {\n.b8 1,2\n}\n.file 1 \"a.cu\"\n", NULL},
    {HEAD ".entry k()\n{\n{ .reg .b32 t; L: bra L; }\n{ .reg .b32 t; L: bra L; }\nret;\n}\n", NULL},
    {HEAD ".func f(.reg .b32 a)\n{\n.reg .b32 b;\nadd.s32 b, a, a;\nret;\n}\n", NULL},
    {HEAD ".entry k()\n{\n.reg .v4 .f32 v;\n.reg .f32 f;\nmov.f32 f, v.w;\nret;\n}\n", NULL},
    {HEAD ".entry k()\n{\n.reg .v2 .f32 v;\n.reg .f32 f;\nmov.f32 f, v.z;\nret;\n}\n",
     "unknown name 'v.z'"},
    {HEAD ".entry k()\n.maxntid 128, 1, 1\n.minnctapersm 4\n{\nret;\n}\n", NULL},
    {HEAD ".file 1 \"a.cu\"\n.entry k()\n{\n.loc 1 7 3\nfoo;\n}\n", "test.ptx:8: (a.cu:7) unknown"},
};

Test(ptx, texts_are_accepted_or_refused_with_a_reason)
{
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct ptx_module *module = parse(texts[i].text);
        if (texts[i].message)
            cr_expect(!module && strstr(error.text, texts[i].message), "%s\n%s", texts[i].text,
                      error.text);
        else
            cr_expect(module, "%s\n%s", texts[i].text, error.text);
        ptx_free(module);
    }
}

Test(ptx, several_mistakes_are_reported_up_to_ten)
{
    char text[2000] = HEAD ".entry k()\n{\n";
    for (int i = 0; i < 15; i++)
        strcat(text, "wrong;\n");
    strcat(text, "}\n");
    cr_expect_null(parse(text));
    unsigned lines = 1;
    for (const char *at = error.text; *at; at++)
        lines += *at == '\n';
    cr_expect_eq(lines, 10);
    cr_expect_eq(error.count, 15);
    cr_expect_eq(error.line, 6);
}

Test(ptx, parameters_lie_as_the_abi_says)
{
    struct ptx_module *module = parse(HEAD ".entry k(.param .u8 a, .param .u64 b, .param .align 16 "
                                           ".b8 c[20], .param .u16 d)\n{\nret;\n}\n");
    static const uint64_t offsets[] = {0, 8, 16, 36};
    cr_assert(module, "%s", error.text);
    const struct ptx_function *kernel = ptx_find_function(module, "k");
    cr_assert_eq(kernel->param_count, 4);
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(kernel->params[i].offset, offsets[i], "%zu", i);
    cr_expect_eq(kernel->param_bytes, 38);
    ptx_free(module);
}

Test(ptx, an_image_has_values_addresses_and_room_for_instructions)
{
    struct ptx_module *module = parse(HEAD ".func f();\n.global .align 4 .b8 a[8] = {1, 2, 0xff};\n"
                                           ".global .align 8 .u64 b[3] = {generic(a)+2, f, 7};\n"
                                           ".const .f32 c[] = {1.0, 0f40000000, 5};\n"
                                           ".global .b8 d[2] = {0xff(a), 0xff00(a)};\n"
                                           ".func f()\n{\nret;\n}\n.entry k()\n{\nret;\nret;\n}\n");
    cr_assert(module, "%s", error.text);
    ptx_layout(module);
    const struct ptx_variable *a = ptx_find_variable(module, "a"),
                              *b = ptx_find_variable(module, "b");
    const struct ptx_variable *c = ptx_find_variable(module, "c"),
                              *d = ptx_find_variable(module, "d");
    const struct ptx_function *f = ptx_find_function(module, "f"),
                              *k = ptx_find_function(module, "k");
    uint8_t *image = malloc(module->image_bytes);
    uint64_t base = 0x123400, words[3];
    float floats[3];
    ptx_image(module, base, image);
    cr_expect_eq(memcmp(image + a->offset, "\1\2\xff\0\0\0\0\0", 8), 0);
    memcpy(words, image + b->offset, sizeof words);
    cr_expect_eq(words[0], base + a->offset + 2);
    cr_expect_eq(words[1], base + f->offset);
    cr_expect_eq(words[2], 7);
    cr_expect_eq(c->bytes, 12);
    memcpy(floats, image + c->offset, sizeof floats);
    cr_expect(floats[0] == 1.0f && floats[1] == 2.0f);
    cr_expect_eq(image[d->offset], 0);
    cr_expect_eq(image[d->offset + 1], 0x34);
    cr_expect_eq(k->offset, f->offset + PTX_INSTRUCTION_BYTES);
    cr_expect_eq(module->image_bytes, k->offset + 2 * PTX_INSTRUCTION_BYTES);
    cr_expect_eq(ptx_function_of(module, 1), k);
    free(image);
    ptx_free(module);
}

Test(ptx, shared_memory_of_a_kernel_is_that_of_what_it_uses)
{
    struct ptx_module *module = parse(
        HEAD ".shared .align 4 .b8 first[100];\n.shared .align 16 .b8 second[32];\n"
             ".shared .b32 common;\n.extern .shared .align 128 .b8 dynamic[];\n"
             ".func f()\n{\n.reg .b32 r;\nmov.u32 r, common;\nret;\n}\n"
             ".entry one()\n{\n.reg .b32 r;\nmov.u32 r, first;\nret;\n}\n"
             ".entry two()\n{\n.reg .b32 r;\nld.shared.u32 r, [second+4];\ncall f;\nret;\n}\n");
    cr_assert(module, "%s", error.text);
    ptx_layout(module);
    cr_expect_eq(ptx_find_variable(module, "common")->offset, 0);
    cr_expect_eq(ptx_find_variable(module, "first")->offset, 0);
    cr_expect_eq(ptx_find_variable(module, "second")->offset, 16);
    cr_expect_eq(ptx_find_function(module, "one")->shared_bytes, 128);
    cr_expect_eq(ptx_find_function(module, "two")->shared_bytes, 128);
    cr_expect(ptx_find_variable(module, "dynamic")->is_dynamic);
    ptx_free(module);
}

Test(ptx, inner_registers_hide_outer_ones)
{
    struct ptx_module *module = parse(HEAD ".entry k()\n{\n.reg .b32 r<4>;\nmov.u32 r1, 1;\n"
                                           "{\n.reg .b32 r<3>;\nmov.u32 r1, 2;\nmov.u32 r3, 3;\n}\n"
                                           "mov.u32 r1, 4;\nret;\n}\n");
    static const uint32_t registers[] = {1, 5, 3, 1};
    cr_assert(module, "%s", error.text);
    const struct ptx_function *kernel = ptx_find_function(module, "k");
    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(kernel->instructions[i].operands[0].index, registers[i], "%zu", i);
    ptx_free(module);
}

Test(ptx, constants_become_bits_of_their_type)
{
    static const struct {
        uint8_t kind;
        uint64_t bits;
        enum ptx_type type;
        uint64_t wanted;
    } cases[] = {
        {PTX_OPERAND_INTEGER, UINT64_MAX, PTX_S16, 0xffff},
        {PTX_OPERAND_F64, 0x3ff8000000000000, PTX_F32, 0x3fc00000},
        {PTX_OPERAND_F64, 0x3ff8000000000000, PTX_F16, 0x3e00},
        {PTX_OPERAND_F64, 0x3ff8000000000000, PTX_BF16, 0x3fc0},
        {PTX_OPERAND_F64, 0x3e80000000000000, PTX_F16, 0x0002}, /* 2^-23 */
        {PTX_OPERAND_F64, 0x40effc0000000000, PTX_F16, 0x7bff}, /* 65504 */
        {PTX_OPERAND_F64, 0x40effe0000000000, PTX_F16, 0x7c00}, /* 65520 is infinite */
        {PTX_OPERAND_F32, 0x3f800000, PTX_F64, 0x3ff0000000000000},
        {PTX_OPERAND_F32, 0x3f800000, PTX_B32, 0x3f800000},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct ptx_operand operand = {.kind = cases[i].kind, .bits = cases[i].bits};
        cr_expect_eq(ptx_constant(&operand, cases[i].type), cases[i].wanted, "%zu", i);
    }
}

Test(ptx, a_text_is_known_by_its_first_directive)
{
    static const struct {
        const char *text;
        bool is;
    } cases[] = {
        {".version 7.0\n", true},
        {"\r\n\t // made by LLVM\n/* .target * */ .version 7.0", true},
        {"", false},
        {"\x7f"
         "ELF",
         false},
        {"// .version 7.0", false},
        {"/* .version 7.0", false},
        {"/* .version 7.0 */ .versio", false},
        {".target sm_80\n.version 7.0\n", false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        cr_expect_eq(ptx_object_recognise(cases[i].text, strlen(cases[i].text)), cases[i].is,
                     "case %zu", i);
}

Test(ptx, kernels_and_variables_are_those_of_a_code_object)
{
    struct ptx_module *module = parse(HEAD ".global .u32 b; .const .f64 a; .shared .u32 s;"
                                           ".visible .entry k(.param .u64 p, .param .f64 d,"
                                           " .param .align 8 .b8 t[8]) { ret; }");
    cr_assert(module, "%s", error.text);
    ptx_layout(module);
    struct code_object object = {0};
    ptx_object_describe(module, &object);
    ptx_free(module);
    const struct code_object_kernel *kernel = code_object_find_kernel(&object, "k");
    cr_assert(kernel && kernel->explicit_argument_count == 3 && object.symbol_count == 2);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(kernel->arguments[i].offset, 8 * i);
        cr_expect_eq(kernel->arguments[i].kind == CODE_OBJECT_VALUE_GLOBAL_BUFFER, i == 0, "%u", i);
    }
    cr_expect(code_object_find_symbol(&object, "a") && code_object_find_symbol(&object, "b"));
    code_object_release(&object);
}
