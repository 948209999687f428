/* The call path of the driver: components between the program and the driver, through which each
 * call of the program goes before the driver does it. Without a path, calls are the driver's at
 * once.
 *
 * A command that is enqueued waits (`gated`) until its call has come to the driver again, over a
 * port from a device (device_call.execute). Calls go one after the other, as the program makes
 * them; the bytes of copies go the same way. The functions take the driver and not the part, since
 * a path works on the driver's commands. In functional mode the driver asks for nothing. */
#ifndef HEDDLE_COMPONENTS_HOST_DRIVER_CALL_PATH_H
#define HEDDLE_COMPONENTS_HOST_DRIVER_CALL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "driver_api.h"

struct driver;
struct driver_command;
struct hang_report;

struct call_path_ops {
    uint64_t copy_bytes; /* most bytes of one call; a longer copy is several commands */

    /* In the program's calls. What has been done already goes the path, too: it takes its time. */
    enum driver_status (*allocated)(struct driver *d, uint64_t size);
    enum driver_status (*released)(struct driver *d, uint64_t address);
    enum driver_status (*registered)(struct driver *d, uint64_t module, uint64_t size);
    enum driver_status (*unregistered)(struct driver *d, uint64_t module);
    enum driver_status (*named)(struct driver *d, const char *kernel, uint64_t entry);
    /* The calling thread begins a call of the front end's interface; ends that of `function`. A
     * call that came to nothing else goes the path by its name. */
    void (*begin)(void);
    enum driver_status (*end)(struct driver *d, const char *function);
    /* Before a command is enqueued: waits until there is room for its calls. */
    enum driver_status (*wait_room)(struct driver *d);
    /* Command `number` has been enqueued: it is gated until its call has come. */
    void (*command)(struct driver *d, uint32_t number);
    /* In front of a launch: its geometry, and its arguments as they lie in memory. */
    void (*launch)(struct driver *d, uint32_t queue, const struct driver_launch *l);
    /* The end of the program: runs the simulation until all calls have gone the path. */
    enum driver_status (*drain)(struct driver *d);
    /* The program waits for a ticket that is not done. */
    enum driver_status (*wait)(struct driver *d, uint64_t ticket);

    /* In ticks. */
    bool (*tick)(struct driver *d);
    /* A device hands over the call in blob `call`, with the bytes of a copy to a GPU in blob
     * `data`: what it says is done. False: it is none that was sent. `*ticket`: what its answer
     * waits for; `*read`: of a copy from a GPU, the blob that its bytes go to. */
    bool (*execute)(struct driver *d, uint32_t call, uint32_t data, uint64_t *ticket,
                    uint32_t *read);
    /* True if the bytes of the copy with that ticket are in their blob. */
    bool (*has_read)(const struct driver *d, uint64_t ticket, uint32_t read);
    /* The copy, whose bytes are in a blob (`move.data`), is over: they go to the program. */
    void (*copied)(struct driver *d, struct driver_command *k);
    unsigned (*outstanding)(const struct driver *d, struct hang_report *report);
};

#endif
