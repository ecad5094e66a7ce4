#!/bin/bash
# Minutes of the README's first command in a clean clone, with crates that cargo has downloaded.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone --quiet --local . "$folder/clone"
cd "$folder/clone"
cargo fetch --locked --quiet
began=$(date +%s.%N)
CARGO_TARGET_DIR="$folder/target" cargo run --release --quiet -- compare >/dev/null
echo "minutes: $(echo "($(date +%s.%N) - $began) / 60" | bc -l | cut -c1-4)"
