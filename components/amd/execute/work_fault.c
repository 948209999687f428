/* The texts of faults, which end a run. */
#include "work_fault.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"
#include "components/amd/isa/object/kernarg.h"

void work_fault_text(const struct work_fault_place *p, const char *cause, char *text, size_t size)
{
    char inst[ISA_TEXT_MAX] = "", lane[32] = "";
    if (p->inst && isa_format(p->inst, UINT64_MAX, inst, sizeof inst) >= sizeof inst)
        inst[sizeof inst - 1] = 0;
    if (p->lane != WORK_LANE_NONE)
        snprintf(lane, sizeof lane, ", lane %u", p->lane);
    snprintf(text, size,
             "kernel '%s': %s\n  at pc 0x%" PRIx64 "%s%s, work-group (%u,%u,%u), wavefront %u%s",
             p->kernel, cause, p->pc, *inst ? ": " : "", inst, p->group[0], p->group[1],
             p->group[2], p->wavefront, lane);
}

/* Describes an address near a value that kernels get in place of a pointer. False: it is none. */
static bool describe_no_pointer(const struct work_fault_access *access, char *cause, size_t size)
{
    uint64_t address = access->address;
    enum { NULL_BYTES = 4096 };
    if (address < NULL_BYTES)
        snprintf(cause, size,
                 "%s of %u bytes through a null pointer, at 0x%" PRIx64
                 ": an argument or a pointer in memory was not set",
                 access->name, access->bytes, address);
    else if (address >= KERNARG_QUEUE_NONE && address < KERNARG_NONE_END)
        snprintf(cause, size, "%s, which is not supported (%s of %u bytes at 0x%" PRIx64 ")",
                 address < KERNARG_HEAP_NONE
                     ? "device code starts kernels (enqueue_kernel)"
                     : "device code allocates memory (malloc, free, new or delete)",
                 access->name, access->bytes, address);
    else
        return false;
    return true;
}

void work_fault_bounds(const struct program_table *program, uint32_t pid,
                       const struct work_fault_access *access, char *cause, size_t size)
{
    uint64_t address = access->address;
    char where[160];
    uint32_t number;
    const struct program_allocation *a = program_find_in(program, pid, address);
    program_describe(program, program_name(program, pid, address), where, sizeof where);
    if (describe_no_pointer(access, cause, size))
        return;
    if (!a && program_find_freed(program, address, &number)) {
        snprintf(cause, size, "%s of %u bytes at 0x%" PRIx64 ", which was freed: %s", access->name,
                 access->bytes, address, where);
        return;
    }
    bool whole = a && access->bytes <= page_table_address(a->end) - address;
    if (whole && a->barred) {
        snprintf(cause, size,
                 "%s of %u bytes at 0x%" PRIx64
                 " is in memory that is not mapped to this GPU (%s); "
                 "give it access first, by hipDeviceEnablePeerAccess() or "
                 "hsa_amd_agents_allow_access()",
                 access->name, access->bytes, address, where);
        return;
    }
    if (whole) {
        snprintf(cause, size,
                 "%s of %u bytes at 0x%" PRIx64
                 " is in memory of GPU %u, which this GPU may not access "
                 "(%s); call hipDeviceEnablePeerAccess(%u, 0) for this GPU first",
                 access->name, access->bytes, address, a->device, where, a->device);
        return;
    }
    const struct program_allocation *before = program_find_before(program, address);
    uint64_t page = program->page_bytes ? program->page_bytes : 1;
    bool in_page = before && before->use <= PROGRAM_CODE
                   && address + access->bytes <= round_up(before->end, page);
    snprintf(cause, size, "%s of %u bytes at 0x%" PRIx64 " is out of bounds: %s%s", access->name,
             access->bytes, address, where,
             in_page ? " (in its last page; --bounds page allows that, as hardware does)" : "");
}

void work_fault_fetch(const struct program_table *program, uint64_t pc, char *cause, size_t size)
{
    char where[160];
    program_describe(program, pc, where, sizeof where);
    snprintf(cause, size, "instruction fetch outside of any allocation: %s", where);
}

void work_fault_decode(enum isa_target target, uint32_t word, bool is_known, char *cause,
                       size_t size)
{
    snprintf(cause, size, "0x%08x is %s %s", word,
             is_known ? "an instruction that is not implemented for" : "no instruction of",
             isa_target_name(target));
}

const char *work_fault_status(enum isa_status status)
{
    return status == ISA_TRAPPED ? "the kernel gave up (trap 2: abort or a failed assertion)"
                                 : isa_status_text(status);
}
