#!/bin/sh
# Speaks the example recordings anew. Needs espeak-ng and ffmpeg; the files in the repository were made by it.
set -eu
cd "$(dirname "$0")/recordings"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

espeak-ng -v en-us -s 150 -w "$work/briefing.wav" "Good morning. This is the morning briefing for the upper \
valley. The night watch reports that the siren on the school roof was tested twice. The second test failed, because a \
mouse had eaten the cable. Nobody may cross the lower bridge before the engineer has looked at it on Thursday. The spare \
battery is in the green box behind the kitchen door."
espeak-ng -v en-gb -s 150 -w "$work/visit.wav" "Today we are visiting the oldest station on the river. The wooden tower \
was built in nineteen sixty two by seven brothers. When the water is high, the keeper hangs a red blanket from the window."

ffmpeg -v error -y -i "$work/briefing.wav" -ac 1 -ar 16000 -c:a libopus -b:a 20k -metadata title="Morning briefing" \
    -map_metadata:s:a 0:s:a morning-briefing.ogg
ffmpeg -v error -y -f lavfi -i "color=c=steelblue:s=160x90:r=2" -i "$work/visit.wav" -shortest -c:v libx264 -pix_fmt yuv420p \
    -c:a aac -ac 1 -ar 16000 -b:a 24k -metadata title="A visit to the tower" tower-visit.mp4
