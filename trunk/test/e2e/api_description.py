"""The OpenAPI description of a server, and answers compared with it: a status, a media type or a member that it does not declare is an error."""

import http.client
import json
import re
from dataclasses import dataclass
from urllib.parse import quote, urlencode

METHODS = ("get", "post", "put", "patch", "delete")
KINDS = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes


def ask(port: int, method: str, target: str, headers: dict | None = None, body: bytes | None = None) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method.upper(), target, body=body, headers=headers or {})
        raw = connection.getresponse()
        return Answer(raw.status, {name.lower(): value for name, value in raw.getheaders()}, raw.read())
    finally:
        connection.close()


def is_kind(value, kind: str) -> bool:
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return type(value) is KINDS[kind]


def differences(value, schema: dict, where: str) -> list[str]:
    """Objects are closed, unless the schema says more about other members."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_kind(value, kind) for kind in kinds):
        return [f"{where}: {value!r} is no {' or '.join(kinds)}"]
    found = []
    if isinstance(value, list):
        for at, one in enumerate(value):
            found += differences(one, schema["items"], f"{where}[{at}]")
    if isinstance(value, dict) and "properties" in schema or isinstance(value, dict) and "additionalProperties" in schema:
        own, others = schema.get("properties", {}), schema.get("additionalProperties", False)
        found += [f"{where} has no {name}" for name in schema.get("required", []) if name not in value]
        for name, inner in value.items():
            if name in own:
                found += differences(inner, own[name], f"{where}.{name}")
            elif others is False:
                found.append(f"{where} has {name}, which is not declared: {inner!r}")
            elif isinstance(others, dict):
                found += differences(inner, others, f"{where}.{name}")
    return found


class Operation:
    """A method of a path."""

    def __init__(self, description: dict, path: str, method: str):
        self.path, self.method = path, method
        self.json = description["paths"][path][method]
        self.name = f"{method.upper()} {path}"
        self._description = description

    def __repr__(self):
        return self.name

    def resolved(self, part: dict) -> dict:
        while "$ref" in part:
            names, part = part["$ref"].split("/")[1:], self._description
            for name in names:
                part = part[name]
        return part

    def statuses(self) -> set[int]:
        return {int(status) for status in self.json["responses"]}

    def parameters(self, where: str) -> list[str]:
        return [one["name"] for one in self.json.get("parameters", []) if one["in"] == where]

    def target(self, names: dict | None = None, query: dict | None = None) -> str:
        path = re.sub(r"\{(\w+)\}", lambda match: quote(str((names or {}).get(match[1], "none")), safe=""), self.path)
        return path + ("?" + urlencode(query) if query else "")

    def check(self, answer: Answer) -> None:
        where = f"{self.name}, status {answer.status}"
        assert answer.status in self.statuses(), f"{where} is not declared: {answer.body[:300]!r}"
        declared = self.resolved(self.json["responses"][str(answer.status)])
        content = declared.get("content", {})
        kind = answer.headers.get("content-type", "").split(";")[0]
        assert not answer.body or kind in content, f"{where}: {kind} is not one of {list(content)}"
        assert set(declared.get("headers", {})) <= {name.title() for name in answer.headers}, f"{where}: a header field is missing"
        if kind == "application/json" and answer.body:
            wrong = differences(json.loads(answer.body), self.resolved(content[kind]["schema"]), "answer")
            assert not wrong, f"{where}: {wrong}"


class Description:
    def __init__(self, port: int):
        self.json = json.loads(ask(port, "GET", "/api/v1/openapi.json").body)
        self.operations = [Operation(self.json, path, method) for path, item in self.json["paths"].items() for method in METHODS if method in item]

    def operation(self, name: str) -> Operation:
        return next(one for one in self.operations if one.name == name)
