"""CRC-32C, which protects RecordBatch v2.

`import crc32c` also loads its command line and looks up its version. These read package metadata,
which costs a cold start more than all of this room together. So only its C extension is loaded
here.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType

from samsa.records.bounded import Buffer


def _extension() -> ModuleType | None:
    package = find_spec("crc32c")
    if package is None or package.submodule_search_locations is None:
        return None
    spec = PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _function() -> Callable[[Buffer], int]:
    module = _extension() or import_module("crc32c")
    function: Callable[[Buffer], int] = module.crc32c
    return function


crc32c = _function()
