/* Nodes of graphs whose parameters CUDA lays out differently from HIP. */
#include <string.h>

#include "cuda_internal.h"

const hipKernelNodeParams *cuda_kernel_node(const struct cuda_kernel_node *kernel,
                                            hipKernelNodeParams *params)
{
    if (kernel)
        *params = (hipKernelNodeParams){.func = kernel->function,
                                        .gridDim = kernel->grid,
                                        .blockDim = kernel->block,
                                        .sharedMemBytes = kernel->shared,
                                        .kernelParams = kernel->values,
                                        .extra = kernel->extra};
    return kernel ? params : NULL;
}

hipError_t cuda_get_kernel_node(hipGraphNode_t node, struct cuda_kernel_node *kernel)
{
    hipKernelNodeParams params;
    hipError_t error = kernel ? hipGraphKernelNodeGetParams(node, &params) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *kernel = (struct cuda_kernel_node){.function = params.func,
                                            .grid = params.gridDim,
                                            .block = params.blockDim,
                                            .shared = params.sharedMemBytes,
                                            .values = params.kernelParams};
    return error;
}

const hipMemsetParams *cuda_fill_node(const struct cuda_fill_node *fill, hipMemsetParams *params)
{
    if (fill)
        *params = (hipMemsetParams){.dst = fill->to,
                                    .pitch = fill->pitch,
                                    .value = fill->value,
                                    .elementSize = fill->element,
                                    .width = fill->width,
                                    .height = fill->height};
    return fill ? params : NULL;
}

hipError_t cuda_get_fill_node(hipGraphNode_t node, struct cuda_fill_node *fill)
{
    hipMemsetParams params;
    hipError_t error = fill ? hipGraphMemsetNodeGetParams(node, &params) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *fill = (struct cuda_fill_node){.to = params.dst,
                                        .pitch = params.pitch,
                                        .value = params.value,
                                        .element = params.elementSize,
                                        .width = params.width,
                                        .height = params.height};
    return error;
}

/* The results have the same numbers. */
hipError_t cuda_update_graph(hipGraphExec_t exec, hipGraph_t graph,
                             struct cuda_update_result *result)
{
    hipGraphExecUpdateResult outcome = hipGraphExecUpdateError;
    hipGraphNode_t wrong = NULL;
    if (!result)
        return hipErrorInvalidValue;
    hipError_t error = hipGraphExecUpdate(exec, graph, &wrong, &outcome);
    *result = (struct cuda_update_result){.result = (int)outcome, .wrong = wrong};
    return error;
}

hipError_t cuda_node_attribute(hipGraphNode_t node)
{
    hipGraphNodeType type = hipGraphNodeTypeEmpty;
    hipError_t error = hipGraphNodeGetType(node, &type);
    return error == hipSuccess && type != hipGraphNodeTypeKernel ? hipErrorInvalidValue : error;
}

static hipError_t symbol_address(const void *symbol, size_t size, size_t offset, void **address)
{
    size_t bytes = 0;
    hipError_t error = hipGetSymbolSize(&bytes, symbol);
    if (error == hipSuccess && (offset > bytes || size > bytes - offset))
        error = hipErrorInvalidValue;
    if (error == hipSuccess)
        error = hipGetSymbolAddress(address, symbol);
    if (error == hipSuccess)
        *address = (char *)*address + offset;
    return error;
}

hipError_t cuda_add_copy_to_symbol(hipGraphNode_t *node, hipGraph_t graph,
                                   const hipGraphNode_t *dependencies, size_t count,
                                   const void *symbol, const void *from, size_t size, size_t offset,
                                   hipMemcpyKind kind)
{
    void *to = NULL;
    hipError_t error = symbol_address(symbol, size, offset, &to);
    return error == hipSuccess
               ? hipGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, size, kind)
               : error;
}

hipError_t cuda_add_copy_from_symbol(hipGraphNode_t *node, hipGraph_t graph,
                                     const hipGraphNode_t *dependencies, size_t count, void *to,
                                     const void *symbol, size_t size, size_t offset,
                                     hipMemcpyKind kind)
{
    void *from = NULL;
    hipError_t error = symbol_address(symbol, size, offset, &from);
    return error == hipSuccess
               ? hipGraphAddMemcpyNode1D(node, graph, dependencies, count, to, from, size, kind)
               : error;
}

enum { EDGE_BYTES = 8 }; /* cudaGraphEdgeData; zeros: the whole node comes before */

static hipError_t make_plain(hipError_t error, void *edges, const size_t *count)
{
    if (error == hipSuccess && edges)
        memset(edges, 0, EDGE_BYTES * *count);
    return error;
}

hipError_t cuda_get_edges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to, void *edges,
                          size_t *count)
{
    return make_plain(hipGraphGetEdges(graph, from, to, count), edges, count);
}

hipError_t cuda_get_dependencies(hipGraphNode_t node, hipGraphNode_t *dependencies, void *edges,
                                 size_t *count)
{
    return make_plain(hipGraphNodeGetDependencies(node, dependencies, count), edges, count);
}

hipError_t cuda_get_dependents(hipGraphNode_t node, hipGraphNode_t *dependents, void *edges,
                               size_t *count)
{
    return make_plain(hipGraphNodeGetDependentNodes(node, dependents, count), edges, count);
}

static hipError_t enable(hipGraphExec_t exec, hipGraphNode_t node, const bool *must_enable,
                         bool *is_enabled)
{
    const struct hip_services *services = cuda_services();
    hipError_t error = services->enter("cudaGraphNodeSetEnabled");
    if (error == hipSuccess)
        error = services->graph_enable(exec, node, must_enable, is_enabled);
    return services->leave(error);
}

hipError_t cuda_set_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled)
{
    const bool must_enable = enabled != 0;
    return enable(exec, node, &must_enable, NULL);
}

hipError_t cuda_get_enabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned *enabled)
{
    bool is_enabled = false;
    hipError_t error = enabled ? enable(exec, node, NULL, &is_enabled) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *enabled = is_enabled;
    return error;
}

hipError_t cuda_add_dependencies(hipGraph_t graph, const hipGraphNode_t *from,
                                 const hipGraphNode_t *to, const void *edges, size_t count)
{
    static const char plain[EDGE_BYTES];
    if (edges)
        for (size_t i = 0; i < count; i++)
            if (memcmp((const char *)edges + i * EDGE_BYTES, plain, EDGE_BYTES) != 0)
                return cuda_fail_missing("cudaGraphAddDependencies with edges that are not plain");
    return hipGraphAddDependencies(graph, from, to, count);
}

/* CUDA counts from 0, and knows one kind of copies. */
hipError_t cuda_node_type(hipGraphNode_t node, int *type)
{
    hipGraphNodeType hip_type = hipGraphNodeTypeEmpty;
    hipError_t error = type ? hipGraphNodeGetType(node, &hip_type) : hipErrorInvalidValue;
    if (error == hipSuccess)
        *type = (int)(hip_type >= hipGraphNodeTypeMemcpy1D ? hipGraphNodeTypeMemcpy : hip_type)
                - hipGraphNodeTypeKernel;
    return error;
}
