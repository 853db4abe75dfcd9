#!/bin/sh
# Makes the sample stream doc/source.flv, and doc/source.200kbps.768x320.flv as a second name of it: 120 seconds, 768x320, 25
# pictures a second, H.264 main profile without B-frames, a key frame every 2 seconds, about 250 kbps, AAC stereo 44.1 kHz at
# 64 kbps. The picture shows a running clock, a picture count and a mark that crosses once a second; the audio is a low tone
# with a short beep on each second, so that an ear and an eye find gaps, drift and delay. Does nothing when the file is there.
# All of it is generated here, without third-party rights.
#
#   make-source.sh [FOLDER]      FOLDER: where to put the files (default: doc)
set -eu
. "$(dirname -- "$0")/common.sh"
folder=${1:-$trunk/doc}
seconds=${SOURCE_SECONDS:-120}
file=$folder/source.flv
other=$folder/source.200kbps.768x320.flv

link_other() { [ -e "$other" ] || ln "$file" "$other" 2>/dev/null || cp "$file" "$other"; }

if [ -s "$file" ]; then
    link_other
    exit 0
fi
command -v ffmpeg >/dev/null 2>&1 || die "ffmpeg is missing: $trunk/scripts/install-packages.sh run"
mkdir -p "$folder"
say "Making $file ($seconds s, once)"

clock="drawtext=text='%{pts\\:hms}':x=24:y=h-64:fontsize=40:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=8"
count="drawtext=text='%{n}':x=w-tw-24:y=h-64:fontsize=40:fontcolor=yellow:box=1:boxcolor=black@0.6:boxborderw=8"
# A mark that crosses the picture once a second shows stutter better than digits do.
mark="drawtext=text='#':x='mod(t,1)*w':y=8:fontsize=32:fontcolor=white:box=1:boxcolor=black"
if ffmpeg -hide_banner -loglevel error -f lavfi -i color=s=64x64:d=0.1 -vf "$clock" -f null - >/dev/null 2>&1; then
    picture="testsrc2=size=768x320:rate=25,$mark,$clock,$count,format=yuv420p"
else
    # No font or no text filter: testsrc draws its own clock of seconds.
    picture="testsrc=size=768x320:rate=25:decimals=2,format=yuv420p"
fi
audio="aevalsrc='0.12*sin(330*2*PI*t)+0.4*sin(1000*2*PI*t)*lt(mod(t,1),0.06)|0.12*sin(440*2*PI*t)+0.4*sin(1000*2*PI*t)*lt(mod(t,1),0.06)':s=44100"
trap 'rm -f "$file.part"' EXIT
ffmpeg -nostdin -hide_banner -loglevel error -y -f lavfi -i "$picture" -f lavfi -i "$audio" -t "$seconds" \
    -c:v libx264 -preset veryfast -profile:v main -bf 0 -g 50 -keyint_min 50 -sc_threshold 0 -b:v 250k -maxrate 300k -bufsize 300k \
    -c:a aac -b:a 64k -ac 2 -f flv "$file.part"
mv "$file.part" "$file"
rm -f "$other"
link_other
