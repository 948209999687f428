#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_WORDS_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_WORDS_H

/* Turns directives into tokens of the grammar. */

struct ptx_parser;
union PTX_YYSTYPE;

/* The grammar's token of a directive such as ".global". Its value is a code (a space, a type, a
 * linkage, a width) or, for limits, its interned name. An unknown directive is reported. */
int ptx_directive_token(struct ptx_parser *parser, const char *text, union PTX_YYSTYPE *value);

#endif
