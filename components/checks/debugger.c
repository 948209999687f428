/* See debugger.h and debug_channel.h. While nothing is wanted of an event it costs two
 * comparisons. */
#include "debugger.h"

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

#include "components/amd/isa/isa.h"
#include "components/checks/debug_rules.h"
#include "components/checks/finding.h"
#include "components/checks/grown.h"
#include "components/protocols/page_table/host_view.h"
#include "runtime/engine/bug.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/options.h"
#include "runtime/engine/platform_table.h"

enum { READ_MOST = 1 << 20, POLL_EVERY = 1 << 12 };

struct debug_wave {
    uint64_t number; /* 0: none lives in this slot */
    struct observed_wavefront what;
    uint32_t pid;
    uint64_t pc;
    const struct isa_wave *scalars; /* NULL: it has not come to an event */
    struct isa_context context;
    bool hit; /* its last access was to watched bytes: */
    struct debug_stopped access;
};

static int channel = -1;
static const char *folder;
static struct debug_stopped stopped; /* here */
static struct host_view view;
static struct debug_wave *waves; /* by slot */
static uint64_t wave_room;
static struct debug_wave ended;   /* that was stepped behind its last instruction */
static struct debug_request go;   /* what was asked for last */
static uint64_t event, findings;  /* so far */
static struct debug_stopped last; /* DEBUG_SCAN: what was found so far */
static bool has_stepped;          /* DEBUG_STEP: the wavefront's event is being executed */

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

static void answer(const void *bytes, uint64_t size)
{
    send_bytes(&(struct debug_answer){size}, sizeof(struct debug_answer));
    if (size != DEBUG_REFUSED)
        send_bytes(bytes, size);
}

/* ---- requests ---- */

static const struct debug_wave *find_wave(uint64_t number)
{
    if (number && ended.number == number)
        return &ended;
    for (uint32_t i = 0; number && i < wave_room; i++)
        if (waves[i].number == number && waves[i].scalars)
            return &waves[i];
    return NULL;
}

/* Copies memory as the wavefront sees it; false: not all of it is there. */
static bool read_memory(const struct debug_wave *w, uint64_t address, void *to, uint64_t bytes)
{
    if (!w)
        return false;
    uint64_t aperture = w->context.shared_aperture, offset = address - aperture;
    if (aperture && offset < w->context.lds_size && bytes <= w->context.lds_size - offset) {
        memcpy(to, w->context.lds + offset, bytes);
        return true;
    }
    host_view_refresh(&view, w->what.program, view.pages, w->pid);
    view.gpu = w->what.gpu;
    view.count = view.next = 0;
    view.unit = HOST_VIEW_NO_UNIT;
    if (!host_view_is_allocated(&view, address, bytes))
        return false;
    host_view_read(&view, address, to, bytes);
    return true;
}

static void answer_read(const struct debug_request *r)
{
    static char bytes[READ_MOST];
    bool ok = r->b <= READ_MOST && read_memory(find_wave(r->c), r->a, bytes, r->b);
    answer(bytes, ok ? r->b : DEBUG_REFUSED);
}

static void answer_waves(void)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < wave_room; i++)
        count += waves[i].number && waves[i].scalars;
    send_bytes(&(struct debug_answer){count * sizeof(struct debug_wavefront)},
               sizeof(struct debug_answer));
    for (uint32_t i = 0; i < wave_room; i++) {
        const struct debug_wave *w = &waves[i];
        if (!w->number || !w->scalars)
            continue;
        struct debug_wavefront said = {.wavefront = w->number,
                                       .pc = w->pc,
                                       .launch = (uint64_t)w->what.dispatch + 1,
                                       .gpu = w->what.gpu,
                                       .number = w->what.number,
                                       .target = w->what.target};
        memcpy(said.group, w->what.group, sizeof said.group);
        snprintf(said.kernel, sizeof said.kernel, "%s",
                 program_kernel_name(w->what.program, w->what.kernel));
        send_bytes(&said, sizeof said);
    }
}

static void answer_registers(const struct debug_request *r)
{
    const struct debug_wave *w = find_wave(r->a);
    if (!w) {
        answer(NULL, DEBUG_REFUSED);
        return;
    }
    const struct isa_context *c = &w->context;
    struct debug_registers said = {.pc = w->pc,
                                   .shared_aperture = c->shared_aperture,
                                   .private_aperture = c->private_aperture,
                                   .mode = w->scalars->mode,
                                   .status = w->scalars->status,
                                   .scc = w->scalars->scc,
                                   .vgprs = c->vgpr_count,
                                   .accumulators = c->agpr_count,
                                   .lds_bytes = c->lds_size};
    memcpy(said.sgpr, w->scalars->sgpr, sizeof said.sgpr);
    size_t vectors = ((size_t)c->vgpr_count + c->agpr_count) * ISA_LANES * sizeof(uint32_t);
    send_bytes(&(struct debug_answer){sizeof said + vectors}, sizeof(struct debug_answer));
    send_bytes(&said, sizeof said);
    send_bytes(c->vgpr, vectors);
}

static void answer_disassembly(const struct debug_request *r)
{
    struct {
        uint64_t size;
        char text[ISA_MAX_TEXT];
    } said = {0};
    uint8_t bytes[ISA_MAX_INST_BYTES];
    struct isa_inst inst;
    const struct debug_wave *w = find_wave(r->b);
    size_t size = sizeof bytes;
    while (size && !read_memory(w, r->a, bytes, size))
        size -= 4;
    if (!size || isa_decode(w->what.target, bytes, (unsigned)size, &inst) < 0) {
        answer(NULL, DEBUG_REFUSED);
        return;
    }
    said.size = inst.size;
    if (isa_format(&inst, r->a, said.text, sizeof said.text) >= sizeof said.text)
        said.text[sizeof said.text - 1] = '\0';
    answer(&said, sizeof said.size + strlen(said.text));
}

static void take_rules(const struct debug_request *r)
{
    struct debug_rule rule;
    debug_rules_clear();
    bool all = true;
    for (uint64_t i = 0; i < r->a; i++) {
        receive_bytes(&rule, sizeof rule);
        all &= debug_rules_add(&rule);
    }
    answer(NULL, all ? 0 : DEBUG_REFUSED);
}

static void answer_finding(void)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("out of memory for a finding");
    finding_print_last(out);
    fclose(out);
    answer(text, size);
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

/* Is the process one thread, and all its memory its own? */
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

/* The copy is this process in all that the program and its libraries can tell, so they are not
 * told: no handlers of pthread_atfork() run, and the thread keeps its number. */
static void copy(const struct debug_request *r)
{
    char file[32];
    fflush(NULL);
    long child = can_be_copied() ? syscall(SYS_fork) : -1;
    if (child) {
        answer(NULL, child > 0 ? 0 : DEBUG_REFUSED);
        return;
    }
    snprintf(file, sizeof file, "copy-%" PRIu64, r->a);
    if (!connect_to(file) || !print_to("out", r->a, STDOUT_FILENO)
        || !print_to("err", r->a, STDERR_FILENO))
        _exit(EXIT_FAILURE);
    send_bytes(&stopped, sizeof stopped);
}

/* Answers until it is asked to go on. */
static void serve(void)
{
    for (;;) {
        receive_bytes(&go, sizeof go);
        switch (go.ask) {
        case DEBUG_READ:
            answer_read(&go);
            break;
        case DEBUG_WAVES:
            answer_waves();
            break;
        case DEBUG_REGISTERS:
            answer_registers(&go);
            break;
        case DEBUG_DISASSEMBLE:
            answer_disassembly(&go);
            break;
        case DEBUG_RULES:
            take_rules(&go);
            break;
        case DEBUG_GO:
            last = (struct debug_stopped){.reason = DEBUG_CAME};
            if (go.a == DEBUG_CYCLE)
                go.b += stopped.cycle;
            return;
        case DEBUG_FINDING:
            answer_finding();
            break;
        case DEBUG_FORK:
            copy(&go);
            break;
        default: /* an interruption that came too late */
            break;
        }
    }
}

static void stop(const struct debug_stopped *at, const struct debug_stopped *said, uint64_t present)
{
    stopped = *at;
    send_bytes(said, sizeof *said);
    serve();
    has_stepped = go.c == present;
}

/* ---- events ---- */

static bool interrupted(void)
{
    struct debug_request r;
    struct pollfd asked = {.fd = channel, .events = POLLIN};
    if (event % POLL_EVERY || poll(&asked, 1, 0) <= 0)
        return false;
    receive_bytes(&r, sizeof r);
    return r.ask == DEBUG_INTERRUPT;
}

/* Has the step of a wavefront been made? The present event may be another one's. */
static void end_step(struct debug_stopped *at)
{
    const struct debug_wave *w = find_wave(go.c);
    if (!w)
        return;
    at->reason = w->hit ? DEBUG_WATCHED : DEBUG_STEPPED;
    at->wavefront = w->number;
    at->pc = w == &ended ? w->pc : w->scalars->pc;
    at->address = w->access.address;
    at->rule = w->access.rule;
}

/* Why the run stops before this event; DEBUG_CAME: it goes on. `w` has come to it. */
static void end_run(const struct debug_wave *w, struct debug_stopped *at)
{
    if (w->hit) {
        at->reason = DEBUG_WATCHED;
        at->address = w->access.address;
        at->rule = w->access.rule;
    } else if (debug_rules_break(at->pc)) {
        at->reason = DEBUG_BROKE;
    } else if (go.a == DEBUG_CYCLE && at->cycle >= go.b) {
        at->reason = DEBUG_STEPPED;
    } else if (interrupted()) {
        at->reason = DEBUG_INTERRUPTED;
    }
}

/* Before the event of a scan: what it looks for. Going back over an access to watched bytes is
 * seen in a step, too. */
static void note(const struct debug_wave *w, const struct observed_instruction *s, bool found,
                 struct debug_stopped *at)
{
    if (debug_rules_access(s, at))
        at->reason = DEBUG_WATCHED;
    else if (go.c == w->number)
        at->reason = DEBUG_STEPPED;
    else if (!go.c && debug_rules_break(s->pc))
        at->reason = DEBUG_BROKE;
    else if (!go.c && found)
        at->reason = DEBUG_FOUND;
    if (at->reason != DEBUG_CAME)
        last = *at;
}

static uint64_t cycle_of(const struct check_wave *wave)
{
    if (wave->unit >= engine_base.platform->instance_count)
        return 0;
    return engine.domains[platform_domain_of(wave->unit)].cycle;
}

static void step(const struct check_wave *wave, const struct observed_instruction *s)
{
    struct debug_wave *w = &waves[wave->slot];
    struct debug_stopped at = {.event = ++event,
                               .wavefront = wave->number,
                               .pc = s->pc,
                               .reason = DEBUG_CAME,
                               .cycle = cycle_of(wave)};
    if (!s->scalars)
        return; /* a warp's */
    bool found = finding_count() > findings;
    findings = finding_count();
    w->scalars = s->scalars;
    w->context = *s->context;
    w->pc = s->pc;
    if (event == 1) {
        at.reason = DEBUG_BEGAN;
        stop(&at, &at, wave->number);
    } else if (go.a == DEBUG_SCAN || go.a == DEBUG_TO) {
        if (event >= go.b)
            stop(&at, go.a == DEBUG_SCAN ? &last : &at, wave->number);
        else if (go.a == DEBUG_SCAN)
            note(w, s, found, &at);
    } else {
        if (found)
            at.reason = DEBUG_FOUND;
        else if (go.a == DEBUG_STEP && has_stepped)
            end_step(&at);
        else
            end_run(w, &at);
        bool others = at.wavefront != wave->number;
        has_stepped |= go.c == wave->number;
        if (at.reason != DEBUG_CAME)
            stop(&at, &at, wave->number);
        ended.number = 0;
        at.wavefront = wave->number;
        at.pc = s->pc;
        if (others && go.a == DEBUG_CONTINUE && debug_rules_break(s->pc)) {
            at.reason = DEBUG_BROKE;
            stop(&at, &at, wave->number);
        }
    }
    w->hit = go.a != DEBUG_SCAN && go.a != DEBUG_TO && debug_rules_access(s, &w->access);
}

static void begin(const struct check_wave *wave)
{
    waves = grown(waves, &wave_room, wave->slot, sizeof *waves);
    waves[wave->slot] = (struct debug_wave){
        .number = wave->number, .what = wave->what, .pid = wave->what.placement->pid};
}

static void end(const struct check_wave *wave)
{
    struct debug_wave *w = &waves[wave->slot];
    if (go.a == DEBUG_STEP && go.c == w->number && w->scalars) {
        enum { S_ENDPGM_BYTES = 4 };
        ended = *w;
        ended.pc += S_ENDPGM_BYTES;
    }
    w->number = 0;
}

/* However the program ends, but by a signal. */
static void finish(int status, void *unused)
{
    (void)unused;
    fflush(NULL);
    send_bytes(&(struct debug_stopped){.reason = DEBUG_ENDED,
                                       .event = event,
                                       .address = (uint64_t)status & 0xff},
               sizeof(struct debug_stopped));
}

static const struct check row = {.begin = begin, .step = step, .end = end};

const struct check *debugger_open(const struct page_table *pages)
{
    folder = getenv(OPTIONS_ENV_DEBUG);
    if (!folder)
        return NULL;
    if (!connect_to("socket")) {
        fprintf(stderr, "heddle: this process is not debugged: %s/socket: %s\n", folder,
                strerror(errno));
        return NULL;
    }
    view.pages = pages;
    on_exit(finish, NULL);
    return &row;
}
