/* The trace file; see trace.h. Process 1 holds the components, a thread each, numbered 1 + leaf;
 * process 2 the connections, a thread for each ring. A message is an asynchronous span from its
 * sending to its arrival. */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "ring.h"
#include "setup.h"

#define PATH_BYTES  4096
#define COMPONENTS  1
#define CONNECTIONS 2

static const struct platform_table *table;
static struct json out;
static char final_path[PATH_BYTES];
static char temporary[PATH_BYTES + 16];

static void event(const char *phase, const char *category, const char *name, uint64_t time_ps,
                  int process, uint32_t thread, uint64_t id)
{
    json_open(&out, NULL, '{');
    json_text(&out, "ph", phase);
    json_text(&out, "cat", category);
    json_text(&out, "name", name);
    json_key(&out, "ts");
    json_print(&out, "%" PRIu64 ".%06" PRIu64, time_ps / 1000000, time_ps % 1000000);
    json_int(&out, "pid", process);
    json_uint(&out, "tid", thread);
    json_key(&out, "id");
    json_print(&out, "\"0x%" PRIx64 "\"", id);
}

static void span(const char *phase, const struct component *c, uint64_t id, const char *name)
{
    /* Asynchronous spans are matched by (category, id, name): the component makes the id unique. */
    const char *category = platform_string(table->instances[c->leaf].type);
    event(phase, category, name, engine.time_ps, COMPONENTS, c->leaf + 1,
          id ^ (uint64_t)(c->leaf + 1) << 40);
    json_close(&out, '}');
    json_raw(&out, "\n", 1);
}

void trace_write_begin(const struct component *c, uint64_t id, const char *name)
{
    span("b", c, id, name);
}

void trace_write_end(const struct component *c, uint64_t id, const char *name)
{
    span("e", c, id, name);
}

void ring_trace(const struct ring *r, const struct message *m)
{
    uint32_t number = (uint32_t)(r - engine.rings);
    const struct platform_ring *p = &table->rings[number];
    const struct platform_protocol *protocol = &table->protocols[p->protocol];
    uint32_t kind = message_kind(m) + (p->is_reply ? protocol->request_count : 0);
    if (m->stamp >> 16 == RING_UNKNOWN || kind >= protocol->request_count + protocol->reply_count)
        return;
    const char *name = platform_string(table->messages[protocol->first_message + kind].name);
    uint64_t id = (uint64_t)(number + 1) << 40 | (r->messages & 0xffffffffffu);
    uint64_t arrival = engine_time_of(engine.components[r->receiver]->domain, m->stamp >> 16);
    event("b", "message", name, engine.time_ps, CONNECTIONS, number + 1, id);
    json_open(&out, "args", '{');
    json_uint(&out, "tag", m->tag);
    json_key(&out, "fields");
    json_raw(&out, "\"", 1);
    for (unsigned i = 0; i < RING_FIELD_BYTES; i++)
        json_print(&out, "%02x", m->fields[i]);
    json_raw(&out, "\"", 1);
    json_close(&out, '}');
    json_close(&out, '}');
    event("e", "message", name, arrival, CONNECTIONS, number + 1, id);
    json_close(&out, '}');
    json_raw(&out, "\n", 1);
}

static void name_thread(int process, uint32_t thread, const char *kind, const char *name,
                        const char *suffix)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s", name, suffix);
    json_open(&out, NULL, '{');
    json_text(&out, "ph", "M");
    json_text(&out, "name", kind);
    json_int(&out, "pid", process);
    json_uint(&out, "tid", thread);
    json_open(&out, "args", '{');
    json_text(&out, "name", text);
    json_close(&out, '}');
    json_close(&out, '}');
    json_raw(&out, "\n", 1);
}

bool trace_open(const struct platform_table *described, const char *path)
{
    table = described;
    if (!path)
        return true;
    int fd = -1;
    if (snprintf(final_path, sizeof final_path, "%s", path) < (int)sizeof final_path) {
        snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
        fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    } else {
        errno = ENAMETOOLONG;
    }
    if (fd < 0) {
        fprintf(stderr, "heddle: cannot write the trace to '%s': %s\n", path, strerror(errno));
        return false;
    }
    json_start(&out, fd);
    out.flat = true;
    json_open(&out, NULL, '{');
    json_text(&out, "displayTimeUnit", "ns");
    json_open(&out, "traceEvents", '[');
    name_thread(COMPONENTS, 0, "process_name", "components", "");
    name_thread(CONNECTIONS, 0, "process_name", "connections", "");
    for (uint32_t i = 0; i < table->instance_count; i++)
        name_thread(COMPONENTS, i + 1, "thread_name", platform_string(table->instances[i].path),
                    "");
    for (uint32_t i = 0; i < table->ring_count; i++)
        name_thread(CONNECTIONS, i + 1, "thread_name", platform_string(table->rings[i].name),
                    table->rings[i].is_reply ? " (replies)" : "");
    engine.tracing = 1;
    return true;
}

bool trace_close(void)
{
    if (!engine.tracing)
        return true;
    engine.tracing = 0;
    json_close(&out, ']');
    json_close(&out, '}');
    json_raw(&out, "\n", 1);
    bool good = json_finish(&out);
    good = close(out.fd) == 0 && good;
    if (good && rename(temporary, final_path) == 0)
        return true;
    fprintf(stderr, "heddle: cannot write the trace to '%s': %s\n", final_path, strerror(errno));
    unlink(temporary);
    return false;
}
