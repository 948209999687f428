/* See mock_platform.h. One lock, a list of commands, a list of allocations. The number of devices
 * and their architecture come from MOCK_DEVICES (1) and MOCK_ISA (gfx803). */
#include "mock_platform.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "runtime/state/platform.h"

enum { ALLOCATIONS_MAX = 4096, COMMANDS_MAX = 1 << 16, QUEUES_MAX = 64 };

enum kind { WRITE, READ, COPY, FILL, LAUNCH, MARK };

struct command {
    enum kind kind;
    uint32_t queue;
    uint64_t to, from, size;
    const void *source;
    void *target;
    unsigned char pattern[4];
    uint32_t pattern_bytes;
    struct driver_launch launch;
    char name[256], symbol[256];
    unsigned char *kernarg;
    bool done;
    uint64_t time_ps;
};

struct allocation {
    uint64_t address, size;
    uint32_t device;
    unsigned char *bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mock_state state;
static struct allocation allocations[ALLOCATIONS_MAX];
static struct command commands[COMMANDS_MAX];
static uint64_t command_count, now_ps, window_base, window_size, next_address;
static uint64_t used[QUEUES_MAX];
static uint32_t queue_count;
static _Thread_local const char *error = "";

struct mock_state *mock_state(void)
{
    return &state;
}

static enum driver_status refuse(enum driver_status status, const char *why)
{
    error = why;
    return status;
}

static uint32_t device_count(void)
{
    const char *text = getenv("MOCK_DEVICES");
    return text ? (uint32_t)atoi(text) : 1;
}

static enum driver_status device_info(uint32_t device, struct driver_device_info *info)
{
    const char *isa = getenv("MOCK_ISA");
    *info = (struct driver_device_info){
        .memory_bytes = MOCK_MEMORY_BYTES,
        .clock_hz = 1000000000,
        .compute_units = 64,
        .simds_per_cu = 4,
        .wavefronts_per_simd = 10,
        .vgprs_per_simd = 256,
        .sgprs_per_simd = 800,
        .lds_bytes_per_cu = 65536,
        .work_groups_per_cu = 40,
        .max_work_group = 1024,
        .l2_bytes = 2 << 20,
        .memory_bandwidth_bytes_per_s = 512000000000,
        .page_bytes = 4096,
        .has_fabric = true,
        .lanes = isa && isa[0] == 's' ? 32 : 64,
        .registers_per_cu = 65536,
        .lds_bytes_per_work_group = isa && isa[0] == 's' ? 64512 : 65536,
        .lds_bytes_unasked = isa && isa[0] == 's' ? 49152 : 65536,
        .lds_bytes_reserved = 1024,
    };
    snprintf(info->name, sizeof info->name, "mock gpu %u", device);
    snprintf(info->isa, sizeof info->isa, "%s", isa ? isa : "gfx803");
    return DRIVER_OK;
}

static enum driver_status set_peer(uint32_t gpu, uint32_t peer, bool on)
{
    (void)gpu;
    (void)peer;
    (void)on;
    return DRIVER_OK;
}

static enum driver_status set_window(uint64_t base, uint64_t size)
{
    window_base = next_address = base;
    window_size = size;
    return DRIVER_OK;
}

static enum driver_status allocate_locked(uint32_t device, uint64_t size, uint64_t align,
                                          uint64_t *address)
{
    if (size > MOCK_MEMORY_BYTES - used[device])
        return refuse(DRIVER_OUT_OF_MEMORY, "mock memory is full");
    for (unsigned i = 0; i < ALLOCATIONS_MAX; i++) {
        if (!allocations[i].bytes) {
            uint64_t at = round_up(next_address, align);
            next_address = at + size;
            used[device] += size;
            allocations[i] = (struct allocation){at, size, device, calloc(1, size)};
            *address = at;
            state.allocations++;
            return DRIVER_OK;
        }
    }
    return refuse(DRIVER_OUT_OF_MEMORY, "mock has too many allocations");
}

static enum driver_status allocate(uint32_t device, uint64_t size, uint64_t align,
                                   uint64_t *address)
{
    pthread_mutex_lock(&lock);
    enum driver_status status = allocate_locked(device, size, align, address);
    pthread_mutex_unlock(&lock);
    return status;
}

static enum driver_status allocate_at(uint32_t device, uint64_t address, uint64_t size,
                                      enum driver_place place)
{
    (void)place;
    pthread_mutex_lock(&lock);
    uint64_t next = next_address, got = 0;
    next_address = address;
    enum driver_status status = allocate_locked(device, size, 1, &got);
    next_address = next;
    pthread_mutex_unlock(&lock);
    return status;
}

static struct allocation *find_locked(uint64_t address)
{
    for (unsigned i = 0; i < ALLOCATIONS_MAX; i++)
        if (allocations[i].bytes && address - allocations[i].address < allocations[i].size)
            return &allocations[i];
    return NULL;
}

static unsigned char *bytes_at(uint64_t address, uint64_t size)
{
    struct allocation *found = find_locked(address);
    return found && size <= found->size - (address - found->address)
               ? found->bytes + (address - found->address)
               : NULL;
}

static bool execute(struct command *command)
{
    unsigned char *to = NULL, *from = NULL;
    if (command->kind == WRITE || command->kind == COPY || command->kind == FILL)
        to = bytes_at(command->to, command->size);
    if (command->kind == READ || command->kind == COPY)
        from = bytes_at(command->from, command->size);
    switch (command->kind) {
    case WRITE:
        return to && memcpy(to, command->source, command->size);
    case READ:
        return from && memcpy(command->target, from, command->size);
    case COPY:
        return to && from && memmove(to, from, command->size);
    case FILL:
        for (uint64_t i = 0; to && i < command->size; i++)
            to[i] = command->pattern[i % command->pattern_bytes];
        return to != NULL;
    case LAUNCH:
        state.launch = command->launch;
        snprintf(state.launch_name, sizeof state.launch_name, "%s", command->name);
        snprintf(state.launch_symbol, sizeof state.launch_symbol, "%s", command->symbol);
        memcpy(state.kernarg, command->kernarg, command->launch.kernarg_bytes);
        state.launch.kernarg = state.kernarg;
        state.launches++;
        free(command->kernarg);
        return true;
    case MARK:
        return true;
    }
    return false;
}

static enum driver_status run_until(uint64_t end)
{
    static uint64_t executed;
    for (; executed < end; executed++) {
        struct command *command = &commands[executed];
        now_ps += command->kind == MARK ? 0 : MOCK_COMMAND_PS;
        command->time_ps = now_ps;
        command->done = true;
        state.pending--;
        if (!execute(command)) {
            executed++;
            return refuse(DRIVER_INVALID_ADDRESS, "mock command outside of an allocation");
        }
    }
    enum driver_status status = state.fail_next;
    state.fail_next = DRIVER_OK;
    return status == DRIVER_OK ? DRIVER_OK : refuse(status, "mock kernel read 0x1234");
}

static enum driver_status release(uint64_t address)
{
    pthread_mutex_lock(&lock);
    run_until(command_count);
    struct allocation *found = find_locked(address);
    enum driver_status status = DRIVER_INVALID_ADDRESS;
    if (found && found->address == address) {
        used[found->device] -= found->size;
        free(found->bytes);
        found->bytes = NULL;
        state.allocations--;
        status = DRIVER_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static bool find(uint64_t address, struct driver_allocation *allocation)
{
    pthread_mutex_lock(&lock);
    const struct allocation *found = find_locked(address);
    if (found)
        *allocation = (struct driver_allocation){found->address, found->size};
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

static enum driver_status memory_info(uint32_t device, uint64_t *free_bytes, uint64_t *total_bytes)
{
    *free_bytes = MOCK_MEMORY_BYTES - used[device];
    *total_bytes = MOCK_MEMORY_BYTES;
    return DRIVER_OK;
}

static enum driver_status queue_create(uint32_t device, uint32_t flags, uint32_t *queue)
{
    (void)device, (void)flags;
    *queue = queue_count++;
    return DRIVER_OK;
}

static enum driver_status queue_destroy(uint32_t queue)
{
    return queue < queue_count ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

static enum driver_status enqueue(struct command command, uint64_t *ticket)
{
    pthread_mutex_lock(&lock);
    enum driver_status status = DRIVER_OUT_OF_MEMORY;
    if (command_count < COMMANDS_MAX) {
        commands[command_count++] = command;
        state.pending++;
        status = DRIVER_OK;
        if (ticket)
            *ticket = command_count;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static enum driver_status write_command(uint32_t queue, uint64_t to, const void *host,
                                        uint64_t size, uint64_t *ticket)
{
    return enqueue(
        (struct command){.kind = WRITE, .queue = queue, .to = to, .source = host, .size = size},
        ticket);
}

static enum driver_status read_command(uint32_t queue, void *host, uint64_t from, uint64_t size,
                                       uint64_t *ticket)
{
    return enqueue(
        (struct command){.kind = READ, .queue = queue, .from = from, .target = host, .size = size},
        ticket);
}

static enum driver_status copy_command(uint32_t queue, uint64_t to, uint64_t from, uint64_t size,
                                       uint64_t *ticket)
{
    return enqueue(
        (struct command){.kind = COPY, .queue = queue, .to = to, .from = from, .size = size},
        ticket);
}

static enum driver_status fill_command(uint32_t queue, uint64_t to, const void *pattern,
                                       uint32_t pattern_bytes, uint64_t count, uint64_t *ticket)
{
    struct command command = {.kind = FILL,
                              .queue = queue,
                              .to = to,
                              .size = count * pattern_bytes,
                              .pattern_bytes = pattern_bytes};
    memcpy(command.pattern, pattern, pattern_bytes);
    return enqueue(command, ticket);
}

static enum driver_status launch_command(uint32_t queue, const struct driver_launch *launch,
                                         uint64_t *ticket)
{
    struct command command = {.kind = LAUNCH, .queue = queue, .launch = *launch};
    if (launch->kernarg_bytes > MOCK_KERNARG_MAX)
        return refuse(DRIVER_TOO_LARGE, "mock takes less arguments");
    snprintf(command.name, sizeof command.name, "%s", launch->name);
    snprintf(command.symbol, sizeof command.symbol, "%s", launch->symbol);
    command.kernarg = malloc(launch->kernarg_bytes);
    memcpy(command.kernarg, launch->kernarg, launch->kernarg_bytes);
    return enqueue(command, ticket);
}

static enum driver_status mark_command(uint32_t queue, bool fences, uint64_t *ticket)
{
    (void)fences;
    return enqueue((struct command){.kind = MARK, .queue = queue}, ticket);
}

static enum driver_status wait_for(uint32_t queue, uint64_t ticket)
{
    return queue < queue_count && ticket <= command_count ? DRIVER_OK : DRIVER_INVALID_VALUE;
}

static enum driver_status wait_until(uint64_t ticket)
{
    pthread_mutex_lock(&lock);
    enum driver_status status = run_until(ticket);
    pthread_mutex_unlock(&lock);
    return status;
}

static enum driver_status wait_queue(uint32_t queue)
{
    (void)queue;
    return wait_until(command_count);
}

static enum driver_status advance(bool poll)
{
    uint64_t next = 1;
    (void)poll;
    while (next <= command_count && commands[next - 1].done)
        next++;
    return next <= command_count ? wait_until(next) : DRIVER_OK;
}

static uint64_t now(void)
{
    return now_ps;
}

static enum driver_status pass(uint64_t span_ps)
{
    now_ps += span_ps;
    return DRIVER_OK;
}

static enum driver_status last(uint32_t queue, uint64_t *ticket)
{
    (void)queue;
    *ticket = command_count && !commands[command_count - 1].done ? command_count : 0;
    return DRIVER_OK;
}

/* A program that polls sees the command done the second time. */
static enum driver_status query(uint64_t ticket)
{
    bool done = commands[ticket - 1].done;
    wait_until(ticket);
    return done ? DRIVER_OK : DRIVER_NOT_READY;
}

static enum driver_status time_of(uint64_t ticket, uint64_t *time_ps)
{
    *time_ps = commands[ticket - 1].time_ps;
    return commands[ticket - 1].done ? DRIVER_OK : DRIVER_NOT_READY;
}

static enum driver_status register_code(uint32_t device, const char *name, uint64_t address,
                                        const void *bytes, uint64_t size)
{
    (void)device, (void)name, (void)bytes;
    state.registered_code++;
    return bytes_at(address, size) ? DRIVER_OK : DRIVER_INVALID_ADDRESS;
}

static enum driver_status copy_code(uint32_t device, uint64_t address)
{
    (void)device;
    (void)address;
    return DRIVER_OK;
}

static enum driver_status describe_code(uint64_t address, const void *file, uint64_t size)
{
    (void)address, (void)file, (void)size;
    return DRIVER_OK;
}

static enum driver_status describe_constant(uint64_t address, uint64_t size)
{
    (void)address, (void)size;
    return DRIVER_OK;
}

static enum driver_status unregister_code(uint64_t address)
{
    (void)address;
    state.unregistered_code++;
    return DRIVER_OK;
}

static enum driver_status register_kernel(uint32_t device, const char *name, uint64_t entry)
{
    (void)device, (void)name;
    state.registered_kernels++;
    return bytes_at(entry, 4) ? DRIVER_OK : DRIVER_INVALID_ADDRESS;
}

static enum driver_status register_ptx(uint32_t device, const char *module, uint64_t address,
                                       const char *text, uint64_t size)
{
    (void)device, (void)module;
    state.registered_code++;
    return bytes_at(address, 1) && text[size] == '\0' ? DRIVER_OK : DRIVER_INVALID_ADDRESS;
}

static enum driver_status ptx_kernel(uint64_t entry, struct driver_ptx_kernel *kernel)
{
    *kernel = (struct driver_ptx_kernel){.registers = 32, .shared_bytes = 256, .max_threads = 512};
    return bytes_at(entry, 1) ? DRIVER_OK : DRIVER_INVALID_ADDRESS;
}

static enum driver_ptx_fault ptx_fault(void)
{
    return state.ptx_fault;
}

/* As many as have room in 2048 threads. */
static enum driver_status ptx_blocks(uint32_t device, uint64_t entry, uint32_t threads,
                                     uint64_t dynamic_shared_bytes, uint32_t *blocks)
{
    (void)device, (void)entry, (void)dynamic_shared_bytes;
    *blocks = 2048 / threads;
    return DRIVER_OK;
}

/* Order between streams is the library's own. */
static uint32_t stream_flags(void)
{
    return DRIVER_STREAMS_FRONT_END | DRIVER_STREAMS_FILL_WAITS;
}

static void hide(void)
{
    state.hidden++;
}

static bool is_hidden(const void *address)
{
    (void)address;
    return false;
}

static bool meets(uint64_t entry)
{
    (void)entry;
    return false;
}

static void set_attendant(void (*attend)(const struct driver_attention *now))
{
    (void)attend;
}

static void set_alone(bool (*is_alone)(void))
{
    (void)is_alone;
}

static const char *error_text(void)
{
    return error;
}

static int finish(void)
{
    state.finished++;
    return 0;
}

/* No address is that of two processes. */
static uint64_t name(uint32_t device, uint64_t address)
{
    (void)device;
    return address;
}

/* Memory that both see has no pages that could move. */
static enum driver_status prefetch(uint32_t device, uint64_t address, uint64_t size)
{
    (void)device, (void)address, (void)size;
    return DRIVER_OK;
}

static enum driver_status advise(uint64_t address, uint64_t size, enum driver_advice advice,
                                 bool on)
{
    (void)address, (void)size, (void)advice, (void)on;
    return DRIVER_OK;
}

static void enter_call(void)
{
}

static void leave_call(const char *function)
{
    (void)function;
}

static void program_ends(bool ends)
{
    (void)ends;
}

static const struct driver_api api = {
    .name = name,
    .prefetch = prefetch,
    .advise = advise,
    .version = DRIVER_API_VERSION,
    .device_count = device_count,
    .device_info = device_info,
    .set_peer = set_peer,
    .set_window = set_window,
    .allocate = allocate,
    .allocate_unified = allocate,
    .allocate_at = allocate_at,
    .release = release,
    .find = find,
    .memory_info = memory_info,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .write = write_command,
    .read = read_command,
    .write_shared = write_command,
    .read_shared = read_command,
    .copy = copy_command,
    .fill = fill_command,
    .launch = launch_command,
    .mark = mark_command,
    .wait_for = wait_for,
    .stream_flags = stream_flags,
    .wait = wait_until,
    .wait_queue = wait_queue,
    .advance = advance,
    .now = now,
    .pass = pass,
    .last = last,
    .query = query,
    .time_of = time_of,
    .register_code = register_code,
    .unregister_code = unregister_code,
    .describe_code = describe_code,
    .describe_constant = describe_constant,
    .copy_code = copy_code,
    .register_kernel = register_kernel,
    .register_ptx = register_ptx,
    .ptx_kernel = ptx_kernel,
    .ptx_fault = ptx_fault,
    .ptx_blocks = ptx_blocks,
    .set_attendant = set_attendant,
    .set_alone = set_alone,
    .error_text = error_text,
    .program_ends = program_ends,
    .finish = finish,
    .hide = hide,
    .is_hidden = is_hidden,
    .meets = meets,
    .enter_call = enter_call,
    .leave_call = leave_call,
};

static bool start(const char *options)
{
    return options != NULL;
}

static int finish_platform(void)
{
    return 0;
}

static const void *driver(void)
{
    return &api;
}

const struct heddle_platform *heddle_platform_open(uint32_t abi)
{
    static const struct heddle_platform platform = {
        .abi = PLATFORM_ABI, .start = start, .finish = finish_platform, .driver = driver};
    return abi == PLATFORM_ABI ? &platform : NULL;
}
