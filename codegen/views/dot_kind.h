/* The kind of a component in diagrams. It follows from its ports and their protocols, never from
 * its name, so a new component gets its colour, too.
 *
 * Traffic of a protocol: `memory` when a message carries a block whose size is an argument of the
 * protocol (a line), or when every request names one place and some are answered with something
 * (reads), others only confirmed (writes); `translation` when an address is answered by an address;
 * `control` when nothing but the confirmation of a request that names no place comes back (a cache
 * is to be emptied: such a wire makes no giver of orders); else `work`: kernels, work-groups,
 * copies.
 *
 * Kind of a component:
 *   composite     has instances inside
 *   interconnect  takes and gives `any` protocol, or has arrays of ports of one protocol on both
 *                 sides and nothing else
 *   memory        is asked for memory and asks for none: the end of the path
 *   cache         passes memory requests on and has a size of its own (a parameter in bytes)
 *   bridge        passes memory requests on without one
 *   compute       asks for memory because of orders that name no address (work)
 *   transfer      asks for memory because of orders that name addresses (copies)
 *   tester        asks for memory on its own account: no port brings it orders
 *   translation   only answers translations
 *   host          gives orders and takes none
 *   control       all the rest
 */
#ifndef HEDDLE_CODEGEN_VIEWS_DOT_KIND_H
#define HEDDLE_CODEGEN_VIEWS_DOT_KIND_H

#include "dsl/model.h"

enum dot_traffic { DOT_MEMORY, DOT_TRANSLATION, DOT_WORK, DOT_CONTROL, DOT_TRAFFIC_COUNT };

enum dot_traffic dot_traffic_of(const struct model_protocol *protocol); /* NULL: work */

enum dot_kind {
    DOT_KIND_HOST,
    DOT_KIND_CONTROL,
    DOT_KIND_COMPUTE,
    DOT_KIND_TRANSFER,
    DOT_KIND_TESTER,
    DOT_KIND_CACHE,
    DOT_KIND_BRIDGE,
    DOT_KIND_TRANSLATION,
    DOT_KIND_INTERCONNECT,
    DOT_KIND_MEMORY,
    DOT_KIND_COMPOSITE,
    DOT_KIND_COUNT
};

/* The colours come from the palette of Okabe and Ito (2008), which people with any colour vision
 * can tell apart: `strong` as it is, `pale` its tint for areas behind text, `ink` what can be read
 * on `strong`. */
struct dot_kind_style {
    const char *word;
    const char *strong;
    const char *pale;
    const char *ink;
};

enum dot_kind dot_kind_of(const struct model_type *type);
const struct dot_kind_style *dot_kind_style(enum dot_kind kind);

#endif
