#!/bin/sh
# Puts Debian's Chromium onto a machine that has no browser for the tests of the page, where it may: as root or by sudo
# without a password. Where it may not, it says what to install; the tests of the page then fail and say the same.
set -eu

for program in chromium chromium-browser google-chrome; do
    if command -v "$program" >/dev/null; then
        exit 0
    fi
done

if [ "$(id -u)" = 0 ]; then
    as_root=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    as_root=none
fi

if [ "$as_root" = none ] || ! command -v apt-get >/dev/null; then
    echo "no Chromium here: the tests of the page need one; on Debian and Ubuntu: apt-get install chromium" >&2
    exit 0
fi

echo "installing chromium for the tests of the page ..." >&2
export DEBIAN_FRONTEND=noninteractive
if ! { $as_root apt-get update -qq && $as_root apt-get install -qq --yes --no-install-recommends chromium; } >&2; then
    echo "chromium could not be installed: the tests of the page will fail" >&2
fi
