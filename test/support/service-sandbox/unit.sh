#!/bin/bash
# Runs a command as the unit's sandbox would: unit.sh FOLDER USER GROUP COMMAND, in a mount namespace
# of its own. Descriptor 3 gets the system calls that the filter refused.
set -euo pipefail
folder=$1 user=$2 group=$3
shift 3
mount --bind "$folder" "$folder"
if [ "$SYSTEM" = strict ]; then
  findmnt --raw --noheadings --output TARGET | grep -v -e "^$folder\$" -e '^/dev' -e '^/proc' -e '^/sys' \
    | while read -r place; do mount -o remount,bind,ro "$place"; done
fi
if [ "$TMP_OWN" = true ]; then
  mount -t tmpfs tmpfs /tmp
  mount -t tmpfs tmpfs /var/tmp
fi
if [ "$HOME_HIDDEN" = true ]; then
  for home in /home /root; do mount -t tmpfs -o mode=000 tmpfs "$home"; done
fi
if [ "$DEVICES_OWN" = true ]; then
  devices=$(mktemp -d)
  mount -t tmpfs -o mode=755 tmpfs "$devices"
  for name in null zero full random urandom tty; do
    touch "$devices/$name"
    mount --bind "/dev/$name" "$devices/$name"
  done
  ln -s /proc/self/fd "$devices/fd"
  mount --rbind "$devices" /dev
fi
cd /
umask "$MASK"
# The filter comes last, as in systemd: setpriv itself makes calls that it refuses.
filter=()
if [ -n "$CALLS" ] && command -v strace > /dev/null; then
  filter=(strace -D -f -qq --seccomp-bpf -e "trace=!$CALLS" -e "inject=!$CALLS:error=EPERM"
    -o /proc/self/fd/3)
fi
# shellcheck disable=SC2086 -- The words of the command are split, as systemd splits them.
exec setpriv --reuid "$user" --regid "$group" --clear-groups \
  --no-new-privs --bounding-set=-all --inh-caps=-all "${filter[@]}" \
  ${*//'$KEELSON_FLAGS'/$KEELSON_FLAGS} ${KEELSON_SERVICE_PORT---port 0}
