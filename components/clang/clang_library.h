/* The device library of the distribution (package rocm-device-libs): LLVM bitcode with the built-in
 * functions, and files with one constant each that choose between their variants. */
#ifndef HEDDLE_COMPONENTS_CLANG_CLANG_LIBRARY_H
#define HEDDLE_COMPONENTS_CLANG_CLANG_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#define CLANG_LIBRARY_FOLDER "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

/* True if the folder of the device library has that file. */
bool clang_library_exists(const char *name);

/* Sets `name` to the file that tells the library its target, "oclc_isa_version_90a.bc" for
 * "gfx90a:xnack-". Where that is missing, it is the file of the first target of the family, whose
 * constants are the same; `*is_borrowed` is true then. False: there is neither. */
bool clang_library_of_target(const char *target, char *name, size_t size, bool *is_borrowed);

#endif
