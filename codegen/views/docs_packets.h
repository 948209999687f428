/* The reference's page of packets. Called by docs.c. */
#ifndef HEDDLE_CODEGEN_DOCS_PACKETS_H
#define HEDDLE_CODEGEN_DOCS_PACKETS_H

#include "codegen/views/docs_list.h"
#include "codegen/views/view.h"

/* packets.md and packets.html in DIR, when there are packets. */
bool docs_write_packets(const struct docs_list *list, const char *dir, struct view_error *error);

#endif
