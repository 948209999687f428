/* Completion in bash: words of a command, what follows an option, and the paths of --set. */
#include <string.h>

#include "command/command.h"

#include "options_table.h"

static void print_commands(FILE *out)
{
    for (int c = 0; c < COMMAND_COUNT; c++)
        fprintf(out, "%s%s", c > 0 ? " " : "", command_specs[c].name);
}

static bool is_flag(const struct option_spec *o)
{
    return o->type == OPTION_FLAG || o->type == OPTION_MAYBE;
}

/* The next row of a command, from `*i` on, whose name no earlier row of it has; NULL: none. */
static const struct option_spec *next_of(int command, size_t *i)
{
    while (*i < option_spec_count) {
        const struct option_spec *spec = &option_specs[(*i)++];
        bool is_first = option_belongs(spec, (enum options_command)command);
        for (const struct option_spec *o = option_specs; is_first && o < spec; o++)
            is_first = !option_belongs(o, (enum options_command)command)
                       || strcmp(o->name, spec->name) != 0;
        if (is_first)
            return spec;
    }
    return NULL;
}

/* Words that may follow an option, "" when a file does. */
static void print_values(FILE *out)
{
    char words[256];
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const struct option_spec *o;
        for (size_t i = 0; (o = next_of(c, &i));) {
            option_words(o, (enum options_command)c, words, sizeof words);
            if (words[0] != '\0')
                fprintf(out, "        '%s %s') echo '%s' ;;\n", command_specs[c].name, o->name,
                        words);
        }
    }
}

static void print_options_of(FILE *out)
{
    const struct option_spec *o;
    for (int c = 0; c < COMMAND_COUNT; c++) {
        fprintf(out, "        %s) echo '--help", command_specs[c].name);
        for (size_t i = 0; (o = next_of(c, &i));)
            fprintf(out, " %s", o->name);
        fprintf(out, "' ;;\n");
    }
}

static void print_words_of(FILE *out)
{
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const char *words = command_specs[c].words;
        if (words[0] != '\0')
            fprintf(out, "        %s) echo '%s' ;;\n", command_specs[c].name, words);
    }
    fprintf(out, "        help) echo '");
    print_commands(out);
    fprintf(out, "' ;;\n");
}

static void print_flags(FILE *out)
{
    fprintf(out, "--help");
    for (size_t i = 0; i < option_spec_count; i++)
        if (is_flag(&option_specs[i]))
            fprintf(out, "|%s", option_specs[i].name);
}

/* Functions of the script that print words. */
static void print_functions(FILE *out)
{
    fprintf(out, "_heddle_options() { # COMMAND\n    case $1 in\n");
    print_options_of(out);
    fprintf(out, "    esac\n}\n\n_heddle_values() { # COMMAND OPTION\n    case \"$1 $2\" in\n");
    print_values(out);
    fprintf(out, "    esac\n}\n\n_heddle_words() { # COMMAND\n    case $1 in\n");
    print_words_of(out);
    fprintf(out, "    esac\n}\n\n");
    fputs("# Paths of the first description on the line, one step further than PREFIX.\n"
          "_heddle_paths() { # PREFIX WORDS...\n"
          "    local base=${1%\"${1##*.}\"} value=${1#\"${1%%=*}\"} word\n"
          "    shift\n"
          "    for word in \"$@\"; do\n"
          "        case $word in\n"
          "        *.heddle)\n"
          "            heddle params \"$word\" --json 2>/dev/null |\n"
          "                awk -F '\"' -v value=\"$value\" '\n"
          "                    /^  \"parameter\"/ { path = $4 \"=\"; gsub(/\\[[*]\\]/, \"\", path) "
          "}\n"
          "                    value == \"\" && /^  \"parameter\"/ { print path }\n"
          "                    value != \"\" && /^   \"/ { print path $2 }' |\n"
          "                sed \"s/^\\($base[^.=]*\\.\\).*/\\1/\" | sort -u\n"
          "            return ;;\n"
          "        esac\n"
          "    done\n"
          "}\n\n",
          out);
}

void completion_print(FILE *out)
{
    fprintf(out, "# Completion of heddle in bash. Made by `heddle help --completion`.\n\n");
    print_functions(out);
    fprintf(out,
            "_heddle() {\n"
            "    local line=${COMP_LINE:0:COMP_POINT} words=() found current before command i\n"
            "    read -ra words <<<\"$line\"\n"
            "    case $line in *[[:space:]]) words+=('') ;; esac\n"
            "    current=${words[${#words[@]}-1]} before=${words[${#words[@]}-2]}\n"
            "    command=${words[1]}\n"
            "    COMPREPLY=()\n"
            "    if [ ${#words[@]} -le 2 ]; then\n"
            "        found='");
    print_commands(out);
    fprintf(out,
            " --help --version'\n"
            "        mapfile -t COMPREPLY < <(compgen -W \"$found\" -- \"$current\")\n"
            "        return\n"
            "    fi\n"
            "    for ((i = 2; i < ${#words[@]} - 1; i++)); do # the program and its arguments\n"
            "        [ \"${words[i]}\" = -- ] || continue\n"
            "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
            "        compopt -o filenames\n"
            "        return\n"
            "    done\n"
            "    case $before in\n"
            "    ");
    print_flags(out);
    fprintf(out, ") before='' ;;\n"
                 "    --set)\n"
                 "        found=$(_heddle_paths \"$current\" \"${words[@]:2}\")\n"
                 "        mapfile -t COMPREPLY < <(compgen -W \"$found\" -- \"$current\")\n"
                 "        case $current in # readline replaces what is behind the last '='\n"
                 "        *=*) COMPREPLY=(\"${COMPREPLY[@]#*=}\") ;;\n"
                 "        esac\n"
                 "        compopt -o nospace\n"
                 "        return ;;\n"
                 "    esac\n"
                 "    case $current in\n"
                 "    -*) found=$(_heddle_options \"$command\") ;;\n"
                 "    *)\n"
                 "        case $before in\n"
                 "        -*) found=$(_heddle_values \"$command\" \"$before\") ;;\n"
                 "        *) found=$(_heddle_words \"$command\") ;;\n"
                 "        esac\n"
                 "        if [ -z \"$found\" ]; then\n"
                 "            mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                 "            compopt -o filenames\n"
                 "            return\n"
                 "        fi ;;\n"
                 "    esac\n"
                 "    mapfile -t COMPREPLY < <(compgen -W \"$found\" -- \"$current\")\n"
                 "    case ${COMPREPLY[0]} in *=) compopt -o nospace ;; esac\n"
                 "}\n"
                 "complete -F _heddle heddle\n");
}
