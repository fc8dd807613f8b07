#!/bin/sh
# Makes this machine ready for ContactMesh. Run by 'make setup'; every step can be run again.
#
#   setup.sh python             the virtual environment in .venv, from requirements.lock
#   setup.sh broker             RabbitMQ, unless it is there or AMQP_URL names one
#   setup.sh install-rabbitmq   Debian's package, as root; called by 'broker'
set -eu

here=$(cd "$(dirname "$0")" && pwd)
project=$(cd "$here/../.." && pwd)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
image=rabbitmq:4-management

say() { printf '%s\n' "$*"; }
fail() { printf 'contactmesh setup: %s\n' "$*" >&2; exit 1; }

# Runs a command and shows what it wrote only if it failed.
quietly() {
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
}

# --- Python -------------------------------------------------------------------------------------

recent_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3 python3.13 python3.12 python3.11
    fi
    for candidate; do
        if recent_enough "$candidate"; then
            printf '%s' "$candidate"
            return
        fi
    done
    fail "Python 3.11 or newer is needed; found: $("$1" --version 2>&1 || true)." \
        "Install it, or name it: make setup PYTHON=/path/to/python3.11"
}

set_up_python() {
    cd "$project"
    python=$(find_python)
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make virtual environments." \
            "On Debian and Ubuntu: apt-get install python3-venv"
    say "Setting up .venv with $("$python" --version) (a minute or two the first time) ..."
    # A virtual environment does not survive being moved or its Python being upgraded.
    made_for=$(cat .venv/.complete 2>/dev/null || printf '%s' "$project")
    if [ "$made_for" != "$project" ] || ! .venv/bin/python -c '' 2>/dev/null; then
        quietly "$python" -m venv --clear .venv
    fi
    pip="-m pip --disable-pip-version-check --quiet install"
    # shellcheck disable=SC2086  # words are meant to be split
    quietly .venv/bin/python $pip --require-hashes --requirement requirements.lock
    # shellcheck disable=SC2086
    quietly .venv/bin/python $pip --no-deps --no-build-isolation --editable .
    printf '%s' "$project" >.venv/.complete
}

# --- RabbitMQ -----------------------------------------------------------------------------------

have_rabbitmq() {
    [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || command -v rabbitmq-server >/dev/null
}

have_image() { docker image inspect "$image" >/dev/null 2>&1; }

set_up_broker() {
    if [ -n "${AMQP_URL:-}" ] || have_rabbitmq || have_image; then
        return
    fi
    if command -v apt-get >/dev/null; then
        say "RabbitMQ is missing: installing the system's package rabbitmq-server (no service is started)."
        if [ "$(id -u)" = 0 ]; then
            sh "$here/setup.sh" install-rabbitmq && return
        elif command -v sudo >/dev/null; then
            say "This needs root: sudo may ask for your password."
            sudo sh "$here/setup.sh" install-rabbitmq && return
        fi
    fi
    if docker info >/dev/null 2>&1; then
        say "Getting the container image $image ..."
        quietly docker pull "$image" && return
    fi
    fail "RabbitMQ is missing and could not be installed here. Do one of these and run it again:
  - install your system's package: rabbitmq-server (Debian, Ubuntu, Fedora), rabbitmq (Arch)
  - start a Docker Engine that can get the image $image
  - set AMQP_URL to a RabbitMQ that runs elsewhere"
}

install_rabbitmq() {
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        # How Debian is told to start no service while a package is installed.
        trap 'rm -f "$log" "$policy"' EXIT
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    export DEBIAN_FRONTEND=noninteractive
    set -- apt-get install --yes --quiet --no-install-recommends rabbitmq-server
    if ! "$@" >"$log" 2>&1; then
        # The package lists may be missing or too old.
        quietly apt-get update --quiet
        quietly "$@"
    fi
    # The local stack runs nodes of its own: the system's need not start with the machine.
    if [ -d /run/systemd/system ]; then
        quietly systemctl disable rabbitmq-server.service
    fi
}

case "${1:-}" in
python) set_up_python ;;
broker) set_up_broker ;;
install-rabbitmq) install_rabbitmq ;;
*) fail "usage: setup.sh python | broker | install-rabbitmq" ;;
esac
