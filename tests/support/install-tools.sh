#!/usr/bin/env bash
# Installs the programs that browser, monitoring, balancer, Python and PostgreSQL tests need, if they are missing and the system allows it: Debian or Ubuntu, as root.
# Otherwise it only lists the missing programs. Always exits with code 0: the tests decide whether a missing program is a failure.
set -u
missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null ||
  [ -x "${CHROMIUM_PATH:-/nowhere}" ] || missing+=(chromium)
command -v prometheus >/dev/null || missing+=(prometheus)
command -v alertmanager >/dev/null || command -v prometheus-alertmanager >/dev/null || missing+=(prometheus-alertmanager)
command -v postgres_exporter >/dev/null || command -v prometheus-postgres-exporter >/dev/null || missing+=(prometheus-postgres-exporter)
command -v haproxy >/dev/null || missing+=(haproxy)
command -v python3 >/dev/null || missing+=(python3)
python3 -m pip --version >/dev/null 2>&1 || missing+=(python3-pip)
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || [ -x "${PGBIN:-/nowhere}/initdb" ] || missing+=(postgresql)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "not installed, and not installable from here: ${missing[*]}" >&2
  exit 0
fi
echo "installing ${missing[*]} ..." >&2
export DEBIAN_FRONTEND=noninteractive
# Debian starts a service when it is installed; the tests need only the program.
trap 'rm -f "${policy:-}"' EXIT
if [ ! -e /usr/sbin/policy-rc.d ]; then
  policy=/usr/sbin/policy-rc.d
  printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
fi
install() { apt-get install -y --no-install-recommends "${missing[@]}" >/dev/null; }
install 2>/dev/null || { apt-get update >/dev/null && install; } || echo "could not install: ${missing[*]}" >&2
exit 0
