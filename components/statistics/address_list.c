/* Writes the list of lines that each launch accesses; address_list.h has its form. */
#include "address_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/engine/output_file.h"
#include "runtime/observe/json.h"

static struct output_file file;
static struct json out;
static const char *name;
static bool is_open;
static uint64_t launch;

static bool complain(int reason)
{
    fprintf(stderr, "heddle: --addresses %s: %s\n", name, strerror(reason));
    return false;
}

bool address_list_open(const char *path)
{
    static const char head[] = "launch,address,access\n";
    is_open = false;
    name = path;
    if (!path)
        return true;
    if (!output_file_open(&file, path))
        return complain(errno);
    json_start(&out, file.fd);
    json_raw(&out, head, sizeof head - 1);
    launch = 0;
    is_open = true;
    return true;
}

bool address_list_close(void)
{
    if (!is_open)
        return true;
    is_open = false;
    int reason = json_publish(&out, &file);
    return !reason || complain(reason);
}

bool address_list_is_wanted(void)
{
    return is_open;
}

void address_list_launch(uint64_t number)
{
    launch = number;
}

void address_list_add(uint64_t address, unsigned access)
{
    static const char *const words[] = {"read", "write"};
    char text[64];
    for (unsigned i = 0; i < 2; i++) {
        if (!(access >> i & 1))
            continue;
        int size = snprintf(text, sizeof text, "%" PRIu64 ",0x%" PRIx64 ",%s\n", launch, address,
                            words[i]);
        json_raw(&out, text, (size_t)size);
    }
}
