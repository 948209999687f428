/* Memory of three dimensions: rows of bytes, of which some make a slice. Volumes are copied and
 * filled slice by slice, after all of them have been checked, so that a refused one has no effect.
 * Arrays (hipArray), which only images use, are refused. */
#include "base/number.h"
#include "components/hip/api/hip_internal.h"

/* A volume: its first byte, and the bytes from row to row and from slice to slice. */
struct volume {
    char *start;
    size_t pitch, slice;
};

struct volume_copy {
    struct volume to, from;
    size_t width, rows, slices;
    hipMemcpyKind kind;
    hipStream_t stream;
    bool is_blocking;
};

/* False: some product is larger than any memory. */
static bool begin_volume(struct volume *v, void *base, size_t pitch, size_t rows,
                         const size_t first[3])
{
    size_t slice, slices, lines;
    if (__builtin_mul_overflow(pitch, rows, &slice)
        || __builtin_mul_overflow(slice, first[2], &slices)
        || __builtin_mul_overflow(pitch, first[1], &lines)
        || __builtin_add_overflow(slices, lines, &slices)
        || __builtin_add_overflow(slices, first[0], &slices))
        return false;
    *v = (struct volume){(char *)base + slices, pitch, slice};
    return true;
}

static struct hip_copy_area slice_of(const struct volume_copy *c, size_t number)
{
    return (struct hip_copy_area){.to = (uintptr_t)c->to.start + number * c->to.slice,
                                  .from = (uintptr_t)c->from.start + number * c->from.slice,
                                  .to_pitch = c->to.pitch,
                                  .from_pitch = c->from.pitch,
                                  .width = c->width,
                                  .rows = c->rows,
                                  .kind = c->kind};
}

static hipError_t check_slices(const struct volume_copy *c)
{
    hipError_t error = hipSuccess;
    size_t widest = max(c->to.slice, c->from.slice);
    if (c->slices > 1 && widest > SIZE_MAX / c->slices)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < c->slices && error == hipSuccess; i++)
        error = hip_check_copy_2d(slice_of(c, i));
    return error;
}

static hipError_t copy_volume(const struct volume_copy *c)
{
    hipError_t error = check_slices(c);
    for (size_t i = 0; i < c->slices && error == hipSuccess; i++)
        error = hip_copy_2d(slice_of(c, i), c->stream, c->is_blocking);
    return error;
}

static hipError_t fail_arrays(void)
{
    return hip_fail(
        hipErrorNotSupported,
        "no device here has arrays (hipArray): use memory of hipMalloc3D or hipMallocPitch");
}

hipError_t hip_copy_3d(const hipMemcpy3DParms *p, hipStream_t stream, bool is_blocking)
{
    if (!p)
        return hipErrorInvalidValue;
    if (p->srcArray || p->dstArray)
        return fail_arrays();
    struct volume_copy c = {.width = p->extent.width,
                            .rows = p->extent.height,
                            .slices = p->extent.depth,
                            .kind = p->kind,
                            .stream = stream,
                            .is_blocking = is_blocking};
    bool fits = begin_volume(&c.from, p->srcPtr.ptr, p->srcPtr.pitch, p->srcPtr.ysize,
                             (size_t[3]){p->srcPos.x, p->srcPos.y, p->srcPos.z})
                && begin_volume(&c.to, p->dstPtr.ptr, p->dstPtr.pitch, p->dstPtr.ysize,
                                (size_t[3]){p->dstPos.x, p->dstPos.y, p->dstPos.z});
    return fits ? copy_volume(&c) : hipErrorInvalidValue;
}

HIP_DEFINE(hipMemcpy3D, (p), const hipMemcpy3DParms *p)
{
    return hip_copy_3d(p, NULL, true);
}

HIP_DEFINE(hipMemcpy3DAsync, (p, stream), const hipMemcpy3DParms *p, hipStream_t stream)
{
    return hip_copy_3d(p, stream, false);
}

/* ---- as drivers have it: a side says of which kind its memory is ---- */

struct side {
    hipMemoryType type;
    const void *host;
    hipDeviceptr_t device;
    size_t pitch, rows, first[3];
};

static void *memory_of(const struct side *s)
{
    return s->type == hipMemoryTypeHost ? (void *)(uintptr_t)s->host : s->device;
}

static hipMemcpyKind direction_of(const struct side *to, const struct side *from)
{
    bool is_from_host = from->type == hipMemoryTypeHost;
    if (to->type == hipMemoryTypeUnified || from->type == hipMemoryTypeUnified)
        return hipMemcpyDefault;
    if (to->type == hipMemoryTypeHost)
        return is_from_host ? hipMemcpyHostToHost : hipMemcpyDeviceToHost;
    return is_from_host ? hipMemcpyHostToDevice : hipMemcpyDeviceToDevice;
}

/* `c` has the extent, and how it is to be copied. */
static hipError_t copy_sides(struct volume_copy c, const struct side *to, const struct side *from)
{
    if (from->type == hipMemoryTypeArray || to->type == hipMemoryTypeArray)
        return fail_arrays();
    c.kind = direction_of(to, from);
    bool fits = begin_volume(&c.from, memory_of(from), from->pitch, from->rows, from->first)
                && begin_volume(&c.to, memory_of(to), to->pitch, to->rows, to->first);
    return fits ? copy_volume(&c) : hipErrorInvalidValue;
}

static hipError_t copy_drv_3d(const HIP_MEMCPY3D *p, hipStream_t stream, bool is_blocking)
{
    if (!p)
        return hipErrorInvalidValue;
    struct side from = {p->srcMemoryType, p->srcHost,   p->srcDevice,
                        p->srcPitch,      p->srcHeight, {p->srcXInBytes, p->srcY, p->srcZ}};
    struct side to = {p->dstMemoryType, p->dstHost,   p->dstDevice,
                      p->dstPitch,      p->dstHeight, {p->dstXInBytes, p->dstY, p->dstZ}};
    struct volume_copy c = {.width = p->WidthInBytes,
                            .rows = p->Height,
                            .slices = p->Depth,
                            .stream = stream,
                            .is_blocking = is_blocking};
    return copy_sides(c, &to, &from);
}

HIP_DEFINE(hipDrvMemcpy3D, (p), const HIP_MEMCPY3D *p)
{
    return copy_drv_3d(p, NULL, true);
}

HIP_DEFINE(hipDrvMemcpy3DAsync, (p, stream), const HIP_MEMCPY3D *p, hipStream_t stream)
{
    return copy_drv_3d(p, stream, false);
}

static hipError_t copy_param_2d(const hip_Memcpy2D *p, hipStream_t stream, bool is_blocking)
{
    if (!p)
        return hipErrorInvalidValue;
    struct side from = {p->srcMemoryType, p->srcHost, p->srcDevice,
                        p->srcPitch,      1,          {p->srcXInBytes, p->srcY, 0}};
    struct side to = {p->dstMemoryType, p->dstHost, p->dstDevice,
                      p->dstPitch,      1,          {p->dstXInBytes, p->dstY, 0}};
    struct volume_copy c = {.width = p->WidthInBytes,
                            .rows = p->Height,
                            .slices = 1,
                            .stream = stream,
                            .is_blocking = is_blocking};
    return copy_sides(c, &to, &from);
}

HIP_DEFINE(hipMemcpyParam2D, (p), const hip_Memcpy2D *p)
{
    return copy_param_2d(p, NULL, true);
}

HIP_DEFINE(hipMemcpyParam2DAsync, (p, stream), const hip_Memcpy2D *p, hipStream_t stream)
{
    return copy_param_2d(p, stream, false);
}

HIP_DEFINE(hipDrvMemcpy2DUnaligned, (p), const hip_Memcpy2D *p)
{
    return copy_param_2d(p, NULL, true);
}

/* ---- allocation and fills ---- */

HIP_DEFINE(hipMalloc3D, (p, extent), hipPitchedPtr *p, hipExtent extent)
{
    size_t rows;
    if (!p || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return hipErrorInvalidValue;
    hipError_t error = hip_allocate_pitch(&p->ptr, &p->pitch, extent.width, rows);
    p->xsize = extent.width;
    p->ysize = extent.height;
    return error;
}

static hipError_t fill_3d(hipPitchedPtr p, int value, hipExtent extent, hipStream_t stream,
                          bool is_blocking)
{
    struct volume v;
    hipError_t error = begin_volume(&v, p.ptr, p.pitch, p.ysize, (size_t[3]){0, 0, extent.depth})
                           ? hipSuccess
                           : hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    struct hip_fill_area area = {.address = (uintptr_t)p.ptr,
                                 .value = (uint32_t)value,
                                 .width = 1,
                                 .count = extent.width,
                                 .rows = extent.height,
                                 .pitch = v.pitch};
    for (size_t i = 0; i < extent.depth && error == hipSuccess; i++, area.address += v.slice)
        error = hip_check_fill(area);
    area.address = (uintptr_t)p.ptr;
    for (size_t i = 0; i < extent.depth && error == hipSuccess; i++, area.address += v.slice)
        error = hip_fill(area, stream, is_blocking);
    return error;
}

HIP_DEFINE(hipMemset3D, (p, value, extent), hipPitchedPtr p, int value, hipExtent extent)
{
    return fill_3d(p, value, extent, NULL, true);
}

HIP_DEFINE(hipMemset3DAsync, (p, value, extent, stream), hipPitchedPtr p, int value,
           hipExtent extent, hipStream_t stream)
{
    return fill_3d(p, value, extent, stream, false);
}
