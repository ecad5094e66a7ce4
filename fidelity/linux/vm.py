#!/usr/bin/env python3
"""Linux kernels of other versions, in qemu, and in virtual time.

    fidelity/linux/vm.py fetch                        # Debian's kernels 6.1 and 6.12, by apt-get
    fidelity/linux/vm.py loader                       # what `bentpipe kernel load` does on each of them
    fidelity/linux/vm.py run --kernel 6.12 --file my.toml 'bentpipe run my.toml --on linux --json'

A guest runs a shell script on a kernel with nothing else around it: the command `bentpipe`, `ip`,
busybox, and the modules of the kernel (`tun`, `veth` and the congestion controls). Without KVM, and
with `-icount`, the clock of the guest counts its instructions and skips what is idle: a run of
the same binary has the same result each time, whatever else the machine does, and a minute over a geostationary link takes
a few seconds. `run` works in /root/work, to which each --file was copied, and what the script leaves
in /root/results is copied to --out.

It needs qemu-system-x86, busybox-static, kmod, cpio, iproute2 and util-linux; not root (but apt-get
as a user needs package lists, which `apt-get update` makes). Kernels are kept in target/kernels.
Exit status: 0 done, 1 an expectation of `loader` was not met, 2 could not run.
"""

import argparse
import glob
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENTPIPE = ROOT / "target/release/bentpipe"
KERNELS = ROOT / "target/kernels"
# A kernel by its version: the pattern of its package, of which the newest is taken.
PACKAGES = {
    "6.1": r"linux-image-6\.1\.[0-9.-]+-cloud-amd64",
    "6.12": r"linux-image-6\.12\.[^ ]+-cloud-amd64",
}
CONTROLS = [
    "bbr",
    "vegas",
    "westwood",
    "hybla",
    "dctcp",
    "veno",
    "scalable",
    "highspeed",
    "htcp",
    "illinois",
]
MODULES = ["virtio_pci", "virtio_blk", "tun", "veth"] + ["tcp_" + name for name in CONTROLS]
PROGRAMS = ["ip", "setpriv", "sysctl"]
RESULTS_BYTES = 1 << 28
VIRTUAL_TIME = ["-icount", "shift=1,sleep=off", "-rtc", "clock=vm"]
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mount -t tmpfs none /tmp; mount -t tmpfs none /run; mkdir -p /dev/net /root/work /root/results
export PATH=/usr/bin:/bin HOME=/root NO_COLOR=1 COLUMNS=120
for module in {modules}; do insmod /lib/modules/$module.ko; done
ip link set lo up
cd /root/work
echo {begin}
sh /root/script
echo {end}
cd /root/results && [ -b /dev/vda ] && tar cf /dev/vda . && sync
poweroff -f
"""
BEGIN, END = "----- begin", "----- end"


class CannotRun(Exception):
    """What is missing, in words for the user."""


def fetch(version):
    """Downloads and unpacks a kernel; returns its folder."""
    folder = KERNELS / version
    if glob.glob(f"{folder}/boot/vmlinuz*"):
        return folder
    names = subprocess.run(
        ["apt-cache", "pkgnames", "linux-image-" + version],
        capture_output=True,
        text=True,
        check=True,
    )
    found = [n for n in names.stdout.split() if re.fullmatch(PACKAGES[version], n)]
    if not found:
        raise CannotRun(
            f"no package of a kernel {version}: `apt-get update` first, on Debian 12 or later"
        )
    number = lambda name: [int(n) for n in re.findall(r"\d+", name)]
    KERNELS.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["apt-get", "download", "-qq", max(found, key=number)],
        cwd=KERNELS,
        check=True,
        stderr=subprocess.DEVNULL,
    )
    package = max(KERNELS.glob(max(found, key=number) + "_*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    package.unlink()
    release = next((folder / "lib/modules").iterdir()).name
    subprocess.run([tool("depmod"), "-b", folder, release], check=True, stderr=subprocess.DEVNULL)
    return folder


def tool(name):
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    if not path:
        package = {
            "qemu-system-x86_64": "qemu-system-x86",
            "busybox": "busybox-static",
            "depmod": "kmod",
        }
        raise CannotRun(f"{name} is not installed: apt-get install {package.get(name, name)}")
    return path


def modules_of(folder, wanted):
    """The wanted modules and what they need, in order of loading: name and file."""
    base = next((folder / "lib/modules").iterdir())
    needs = {}
    for line in (base / "modules.dep").read_text().splitlines():
        file, _, others = line.partition(":")
        needs[file] = others.split()
    by_name = {re.sub(r"\.ko.*", "", pathlib.Path(file).name): file for file in needs}
    order = []
    for name in wanted:
        for file in [*reversed(needs.get(by_name.get(name), [])), by_name.get(name)]:
            if file and file not in order:
                order.append(file)
    return [(re.sub(r"\.ko.*", "", pathlib.Path(file).name), base / file) for file in order]


def install(program, root, name):
    """A program, under its name in the guest, and the libraries that it needs."""
    shutil.copy(program, root / "usr/bin" / name)
    for line in subprocess.run(
        ["ldd", program], capture_output=True, text=True, check=False
    ).stdout.splitlines():
        found = re.search(r"(/\S+) \(0x", line)
        if found:
            copy = root / found.group(1).lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(found.group(1)), copy)


def image(folder, binary, files, script, archive, modules=(), programs=()):
    """Writes the initial file system of a guest."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        root.chmod(0o755)
        for directory in [
            "bin",
            "dev",
            "proc",
            "sys",
            "tmp",
            "run",
            "usr/bin",
            "lib/modules",
            "root/work",
        ]:
            (root / directory).mkdir(parents=True)
        shutil.copy(tool("busybox"), root / "bin/busybox")
        install(binary, root, "bentpipe")
        for program in map(tool, [*PROGRAMS, *programs]):
            install(program, root, pathlib.Path(program).name)
        modules = modules_of(folder, [*MODULES, *modules])
        for module, file in modules:
            data = file.read_bytes()
            data = lzma.decompress(data) if file.suffix == ".xz" else data
            (root / f"lib/modules/{module}.ko").write_bytes(data)
        for file in files:
            copy = shutil.copytree if file.is_dir() else shutil.copy
            copy(file, root / "root/work" / file.name)
        (root / "root/script").write_text(script + "\n")
        (root / "init").write_text(
            INIT.format(modules=" ".join(m for m, _ in modules), begin=BEGIN, end=END)
        )
        (root / "init").chmod(0o755)
        with open(archive, "wb") as out:
            paths = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
            subprocess.run(
                [tool("cpio"), "-o", "-H", "newc", "--quiet"],
                cwd=root,
                input=paths,
                stdout=out,
                check=True,
            )


def run(
    version,
    script,
    files=(),
    out=None,
    binary=BENTPIPE,
    timeout=1800,
    memory=1536,
    virtual=True,
    modules=(),
    programs=(),
):
    """Runs a script on a kernel; returns what it printed. `out` receives its /root/results.

    `modules` and `programs` are wanted beside those that every guest has."""
    folder = fetch(version)
    if not binary.exists():
        raise CannotRun(f"{binary} does not exist: `make` builds it")
    with tempfile.TemporaryDirectory() as name:
        archive, disk = pathlib.Path(name) / "initrd", pathlib.Path(name) / "disk"
        image(folder, binary, [pathlib.Path(f) for f in files], script, archive, modules, programs)
        with open(disk, "wb") as file:
            file.truncate(RESULTS_BYTES)
        command = [
            tool("qemu-system-x86_64"),
            *f"-m {memory} -nographic -no-reboot -net none -cpu max".split(),
            *("-kernel", glob.glob(f"{folder}/boot/vmlinuz*")[0]),
            *("-initrd", str(archive)),
            *("-drive", f"file={disk},format=raw,if=virtio"),
            *("-append", "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable"),
        ]
        command += VIRTUAL_TIME if virtual else []
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired as late:
            raise CannotRun(f"the guest did not end within {timeout} s") from late
        printed = done.stdout.decode(errors="replace").replace("\r\n", "\n")
        if BEGIN not in printed or END not in printed:
            raise CannotRun("the guest stopped before its script ended:\n" + printed[-2000:])
        if out is not None:
            pathlib.Path(out).mkdir(parents=True, exist_ok=True)
            # The clock of the guest need not be that of the machine.
            subprocess.run(["tar", "xmf", disk, "-C", out], check=True)
    return printed.split(BEGIN + "\n", 1)[1].split(END, 1)[0]


# What `kernel load` must say: kernel, what is done first, the user, text that must be printed, exit status.
NO_BTF = "mount -t tmpfs none /sys/kernel/btf;"
USER = "/usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups"
EXPECTED = [
    ("6.1", "", "", "is too old for kernel congestion controls", 2),
    ("6.1", NO_BTF, "", "is too old for kernel congestion controls", 2),
    ("6.12", "", "", "bp_hybla is loaded", 0),
    ("6.12", "", USER, "CAP_BPF", 2),
    ("6.12", NO_BTF, "", "has no BTF", 2),
]


def loader(binary):
    """Runs the loader on each kernel; returns how many expectations were not met."""
    missed = 0
    for version, before, user, text, status in EXPECTED:
        printed = run(
            version,
            f"{before}\n{user} bentpipe kernel load hybla 2>&1; echo status $?",
            binary=binary,
        )
        met = text in printed and f"status {status}" in printed
        missed += not met
        print(
            f"{'met ' if met else 'MISSED'}  {version:5} {'no BTF' if before else '':7} {'user' if user else 'root':5} {printed.splitlines()[0]}"
        )
        if not met:
            print(f"        expected {text!r} and exit status {status}:\n{printed}")
    script = """for control in $(bentpipe kernel list --json | sed -n 's/.*"\\(bp_[a-z]*\\)".*/\\1/p' | sort -u); do
bentpipe kernel load $control >/dev/null 2>&1 && echo loaded $control || echo failed $control; done
bentpipe kernel unload --all >/dev/null; bentpipe run network.toml --on linux 2>/dev/null"""
    printed = run("6.12", script, [HERE / "network.toml"], binary=binary)
    missed += "failed" in printed or "kept up" not in printed
    print(f"\nEvery control on 6.12, and a download:\n{printed}")
    return missed


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("do", choices=["fetch", "loader", "run"])
    parser.add_argument("script", nargs="?", default="", help="commands of a shell, for `run`")
    parser.add_argument("--kernel", choices=PACKAGES, default="6.12")
    parser.add_argument("--binary", type=pathlib.Path, default=BENTPIPE)
    parser.add_argument("--file", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument(
        "--real-time", action="store_true", help="let the guest's clock run with the machine's"
    )
    arguments = parser.parse_intermixed_args()
    try:
        if arguments.do == "fetch":
            for version in PACKAGES:
                print(fetch(version))
        elif arguments.do == "loader":
            sys.exit(1 if loader(arguments.binary) else 0)
        else:
            print(
                run(
                    arguments.kernel,
                    arguments.script,
                    arguments.file,
                    arguments.out,
                    arguments.binary,
                    virtual=not arguments.real_time,
                ),
                end="",
            )
    except (CannotRun, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
