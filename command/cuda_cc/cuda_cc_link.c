/* Device code of several objects as one program (`heddle cuda-cc -rdc=true`).
 *
 * An object that was compiled so carries bitcode, and its constructor calls a function whose name
 * has the object's own, __cudaRegisterLinkedBinary...(). Here clang links the bitcode of all and
 * makes PTX of it; a further object has that, and those functions, which register all under one
 * binary. */
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/input.h"
#include "command/command_say.h"

#include "cuda_cc.h"

/* An object: its name, and a file with its bitcode. */
struct unit {
    const char *id, *bitcode;
};
typedef VECTOR(struct unit) units;

/* The bytes of a section; NULL: the file has none of the name. */
static const char *find_section(Elf *file, const char *name, size_t *length)
{
    size_t names;
    GElf_Shdr header;
    if (elf_kind(file) != ELF_K_ELF || elf_getshdrstrndx(file, &names) != 0)
        return NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(file, section));) {
        const char *its =
            gelf_getshdr(section, &header) ? elf_strptr(file, names, (size_t)header.sh_name) : NULL;
        Elf_Data *data = its && strcmp(its, name) == 0 ? elf_rawdata(section, NULL) : NULL;
        if (data && data->d_buf) {
            *length = data->d_size;
            return data->d_buf;
        }
    }
    return NULL;
}

/* Takes the bitcode of an object, if it has some. */
static bool add_object(struct cuda_cc *cc, const char *path, Elf *file, units *into)
{
    size_t code_size, id_size;
    const char *code = find_section(file, "__nv_relfatbin", &code_size);
    const char *id = find_section(file, "__nv_module_id", &id_size);
    if (!code || !id)
        return true;
    if (code_size < 4 || memcmp(code, "BC\xc0\xde", 4) != 0) {
        command_say("the device code of '%s' is not of heddle cuda-cc: compile its source, too",
                    path);
        return false;
    }
    struct unit unit = {region_printf(cc->c->region, "%.*s", (int)id_size, id),
                        cuda_cc_temporary(cc)};
    if (!unit.bitcode || emit_write_bytes(unit.bitcode, code, code_size) == EMIT_FAILED)
        return false;
    vector_push(cc->c->region, into, unit);
    return true;
}

/* An object, or all of an archive's. */
static bool add_file(struct cuda_cc *cc, const char *path, units *into)
{
    if (strcmp(path, "-") == 0)
        return true;
    FILE *opened = input_open("cuda-cc", path, INPUT_BYTES);
    if (!opened || elf_version(EV_CURRENT) == EV_NONE)
        return false;
    Elf *file = elf_begin(fileno(opened), ELF_C_READ, NULL), *member;
    bool ok = true;
    if (elf_kind(file) == ELF_K_AR) {
        for (Elf_Cmd next = ELF_C_READ; ok && (member = elf_begin(fileno(opened), next, file));) {
            ok = add_object(cc, path, member, into);
            next = elf_next(member);
            elf_end(member);
        }
    } else {
        ok = add_object(cc, path, file, into);
    }
    elf_end(file);
    fclose(opened);
    return ok;
}

/* Archives that -l names, in folders of -L; a shared library of the name goes first. */
static bool add_libraries(struct cuda_cc *cc, units *into)
{
    const words *all = &cc->link;
    for (size_t i = 0; i < all->count; i++) {
        const char *name = all->items[i];
        if (strncmp(name, "-l", 2) != 0 || (name[2] == '\0' && i + 1 == all->count))
            continue;
        name = name[2] ? name + 2 : all->items[i + 1];
        for (size_t k = 0; k < all->count; k++) {
            const char *folder = all->items[k];
            if (strncmp(folder, "-L", 2) != 0 || (folder[2] == '\0' && k + 1 == all->count))
                continue;
            folder = folder[2] ? folder + 2 : all->items[k + 1];
            const char *shared = region_printf(cc->c->region, "%s/lib%s.so", folder, name),
                       *archive = region_printf(cc->c->region, "%s/lib%s.a", folder, name);
            if (access(shared, R_OK) == 0)
                break;
            if (access(archive, R_OK) != 0)
                continue;
            if (!add_file(cc, archive, into))
                return false;
            break;
        }
    }
    return true;
}

words cuda_cc_begin_ir(struct cuda_cc *cc, const char *action, const char *path)
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
    for (size_t i = 0; i < ARRAY_COUNT(first); i++)
        cuda_cc_add(cc, &line, first[i]);
    return line;
}

static bool link_bitcode(struct cuda_cc *cc, const units *all, const char *ptx)
{
    words line = cuda_cc_begin_ir(cc, "-S", ptx);
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
    const char *text = region_printf(cc->c->region,
                                     "#define UNITS %u\n%s"
                                     "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n"
                                     "heddle_linked: .incbin \\\"%s\\\"\\n.text\\n\");\n",
                                     all->count, registering, fatbin);
    for (size_t i = 0; i < all->count; i++)
        text = region_printf(cc->c->region,
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
        const char *other = region_printf(cc->c->region, "\n@%.*s = external ", (int)bare, name);
        char *declared = strstr(text, other), *rest = declared ? strchr(declared + 1, '\n') : NULL;
        if (!rest)
            continue;
        memset(declared + 1, ' ', (size_t)(rest - declared - 1)); /* the declaration goes */
        size_t names = 0;
        for (const char *at = text; (at = strchr(at, '@')); at++)
            names++;
        char *copy = region_take(cc->c->region, size + names * (length - bare) + 1);
        size = (size_t)(rename_all(copy, text, name, bare, name, length) - copy);
        line = text = copy; /* again from the beginning */
    }
    return emit_write_bytes(path, text, size) != EMIT_FAILED;
}

bool cuda_cc_make_bitcode(struct cuda_cc *cc, const char *source, const char *path)
{
    words line = cuda_cc_begin_ir(cc, "-emit-llvm-bc", path);
    cuda_cc_add(cc, &line, "-disable-llvm-passes");
    cuda_cc_add(cc, &line, source);
    return name_statics(cc, source) && cuda_cc_run(cc, &line);
}

bool cuda_cc_link_device(struct cuda_cc *cc)
{
    units all = {0};
    for (size_t i = 0; i < cc->objects.count; i++)
        if (!add_file(cc, cc->objects.items[i], &all))
            return false;
    if (!add_libraries(cc, &all))
        return false;
    if (all.count == 0)
        return true;
    const char *ptx = cuda_cc_temporary(cc), *fatbin = cuda_cc_temporary(cc),
               *source = cuda_cc_temporary(cc),
               *object = cc->only_device_link && cc->output ? cc->output : cuda_cc_temporary(cc);
    if (!ptx || !fatbin || !source || !object || !link_bitcode(cc, &all, ptx)
        || !cuda_cc_is_complete(cc, ptx) || !cuda_cc_write_fatbin(cc, ptx, fatbin)
        || !write_registration(cc, &all, fatbin, source))
        return false;
    const char *const compiling[] = {CUDA_CC_COMPILER, "-x", "c",   "-w", "-fPIC", "-O1", "-c",
                                     source,           "-o", object};
    words line = {0};
    for (size_t i = 0; i < ARRAY_COUNT(compiling); i++)
        cuda_cc_add(cc, &line, compiling[i]);
    cuda_cc_add(cc, &cc->objects, object);
    return cuda_cc_run(cc, &line);
}
