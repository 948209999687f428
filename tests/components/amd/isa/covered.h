/* Which forms of which instructions a test has executed and compared with a result that
 * was computed without the library.
 *
 * A test calls covered_mark() after the comparison. The marks of an executable stand in a file of
 * COVERED_DIR, since Criterion runs each test in a process of its own; a rebuilt executable starts
 * anew. isa_coverage.c reads them: it fails for a form that can be executed and has no mark. */
#ifndef HEDDLE_TESTS_COMPONENTS_AMD_ISA_COVERED_H
#define HEDDLE_TESTS_COMPONENTS_AMD_ISA_COVERED_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "components/amd/isa/isa.h"

/* The 32-bit (memory: only) encoding, the 64-bit one of vector instructions, and the two with a
 * second word. */
enum covered_form { COVERED_PLAIN, COVERED_VOP3, COVERED_SDWA, COVERED_DPP, COVERED_FORMS };

enum { COVERED_ROWS = 4096 };

struct covered_map {
    uint64_t stamp; /* of the executable: time of its last change and size */
    uint8_t forms[ISA_TARGET_COUNT][COVERED_ROWS]; /* bit: enum covered_form */
};

static inline uint64_t covered_stamp(const char *executable)
{
    struct stat is;
    if (stat(executable, &is))
        return 0;
    return (uint64_t)is.st_mtim.tv_sec * 1000000007u + (uint64_t)is.st_mtim.tv_nsec
           + (uint64_t)is.st_size * 31;
}

/* The file of an executable's marks. */
static inline void covered_path(const char *executable, char *out, size_t size)
{
    const char *slash = strrchr(executable, '/');
    snprintf(out, size, "%s/%s.covered", COVERED_DIR, slash ? slash + 1 : executable);
}

static inline enum covered_form covered_form_of(const struct isa_inst *inst)
{
    return inst->flags & ISA_IS_SDWA        ? COVERED_SDWA
           : inst->flags & ISA_IS_DPP       ? COVERED_DPP
           : inst->flags & ISA_IS_VOP3_FORM ? COVERED_VOP3
                                            : COVERED_PLAIN;
}

static inline struct covered_map *covered_open(void)
{
    static struct covered_map *map;
    char executable[4096] = "", path[4200];
    if (map)
        return map;
    ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    covered_path(length > 0 ? executable : "unknown", path, sizeof path);
    int file = open(path, O_RDWR | O_CREAT, 0666);
    if (file < 0 || flock(file, LOCK_EX) || ftruncate(file, sizeof *map)) {
        perror(path);
        _exit(1);
    }
    map = mmap(NULL, sizeof *map, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) {
        perror(path);
        _exit(1);
    }
    uint64_t stamp = covered_stamp(executable);
    if (map->stamp != stamp) {
        memset(map, 0, sizeof *map);
        map->stamp = stamp;
    }
    close(file);
    return map;
}

static inline void covered_mark(const struct isa_inst *inst)
{
    covered_open()->forms[inst->target][inst->op] |= (uint8_t)(1u << covered_form_of(inst));
}

#endif
