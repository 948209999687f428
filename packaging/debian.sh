#!/usr/bin/env bash
# Makes heddle_VERSION_ARCHITECTURE.deb in OUT: debian.sh BUILD OUT. BUILD is a build folder of its
# own, since an installed toolkit has other paths and no tests. The same checkout gives the same
# bytes.
set -euo pipefail
build=$1 out=$2
source=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$source/meson.build" | head -n 1)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH LC_ALL=C
umask 022

# Platforms are compiled where heddle runs: a compiler, and headers of what the archives need.
depends='gcc | c-compiler, libc6-dev, libdw-dev, libelf-dev, libmsgpack-dev, liblzma-dev'
depends+=', libzstd-dev, python3:any'
# Diagrams; compiling HIP programs; commands that calculate with measurements; sweeps.
recommends='graphviz, hipcc, libamdhip64-dev, libhsa-runtime-dev, rocm-device-libs'
recommends+=', clang-15, lld-15, llvm-15, python3-numpy, python3-scipy, python3-pandas'
# Programs for gfx942; editors.
suggests='clang-19, clang-tools-19, lld-19, neovim | elpa-eglot'

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
root=$stage/root

install_files() {
    [ -f "$build/build.ninja" ] || meson setup "$build" "$source" --prefix=/usr \
        --libdir="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -Dtests=false -Dprograms=false \
        -Dportable=true >"$build.log" 2>&1 || { cat "$build.log" >&2; exit 1; }
    rm -f "$build.log"
    local targets # without tests
    mapfile -t targets < <(meson introspect "$build" --installed | /usr/bin/python3 -c '
import json, os, sys
folder = os.path.abspath(sys.argv[1]) + "/"
for path in json.load(sys.stdin):
    if path.startswith(folder):
        print(path[len(folder):])' "$build")
    ninja -C "$build" "${targets[@]}" >&2
    DESTDIR=$root meson install -C "$build" --no-rebuild --strip --quiet >&2
    find "$root" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} +
    find "$root" -type f -name '*.sh' -path '*/share/heddle/*' -exec chmod 755 {} +
    find "$root" -name 'lib*.so.*' -exec chmod 644 {} +
    gzip -9n "$root/usr/share/man/man1/heddle.1"
    compile_objects
}

# What platforms begin with: those of the R9 Nano, so that the first one is there at once, and all
# in functional mode, which takes code for any parameters.
compile_objects() {
    local platform compiled=$root/usr/share/heddle/compiled
    local platforms=$root/usr/share/heddle/platforms
    local -x HEDDLE_HOME=$root/usr HEDDLE_CACHE=$compiled
    "$root/usr/bin/heddle" build "$platforms/r9nano.heddle" >/dev/null
    for platform in mi300x r9nano_x4 managed4; do
        "$root/usr/bin/heddle" build --generic "$platforms/$platform.heddle" >/dev/null
    done
    find "$compiled" -mindepth 1 -maxdepth 1 ! -name objects -exec rm -r {} +
    find "$compiled" -type f -exec chmod 644 {} +
    find "$compiled" -type d -exec chmod 755 {} +
}

install_documents() {
    local doc=$root/usr/share/doc/heddle
    mkdir -p "$doc/examples"
    install -m 755 "$source/packaging/demo.sh" "$doc/examples/demo.sh"
    install -m 644 "$source/tests/programs/vectoradd.hip.cpp" "$source/tests/programs/check.hpp" \
        "$doc/examples"
    ln -s ../../heddle/docs/guide "$doc/guide"
    gzip -9nc "$source/CHANGELOG.md" >"$doc/changelog.gz"
    {
        printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n'
        printf 'Upstream-Name: heddle\n\nFiles: *\n'
        sed -n 's/^Copyright (c) /Copyright: /p' "$source/LICENSE"
        printf 'License: Expat\n'
        sed -e '1,/^Copyright/d' -e '/./!d' -e 's/^/ /' "$source/LICENSE"
    } >"$doc/copyright"
    printf 'heddle (%s-1) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(date -Rud "@$SOURCE_DATE_EPOCH")" |
        gzip -9nc >"$doc/changelog.Debian.gz"
}

libraries() { # what the programs are linked with, with versions
    mkdir -p "$stage/debian"
    printf 'Source: heddle\n\nPackage: heddle\nArchitecture: any\n' >"$stage/debian/control"
    (cd "$stage" && dpkg-shlibdeps -O root/usr/bin/heddle \
        root/usr/lib/*/heddle/libamdhip64.so.5) | sed -n 's/^shlibs:Depends=//p'
}

write_control() {
    mkdir -p "$root/DEBIAN"
    cat >"$root/DEBIAN/control" <<END
Package: heddle
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Depends: $(libraries), $depends
Recommends: $recommends
Suggests: $suggests
Section: science
Priority: optional
Description: simulators of GPU platforms from a page of text
 heddle turns the description of a GPU platform into a fast, deterministic,
 cycle-level simulator that runs unmodified HIP programs. It checks the
 description, draws it, generates and compiles C, and reports where the time
 of a program went.
 .
 The package has the command, the library of components, platforms, a guide with
 examples, and files for editors and shells.
END
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
}

maintainer="${DEBFULLNAME:-The heddle authors} <${DEBEMAIL:-heddle@localhost}>"
install_files
install_documents
write_control
mkdir -p "$out"
package=$out/heddle_$version-1_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package.part" >&2
mv "$package.part" "$package"
echo "$package"
