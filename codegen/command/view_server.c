/* See view_server.h. libmicrohttpd is opened when it is needed: with what it needs itself, it would
 * make every start of `heddle` longer. */
#define _GNU_SOURCE /* getrandom */
#include "codegen/command/view_server.h"

#include <stdio.h>

#ifndef HEDDLE_VIEW

bool view_server_start(struct command *c, struct handed *handed)
{
    (void)options;
    if (c->options->view)
        fprintf(stderr, "heddle run: '--view' needs libmicrohttpd, without which this heddle was "
                        "built; install libmicrohttpd-dev and build again\n");
    return !c->options->view;
}

void view_server_end(void)
{
}

#else

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "codegen/command/view_picture.h"
#include "codegen/command/view_state.h"
#include "codegen/report/measure.h"

#define LIBRARY       "libmicrohttpd.so.12"
#define TOKEN_BYTES   16
#define TOKEN_CHARS   (2 * TOKEN_BYTES)
#define CONNECTIONS   16u
#define CONNECTION_KB 32u /* of a request's head; longer ones are refused by the library */
#define IDLE_SECONDS  20u
#define LINGER_MS     3000 /* for whoever awaits an answer when the run ends */

static const char *const page[] = {
#include "view_page.html.inc"
};

/* What is used of the library. */
static struct {
    __typeof__(&MHD_start_daemon) start;
    __typeof__(&MHD_stop_daemon) stop;
    __typeof__(&MHD_create_response_from_buffer) respond;
    __typeof__(&MHD_add_response_header) header;
    __typeof__(&MHD_queue_response) queue;
    __typeof__(&MHD_destroy_response) destroy;
    __typeof__(&MHD_lookup_connection_value) value;
} mhd;

static struct {
    struct MHD_Daemon *daemon;
    struct compilation *compilation;
    struct view_state state;
    struct view_picture picture;
    pthread_mutex_t lock; /* of the state */
    char token[TOKEN_CHARS + 1], board[64];
    int unanswered;   /* requests */
    int64_t asked_ms; /* when a page that stays open last asked for the state */
    bool last_told;   /* the page has seen that the run has ended */
    bool ended;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- answers ---- */

/* `text` is freed when it was allocated. */
static enum MHD_Result answer(struct MHD_Connection *to, unsigned status, const char *type,
                              char *text, size_t size, bool allocated)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
        {"Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src "
                                    "'unsafe-inline'; connect-src 'self'"}};
    struct MHD_Response *r =
        mhd.respond(size, text, allocated ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_MUST_COPY);
    if (!r)
        return MHD_NO;
    mhd.header(r, "Content-Type", type);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        mhd.header(r, headers[i][0], headers[i][1]);
    enum MHD_Result result = mhd.queue(to, status, r);
    mhd.destroy(r);
    return result;
}

static enum MHD_Result say(struct MHD_Connection *to, unsigned status, const char *words)
{
    char text[128];
    int size = snprintf(text, sizeof text, "%s\n", words);
    return answer(to, status, "text/plain; charset=utf-8", text, (size_t)size, false);
}

static enum MHD_Result answer_json(struct MHD_Connection *to, json_t *root)
{
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!text)
        return say(to, MHD_HTTP_NOT_FOUND, "there is no such process");
    return answer(to, MHD_HTTP_OK, "application/json", text, strlen(text), true);
}

/* ---- requests ---- */

/* Of the query; from 1 there, from 0 here. */
static unsigned process_of(struct MHD_Connection *from)
{
    const char *text = mhd.value(from, MHD_GET_ARGUMENT_KIND, "process");
    unsigned long number = text ? strtoul(text, NULL, 10) : 1;
    return number >= 1 && number <= BOARD_PLACES ? (unsigned)number - 1 : BOARD_PLACES;
}

static enum MHD_Result get_page(struct MHD_Connection *to)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    for (size_t i = 0; stream && i < sizeof page / sizeof page[0]; i++)
        fputs(page[i], stream);
    if (!stream || fclose(stream) != 0)
        return MHD_NO;
    return answer(to, MHD_HTTP_OK, "text/html; charset=utf-8", text, size, true);
}

static enum MHD_Result get_state(struct MHD_Connection *to)
{
    pthread_mutex_lock(&server.lock);
    json_t *state = view_state_read(&server.state, process_of(to));
    if (mhd.value(to, MHD_GET_ARGUMENT_KIND, "stay"))
        server.asked_ms = now_ms();
    server.last_told |= server.ended;
    pthread_mutex_unlock(&server.lock);
    return answer_json(to, state);
}

static json_t *statistics(struct MHD_Connection *to)
{
    pthread_mutex_lock(&server.lock);
    json_t *root = view_state_statistics(&server.state, process_of(to));
    pthread_mutex_unlock(&server.lock);
    return root;
}

static enum MHD_Result get_statistics(struct MHD_Connection *to)
{
    return answer_json(to, statistics(to));
}

static enum MHD_Result get_waits(struct MHD_Connection *to)
{
    pthread_mutex_lock(&server.lock);
    json_t *waits = view_state_waits(&server.state, process_of(to));
    pthread_mutex_unlock(&server.lock);
    return answer_json(to, waits);
}

static enum MHD_Result get_topology(struct MHD_Connection *to)
{
    size_t size;
    enum model_measure_kind kind;
    const char *measure = mhd.value(to, MHD_GET_ARGUMENT_KIND, "measure");
    if (measure && !view_measure_parse(measure, &kind))
        return say(to, MHD_HTTP_BAD_REQUEST, "there is no such measure");
    json_t *root = statistics(to);
    if (!root)
        return say(to, MHD_HTTP_NOT_FOUND, "there is no such process");
    char *svg = view_picture_draw(&server.picture, root, measure ? measure : "utilisation", &size);
    json_decref(root);
    if (!svg)
        return say(to, MHD_HTTP_SERVICE_UNAVAILABLE,
                   "the topology could not be drawn; Graphviz may be missing");
    return answer(to, MHD_HTTP_OK, "image/svg+xml", svg, size, true);
}

static void set_word(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static bool obey(struct board *b, const char *action)
{
    if (strcmp(action, "pause") == 0)
        set_word(&b->wishes.pause, 1);
    else if (strcmp(action, "go") == 0) {
        set_word(&b->wishes.step, 0);
        set_word(&b->wishes.pause, 0);
    } else if (strcmp(action, "step") == 0)
        set_word(&b->wishes.step, 1);
    else if (strcmp(action, "waits") == 0)
        __atomic_fetch_add(&b->wishes.waits, 1, __ATOMIC_RELAXED);
    else if (strcmp(action, "end") == 0)
        kill(getpid(), SIGTERM); /* as from a terminal: partial statistics are written */
    else
        return false;
    return true;
}

static enum MHD_Result post(struct MHD_Connection *to, const char *action)
{
    pthread_mutex_lock(&server.lock);
    struct board *b = view_state_board(&server.state, process_of(to));
    bool known = b && obey(b, action);
    pthread_mutex_unlock(&server.lock);
    return known ? say(to, MHD_HTTP_OK, "done")
                 : say(to, MHD_HTTP_NOT_FOUND,
                       b ? "there is no such action" : "there is no such process");
}

/* What stands behind the token, or NULL; takes as long for every wrong token. */
static const char *behind_token(const char *url)
{
    unsigned different = 0;
    if (url[0] != '/' || strlen(url) < TOKEN_CHARS + 2)
        return NULL;
    for (size_t i = 0; i < TOKEN_CHARS; i++)
        different |= (unsigned char)(url[1 + i] ^ server.token[i]);
    return different || url[TOKEN_CHARS + 1] != '/' ? NULL : url + TOKEN_CHARS + 2;
}

static void count_unanswered(int more)
{
    pthread_mutex_lock(&server.lock);
    server.unanswered += more;
    pthread_mutex_unlock(&server.lock);
}

/* Called once for every request that was handled, whether its answer was sent or cut off. */
static void complete(void *context, struct MHD_Connection *connection, void **seen,
                     enum MHD_RequestTerminationCode how)
{
    (void)context, (void)connection, (void)seen, (void)how;
    count_unanswered(-1);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *from, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **seen)
{
    static const struct {
        const char *name;
        enum MHD_Result (*get)(struct MHD_Connection *to);
    } things[] = {{"", get_page},
                  {"state", get_state},
                  {"statistics", get_statistics},
                  {"topology", get_topology},
                  {"waits", get_waits}};
    static char mark;
    const char *what = behind_token(url);
    bool head = !*seen; /* a body may follow, which nothing here needs */
    (void)context, (void)version, (void)data;
    if (head) {
        *seen = &mark;
        count_unanswered(1);
    }
    if (!what)
        return say(from, MHD_HTTP_FORBIDDEN, "forbidden");
    if (head) {
        const char *length = mhd.value(from, MHD_HEADER_KIND, "Content-Length");
        return length && strcmp(length, "0") != 0
                   ? say(from, MHD_HTTP_CONTENT_TOO_LARGE, "no body is wanted")
                   : MHD_YES;
    }
    if (*data_size) {
        *data_size = 0;
        return MHD_YES;
    }
    if (strcmp(method, "POST") == 0)
        return post(from, what);
    if (strcmp(method, "GET") != 0)
        return say(from, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and POST");
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++)
        if (strcmp(things[i].name, what) == 0)
            return things[i].get(from);
    return say(from, MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* ---- start ---- */

static bool load_library(void)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"MHD_start_daemon", &mhd.start},
                     {"MHD_stop_daemon", &mhd.stop},
                     {"MHD_create_response_from_buffer", &mhd.respond},
                     {"MHD_add_response_header", &mhd.header},
                     {"MHD_queue_response", &mhd.queue},
                     {"MHD_destroy_response", &mhd.destroy},
                     {"MHD_lookup_connection_value", &mhd.value}};
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof functions / sizeof functions[0]; i++) {
        void *symbol = dlsym(library, functions[i].name);
        if (!symbol)
            return false;
        memcpy(functions[i].to, &symbol, sizeof symbol);
    }
    return library != NULL;
}

static bool make_token(void)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    for (size_t i = 0; i < TOKEN_BYTES; i++)
        snprintf(server.token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* A socket of this machine alone. -1: errno says why. */
static int listen_at(uint16_t port, uint16_t *got)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0
        && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 16) == 0
        && getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
        *got = ntohs(address.sin_port);
        return fd;
    }
    int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

/* Signals are for the thread that supervises the run. */
static struct MHD_Daemon *start_daemon(int socket)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    struct MHD_Daemon *daemon =
        mhd.start(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL,
                  handle, NULL, MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT,
                  CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_KB * 1024,
                  MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
                  complete, NULL, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "heddle run: '--view': %s%s%s\n", what, why ? ": " : "", why ? why : "");
    return false;
}

/* 0: any. */
static bool parse_port(const char *text, uint16_t *port)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *port = (uint16_t)number;
    if (!*text || (*text >= '0' && *text <= '9' && !*end && number >= 1 && number <= 65535))
        return true;
    fprintf(stderr, "heddle run: '--view=%s': it is a port, from 1 to 65535\n", text);
    return false;
}

static bool open_state(struct command *c)
{
    const struct options *o = c->options;
    server.compilation = command_open(c);
    const struct model *model =
        compile_platform(server.compilation, o->arguments.items[0], o->platform);
    if (!model) {
        command_print_diagnostics(server.compilation);
        return false;
    }
    view_picture_open(&server.picture, c);
    return view_state_open(&server.state, c->arena, model) || fail("no memory", strerror(errno));
}

bool view_server_start(struct command *c, struct handed *handed)
{
    uint16_t port;
    if (!c->options->view)
        return true;
    if (!parse_port(c->options->view, &port))
        return false;
    if (!load_library())
        return fail(LIBRARY " is missing; install libmicrohttpd12", NULL);
    if (!make_token() || !open_state(c))
        return false;
    int socket = listen_at(port, &port);
    if (socket < 0) {
        fprintf(stderr, "heddle run: '--view': cannot serve at port %u: %s%s\n", port,
                strerror(errno), errno == EADDRINUSE ? "; leave the port out for any" : "");
        return false;
    }
    server.daemon = start_daemon(socket);
    if (!server.daemon)
        return fail("the server does not start", NULL);
    snprintf(server.board, sizeof server.board, "/proc/%ld/fd/%d", (long)getpid(),
             server.state.file);
    hand_over(handed, "view", '>', server.board);
    for (unsigned i = 0; c->options->view_paused && i < BOARD_PLACES; i++) {
        view_state_board(&server.state, i);
        set_word(&server.state.boards[i]->wishes.pause, 1);
    }
    fprintf(stderr, "heddle: the run is shown at http://127.0.0.1:%u/%s/\n", port, server.token);
    return true;
}

/* By a page that is `open` and has yet to see that the run has ended, or by one who has asked: for
 * the end itself, perhaps. */
static bool is_awaited(bool open)
{
    pthread_mutex_lock(&server.lock);
    bool awaited = server.unanswered || (open && !server.last_told);
    pthread_mutex_unlock(&server.lock);
    return awaited;
}

void view_server_end(void)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    if (!server.daemon)
        return;
    pthread_mutex_lock(&server.lock);
    server.ended = true;
    bool open = server.asked_ms && now_ms() - server.asked_ms < LINGER_MS;
    pthread_mutex_unlock(&server.lock);
    for (int64_t until = now_ms() + LINGER_MS; is_awaited(open) && now_ms() < until;)
        nanosleep(&nap, NULL);
    mhd.stop(server.daemon);
    view_state_close(&server.state);
    compile_close(server.compilation);
    server.daemon = NULL;
}

#endif
