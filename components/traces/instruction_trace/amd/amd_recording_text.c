/* Registers are taken from the disassembler's text, so that both always agree; the decoded
 * instruction says which of them are written. Done once for each static instruction. */
#include "components/traces/instruction_trace/amd/amd_recording_kernel.h"

#include <inttypes.h>
#include <string.h>

#include "components/traces/instruction_trace/amd/amd_opcodes.h"
#include "components/traces/instruction_trace/reader/itrace_program.h"

struct list {
    unsigned count, limit;
    char name[ITRACE_MAX_SOURCES][32];
};

static void add(struct list *list, const char *name)
{
    for (unsigned i = 0; i < list->count; i++)
        if (strcmp(list->name[i], name) == 0)
            return;
    if (list->count < list->limit)
        snprintf(list->name[list->count++], sizeof list->name[0], "%s", name);
}

/* Registers that the instruction writes stand first in its text; so many of them. */
static unsigned written(const struct isa_inst *inst)
{
    bool is_memory =
        inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_SMEM || inst->unit == ISA_UNIT_LDS;
    bool stores = (inst->flags & (ISA_IS_STORE | ISA_IS_ATOMIC)) && !(inst->flags & ISA_RETURNS);
    if (is_memory)
        return inst->dst != ISA_NO_OPERAND && !stores;
    return (inst->dst != ISA_NO_OPERAND)
           + (inst->unit == ISA_UNIT_VALU && inst->sdst != ISA_NO_OPERAND);
}

/* The registers of the text behind the mnemonic. */
static void read_operands(const char *at, unsigned writes, struct list *to, struct list *from)
{
    static const char apart[] = " ,()|";
    while (*at) {
        char name[32];
        uint16_t number;
        at += strspn(at, apart);
        at += *at == '-';
        at += strspn(at, apart);
        size_t size = strcspn(at, apart);
        if (size > 0 && size < sizeof name && amd_register(at, size, &number)) {
            snprintf(name, sizeof name, "%.*s", (int)size, at);
            if (writes) {
                writes--;
                add(to, name);
            } else {
                add(from, name);
            }
        }
        at += size;
    }
}

/* What the text does not name. */
static void add_implied(const struct isa_inst *inst, const char *name, struct list *to,
                        struct list *from)
{
    static const struct {
        const char *part, *reads;
    } readers[] = {{"s_cbranch_scc", "scc"}, {"s_cbranch_vcc", "vcc"}, {"s_cbranch_exec", "exec"},
                   {"s_addc_", "scc"},       {"s_subb_", "scc"},       {"s_cselect_", "scc"},
                   {"s_cmov", "scc"}};
    if (inst->flags & ISA_WRITES_SCC)
        add(to, "scc");
    if (inst->flags & ISA_WRITES_VCC)
        add(to, "vcc");
    if (inst->flags & ISA_WRITES_EXEC)
        add(to, "exec");
    if (inst->flags & ISA_READS_VCC)
        add(from, "vcc");
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (strncmp(name, readers[i].part, strlen(readers[i].part)) == 0)
            add(from, readers[i].reads);
    bool accumulates = strncmp(name, "v_mac_", 6) == 0 || strncmp(name, "v_fmac_", 7) == 0;
    if (to->count && (accumulates || (inst->flags & ISA_RETURNS)))
        add(from, to->name[0]); /* the accumulator; the operand of an atomic, where it returns */
}

/* Bytes that a lane moves to or from the LDS. */
static unsigned lds_bytes(const struct isa_inst *inst, const char *name)
{
    static const struct {
        const char *part;
        unsigned bytes;
    } narrow[] = {{"_u8", 1}, {"_i8", 1}, {"_b8", 1}, {"_u16", 2}, {"_i16", 2}, {"_b16", 2}};
    if (inst->unit != ISA_UNIT_LDS || inst->src[0] < ISA_VGPR || inst->src[0] >= ISA_VGPR + 256)
        return 0;
    for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
        if (strstr(name, narrow[i].part))
            return narrow[i].bytes;
    bool two = strstr(name, "read2") || strstr(name, "write2") || strstr(name, "wrxchg2");
    return (inst->dwords ? inst->dwords : 1u) * (two ? 8 : 4);
}

static void write_list(char *text, size_t room, const struct list *list)
{
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, room - at, "%u", list->count);
    for (unsigned i = 0; i < list->count; i++)
        at += (size_t)snprintf(text + at, room - at, " %s", list->name[i]);
}

static void write_immediates(const struct isa_inst *inst, struct record_text *text)
{
    bool is_memory = inst->unit == ISA_UNIT_VMEM || inst->unit == ISA_UNIT_LDS
                     || (inst->unit == ISA_UNIT_SMEM && !(inst->memory & ISA_MEM_OFFSET_IS_SGPR));
    if (is_memory || inst->format == ISA_SOPP || inst->format == ISA_SOPK)
        snprintf(text->immediates, sizeof text->immediates, " %" PRId32, inst->simm);
    else if (inst->flags & ISA_HAS_LITERAL)
        snprintf(text->immediates, sizeof text->immediates, " 0x%" PRIx32, inst->literal);
}

bool record_text_make(enum isa_target target, const uint8_t *bytes, size_t count,
                      struct record_text *text)
{
    struct list to = {.limit = ITRACE_MAX_DESTINATIONS}, from = {.limit = ITRACE_MAX_SOURCES};
    struct isa_inst inst;
    char whole[ISA_MAX_TEXT];
    int size = isa_decode(target, bytes, count, &inst);
    *text = (struct record_text){0};
    if (size <= 0 || isa_format(&inst, UINT64_MAX, whole, sizeof whole) >= sizeof whole)
        return false;
    char *name = whole + strspn(whole, " "), *operands = name + strcspn(name, " ");
    if (*operands)
        *operands++ = '\0';
    read_operands(operands, written(&inst), &to, &from);
    add_implied(&inst, name, &to, &from);
    write_list(text->head, sizeof text->head, &to);
    size_t at = strlen(text->head);
    snprintf(text->head + at, sizeof text->head - at, " %.*s ", SASS_MAX_OPCODE, name);
    write_list(text->head, sizeof text->head, &from);
    write_immediates(&inst, text);
    text->size = (uint8_t)size;
    text->bytes = (uint8_t)lds_bytes(&inst, name);
    return true;
}
