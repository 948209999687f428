/* Fat binaries of CUDA: containers of device code for several architectures, which compilers embed
 * in programs. Only their PTX is used; entries of machine code are listed.
 *
 * The layout was found by looking at files that compilers wrote: a header of 16 bytes, then entries
 * with a header of 64 bytes or more each. PTX is plain, or packed by LZ4 (a block without a frame)
 * or zstd. Bytes are not trusted: every size is checked, and a size that is wrong is an error with
 * a message. Nothing is copied before cuda_fatbin_unpack(), so the bytes must stay. */
#ifndef HEDDLE_COMPONENTS_CUDA_FATBIN_CUDA_FATBIN_H
#define HEDDLE_COMPONENTS_CUDA_FATBIN_CUDA_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CUDA_FATBIN_ENTRIES_MAX = 128,
    CUDA_FATBIN_TEXT_MAX = 1 << 28, /* bytes of an unpacked PTX */
    CUDA_FATBIN_ERROR_BYTES = 200
};

enum cuda_fatbin_kind { CUDA_FATBIN_PTX = 1, CUDA_FATBIN_MACHINE_CODE = 2 };

enum cuda_fatbin_packing { CUDA_FATBIN_PLAIN, CUDA_FATBIN_LZ4, CUDA_FATBIN_ZSTD };

struct cuda_fatbin_entry {
    uint32_t kind; /* enum cuda_fatbin_kind, or another number */
    uint32_t sm;   /* 80 for sm_80 */
    enum cuda_fatbin_packing packing;
    const uint8_t *bytes;
    size_t size;       /* as stored */
    uint64_t unpacked; /* bytes; 0: `size` */
};

struct cuda_fatbin {
    struct cuda_fatbin_entry entries[CUDA_FATBIN_ENTRIES_MAX];
    size_t count;
    char error[CUDA_FATBIN_ERROR_BYTES]; /* why a call has failed, without a full stop */
};

/* True if a container seems to begin here. */
bool cuda_fatbin_recognise(const void *bytes, size_t size);
/* Reads the container that lies in at most `size` bytes. False: see `error`. */
bool cuda_fatbin_read(struct cuda_fatbin *fatbin, const void *bytes, size_t size);
/* The PTX for the newest architecture that a device of `sm` still executes, or NULL. */
const struct cuda_fatbin_entry *cuda_fatbin_find(const struct cuda_fatbin *fatbin, uint32_t sm);
/* "PTX of sm_80, machine code of sm_86", cut where the text is full. */
void cuda_fatbin_list(const struct cuda_fatbin *fatbin, char *text, size_t size);
/* The entry's text with a NUL after it, which free() frees; its length goes to *length. NULL: see
 * `error`. */
char *cuda_fatbin_unpack(struct cuda_fatbin *fatbin, const struct cuda_fatbin_entry *entry,
                         size_t *length);

#endif
