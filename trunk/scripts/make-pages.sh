#!/bin/sh
# Puts the pages of research/html into a folder that the server serves, with the two libraries that the player page uses, and the manual in docs. Copies only what
# differs, deletes nothing: recordings and HLS live in the same folder. The libraries come from npm, by the pins of
# research/html/package-lock.json, once, into a cache outside objs; without npm the pages are there all the same and the player says
# which library it misses. The manual is made from doc/manual and doc/config.md by Python-Markdown; without it, docs has no pages. Never fails a build.
#
#   make-pages.sh FOLDER       FOLDER: where to, objs/nginx/html for one
#   make-pages.sh --list       the names of all these files, below such a folder
set -eu
. "$(dirname -- "$0")/common.sh"
to=${1:?make-pages.sh: the folder to fill is missing}
pages=$trunk/research/html
lock=$pages/package-lock.json
# Module's file and its name in players/js, which the pages and --list know.
libraries='mpegts.js/dist/mpegts.js mpegts.js
mpegts.js/LICENSE mpegts.js.license.txt
hls.js/dist/hls.min.js hls.js
hls.js/LICENSE hls.js.license.txt'

own_names() { (cd "$pages" && find . -type f ! -name 'package*.json' ! -name '*.md' | sed 's|^\./||' | sort); }

if [ "$to" = --list ]; then
    own_names
    echo "$libraries" | sed 's|.* |players/js/|'
    python3 -B "$trunk/tools/manual/build.py" "$trunk" --list | sed 's|^|docs/|'
    exit 0
fi

put() { # FILE TARGET
    if cmp -s "$1" "$2"; then return; fi
    mkdir -p "$(dirname -- "$2")"
    cp "$1" "$2.new" && chmod 644 "$2.new" && mv -f "$2.new" "$2"
}

# The modules of the pages below $1; false when they can not be had.
install_libraries() {
    [ ! -f "$1/complete" ] || return 0
    # A machine without a network is not to wait for it at every build.
    [ -z "$(find "$1.failed" -mmin -10 2>/dev/null)" ] || return 1
    command -v npm >/dev/null 2>&1 || {
        say "make-pages.sh: no npm here, so the player page has no players/js/mpegts.js and hls.js; the rest works"
        return 1
    }
    mkdir -p "$cache_dir"
    work=$(mktemp -d "$cache_dir/pages-XXXXXX")
    cp "$pages/package.json" "$lock" "$work/"
    if (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000 --loglevel=error) \
        >"$work/log" 2>&1; then
        touch "$work/complete"
        # Another build may have been quicker; then its folder stays.
        mv -T "$work" "$1" 2>/dev/null || rm -rf "$work"
        rm -f "$1.failed"
    else
        mv -f "$work/log" "$1.failed"
        rm -rf "$work"
        say "make-pages.sh: npm could not install the player's libraries (log in $1.failed); tried again in ten minutes"
        return 1
    fi
}

if ! own_names | while read -r name; do
    put "$pages/$name" "$to/$name" || exit 1
done; then
    warn "make-pages.sh: the pages could not be copied to $to"
    exit 0
fi

# Made anew when a page, the generator or, for the list of errors, a source is newer than the last one.
make_manual() {
    newest=$to/docs/search.json
    if [ -f "$newest" ] && [ -z "$(find "$trunk/doc/manual" "$trunk/doc/config.md" "$trunk/tools/manual" "$trunk/src" -newer "$newest" -type f -print -quit)" ]; then return; fi
    maker=$(python_with markdown) || {
        say "make-pages.sh: no Python-Markdown here, so docs/ has no manual; the rest works ($trunk/scripts/install-packages.sh pages)"
        return
    }
    mkdir -p "$cache_dir"
    made=$(mktemp -d "$cache_dir/manual-XXXXXX")
    if "$maker" -B "$trunk/tools/manual/build.py" "$trunk" "$made"; then
        rm -f "$newest"
        for file in "$made"/*; do put "$file" "$to/docs/${file##*/}"; done
    else
        warn "make-pages.sh: the manual could not be made"
    fi
    rm -rf "$made"
}
make_manual || warn "make-pages.sh: the manual could not be copied to $to/docs"

kept=$cache_dir/pages-$(cksum <"$lock" | cut -d' ' -f1)
if install_libraries "$kept"; then
    echo "$libraries" | while read -r file name; do
        put "$kept/node_modules/$file" "$to/players/js/$name" || exit 1
    done || warn "make-pages.sh: the player's libraries could not be copied to $to/players/js"
fi
exit 0
