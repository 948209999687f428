/* Answers requests of the debugger (debug_channel.h) one by one: registers, memory, breakpoints,
 * copies of the process. */
#include "debug_serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/checks/finding.h"
#include "components/memory/page_table/host_view.h"

#include "debug_stores.h"
#include "debugger.h"

enum { READ_MAX = 1 << 20, TEXT = 256 };

static int channel = -1;
static const char *folder;
static struct host_view view;

/* ---- the channel ---- */

static void over(void)
{
    fprintf(stderr, "heddle: the debugger is gone\n");
    _exit(EXIT_FAILURE);
}

static void send_bytes(const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size) {
        ssize_t sent = send(channel, from, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            over();
        from += sent;
        size -= (size_t)sent;
    }
}

static void receive_bytes(void *bytes, size_t size)
{
    char *to = bytes;
    while (size) {
        ssize_t got = recv(channel, to, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            over();
        to += got;
        size -= (size_t)got;
    }
}

static void send_answer(const void *bytes, uint64_t size)
{
    send_bytes(&(struct debug_answer){size}, sizeof(struct debug_answer));
    if (size != DEBUG_REFUSED)
        send_bytes(bytes, size);
}

/* ---- requests ---- */

static bool read_global(const struct debug_thread *t, uint64_t address, void *to, uint64_t bytes)
{
    host_view_refresh(&view, t->program, view.pages, t->pid);
    view.gpu = t->identity.gpu;
    view.count = view.next = 0;
    view.unit = HOST_VIEW_UNIT_NONE;
    if (!host_view_is_allocated(&view, address, bytes))
        return false;
    host_view_read(&view, address, to, bytes);
    return true;
}

static struct debug_thread seen_by; /* the last that has begun */

static bool read_for_stores(uint64_t address, void *to, size_t bytes)
{
    return read_global(&seen_by, address, to, bytes);
}

void debug_serve_settle(const struct debug_thread *t)
{
    if (t)
        seen_by = *t;
    debug_stores_settle(read_for_stores);
}

bool debug_serve_read(const struct debug_thread *t, unsigned lane, uint64_t address, void *to,
                      uint64_t bytes)
{
    char *at = to;
    while (t && bytes) {
        struct debug_place place = t->kind->place(t, lane, address);
        uint64_t size = min(place.bytes, bytes);
        if (!size || (!place.at && !read_global(t, place.global, at, size)))
            return false;
        if (place.at)
            memcpy(at, place.at, size);
        else
            debug_stores_read(place.global, at, size);
        at += size;
        address += size;
        bytes -= size;
    }
    return t;
}

static void answer_read(const struct debug_request *r)
{
    static char bytes[READ_MAX];
    unsigned lane = r->c >> DEBUG_LANE_SHIFT & 63;
    const struct debug_thread *t = debugger_thread(r->c & (((uint64_t)1 << DEBUG_LANE_SHIFT) - 1));
    bool ok = r->b <= READ_MAX && debug_serve_read(t, lane, r->a, bytes, r->b);
    send_answer(bytes, ok ? r->b : DEBUG_REFUSED);
}

static void answer_waves(void)
{
    uint64_t count = 0;
    for (const struct debug_thread *t = debugger_threads(); t; t = t->next)
        count += t->has_come;
    send_bytes(&(struct debug_answer){count * sizeof(struct debug_wavefront)},
               sizeof(struct debug_answer));
    for (const struct debug_thread *t = debugger_threads(); t; t = t->next) {
        struct debug_wavefront wavefront = t->identity;
        wavefront.pc = debugger_pc(t);
        if (t->has_come)
            send_bytes(&wavefront, sizeof wavefront);
    }
}

static void answer_registers(const struct debug_request *r)
{
    const struct debug_thread *t = debugger_thread(r->a);
    struct debug_registers registers = {0};
    const uint32_t *vectors = NULL;
    if (!t) {
        send_answer(NULL, DEBUG_REFUSED);
        return;
    }
    t->kind->registers(t, &registers, &vectors);
    registers.pc = debugger_pc(t);
    size_t size = ((size_t)registers.vgprs + registers.accumulators) * 64 * sizeof(uint32_t);
    send_bytes(&(struct debug_answer){sizeof registers + size}, sizeof(struct debug_answer));
    send_bytes(&registers, sizeof registers);
    send_bytes(vectors, size);
}

static void answer_named(const struct debug_request *r)
{
    const struct debug_thread *t = debugger_thread(r->a);
    struct debug_named name;
    uint32_t count = 0;
    if (!t || !t->kind->named) {
        send_answer(NULL, DEBUG_REFUSED);
        return;
    }
    while (t->kind->named(t, count, &name))
        count++;
    send_bytes(&(struct debug_answer){count * sizeof name}, sizeof(struct debug_answer));
    for (uint32_t i = 0; i < count; i++) {
        t->kind->named(t, i, &name);
        send_bytes(&name, sizeof name);
    }
}

static void answer_disassembly(const struct debug_request *r)
{
    struct {
        uint64_t size;
        char text[TEXT];
    } answer = {0};
    const struct debug_thread *t = debugger_thread(r->b);
    if (t && t->kind->disassemble)
        answer.size = t->kind->disassemble(t, r->a, answer.text, sizeof answer.text);
    send_answer(&answer, answer.size ? sizeof answer.size + strlen(answer.text) : DEBUG_REFUSED);
}

static void take_rules(const struct debug_request *r)
{
    struct debug_rule rule;
    debug_breakpoints_clear();
    bool all = true;
    for (uint64_t i = 0; i < r->a; i++) {
        receive_bytes(&rule, sizeof rule);
        all &= debug_breakpoints_add(&rule);
    }
    send_answer(NULL, all ? 0 : DEBUG_REFUSED);
}

static void answer_finding(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = grow_checked(open_memstream(&text, &size), "a finding");
    finding_print_last(out);
    fclose(out);
    send_answer(text, size);
    free(text);
}

/* ---- copies of the process ---- */

static bool connect_to(const char *file)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = snprintf(name.sun_path, sizeof name.sun_path, "%s/%s", folder, file);
    if (channel >= 0)
        close(channel);
    channel = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (length < 0 || (size_t)length >= sizeof name.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    return channel >= 0 && connect(channel, (const struct sockaddr *)&name, sizeof name) == 0;
}

static bool print_to(const char *kind, uint64_t number, int as)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s-%" PRIu64, folder, kind, number);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool done = file >= 0 && dup2(file, as) == as;
    if (file >= 0)
        close(file);
    return done;
}

/* True if the process is one thread and shares no memory. */
static bool can_be_copied(void)
{
    unsigned threads = 0;
    char line[PATH_MAX];
    bool shares = false;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task; tasks && (task = readdir(tasks));)
        threads += task->d_name[0] != '.';
    if (tasks)
        closedir(tasks);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        shares |= strstr(line, "/memfd:heddle") != NULL;
    if (maps)
        fclose(maps);
    return threads == 1 && maps && !shares;
}

/* The program and its libraries cannot tell the copy from this process, and nothing calls them: no
 * handlers of pthread_atfork() run, and the thread keeps its number. */
static void copy_process(const struct debug_request *r, const struct debug_stopped *here)
{
    char file[32];
    fflush(NULL);
    long child = can_be_copied() ? syscall(SYS_fork) : -1;
    if (child) {
        send_answer(NULL, child > 0 ? 0 : DEBUG_REFUSED);
        return;
    }
    snprintf(file, sizeof file, "copy-%" PRIu64, r->a);
    if (!connect_to(file) || !print_to("out", r->a, STDOUT_FILENO)
        || !print_to("err", r->a, STDERR_FILENO))
        _exit(EXIT_FAILURE);
    send_bytes(here, sizeof *here);
}

void debug_serve(const struct debug_stopped *here, const struct debug_stopped *answer,
                 struct debug_request *go)
{
    send_bytes(answer, sizeof *answer);
    for (;;) {
        receive_bytes(go, sizeof *go);
        switch (go->ask) {
        case DEBUG_READ:
            answer_read(go);
            break;
        case DEBUG_WAVES:
            answer_waves();
            break;
        case DEBUG_REGISTERS:
            answer_registers(go);
            break;
        case DEBUG_NAMED:
            answer_named(go);
            break;
        case DEBUG_DISASSEMBLE:
            answer_disassembly(go);
            break;
        case DEBUG_RULES:
            take_rules(go);
            break;
        case DEBUG_GO:
            return;
        case DEBUG_FINDING:
            answer_finding();
            break;
        case DEBUG_FORK:
            copy_process(go, here);
            break;
        default: /* an interruption that came too late */
            break;
        }
    }
}

bool debug_serve_interrupted(void)
{
    struct debug_request r;
    struct pollfd request = {.fd = channel, .events = POLLIN};
    if (poll(&request, 1, 0) <= 0)
        return false;
    receive_bytes(&r, sizeof r);
    return r.ask == DEBUG_INTERRUPT;
}

void debug_serve_end(const struct debug_stopped *end)
{
    fflush(NULL);
    send_bytes(end, sizeof *end);
}

void debug_serve_keep(const char *kind, uint64_t address, const void *bytes, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s-%" PRIx64, folder, kind, address);
    FILE *file = fopen(path, "wb");
    bool is_written = file && fwrite(bytes, 1, size, file) == size;
    if ((file && fclose(file)) || !is_written)
        fprintf(stderr, "heddle: %s: %s\n", path, strerror(errno));
}

bool debug_serve_open(const char *in, const struct page_table *pages)
{
    folder = in;
    view.pages = pages;
    if (connect_to("socket"))
        return true;
    fprintf(stderr, "heddle: this process is not debugged: %s/socket: %s\n", folder,
            strerror(errno));
    return false;
}
