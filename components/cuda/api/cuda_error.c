/* Names and descriptions of CUDA's errors. */
#include "base/number.h"

#include "cuda_internal.h"

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define HEDDLE_ERROR(number, name, text) {number, "cuda" #name, text},
#include "components/cuda/include/heddle/errors.def"
#undef HEDDLE_ERROR
};

const char *cuda_error_name(int error)
{
    cuda_services()->report_call("cudaGetErrorName");
    for (size_t i = 0; i < ARRAY_COUNT(errors); i++)
        if (errors[i].number == error)
            return errors[i].name;
    return "unrecognized error code";
}

const char *cuda_error_text(int error)
{
    cuda_services()->report_call("cudaGetErrorString");
    for (size_t i = 0; i < ARRAY_COUNT(errors); i++)
        if (errors[i].number == error)
            return errors[i].text;
    return "unrecognized error code";
}
