/* Marks and ranges for profilers, which nothing here reads: all of them do nothing. */
#ifndef HEDDLE_NVTX3_NVTOOLSEXT_H
#define HEDDLE_NVTX3_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION                  3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

enum { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 };
enum {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
};
enum {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
};
typedef union {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define HEDDLE_NVTX(type, name, parameters, value)                                                 \
    static inline type name parameters { return value; }
HEDDLE_NVTX(void, nvtxInitialize, (const void *reserved), (void)reserved)
HEDDLE_NVTX(void, nvtxMarkA, (const char *text), (void)text)
HEDDLE_NVTX(void, nvtxMarkW, (const wchar_t *text), (void)text)
HEDDLE_NVTX(void, nvtxMarkEx, (const nvtxEventAttributes_t *mark), (void)mark)
HEDDLE_NVTX(int, nvtxRangePushA, (const char *text), ((void)text, 0))
HEDDLE_NVTX(int, nvtxRangePushW, (const wchar_t *text), ((void)text, 0))
HEDDLE_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *mark), ((void)mark, 0))
HEDDLE_NVTX(int, nvtxRangePop, (void), 0)
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *text), ((void)text, 0))
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t *text), ((void)text, 0))
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *mark), ((void)mark, 0))
HEDDLE_NVTX(void, nvtxRangeEnd, (nvtxRangeId_t range), (void)range)
HEDDLE_NVTX(void, nvtxNameOsThreadA, (uint32_t thread, const char *text),
            ((void)thread, (void)text))
HEDDLE_NVTX(void, nvtxNameCategoryA, (uint32_t is, const char *text), ((void)is, (void)text))
HEDDLE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *text),
            ((void)text, (nvtxDomainHandle_t)0))
HEDDLE_NVTX(void, nvtxDomainDestroy, (nvtxDomainHandle_t domain), (void)domain)
HEDDLE_NVTX(void, nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *mark),
            ((void)domain, (void)mark))
HEDDLE_NVTX(int, nvtxDomainRangePushEx,
            (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *mark),
            ((void)domain, (void)mark, 0))
HEDDLE_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), ((void)domain, 0))
HEDDLE_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx,
            (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *mark),
            ((void)domain, (void)mark, 0))
HEDDLE_NVTX(void, nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range),
            ((void)domain, (void)range))
HEDDLE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA,
            (nvtxDomainHandle_t domain, const char *text),
            ((void)domain, (void)text, (nvtxStringHandle_t)0))
#undef HEDDLE_NVTX

#define nvtxMark       nvtxMarkA
#define nvtxRangePush  nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA

#endif
