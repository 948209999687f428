// alu [NAME]: the R9 Nano's program of rates (../../micro/alu.hip.cpp) in the words of gfx90a and gfx942, and instructions that these
// have.
#define MICRO_CDNA
#include "../../micro/alu.hip.cpp"
