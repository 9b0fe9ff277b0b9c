"""The Macaulay2 that m2bridge installs: which wheel, which version, which hashes.

This is the one place that says it. ``docker/m2-requirements.txt`` repeats the Linux lines in
pip's own format, because a Dockerfile cannot import Python; a test compares the two.

To move to a newer wheel, change the versions and the hashes here and in that file, and run the
tests marked ``m2`` and ``docker``. pip names the files and the hashes of a release with
``pip install --dry-run --ignore-installed --no-deps --report - NAME==VERSION``.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["PINNED", "WheelPin", "unsupported_platform"]


@dataclass(frozen=True)
class WheelPin:
    """One release of a wheel that carries a complete Macaulay2.

    Attributes:
        distribution: the name pip knows it by.
        version: the wheel's version.
        m2_version: what its ``M2 --version`` must print.
        sha256: file name -> hash, for every wheel of the release that we accept.
    """

    distribution: str
    version: str
    m2_version: str
    sha256: Mapping[str, str]

    def requirement(self) -> str:
        """The release as a line of a requirements file, with all hashes."""
        hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in self.sha256.values())
        return f"{self.distribution}=={self.version}{hashes}\n"


# The wheels differ by the Python that their (unused) extension module was built for; the M2
# inside depends on the platform alone. cp312-abi3 serves every later Python.
#
# Not the newest release on purpose: each is compiled for the processor of the machine that built
# it. The x86_64 files of 10.8.12 and 10.8.13 hold AVX-512 instructions and die of SIGILL on
# processors without them; those of 10.8.11, the same M2, need AVX2 only (2013 and later).
PINNED = WheelPin(
    distribution="passagemath-macaulay2",
    version="10.8.11",
    m2_version="1.26.06",
    sha256=MappingProxyType(
        {
            "passagemath_macaulay2-10.8.11-cp311-cp311-manylinux_2_28_x86_64.whl": (
                "9df2ca62b716efa5a2abb9a8afbb658020f7ea2137294e27662f61e86dcf2d97"
            ),
            "passagemath_macaulay2-10.8.11-cp311-cp311-manylinux_2_28_aarch64.whl": (
                "9a52a733bccc83aa852fe772db8afacba2b8b5264fb225facc39f1341f4d3111"
            ),
            "passagemath_macaulay2-10.8.11-cp311-cp311-macosx_13_0_x86_64.whl": (
                "557a3643329d3643649aa29546f0a47c8373bd97399d46c121da1097e001e808"
            ),
            "passagemath_macaulay2-10.8.11-cp311-cp311-macosx_13_0_arm64.whl": (
                "8fa6d8587820e715a13fc172f64b249c7ec398c720c7d2bb3791bbc9fa6979e9"
            ),
            "passagemath_macaulay2-10.8.11-cp312-abi3-manylinux_2_28_x86_64.whl": (
                "5bf65d0f2107fce438828ce27179c5bcea45ae51d04e48a9f19ff68782f5d80b"
            ),
            "passagemath_macaulay2-10.8.11-cp312-abi3-manylinux_2_28_aarch64.whl": (
                "60fb5be759a96c8eb9832d5567f1ab0b628c982e4a95ff0629cb884412cfb0aa"
            ),
            "passagemath_macaulay2-10.8.11-cp312-abi3-macosx_13_0_x86_64.whl": (
                "e0d57ebef262138c50530e4877abfbd3f3642371c1cdc1b40a0dc6b1e53a4030"
            ),
            "passagemath_macaulay2-10.8.11-cp312-abi3-macosx_13_0_arm64.whl": (
                "4f50dc700443877c20b36de9cbec6ab04c52d338910c3a81c8c77c3d5235f964"
            ),
        }
    ),
)

_PLATFORM_TAG = re.compile(r"(manylinux|macosx)_(\d+)_(\d+)_(\w+)\.whl$")


def unsupported_platform(
    pin: WheelPin = PINNED,
    *,
    system: str | None = None,
    machine: str | None = None,
    libc: tuple[str, str] | None = None,
    macos: str | None = None,
) -> str | None:
    """Why no wheel of the pin runs on this machine, in one phrase; None when one does.

    The keyword arguments describe another machine, as the ``platform`` module would.
    """
    system = platform.system() if system is None else system
    machine = (platform.machine() if machine is None else machine).lower()
    if system == "Linux":
        family, libc = "manylinux", platform.libc_ver() if libc is None else libc
        if libc[0] != "glibc":
            return f"Linux with the C library {libc[0] or 'of an unknown kind'} (glibc is needed)"
        have, what = libc[1], "glibc"
    elif system == "Darwin":
        family, have, what = "macosx", platform.mac_ver()[0] if macos is None else macos, "macOS"
    else:
        return f"the operating system {system or 'is unknown'}"
    needs = _lowest(pin, family, machine)
    if needs is None:
        return f"{system} on the processor {machine or '(unknown)'}"
    if _numbers(have) < needs:
        return f"{what} {have or '(unknown)'} ({needs[0]}.{needs[1]} or later is needed)"
    return None


def _lowest(pin: WheelPin, family: str, machine: str) -> tuple[int, int] | None:
    """The oldest system release that a wheel of that family and processor runs on."""
    releases: list[tuple[int, int]] = []
    for name in pin.sha256:
        if name.endswith("-any.whl"):
            releases.append((0, 0))
        elif (match := _PLATFORM_TAG.search(name)) and match[1] == family and match[4] == machine:
            releases.append((int(match[2]), int(match[3])))
    return min(releases, default=None)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", release))
