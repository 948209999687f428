/* Describes a module of PTX as a code object is described: kernels with their parameters, and
 * variables. So all that follows loading (launches, recordings, packets) is the same for both kinds
 * of code. */
#ifndef HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_OBJECT_H
#define HEDDLE_COMPONENTS_NVIDIA_PTX_PTX_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

#include "components/amd/isa/object/code_object.h"

struct ptx_module;

/* True if the bytes begin as a text of PTX does: with ".version", after comments. */
bool ptx_object_recognise(const void *bytes, size_t size);

/* The module is laid out; addresses are those in the image. A parameter of 8 bytes that may be a
 * pointer counts as one, since PTX does not say which are. Release by code_object_release(). */
void ptx_object_describe(const struct ptx_module *module, struct code_object *object);

#endif
