"""The order of the house, checked: who imports whom, who starts processes, how long files are."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "m2bridge"
FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in FILES]

# Each may import itself and what stands before it. Names that nothing depends on in return:
# version, scripts_folder and display know nothing of m2bridge.
LAYERS = [
    ("errors", "version", "scripts_folder", "display"),
    ("engine",),
    ("algebra",),
    ("scripts", "provenance"),
    ("attention",),
    ("geometry",),
    ("models",),
    ("report",),
    ("cli",),
]
# Other programs, that is; Python's own workers (concurrent.futures) are anybody's.
PROCESS_MODULES = {"subprocess", "pty", "pexpect"}
PROCESS_CALLS = {"system", "popen", "fork", "forkpty", "execvp", "execv", "execve", "posix_spawn"}
MOST_LINES = 400
MOST_FUNCTION_LINES = 60


def layer_of(module: str) -> int | None:
    """The layer of a module's dotted name; None for the package itself and for strangers."""
    parts = module.split(".")
    if parts[0] != "m2bridge" or len(parts) == 1:
        return None
    found = [k for k, names in enumerate(LAYERS) if parts[1] in names]
    assert found, f"{module} is in no layer; give it one in this test"
    return found[0]


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.AST, path: Path) -> list[str]:
    """Dotted names of all modules that a file imports, wherever in it."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                package = module_of(path).split(".")
                if path.name != "__init__.py":
                    package = package[:-1]
                package = package[: len(package) - node.level + 1]
                base = ".".join([*package, base]).rstrip(".")
            found += [base, *(f"{base}.{alias.name}" for alias in node.names if base == "m2bridge")]
    return found


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_there_is_something_to_check() -> None:
    assert len(FILES) > 30


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_point_one_way(path: Path) -> None:
    if path.parent == PACKAGE and path.name in ("__init__.py", "__main__.py"):
        return  # the package's front doors may name everything
    own = layer_of(module_of(path))
    assert own is not None
    for module in imports_of(parsed(path), path):
        if module == "m2bridge" or not module.startswith("m2bridge."):
            assert module != "m2bridge", f"{path} imports the whole package"
            continue
        other = layer_of(module)
        assert other is not None
        assert other <= own, f"{path} imports {module}, which stands above it"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_only_the_engine_starts_processes(path: Path) -> None:
    if path.is_relative_to(PACKAGE / "engine"):
        return
    tree = parsed(path)
    modules = {module.split(".")[0] for module in imports_of(tree, path)}
    assert not modules & PROCESS_MODULES
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert not (node.value.id == "os" and node.attr in PROCESS_CALLS), ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_library_does_not_print(path: Path) -> None:
    if path.is_relative_to(PACKAGE / "cli"):
        return
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "input"), f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_nothing_is_evaluated_from_text(path: Path) -> None:
    """No eval, exec or sympify: what M2 or a user wrote is never run as Python."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in ("eval", "exec", "sympy.parse_expr", "parse_expr"), (
                f"{name} in line {node.lineno}"
            )


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_and_functions_are_short(path: Path) -> None:
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= MOST_LINES, f"{lines} lines"
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            length = node.end_lineno - body[0].lineno + 1
            assert length <= MOST_FUNCTION_LINES, f"{node.name} has {length} lines"


def test_the_checks_see_what_they_look_for(tmp_path: Path) -> None:
    """A rule that cannot fail is none."""
    path = PACKAGE / "attention" / "imagined.py"
    tree = ast.parse("from m2bridge.geometry import x\nfrom ..models import y\nimport subprocess")
    names = imports_of(tree, path)
    assert "m2bridge.geometry" in names
    assert "m2bridge.models" in names
    assert "subprocess" in names
    own, geometry = layer_of("m2bridge.attention.imagined"), layer_of("m2bridge.geometry")
    assert own is not None
    assert geometry is not None
    assert geometry > own
