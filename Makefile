# What a developer types. Everything here also works without make: see the
# commands.

CARGO ?= cargo

.PHONY: all test tools lint docs bench-peers bench fidelity reproduce

all:
	$(CARGO) build --release

# Installs what the tests need, then runs all of them.
test: tools
	$(CARGO) test --workspace --quiet

# Peers and tools that some tests use. Without root the list is printed and
# those tests skip themselves, each with one line that says so.
TOOLS = tshark
tools:
	@missing=; for tool in $(TOOLS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq$$missing >/dev/null; \
	  else echo "not installed, so the tests that need them are skipped:$$missing"; fi; fi

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

bench:
	$(CARGO) bench --workspace

# The same dumbbell on ns-2, ns-3 and here, in one run.
bench-peers:
	$(CARGO) build --release --examples -p bentpipe-sim
	python3 benches/peers/run.py

# Every cell of the study against ns-2's stored results; `fidelity/run.py --ns2`
# measures ns-2 again.
fidelity:
	$(CARGO) build --release
	python3 fidelity/run.py

reproduce:
	$(CARGO) run --release -- reproduce
