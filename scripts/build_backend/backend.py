"""The build back end that pyproject.toml names: setuptools', which is also told to fetch a compiler if there is none.

pip runs these functions (PEP 517 and PEP 660). Everything but the compiler is left to setuptools.
"""

from __future__ import annotations

from setuptools import build_meta

from build_backend import toolchain

build_sdist = build_meta.build_sdist
build_wheel = build_meta.build_wheel
build_editable = build_meta.build_editable
get_requires_for_build_sdist = build_meta.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = build_meta.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = build_meta.prepare_metadata_for_build_editable


def get_requires_for_build_wheel(config_settings: dict[str, str] | None = None) -> list[str]:
    """What has to be installed for a build. SystemExit, with a sentence, when nothing can help."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *toolchain.requirements()]


get_requires_for_build_editable = get_requires_for_build_wheel
