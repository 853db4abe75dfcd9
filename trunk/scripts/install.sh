#!/bin/sh
# Copies the build into an installation, or removes one. Called by `make install` and `make uninstall`.
#   install.sh OBJS TARGET PREFIX CONFIG    TARGET is DESTDIR + PREFIX; PREFIX is where it will run
#   install.sh --remove TARGET
# Confs that the operator changed are never overwritten: the new one goes beside it as NAME.new.
set -eu
. "$(dirname -- "$0")/common.sh"

page_names() { "$trunk/scripts/make-pages.sh" --list; }

remove() {
    target=$1
    [ -f "$target/etc/init.d/srs" ] || die "nothing is installed in $target"
    rm -f "$target/objs/srs" "$target/objs/millrace" "$target"/scripts/docker-* "$target"/objs/sb_*_load "$target/objs/sb_rtmp_load_fast" "$target/objs/sb_rtmp_publish" "$target/etc/init.d/srs" "$target/usr/lib/systemd/system/srs.service"
    for file in "$trunk"/conf/*.conf "$trunk"/conf/*.crt "$trunk"/conf/*.key; do
        cmp -s "$file" "$target/conf/$(basename "$file")" && rm -f "$target/conf/$(basename "$file")"
    done
    page_names | while read -r name; do rm -f "$target/objs/nginx/html/$name"; done
    # Keeps other files, including recordings and changed confs.
    folders=$(page_names | sed -n 's|/[^/]*$||p' | sort -ru | sed 's|^|objs/nginx/html/|')
    for folder in conf $folders objs/nginx/html objs/nginx objs/logs objs scripts etc/init.d etc usr/lib/systemd/system usr/lib/systemd \
        usr/lib usr .; do
        rmdir "$target/$folder" 2>/dev/null || true
    done
    say "Removed from $target"
}

install_conf() {
    to=$target/conf/$(basename "$1")
    if [ -f "$to" ] && ! cmp -s "$1" "$to"; then
        to=$to.new
        say "kept your $(basename "$1"), the new one is $(basename "$to")"
    fi
    install -m "$2" "$1" "$to"
}

if [ "${1:-}" = --remove ]; then
    remove "$2"
    exit 0
fi
objs=$1 target=$2 prefix=$3 config=$4
install -d "$target/objs/nginx/html" "$target/objs/dvr" "$target/objs/logs" "$target/conf" "$target/scripts" "$target/etc/init.d" "$target/usr/lib/systemd/system"
install -m 755 "$objs/srs" "$target/objs/srs"
ln -sf srs "$target/objs/millrace"
# The programs of the container image: entry point, health check and drain.
install -m 755 "$trunk/scripts/docker-entry.sh" "$trunk/scripts/docker-health.pl" "$trunk/scripts/docker-drain.pl" "$target/scripts/"
install -m 644 "$trunk/scripts/docker-api.pl" "$target/scripts/"
for file in "$objs"/sb_*; do
    if [ -f "$file" ]; then install -m 755 "$file" "$target/objs/"; fi
done
for file in "$trunk"/conf/*.conf "$trunk"/conf/*.crt; do
    if [ -f "$file" ]; then install_conf "$file" 644; fi
done
for file in "$trunk"/conf/*.key; do
    if [ -f "$file" ]; then install_conf "$file" 600; fi
done
# Pages only, without recordings of a server in the build folder.
page_names | while read -r name; do
    if [ -f "$objs/nginx/html/$name" ]; then install -D -m 644 "$objs/nginx/html/$name" "$target/objs/nginx/html/$name"; fi
done
escaped_prefix=$(printf '%s' "$prefix" | sed 's/[\\&|]/\\&/g')
escaped_config=$(printf '%s' "$config" | sed 's/[\\&|]/\\&/g')
sed -e "s|^ROOT=.*|ROOT=\"$escaped_prefix\"|" -e "s|^CONFIG=.*|CONFIG=\"$escaped_config\"|" \
    "$trunk/etc/init.d/srs" >"$target/etc/init.d/srs"
chmod 755 "$target/etc/init.d/srs"
sed -e "s|/usr/local/srs|$escaped_prefix|g" \
    "$trunk/usr/lib/systemd/system/srs.service" >"$target/usr/lib/systemd/system/srs.service"
chmod 644 "$target/usr/lib/systemd/system/srs.service"
cat <<TEXT
Installed in $target
  as a service:  ln -sf $prefix/etc/init.d/srs /etc/init.d/srs && /etc/init.d/srs start
  with systemd:  useradd --system --no-create-home --home-dir $prefix --shell /usr/sbin/nologin srs
                 chown -R srs: $prefix/objs; chgrp srs $prefix/conf/*.key; chmod 640 $prefix/conf/*.key
                 ln -sf $prefix/usr/lib/systemd/system/srs.service /usr/lib/systemd/system/ && systemctl enable --now srs
TEXT
