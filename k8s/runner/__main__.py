"""`python -m k8s.runner`, and `python /path/to/runner`: a plain copy of this folder in an image is enough."""

import importlib
import importlib.util
import sys
from pathlib import Path

if __name__ == "__main__":
    package = __package__
    if not package:
        # started by its path: that would put our modules in the way of others of the same name
        folder = Path(__file__).resolve().parent
        sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != folder]
        package = "greenloop_runner"
        spec = importlib.util.spec_from_file_location(
            package, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None:
            sys.exit(f"{folder} is no Python package")
        module = importlib.util.module_from_spec(spec)
        sys.modules[package] = module
        spec.loader.exec_module(module)
    if sys.argv[1:2] == ["supervise"]:
        sys.exit(importlib.import_module(f"{package}.supervisor.main").main(sys.argv[2:]))
    if sys.argv[1:2] == ["enclose"]:
        sys.exit(importlib.import_module(f"{package}.processes.enclose").main(sys.argv[2:]))
    sys.exit(importlib.import_module(f"{package}.main").main())
