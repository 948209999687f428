/* Places of a module's variables and instructions.
 *
 * Static shared memory: a variable of one kernel lies in the kernel's own part. A variable of
 * device functions or of several kernels has the same place in all kernels, before their own
 * parts. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"

#include "ptx.h"

enum { CODE_ALIGNMENT = 256, SHARED_ALIGNMENT = 16 };

/* Owners of shared variables, beside numbers of functions. */
static const uint32_t NOBODY = UINT32_MAX, EVERYBODY = UINT32_MAX - 1;

static void own(const struct ptx_module *module, const struct ptx_operand *operand,
                uint32_t function, uint32_t *owners)
{
    bool nested = operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_LIST
                  || operand->kind == PTX_OPERAND_INDEXED;
    if (nested)
        for (uint32_t i = 0; i < operand->element_count; i++)
            own(module, &operand->elements[i], function, owners);
    if (operand->kind != PTX_OPERAND_SYMBOL && operand->kind != PTX_OPERAND_ADDRESS)
        return;
    if (operand->base != PTX_BASE_VARIABLE)
        return;
    uint32_t *owner = &owners[operand->index];
    bool entry = module->functions[function].is_entry;
    if (!entry || (*owner != NOBODY && *owner != function))
        *owner = EVERYBODY;
    else
        *owner = function;
}

static void place_variable(struct ptx_variable *variable, uint64_t *end)
{
    variable->offset = round_up(*end, variable->alignment);
    *end = variable->offset + variable->bytes;
}

/* True if a kernel may run code that uses what all kernels have in common. */
static bool uses_common(const struct ptx_function *entry)
{
    for (uint32_t i = 0; i < entry->instruction_count; i++)
        if (entry->instructions[i].opcode == PTX_OP_CALL)
            return true;
    return false;
}

static bool entry_uses_shared_of_all(const struct ptx_module *module, uint32_t number,
                                     const uint32_t *owners)
{
    const struct ptx_function *entry = &module->functions[number];
    for (uint32_t i = 0; i < entry->instruction_count; i++)
        for (uint32_t j = 0; j < entry->instructions[i].operand_count; j++) {
            const struct ptx_operand *operand = &entry->instructions[i].operands[j];
            bool names =
                operand->kind == PTX_OPERAND_SYMBOL || operand->kind == PTX_OPERAND_ADDRESS;
            if (names && operand->base == PTX_BASE_VARIABLE && owners[operand->index] == EVERYBODY
                && module->variables[operand->index].space == PTX_SPACE_SHARED)
                return true;
        }
    return false;
}

static uint64_t place_common(struct ptx_module *module, const uint32_t *owners)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].space == PTX_SPACE_SHARED && owners[i] == EVERYBODY
            && !module->variables[i].is_dynamic)
            place_variable(&module->variables[i], &end);
    for (uint32_t i = 0; i < module->function_count; i++) {
        struct ptx_function *function = &module->functions[i];
        if (function->is_entry)
            continue;
        for (uint32_t j = 0; j < function->variable_count; j++)
            if (function->variables[j].space == PTX_SPACE_SHARED)
                place_variable(&function->variables[j], &end);
    }
    return end;
}

/* The alignment that the module's dynamic shared memory asks for. */
static uint32_t dynamic_alignment(const struct ptx_module *module)
{
    uint32_t alignment = SHARED_ALIGNMENT;
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].is_dynamic && module->variables[i].alignment > alignment)
            alignment = module->variables[i].alignment;
    return alignment;
}

static void place_shared(struct ptx_module *module)
{
    size_t bytes = (module->variable_count + 1) * sizeof(uint32_t);
    uint32_t *owners = grow_memory(NULL, bytes, "a PTX module");
    memset(owners, 0xff, bytes);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const struct ptx_function *function = &module->functions[f];
        for (uint32_t i = 0; i < function->instruction_count; i++)
            for (uint32_t j = 0; j < function->instructions[i].operand_count; j++)
                own(module, &function->instructions[i].operands[j], f, owners);
    }
    uint64_t common = place_common(module, owners);
    for (uint32_t f = 0; f < module->function_count; f++) {
        struct ptx_function *entry = &module->functions[f];
        if (!entry->is_entry)
            continue;
        bool shares = uses_common(entry) || entry_uses_shared_of_all(module, f, owners);
        uint64_t end = shares ? common : 0;
        for (uint32_t i = 0; i < module->variable_count; i++)
            if (module->variables[i].space == PTX_SPACE_SHARED && owners[i] == f
                && !module->variables[i].is_dynamic)
                place_variable(&module->variables[i], &end);
        for (uint32_t j = 0; j < entry->variable_count; j++)
            if (entry->variables[j].space == PTX_SPACE_SHARED)
                place_variable(&entry->variables[j], &end);
        end = round_up(end, dynamic_alignment(module));
        entry->shared_bytes = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
    }
    free(owners);
}

void ptx_layout(struct ptx_module *module)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < module->variable_count; i++) {
        struct ptx_variable *variable = &module->variables[i];
        if (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST
            || variable->space == PTX_SPACE_TEX)
            place_variable(variable, &end);
    }
    end = round_up(end, CODE_ALIGNMENT);
    for (uint32_t i = 0; i < module->function_count; i++) {
        module->functions[i].offset = end;
        end += (uint64_t)PTX_INSTRUCTION_BYTES * module->functions[i].instruction_count;
    }
    module->image_bytes = end;
    place_shared(module);
}

void ptx_image(const struct ptx_module *module, uint64_t base, uint8_t *bytes)
{
    memset(bytes, 0, module->image_bytes);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const struct ptx_variable *variable = &module->variables[i];
        if (variable->initial)
            memcpy(bytes + variable->offset, variable->initial, variable->initial_bytes);
        for (uint32_t j = 0; j < variable->relocation_count; j++) {
            const struct ptx_relocation *relocation = &variable->relocations[j];
            uint64_t target = relocation->to_function
                                  ? module->functions[relocation->target].offset
                                  : module->variables[relocation->target].offset;
            uint64_t address = (base + target + (uint64_t)relocation->addend) >> relocation->shift;
            memcpy(bytes + variable->offset + relocation->offset, &address, relocation->bytes);
        }
    }
}
