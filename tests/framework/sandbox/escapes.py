"""Attempts to get out of the sandbox: what each tries, and whether it works outside of it.

A snippet succeeds when it prints what it should not know (the planted secret, or the word `ESCAPED`
put together at run time), when a file outside changes, a server hears from it, or a process of it
survives. Those marked `control` are run outside too, where they must succeed.
"""

# ruff: noqa: E501 - programs of one line
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Escape:
    name: str
    code: str
    control: bool = True


SAY = "print('ESC' + 'APED')"

ESCAPES = [
    # --- the planted secrets ---
    Escape("environment", "import os; print(os.environ)"),
    Escape("environment of the C library", "import ctypes as c; l = c.CDLL(None); "
           "l.getenv.restype = c.c_char_p; print(l.getenv(b'@NAME@'))"),
    Escape("import inside a function", "def f():\n import os\n return os.environ\nprint(f())"),
    Escape("import in a decorator",
           "def d(f): return lambda: __import__('os').environ\n@d\ndef f(): pass\nprint(f())"),
    Escape("import in a default",
           "def f(x=__import__('os').environ.copy()): return x\nprint(f())"),
    Escape("import in a class body", "class C:\n import os\n x = os.environ\nprint(C.x)"),
    Escape("import in a lambda in a comprehension",
           "print([(lambda: __import__('os').environ)() for _ in 'x'])"),
    Escape("dunder walk to os", "print([c for c in ().__class__.__base__.__subclasses__() "
           "if c.__name__ == 'BuiltinImporter'][0].load_module('posix').environ)"),
    Escape("walk of the garbage collector",
           "import gc\nprint([o for o in gc.get_objects() if isinstance(o, dict)])\n"
           "import os; print(os.environ)"),
    Escape("frames up to the start", "import sys\nf = sys._getframe()\nwhile f:\n"
           " print(f.f_globals)\n f = f.f_back\nprint(__import__('os').environ)"),
    Escape("builtins by exec", "exec('imp' + 'ort os; print(os.environ)')"),
    Escape("environment of the parent",
           f"import os; open(f'/proc/{{os.getppid()}}/environ').read(); {SAY}"),
    Escape("environment of a neighbour", "print(open('/proc/@PID@/environ').read())"),
    Escape("environment of every process", "import glob\nfor p in glob.glob('/proc/[0-9]*/environ'):\n"
           " try: print(open(p, errors='replace').read())\n except OSError: pass"),
    Escape("planted file", "print(open('@FILE@').read())"),
    Escape("planted file by pathlib", "import pathlib; print(pathlib.Path('@FILE@').read_text())"),
    Escape("planted file by os.open", "import os; print(os.read(os.open('@FILE@', 0), 99))"),
    Escape("planted file by climbing", "print(open('../' * 20 + '@FILE@'.lstrip('/')).read())"),
    Escape("planted file by symlink",
           "import os; os.symlink('@FILE@', 'l'); print(open('l').read()); os.remove('l')"),
    Escape("planted file by hard link",
           "import os; os.link('@FILE@', '@OUT@/h'); print(open('@OUT@/h').read())"),
    Escape("planted file by a child process",
           "import subprocess; print(subprocess.run(['cat', '@FILE@'], capture_output=True).stdout)"),
    Escape("planted file by the interpreter's own child", "import subprocess, sys\n"
           "print(subprocess.run([sys.executable, '-c', 'print(open(\"@FILE@\").read())'], "
           "capture_output=True).stdout)"),
    Escape("planted file by mmap", "import mmap\nwith open('@FILE@', 'rb') as f:\n"
           " print(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:])"),
    Escape("planted file by sqlite",
           "import sqlite3; d = sqlite3.connect('x.db'); "
           "d.execute(\"attach '@OUT@/new.db' as o\"); d.execute('create table o.t (x)')"),
    Escape("planted file below /proc/PID/root", "print(open('/proc/@PID@/root@FILE@').read())"),
    Escape("planted file below /proc/PID/cwd", "print(open('/proc/@PID@/cwd/secret.txt').read())"),
    Escape("file descriptors left open", "import os\nfor d in range(3, 256):\n"
           " try: print(d, os.read(d, 999)); print('ESC' + 'APED')\n except OSError: pass",
           control=False),
    # --- what belongs to the host ---
    Escape("users of the host", f"open('/etc/passwd').read(); {SAY}"),
    Escape("home directories", f"import os; os.listdir('/home'); {SAY}"),
    Escape("the host's name", f"import os\nif os.uname().nodename == '@HOST@': {SAY}"),
    Escape("the host's kernel settings", f"open('/proc/sys/kernel/hostname').read(); {SAY}"),
    Escape("the host's devices", f"import os; os.listdir('/sys/class/net'); {SAY}"),
    Escape("the host's packages",
           f"import sys\nfor p in ('@PACKAGES@',): __import__('os').listdir(p)[0]; {SAY}"),
    Escape("programs of the host", f"import subprocess; subprocess.run(['/bin/sh', '-c', ':']); {SAY}"),
    # --- writing outside ---
    Escape("write outside", "open('@OUT@/x', 'w').write('x')"),
    Escape("write outside by climbing", "open('../' * 20 + '@OUT@/x'.lstrip('/'), 'w').write('x')"),
    Escape("write outside by a symlinked directory", "import os; os.symlink('@OUT@', '@OUT@/../d'); "
           "open('@OUT@/../d/x', 'w').write('x')"),
    Escape("rename outside", "import os; open('@OUT@/a', 'w'); os.rename('@OUT@/a', '@OUT@/b')"),
    Escape("remove outside", "import os; os.remove('@OUT@/kept')"),
    Escape("make a device", f"import os, stat; os.mknod('n', stat.S_IFCHR | 0o666, "
           f"os.makedev(1, 3)); os.remove('n'); {SAY}", control=False),
    Escape("write into the interpreter", "import os, json\n"
           "with open(os.path.join(os.path.dirname(json.__file__), '@MARK@'), 'w') as f: f.write('')\n"
           + SAY, control=False),
    Escape("write into the root", f"open('/@MARK@', 'w').write('x'); {SAY}", control=False),
    # --- network ---
    Escape("tcp to this machine",
           "import socket; s = socket.create_connection(('127.0.0.1', @PORT@), 2); s.send(b'hello')"),
    Escape("tcp over IPv6 or any address",
           "import socket; s = socket.create_connection(('0.0.0.0', @PORT@), 2); s.send(b'hello')"),
    Escape("http by urllib",
           "import urllib.request; urllib.request.urlopen('http://127.0.0.1:@PORT@/', timeout=1)"),
    Escape("udp to this machine", "import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', @UDP@))"),
    Escape("unix socket by path", "import socket; s = socket.socket(1); s.connect('@SOCKET@'); s.send(b'x')"),
    Escape("abstract unix socket", "import socket; s = socket.socket(1); "
           "s.connect('\\0@ABSTRACT@'); s.send(b'x')"),
    Escape("outside address",
           f"import socket; socket.create_connection(('192.0.2.1', 80), 1); {SAY}", control=False),
    Escape("names of the outside", f"import socket; socket.getaddrinfo('example.org', 80); {SAY}",
           control=False),
    Escape("bring up an interface", "import fcntl, socket, struct\ns = socket.socket()\n"
           "fcntl.ioctl(s, 0x8914, struct.pack('16sH14x', b'lo', 1))\n" + SAY, control=False),
    Escape("raw packets", f"import socket; socket.socket(2, 3, 1); {SAY}", control=False),
    Escape("hypervisor socket", f"import socket; socket.socket(40, 1); {SAY}", control=False),
    Escape("netlink", f"import socket; socket.socket(16, 3, 0); {SAY}"),
    # --- other processes ---
    Escape("kill a neighbour", "import os; os.kill(@PID@, 9)"),
    Escape("kill the parent", f"import os, signal\np = os.getppid()\nos.kill(p, 9)\nos.kill(p, 15)\n"
           f"import time; time.sleep(.2)\nif os.getppid() != p: {SAY}", control=False),
    Escape("kill everything", "import os; os.kill(-1, 9)", control=False),
    Escape("trace a neighbour", "import ctypes\nif ctypes.CDLL(None).ptrace(16, @PID@, 0, 0) == 0: "
           + SAY),
    Escape("trace the parent", "import ctypes, os\n"
           "if ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0: " + SAY, control=False),
    Escape("read a neighbour's memory", "print(open('/proc/@PID@/maps').read()); " + SAY),
    Escape("memory of the parent by process_vm_readv", "import ctypes, os\n"
           "b = ctypes.create_string_buffer(8)\nv = (ctypes.c_void_p * 2)(ctypes.addressof(b), 8)\n"
           "if ctypes.CDLL(None).process_vm_readv(os.getppid(), v, 1, v, 1, 0) >= 0: " + SAY,
           control=False),
    Escape("count the host's processes",
           "import os\nif len([p for p in os.listdir('/proc') if p.isdigit()]) > 6: " + SAY),
    Escape("leave a process behind", "import os, time\nif os.fork() == 0:\n os.setsid()\n"
           " if os.fork() == 0:\n  for d in (0, 1, 2): os.close(d)\n  time.sleep(30) # @MARK@"),
    Escape("leave a process behind that ignores signals", "import os, signal, time\n"
           "if os.fork() == 0:\n [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 13, 15)]\n"
           " os.setsid()\n for d in (0, 1, 2): os.close(d)\n time.sleep(30) # @MARK@"),
    # --- new privileges ---
    Escape("become root", f"import os; os.setuid(0); {SAY}", control=False),
    Escape("new user namespace",
           "import ctypes\nif ctypes.CDLL(None).unshare(0x10000000) == 0: " + SAY),
    Escape("new namespaces by clone", "import ctypes\nn = ctypes.CDLL(None).syscall(56, 0x10000011, "
           "0, 0, 0, 0)\nif n == 0: __import__('os')._exit(0)\nif n > 0: " + SAY, control=False),
    Escape("new namespaces by clone3", "import ctypes, struct\n"
           "a = struct.pack('=11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0)\n"
           "n = ctypes.CDLL(None).syscall(435, a, 88)\nif n == 0: __import__('os')._exit(0)\n"
           "if n > 0: " + SAY, control=False),
    Escape("mount", "import ctypes\n"
           "if ctypes.CDLL(None).mount(b'x', b'/box', b'tmpfs', 0, None) == 0: " + SAY, control=False),
    Escape("unmount the cover over packages", "import ctypes\n"
           "if ctypes.CDLL(None).umount2(b'@PACKAGES@', 2) == 0: " + SAY, control=False),
    Escape("change the root", f"import os; os.chroot('/box'); {SAY}", control=False),
    Escape("keys of the kernel", "import ctypes\n"
           "if ctypes.CDLL(None).syscall(248, b'user', b'x', b'y', 1, -3) >= 0: " + SAY, control=False),
    Escape("keys of the session", "import ctypes\n"
           "if ctypes.CDLL(None).syscall(250, 0, -3, 0, 0, 0) >= 0: " + SAY, control=False),
    Escape("io_uring", "import ctypes\np = ctypes.create_string_buffer(120)\n"
           "if ctypes.CDLL(None).syscall(425, 1, p) >= 0: " + SAY, control=False),
    Escape("memory that no process owns", "import os; os.memfd_create('x'); " + SAY),
    Escape("shared memory of the host", "import ctypes\n"
           "if ctypes.CDLL(None).shmget(0, 4096, 0o1666) >= 0: " + SAY),
    Escape("raise a limit", "import resource as r\n"
           "r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY)); " + SAY, control=False),
    Escape("priority", f"import os; os.nice(-5); {SAY}", control=False),
]  # fmt: skip
