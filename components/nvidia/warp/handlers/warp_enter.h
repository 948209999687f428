/* Redefines the rows of a table: from here on, a row enters its handler in `table`. Included by the
 * files of handlers between the two times that they include their table; it has no guard for that
 * reason. */
#undef LANE1
#undef LANE2
#undef LANE3
#undef COMPARE
#undef CARRY
#undef ATOMIC
#undef HANDLER
#define LANE1(id, D, A, value)       table[WARP_RUN_##id] = run_##id;
#define LANE2(id, D, A, B, value)    table[WARP_RUN_##id] = run_##id;
#define LANE3(id, D, A, B, C, value) table[WARP_RUN_##id] = run_##id;
#define COMPARE(id, A, value)        table[WARP_RUN_##id] = run_##id;
#define CARRY(id, T, sum, out)       table[WARP_RUN_##id] = run_##id;
#define ATOMIC(id, T, value)         table[WARP_RUN_##id] = run_##id;
#define HANDLER(id)                  table[WARP_RUN_##id] = run_##id;
