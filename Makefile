# What a developer types. Everything here also works without make: see the
# commands.

CARGO ?= cargo

# What needs Linux is built where it can be: clang for the kernel congestion
# controls, libelf and zlib for their loader. The explorer's page is built by npm.
FEATURES ?= $(shell features=; if [ "$$(uname -s)" = Linux ]; then \
  if command -v clang >/dev/null && pkg-config --exists libelf zlib 2>/dev/null; \
  then features=bentpipe-cli/kernel,bentpipe-cli/gateway; else features=bentpipe-cli/linux,bentpipe-cli/gateway; fi; fi; \
  if command -v npm >/dev/null; then features=$${features:+$$features,}bentpipe-cli/explore; fi; echo $$features)
WITH = $(if $(FEATURES),--features $(FEATURES))

.PHONY: all web test-explore test tools wheel develop test-python docs cluster notebooks lint guide figures verdicts mutants bench-instructions instructions outputs dist bench-peers bench-executors bench-gateway bench-explore lost audit packaging deb bench fidelity fidelity-linux fidelity-packetdrill fidelity-world held reproduce advice questions same ledger evidence

all: web
	$(CARGO) build --release $(WITH)

# The page of the explorer, which cargo puts into the command. npm installs exactly
# what package-lock.json names, and runs no scripts of it. Without npm there is no
# explorer; without the network the page that was built before stays.
WEB = crates/explore/web
PAGE = $(WEB)/dist/index.html
web: $(if $(findstring bentpipe-cli/explore,$(FEATURES)),$(PAGE))

$(PAGE): $(shell find $(WEB)/src -type f 2>/dev/null) $(addprefix $(WEB)/,build.mjs package.json package-lock.json tsconfig.json)
	@cd $(WEB) && if [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --silent; \
	then npm run --silent check && npm run --silent build; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "npm cannot install what builds the page of the explorer"; exit 1; \
	else echo "npm cannot install what builds the page of the explorer, so the command has none"; fi

# The page in Chromium, on the command with the page in it.
test-explore: tools web
	@if [ ! -f $(PAGE) ] || ! command -v chromium >/dev/null || ! node -e 'process.exit(+(parseInt(process.versions.node) < 20))'; then \
	  if [ "$$BENTPIPE_REQUIRE" = all ]; then echo "the tests of the explorer need npm, node 20 and chromium"; exit 1; \
	  else echo "skipped: the tests of the explorer need npm, node 20 and chromium"; fi; \
	else $(CARGO) build --release --quiet --workspace $(WITH) && \
	  cd $(WEB) && BENTPIPE=$(CURDIR)/target/release/bentpipe BENTPIPE_PAGE= npm test --silent; fi

# The command as it is shipped: optimised across crates, which takes a minute more.
dist: web
	$(CARGO) build --profile dist $(WITH)

# Whether this build prints and writes what an older one does, for a change that must
# change no output: `make outputs OLDER=path/to/bentpipe`.
outputs: all
	python3 fidelity/outputs.py $(OLDER) target/release/bentpipe

# The Debian package: the command, and the service of the gateway. It needs cargo-deb
# (`cargo install cargo-deb`).
deb: dist
	$(CARGO) deb -p bentpipe-cli --no-build --profile dist

# Installs what the tests need, builds everything once, then runs all tests:
# independent parts side by side, with a table of what took how long.
test: tools web
	python3 .ci/test.py --features "$(FEATURES)"

# The documentation as a site in target/site, which needs no server and loads
# nothing from the network; a broken link or a page without a place fails.
docs: target/venv/tools
	@if [ -x target/venv/bin/mkdocs ]; then NO_MKDOCS_2_WARNING=1 target/venv/bin/mkdocs build --strict --quiet; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "the documentation site needs mkdocs-material"; exit 1; \
	else echo "skipped: the documentation site needs mkdocs-material"; fi

# Studies on clusters: a Slurm of its own, which needs root, Dask and SSH.
cluster: target/venv/tools
	@if [ -x target/venv/bin/pytest ]; then target/venv/bin/python -m pytest --quiet -rs python/tests/cluster; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "the tests of clusters need pytest"; exit 1; \
	else echo "skipped: the tests of clusters need pytest"; fi

# The notebooks, in copies whose outputs the documentation shows; with a Slurm
# around them where one can run.
notebooks: target/venv/tools
	@if $(PYTHON) -c 'import nbmake, bentpipe' 2>/dev/null; then rm -rf target/notebooks && cp -r notebooks target/ && \
	  PATH=$(CURDIR)/target/venv/bin:$$PATH $(PYTHON) python/tests/cluster/slurm.py --optional --nodes 2 -- \
	  $(PYTHON) -m pytest --quiet --nbmake --overwrite --nbmake-timeout=300 --rootdir target/notebooks target/notebooks; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "the notebooks need nbmake and the Python package"; exit 1; \
	else echo "skipped: the notebooks need nbmake and the Python package"; fi

# Peers and tools that some tests use, by command and Debian package, and what
# the kernel's part is built with. Without root the list is printed and those
# tests skip themselves, each with one line that says so.
TOOLS = tshark:tshark clang:clang llvm-strip:llvm pkg-config:pkg-config ip:iproute2 iperf3:iperf3 \
  curl:curl nft:nftables haproxy:haproxy valgrind:valgrind slurmctld:slurm-wlm munged:munge \
  node:nodejs npm:npm chromium:chromium shellcheck:shellcheck
# Not where it would open a port of the machine.
TOOLS += $(if $(wildcard /run/systemd/system),,sshd:openssh-server)
LIBRARIES = libelf:libelf-dev zlib:zlib1g-dev
# The queries of docs/data.md, the site, the tests of the Python package and of
# clusters run in a Python of their own, where pip and the network are there.
PYTHON_TOOLS = duckdb polars pytest mkdocs-material mkdocstrings-python \
  dask distributed dask-jobqueue asyncssh nbmake ipykernel matplotlib pandas pyarrow tqdm \
  maturin mypy pyright ruff
PYTHON = target/venv/bin/python
tools: target/venv/tools
	@missing=; for tool in $(TOOLS); do command -v $${tool%%:*} >/dev/null || missing="$$missing $${tool##*:}"; done; \
	if [ "$$(uname -s)" = Linux ]; then for library in $(LIBRARIES); do \
	  pkg-config --exists $${library%%:*} 2>/dev/null || missing="$$missing $${library##*:}"; done; fi; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq$$missing >/dev/null; \
	  else echo "not installed, so the tests that need them are skipped:$$missing"; fi; fi

target/venv/tools: Makefile
	@mkdir -p target && python3 -m venv target/venv && $(PYTHON) -m pip install --quiet --disable-pip-version-check \
	  $(PYTHON_TOOLS) && touch $@ || echo "not installed, so the tests that need them are skipped: $(PYTHON_TOOLS)"

# The wheel: the command and the module `bentpipe`, for any Python from 3.10 on.
wheel: target/venv/tools
	$(PYTHON) -m maturin build --profile dist --quiet --out target/wheels
	@for wheel in target/wheels/*.whl; do $(PYTHON) -m zipfile -l $$wheel | grep -q bentpipe/papers/marchese-2006/ || \
	  { echo "$$wheel lacks the papers, which are behind a link"; exit 1; }; done
	@ls -l target/wheels

# The package into the Python of the tests, in the profile and with the features of
# the command, so that nothing is built twice.
develop: target/venv/tools web
	VIRTUAL_ENV=$(CURDIR)/target/venv $(PYTHON) -m maturin develop --release --quiet \
	  $(if $(FEATURES),--features $(subst bentpipe-cli/,,$(FEATURES)))

# The Python package; without pip or the network a line says that it is skipped.
test-python: tools
	@if $(PYTHON) -c 'import maturin, pytest' 2>/dev/null; then \
	  $(MAKE) develop && $(PYTHON) -m pytest --quiet --ignore python/tests/cluster && $(PYTHON) -m mypy && $(PYTHON) -m pyright; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "pip cannot install maturin and pytest"; exit 1; \
	else echo "pip cannot install maturin and pytest, so the tests of the Python package are skipped"; fi

# Formats and lints of Rust, Python and TypeScript. `ruff format` and, in the folder of the page,
# `npm run format` write what it asks for.
lint: target/venv/tools web
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(if $(FEATURES),$(CARGO) clippy --workspace --all-targets $(WITH) -- -D warnings)
	python3 .ci/mutants.py --check
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	@if [ -x target/venv/bin/ruff ]; then target/venv/bin/ruff check --quiet && target/venv/bin/ruff format --check --quiet; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "pip cannot install ruff"; exit 1; \
	else echo "pip cannot install ruff, so Python is not linted"; fi
	@if [ -x $(WEB)/node_modules/.bin/biome ]; then cd $(WEB) && npm run --silent lint; \
	elif [ "$$BENTPIPE_REQUIRE" = all ]; then echo "npm cannot install biome"; exit 1; \
	else echo "npm cannot install biome, so the page of the explorer is not linted"; fi

# Writes the outputs that docs/guide and README.md show; `make test` fails where
# they are not what the commands print.
guide:
	BENTPIPE_GUIDE=write $(CARGO) test --workspace $(WITH) --test cli guide

# Draws every picture of the documentation again, by the commands of
# docs/gallery.md.
figures: all
	docs/figures.py

bench:
	$(CARGO) bench --workspace

# Instructions per packet-hop under callgrind, next to the ratchet that `make test`
# holds (`make instructions`); `benches/instructions/run.py --update` records a new one.
bench-instructions:
	python3 benches/instructions/run.py

instructions:
	$(CARGO) build --release --quiet --workspace $(WITH)
	python3 benches/instructions/run.py --check --dumbbell target/release/dumbbell \
	  --bentpipe target/release/bentpipe

# The same dumbbell on ns-2, ns-3 and here, in one run.
bench-peers:
	$(CARGO) build --release -p dumbbell
	python3 benches/peers/run.py

# What Dask and Slurm cost where a task takes 10 s, against threads. It needs root, Slurm and
# a machine of two cores that does nothing else; a quarter of an hour. `DRY=--dry` only tries it.
bench-executors: target/venv/tools
	$(CARGO) build --release -p bentpipe-cli
	rm -rf target/executors && $(PYTHON) -m maturin build --release --quiet --out target/executors/wheel
	$(PYTHON) -m zipfile -e target/executors/wheel/*.whl target/executors
	PYTHONPATH=target/executors $(PYTHON) benches/executors/overhead.py --rounds 3 --bar 5 $(DRY)

# The gateway over the emulated satellite, beside HAProxy: nothing lost, at the
# bound, fast, lasting. It needs root; benches/gateway/README.md has the last
# tables. An hour on two cores.
bench-gateway:
	$(CARGO) build --release -p bentpipe-cli $(WITH)
	$(CARGO) build --release -p gateway-bench
	@for bench in lost audit/audit timing tails throughput pair fade oneway hubs wans shares udp stalled limits lasting; do \
	  echo "== $$bench"; python3 benches/gateway/$$bench.py || failed=1; done; test -z "$$failed"

# The explorer against its bars, on a machine that does nothing else: the first bars after
# a change, the first paint, and the frames while satellites are scrubbed.
bench-explore: all
	python3 benches/explore/first_bars.py target/release/bentpipe
	cd $(WEB) && BENTPIPE=$(CURDIR)/target/release/bentpipe BENTPIPE_PAGE= BENTPIPE_SPEED=1 npx playwright test speed

# 300 transfers through the gateway, with an outage and a kill, in a minute.
lost:
	$(CARGO) build --release --quiet --workspace $(WITH)
	BENTPIPE=target/release/bentpipe GATEWAY_BENCH=target/release/gateway-bench python3 benches/gateway/lost.py --short

# The same question by a second harness, which shares no code with the first: whether it notices each
# fault of a relay, and 180 transfers through the gateway.
audit:
	$(CARGO) build --release --quiet --workspace $(WITH)
	cd benches/gateway/audit && python3 -m unittest -q
	BENTPIPE=$(CURDIR)/target/release/bentpipe python3 benches/gateway/audit/audit.py --short

# The container images and the OpenWrt recipe, in form, and their scripts.
packaging:
	$(CARGO) build --release --quiet --workspace $(WITH)
	cd packaging && BENTPIPE=$(CURDIR)/target/release/bentpipe python3 -m unittest -q

# Every cell of the study against ns-2's stored results; `fidelity/run.py --ns2`
# measures ns-2 again.
fidelity:
	$(CARGO) build --release
	python3 fidelity/run.py

# Every cell that has a stored result of Linux, the gateway or ns-2, where it was when
# `fidelity/held.py --update` recorded it: seconds.
held:
	$(CARGO) build --release --quiet --workspace $(WITH)
	cd fidelity/linux && python3 -m unittest -q
	cd fidelity/advice && python3 -m unittest -q
	cd fidelity/world && python3 -m unittest -q
	python3 fidelity/held.py

# The profile `linux` against stored results of real kernels, where stacks differ;
# `fidelity/linux/hard.py --vm` measures them again.
fidelity-linux:
	$(CARGO) build --release $(WITH)
	python3 fidelity/linux/hard.py

# packetdrill scripts of others, which are not in this repository, against the profile `linux`:
# `make fidelity-packetdrill DIR=packetdrill/gtests/net/tcp`.
fidelity-packetdrill:
	$(CARGO) build --release --quiet
	python3 fidelity/packetdrill.py $(DIR) --fails

# What others measured and published, which is not in this repository, beside the simulator:
# `make fidelity-world DIR=published [PACKETDRILL=packetdrill/gtests/net/tcp]`. docs/world.md says
# where the files are from.
fidelity-world:
	$(CARGO) build --release --quiet
	python3 fidelity/world/run.py $(DIR) $(if $(PACKETDRILL),--packetdrill $(PACKETDRILL))

# Every cell and every claim of every paper against its recorded verdict, and
# every number that README.md and papers/*/README.md quote: four minutes on two
# cores. `bentpipe reproduce --pages write` renews the pages.
verdicts:
	$(CARGO) build --release --quiet --workspace $(WITH)
	target/release/bentpipe reproduce --brief --pages check

# Wrong constants and conditions, one at a time: each must make the check fail that it
# names. `make lint` checks that all are in their places.
mutants:
	python3 .ci/mutants.py

reproduce:
	$(CARGO) run --release -- reproduce

# The advice of `compare` on 200 random links against runs that it has not seen.
advice:
	$(CARGO) run --release --quiet -p advice > target/advice.csv

# The verdicts on 60 questions of operators, 20 seeds each: against each other, and against the
# runs of the other seeds. It goes on where it stopped; `MINUTES=30` is one part of it.
MINUTES ?= 600
questions: all
	fidelity/advice/questions.py ask --minutes $(MINUTES)
	fidelity/advice/questions.py settle
	fidelity/advice/questions.py summary

# One transport under two names, with other seeds: how often it is told apart from itself.
same:
	$(CARGO) run --release --quiet -p advice -- same > target/same.csv

# Every measured number that the pages quote against the ledger of evidence, and the
# ledger's own tests: seconds. docs/evidence.md explains it.
ledger:
	cd evidence && python3 -m unittest -q
	evidence/ledger.py check

# Measures the entries of the ledger again, as far as this machine can, and writes the pages
# anew: `make evidence GROUP=linux`, `GROUP=linux/corners`, `GROUP=quick` (ten minutes).
evidence: all
	evidence/ledger.py run $(GROUP)
