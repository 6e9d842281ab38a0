"""Renders the cases of template_cases.json as chat templates are rendered elsewhere: one JSON line a case.

Usage: render_with_jinja2.py CASES.json
"""
import copy
import json
import sys

import jinja2
import jinja2.ext
import jinja2.nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment


class GenerationTag(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=[GenerationTag, "jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = json.load(file)
    for template in cases["templates"]:
        try:
            answer = {"text": environment.from_string(template).render(**copy.deepcopy(cases["given"]))}
        except Exception as error:  # every failure of a template counts as an error
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
