#!/bin/sh
# Debian's programs that some tests want: installed when one is missing and this may be done without asking for a password.
# Without them those tests are skipped and say so; whatever happens here, the exit code is 0.
set -u

missing=
for pair in tesseract:tesseract-ocr pdftotext:poppler-utils espeak-ng:espeak-ng ffmpeg:ffmpeg chromium:chromium; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
set -- "${POSTGRES_FOLDER:-/usr/lib/postgresql}"/*/bin/initdb  # Debian keeps it off the path
[ -x "$1" ] || command -v initdb >/dev/null 2>&1 || missing="$missing postgresql"
languages=$(tesseract --list-langs 2>&1) || languages=
for language in hin urd; do
    printf '%s\n' "$languages" | grep -qx "$language" || missing="$missing tesseract-ocr-$language"
done
[ -n "$missing" ] || exit 0

skipped() {
    echo "not installed:$missing ($1); tests that want them are skipped"
    exit 0
}

command -v apt-get >/dev/null 2>&1 || skipped "there is no apt-get here"
as=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null || skipped "that needs root or sudo without a password"
    as="sudo -n"
fi
echo "installing:$missing"
install() {
    # shellcheck disable=SC2086 # words on purpose
    $as env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends $missing >/dev/null 2>&1
}
install || { $as apt-get -qq update >/dev/null 2>&1 && install; } || skipped "apt-get could not"
