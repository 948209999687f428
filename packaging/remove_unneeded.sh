#!/bin/sh
# Removes what meson installs with whole folders and no user needs: remove_unneeded.sh FOLDER, below
# the prefix. `meson install` calls it last, so that it finds all that is there by then.
set -e
find "$MESON_INSTALL_DESTDIR_PREFIX/$1" \( -name meson.build -o -name __pycache__ \) -prune \
    -exec rm -r {} +
