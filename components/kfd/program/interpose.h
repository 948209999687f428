/* Calls of the C library that this library answers for the files of AMD's kernel driver: /dev/kfd,
 * /dev/dri/renderD*, and what the driver shows below /sys and /proc. All others go to the next
 * library that defines them: another preloaded one, or the C library.
 *
 * HEDDLE_TOPOLOGY names a folder that holds those files by their own paths, as `heddle run --stack
 * rocm` writes it; without it nothing is answered. What descriptors of the devices do is behind
 * kfd_devices.h.
 *
 * The functions carry the C library's names by `__asm__`, so that headers which give one name to
 * two of them (open, open64) do not matter. */
#ifndef HEDDLE_COMPONENTS_KFD_PROGRAM_INTERPOSE_H
#define HEDDLE_COMPONENTS_KFD_PROGRAM_INTERPOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Behind the declaration of a function: the C library's name that it carries. */
#define INTERPOSE(name) __asm__(#name) __attribute__((visibility("default")))
/* A second name of a function in the same file. */
#define INTERPOSE_AS(name, first)                                                                  \
    __asm__(#name) __attribute__((visibility("default"), alias(#first)))

/* The next library's function of this name; ends the process when there is none. */
void *interpose_next(const char *name);

/* `name` of the next library, as a function of the type that `like` has. */
#define INTERPOSE_NEXT(like, name)                                                                 \
    __extension__({                                                                                \
        static void *next_found;                                                                   \
        void *next_now = __atomic_load_n(&next_found, __ATOMIC_RELAXED);                           \
        if (!next_now) {                                                                           \
            next_now = interpose_next(name);                                                       \
            __atomic_store_n(&next_found, next_now, __ATOMIC_RELAXED);                             \
        }                                                                                          \
        (__typeof__(&like))next_now;                                                               \
    })

/* ---- paths ---- */

#define INTERPOSE_PATH_MAX 4096

enum interpose_kind { INTERPOSE_OTHER, INTERPOSE_FILE, INTERPOSE_KFD, INTERPOSE_RENDER };

struct interpose_path {
    enum interpose_kind kind;
    int minor; /* device number of a render node */
    /* INTERPOSE_FILE and devices: what stands for it on the host, and the path in that folder. */
    char real[INTERPOSE_PATH_MAX];
    const char *inside;
};

/* The target of a path. Only absolute paths are looked at; `.` and `..` are taken out of them
 * first. INTERPOSE_OTHER: none of ours. */
enum interpose_kind interpose_find(const char *path, struct interpose_path *found);

/* ---- descriptors ---- */

/* True if a descriptor of the program is one of a device; also finds of which file. */
bool interpose_is_device(int fd, enum interpose_kind *kind, int *minor);
/* True if it is one that a process has from its parent, by fork(). */
bool interpose_is_parents(int fd);
/* A descriptor for the program. -1 with errno. */
int interpose_open_device(const struct interpose_path *path, int flags);
/* The program made `copy` of `fd`, or `copy` is closed when `fd` is -1. */
void interpose_copied(int fd, int copy);

/* ---- the DRM side of a render node ---- */

/* Answers what libdrm_amdgpu asks at its start. False: none of it, kfd_ioctl() knows. */
bool interpose_drm(int minor, unsigned long request, void *argument, int *result);

#endif
