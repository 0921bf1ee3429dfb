#!/bin/sh
# Build .venv from requirements.lock and install the project into it in editable mode. Run from the project's root:
#
#     sh scripts/install.sh [PYTHON [TORCH]]
#
# PYTHON is the interpreter to build with, TORCH what pip should install as torch; both may be empty. If all of this
# has been done before and nothing has changed since, this takes a moment and does nothing.
set -eu

asked_python=${1:-}
asked_torch=${2:-}
lock=requirements.lock
venv=.venv
first="packaging|setuptools|wheel|filelock|fsspec|Jinja2|MarkupSafe|mpmath|networkx|sympy|typing_extensions"
# Written when everything else is done, so that an install that was killed is not taken for a finished one.
stamp=$venv/installed

fail() {
    echo "make install: $1" >&2
    exit 2
}

version_of() {
    # Code that every Python understands, so that an old one is recognised, too.
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

find_python() {
    for candidate in ${asked_python:-python3.11 python3 python}; do
        if [ "$(version_of "$candidate")" = 3.11 ]; then
            "$candidate" -c 'import ensurepip, venv' 2>/dev/null ||
                fail "$candidate cannot make virtual environments; install its venv module (Debian: apt install python3.11-venv)"
            echo "$candidate"
            return
        fi
    done
    tried=${asked_python:-python3}
    fail "Python 3.11 is needed, and $tried is $(version_of "$tried" || echo missing); install 3.11 and run: make install PYTHON=python3.11 (to convert and score only, any Python from 3.10 on will do: pip install .)"
}

checksum() {
    cat "$@" | cksum
}

recorded() {
    sed -n "s/^$1: //p" "$stamp" 2>/dev/null
}

# What the environment consists of. What was not asked for stays as it is.
environment_is_current() {
    [ -f "$stamp" ] && "$venv/bin/python" -c pass 2>/dev/null &&
        [ "$(recorded lock)" = "$(checksum "$lock")" ] &&
        [ "$(recorded place)" = "$(pwd -P)" ] &&
        [ "$(recorded python)" = "${asked_python:-$(recorded python)}" ] &&
        [ "$(recorded torch)" = "${asked_torch:-$(recorded torch)}" ]
}

project_is_current() {
    [ "$(recorded project)" = "$(checksum pyproject.toml qdecomp/version.py)" ]
}

install() {
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input "$@"
}

pins() {
    sed -n 's/^\([^# ]*==[^ ]*\).*/\1/p' "$lock"
}

build_environment() {
    echo "1/4 making $venv with $python ($("$python" -c 'import platform; print(platform.python_version())'))"
    "$python" -m venv --clear "$venv"
    # The tools that build packages from source, and what torch needs, come first, so that their hashes are checked, too.
    grep -E "^($first)==" "$lock" >"$venv/first.txt"
    install --no-deps --require-hashes -r "$venv/first.txt"
    echo "2/4 installing $torch"
    # With its dependencies, as a CUDA build needs more packages than a CPU build; the lock holds the versions.
    pins >"$venv/pins.txt"
    # shellcheck disable=SC2086
    install -c "$venv/pins.txt" $torch
    grep -v "^torch==" "$lock" >"$venv/packages.txt"
    echo "3/4 installing $(grep -c == "$venv/packages.txt") packages from $lock"
    install --no-deps --no-build-isolation --require-hashes -r "$venv/packages.txt"
}

[ -f "$lock" ] || fail "$lock is not here; run this from the project's root"
# One install at a time; wait for what a killed one left running.
if command -v flock >/dev/null; then
    exec 9<.
    flock -n 9 || { echo "waiting for another install to end" && flock 9; }
fi
if environment_is_current; then
    python=$(recorded python)
    torch=$(recorded torch)
    if project_is_current; then
        exit 0
    fi
    rm -f "$stamp"
else
    python=$(find_python)
    torch=${asked_torch:-$(pins | grep '^torch==')}
    rm -f "$stamp"
    build_environment
fi
echo "4/4 installing the project"
install --no-deps --no-build-isolation -e .
# The allennlp command imports torchvision, which warns that it cannot read images; it need not.
packages=$venv/lib/python3.11/site-packages
mkdir -p "$packages"
echo 'import warnings; warnings.filterwarnings("ignore", "Failed to load image Python extension")' \
    >"$packages/quiet_torchvision.pth"
{
    echo "lock: $(checksum "$lock")"
    echo "project: $(checksum pyproject.toml qdecomp/version.py)"
    echo "place: $(pwd -P)"
    echo "python: $python"
    echo "torch: $torch"
} >"$stamp.new"
mv "$stamp.new" "$stamp"
echo "done: $venv is ready"
