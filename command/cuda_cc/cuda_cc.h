/* The state that the files of `heddle cuda-cc` share: the words of its command line and of
 * clang's. */
#ifndef HEDDLE_COMMAND_CUDA_CC_CUDA_CC_H
#define HEDDLE_COMMAND_CUDA_CC_CUDA_CC_H

#include "command/command.h"

#define CUDA_CC_COMPILER    "clang++-19"
#define CUDA_CC_PTX_VERSION "83"
#define CUDA_CC_RELEASE     128 /* CUDA's, whose headers heddle's are like */

typedef VECTOR(const char *) words;

struct cuda_cc {
    struct command *c;
    words sources, objects;
    words both, host, device, link; /* words for clang */
    words temporary;
    const char *output, *architecture, *folder;
    const char *preprocessed; /* the option that asks for text instead of code; NULL: none */
    unsigned generation;      /* 90 of sm_90; 0: not asked for */
    bool only_objects, only_ptx, only_archive, only_version, verbose;
    bool all_cuda;    /* sources are CUDA whatever their names (-x cu) */
    bool relocatable; /* device code of objects is bitcode, which is linked */
    bool only_device_link;
    bool has_managed;  /* the source that is compiled has __managed__ variables */
    bool has_clusters; /* the source has kernels with __cluster_dims__ */
};

void cuda_cc_add(struct cuda_cc *cc, words *list, const char *word);

/* One word of the command line. False: what is wrong was said. */
bool cuda_cc_read_word(struct cuda_cc *cc, const struct options_list *arguments, int *at);

/* Says why NVIDIA's libraries cannot be used: the libraries that the source includes, and the
 * libraries that the command line links. cuda_cc_check_libraries() returns true if the command line
 * links none. */
void cuda_cc_explain_headers(struct cuda_cc *cc, const char *source);
bool cuda_cc_check_libraries(const struct cuda_cc *cc);

/* Runs a command and waits for it. */
bool cuda_cc_run(struct cuda_cc *cc, words *line);
/* Path of a file that goes when the command ends; NULL: what is wrong was said. */
const char *cuda_cc_temporary(struct cuda_cc *cc);
/* The file's bytes, and a byte 0 after them; NULL: it cannot be read, as was said. */
char *cuda_cc_read(struct cuda_cc *cc, const char *path, size_t *size);
bool cuda_cc_write_fatbin(struct cuda_cc *cc, const char *ptx, const char *fatbin);

/* True if the source has __managed__ variables. Then both compilations stop at clang's intermediate
 * code, of which these two make PTX and an object. They change it. */
bool cuda_cc_has_managed(struct cuda_cc *cc, const char *source);
bool cuda_cc_managed_ptx(struct cuda_cc *cc, const char *ir, const char *ptx);
bool cuda_cc_managed_object(struct cuda_cc *cc, const char *ir, const char *object);

/* True if the source has __cluster_dims__. Then PTX that was made of clang's intermediate code gets
 * them from it. */
bool cuda_cc_has_clusters(struct cuda_cc *cc, const char *source);
bool cuda_cc_write_clusters(struct cuda_cc *cc, const char *ir, const char *ptx);

/* Clang from LLVM's language to `path`: with -S PTX, with -emit-llvm-bc bitcode. */
words cuda_cc_begin_ir(struct cuda_cc *cc, const char *action, const char *path);
/* Bitcode of a source in LLVM's language, for objects that are linked later. Changes the source. */
bool cuda_cc_make_bitcode(struct cuda_cc *cc, const char *source, const char *path);
/* True if the PTX defines all that it uses. False: the missing names were printed. */
bool cuda_cc_is_complete(struct cuda_cc *cc, const char *ptx);
/* Device code of relocatable objects, as one program: adds an object to `objects`, which registers
 * it. Does nothing where there are no such objects. */
bool cuda_cc_link_device(struct cuda_cc *cc);

#endif
