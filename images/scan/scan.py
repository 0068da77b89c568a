"""Prints what is in an image's file tree: packages, and programs that a cell should not have."""

import json
import os
import re
import stat
import sys

root = sys.argv[1]

COMPILERS = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|tcc|gfortran|gnat|ld|as|cc1|cc1plus|collect2|lto1)(?:-[\d.]+)?"
    r"|go|gccgo|rustc|cargo|javac|ghc|ocamlopt|nasm|make|cmake|ninja|swiftc|zig|tsc"
)
CLIENTS = re.compile(
    r"curl|wget2?|nc|ncat|netcat|nc\.(?:openbsd|traditional)|socat|ssh|scp|sftp|ftp|lftp|telnet|rsync|git"
    r"|pip[\d.]*|uv|conda|npm|npx|yarn|pnpm|corepack|apt|apt-get|apt-helper|aptitude|apk|dnf|yum|gem|cpan"
    r"|dig|nslookup|host|ping6?|openssl|nmap|tcpdump|aws|gcloud|kubectl|docker"
)
SHELLS = re.compile(r"(?:ba|da|z|k|mk|tc|c|fi|a)?sh|busybox|toybox|rbash")
INTERPRETERS = re.compile(
    r"python[\d.]*|pypy[\d.]*|perl[\d.]*|ruby[\d.]*|node(?:js)?|deno|bun|lua(?:jit)?[\d.]*|php[\d.]*|Rscript|R"
    r"|[mg]?awk|tclsh[\d.]*|guile[\d.]*|java|julia|pwsh|gdb"
)

found = {"setuid": [], "capabilities": [], "compilers": [], "networkClients": [], "shells": [], "interpreters": []}
packages = set()
files = total = 0


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def stanzas(text):
    for stanza in re.split(r"\n\s*\n", text):
        fields = dict(re.findall(r"^(Package|Version|Status|Name):\s*(.*)$", stanza, re.M))
        if fields:
            yield fields


def debian(text):
    for fields in stanzas(text):
        if "Package" in fields and "Version" in fields and "deinstall" not in fields.get("Status", ""):
            packages.add(("deb", fields["Package"], fields["Version"]))


for folder, folders, names in os.walk(root):
    folders.sort()
    inside = folder[len(root):] or "/"
    if folder.endswith(".dist-info") and "METADATA" in names:
        head = read(os.path.join(folder, "METADATA")).split("\n\n", 1)[0]
        name, version = (re.search(rf"^{key}:\s*(.*)$", head, re.M) for key in ("Name", "Version"))
        if name and version:
            packages.add(("pypi", name[1].strip(), version[1].strip()))
    if "package.json" in names and re.search(r"/node_modules/(@[^/]+/)?[^/]+$", inside):
        try:
            package = json.loads(read(os.path.join(folder, "package.json")))
            packages.add(("npm", str(package["name"]), str(package["version"])))
        except (ValueError, KeyError, TypeError):
            pass  # Not a package's own package.json, which has both.
    for name in sorted(names):
        path = os.path.join(folder, name)
        shown = os.path.join(inside, name)
        status = os.lstat(path)
        files += 1
        executable = False
        if stat.S_ISREG(status.st_mode):
            total += status.st_size
            executable = bool(status.st_mode & 0o111)
            if status.st_mode & 0o6000:
                found["setuid"].append(shown)
            try:
                if "security.capability" in os.listxattr(path):
                    found["capabilities"].append(shown)
            except OSError:
                pass  # A file system without attributes has no file capabilities.
        elif stat.S_ISLNK(status.st_mode):
            executable = bool(re.search(r"/s?bin/|/libexec/", shown))
        if not executable or "/site-packages/" in shown or "/dist-packages/" in shown or "/node_modules/" in shown:
            continue
        for kind, names_of in (
            ("compilers", COMPILERS),
            ("networkClients", CLIENTS),
            ("shells", SHELLS),
            ("interpreters", INTERPRETERS),
        ):
            if names_of.fullmatch(name):
                found[kind].append(shown)

if os.path.exists(f"{root}/var/lib/dpkg/status"):
    debian(read(f"{root}/var/lib/dpkg/status"))
distroless = f"{root}/var/lib/dpkg/status.d"
if os.path.isdir(distroless):
    for name in os.listdir(distroless):
        debian(read(f"{distroless}/{name}"))
if os.path.exists(f"{root}/lib/apk/db/installed"):
    text = read(f"{root}/lib/apk/db/installed")
    for name, version in re.findall(r"^P:(.*)\n(?:.*\n)*?V:(.*)$", text, re.M):
        packages.add(("apk", name, version))
if os.path.exists(f"{root}/usr/share/hotcell/packages"):
    for line in read(f"{root}/usr/share/hotcell/packages").splitlines():
        packages.add(tuple(line.split(" ", 2)))

listed = [{"kind": kind, "name": name, "version": version} for kind, name, version in sorted(packages)]
json.dump({"packages": listed, **found, "files": files, "bytes": total}, sys.stdout)
