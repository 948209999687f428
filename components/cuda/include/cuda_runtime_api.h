/* Functions of CUDA's runtime as the manual "CUDA Runtime API" of version 12 lists them: own
 * declarations of those that heddle's libcudart.so.12 has. For C and C++. */
#ifndef HEDDLE_CUDA_RUNTIME_API_H
#define HEDDLE_CUDA_RUNTIME_API_H
#define __CUDA_RUNTIME_API_H__ /* programs ask for it */

#include "driver_types.h"
#include "texture_types.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "heddle/per_thread_streams.h"
#endif

#define CUDART_VERSION 12080

#ifdef __cplusplus
#define HEDDLE_DEFAULT(value) = value
extern "C" {
#else
#define HEDDLE_DEFAULT(value)
#endif

/* Devices */
extern cudaError_t cudaGetDeviceCount(int *count);
extern cudaError_t cudaGetDevice(int *device);
extern cudaError_t cudaSetDevice(int device);
extern cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned int flags);
extern cudaError_t cudaSetValidDevices(int *devices, int count);
extern cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted);
extern cudaError_t cudaSetDeviceFlags(unsigned int flags);
extern cudaError_t cudaGetDeviceFlags(unsigned *flags);
extern cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device);
extern cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
extern cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                             int device, int peer);
extern cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text);
extern cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device);
extern cudaError_t cudaDeviceSynchronize(void);
extern cudaError_t cudaDeviceReset(void);
extern cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit);
extern cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
extern cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config);
extern cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
extern cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config);
extern cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config);
extern cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
extern cudaError_t cudaDeviceCanAccessPeer(int *answer, int device, int peer);
extern cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags);
extern cudaError_t cudaDeviceDisablePeerAccess(int peer);
extern cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
extern cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
extern cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
extern cudaError_t cudaDriverGetVersion(int *version);
extern cudaError_t cudaRuntimeGetVersion(int *version);
extern cudaError_t cudaProfilerStart(void);
extern cudaError_t cudaProfilerStop(void);
extern cudaError_t cudaCtxResetPersistingL2Cache(void);

/* Names of CUDA 3 */
extern cudaError_t cudaThreadExit(void);
extern cudaError_t cudaThreadSynchronize(void);
extern cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit);
extern cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
extern cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config);
extern cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config);

/* Errors */
extern cudaError_t cudaGetLastError(void);
extern cudaError_t cudaPeekAtLastError(void);
extern const char *cudaGetErrorName(cudaError_t error);
extern const char *cudaGetErrorString(cudaError_t error);

/* Memory */
extern cudaError_t cudaMalloc(void **pointer, size_t size);
extern cudaError_t cudaMallocHost(void **pointer, size_t size);
extern cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags);
extern cudaError_t cudaMallocManaged(void **pointer, size_t size,
                                     unsigned int flags HEDDLE_DEFAULT(cudaMemAttachGlobal));
extern cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
extern cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent);
extern cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream);
extern cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                           cudaStream_t stream);
extern cudaError_t cudaFree(void *pointer);
extern cudaError_t cudaFreeHost(void *pointer);
extern cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
extern cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags);
extern cudaError_t cudaHostUnregister(void *pointer);
extern cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned int flags);
extern cudaError_t cudaHostGetFlags(unsigned *flags, void *host);
extern cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
extern cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                            const void *pointer);
extern cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool,
                                     const struct cudaMemPoolProps *properties);
extern cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
extern cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes);
extern cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                           void *value);
extern cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
                                           void *value);
extern cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device,
                                        cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemPrefetchAsync_v2(const void *pointer, size_t size,
                                           struct cudaMemLocation location, unsigned int flags,
                                           cudaStream_t stream);
extern cudaError_t cudaMemAdvise(const void *pointer, size_t size, enum cudaMemoryAdvise advice,
                                 int device);
extern cudaError_t cudaMemAdvise_v2(const void *pointer, size_t size, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location);
extern cudaError_t cudaMemRangeGetAttribute(void *value, size_t value_size,
                                            enum cudaMemRangeAttribute attribute,
                                            const void *pointer, size_t size);
extern cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event);
extern cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle);
extern cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer);
extern cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle,
                                        unsigned int flags);
extern cudaError_t cudaIpcCloseMemHandle(void *pointer);

/* Copies */
extern cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
extern cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
                                   enum cudaMemcpyKind kind, cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind);
extern cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *copy);
extern cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy,
                                     cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemcpyPeer(void *to, int device, const void *from, int peer, size_t size);
extern cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int peer,
                                       size_t size, cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t
cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size,
                   size_t offset HEDDLE_DEFAULT(0),
                   enum cudaMemcpyKind kind HEDDLE_DEFAULT(cudaMemcpyHostToDevice));
extern cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t
cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset HEDDLE_DEFAULT(0),
                     enum cudaMemcpyKind kind HEDDLE_DEFAULT(cudaMemcpyDeviceToHost));
extern cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size,
                                             size_t offset, enum cudaMemcpyKind kind,
                                             cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
extern cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol);
extern cudaError_t cudaMemset(void *to, int value, size_t size);
extern cudaError_t cudaMemsetAsync(void *to, int value, size_t size,
                                   cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height);
extern cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent);
extern cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                                     cudaStream_t stream HEDDLE_DEFAULT(0));

/* Arrays, textures and surfaces */
extern struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind kind);
extern cudaError_t cudaMallocArray(cudaArray_t *made, const struct cudaChannelFormatDesc *channel,
                                   size_t width, size_t height HEDDLE_DEFAULT(0),
                                   unsigned int flags HEDDLE_DEFAULT(0));
extern cudaError_t cudaMalloc3DArray(cudaArray_t *made, const struct cudaChannelFormatDesc *channel,
                                     struct cudaExtent size, unsigned int flags HEDDLE_DEFAULT(0));
extern cudaError_t cudaFreeArray(cudaArray_t array);
extern cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channel, struct cudaExtent *size,
                                    unsigned int *flags, cudaArray_t array);
extern cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channel,
                                      cudaArray_const_t array);
extern cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t count, enum cudaMemcpyKind kind);
extern cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y,
                                       size_t count, enum cudaMemcpyKind kind);
extern cudaError_t
cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x,
                         size_t y, size_t width, size_t height,
                         enum cudaMemcpyKind kind HEDDLE_DEFAULT(cudaMemcpyDeviceToDevice));
extern cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                       size_t pitch, size_t width, size_t height,
                                       enum cudaMemcpyKind kind);
extern cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                            size_t pitch, size_t width, size_t height,
                                            enum cudaMemcpyKind kind,
                                            cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                         size_t y, size_t width, size_t height,
                                         enum cudaMemcpyKind kind);
extern cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from,
                                              size_t x, size_t y, size_t width, size_t height,
                                              enum cudaMemcpyKind kind,
                                              cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaCreateTextureObject(cudaTextureObject_t *made,
                                           const struct cudaResourceDesc *resource,
                                           const struct cudaTextureDesc *texture,
                                           const struct cudaResourceViewDesc *view);
extern cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
extern cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *made,
                                           const struct cudaResourceDesc *resource);
extern cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);

/* Streams */
extern cudaError_t cudaStreamCreate(cudaStream_t *made);
extern cudaError_t cudaStreamCreateWithFlags(cudaStream_t *made, unsigned int flags);
extern cudaError_t cudaStreamCreateWithPriority(cudaStream_t *made, unsigned int flags,
                                                int priority);
extern cudaError_t cudaStreamDestroy(cudaStream_t stream);
extern cudaError_t cudaStreamQuery(cudaStream_t stream);
extern cudaError_t cudaStreamSynchronize(cudaStream_t stream);
extern cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                       unsigned int flags HEDDLE_DEFAULT(0));
extern cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *data, unsigned int flags);
extern cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data);
extern cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t size,
                                            unsigned int flags);
extern cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags);
extern cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
extern cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
extern cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
extern cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                          const cudaLaunchAttributeValue *value);
extern cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                          cudaLaunchAttributeValue *value);
extern cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from);
extern cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
extern cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
extern cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
extern cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *status,
                                               unsigned long long *id HEDDLE_DEFAULT(0),
                                               cudaGraph_t *graph HEDDLE_DEFAULT(0),
                                               const cudaGraphNode_t **before HEDDLE_DEFAULT(0),
                                               size_t *count HEDDLE_DEFAULT(0));
extern cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *status,
                                               unsigned long long *id HEDDLE_DEFAULT(0),
                                               cudaGraph_t *graph HEDDLE_DEFAULT(0),
                                               const cudaGraphNode_t **before HEDDLE_DEFAULT(0),
                                               const cudaGraphEdgeData **edges HEDDLE_DEFAULT(0),
                                               size_t *count HEDDLE_DEFAULT(0));
extern cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);

/* Events */
extern cudaError_t cudaEventCreate(cudaEvent_t *event);
extern cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
extern cudaError_t cudaEventDestroy(cudaEvent_t event);
extern cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                            unsigned int flags);
extern cudaError_t cudaEventQuery(cudaEvent_t event);
extern cudaError_t cudaEventSynchronize(cudaEvent_t event);
extern cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
extern cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t from, cudaEvent_t to);

/* Graphs */
extern cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
extern cudaError_t cudaGraphDestroy(cudaGraph_t graph);
extern cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph);
extern cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *before, size_t count,
                                          const struct cudaKernelNodeParams *kernel);
extern cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *kernel);
extern cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaKernelNodeParams *kernel);
extern cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *before, size_t count,
                                          const struct cudaMemcpy3DParms *copy);
extern cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *before, size_t count, void *to,
                                            const void *from, size_t size,
                                            enum cudaMemcpyKind kind);
extern cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *before, size_t count,
                                                  const void *symbol, const void *from, size_t size,
                                                  size_t offset, enum cudaMemcpyKind kind);
extern cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *before, size_t count,
                                                    void *to, const void *symbol, size_t size,
                                                    size_t offset, enum cudaMemcpyKind kind);
extern cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *before, size_t count,
                                          const struct cudaMemsetParams *fill);
extern cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *copy);
extern cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                                  size_t size, enum cudaMemcpyKind kind);
extern cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemsetParams *fill);
extern cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                              const struct cudaHostNodeParams *host);
extern cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaMemcpy3DParms *copy);
extern cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                      void *to, const void *from, size_t size,
                                                      enum cudaMemcpyKind kind);
extern cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaMemsetParams *fill);
extern cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  const struct cudaHostNodeParams *host);
extern cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *result);
extern cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node,
                                                   cudaLaunchAttributeID attribute,
                                                   const cudaLaunchAttributeValue *value);
extern cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *before, size_t count,
                                        const struct cudaHostNodeParams *host);
extern cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *before, size_t count,
                                              cudaGraph_t child);
extern cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *before, size_t count);
extern cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to, size_t count);
extern cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, const void *edges,
                                               size_t count);
extern cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
extern cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count);
extern cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                struct cudaKernelNodeParams *params);
extern cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     size_t *count);
extern cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from,
                                        cudaGraphNode_t *to, void *edges, size_t *count);
extern cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *before,
                                                   void *edges, size_t *count);
extern cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *behind,
                                                     void *edges, size_t *count);
extern cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to, const void *edges,
                                                  size_t count);
extern cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *before,
                                                size_t *count);
extern cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *behind,
                                                  size_t *count);
extern cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node);
extern cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *file, unsigned int flags);
extern cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           unsigned int enabled);
extern cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           unsigned int *enabled);
extern cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *before, size_t count,
                                               cudaEvent_t event);
extern cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *before, size_t count,
                                             cudaEvent_t event);
extern cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                struct cudaMemcpy3DParms *copy);
extern cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                struct cudaMemsetParams *fill);
extern cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                              struct cudaHostNodeParams *host);
extern cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph);
extern cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to, size_t count);
extern cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event);
extern cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
extern cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event);
extern cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event);
extern cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type);
extern cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long flags HEDDLE_DEFAULT(0));
extern cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                 unsigned long long flags HEDDLE_DEFAULT(0));
extern cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
extern cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
extern cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);

/* Kernels */
extern cudaError_t cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block,
                                    void **values, size_t shared HEDDLE_DEFAULT(0),
                                    cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaLaunchCooperativeKernel(const void *function, struct dim3 grid,
                                               struct dim3 block, void **values,
                                               size_t shared HEDDLE_DEFAULT(0),
                                               cudaStream_t stream HEDDLE_DEFAULT(0));
extern cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
                                       void **values);
extern cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                         const void *function);
extern cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute,
                                        int value);
extern cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config);
extern cudaError_t cudaFuncSetSharedMemConfig(const void *function,
                                              enum cudaSharedMemConfig config);
extern cudaError_t cudaFuncGetName(const char **name, const void *function);
extern cudaError_t cudaGetFuncBySymbol(cudaFunction_t *found, const void *symbol);
extern cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *symbol);
extern cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function,
                                                                 int threads, size_t shared);
extern cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *count, const void *function, int threads, size_t shared, unsigned int flags);
extern cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                             int blocks, int threads);
extern cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *function,
                                                  const struct cudaLaunchConfig_st *config);
extern cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function,
                                                        const struct cudaLaunchConfig_st *config);

/* Launches by <<<>>>, as clang writes them. */
extern cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared,
                                              void *stream);
extern unsigned int __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
                                                size_t shared HEDDLE_DEFAULT(0),
                                                void *stream HEDDLE_DEFAULT(0));

#ifdef __cplusplus
}
#endif
#define cudaGetDeviceProperties  cudaGetDeviceProperties_v2
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_v2

static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t width, size_t height,
                                                             size_t depth)
{
    struct cudaExtent extent = {width, height, depth};
    return extent;
}

static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z)
{
    struct cudaPos pos = {x, y, z};
    return pos;
}

static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch,
                                                                     size_t width, size_t height)
{
    struct cudaPitchedPtr made = {pointer, pitch, width, height};
    return made;
}

#endif
