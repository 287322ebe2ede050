"""The system call filter of a sandboxed process, as a classic BPF program.

Namespaces hide the host's files, processes and network; this closes what is not namespaced (kernel
keyrings, vsock, io_uring), what could build new namespaces or look into another process, and memory
that no process's size shows (memfd, System V). A refused call returns EPERM, so that a program sees
an ordinary error. See seccomp(2).
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping
from typing import Final

_SAME_EVERYWHERE: Final = {
    "mount_setattr": 442,
    "clone3": 435,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "memfd_secret": 447,
}
_BY_NAME: Final[Mapping[str, tuple[int, int]]] = {
    # name: (x86_64, aarch64); asm/unistd_64.h, asm-generic/unistd.h
    "shmget": (29, 194),
    "clone": (56, 220),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "semget": (64, 190),
    "msgget": (68, 186),
    "ptrace": (101, 117),
    "syslog": (103, 116),
    "personality": (135, 92),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "acct": (163, 89),
    "mount": (165, 40),
    "umount2": (166, 39),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "quotactl": (179, 60),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "finit_module": (313, 273),
    "kexec_file_load": (320, 294),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
}
_MACHINES: Final = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {
    machine: {name: both[column] for name, both in _BY_NAME.items()} | _SAME_EVERYWHERE
    for machine, (_, column) in _MACHINES.items()
}
"""By machine, the number of every system call that the sandbox makes or refuses."""

_NEW_NAMESPACES: Final = (
    0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
)
_FAMILIES: Final = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6: all three lie within a net namespace
_X32: Final = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_OF, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCH_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_ALLOW, _KILL = 0x7FFF0000, 0x80000000


def _fail(number: int) -> int:
    return 0x00050000 | number


def program(machine: str | None = None, families: tuple[int, ...] = _FAMILIES) -> bytes:
    """The filter for a machine (default: this one) as an array of `struct sock_filter`.

    families : of the sockets that may be made. Raises KeyError for a machine whose system call
    numbers are not known here.
    """
    name = machine or platform.machine()
    arch, numbers = _MACHINES[name][0], NUMBERS[name]
    inspected = ("clone", "clone3", "socket", "socketpair")
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCH_AT),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, 0, 1, _X32),  # the x32 calls of x86_64 would pass by number
        (_RETURN, 0, 0, _KILL),
    ]
    for call, number in sorted(numbers.items()):
        if call not in inspected:
            lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _fail(errno.EPERM))]
    # The flags of clone3 lie in memory, where a filter can't look: libc falls back on clone.
    lines += [(_EQUAL, 0, 1, numbers["clone3"]), (_RETURN, 0, 0, _fail(errno.ENOSYS))]
    lines += [
        (_EQUAL, 0, 4, numbers["clone"]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_ANY_OF, 0, 1, _NEW_NAMESPACES),
        (_RETURN, 0, 0, _fail(errno.EPERM)),
        (_RETURN, 0, 0, _ALLOW),
    ]
    for call in ("socket", "socketpair"):
        checks = [(_EQUAL, len(families) - i, 0, f) for i, f in enumerate(families)]
        lines += [
            (_EQUAL, 0, len(checks) + 3, numbers[call]),
            (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
            *checks,
            (_RETURN, 0, 0, _fail(errno.EAFNOSUPPORT)),
            (_RETURN, 0, 0, _ALLOW),
        ]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
