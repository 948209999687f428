/* Instructions: the form of a dotted name, which is looked up once for each name, and what the
 * operands have to be. */
#include <stdio.h>
#include <string.h>

#include "ptx_build.h"

static const struct ptx_form *form_of(struct ptx_parser *parser, const char *word, uint32_t line)
{
    struct ptx_name *name = ptx_name_of(word);
    if (name->form)
        return name->form;
    struct ptx_form form;
    char message[PTX_MESSAGE_BYTES];
    if (parser->error->count >= PTX_MESSAGES_MAX) { /* nothing more is reported */
        parser->error->count++;
        return NULL;
    }
    if (!ptx_form_find(word, &form, message)) {
        ptx_error_at(parser, line, "%s", message);
        return NULL;
    }
    name->form = region_take(parser->region, sizeof form);
    *name->form = form;
    return name->form;
}

static void unknown_name(struct ptx_parser *parser, const char *word, uint32_t line)
{
    bool reported = parser->error->count < PTX_MESSAGES_MAX;
    const char *similar = reported ? ptx_similar_name(parser, word) : NULL;
    char hint[PTX_MESSAGE_BYTES];
    ptx_error_at(parser, line, "unknown %s '%.80s'%s", word[0] == '%' ? "register" : "name", word,
                 ptx_hint(hint, false, similar));
}

/* Labels may appear where a branch has one; elsewhere a word without meaning is a mistake. */
static bool resolve_operand(struct ptx_parser *parser, struct ptx_operand *operand, bool branches,
                            uint32_t line)
{
    if (operand->kind == PTX_OPERAND_LABEL) {
        const char *word = (const char *)(uintptr_t)operand->bits;
        operand->bits = 0;
        if (!branches) {
            unknown_name(parser, word, line);
            return false;
        }
        ptx_label_use(parser, word, line, &operand->index);
        return true;
    }
    bool nested = operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR
                  || operand->kind == PTX_OPERAND_LIST || operand->kind == PTX_OPERAND_INDEXED;
    bool settled = true;
    if (nested)
        for (uint32_t i = 0; i < operand->element_count; i++)
            settled &= resolve_operand(parser, &operand->elements[i], false, line);
    return settled;
}

static bool check_guard(struct ptx_parser *parser, struct ptx_operand *guard, uint32_t line)
{
    if (!resolve_operand(parser, guard, false, line))
        return false;
    if (guard->kind == PTX_OPERAND_REGISTER
        && parser->function->registers[guard->index].type == PTX_PRED)
        return true;
    ptx_error_at(parser, line, "a guard is a predicate register (.reg .pred)");
    return false;
}

void ptx_instruction(struct ptx_parser *parser, struct ptx_operand guard, const char *word,
                     struct ptx_operands operands, uint32_t line)
{
    struct ptx_function *function = parser->function;
    const struct ptx_form *form = form_of(parser, word, line);
    bool guarded = guard.kind != PTX_OPERAND_NONE;
    if (!form)
        return;
    if (guarded && !check_guard(parser, &guard, line))
        return;
    bool settled = true;
    for (uint32_t i = 0; i < operands.count; i++)
        settled &= resolve_operand(parser, &operands.at[i], form->opcode == PTX_OP_BRA, line);
    if (!settled || !ptx_check_operands(parser, form, &operands, word, line))
        return;
    struct ptx_instruction *added =
        region_append(parser->region, function->instructions, function->instruction_count);
    added->opcode = (uint16_t)form->opcode;
    added->type_count = form->type_count;
    added->modifier_count = form->modifier_count;
    added->operand_count = (uint8_t)operands.count;
    memcpy(added->types, form->types, sizeof form->types);
    memcpy(added->modifiers, form->modifiers, sizeof form->modifiers);
    added->guard = guarded ? guard.index : PTX_NONE;
    added->guard_negated = guarded && guard.negated;
    added->file = parser->loc_line ? parser->loc_file : PTX_NONE;
    added->line = parser->loc_line;
    added->ptx_line = line;
    added->operands = operands.at;
}
