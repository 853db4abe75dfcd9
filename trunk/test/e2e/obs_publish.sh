#!/usr/bin/env bash
# OBS Studio publishes a clip for 60 seconds to a running server, with no screen, while ffmpeg plays it and is judged.
# Run by hand: it takes most of a core. Needs obs-studio, Xvfb, ffmpeg, python3.
#
#   obs_publish.sh [rtmp://127.0.0.1:1935/live] [KEY] [SECONDS]
#   obs_publish.sh 'srt://127.0.0.1:10080?streamid=#!::r=live/obs,m=publish' '' [SECONDS]
#
# Exit status 0 when OBS said that it streams, never lost the connection, and the playback had no decoder error and no gap.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
server=${1:-rtmp://127.0.0.1:1935/live}
key=${2-obs}
seconds=${3:-60}
case $server in
    srt:*) url=$(printf '%s' "$server" | sed 's/m=publish/m=request/')"&latency=2000000" ;;
    *) url=$server/$key ;;
esac
for program in obs Xvfb ffmpeg python3; do
    command -v "$program" >/dev/null || { echo "$program is not installed" >&2; exit 2; }
done
clip=$(python3 "$here/../media/clips.py" basic)
home=$(mktemp -d)
settings=$home/.config/obs-studio
mkdir -p "$settings/basic/profiles/Test" "$settings/basic/scenes"
mkdir -m 700 "$home/run"

cat >"$settings/global.ini" <<INI
[General]
FirstRun=true
EnableAutoUpdates=false
[Basic]
Profile=Test
ProfileDir=Test
SceneCollection=Test
SceneCollectionFile=Test
INI
cat >"$settings/basic/profiles/Test/basic.ini" <<INI
[General]
Name=Test
[Output]
Mode=Simple
[SimpleOutput]
StreamEncoder=x264
Preset=ultrafast
VBitrate=500
ABitrate=64
UseAdvanced=true
x264Settings=keyint=50 bframes=0
[Video]
BaseCX=640
BaseCY=360
OutputCX=640
OutputCY=360
FPSType=1
FPSInt=25
[Audio]
SampleRate=44100
ChannelSetup=Stereo
INI
cat >"$settings/basic/profiles/Test/service.json" <<JSON
{"type": "rtmp_custom", "settings": {"server": "$server", "key": "$key", "use_auth": false}}
JSON
cat >"$settings/basic/scenes/Test.json" <<JSON
{"name": "Test", "current_scene": "Main", "current_program_scene": "Main", "scene_order": [{"name": "Main"}], "sources": [
  {"id": "scene", "name": "Main", "settings": {"id_counter": 1, "items": [
    {"id": 1, "name": "Clip", "visible": true, "pos": {"x": 0.0, "y": 0.0}, "scale": {"x": 1.0, "y": 1.0}}]}},
  {"id": "ffmpeg_source", "name": "Clip", "mixers": 255, "volume": 1.0,
   "settings": {"local_file": "$clip", "looping": true, "hw_decode": false}}]}
JSON

screen='' studio=''
tidy() {
    for pid in $studio $screen; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$home"
}
trap tidy EXIT

mkfifo "$home/display"
exec 4<>"$home/display"
Xvfb -displayfd 4 -screen 0 1280x720x24 -nolisten tcp >"$home/xvfb.log" 2>&1 &
screen=$!
read -r -t 15 -u 4 display || { echo "Xvfb did not start" >&2; exit 1; }

env HOME="$home" XDG_CONFIG_HOME="$home/.config" XDG_RUNTIME_DIR="$home/run" DISPLAY=":$display" LIBGL_ALWAYS_SOFTWARE=1 \
    obs --multi --profile Test --collection Test --startstreaming --minimize-to-tray >"$home/obs.log" 2>&1 &
studio=$!
for _ in $(seq 60); do
    grep -q 'Streaming Start' "$home/obs.log" && break
    kill -0 "$studio" 2>/dev/null || break
    sleep 0.5
done
grep -q 'Streaming Start' "$home/obs.log" || { echo "OBS does not stream:" >&2; tail -20 "$home/obs.log" >&2; exit 1; }
echo "OBS streams to $server $key"

# OBS may repeat or drop a frame when the machine is busy, so the frame numbers of the clip are not judged.
python3 - "$here" "$url" "$seconds" <<'PY'
import sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/../media"]
import play_check
playback = play_check.play(sys.argv[2], float(sys.argv[3]), patience_s=30)
problems = playback.problems(numbered=False)
print(f"{playback.video.codec}+{playback.audio.codec}, {len(playback.frames)} frames in {playback.seconds:g} s:", "; ".join(problems) or "no problem")
sys.exit(1 if problems else 0)
PY
kill -0 "$studio" || { echo "OBS ended by itself" >&2; tail -20 "$home/obs.log" >&2; exit 1; }
if grep -E 'Disconnected|Streaming Stop|Reconnect' "$home/obs.log" >&2; then exit 1; fi
