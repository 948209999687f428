/* Files to delete when a signal ends the process: unfinished files, and files that serve this
 * process alone. */
#ifndef HEDDLE_RUNTIME_ENGINE_UNFINISHED_H
#define HEDDLE_RUNTIME_ENGINE_UNFINISHED_H

/* From here on, a signal that ends the process removes the files first. What is ignored stays
 * ignored, and a handler of others stays theirs. */
void unfinished_guard(void);

/* Notes a path, before its file exists. A number for unfinished_forget(), which is called when the
 * file is complete or gone; -1: there is no room, and no signal removes it. */
int unfinished_add(const char *path);
void unfinished_forget(int number);

#endif
