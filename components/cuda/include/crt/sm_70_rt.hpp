/* clang's header of intrinsics includes a file of this name for __match_any_sync() and its like,
 * which are in heddle/device_intrinsics.h. */
