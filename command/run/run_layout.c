/* Gives a program the same addresses in every run. Linux on x86-64 puts the environment
 * above the stack, so its size moves the stack; the padding makes it the same for runs whose
 * options differ. */
#define _GNU_SOURCE /* environ */
#include "run_layout.h"

#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

enum { STEP = 1 << 14 /* bytes; the environment and the arguments of most programs take less */ };

static size_t count_bytes(char *const *list, size_t *strings)
{
    size_t bytes = 0;
    for (size_t i = 0; list[i]; i++, ++*strings)
        bytes += strlen(list[i]) + 1 + sizeof list[i];
    return bytes;
}

void run_fix_layout(char *const *arguments)
{
    static const char name[] = "HEDDLE_PADDING", even[] = "HEDDLE_EVEN=";
    char padding[STEP];
    size_t strings = 1; /* the padding */
    unsetenv(name);
    unsetenv("HEDDLE_EVEN");
    size_t used = count_bytes(environ, &strings) + count_bytes(arguments, &strings) + sizeof name
                  + 1 + sizeof(char *);
    if (strings % 2 == 1) { /* strings and pointers are aligned to 16 bytes, each for itself */
        setenv("HEDDLE_EVEN", "", 1);
        used += sizeof even + sizeof(char *);
    }
    size_t missing = STEP - used % STEP;
    memset(padding, ' ', sizeof padding);
    padding[missing < sizeof padding ? missing : 0] = 0;
    setenv(name, padding, 1);
    personality(ADDR_NO_RANDOMIZE); /* where it is refused, addresses differ from run to run */
}
