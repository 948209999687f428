/* Strings of JSON from any bytes: comments, strings and names of files need not be UTF-8. */
#ifndef HEDDLE_CODEGEN_VIEWS_JSON_FROM_TEXT_H
#define HEDDLE_CODEGEN_VIEWS_JSON_FROM_TEXT_H

#include <jansson.h>
#include <stddef.h>

/* Where the text is not UTF-8, '?' stands for each byte that is not ASCII. NULL is "". */
json_t *json_from_text(const char *text);
json_t *json_from_bytes(const char *text, size_t size);

#endif
