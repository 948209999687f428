/* Code that the program has loaded: which kernels reach instructions that are not implemented.
 *
 * Kept on the host, outside of the simulation's state: it only decides whether a launch is refused
 * and what is said. The search follows branches, and calls whose address is made with s_getpc and
 * an added literal, as compilers do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/host/driver/driver_process.h"
#include "components/host/driver/driver_state.h"

#include "driver_program.h"

static void code_add(const char *name, uint64_t address, const void *bytes, uint64_t size)
{
    struct code_module *m = grow_zeroed(sizeof *m, CODE_MEMORY);
    m->address = address;
    m->size = size;
    m->bytes = grow_zeroed(size, CODE_MEMORY);
    memcpy(m->bytes, bytes, size);
    snprintf(m->name, sizeof m->name, "%s", name);
    m->next = driver_process()->code_modules;
    driver_process()->code_modules = m;
}

static void code_drop_lacks(uint64_t start, uint64_t end)
{
    struct code_lack **link = &driver_process()->code_lacks;
    while (*link) {
        struct code_lack *l = *link;
        if (l->entry < start || l->entry >= end) {
            link = &l->next;
            continue;
        }
        *link = l->next;
        free(l);
    }
}

static void code_drop_extents(uint64_t start, uint64_t end)
{
    struct code_extent **link = &driver_process()->code_extents;
    while (*link) {
        struct code_extent *x = *link;
        if (x->entry < start || x->entry >= end) {
            link = &x->next;
            continue;
        }
        *link = x->next;
        free(x);
    }
}

static bool code_remove(uint64_t address)
{
    for (struct code_module **link = &driver_process()->code_modules; *link;
         link = &(*link)->next) {
        struct code_module *m = *link;
        if (m->address != address)
            continue;
        *link = m->next;
        code_drop_lacks(m->address, m->address + m->size);
        code_drop_extents(m->address, m->address + m->size);
        free(m->bytes);
        free(m);
        return true;
    }
    return false;
}

static const struct code_module *code_find(uint64_t address)
{
    for (const struct code_module *m = driver_process()->code_modules; m; m = m->next)
        if (address - m->address < m->size)
            return m;
    return NULL;
}

static bool code_first_launch(uint64_t entry)
{
    for (struct code_module *m = driver_process()->code_modules; m; m = m->next) {
        if (entry - m->address < m->size) {
            bool first = !m->was_launched;
            m->was_launched = true;
            return first;
        }
    }
    return false;
}

static const struct code_lack *code_find_lack(uint64_t entry)
{
    for (const struct code_lack *l = driver_process()->code_lacks; l; l = l->next)
        if (l->entry == entry)
            return l;
    return NULL;
}

static const struct code_extent *code_find_extent(uint64_t entry)
{
    const struct code_extent *x = driver_process()->code_extents;
    while (x && x->entry != entry)
        x = x->next;
    return x;
}

static bool code_meets(uint64_t entry)
{
    const struct code_extent *x = code_find_extent(entry);
    return x && x->meets;
}

struct code_search {
    const struct code_module *module;
    enum isa_target target;
    uint8_t *reached; /* a byte for each dword of the module */
    uint64_t *todo;   /* addresses, as many as dwords */
    size_t todo_count;
    const char *kernel;
    struct code_lack *lack;
    bool meets, counts; /* ds_gws_barrier, ds_gws_init */
};

static void search_add(struct code_search *s, uint64_t address)
{
    uint64_t offset = address - s->module->address;
    if (offset < s->module->size && offset % 4 == 0 && !s->reached[offset / 4]) {
        s->reached[offset / 4] = 1;
        s->todo[s->todo_count++] = address;
    }
}

/* `reason`: why, or "". */
static void search_lacks(struct code_search *s, uint64_t pc, const char *text, const char *reason,
                         uint64_t entry)
{
    const char *colon = *reason ? ": " : "";
    fprintf(stderr,
            "heddle: warning: %s at 0x%" PRIx64
            " is not implemented for %s%s%s (kernel '%s', %s)\n",
            text, pc, isa_target_name(s->target), colon, reason, s->kernel, s->module->name);
    if (s->lack)
        return;
    s->lack = grow_zeroed(sizeof *s->lack, CODE_MEMORY);
    s->lack->entry = entry;
    snprintf(s->lack->text, sizeof s->lack->text,
             "an instruction is reached that is not implemented for %s: %s at 0x%" PRIx64
             "%s%s (kernel '%s')",
             isa_target_name(s->target), text, pc, colon, reason, s->kernel);
    s->lack->next = driver_process()->code_lacks;
    driver_process()->code_lacks = s->lack;
}

/* Code addresses that scalar register pairs hold, as far as s_getpc and added literals tell; 0:
 * unknown. */
struct code_pairs {
    uint64_t value[ISA_FLAT_SCRATCH];
};

static void pairs_follow(struct code_pairs *p, const struct isa_inst *inst, const char *name,
                         uint64_t after)
{
    uint64_t value = 0;
    if (inst->dst >= ISA_FLAT_SCRATCH || !strcmp(name, "s_addc_u32"))
        return;
    if (!strcmp(name, "s_getpc_b64"))
        value = after;
    else if (!strcmp(name, "s_add_u32") && (inst->flags & ISA_HAS_LITERAL)
             && inst->src[0] < ISA_FLAT_SCRATCH && p->value[inst->src[0]])
        value = p->value[inst->src[0]] + (uint64_t)(int64_t)(int32_t)inst->literal;
    else if (!strcmp(name, "s_mov_b64") && inst->src[0] < ISA_FLAT_SCRATCH)
        value = p->value[inst->src[0]];
    p->value[inst->dst] = value;
}

/* Follows one instruction. False: control does not reach the next one. */
static bool search_follow(struct code_search *s, const struct isa_inst *inst, uint64_t pc,
                          struct code_pairs *pairs)
{
    const char *name = isa_mnemonic(inst);
    uint64_t after = pc + inst->size;
    if (inst->flags & ISA_IS_ENDPGM)
        return false;
    if (!(inst->flags & ISA_IS_BRANCH)) {
        if (inst->unit == ISA_UNIT_SALU || inst->unit == ISA_UNIT_SMEM)
            pairs_follow(pairs, inst, name, after);
        return true;
    }
    if (inst->format == ISA_SOPP || inst->format == ISA_SOPK)
        search_add(s, after + (uint64_t)(int64_t)inst->simm * 4);
    else if (inst->src[0] < ISA_FLAT_SCRATCH && pairs->value[inst->src[0]])
        search_add(s, pairs->value[inst->src[0]]);
    else if (!strcmp(name, "s_getpc_b64"))
        pairs_follow(pairs, inst, name, after);
    return strcmp(name, "s_branch") && strcmp(name, "s_setpc_b64") && strncmp(name, "s_rfe_", 6);
}

static void search_note_sync(struct code_search *s, const char *name)
{
    s->meets |= !strcmp(name, "ds_gws_barrier");
    s->counts |= !strcmp(name, "ds_gws_init");
}

/* Decodes from one address up to where control leaves or joins what was reached. */
static void search_run(struct code_search *s, uint64_t pc, uint64_t entry)
{
    const struct code_module *m = s->module;
    struct code_pairs pairs = {{0}};
    for (bool first = true;; first = false) {
        struct isa_inst inst;
        char text[ISA_TEXT_MAX];
        uint64_t offset = pc - m->address;
        if (offset >= m->size || (!first && s->reached[offset / 4]))
            return;
        s->reached[offset / 4] = 1;
        int result = isa_decode(s->target, m->bytes + offset, m->size - offset, &inst);
        if (result == ISA_ERROR_UNIMPLEMENTED
            || (result > 0 && (inst.flags & ISA_UNIMPLEMENTED_SEMANTICS))) {
            isa_format(&inst, UINT64_MAX, text, sizeof text);
            search_lacks(s, pc, text, isa_reason(&inst), entry);
        } else if (result < 0) {
            uint32_t word;
            memcpy(&word, m->bytes + offset, sizeof word);
            snprintf(text, sizeof text, "instruction word 0x%08x", word);
            search_lacks(s, pc, text, isa_word_reason(word), entry);
            return;
        }
        if (inst.flags & ISA_IS_SYNC)
            search_note_sync(s, isa_mnemonic(&inst));
        if (!search_follow(s, &inst, pc, &pairs))
            return;
        pc += inst.size;
    }
}

/* Notes the extent of what was reached, from the first instruction to the last. */
static void search_note_extent(const struct code_search *s, uint64_t entry, size_t dwords)
{
    size_t first = 0, last = dwords;
    while (first < dwords && !s->reached[first])
        first++;
    while (last > first && !s->reached[last - 1])
        last--;
    if (first == last || code_find_extent(entry))
        return;
    enum { LONGEST = 8 }; /* bytes of an instruction of these targets, literal included */
    struct code_extent *x = grow_zeroed(sizeof *x, CODE_MEMORY);
    uint64_t end = s->module->address + (last - 1) * 4 + LONGEST,
             most = s->module->address + s->module->size;
    *x = (struct code_extent){driver_process()->code_extents, entry, s->module->address + first * 4,
                              min(end, most), s->meets && !s->counts};
    driver_process()->code_extents = x;
}

static bool code_check_kernel(enum isa_target target, const char *name, uint64_t entry)
{
    const struct code_module *m = code_find(entry);
    if (!m)
        return false;
    size_t dwords = m->size / 4 + 1;
    struct code_search s = {.module = m, .target = target, .kernel = name};
    s.reached = grow_zeroed(dwords, CODE_MEMORY);
    s.todo = grow_zeroed(dwords * sizeof *s.todo, CODE_MEMORY);
    search_add(&s, entry);
    while (s.todo_count)
        search_run(&s, s.todo[--s.todo_count], entry);
    search_note_extent(&s, entry, dwords);
    free(s.reached);
    free(s.todo);
    return true;
}
