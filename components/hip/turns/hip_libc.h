/* Functions of the C library that this library defines, too: HIP_LIBC(name) is the C library's own.
 */
#ifndef HEDDLE_COMPONENTS_HIP_TURNS_HIP_LIBC_H
#define HEDDLE_COMPONENTS_HIP_TURNS_HIP_LIBC_H

/* Stores the address of the next function `name` after this library at `function`, which is a
 * pointer to a function; ends the program when there is none. */
void hip_find_libc(const char *name, void *function);

#define HIP_LIBC(name)                                                                             \
    __extension__({                                                                                \
        static __typeof__(&name) real_function;                                                    \
        __typeof__(&name) real_found = __atomic_load_n(&real_function, __ATOMIC_ACQUIRE);          \
        if (!real_found) {                                                                         \
            hip_find_libc(#name, &real_found);                                                     \
            __atomic_store_n(&real_function, real_found, __ATOMIC_RELEASE);                        \
        }                                                                                          \
        real_found;                                                                                \
    })

#endif
