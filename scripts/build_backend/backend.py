"""The build back end that pyproject.toml names: setuptools', which is also told to fetch a compiler if there is none.

pip runs these functions (PEP 517 and PEP 660). Everything but the compiler is left to setuptools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setuptools import build_meta

from build_backend import toolchain

Settings = Mapping[str, Any] | None

build_sdist = build_meta.build_sdist
build_wheel = build_meta.build_wheel
build_editable = build_meta.build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """What has to be installed to build a wheel. SystemExit, with a sentence, when it cannot be built here."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_compiler()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """What has to be installed for `pip install --editable`. SystemExit, with a sentence, when nothing can help."""
    return [*build_meta.get_requires_for_build_editable(config_settings), *_compiler()]


def _compiler() -> list[str]:
    try:
        return toolchain.requirements()
    except toolchain.NoToolchainError as error:
        raise SystemExit(str(error)) from None
