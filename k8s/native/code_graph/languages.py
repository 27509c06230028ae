"""What the code graph reads in each language: definitions and references by the grammar's own tags, and imports."""

import functools
from dataclasses import dataclass
from typing import Any

import tree_sitter_bash
import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_ruby
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Parser, Query, QueryCursor

_JS_IMPORTS = """
(import_statement source: (string (string_fragment) @import))
(export_statement source: (string (string_fragment) @import))
(call_expression function: (identifier) @_f arguments: (arguments (string (string_fragment) @import))
  (#eq? @_f "require"))
(call_expression function: (import) arguments: (arguments (string (string_fragment) @import)))
"""
_PY_IMPORTS = """
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(import_from_statement module_name: (_) @within name: (dotted_name) @import)
"""
_RUBY_IMPORTS = """
(call method: (identifier) @_f arguments: (argument_list (string (string_content) @import))
  (#match? @_f "^(require|require_relative|load)$"))
"""
_C_IMPORTS = "(preproc_include path: [(string_literal) (system_lib_string)] @import)"
_C_MORE = """
(preproc_def name: (identifier) @name) @definition.constant
(preproc_function_def name: (identifier) @name) @definition.macro
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression field: (field_identifier) @name)) @reference.call
"""
_CPP_MORE = """
(call_expression function: (qualified_identifier name: (identifier) @name)) @reference.call
(call_expression function: (template_function name: (identifier) @name)) @reference.call
(namespace_definition name: (namespace_identifier) @name) @definition.module
"""
_BASH_TAGS = """
(function_definition name: (word) @name) @definition.function
(command name: (command_name (word) @name)) @reference.call
"""
_BASH_IMPORTS = """
(command name: (command_name (word) @_f) . argument: [(word) (string) (raw_string) (concatenation)] @import
  (#match? @_f "^(source|[.])$"))
"""
_TS_MORE = "(enum_declaration name: (identifier) @name) @definition.enum"
_JAVA_MORE = "(enum_declaration name: (identifier) @name) @definition.enum"


@dataclass(frozen=True)
class Spoken:
    """A language: its grammar, and the sources of its queries."""

    name: str
    grammar: Any
    tags: str
    imports: str


_JS_TAGS = tree_sitter_javascript.TAGS_QUERY
_TS_TAGS = "\n".join((_JS_TAGS, tree_sitter_typescript.TAGS_QUERY, _TS_MORE))
_PYTHON = Spoken("python", tree_sitter_python.language, tree_sitter_python.TAGS_QUERY, _PY_IMPORTS)
_JAVASCRIPT = Spoken("javascript", tree_sitter_javascript.language, _JS_TAGS, _JS_IMPORTS)
_TYPESCRIPT = Spoken("typescript", tree_sitter_typescript.language_typescript, _TS_TAGS, _JS_IMPORTS)
_TSX = Spoken("tsx", tree_sitter_typescript.language_tsx, _TS_TAGS, _JS_IMPORTS)
_GO = Spoken("go", tree_sitter_go.language, tree_sitter_go.TAGS_QUERY, "(import_spec path: (_) @import)")
_RUST = Spoken(
    "rust", tree_sitter_rust.language, tree_sitter_rust.TAGS_QUERY, "(use_declaration argument: (_) @import)"
)
_JAVA = Spoken(
    "java",
    tree_sitter_java.language,
    f"{tree_sitter_java.TAGS_QUERY}\n{_JAVA_MORE}",
    "(import_declaration (scoped_identifier) @import)",
)
_RUBY = Spoken("ruby", tree_sitter_ruby.language, tree_sitter_ruby.TAGS_QUERY, _RUBY_IMPORTS)
_C = Spoken("c", tree_sitter_c.language, f"{tree_sitter_c.TAGS_QUERY}\n{_C_MORE}", _C_IMPORTS)
_CPP_TAGS = "\n".join((tree_sitter_cpp.TAGS_QUERY, _C_MORE, _CPP_MORE))
_CPP = Spoken("cpp", tree_sitter_cpp.language, _CPP_TAGS, _C_IMPORTS)
_BASH = Spoken("bash", tree_sitter_bash.language, _BASH_TAGS, _BASH_IMPORTS)

BY_ENDING = {
    ".py": _PYTHON, ".pyi": _PYTHON,
    ".js": _JAVASCRIPT, ".jsx": _JAVASCRIPT, ".mjs": _JAVASCRIPT, ".cjs": _JAVASCRIPT,
    ".ts": _TYPESCRIPT, ".mts": _TYPESCRIPT, ".cts": _TYPESCRIPT, ".tsx": _TSX,
    ".go": _GO, ".rs": _RUST, ".java": _JAVA, ".rb": _RUBY,
    ".c": _C, ".h": _CPP, ".cc": _CPP, ".cpp": _CPP, ".cxx": _CPP, ".hh": _CPP, ".hpp": _CPP, ".hxx": _CPP,
    ".sh": _BASH, ".bash": _BASH,
}  # fmt: skip


@dataclass(frozen=True)
class Tag:
    """A name at a line (from 1). `kind` is `definition.function`, `reference.call`, `import` and so on."""

    kind: str
    name: str
    line: int


def read_tags(spoken: Spoken, source: bytes) -> list[Tag]:
    """The definitions, references and imports of a source text, in its order; what does not parse is passed over."""
    parser, tags, imports = _tools(spoken)
    root = parser.parse(source).root_node
    found: set[Tag] = set()
    for _, captures in QueryCursor(tags).matches(root):
        kinds = [kind for kind in captures if kind.startswith(("definition.", "reference."))]
        for node in captures.get("name", []):
            text = (node.text or b"").decode(errors="replace")
            found |= {Tag(kind, text, node.start_point.row + 1) for kind in kinds}
    for _, captures in QueryCursor(imports).matches(root):
        within = "".join((node.text or b"").decode(errors="replace") for node in captures.get("within", []))
        for node in captures.get("import", []):
            text = (node.text or b"").decode(errors="replace").strip("\"'`<>")
            dot = "" if not within or within.endswith(".") else "."
            found.add(Tag("import", f"{within}{dot}{text}", node.start_point.row + 1))
    return sorted(found, key=lambda tag: (tag.line, tag.kind, tag.name))


@functools.cache
def _tools(spoken: Spoken) -> tuple[Parser, Query, Query]:
    language = Language(spoken.grammar())
    return Parser(language), Query(language, spoken.tags), Query(language, spoken.imports)
