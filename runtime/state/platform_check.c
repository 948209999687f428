/* The limits of what a description may ask for, before anything is built. What else a table says
 * follows from the description. Called by platform_build(). */
#include <stdarg.h>
#include <stdio.h>

#include "base/wide.h"
#include "runtime/engine/platform_table.h"
#include "runtime/link/ring.h"

#include "lookup.h"

#define DEPTH_MAX      65535u
#define PAYLOAD_MAX    (1u << 18)          /* bytes; a slot's size in arena units has 16 bits */
#define RING_BYTES_MAX ((uint64_t)8 << 30) /* all rings together: their share of the arena */
#define PHYSICAL_MAX   ((uint64_t)1 << 44) /* 16 TiB of simulated memory */

__attribute__((format(printf, 1, 2))) static bool fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

static bool check_domains(const struct platform_table *t)
{
    if (t->domain_count == 0 || t->domain_count > ENGINE_CLOCKS_MAX)
        return fail("%u clock domains; 1 to %u are possible", t->domain_count, ENGINE_CLOCKS_MAX);
    for (uint32_t i = 0; i < t->domain_count; i++)
        if (t->domains[i].hz == 0 || t->domains[i].hz > PS_PER_S)
            return fail("clock '%s' runs at %llu Hz; 1 Hz to 1 THz are possible",
                        t->strings + t->domains[i].name, (unsigned long long)t->domains[i].hz);
    return true;
}

static bool check_rings(const struct platform_table *t)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct platform_ring *r = &t->rings[i];
        const char *name = t->strings + r->name;
        if (r->link > UINT16_MAX)
            return fail("%s crosses link %u; %u links are possible", name, r->link, UINT16_MAX);
        if (!r->depth || r->depth > DEPTH_MAX || !r->width || r->width > DEPTH_MAX)
            return fail("%s: depth %u and width %u must be 1 to %u", name, r->depth, r->width,
                        DEPTH_MAX);
        if (r->payload_bytes > PAYLOAD_MAX)
            return fail("%s: a payload of %u bytes; %u are possible", name, r->payload_bytes,
                        PAYLOAD_MAX);
        bytes += (uint64_t)r->depth * (r->payload_bytes + sizeof(struct message));
    }
    return bytes <= RING_BYTES_MAX
           || fail("connections hold %llu bytes; %llu are possible", (unsigned long long)bytes,
                   (unsigned long long)RING_BYTES_MAX);
}

bool platform_check(const struct platform_table *t)
{
    if (t->abi != PLATFORM_ABI)
        return fail("the platform is made for runtime interface %u, this is %u; generate it again",
                    t->abi, PLATFORM_ABI);
    for (uint32_t i = 0; i < t->protocol_count; i++)
        if (t->protocols[i].request_count > 256 || t->protocols[i].reply_count > 256)
            return fail("protocol '%s' has more than 256 messages",
                        t->strings + t->protocols[i].name);
    for (uint32_t i = 0; i < t->space_count; i++)
        if (t->spaces[i].base > PHYSICAL_MAX || t->spaces[i].size > PHYSICAL_MAX)
            return fail("'map %s' goes beyond %llu TiB", t->strings + t->spaces[i].name,
                        (unsigned long long)(PHYSICAL_MAX >> 40));
    return check_domains(t) && check_rings(t);
}
