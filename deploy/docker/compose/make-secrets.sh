#!/bin/sh
# Makes the passwords and keys of the compose file once, beside it. What is there stays as it is.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets
keep() { # name, text
  [ -e "secrets/$1" ] || printf '%s' "$2" > "secrets/$1"
}
random() { head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n'; }
keep postgres_password "$(random)"
keep redis_password "$(random)"
keep grafana_password "$(random)"
keep database_url "postgres://ute:$(cat secrets/postgres_password)@postgres/ute"
keep redis_url "redis://:$(cat secrets/redis_password)@redis"
keep secrets_keys "first:$(head -c 32 /dev/urandom | base64)"
# Containers read them as users of their own, with the mode that a file has here; on this machine the folder is closed.
chmod 0700 secrets
chmod 0644 secrets/*
echo "secrets/: made, for this machine alone; the folder is not for a repository"
