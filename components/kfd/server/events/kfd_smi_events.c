/* Notices of a GPU as lines of text (AMDKFD_IOC_SMI_EVENTS): the program gets a descriptor, writes
 * a mask of 64 bits to it, one for each kind of event, and reads what has happened since. A stream
 * socket is both ways. Memory faults are all that happens to a simulated GPU: it throttles nothing,
 * resets nothing, evicts no queue and moves no page. */
#include <errno.h>
#include <inttypes.h>
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "components/kfd/server/kfd_ioctl.h"

struct kfd_listener {
    struct kfd_listener *next;
    int fd;
    uint32_t gpu;
    uint64_t mask;
};

int kfd_smi_events_open(struct kfd_process *p, struct kfd_request *request)
{
    struct kfd_ioctl_smi_events_args *call = request->argument;
    int gpu = kfd_find_gpu(call->gpuid), pair[2];
    if (gpu < 0)
        return -EINVAL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return -errno;
    struct kfd_listener *l = grow_zeroed(sizeof *l, KFD_SERVER);
    *l = (struct kfd_listener){.next = p->listeners, .fd = pair[0], .gpu = (uint32_t)gpu};
    p->listeners = l;
    call->anon_fd = (uint32_t)pair[1];
    return 0;
}

/* Takes the last mask that the program has written. False: it has closed its end. */
static bool read_mask(struct kfd_listener *l)
{
    uint64_t mask;
    ssize_t size;
    while ((size = recv(l->fd, &mask, sizeof mask, 0)) == sizeof mask)
        l->mask = mask;
    return size != 0;
}

/* A reader that does not read loses what has no room, as it does with Linux. */
static void send_to_listeners(struct kfd_process *p, uint32_t gpu, enum kfd_smi_event event,
                              const char *what)
{
    char line[KFD_SMI_EVENT_MSG_SIZE];
    int length = snprintf(line, sizeof line, "%x %s\n", (unsigned)event, what);
    for (struct kfd_listener **link = &p->listeners; *link;) {
        struct kfd_listener *l = *link;
        if (!read_mask(l)) {
            *link = l->next;
            close(l->fd);
            free(l);
            continue;
        }
        if (l->gpu == gpu && l->mask & KFD_SMI_EVENT_MASK_FROM_INDEX(event))
            (void)!send(l->fd, line, (size_t)length, MSG_NOSIGNAL);
        link = &l->next;
    }
}

void kfd_smi_events_fault(struct kfd_process *p, uint32_t gpu)
{
    char what[64], name[32] = "", path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)p->pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    snprintf(what, sizeof what, "%x:%s", (unsigned)p->pid, name);
    send_to_listeners(p, gpu, KFD_SMI_EVENT_VMFAULT, what);
}

void kfd_smi_events_close(struct kfd_process *p)
{
    for (struct kfd_listener *l = p->listeners, *next; l; l = next) {
        next = l->next;
        close(l->fd);
        free(l);
    }
    p->listeners = NULL;
}
