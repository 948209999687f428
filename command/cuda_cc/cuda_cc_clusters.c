/* __cluster_dims__, which clang 19 does not have. The headers make it an annotation, whose values
 * are in clang's intermediate code; here PTX gets them as .reqnctapercluster. Called by
 * command_cuda_cc.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_cc.h"

bool cuda_cc_has_clusters(struct cuda_cc *cc, const char *source)
{
    size_t size;
    const char *text = cc->relocatable ? NULL : cuda_cc_read(cc, source, &size);
    return text && strstr(text, "__cluster_dims__");
}

/* The name that begins at '@', without it. */
static const char *name_at(struct cuda_cc *cc, const char *at)
{
    return region_strndup(cc->c->region, at + 1, strcspn(at + 1, " ,)\n"));
}

/* The values of the constant `name`, which is all of a line: up to three, 1 in place of others. */
static bool read_size(struct cuda_cc *cc, const char *text, const char *name, unsigned long size[3])
{
    const char *line = strstr(text, region_printf(cc->c->region, "\n@%s = ", name));
    const char *at = line ? strstr(line, "} { i32 ") : NULL;
    size[0] = size[1] = size[2] = 1;
    for (unsigned i = 0; at && i < 3; i++) {
        char *end;
        size[i] = strtoul(strstr(at + 1, "i32 ") + strlen("i32 "), &end, 10);
        at = *end == ',' ? end : NULL;
    }
    return line != NULL;
}

/* Behind the parameters of the kernel. */
static const char *with_size(struct cuda_cc *cc, const char *ptx, const char *kernel,
                             const unsigned long size[3])
{
    const char *entry = region_printf(cc->c->region, ".entry %s(", kernel);
    const char *at = strstr(ptx, entry), *end = at ? strchr(at, ')') : NULL;
    if (!end)
        return ptx;
    end++;
    return region_printf(cc->c->region,
                         "%.*s\n.explicitcluster\n.reqnctapercluster %lu, %lu, %lu\n%s",
                         (int)(end - ptx), ptx, size[0], size[1], size[2], end);
}

bool cuda_cc_write_clusters(struct cuda_cc *cc, const char *ir, const char *ptx)
{
    size_t size;
    const char *code = cuda_cc_read(cc, ir, &size), *text = cuda_cc_read(cc, ptx, &size);
    const char *all = code ? strstr(code, "\n@llvm.global.annotations = ") : NULL;
    if (!code || !text)
        return false;
    const char *end = all ? strchr(all + 1, '\n') : NULL;
    for (const char *at = all; at && at < end && (at = strstr(at, " { ptr @")) && at < end;) {
        unsigned long blocks[3];
        const char *kernel = name_at(cc, strchr(at, '@')), *values = at;
        for (unsigned i = 0; i < 3; i++) /* kernel, word, file; the line; values */
            values = strchr(values + 1, '@');
        values = strchr(values, '}') ? strstr(values, ", ptr ") : NULL;
        at++;
        if (values && values[strlen(", ptr ")] == '@'
            && read_size(cc, code, name_at(cc, values + strlen(", ptr ")), blocks))
            text = with_size(cc, text, kernel, blocks);
    }
    FILE *to = fopen(ptx, "w");
    if (!to)
        return false;
    fputs(text, to);
    return fclose(to) == 0;
}
