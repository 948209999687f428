/* Device code of several objects as one program (`heddle cuda-cc -rdc=true`).
 *
 * An object that was compiled so carries bitcode, and its constructor calls a function whose name
 * has the object's own, __cudaRegisterLinkedBinary...(). Here clang links the bitcode of all and
 * makes PTX of it; a further object has that, and those functions, which register all under one
 * binary. */
#include <elf.h>
#include <string.h>

#include "codegen/command/command_cuda_cc.h"
#include "codegen/emit/emit.h"

/* What an object has: its name, and a file with its bitcode. */
struct unit {
    const char *id, *bitcode;
};
typedef VECTOR(struct unit) units;

/* The bytes of an ELF file's section; NULL: it has none. */
static const char *find_section(const char *bytes, size_t size, const char *name, size_t *length)
{
    Elf64_Ehdr header;
    if (size < sizeof header || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return NULL;
    memcpy(&header, bytes, sizeof header);
    size_t table = (size_t)header.e_shnum * sizeof(Elf64_Shdr);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr)
        || header.e_shstrndx >= header.e_shnum || header.e_shoff > size
        || table > size - header.e_shoff)
        return NULL;
    Elf64_Shdr names, section;
    memcpy(&names, bytes + header.e_shoff + header.e_shstrndx * sizeof names, sizeof names);
    for (uint32_t i = 0; i < header.e_shnum; i++) {
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        size_t at = names.sh_offset + section.sh_name;
        if (at >= size || strncmp(bytes + at, name, size - at) != 0 || section.sh_offset > size
            || section.sh_size > size - section.sh_offset)
            continue;
        *length = section.sh_size;
        return bytes + section.sh_offset;
    }
    return NULL;
}

/* Takes the bitcode of an object, if it has some. */
static bool take_object(struct cuda_cc *cc, const char *path, units *found)
{
    size_t size, code_size, id_size;
    if (strcmp(path, "-") == 0)
        return true;
    const char *bytes = cuda_cc_read(cc, path, &size);
    if (!bytes)
        return false;
    const char *code = find_section(bytes, size, "__nv_relfatbin", &code_size);
    const char *id = find_section(bytes, size, "__nv_module_id", &id_size);
    if (!code || !id)
        return true;
    if (code_size < 4 || memcmp(code, "BC\xc0\xde", 4) != 0) {
        fprintf(stderr,
                "heddle cuda-cc: the device code of '%s' is not of heddle cuda-cc: compile its "
                "source, too\n",
                path);
        return false;
    }
    struct unit unit = {arena_printf(cc->c->arena, "%.*s", (int)id_size, id),
                        cuda_cc_temporary(cc)};
    if (!unit.bitcode || emit_write_bytes(unit.bitcode, code, code_size) == EMIT_FAILED)
        return false;
    vector_push(cc->c->arena, found, unit);
    return true;
}

/* Clang from LLVM's language to `path`: with -S PTX, with -emit-llvm-bc bitcode. */
static words begin_ir(struct cuda_cc *cc, const char *action, const char *path)
{
    const char *const first[] = {CUDA_CC_COMPILER,
                                 "-cc1",
                                 "-triple",
                                 "nvptx64-nvidia-cuda",
                                 "-target-cpu",
                                 cc->architecture,
                                 "-target-feature",
                                 "+ptx" CUDA_CC_PTX_VERSION,
                                 "-Wno-linker-warnings",
                                 "-fno-dwarf-directory-asm",
                                 "-O3",
                                 action,
                                 "-o",
                                 path,
                                 "-x",
                                 "ir"};
    words line = {0};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        cuda_cc_add(cc, &line, first[i]);
    return line;
}

static bool link_bitcode(struct cuda_cc *cc, const units *all, const char *ptx)
{
    words line = begin_ir(cc, "-S", ptx);
    for (size_t i = 0; i < all->count; i++) {
        if (i > 0)
            cuda_cc_add(cc, &line, "-mlink-bitcode-file");
        cuda_cc_add(cc, &line, all->items[i].bitcode);
    }
    return cuda_cc_run(cc, &line);
}

static const char registering[] =
    "void **__cudaRegisterFatBinary(const void *);\n"
    "void __cudaRegisterFatBinaryEnd(void **);\n"
    "void __cudaUnregisterFatBinary(void **);\n"
    "extern const char heddle_linked[] __attribute__((visibility(\"hidden\")));\n"
    "static const struct { unsigned magic, version; const void *code, *more; } wrapper\n"
    "    __attribute__((section(\".nvFatBinSegment\"))) = {0x466243b1, 1, heddle_linked, 0};\n"
    "static void **handle;\nstatic unsigned registered;\n"
    "static void register_globals(void (*globals)(void **))\n{\n"
    "    if (!handle)\n        handle = __cudaRegisterFatBinary(&wrapper);\n"
    "    globals(handle);\n"
    "    if (++registered == UNITS)\n        __cudaRegisterFatBinaryEnd(handle);\n}\n"
    "__attribute__((destructor)) static void unregister(void)\n{\n"
    "    if (handle)\n        __cudaUnregisterFatBinary(handle);\n}\n";

/* C that embeds the fat binary and defines what the objects' constructors call. */
static bool write_registration(struct cuda_cc *cc, const units *all, const char *fatbin,
                               const char *path)
{
    const char *text = arena_printf(cc->c->arena,
                                    "#define UNITS %u\n%s"
                                    "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n"
                                    "heddle_linked: .incbin \\\"%s\\\"\\n.text\\n\");\n",
                                    all->count, registering, fatbin);
    for (size_t i = 0; i < all->count; i++)
        text = arena_printf(cc->c->arena,
                            "%svoid __cudaRegisterLinkedBinary%s(void (*globals)(void **), "
                            "const void *wrapper_of_object, const void *id, void (*done)(void *))"
                            "\n{\n    register_globals(globals);\n}\n",
                            text, all->items[i].id);
    return emit_write_bytes(path, text, strlen(text)) != EMIT_FAILED;
}

/* ---- static variables ---- */

static const char suffix[] = "__static__";

static size_t name_length(const char *name)
{
    return strspn(name, "_.$-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
}

/* Copies text up to `end`, in which the name becomes `to`. Returns the end of the copy. */
static char *rename_all(char *out, const char *text, const char *name, size_t length,
                        const char *to, size_t to_length)
{
    for (const char *at; (at = strchr(text, '@')); text = at + 1) {
        size_t before = (size_t)(at + 1 - text);
        memcpy(out, text, before);
        out += before;
        if (name_length(at + 1) == length && strncmp(at + 1, name, length) == 0) {
            memcpy(out, to, to_length);
            out += to_length;
            at += length;
        }
    }
    memcpy(out, text, strlen(text) + 1);
    return out + strlen(text);
}

/* Clang names a static variable when it sees the first use, and with its suffix from the first use
 * in host code on. So a variable may have two names, one of which is defined nowhere: it gets the
 * other one. */
static bool name_statics(struct cuda_cc *cc, const char *path)
{
    size_t size;
    char *text = cuda_cc_read(cc, path, &size);
    if (!text)
        return false;
    for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
        size_t length = name_length(line + (*line == '@'));
        const char *name = line + 1, *end = strstr(line, suffix);
        if (*line != '@' || !end || end >= name + length)
            continue;
        size_t bare = (size_t)(end - name);
        const char *other = arena_printf(cc->c->arena, "\n@%.*s = external ", (int)bare, name);
        char *declared = strstr(text, other), *rest = declared ? strchr(declared + 1, '\n') : NULL;
        if (!rest)
            continue;
        memset(declared + 1, ' ', (size_t)(rest - declared - 1)); /* the declaration goes */
        size_t names = 0;
        for (const char *at = text; (at = strchr(at, '@')); at++)
            names++;
        char *made = arena_alloc(cc->c->arena, size + names * (length - bare) + 1);
        size = (size_t)(rename_all(made, text, name, bare, name, length) - made);
        line = text = made; /* again from the beginning */
    }
    return emit_write_bytes(path, text, size) != EMIT_FAILED;
}

bool cuda_cc_make_bitcode(struct cuda_cc *cc, const char *source, const char *path)
{
    words line = begin_ir(cc, "-emit-llvm-bc", path);
    cuda_cc_add(cc, &line, "-disable-llvm-passes");
    cuda_cc_add(cc, &line, source);
    return name_statics(cc, source) && cuda_cc_run(cc, &line);
}

bool cuda_cc_link_device(struct cuda_cc *cc)
{
    units all = {0};
    for (size_t i = 0; i < cc->objects.count; i++)
        if (!take_object(cc, cc->objects.items[i], &all))
            return false;
    if (all.count == 0)
        return true;
    const char *ptx = cuda_cc_temporary(cc), *fatbin = cuda_cc_temporary(cc),
               *source = cuda_cc_temporary(cc),
               *object = cc->only_device_link && cc->output ? cc->output : cuda_cc_temporary(cc);
    if (!ptx || !fatbin || !source || !object || !link_bitcode(cc, &all, ptx)
        || !cuda_cc_write_fatbin(cc, ptx, fatbin) || !write_registration(cc, &all, fatbin, source))
        return false;
    const char *const compiling[] = {CUDA_CC_COMPILER, "-x", "c",   "-w", "-fPIC", "-O1", "-c",
                                     source,           "-o", object};
    words line = {0};
    for (size_t i = 0; i < sizeof compiling / sizeof compiling[0]; i++)
        cuda_cc_add(cc, &line, compiling[i]);
    cuda_cc_add(cc, &cc->objects, object);
    return cuda_cc_run(cc, &line);
}
