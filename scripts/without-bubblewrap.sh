#!/bin/sh
# without-bubblewrap.sh <command…>: runs it where there is no bubblewrap, so that the sandbox is the landlock rung. Needs root and
# overlayfs, and changes nothing outside: of the folder that holds bubblewrap, the command sees a copy that lacks it.
set -eu
if [ "${1:-}" != --inside ]; then
  exec unshare --mount --propagation private -- "$0" --inside "$@"
fi
shift
layers=/mnt
mount -t tmpfs tmpfs "$layers"
for folder in /usr/bin /bin /usr/local/bin; do
  [ -e "$folder/bwrap" ] || continue
  upper=$(mktemp -d -p "$layers")
  mkdir "$upper/upper" "$upper/work"
  chmod 755 "$upper/upper"
  mknod "$upper/upper/bwrap" c 0 0
  mount -t overlay overlay -o "lowerdir=$folder,upperdir=$upper/upper,workdir=$upper/work" "$folder"
done
export UTE_TEST_RUNG=landlock
exec "$@"
