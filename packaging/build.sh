# shellcheck shell=bash
# Sourced by ./run and ./check: configuring and building a preset. Every message goes to stderr.

: "${root:?the folder of the project}"

say() { printf '%s\n' "$*" >&2; }

# Takes the lock on a build folder until unlock_build or this shell's end: two builds at once spoil each other.
lock_build() {
    local folder=$1
    if ! mkdir -p "$folder" 2>/dev/null || [[ ! -w $folder ]]; then
        say "Cannot write to $folder (built by another user?). Remove it or take it over, then try again."
        return 1
    fi
    exec {build_lock}>"$folder/.lock"
    if ! flock --nonblock "$build_lock"; then
        say "Another build is running in $folder; waiting for it…"
        flock "$build_lock"
    fi
}

# A program that this shell becomes must not keep the lock.
unlock_build() { exec {build_lock}>&-; }

# True if the folder was configured to its end, and for this place (a tree that was moved or copied is not).
is_configured() {
    [[ -f $1/build.ninja ]] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$1/CMakeCache.txt" 2>/dev/null
}

# configure PRESET: nothing to do for a configured folder, for Ninja runs CMake again where a list changed. What an
# interrupted or failed configuration left behind is thrown away once.
configure() {
    local folder=$root/build/$1
    is_configured "$folder" && return 0
    (cd "$root" && cmake --preset "$1" --fresh >&2) && return 0
    say "Could not configure $folder (see above). If a package is missing, packaging/setup.sh installs it."
    return 1
}

# build PRESET [NINJA ARGUMENT…]: configures where needed, and again from nothing if the folder is past mending.
build() {
    local preset=$1 folder=$root/build/$1
    shift
    configure "$preset" || return 1
    ninja -C "$folder" "$@" >&2 && return 0
    # A failed compile says so by itself. A list that no longer configures may be stale settings: try once from nothing.
    if ! ninja -C "$folder" -n >/dev/null 2>&1; then
        say "The build folder does not load; configuring it from nothing."
        (cd "$root" && cmake --preset "$preset" --fresh >&2) && ninja -C "$folder" "$@" >&2 && return 0
    fi
    say "The build of preset '$preset' failed; the first error above says why."
    return 1
}
