/* The table of handlers, filled once, with the best level that this machine has. */
#include "warp_variant.h"

static warp_handler *handlers[WARP_RUN_COUNT];

#define FILL(level)                                                                                \
    static void fill_##level(void)                                                                 \
    {                                                                                              \
        warp_enter_integer_##level(handlers);                                                      \
        warp_enter_float_##level(handlers);                                                        \
        warp_enter_half_##level(handlers);                                                         \
        warp_enter_convert_##level(handlers);                                                      \
        warp_enter_access_##level(handlers);                                                       \
        warp_enter_texture_##level(handlers);                                                      \
        warp_enter_matrix_##level(handlers);                                                       \
        warp_enter_other_##level(handlers);                                                        \
        warp_enter_exchange_##level(handlers);                                                     \
    }
#ifdef ISA_V2
FILL(v2)
#endif
#ifdef ISA_V3
FILL(v3)
#endif

warp_handler *warp_handler_of(enum warp_run run)
{
    if (!handlers[WARP_RUN_MBARRIER_COUNT]) { /* the last that is entered */
#if defined ISA_V2 && defined ISA_V3
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            fill_v3();
        else
            fill_v2();
#elif defined ISA_V3
        fill_v3();
#else
        fill_v2();
#endif
    }
    return handlers[run];
}
