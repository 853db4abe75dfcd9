#!/bin/sh
# Puts an ffmpeg that knows enhanced RTMP (HEVC, AV1, Opus in FLV) where clips.py finds it: the pip package imageio-ffmpeg in a venv in
# the cache folder of the test media. Does nothing when it is there. Without it those tests are skipped. Needs python3 with venv.
set -eu
cache=${XDG_CACHE_HOME:-$HOME/.cache}/live-server-test-media
venv=$cache/venv
if ! ls "$venv"/lib/python*/site-packages/imageio_ffmpeg/binaries/ffmpeg-* >/dev/null 2>&1; then
    mkdir -p "$cache"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check 'imageio-ffmpeg>=0.6'
fi
cd "$(dirname -- "$0")"
python3 -c 'import clips, sys; found = clips.find_new_ffmpeg(); print(found or "no ffmpeg with enhanced RTMP"); sys.exit(found is None)'
