#!/bin/bash
# Runs a script as on a machine that is about to get its service: enter.sh CLONE PLACE SCRIPT
# Root in a mount namespace of its own. Nothing outside of PLACE changes, and at the end nothing runs.
set -euo pipefail
clone=$1 place=$2 script=$3
tools=$(dirname "$(realpath "$0")")
mount -t tmpfs tmpfs "$place"
over() { # over LOWER TARGET: what is written to TARGET stays in memory
  local own
  own=$(mktemp -d "$place/over.XXXX")
  mkdir "$own/upper" "$own/work"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$own/upper,workdir=$own/work" "$2"
}
for folder in /etc /usr /var /root; do over "$folder" "$folder"; done
mkdir -p /etc/systemd/system
# Debian's packages ask by this folder whether systemd runs.
mount -t tmpfs tmpfs /run
mkdir /run/systemd /run/systemd/system
if [ -n "${KEELSON_SERVICE_HOST-}" ]; then
  # A network of its own, in which the name leads here.
  ip link set lo up
  echo "127.0.0.1 $KEELSON_SERVICE_HOST" >> /etc/hosts
  # Nobody gives it a certificate here, so it is one that Node is told to trust.
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 \
    -subj "/CN=$KEELSON_SERVICE_HOST" -addext "subjectAltName=DNS:$KEELSON_SERVICE_HOST" \
    -keyout /run/host.key -out /run/host.pem 2> /dev/null
  export NODE_EXTRA_CA_CERTS=/run/host.pem
fi
cd /root
mkdir keelson
over "$clone" "$PWD/keelson"
cp "$clone/studies/flights-mean.yaml" study.yaml
# Programs of this test: what systemd does with the unit, and npm without compiling.
PATH="$tools/bin:$PATH" KEELSON_SERVICE_LOG="$place/log" bash -euo pipefail -x "$script"
