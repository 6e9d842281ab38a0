#!/usr/bin/env bash
# Installs what Firsttoken needs on Debian 12, and nothing that is there already.
#   packaging/setup.sh [--yes] [--list] [SET…]      sets: core (default), test
# Asks before it installs, unless run as root or with --yes. Offline once everything is there. All messages go to
# stderr. Exit 0: all there; 1: something is missing and could not be installed; 2: usage.
set -euo pipefail

# What the product is built from and calls while it runs (python3-pip brings the starter model).
core_packages=(cmake ninja-build g++ pkg-config ca-certificates python3-pip
    libcli11-dev libcurl4-openssl-dev libfmt-dev libsqlite3-dev libssl-dev libxxhash-dev libyaml-cpp-dev libzip-dev
    nlohmann-json3-dev)
# What ./check needs beyond that. The engine's sanitizers come with g++.
test_packages=(qt6-base-dev ccache)

say() { printf '%s\n' "$*" >&2; }

yes=false
list=false
packages=()
for argument in "$@"; do
    case "$argument" in
        --yes) yes=true ;;
        --list) list=true ;;
        core) packages+=("${core_packages[@]}") ;;
        test) packages+=("${test_packages[@]}") ;;
        *) say "packaging/setup.sh: '$argument' is neither a package set (core, test) nor --yes or --list"; exit 2 ;;
    esac
done
((${#packages[@]} > 0)) || packages=("${core_packages[@]}")
if $list; then
    printf '%s\n' "${packages[@]}"
    exit 0
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "This is no Debian system, so nothing is installed here. The build needs what Debian 12 calls:"
    say "  ${packages[*]}"
    exit 0
fi

# One query for all; a package that dpkg never heard of is an error of the query, not of this script.
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${packages[@]}" 2>/dev/null |
    sed -n 's/^[ih]i  *//p') || true
missing=()
for package in "${packages[@]}"; do
    grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
((${#missing[@]} > 0)) || exit 0

say "Missing Debian packages: ${missing[*]}"
as_root=()
if (($(id -u) != 0)); then
    by_hand="apt-get install ${missing[*]}"
    if ! command -v sudo >/dev/null; then
        say "Installing them needs root, and there is no sudo here. As root, run: $by_hand"
        exit 1
    fi
    if ! $yes; then
        if [[ ! -t 0 || ! -t 2 ]]; then
            say "Nobody is at a terminal to be asked. Run again with --yes, or run: sudo $by_hand"
            exit 1
        fi
        read -r -p "Install them with apt-get (through sudo)? [Y/n] " answer
        case "${answer,,}" in
            "" | y | yes) ;;
            *) say "Not installed. By hand: sudo $by_hand"; exit 1 ;;
        esac
    fi
    as_root=(sudo)
fi

# apt-get may neither ask on a terminal nor read what is meant for the program that starts after it.
apt_get() {
    local options=(-q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2)
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" "$@" </dev/null >&2
}
say "Fetching the package lists and installing (apt-get)…"
apt_get update || say "The package lists could not be refreshed; trying with those that are here."
if ! apt_get install --no-install-recommends "${missing[@]}"; then
    say "apt-get could not install the missing packages (its own words are above)."
    say "Check the network and the package sources, then try again, or run: apt-get install ${missing[*]}"
    exit 1
fi
