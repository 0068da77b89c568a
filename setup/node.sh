#!/bin/sh
# Runs a TypeScript file of this checkout with its own Node, after installing Node and the dependencies if they are missing.
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
modules=$root/node_modules
node=$modules/.bin/node

fail() {
  echo "hotcell: $1" >&2
  exit 1
}

install_npm() {
  . /etc/os-release 2>/dev/null || ID=
  [ "$(id -u)" = 0 ] && [ "${ID:-}" = debian ] ||
    fail "there is no npm here. Install Node.js with npm (on Debian: sudo apt-get install nodejs npm), then try again"
  echo "hotcell: npm is missing; installing Debian's (apt-get install nodejs npm)" >&2
  if [ -t 0 ] && [ -t 2 ]; then
    printf 'Go on? [Y/n] ' >&2
    read -r answer
    case $answer in [nN]*) fail "nothing was changed" ;; esac
  fi
  export DEBIAN_FRONTEND=noninteractive
  dpkg --configure -a >&2 && apt-get -o DPkg::Lock::Timeout=300 update >&2 &&
    apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends nodejs npm >&2 ||
    fail "nodejs and npm could not be installed, see above; try again when it is repaired"
}

complete() {
  [ -x "$node" ] || return 1
  cmp -s "$root/package-lock.json" "$modules/.hotcell-lock" && return
  # npm writes its own note last, too, if it was called by hand.
  [ "$modules/.package-lock.json" -nt "$root/package-lock.json" ] && cp "$root/package-lock.json" "$modules/.hotcell-lock"
}

install_dependencies() {
  # Two commands at once in a fresh checkout: the second waits and finds it done.
  exec 9<"$root/package-lock.json"
  ! command -v flock >/dev/null || flock 9
  if ! complete; then
    command -v npm >/dev/null || install_npm
    echo "hotcell: installing the dependencies (npm ci)" >&2
    seconds=0
    while sleep 4 >/dev/null 2>&1; do seconds=$((seconds + 4)) && echo "  … npm ci, $seconds s" >&2; done 9<&- &
    beat=$!
    trap 'kill $beat 2>/dev/null' EXIT
    trap 'exit 130' INT TERM
    # The machine knows the certificate of a proxy that intercepts TLS; Node, with its own list, does not.
    bundle=/etc/ssl/certs/ca-certificates.crt
    [ ! -r $bundle ] || export NODE_EXTRA_CA_CERTS="${NODE_EXTRA_CA_CERTS:-$bundle}"
    (cd "$root" && exec npm ci --no-progress --loglevel=error </dev/null >&2 9<&-) || fail "npm ci failed, see above; try again when it is repaired"
    kill $beat
    trap - EXIT INT TERM
    [ -x "$node" ] || fail "npm ci left no Node in node_modules/.bin: the npm package \"node\" knows no such machine as this"
    # Written last, so that an interrupted installation does not look complete.
    cp "$root/package-lock.json" "$modules/.hotcell-lock"
  fi
  exec 9<&-
}

complete || install_dependencies
export NODE_COMPILE_CACHE="${NODE_COMPILE_CACHE:-$modules/.hotcell-compiled}"
file=$root/$1
shift
exec "$node" --disable-warning=ExperimentalWarning "$file" "$@"
