#!/bin/sh
# Starts the gateway of a container: `bentpipe gateway` with these arguments. As root with the
# capabilities to change the user it goes on as $GATEWAY_USER (bentpipe), and passes on the two that
# interception needs, as far as it has them: `nft` and `ip`, which it starts, need the first as well.
set -eu

user=${GATEWAY_USER:-bentpipe}

# Whether this process may give itself a capability, by its bit.
has() {
    set="0x$(sed -n 's/^CapPrm:[[:space:]]*//p' /proc/self/status)"
    [ $((set >> $1 & 1)) = 1 ]
}

# 6: CAP_SETGID, 7: CAP_SETUID, 8: CAP_SETPCAP, 10: CAP_NET_BIND_SERVICE, 12: CAP_NET_ADMIN.
if [ "$(id -u)" != 0 ] || ! has 6 || ! has 7 || ! has 8; then
    exec bentpipe gateway "$@"
fi
kept=-all
if has 10; then kept="$kept,+net_bind_service"; fi
if has 12; then kept="$kept,+net_admin"; fi
exec setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups --no-new-privs \
    --bounding-set "$kept" --inh-caps "$kept" --ambient-caps "$kept" bentpipe gateway "$@"
