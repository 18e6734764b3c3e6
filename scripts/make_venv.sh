#!/bin/sh
# Make the virtual environment named by $1, unless it is there and alive.
#
# $PYTHON (default python3) is used when it is Python 3.11 or newer; else the newest python3.N on the path is.
set -eu
target=$1

if [ -x "$target/bin/python" ] && "$target/bin/python" -c 'import pip' 2>/dev/null; then
    exit 0
fi

for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        rm -rf "$target"
        if ! "$candidate" -m venv "$target"; then
            rm -rf "$target"
            echo "cannot make $target with '$candidate -m venv'; on Debian and Ubuntu: apt-get install python3-venv" >&2
            exit 1
        fi
        exit 0
    fi
done

echo "no Python 3.11 or newer on the path; install one, or say where it is: make PYTHON=/path/to/python3 ..." >&2
exit 1
