/* The files of handlers are compiled for each x86-64 level; warp_handlers.c chooses one at load.
 * All levels give the same bytes. Private to components/nvidia/warp. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_VARIANT_H
#define HEDDLE_COMPONENTS_NVIDIA_WARP_HANDLERS_WARP_VARIANT_H

#include "components/nvidia/warp/warp_machine.h"

#define WARP_DECLARE(level)                                                                        \
    void warp_enter_integer_##level(warp_handler **table);                                         \
    void warp_enter_float_##level(warp_handler **table);                                           \
    void warp_enter_half_##level(warp_handler **table);                                            \
    void warp_enter_convert_##level(warp_handler **table);                                         \
    void warp_enter_access_##level(warp_handler **table);                                          \
    void warp_enter_other_##level(warp_handler **table);                                           \
    void warp_enter_exchange_##level(warp_handler **table);                                        \
    void warp_enter_texture_##level(warp_handler **table);                                         \
    void warp_enter_matrix_##level(warp_handler **table);

WARP_DECLARE(v2)
WARP_DECLARE(v3)

#endif
