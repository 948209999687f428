# Putting a mutation into sources: sourced by run.sh beside this file and by
# tests/system/test_memtest.py.

# replace FILE OLD NEW: false when OLD does not stand there exactly once.
replace() {
    local text rest
    text=$(cat "$1" && printf x) || return 1
    text=${text%x}
    rest=${text#*"$2"}
    [ "$rest" != "$text" ] && [ "${rest#*"$2"}" = "$rest" ] || return 1
    printf '%s%s%s' "${text%%"$2"*}" "$3" "$rest" >"$1"
}

# apply MUTATION FOLDER: its edits to the sources in FOLDER; prints the files.
apply() {
    local line file='' state=none old='' new=''
    while IFS= read -r line; do
        case $state:$line in
        none:'#'*) ;;
        none:'file '*) file=${line#file } ;;
        none:'<<<<') state=old old='' new='' ;;
        old:'====') state=new ;;
        new:'>>>>')
            state=none
            if ! replace "$2/$file" "${old%$'\n'}" "${new%$'\n'}"; then
                echo "$(basename "$1"): the text to change is not in $file exactly once" >&2
                return 1
            fi
            echo "$file"
            ;;
        old:*) old+=$line$'\n' ;;
        new:*) new+=$line$'\n' ;;
        *) echo "$(basename "$1"): '$line' is not understood" >&2; return 1 ;;
        esac
    done <"$1"
    [ $state = none ] && [ -n "$file" ] ||
        { echo "$(basename "$1"): an edit is not complete" >&2; return 1; }
}
