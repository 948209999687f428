/* The check that the files of a command line can be what the options say: one list of what the
 * command line names, each with its use; then each is looked at by itself, and what is written
 * beside all others. Called by main.c. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "codegen/emit/input.h"
#include "command/options/options_table.h"
#include "dsl/source.h"

#include "command.h"
#include "command_say.h"

enum use {
    READ,     /* a file */
    READ_ANY, /* a file or a folder */
    READ_FOLDER,
    WRITE,       /* a file, a pipe, a device */
    WRITE_WHOLE, /* a file that appears when it is complete */
    WRITE_INTO,  /* a folder, made when it is not there */
    WRITE_NEW,   /* a folder that is not there yet, in one that is */
    LOOK         /* read by the command, which says itself what is wrong */
};

enum { TITLE_BYTES = 64 };

struct named {
    const char *option; /* "" for an argument */
    const char *path;
    enum use use;
};

struct named_list {
    struct named *items;
    char (*titles)[TITLE_BYTES]; /* titles of all rows */
    size_t count;
};

static void add_named(struct named_list *list, const char *option, const char *path, enum use use)
{
    if (path)
        list->items[list->count++] = (struct named){option, path, use};
}

static bool is_written(const struct named *file)
{
    return file->use == WRITE || file->use == WRITE_WHOLE;
}

static bool fail(const struct named *file, const char *why)
{
    command_say("'%s%s%s': %s", file->option, *file->option ? " " : "", file->path, why);
    return false;
}

/* The folder that a path is in, as it is on the disk. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    char copy[PATH_MAX];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) {
        errno = ENAMETOOLONG;
        return false;
    }
    char *slash = strrchr(copy, '/');
    if (slash)
        slash[slash == copy] = '\0';
    return realpath(slash ? copy : ".", folder) != NULL;
}

bool command_files_are_same(const char *a, const char *b)
{
    struct stat x, y;
    char folder[PATH_MAX], other[PATH_MAX];
    bool is_there = stat(a, &x) == 0;
    if (is_there != (stat(b, &y) == 0))
        return false;
    if (is_there)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return strcmp(source_base_name(a), source_base_name(b)) == 0 && folder_of(a, folder)
           && folder_of(b, other) && strcmp(folder, other) == 0;
}

/* True if a file can be made in a folder, found out by making one: some folders forbid it to all
 * users. */
static bool can_make(const char *folder)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/.heddle.%ld.tmp", folder, (long)getpid());
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    close(file);
    unlink(path);
    return true;
}

static bool check_written(const struct named *file)
{
    struct stat status;
    char folder[PATH_MAX];
    bool is_there = lstat(file->path, &status) == 0;
    if (is_there && S_ISDIR(status.st_mode))
        return fail(file, "this is a folder; give the name of a file");
    if (is_there && file->use == WRITE_WHOLE && !S_ISREG(status.st_mode))
        return fail(file, "this is a link, pipe or device; give the name of a file");
    if (!*source_base_name(file->path))
        return fail(file, "this is a folder; give the name of a file");
    if (is_there && !S_ISREG(status.st_mode))
        return true;
    if (!folder_of(file->path, folder) || !can_make(folder)
        || (is_there && access(file->path, W_OK) != 0)) {
        char why[256];
        snprintf(why, sizeof why, "cannot write there: %s", strerror(errno));
        return fail(file, why);
    }
    return true;
}

/* Up to the first part that is there. */
static bool check_folder(const struct named *file)
{
    char path[PATH_MAX], why[256];
    struct stat status;
    if (snprintf(path, sizeof path, "%s", file->path) >= (int)sizeof path)
        return fail(file, "the path is too long");
    while (stat(path, &status) != 0) {
        char *slash = strrchr(path, '/');
        if (errno != ENOENT && errno != ENOTDIR) {
            snprintf(why, sizeof why, "cannot write there: %s", strerror(errno));
            return fail(file, why);
        }
        if (!slash || slash == path)
            snprintf(path, sizeof path, "%s", slash ? "/" : ".");
        else
            *slash = '\0';
    }
    if (!S_ISDIR(status.st_mode))
        return fail(file, "this is not a folder");
    if (can_make(path))
        return true;
    snprintf(why, sizeof why, "cannot write there: %s", strerror(errno));
    return fail(file, why);
}

/* The recorder says that it is not there. */
static bool check_new(const struct named *file)
{
    char folder[PATH_MAX], why[256];
    struct stat status;
    if (lstat(file->path, &status) == 0 || (folder_of(file->path, folder) && can_make(folder)))
        return true;
    snprintf(why, sizeof why, "cannot make a folder there: %s", strerror(errno));
    return fail(file, why);
}

static bool check_read(const struct named *file)
{
    struct stat status;
    char why[256];
    bool is_folder = stat(file->path, &status) == 0 && S_ISDIR(status.st_mode);
    if (is_folder && file->use == READ_ANY)
        return true;
    const char *mistake = input_mistake(file->path, UINT64_MAX);
    if (!mistake)
        return true;
    snprintf(why, sizeof why, "cannot read it: %s", mistake);
    return fail(file, why);
}

static bool check_searched(const struct named *file)
{
    struct stat status;
    if (stat(file->path, &status) != 0)
        return fail(file, strerror(errno));
    return S_ISDIR(status.st_mode) || fail(file, "this is not a folder");
}

static bool check_one(const struct named *file)
{
    switch (file->use) {
    case READ_FOLDER:
        return check_searched(file);
    case READ:
    case READ_ANY:
        return check_read(file);
    case WRITE:
    case WRITE_WHOLE:
        return check_written(file);
    case WRITE_INTO:
        return check_folder(file);
    case WRITE_NEW:
        return check_new(file);
    default:
        return true;
    }
}

/* True if the output is no other file of the command line. */
static bool check_others(const struct named_list *list, const struct named *file)
{
    char why[PATH_MAX + 64];
    for (size_t i = 0; is_written(file) && i < list->count; i++) {
        const struct named *other = &list->items[i];
        if (other == file || other->use == WRITE_INTO || other->use == WRITE_NEW
            || !command_files_are_same(file->path, other->path))
            continue;
        snprintf(why, sizeof why,
                 is_written(other) ? "'%s %s' writes the same file" : "'%s%s' is read from there",
                 other->option, is_written(other) ? other->path : "");
        if (!is_written(other) && !*other->option)
            snprintf(why, sizeof why, "the command reads this file");
        return fail(file, why);
    }
    return true;
}

static enum use use_of(const struct options *o, const struct option_spec *spec)
{
    static const enum use uses[] = {
        [OPTION_READ] = READ,
        [OPTION_READ_ANY] = READ_ANY,
        [OPTION_READ_LIST] = READ,
        [OPTION_READ_FOLDERS] = READ_FOLDER,
        [OPTION_WRITE] = WRITE,
        [OPTION_WRITE_WHOLE] = WRITE_WHOLE,
        [OPTION_WRITE_INTO] = WRITE_INTO,
        [OPTION_WRITE_NEW] = WRITE_NEW,
    };
    bool makes_traces = o->command == COMMAND_TRACE && o->arguments.count > 0
                        && strcmp(o->arguments.items[0], "stats") != 0;
    bool makes_plots = o->command == COMMAND_REPORT && o->plot.count > 1;
    bool many = spec->type == OPTION_WRITE && (makes_traces || makes_plots);
    return many ? WRITE_INTO : uses[spec->type];
}

/* The files of an option; "-" is standard output. */
static void add_option(struct named_list *list, const struct options *o,
                       const struct option_spec *spec)
{
    struct option_given given;
    char *title = list->titles[spec - option_specs];
    option_given(o, spec, &given);
    option_title(spec, title, TITLE_BYTES);
    for (size_t i = 0; i < given.count; i++)
        if (spec->type != OPTION_WRITE || strcmp(given.values[i], "-") != 0)
            add_named(list, title, given.values[i], use_of(o, spec));
}

bool command_files_check(const struct options *o)
{
    size_t most = o->arguments.count + o->module.count + o->include.count + option_spec_count + 1;
    struct named_list list = {
        grow_zeroed(most * sizeof *list.items, "the list of files"),
        grow_zeroed(option_spec_count * sizeof *list.titles, "the list of files"), 0};
    bool ok = true;
    for (size_t i = 0; i < o->arguments.count; i++)
        add_named(&list, "", o->arguments.items[i], LOOK);
    for (size_t i = 0; i < option_spec_count; i++)
        if (option_is_file(&option_specs[i]) && option_belongs(&option_specs[i], o->command))
            add_option(&list, o, &option_specs[i]);
    if (o->command == COMMAND_RUN && o->program)
        add_named(&list, "", o->program[0], LOOK);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = check_one(&list.items[i]) && check_others(&list, &list.items[i]);
    free(list.items);
    free(list.titles);
    return ok;
}
