/* Starting clang as a process: commands as arrays of words, files in memory for what it reads and
 * writes, headers through an overlay of its file system. No shell takes part, and no file with a
 * name is written, so that nothing stays on disk however the process ends.
 *
 * hipRTC and OpenCL programs compile through it. Running out of host memory ends the program. */
#ifndef HEDDLE_COMPONENTS_CLANG_CLANG_PROCESS_H
#define HEDDLE_COMPONENTS_CLANG_CLANG_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Host memory, zeroed. */
void *clang_allocate(size_t size);
char *clang_join(const char *first, const char *second);
void clang_release(void *memory);

/* ---- files in memory ---- */

/* A file with these bytes, read from its start next. Its number is none that the compiler's
 * standard files get. -1: there is none, and errno has the reason. */
int clang_file_make(const void *bytes, size_t size);
/* The whole file, with a byte 0 after it. */
char *clang_file_read(int file, size_t *size);
/* True if it holds an ELF file. */
bool clang_file_is_code(int file);
/* Closes a file, if it is one, and forgets it. */
void clang_file_close(int *file);

/* ---- commands ---- */

struct clang_command {
    char **words; /* up to NULL */
    size_t count, capacity;
    int *files; /* files that stay open under their numbers */
    size_t file_count, file_capacity;
};

/* Adds a word made of two parts. */
void clang_add(struct clang_command *command, const char *first, const char *second);
/* Adds words; NULL entries and empty ones are left out. */
void clang_add_words(struct clang_command *command, const char *const *words, size_t count);
/* Adds the name under which the compiler finds the file, which stays open. */
void clang_add_file(struct clang_command *command, const char *prefix, int file);
void clang_release_command(struct clang_command *command);

/* Runs the command, waits for its end and releases it. Standard input, which it reads from the
 * start, standard output and error are the three files. 0, or the number of the error that kept it
 * from starting; ENOENT: the program is missing. */
int clang_run(struct clang_command *command, int in, int out, int log, bool *has_failed);

/* ---- headers ---- */

struct clang_header {
    const char *name; /* path in the source's #include: relative, or absolute */
    const char *text;
    size_t size;
};

struct clang_overlay {
    int file; /* the list of names and files; -1: there are no headers */
    int *headers;
    size_t count;
};

/* Makes files of headers, which the compiler sees in `folder`. False: errno has the reason. */
bool clang_overlay_make(struct clang_overlay *overlay, const char *folder,
                        const struct clang_header *headers, size_t count);
/* Adds the options by which the compiler sees the headers. */
void clang_overlay_add(const struct clang_overlay *overlay, struct clang_command *command,
                       const char *folder);
void clang_overlay_close(struct clang_overlay *overlay);

#endif
