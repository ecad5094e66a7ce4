#!/usr/bin/env python3
"""The packages that no machine here builds, in form: what they name is in the tree, and their scripts do
what they say, with stand-ins for procd, the build system of OpenWrt and the gateway.

    cd packaging && python3 -m unittest -q
"""

import os
import re
import shutil
import subprocess
import tempfile
import time
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENWRT = ROOT / "packaging" / "openwrt" / "bentpipe-gateway"
FILES = OPENWRT / "files"
START = ROOT / "packaging" / "gateway" / "start.sh"
CONTAINERS = (ROOT / "Containerfile", ROOT / "packaging" / "gateway" / "Containerfile")
BENTPIPE = Path(os.environ.get("BENTPIPE") or ROOT / "target" / "release" / "bentpipe")

# In place of OpenWrt's build system: what a recipe includes, and what it is asked for.
RULES = """
BUILD_DIR:=/build
INSTALL_DIR:=install -d -m0755
INSTALL_BIN:=install -m0755
INSTALL_CONF:=install -m0600
INSTALL_DATA:=install -m0644
"""
PACKAGE = """
define BuildPackage
$(info VERSION=$(PKG_VERSION))
$(info PATH=$(MAKE_PATH))
$(info FEATURES=$(RUST_PKG_FEATURES))
$(info SOURCE=$(PKG_SOURCE_URL)$(PKG_SOURCE))
$(info CONFFILES=$(strip $(Package/$(1)/conffiles)))
shown: ;
installed:
$(call Package/$(1)/install,$(TO))
endef
"""
RUST = """
RUST_ARCH_DEPENDS:=@aarch64
define RustBinPackage
endef
"""
# In place of rc.common and procd: each call is a line.
COMMON = """
config_load() { echo "load $1"; }
config_foreach() { for it in ship spare; do "$1" "$it"; done; }
config_get_bool() { [ "$2" = ship ] && eval "$1=1" || eval "$1=0"; }
config_get() { eval "$1=\\${4:-}"; }
procd_open_instance() { echo "open $1"; }
procd_set_param() { echo "set $*"; }
procd_close_instance() { echo "close"; }
procd_send_signal() { echo "signal $*"; }
procd_add_reload_trigger() { echo "trigger $1"; }
start() { start_service; }
mkdir() { :; }
chmod() { :; }
"""


def run(*words, **options):
    words = [str(word) for word in words]
    return subprocess.run(words, capture_output=True, text=True, **options)


def manifest(path):
    return tomllib.loads((ROOT / path).read_text())


def lacking(test, why):
    """Skips a test, with a line that says so, unless nothing may be skipped."""
    if os.environ.get("BENTPIPE_REQUIRE") == "all":
        test.fail(why)
    print(f"skipped: {test.id().rpartition('.')[2]}: {why}")
    test.skipTest(why)


class Scripts(unittest.TestCase):
    def test_shells_and_shellcheck_have_nothing_to_say(self):
        scripts = [START, FILES / "bentpipe-gateway.init"]
        scripts += [
            ROOT / "packaging" / "debian" / name for name in ("postinst", "postrm", "prerm")
        ]
        for script in scripts:
            self.assertEqual(run("sh", "-n", script).stderr, "")
        if not shutil.which("shellcheck"):
            lacking(self, "shellcheck is not installed")
        for script in scripts:
            self.assertEqual(run("shellcheck", "--shell=sh", script).stdout, "")


class Containers(unittest.TestCase):
    def test_what_they_name_is_in_the_tree(self):
        features = manifest("crates/cli/Cargo.toml")["features"]
        oldest = manifest("Cargo.toml")["workspace"]["package"]["rust-version"]
        for file in CONTAINERS:
            text = re.sub(r"^#.*\n", "", file.read_text(), flags=re.MULTILINE)
            text = text.replace("\\\n", " ")
            named = re.search(r"--features (\S+)", text)[1].split(",")
            self.assertLessEqual(set(named), set(features), file)
            self.assertIn("gateway", named)
            for copied in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.MULTILINE):
                for name in copied.split():
                    self.assertTrue((ROOT / name).exists(), name)
            version = re.search(r"/rust:([0-9.]+)-", text)[1]
            number = lambda version: tuple(map(int, version.split(".")))
            self.assertGreaterEqual(number(version), number(oldest))
            profile = re.search(r"--profile (\S+)", text)
            folder = f"target/{profile[1] if profile else 'release'}/bentpipe"
            self.assertIn(folder, text)
            # Not root, unless whoever runs it says so.
            self.assertEqual(re.findall(r"^USER (.*)$", text, re.MULTILINE), ["bentpipe"])
            self.assertTrue(re.search(r"^ENTRYPOINT ", text, re.MULTILINE))

    def start(self, *before, user="nobody"):
        """What `start.sh` makes of a process: its user and capabilities, and the arguments."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            stand_in = Path(folder) / "bentpipe"
            stand_in.write_text('#!/bin/sh\necho "$@"; id -u; grep ^Cap /proc/self/status\n')
            stand_in.chmod(0o755)
            path = f"{folder}:{os.environ['PATH']}"
            done = run(
                *before, "sh", START, "run", "a file", env={"PATH": path, "GATEWAY_USER": user}
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        arguments, uid, *capabilities = done.stdout.splitlines()
        self.assertEqual(arguments, "gateway run a file")
        return int(uid), {name: int(bits, 16) for name, bits in map(str.split, capabilities)}

    def test_root_becomes_the_gateways_user_with_two_capabilities(self):
        if os.geteuid() or not shutil.which("setpriv"):
            lacking(self, "changing the user needs root and setpriv")
        change = "+setuid,+setgid,+setpcap"
        held = lambda more: ["setpriv", "--bounding-set", f"-all,{change},{more}"]
        nobody = int(run("id", "-u", "nobody").stdout)
        for given, bits in (
            ("+net_admin,+net_bind_service", 1 << 12 | 1 << 10),
            ("+net_admin", 1 << 12),
        ):
            uid, capabilities = self.start(*held(given))
            self.assertEqual(uid, nobody)
            for name in ("CapEff:", "CapPrm:", "CapAmb:", "CapBnd:"):
                self.assertEqual(capabilities[name], bits, name)
        # Without the three it stays what it is, with what it has.
        uid, capabilities = self.start("setpriv", "--bounding-set", "-all,+net_admin")
        self.assertEqual((uid, capabilities["CapEff:"]), (0, 1 << 12))

    def test_another_user_than_root_stays_what_it_is(self):
        before = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--clear-groups"]
        uid, capabilities = self.start(*before)
        self.assertNotEqual(uid, 0)
        self.assertEqual(capabilities["CapEff:"], 0)

    def test_a_gateway_that_intercepts_runs_as_that_user(self):
        """The command itself in a network namespace, with the capabilities that the file names."""
        if os.geteuid() or not BENTPIPE.exists() or not shutil.which("nft"):
            lacking(self, "a gateway that intercepts needs root, nft and target/release/bentpipe")
        name = f"bppack{os.getpid()}"
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "village.toml"
            file.write_text(
                'role = "single"\nlink = { rate = "10 Mbit/s", interfaces = ["sat0"], '
                'transport = "cubic" }\nintercept.interfaces = ["lan0"]\n'
            )
            os.symlink(BENTPIPE, Path(folder) / "bentpipe")
            for path in (folder, file):
                shutil.chown(path, "nobody")
            run("ip", "netns", "add", name, check=True)
            inside = ["ip", "netns", "exec", name]
            gateway = None
            try:
                pair = "ip link add sat0 type veth peer name lan0"
                run(*inside, *pair.split(), check=True)
                bounds = "-all,+setuid,+setgid,+setpcap,+net_admin,+net_bind_service"
                words = [*inside, "setpriv", "--bounding-set", bounds, "sh", START, "run", file]
                path = f"{folder}:{os.environ['PATH']}"
                variables = {"PATH": path, "GATEWAY_USER": "nobody", "RUNTIME_DIRECTORY": folder}
                gateway = subprocess.Popen(
                    [str(word) for word in words], env=variables, stderr=subprocess.PIPE, text=True
                )
                rules = ""
                end = time.monotonic() + 15
                while "tproxy" not in rules and gateway.poll() is None and time.monotonic() < end:
                    time.sleep(0.1)
                    rules = run(*inside, "nft", "list", "ruleset").stdout
                said = gateway.stderr.read() if gateway.poll() is not None else ""
                self.assertIn("tproxy", rules, said)
                uid = Path(f"/proc/{gateway.pid}").stat().st_uid
                self.assertEqual(uid, int(run("id", "-u", "nobody").stdout))
            finally:
                if gateway:
                    gateway.terminate()
                    gateway.communicate(timeout=20)
                run("ip", "netns", "del", name)


class OpenWrt(unittest.TestCase):
    def make(self, target, to=""):
        """Runs a target of the recipe with stand-ins for what it includes."""
        with tempfile.TemporaryDirectory() as folder:
            top = Path(folder)
            recipe = top / "net" / "bentpipe-gateway"
            shutil.copytree(OPENWRT, recipe)
            (top / "lang" / "rust").mkdir(parents=True)
            (top / "rules.mk").write_text(RULES)
            (top / "package.mk").write_text(PACKAGE)
            (top / "lang" / "rust" / "rust-package.mk").write_text(RUST)
            (top / "bin").mkdir()
            (top / "bin" / "bentpipe").write_text("")
            given = {"TOPDIR": top, "INCLUDE_DIR": top, "TO": to, "PKG_INSTALL_DIR": top}
            given["PKG_BUILD_DIR"] = ROOT
            assignments = [f"{name}={value}" for name, value in given.items()]
            done = run("make", "-C", recipe, "--no-print-directory", target, *assignments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_recipe_names_what_is_in_the_tree(self):
        if not shutil.which("make"):
            lacking(self, "make is not installed")
        shown = dict(line.split("=", 1) for line in self.make("shown").splitlines() if "=" in line)
        workspace = manifest("Cargo.toml")["workspace"]["package"]
        self.assertEqual(shown["VERSION"], workspace["version"])
        self.assertIn(f"/tar.gz/v{workspace['version']}?", shown["SOURCE"])
        command = manifest(f"{shown['PATH']}/Cargo.toml")
        self.assertLessEqual(set(shown["FEATURES"].split(",")), set(command["features"]))
        self.assertEqual([it["name"] for it in command["bin"]], ["bentpipe"])
        kept = (FILES / "bentpipe-gateway.keep").read_text().split()
        self.assertEqual(sorted(kept), sorted(shown["CONFFILES"].split()))

    def test_it_installs_what_it_says(self):
        if not shutil.which("make"):
            lacking(self, "make is not installed")
        with tempfile.TemporaryDirectory() as to:
            self.make("installed", to)
            found = {
                str(path.relative_to(to)): path.stat().st_mode & 0o777
                for path in Path(to).rglob("*")
                if path.is_file()
            }
        self.assertEqual(
            found,
            {
                "usr/bin/bentpipe": 0o755,
                "etc/init.d/bentpipe-gateway": 0o755,
                "etc/config/bentpipe-gateway": 0o600,
                "etc/sysctl.d/60-bentpipe-gateway.conf": 0o644,
                "lib/upgrade/keep.d/bentpipe-gateway": 0o644,
                "usr/share/nftables.d/chain-pre/input/30-bentpipe-gateway.nft": 0o644,
            },
        )

    def service(self, function):
        script = FILES / "bentpipe-gateway.init"
        text = f'{COMMON}\n. "{script}"\nPROG=program\nprogram() {{ echo "program $*" >&2; }}\n{function}\n'
        # What a gateway prints is thrown away when its rules are removed.
        text = text.replace(f'. "{script}"', f'eval "$(sed s,/dev/null,/dev/stderr, {script})"')
        done = run("sh", "-c", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return (done.stdout + done.stderr).splitlines()

    def test_the_service_starts_what_is_enabled(self):
        said = self.service("start_service")
        self.assertEqual([line for line in said if line.startswith("open")], ["open ship"])
        self.assertIn("set command program gateway run /etc/bentpipe/ship.toml", said)
        self.assertIn("set respawn 3600 5 0", said)
        self.assertIn("set env RUNTIME_DIRECTORY=/var/run/bentpipe-gateway", said)
        self.assertEqual(self.service("service_triggers"), ["trigger bentpipe-gateway"])

    def test_a_reload_starts_and_signals(self):
        said = self.service("reload_service")
        self.assertEqual(said[-1], "signal bentpipe-gateway * HUP")
        self.assertIn("open ship", said)

    def test_the_mark_is_that_of_the_configuration(self):
        reference = (ROOT / "docs" / "gateway-reference.md").read_text()
        mark = re.search(r"^\| `mark` .*\| `([0-9_]+)` \|", reference, re.MULTILINE)[1]
        rule = (FILES / "bentpipe-gateway.nft").read_text()
        self.assertIn(f"meta mark {mark.replace('_', '')} accept", rule)

    def test_the_command_has_what_the_service_calls(self):
        if not BENTPIPE.exists():
            lacking(self, "target/release/bentpipe is not built")
        script = (FILES / "bentpipe-gateway.init").read_text()
        called = set(re.findall(r'"\$PROG" gateway (\w+)', script))
        called |= set(re.findall(r"\$PROG\" gateway (\w+)", script))
        self.assertEqual(called, {"run", "rules"})
        for name in called:
            self.assertEqual(run(BENTPIPE, "gateway", name, "--help").returncode, 0, name)
        self.assertIn("remove", run(BENTPIPE, "gateway", "rules", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
