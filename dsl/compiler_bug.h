#ifndef HEDDLE_DSL_COMPILER_BUG_H
#define HEDDLE_DSL_COMPILER_BUG_H

/* Our own mistake: prints where it was noticed, and ends the program. */
#define compiler_bug(...) compiler_bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void compiler_bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
