/* Kernels in PTX on a GPU that executes PTX, by the driver's own interface, without a CUDA library:
 * `ptx_calls MODULE.ptx WHAT`. WHAT: `all` prints `PASS ptx_calls`, or `FAIL` and why; `wrong`
 * launches a kernel that writes outside of all memory. */
#define PROGRAM "ptx_calls"
#include "components/nvidia/ptx/ptx.h"

#include "driver_program.h"

enum { COUNT = 10000, BINS = 64, BLOCK = 256, BLOCKS = 40, WINDOW_BITS = 40 };

static struct ptx_module *module;
static uint64_t image;

static char *file_text(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    static char text[1 << 16];
    *size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static void load(const char *path)
{
    struct driver_device_info info;
    struct ptx_error error;
    size_t size;
    const char *text = file_text(path, &size);
    start_platform();
    MUST(api->set_window((uint64_t)2 << 44, (uint64_t)1 << WINDOW_BITS));
    MUST(api->device_info(0, &info));
    CHECK(driver_executes_ptx(&info) && info.compute_units && info.lanes == 32);
    CHECK(info.memory_bytes && info.l2_bytes && info.memory_bandwidth_bytes_per_s);
    module = ptx_parse(path, text, size, &error);
    CHECK(module);
    ptx_layout(module);
    MUST(api->allocate(0, module->image_bytes, 256, &image));
    uint8_t *bytes = calloc(1, module->image_bytes);
    uint64_t ticket;
    ptx_image(module, image, bytes);
    MUST(api->write(0, image, bytes, module->image_bytes, &ticket));
    MUST(api->wait(ticket));
    free(bytes);
    CHECK(api->register_ptx(0, path, image, "nonsense", 8) == DRIVER_INVALID_VALUE);
    MUST(api->register_ptx(0, path, image, text, size));
}

static uint64_t launch(uint32_t queue, const char *name, uint32_t blocks, const void *arguments,
                       uint32_t bytes, enum driver_status *status)
{
    const struct ptx_function *f = ptx_find_function(module, name);
    uint64_t entry = f ? image + f->offset : 0, ticket = 0;
    struct driver_ptx_kernel kernel;
    CHECK(f);
    MUST(api->register_kernel(0, name, entry));
    MUST(api->ptx_kernel(entry, &kernel));
    CHECK(kernel.parameter_bytes == bytes && kernel.registers >= 16);
    const struct driver_launch l = {.name = name,
                                    .symbol = name,
                                    .entry = entry,
                                    .grid = {blocks * BLOCK, 1, 1},
                                    .block = {BLOCK, 1, 1},
                                    .group_bytes = kernel.shared_bytes,
                                    .kernarg = arguments,
                                    .kernarg_bytes = bytes,
                                    .kernarg_align = 8};
    *status = api->launch(queue, &l, &ticket);
    if (*status == DRIVER_OK)
        *status = api->wait(ticket);
    return ticket;
}

static uint64_t device_buffer(uint64_t bytes)
{
    uint64_t address;
    MUST(api->allocate(0, bytes, 256, &address));
    return address;
}

static void vectors_are_added(void)
{
    static float a[COUNT], b[COUNT], c[COUNT];
    uint64_t bytes = sizeof a, ticket, first, last;
    struct {
        uint64_t a, b, c;
        uint32_t n;
    } arguments = {device_buffer(bytes), device_buffer(bytes), device_buffer(bytes), COUNT};
    enum driver_status status;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)(i % 7);
    }
    MUST(api->write(0, arguments.a, a, bytes, NULL));
    MUST(api->write(0, arguments.b, b, bytes, NULL));
    MUST(api->mark(0, true, &first));
    launch(0, "vectoradd", (COUNT + BLOCK - 1) / BLOCK, &arguments, 28, &status);
    CHECK(status == DRIVER_OK);
    MUST(api->mark(0, true, &last));
    MUST(api->read(0, c, arguments.c, bytes, &ticket));
    MUST(api->wait(ticket));
    for (int i = 0; i < COUNT; i++)
        CHECK(c[i] == a[i] + b[i]);
    MUST(api->time_of(first, &first));
    MUST(api->time_of(last, &last));
    CHECK(last >= first);
}

/* Copies and fills inside of the GPU, shared memory, barriers and atomics. */
static void values_are_counted(void)
{
    static uint32_t data[COUNT], bins[BINS], expected[BINS];
    uint64_t source = device_buffer(sizeof data), ticket;
    struct {
        uint64_t data, bins;
        uint32_t n;
    } arguments = {device_buffer(sizeof data), device_buffer(sizeof bins), COUNT};
    enum driver_status status;
    const uint32_t three = 3;
    for (uint32_t i = 0; i < COUNT; i++) {
        data[i] = i * 2654435761u >> 9;
        expected[data[i] % BINS]++;
    }
    MUST(api->write(0, source, data, sizeof data, NULL));
    MUST(api->copy(0, arguments.data, source, sizeof data, NULL));
    MUST(api->fill(0, arguments.bins, &three, 4, BINS, NULL));
    launch(0, "histogram", BLOCKS, &arguments, 20, &status);
    CHECK(status == DRIVER_OK);
    MUST(api->read(0, bins, arguments.bins, sizeof bins, &ticket));
    MUST(api->wait(ticket));
    for (int i = 0; i < BINS; i++)
        CHECK(bins[i] == expected[i] + three);
}

static char printed[256];

static void take_text(uint32_t device, const char *text, size_t size)
{
    CHECK(device == 0 && strlen(printed) + size < sizeof printed);
    strncat(printed, text, size);
}

static void kernels_print(void)
{
    static const char word[] = "words";
    uint64_t address = device_buffer(sizeof word);
    enum driver_status status;
    api->set_printer(take_text);
    MUST(api->write(0, address, word, sizeof word, NULL));
    launch(0, "report", 2, &address, 8, &status);
    CHECK(status == DRIVER_OK);
    CHECK(!strcmp(printed, "block 0 has 0.50 words\nblock 1 has 0.50 words\n"));
}

static void wrong_addresses_are_faults(void)
{
    uint64_t nowhere = 4096, address;
    uint32_t gpu;
    enum driver_status status;
    launch(0, "wrong", 1, &nowhere, 8, &status);
    CHECK(status == DRIVER_FAULT);
    printf("%s\n", api->error_text());
    CHECK(api->fault_address(&address, &gpu) && address == nowhere && gpu == 0);
    CHECK(api->ptx_fault() == DRIVER_PTX_ADDRESS);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    load(argv[1]);
    if (!strcmp(argv[2], "wrong")) {
        wrong_addresses_are_faults();
        printf("PASS ptx_calls\n");
        api->finish();
        return 0;
    }
    vectors_are_added();
    values_are_counted();
    kernels_print();
    MUST(api->unregister_code(image));
    printf("PASS ptx_calls\n");
    finish_platform();
    return 0;
}
