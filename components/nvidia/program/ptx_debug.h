/* Warps as threads of a debugger (components/checks/debugger/debugger.h). */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_DEBUG_H
#define HEDDLE_COMPONENTS_NVIDIA_PROGRAM_PTX_DEBUG_H

#include "ptx_code.h"

/* Sets what the launch is followed by, if the process is debugged. */
void ptx_debug_begin(struct ptx_call *call);
/* Nothing of the launch is executed any more. */
void ptx_debug_end(const struct ptx_call *call);
/* A module has been loaded: writes "ptx-ADDRESS" for the other side, which makes names and lines of
 * it: lines of words, and behind the line "text" the PTX. */
void ptx_debug_code(const struct ptx_code *code, const char *text, size_t size);

#endif
