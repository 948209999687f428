/* Files, folders and child processes for the generator's tests. Failures end the test. */
#ifndef HEDDLE_TESTS_CODEGEN_SUPPORT_H
#define HEDDLE_TESTS_CODEGEN_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

/* A new empty folder; removed with all it holds by support_remove(). */
char *support_folder(void);
void support_remove(char *folder);

/* Contents with a NUL behind them, malloc'd; NULL when the file is not there. */
char *support_read(const char *path, size_t *size);
void support_write(const char *path, const char *text);
/* snprintf into malloc'd memory. */
char *support_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Environment variable that the build sets. */
const char *support_env(const char *name);

struct support_result {
    int status;   /* exit status; 128 + signal */
    char *output; /* standard output */
    char *errors; /* standard error */
};
/* Runs a shell command. */
struct support_result support_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
void support_release(struct support_result *result);

#endif
