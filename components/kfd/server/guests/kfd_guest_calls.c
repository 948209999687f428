/* The execution of guests' calls (guest_calls.def). Devices, queues and addresses of others cannot
 * be named: they are looked up in the tables of the guest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/number.h"
#include "components/kfd/channel/program_memory.h"

#include "kfd_guest.h"

enum { TEXT_MAX = 1 << 20 };          /* names of kernels with templates are long */
#define BYTES_MAX ((uint64_t)1 << 32) /* largest code object or PTX */

static const struct driver_attention *attention;

/* Bytes of the guest that the call in progress was given; they are freed after it. */
static struct loan {
    struct loan *next;
    _Alignas(16) char bytes[];
} * loans;

/* ---- what a guest names ---- */

static uint32_t device_of(const struct kfd_process *p, uint64_t number)
{
    const struct kfd_guest *g = p->guest;
    if (number < kfd.gpu_count)
        return g->has_entered ? p->device[number] : (uint32_t)number;
    for (uint32_t i = 0; i < p->context_count; i++)
        if (p->contexts[i] == number)
            return (uint32_t)number;
    return number == DRIVER_HOST_DEVICE ? DRIVER_HOST_DEVICE : UINT32_MAX - 1;
}

static uint32_t queue_of(const struct kfd_guest *g, uint64_t number)
{
    return number < g->queue_count && g->queues[number].is_used ? g->queues[number].number
                                                                : UINT32_MAX;
}

/* An address that the guest has itself, by the driver's name; 0: it is none of its own. */
static uint64_t name_of(const struct kfd_process *p, uint64_t address)
{
    struct driver_device_info info;
    struct driver_page page;
    uint64_t name = kfd_name(p, address);
    if (kfd.api->page_info(name, &page) != DRIVER_OK)
        return 0;
    bool is_own =
        kfd.api->device_info(p->device[0], &info) == DRIVER_OK && info.process == page.process;
    for (uint32_t i = 0; i < p->context_count && !is_own; i++)
        is_own = kfd.api->device_info(p->contexts[i], &info) == DRIVER_OK
                 && info.process == page.process;
    return is_own ? name : 0;
}

static void *borrow_bytes(const struct kfd_process *p, uint64_t address, uint64_t size)
{
    struct loan *l = size <= BYTES_MAX ? malloc(sizeof *l + size + 1) : NULL;
    if (!l)
        return NULL;
    l->next = loans;
    loans = l;
    l->bytes[size] = '\0';
    return program_read(p->pid, l->bytes, address, size) ? l->bytes : NULL;
}

/* A string. It is read in pieces of one page each, as memory may end after it. */
static const char *borrow_text(const struct kfd_process *p, uint64_t address)
{
    enum { PIECE = 256 };
    struct loan *l = grow_zeroed(sizeof *l + 1, KFD_SERVER);
    uint64_t at = 0, part;
    for (bool ends = !address; !ends && at < TEXT_MAX; at += part) {
        part = PIECE - (address + at) % PIECE;
        l = grow_memory(l, sizeof *l + at + part + 1, KFD_SERVER);
        if (!program_read(p->pid, l->bytes + at, address + at, part))
            break;
        ends = memchr(l->bytes + at, '\0', part);
    }
    l->bytes[at] = '\0';
    l->next = loans;
    loans = l;
    return l->bytes;
}

static void return_loans(void)
{
    while (loans) {
        struct loan *next = loans->next;
        free(loans);
        loans = next;
    }
}

/* ---- calls with more to do than the driver's ---- */

static const char *refused; /* why the call in progress is; NULL: the driver says it */

static enum driver_status refuse_call(const char *reason)
{
    refused = reason;
    return DRIVER_INVALID_VALUE;
}

static enum driver_status set_window(uint64_t base, uint64_t size)
{
    if (base == DRIVER_WINDOW && size >= DRIVER_WINDOW_BYTES)
        return DRIVER_OK;
    return refuse_call("the range of device addresses of the shared machine is not free in this "
                       "process");
}

static enum driver_status find_memory(uint64_t name, struct driver_allocation *allocation)
{
    return kfd.api->find(name, allocation) ? DRIVER_OK : DRIVER_INVALID_ADDRESS;
}

static enum driver_status give_name(uint32_t device, uint64_t address, uint64_t *name)
{
    *name = kfd.api->name(device, address);
    return DRIVER_OK;
}

/* GPUs reach a peer as long as any guest wants it. */
static enum driver_status set_peer(struct kfd_guest *g, uint32_t gpu, uint32_t peer, bool on)
{
    bool others = false;
    if (gpu >= kfd.gpu_count || peer >= kfd.gpu_count)
        return kfd.api->set_peer(gpu, peer, on);
    for (const struct kfd_process *p = kfd.processes; p; p = p->next)
        others |= p->guest && p->guest != g && (p->guest->peers[gpu] >> peer & 1);
    enum driver_status status = others && !on ? DRIVER_OK : kfd.api->set_peer(gpu, peer, on);
    if (status == DRIVER_OK && on)
        g->peers[gpu] |= (uint64_t)1 << peer;
    else if (status == DRIVER_OK)
        g->peers[gpu] &= ~((uint64_t)1 << peer);
    return status;
}

static enum driver_status context_create(struct kfd_process *p, struct kfd_reply *reply,
                                         uint32_t like, uint32_t process)
{
    uint32_t context = 0;
    if (p->context_count == ARRAY_COUNT(p->contexts))
        return refuse_call("a process has made too many contexts on a shared machine");
    enum driver_status status = kfd.api->context_create(like, process, &context);
    if (status == DRIVER_OK)
        status = kfd.api->contain(context);
    if (status == DRIVER_OK)
        p->contexts[p->context_count++] = context;
    reply->word[0] = context;
    return status;
}

static enum driver_status context_destroy(struct kfd_process *p, uint32_t context)
{
    for (uint32_t i = 0; i < p->context_count; i++) {
        if (p->contexts[i] != context)
            continue;
        p->contexts[i] = p->contexts[--p->context_count];
        return kfd.api->context_destroy(context);
    }
    return refuse_call("only a device that the process has made can be destroyed");
}

static enum driver_status make_queue(const struct kfd_process *p, struct kfd_guest_queue *q)
{
    return kfd.api->queue_create(device_of(p, q->device), q->flags, &q->number);
}

static enum driver_status queue_create(const struct kfd_process *p, uint64_t device, uint32_t flags,
                                       uint64_t *made)
{
    struct kfd_guest *g = p->guest;
    size_t i = 0;
    while (i < g->queue_count && g->queues[i].is_used)
        i++;
    if (i == g->queue_count)
        g->queues = grow_memory(g->queues, ++g->queue_count * sizeof *g->queues, KFD_SERVER);
    g->queues[i] = (struct kfd_guest_queue){(uint32_t)device, flags, UINT32_MAX, false};
    enum driver_status status = g->has_entered ? make_queue(p, &g->queues[i]) : DRIVER_OK;
    g->queues[i].is_used = status == DRIVER_OK;
    *made = i;
    return status;
}

void kfd_guest_make_queues(struct kfd_process *p)
{
    struct kfd_guest *g = p->guest;
    for (size_t i = 0; i < g->queue_count; i++)
        g->queues[i].is_used = g->queues[i].is_used && make_queue(p, &g->queues[i]) == DRIVER_OK;
}

static enum driver_status queue_destroy(struct kfd_guest *g, uint64_t number)
{
    enum driver_status status = kfd.api->queue_destroy(queue_of(g, number));
    if (status == DRIVER_OK)
        g->queues[number].is_used = false;
    return status;
}

static enum driver_status last_of_queue(const struct kfd_guest *g, uint32_t queue, uint64_t *ticket)
{
    *ticket = 0;
    return g->has_entered ? kfd.api->last(queue, ticket) : DRIVER_OK;
}

static enum driver_status launch_kernel(const struct kfd_process *p, uint32_t queue,
                                        uint64_t address, uint64_t *ticket)
{
    enum { ARGUMENTS_MAX = 1 << 20 };
    struct driver_launch l;
    if (!program_read(p->pid, &l, address, sizeof l) || l.kernarg_bytes > ARGUMENTS_MAX)
        return refuse_call("a launch cannot be read");
    l.name = borrow_text(p, (uintptr_t)l.name);
    l.symbol = l.symbol ? borrow_text(p, (uintptr_t)l.symbol) : NULL;
    l.kernarg = l.kernarg ? borrow_bytes(p, (uintptr_t)l.kernarg, l.kernarg_bytes) : NULL;
    if (l.kernarg_bytes && !l.kernarg && !l.kernarg_address)
        return refuse_call("the arguments of a launch cannot be read");
    return kfd.api->launch(queue, &l, ticket);
}

/* Words: device, name, address, bytes, size. */
static enum driver_status register_code(const struct kfd_process *p, uint32_t device,
                                        const uint64_t *word)
{
    const void *bytes = borrow_bytes(p, word[3], word[4]);
    return bytes ? kfd.api->register_code(device, borrow_text(p, word[1]), word[2], bytes, word[4])
                 : refuse_call("code cannot be read");
}

static enum driver_status register_ptx(const struct kfd_process *p, uint32_t device,
                                       const uint64_t *word)
{
    const char *text = borrow_bytes(p, word[3], word[4]);
    return text ? kfd.api->register_ptx(device, borrow_text(p, word[1]), word[2], text, word[4])
                : refuse_call("code cannot be read");
}

static enum driver_status kernel_meets(uint64_t entry, uint64_t *does)
{
    *does = kfd.api->meets(entry);
    return DRIVER_OK;
}

static enum driver_status ptx_fault(uint64_t *kind)
{
    *kind = kfd.api->ptx_fault();
    return DRIVER_OK;
}

static enum driver_status ptx_blocks(uint32_t device, const uint64_t *word, uint64_t *blocks)
{
    uint32_t count = 0;
    enum driver_status status =
        kfd.api->ptx_blocks(device, word[1], (uint32_t)word[2], word[3], &count);
    *blocks = count;
    return status;
}

static enum driver_status set_attendant(struct kfd_guest *g, bool attends)
{
    g->attends = attends;
    return DRIVER_OK;
}

static enum driver_status set_leaves(struct kfd_process *p, bool leaves)
{
    p->life = leaves ? KFD_LEAVES : KFD_LIVES;
    return DRIVER_OK;
}

static enum driver_status give_printed(const struct kfd_process *p, uint64_t address, uint64_t size)
{
    struct kfd_guest *g = p->guest;
    if (size > g->printed_bytes || !program_write(p->pid, address, g->printed, size))
        return DRIVER_INVALID_VALUE;
    g->printed_bytes -= size;
    memmove(g->printed, g->printed + size, g->printed_bytes);
    return DRIVER_OK;
}

static enum driver_status peek_memory(const struct kfd_process *p, uint64_t address, uint64_t to,
                                      uint64_t size)
{
    char bytes[8192];
    return attention && size <= sizeof bytes && attention->read(address, bytes, size)
                   && program_write(p->pid, to, bytes, size)
               ? DRIVER_OK
               : DRIVER_INVALID_ADDRESS;
}

static enum driver_status poke_memory(const struct kfd_process *p, uint64_t address, uint64_t from,
                                      uint64_t size)
{
    char bytes[8192];
    return attention && size <= sizeof bytes && program_read(p->pid, bytes, from, size)
                   && attention->write(address, bytes, size)
               ? DRIVER_OK
               : DRIVER_INVALID_ADDRESS;
}

/* ---- the table ---- */

#define W(i)         (word[i])
#define DEVICE(i)    device_of(p, word[i])
#define QUEUE(i)     queue_of(g, word[i])
#define NAME(i)      name_of(p, word[i])
#define POINTER(i)   ((void *)(uintptr_t)word[i])
#define TEXT(i)      borrow_text(p, word[i])
#define OUT(i)       (&reply->word[i])
#define STRUCT(type) ((struct type *)(void *)fill_struct(reply, sizeof(struct type)))

static uint8_t *fill_struct(struct kfd_reply *reply, size_t size)
{
    reply->size = (uint32_t)size;
    return reply->bytes;
}

#define GUEST_CALL(name, kind, ...)                                                                \
    static enum driver_status do_##name(struct kfd_process *p, const uint64_t *word,               \
                                        struct kfd_reply *reply)                                   \
    {                                                                                              \
        const struct driver_api *api = kfd.api;                                                    \
        struct kfd_guest *g = p->guest;                                                            \
        (void)g, (void)word, (void)reply, (void)api;                                               \
        return __VA_ARGS__;                                                                        \
    }
#include "components/kfd/channel/guest_calls.def"
#undef GUEST_CALL

static const struct {
    enum kfd_guest_kind kind;
    enum driver_status (*run)(struct kfd_process *p, const uint64_t *word, struct kfd_reply *reply);
} calls[GUEST_CALLS] = {
#define GUEST_CALL(name, kind, ...) [GUEST_##name] = {GUEST_##kind, do_##name},
#include "components/kfd/channel/guest_calls.def"
#undef GUEST_CALL
};

void kfd_guest_put_text(struct kfd_connection *c, const char *text)
{
    snprintf((char *)c->reply.bytes, sizeof c->reply.bytes, "%s", text);
    c->reply.size = (uint32_t)strlen((char *)c->reply.bytes) + 1;
}

enum kfd_guest_kind kfd_guest_kind_of(uint32_t name)
{
    return calls[name].kind;
}

static struct kfd_guest *guest_in_turn; /* whose progress the driver has; NULL: it has none's */

static void switch_to(struct kfd_guest *g)
{
    if (guest_in_turn == g)
        return;
    uint64_t before = kfd.api->switch_program(g->progress);
    if (guest_in_turn)
        guest_in_turn->progress = before;
    guest_in_turn = g;
}

void kfd_guest_calls_release(const struct kfd_guest *g)
{
    guest_in_turn = guest_in_turn == g ? NULL : guest_in_turn;
}

enum driver_status kfd_guest_do(struct kfd_connection *c)
{
    struct guest_call call;
    memcpy(&call, c->call.bytes, sizeof call);
    switch_to(c->process->guest);
    refused = NULL;
    enum driver_status status = calls[call.name].run(c->process, call.word, &c->reply);
    return_loans();
    if (status != DRIVER_OK)
        kfd_guest_put_text(c, status == DRIVER_NOT_READY ? ""
                              : refused                  ? refused
                                                         : kfd.api->error_text());
    return status;
}

/* ---- bytes of programs ---- */

/* The process that has the device. Called on any thread of the simulation, while the machine's is
 * in the engine and so changes nothing. */
static const struct kfd_process *program_of(uint32_t device)
{
    for (const struct kfd_process *p = kfd.processes; p; p = p->next) {
        const struct kfd_guest *g = p->guest;
        if (!g)
            continue;
        for (uint32_t i = 0; i < kfd.gpu_count; i++)
            if (p->device[i] == device)
                return p;
        for (uint32_t i = 0; i < p->context_count; i++)
            if (p->contexts[i] == device)
                return p;
    }
    return NULL;
}

/* True if a process with AMD's runtime uses the device. Its copies name the machine's own views. */
static bool is_viewed(uint32_t device)
{
    for (const struct kfd_process *p = kfd.processes; p; p = p->next) {
        if (p->guest)
            continue;
        for (uint32_t i = 0; i < kfd.gpu_count; i++)
            if (p->device[i] == device)
                return true;
    }
    return false;
}

static void take_bytes(uint32_t device, void *to, const void *from, size_t size)
{
    const struct kfd_process *p = program_of(device);
    if (!p && is_viewed(device))
        memcpy(to, from, size);
    else if (!p || !program_read(p->pid, to, (uintptr_t)from, size))
        memset(to, 0, size);
}

static void give_bytes(uint32_t device, void *to, const void *from, size_t size)
{
    const struct kfd_process *p = program_of(device);
    if (p)
        program_write(p->pid, (uintptr_t)to, from, size);
    else if (is_viewed(device))
        memcpy(to, from, size);
}

static void print_text(uint32_t device, const char *text, size_t size)
{
    const struct kfd_process *p = program_of(device);
    if (!p || p->life == KFD_ENDED)
        return;
    p->guest->printed = grow_memory(p->guest->printed, p->guest->printed_bytes + size, KFD_SERVER);
    memcpy(p->guest->printed + p->guest->printed_bytes, text, size);
    p->guest->printed_bytes += size;
}

void kfd_guest_calls_open(void)
{
    static const struct driver_programs programs = {take_bytes, give_bytes};
    kfd.api->programs(&programs);
    kfd.api->set_printer(print_text);
}

void kfd_guest_set_attention(const struct driver_attention *given)
{
    attention = given;
}
