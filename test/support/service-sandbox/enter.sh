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
for folder in /etc /usr/local /var /root; do over "$folder" "$folder"; done
mkdir -p /etc/systemd/system
cd /root
mkdir keelson
over "$clone" "$PWD/keelson"
cp "$clone/studies/flights-mean.yaml" study.yaml
# Programs of this test: what systemd does with the unit, and npm without compiling.
PATH="$tools/bin:$PATH" KEELSON_SERVICE_LOG="$place/log" bash -euo pipefail -x "$script"
